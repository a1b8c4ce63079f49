// SPDX-License-Identifier: MIT
#include "session/compile.h"

#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "base/text.h"
#include "session/proc.h"

void *tacho_compile_alloc(struct tacho_compile *c, size_t size)
{
	void *p = tacho_arena_alloc(c->arena, size);

	c->no_memory |= !p;
	return p;
}

/* Notes a lack of memory, which is not an error of the text. */
static int failed(struct tacho_compile *c, int err)
{
	c->no_memory |= err == -ENOMEM;
	return err;
}

/* After an error of a parser: notes whether memory was exhausted. */
static void note_full(struct tacho_compile *c)
{
	c->no_memory |= !tacho_arena_alloc(c->arena, 4096);
}

/* ---- the command table ---- */

const char *tacho_compile_text(struct tacho_compile *c, const char *text,
			       size_t max)
{
	const char *copy = tacho_arena_strndup(c->arena, text,
					       strnlen(text, max - 1));

	c->no_memory |= !copy;
	return copy;
}

static bool is_for(const struct tacho_command *cmd, enum tacho_command_kind kind,
		   const char *name)
{
	char glob[TACHO_RULE_MAX];

	if (tacho_load_acquire(&cmd->state) != TACHO_COMMAND_LIVE ||	/* [command] */
	    tacho_load_relaxed(&cmd->kind) != kind)
		return false;
	memcpy(glob, cmd->event, sizeof(glob));
	glob[sizeof(glob) - 1] = '\0';
	return tacho_glob_match(glob, name);
}

struct tacho_command *tacho_compile_next(const struct tacho_view *v,
					 enum tacho_command_kind kind,
					 const char *name, bool back,
					 uint32_t *at)
{
	uint32_t n = tacho_view_nr_commands(v);
	struct tacho_command *best = NULL;
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct tacho_command *cmd = &v->commands->command[i];
		uint32_t serial = tacho_load_relaxed(&cmd->serial);

		if (back ? serial >= *at : serial <= *at)
			continue;
		if (best && (back ? serial < found : serial > found))
			continue;
		if (!is_for(cmd, kind, name))
			continue;
		best = cmd;
		found = serial;
	}
	*at = found;
	return best;
}

/* ---- types ---- */

const struct tacho_type *tacho_compile_type(struct tacho_compile *c,
					    const char *text, uint32_t len,
					    uint32_t id)
{
	/* a copy: it may change while it is parsed */
	char *copy = tacho_arena_strndup(c->arena, text, len);
	char *colon = copy ? memchr(copy, ':', len) : NULL;
	char *line = copy ? memchr(copy, '\n', len) : NULL;
	const struct tacho_type *type;

	c->no_memory |= !copy;
	if (!colon || !line || line < colon)
		return NULL;
	*colon = '\0';
	*line = '\0';
	type = tacho_type_parse_fields(c->arena, copy, colon + 1, id, line + 1,
				       (size_t)(copy + len - line - 1), NULL);
	if (!type)
		note_full(c);
	return type;
}

uint32_t tacho_compile_find_type(const struct tacho_view *v, const char *name,
				 uint32_t from)
{
	size_t n = strlen(name);
	const char *text;
	uint32_t len;

	for (uint32_t id = from; (text = tacho_types_text(v, id, &len)); id++)
		if (len > n && !memcmp(text, name, n) && text[n] == '\n')
			return id;
	return 0;
}

bool tacho_compile_name(const char *system, const char *event,
			char name[TACHO_RULE_MAX])
{
	size_t ns = strlen(system), ne = strlen(event);

	if (ns + ne + 2 > TACHO_RULE_MAX)
		return false;
	memcpy(name, system, ns);
	name[ns] = ':';
	memcpy(name + ns + 1, event, ne + 1);
	return true;
}

/* ---- histograms ---- */

