// SPDX-License-Identifier: MIT
/*
 * command_trigger.c - adding, changing and removing triggers of a session.
 *
 * 1. One table for all processes
 *
 *	A trigger is a text in the session's command table.  The tool decides here whether it is
 *	accepted; each traced process compiles it later and never answers.  So all errors must be
 *	found here, by compiling the text for the types that are known
 *	(tacho_order_check_trigger()), and what a process does with a command must follow from the
 *	table alone.
 *
 *	The table is edited under the registry's lock, its seq odd during the edit.  A tool
 *	killed in between leaves the table as it is then: each command is there
 *	completely or not at all (its state is stored last), and the steps below are ordered
 *	so that what may be missing is harmless.
 *
 * 2. Which triggers exclude each other
 *
 *	The kernel's rule: on one event one of traceon and traceoff, one snapshot, one stacktrace,
 *	one of enable and disable for each target, and no two histograms that are the same.
 *	Events are globs here, so two commands count as on one event if their globs may
 *	match the same name (overlap(): exact when one of them is a name).  Removing
 *	is strict: the same glob, command and target (is_same()).
 *
 * 3. Targets of enable_event and disable_event
 *
 *	A target has a place in the table of soft switches, shared by all triggers that name it:
 *
 *		users = 0	free
 *		users > 0	the event fires in all processes; recorded unless `disabled`
 *
 *	S1  the first trigger takes a free place; `disabled` starts as the rules have it, so
 *	    nothing changes until a trigger fires
 *	S2  each further trigger counts one more user
 *	S3  after the last one the place is free.  The event must stay as the switch left it, but
 *	    from now on the rules decide: if they differ, a rule for exactly this event is added
 *
 *	The place is taken before the command that refers to it is added, and released after
 *	the command was removed: a kill in between leaves a count too high (the
 *	event fires without need), never a command without its place.
 *
 * 4. Histograms
 *
 *	series	The number in its maps' file names (hist.<series>.<type>).  A histogram with
 *		the name of another has its series, so both count into the same maps; it must be
 *		compatible (check_named())
 *	change	A histogram that exists, given again with pause, cont or clear, is changed.  pause
 *		sets the command's flag first, then that of the maps that exist: a process that
 *		makes a map later looks at the flag (probe/compile.c)
 *	implied	onmatch(event) with a field of that event needs a variable there
 *		(engine/hist_action.c, B3).  If no histogram has it, one with the keys and
 *		the filter of a histogram on that event is added as a HIDDEN command, whose `owner`
 *		is the trigger's serial; it is removed with its owner
 *	in use	A histogram whose variable another one reads cannot be removed (-EBUSY)
 *	files	Removing the last command of a series removes its files.  Processes keep what they
 *		have mapped until they recompile
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/text.h"
#include "session/command_priv.h"
#include "session/edit.h"
#include "session/histmap.h"
#include "sys/mapping.h"

/* ---- which triggers are the same ---- */

/* Commands of one group exclude each other on an event. */
static int group_of(enum tacho_trigger_cmd cmd)
{
	switch (cmd) {
	case TACHO_TRIGGER_TRACEOFF:
		return TACHO_TRIGGER_TRACEON;
	case TACHO_TRIGGER_DISABLE_EVENT:
		return TACHO_TRIGGER_ENABLE_EVENT;
	case TACHO_TRIGGER_DISABLE_HIST:
		return TACHO_TRIGGER_ENABLE_HIST;
	case TACHO_TRIGGER_TRACEON:
	case TACHO_TRIGGER_SNAPSHOT:
	case TACHO_TRIGGER_STACKTRACE:
	case TACHO_TRIGGER_ENABLE_EVENT:
	case TACHO_TRIGGER_ENABLE_HIST:
	case TACHO_TRIGGER_HIST:
	default:
		return cmd;
	}
}

static bool same_target(const struct tacho_trigger_spec *a,
			const struct tacho_trigger_spec *b)
{
	if (!a->system || !b->system)
		return a->system == b->system;
	return !strcmp(a->system, b->system) && !strcmp(a->event, b->event);
}

/* Whether a means the command b, for removal or change. */
static bool is_same(const struct tacho_trigger_spec *a,
		    const struct tacho_trigger_spec *b)
{
	return a->cmd == b->cmd && same_target(a, b) &&
	       (a->cmd != TACHO_TRIGGER_HIST ||
		tacho_hist_same(&a->hist, &b->hist));
}

static bool excludes(const struct tacho_trigger_spec *a,
		     const struct tacho_trigger_spec *b)
{
	if (a->cmd == TACHO_TRIGGER_HIST)
		return is_same(a, b);
	return group_of(a->cmd) == group_of(b->cmd) && same_target(a, b);
}