/* Creates a histogram and maps its map. */
static struct tacho_hist *bind_hist(struct tacho_compile *c,
				    struct tacho_command *cmd,
				    struct tacho_hist_spec *spec,
				    const struct tacho_type *type)
{
	struct tacho_hist *hist;

	if (failed(c, tacho_hist_spec_bind_type(spec, c->arena, type, NULL)) ||
	    failed(c, tacho_hist_new(&hist, c->arena, spec, type, &c->host,
				     c->names, NULL)) ||
	    (c->bind && failed(c, c->bind(c, cmd, spec, hist))))
		return NULL;
	return hist;
}

struct tacho_hist *tacho_compile_hist(struct tacho_compile *c,
				      struct tacho_command *cmd,
				      struct tacho_trigger_spec *spec,
				      const struct tacho_type *type)
{
	uint32_t serial = tacho_load_relaxed(&cmd->serial);
	uint32_t outer = c->making;
	struct tacho_made_hist *m;

	for (m = c->hists; m; m = m->next)
		if (m->serial == serial && m->type == type->id)
			return m->hist;
	if (c->depth == TACHO_COMPILE_DEPTH)
		return NULL;
	m = tacho_compile_alloc(c, sizeof(*m));
	if (!m)
		return NULL;
	c->making = serial;
	c->depth++;
	m->hist = bind_hist(c, cmd, &spec->hist, type);
	c->depth--;
	c->making = outer;
	if (!m->hist)
		return NULL;
	m->serial = serial;
	m->type = type->id;
	m->next = c->hists;
	c->hists = m;
	return m->hist;
}

struct tacho_trigger_spec *tacho_compile_trigger(struct tacho_compile *c,
						 const struct tacho_command *cmd)
{
	const char *text = tacho_compile_text(c, cmd->text, sizeof(cmd->text));
	struct tacho_trigger_spec *spec = tacho_compile_alloc(c, sizeof(*spec));

	if (!text || !spec || failed(c, tacho_trigger_parse(spec, c->arena, text,
							    NULL)))
		return NULL;
	return spec->remove ? NULL : spec;
}

/* Whether a command may define a variable; avoids parsing all others. */
static bool may_define(const struct tacho_command *cmd, const char *var)
{
	return tacho_load_acquire(&cmd->state) == TACHO_COMMAND_LIVE &&	/* [command] */
	       tacho_load_relaxed(&cmd->kind) == TACHO_COMMAND_TRIGGER &&
	       memmem(cmd->text, sizeof(cmd->text), var, strlen(var));
}

static bool var_number(const struct tacho_hist_spec *spec, const char *name,
		       uint32_t *var)
{
	for (*var = 0; *var < spec->nr_vars; ++*var)
		if (!strcmp(spec->var[*var].name, name))
			return true;
	return false;
}

/* The event that a command without globs is on; its type. */
static const struct tacho_type *command_type(struct tacho_compile *c,
					     const struct tacho_command *cmd)
{
	const char *event = tacho_compile_text(c, cmd->event, sizeof(cmd->event));

	if (!event || strpbrk(event, "*?[\\"))
		return NULL;
	return c->type(c, event);
}

struct tacho_hist *tacho_compile_var(struct tacho_compile *c, const char *system,
				     const char *event, const char *name,
				     const struct tacho_hist *fit, uint32_t *var,
				     bool *ambiguous)
{
	const struct tacho_view *v = c->view;
	struct tacho_hist *found = NULL;
	uint32_t n = tacho_view_nr_commands(v);

	for (uint32_t i = 0; i < n; i++) {
		struct tacho_command *cmd = &v->commands->command[i];
		struct tacho_trigger_spec *spec;
		const struct tacho_type *type;
		struct tacho_hist *hist;
		uint32_t nr;

		if (tacho_load_relaxed(&cmd->serial) == c->making ||
		    !may_define(cmd, name))
			continue;
		spec = tacho_compile_trigger(c, cmd);
		if (!spec || spec->cmd != TACHO_TRIGGER_HIST ||
		    !var_number(&spec->hist, name, &nr))
			continue;
		type = command_type(c, cmd);
		if (!type || (system && (strcmp(type->system, system) ||
					 strcmp(type->name, event))))
			continue;
		hist = tacho_compile_hist(c, cmd, spec, type);
		if (!hist || (fit && !tacho_hist_same_keys(fit, hist)))
			continue;
		*ambiguous = found != NULL;
		if (found)
			return NULL;
		found = hist;
		*var = nr;
	}
	return found;
}