/* Whether two globs may mean one event; exact when one of them is a name. */
static bool overlap(const char *a, const char *b)
{
	return tacho_glob_match(a, b) || tacho_glob_match(b, a);
}

/* Parses a trigger of the table into o->arena. */
static struct tacho_trigger_spec *parse_place(struct tacho_order *o,
					      const struct tacho_command *c)
{
	struct tacho_compile compile;

	tacho_order_compile(o, &compile, &o->arena);
	return tacho_compile_trigger(&compile, c);
}

/* The first trigger on this or an overlapping glob for which fits() returns true. */
static struct tacho_command *
find_trigger(struct tacho_order *o, bool exactly,
	     bool (*fits)(const struct tacho_trigger_spec *a,
			  const struct tacho_trigger_spec *b))
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		struct tacho_command *c = tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);
		const struct tacho_trigger_spec *spec;

		if (!c || (exactly ? strcmp(c->event, o->glob) != 0
				   : !overlap(c->event, o->glob)))
			continue;
		spec = parse_place(o, c);
		if (spec && fits(o->spec, spec))
			return c;
	}
	return NULL;
}

/* ---- targets ---- */

static struct tacho_soft *free_soft(const struct tacho_view *v)
{
	for (uint32_t i = 0; i < TACHO_SOFT_MAX; i++)
		if (!v->commands->soft[i].users)
			return &v->commands->soft[i];
	return NULL;
}

/* Adds a trigger to a target; returns its place + 1, or a negative errno. */
static int take_soft(struct tacho_order *o)
{
	const struct tacho_trigger_spec *spec = o->spec;
	struct tacho_soft *soft;
	char name[TACHO_RULE_MAX];

	if (!tacho_compile_name(spec->system, spec->event, name))
		return tacho_cmd_error(o->e, -EINVAL, spec->target_column,
				       "Event's name is too long");
	soft = tacho_view_soft(&o->s->view, name);
	if (!soft)
		soft = free_soft(&o->s->view);
	if (!soft)
		return tacho_cmd_error(o->e, -ENOSPC, spec->target_column,
				       "Triggers have %d targets already",
				       TACHO_SOFT_MAX);
	if (!soft->users) {
		memset(soft->event, 0, sizeof(soft->event));
		memcpy(soft->event, name, strlen(name));
		/* recorded as before, until a trigger says otherwise */
		tacho_store_relaxed(&soft->disabled,
				    !tacho_view_rules_want(&o->s->view, name));
	}
	tacho_store_relaxed(&soft->users, soft->users + 1);
	return (int)(soft - o->s->view.commands->soft) + 1;
}

/*
 * Removes a trigger from a target.  After the last one the rules decide again; the event stays as
 * it is.
 */
static void put_soft(struct tacho_order *o, uint32_t nr)
{
	const struct tacho_view *v = &o->s->view;
	struct tacho_soft *soft;
	char name[TACHO_RULE_MAX];
	bool on;

	if (!nr || nr > TACHO_SOFT_MAX)
		return;
	soft = &v->commands->soft[nr - 1];
	if (!soft->users)
		return;
	tacho_store_relaxed(&soft->users, soft->users - 1);
	if (soft->users)
		return;
	memcpy(name, soft->event, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	on = !tacho_load_relaxed(&soft->disabled);
	if (on != tacho_view_rules_want(v, name))
		(void)tacho_edit_rule(v, on, name);
}

/* ---- histograms ---- */

/* Calls fn for the map of each type that a histogram has. */
static void each_map(struct tacho_order *o, const struct tacho_command *c,
		     void (*fn)(const struct tacho_map *map))
{
	struct tacho_histmap m = { .series = c->series };
	DIR *list = opendir(o->s->path);
	const struct dirent *e;
	struct tacho_map map;

	while (list && (e = readdir(list))) {
		if (!tacho_histmap_parse(e->d_name, &m) ||
		    m.series != c->series ||
		    tacho_histmap_open(&o->s->view, &m))
			continue;
		if (!tacho_map_view(&map, m.mem, m.size, NULL))
			fn(&map);
		tacho_shm_unmap(m.mem, m.size);
	}
	if (list)
		closedir(list);
}

static void pause_map(const struct tacho_map *map)
{
	tacho_store_seq_cst(&map->head->paused, 1);
}

static void continue_map(const struct tacho_map *map)
{
	tacho_store_seq_cst(&map->head->paused, 0);
}

/* Others with its name count into the same maps. */
static bool shares_maps(struct tacho_order *o, const struct tacho_command *c)
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		const struct tacho_command *other =
			tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);

		if (other && other != c && other->series == c->series)
			return true;
	}
	return false;
}