static struct tacho_hist *find_var(void *arg, const char *system,
				   const char *event, const char *name,
				   uint32_t *var, bool *ambiguous)
{
	bool several = false;
	struct tacho_hist *hist = tacho_compile_var(arg, system, event, name,
						    NULL, var, &several);

	if (ambiguous)
		*ambiguous = several;
	return hist;
}

/* The tool that added the command has also added one for the field's variable. */
static struct tacho_hist *add_field_var(void *arg,
					const struct tacho_hist *for_hist,
					const char *system, const char *event,
					const char *field, uint32_t *var)
{
	char name[TACHO_RULE_MAX] = TACHO_FIELD_VAR;
	size_t len = strlen(field);
	bool several = false;

	if (len >= sizeof(name) - sizeof(TACHO_FIELD_VAR))
		return NULL;
	memcpy(name + sizeof(TACHO_FIELD_VAR) - 1, field, len + 1);
	return tacho_compile_var(arg, system, event, name, for_hist, var,
				 &several);
}

/* ---- synthetic events ---- */

/* The definition of synthetic event `full` ("synthetic:name"). */
static const struct tacho_synth *make_synth(struct tacho_compile *c,
					    const char *full)
{
	uint32_t at = 0;
	struct tacho_command *cmd = tacho_compile_next(c->view,
						       TACHO_COMMAND_SYNTH, full,
						       false, &at);
	struct tacho_made_synth *made;
	const char *text;

	if (!cmd || c->depth == TACHO_COMPILE_DEPTH)
		return NULL;
	made = tacho_compile_alloc(c, sizeof(*made));
	text = tacho_compile_text(c, cmd->text, sizeof(cmd->text));
	if (!made || !text)
		return NULL;
	made->synth = tacho_synth_parse(c->arena, text, NULL);
	if (!made->synth) {
		note_full(c);
		return NULL;
	}
	/* listed first: its own triggers may lead back to it */
	made->next = c->synths;
	c->synths = made;
	c->depth++;
	if (c->program)
		made->program = c->program(c, full, cmd, made->synth->type);
	c->depth--;
	return made->synth;
}

static const struct tacho_synth *find_synth(void *arg, const char *name)
{
	struct tacho_compile *c = arg;
	char full[TACHO_RULE_MAX];

	for (struct tacho_made_synth *s = c->synths; s; s = s->next)
		if (!strcmp(s->synth->name, name))
			return s->synth;
	return tacho_compile_name("synthetic", name, full) ? make_synth(c, full)
							   : NULL;
}

/* The type of the event probe called name; NULL: there is none. */
static const struct tacho_type *eprobe_type(struct tacho_compile *c, const char *name)
{
	uint32_t at = 0, len, id;
	struct tacho_command *cmd = tacho_compile_next(c->view, TACHO_COMMAND_EPROBE, name,
						       false, &at);
	const char *text;

	id = cmd ? tacho_load_relaxed(&cmd->series) : 0;
	text = id ? tacho_types_text(c->view, id, &len) : NULL;
	return text ? tacho_compile_type(c, text, len, id) : NULL;
}

static const struct tacho_type *find_type(void *arg, const char *system,
					  const char *event)
{
	struct tacho_compile *c = arg;
	const struct tacho_synth *synth;
	const struct tacho_type *type;
	char name[TACHO_RULE_MAX];

	if (!tacho_compile_name(system, event, name))
		return NULL;
	type = eprobe_type(c, name);
	if (type)
		return type;
	if (!strcmp(system, "synthetic")) {
		synth = find_synth(c, event);
		return synth ? synth->type : NULL;
	}
	return c->type(c, name);
}

void tacho_compile_init(struct tacho_compile *c)
{
	c->host = (struct tacho_hist_host){
		.arg = c, .find_var = find_var, .find_synth = find_synth,
		.find_type = find_type, .add_field_var = add_field_var,
	};
	c->hists = NULL;
	c->synths = NULL;
	c->making = 0;
	c->depth = 0;
	c->no_memory = false;
}