/* Removes the files; programs keep their mappings for hits that still run. */
static void remove_maps(struct tacho_order *o, uint32_t series)
{
	struct tacho_histmap m;
	DIR *list = opendir(o->s->path);
	const struct dirent *e;

	while (list && (e = readdir(list)))
		if (tacho_histmap_parse(e->d_name, &m) && m.series == series)
			(void)unlinkat(dirfd(list), e->d_name, 0);
	if (list)
		closedir(list);
}

/* Executes pause, cont and clear of an existing histogram. */
static int change_hist(struct tacho_order *o, struct tacho_command *c)
{
	const struct tacho_hist_spec *h = &o->spec->hist;

	if (!h->pause && !h->cont && !h->clear)
		return tacho_cmd_error(o->e, -EEXIST, 0,
				       "Hist trigger already exists");
	/* first the command, then the existing maps: later maps read the command's flag */
	if (h->pause) {
		(void)tacho_or_seq_cst(&c->flags, TACHO_COMMAND_PAUSED);
		each_map(o, c, pause_map);
	}
	if (h->cont) {
		(void)tacho_and_seq_cst(&c->flags, ~(uint32_t)TACHO_COMMAND_PAUSED);
		each_map(o, c, continue_map);
	}
	if (h->clear)
		each_map(o, c, tacho_map_clear);
	return 0;
}

/* Whether an expression of another histogram names variable var of this command. */
static bool reads_var(const struct tacho_hist_expr *x,
		      const struct tacho_hist_spec *own, const char *var)
{
	if (!x)
		return false;
	if (x->op == TACHO_EXPR_VAR && !strcmp(x->name, var)) {
		for (uint32_t i = 0; i < own->nr_vars; i++)
			if (!x->system && !strcmp(own->var[i].name, var))
				return false;
		return true;
	}
	return reads_var(x->left, own, var) || reads_var(x->right, own, var);
}

static bool hist_reads(const struct tacho_hist_spec *h, const char *var)
{
	bool found = false;

	for (uint32_t i = 0; i < h->nr_vals; i++)
		found |= reads_var(h->val[i], h, var);
	for (uint32_t i = 0; i < h->nr_vars; i++)
		found |= reads_var(h->var[i].expr, h, var);
	for (uint32_t i = 0; i < h->nr_actions; i++)
		for (uint32_t k = 0; k < h->action[i]->nr_params; k++)
			found |= reads_var(h->action[i]->param[k], h, var);
	return found;
}

/* Whether another histogram reads a variable of this one. */
static bool is_read(struct tacho_order *o, const struct tacho_command *c,
		    const struct tacho_hist_spec *own)
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		struct tacho_command *other =
			tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);
		const struct tacho_trigger_spec *spec =
			other && other != c ? parse_place(o, other) : NULL;

		if (!spec || spec->cmd != TACHO_TRIGGER_HIST)
			continue;
		for (uint32_t k = 0; k < own->nr_vars; k++)
			if (hist_reads(&spec->hist, own->var[k].name))
				return true;
	}
	return false;
}

/* ---- adding ---- */

/* Writes the keys of a histogram as they were given. */
static void put_keys(const struct tacho_hist_spec *h, char *to, size_t size)
{
	size_t at = 0;

	*to = '\0';
	for (uint32_t i = 0; i < h->nr_keys && at < size; i++) {
		int n = snprintf(to + at, size - at, "%s%s", i ? "," : "",
				 h->key[i]->text);

		at += n > 0 ? (size_t)n : size;
	}
}

/* Finds a histogram on system:event with keys compatible with those of like. */
static const struct tacho_hist_spec *
find_like(struct tacho_compile *c, const struct tacho_order *o,
	  const struct tacho_type *type, const char *name,
	  const struct tacho_hist *like)
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		struct tacho_command *cmd =
			tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);
		struct tacho_trigger_spec *spec;
		struct tacho_hist *hist;

		if (!cmd || cmd->flags & TACHO_COMMAND_HIDDEN ||
		    strcmp(cmd->event, name))
			continue;
		spec = tacho_compile_trigger(c, cmd);
		if (!spec || spec->cmd != TACHO_TRIGGER_HIST)
			continue;
		hist = tacho_compile_hist(c, cmd, spec, type);
		if (hist && tacho_hist_same_keys(like, hist))
			return &spec->hist;
	}
	return NULL;
}

/* Notes that a command for a field's variable must also be added. */
static bool note_implied(struct tacho_order *o, const char *event,
			 const char *text)
{
	struct tacho_implied *m = tacho_arena_alloc(&o->arena, sizeof(*m));

	if (!m)
		return false;
	m->event = tacho_arena_strndup(&o->arena, event, strlen(event));
	m->text = tacho_arena_strndup(&o->arena, text, strlen(text));
	m->next = o->implied;
	o->implied = m;
	return m->event && m->text;
}

/*
 * onmatch(system.event) with a field of that event: a histogram on that event, with the keys and
 * the filter of an existing one, keeps the field in a variable.
 */
static struct tacho_hist *add_field_var(void *arg, const struct tacho_hist *for_hist,
					const char *system, const char *event,
					const char *field, uint32_t *var)
{
	struct tacho_compile *c = arg;
	struct tacho_order *o = c->owner;
	char text[TACHO_COMMAND_TEXT], keys[512], name[TACHO_RULE_MAX];
	const struct tacho_hist_spec *like;
	const struct tacho_type *type;
	struct tacho_hist *hist;
	struct tacho_trigger_spec *spec;
	bool several = false;

	(void)snprintf(keys, sizeof(keys), TACHO_FIELD_VAR "%s", field);
	hist = tacho_compile_var(c, system, event, keys, for_hist, var, &several);
	type = c->host.find_type(c, system, event);
	if (hist || !type || !tacho_compile_name(system, event, name))
		return hist;
	like = find_like(c, o, type, name, for_hist);
	spec = tacho_compile_alloc(c, sizeof(*spec));
	if (!like || !spec)
		return NULL;
	put_keys(like, keys, sizeof(keys));
	(void)snprintf(text, sizeof(text), "hist:keys=%s:" TACHO_FIELD_VAR "%s=%s%s%s",
		       keys, field, field, like->filter ? " if " : "",
		       like->filter ? like->filter : "");
	if (tacho_trigger_parse(spec, c->arena,
				tacho_compile_text(c, text, sizeof(text)), NULL) ||
	    tacho_hist_spec_bind_type(&spec->hist, c->arena, type, NULL) ||
	    tacho_hist_new(&hist, c->arena, &spec->hist, type, &c->host,
			   c->names, NULL) ||
	    !note_implied(o, name, text))
		return NULL;
	*var = 0;
	return hist;
}

/* A histogram by name: its maps are those of the first one of that name. */
static struct tacho_command *find_named(struct tacho_order *o)
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		struct tacho_command *c = tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);
		const struct tacho_trigger_spec *spec = c ? parse_place(o, c) : NULL;

		if (spec && spec->cmd == TACHO_TRIGGER_HIST && spec->hist.name &&
		    !strcmp(spec->hist.name, o->spec->hist.name))
			return c;
	}
	return NULL;
}

static int check_named(struct tacho_order *o, struct tacho_compile *c,
		       const struct tacho_hist *hist, struct tacho_cmd_error *e)
{
	struct tacho_command *other = o->spec->hist.name ? find_named(o) : NULL;
	struct tacho_trigger_spec *spec;
	const struct tacho_type *type;
	struct tacho_hist *of = NULL;

	if (!other)
		return 0;
	spec = tacho_compile_trigger(c, other);
	type = c->type(c, other->event);
	if (spec && type)
		of = tacho_compile_hist(c, other, spec, type);
	if (!of || tacho_hist_compatible(hist, of))
		return 0;
	return tacho_cmd_error(e, -EINVAL, 0, "Named hist trigger doesn't match "
			       "existing named trigger (includes variables)");
}

int tacho_order_check_trigger(struct tacho_order *o, struct tacho_compile *c,
			      const struct tacho_type *type,
			      struct tacho_cmd_error *e)
{
	struct tacho_trigger_spec *spec = tacho_compile_alloc(c, sizeof(*spec));
	struct tacho_filter *filter;
	struct tacho_hist *hist;
	int err = spec ? tacho_trigger_parse(spec, c->arena, o->text, e) : -ENOMEM;

	o->implied = NULL;
	if (!err && spec->filter)
		err = tacho_filter_compile(&filter, c->arena, type, spec->filter,
					   spec->filter_column, c->names, e);
	if (err || spec->cmd != TACHO_TRIGGER_HIST)
		return err;
	c->host.add_field_var = add_field_var;
	err = tacho_hist_spec_bind_type(&spec->hist, c->arena, type, e);
	if (!err)
		err = tacho_hist_new(&hist, c->arena, &spec->hist, type, &c->host,
				     c->names, e);
	return err ? err : check_named(o, c, hist, e);
}

/* Between begin and end of an edit. */
static int add_commands(struct tacho_order *o)
{
	const struct tacho_trigger_spec *spec = o->spec;
	struct tacho_command new = {
		.kind = TACHO_COMMAND_TRIGGER,
		.left = spec->counted ? spec->count : UINT64_MAX,
	};
	const struct tacho_command *named = NULL;
	int soft = 0, serial;

	if (spec->cmd == TACHO_TRIGGER_ENABLE_EVENT ||
	    spec->cmd == TACHO_TRIGGER_DISABLE_EVENT)
		soft = take_soft(o);
	if (soft < 0)
		return soft;
	new.soft = (uint32_t)soft;
	if (spec->cmd == TACHO_TRIGGER_HIST && spec->hist.name)
		named = find_named(o);
	if (named)
		new.series = named->series;
	if (spec->cmd == TACHO_TRIGGER_HIST && spec->hist.pause)
		new.flags = TACHO_COMMAND_PAUSED;
	serial = tacho_order_add(o, &new, o->glob, o->text);
	if (serial < 0 && soft)
		put_soft(o, (uint32_t)soft);
	for (const struct tacho_implied *m = o->implied; serial > 0 && m; m = m->next) {
		const struct tacho_command hidden = {
			.kind = TACHO_COMMAND_TRIGGER, .left = UINT64_MAX,
			.flags = TACHO_COMMAND_HIDDEN, .owner = (uint32_t)serial,
		};
		int err = tacho_order_add(o, &hidden, m->event, m->text);

		if (err < 0)
			return err;
	}
	return serial;
}

static int add_trigger(struct tacho_order *o)
{
	struct tacho_command *c = find_trigger(o, false, excludes);
	bool hist = o->spec->cmd == TACHO_TRIGGER_HIST;
	int err;

	if (c && hist)
		return change_hist(o, c);
	if (c)
		return tacho_cmd_error(o->e, -EEXIST, 0, "Trigger '%s' exists already",
				       c->text);
	if (hist && (o->spec->hist.cont || o->spec->hist.clear))
		return tacho_cmd_error(o->e, -ENOENT, 0, "Can't clear or continue a "
				       "nonexistent hist trigger");
	err = tacho_order_check_all(o, tacho_order_check_trigger);
	if (err == 1)
		err = o->spec->filter ?
		      tacho_order_check_text(o, o->spec->filter,
					     o->spec->filter_column) : 0;
	if (err)
		return err;
	tacho_edit_begin(&o->s->view);
	err = add_commands(o);
	tacho_edit_end(&o->s->view);
	return err < 0 ? err : 0;
}

/* ---- removing ---- */

static void remove_one(struct tacho_order *o, struct tacho_command *c)
{
	uint32_t series = c->series, soft = c->soft;
	bool shared = shares_maps(o, c);

	/* the place last: a kill in between must not leave a command without its place */
	tacho_order_remove(o, c);
	put_soft(o, soft);
	if (!shared)
		remove_maps(o, series);
}

static int remove_trigger(struct tacho_order *o)
{
	struct tacho_command *c = find_trigger(o, true, is_same);
	uint32_t serial;

	if (!c)
		return tacho_cmd_error(o->e, -ENOENT, 0, "No such trigger to remove");
	if (o->spec->cmd == TACHO_TRIGGER_HIST && is_read(o, c, &o->spec->hist))
		return tacho_cmd_error(o->e, -EBUSY, 0, "Another hist trigger reads "
				       "its variables");
	serial = c->serial;
	tacho_edit_begin(&o->s->view);
	remove_one(o, c);
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		c = tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);
		if (c && c->flags & TACHO_COMMAND_HIDDEN && c->owner == serial)
			remove_one(o, c);
	}
	tacho_edit_end(&o->s->view);
	return 0;
}

static int trigger_locked(struct tacho_order *o)
{
	struct tacho_trigger_spec *spec = tacho_arena_alloc(&o->arena, sizeof(*spec));
	int err;

	if (!spec)
		return tacho_cmd_error(o->e, -ENOMEM, 0, "No memory");
	err = tacho_trigger_parse(spec, &o->arena, o->text, o->e);
	o->spec = spec;
	if (err)
		return err;
	return spec->remove ? remove_trigger(o) : add_trigger(o);
}

int tacho_command_trigger(struct tacho_session *s, const char *event,
			  const char *text, uint32_t *matched,
			  struct tacho_cmd_error *e)
{
	return tacho_order_give(s, event, text, trigger_locked, matched, e);
}
