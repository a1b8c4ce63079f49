// SPDX-License-Identifier: MIT
/* Compiles a session's commands to the actions of one event: section 2 of actions.h. */
#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "engine/eprobe.h"
#include "runtime/actions.h"
#include "session/proc.h"
#include "sys/mapping.h"

/* Actions are allocated from chunks of this size. */
#define CHUNK_SIZE	(UINT64_C(1) << 20)

static struct runtime_session *session_of(const struct tacho_compile *c)
{
	return c->owner;
}

/* 0: continue.  A lack of memory is not an error of the text. */
static int failed(struct tacho_compile *c, int err)
{
	c->no_memory |= err == -ENOMEM;
	return err;
}

/* ---- callbacks of the compiler ---- */

/* This process's own event of that name, else any that was recorded. */
static const struct tacho_type *named_type(struct tacho_compile *c,
					   const char *name)
{
	uint32_t n = tacho_load_relaxed(&tacho_runtime.proc->nr_events);
	size_t want = strlen(name);
	const char *text;
	uint32_t len, id;

	for (uint32_t i = 1; i <= n; i++) {
		text = tacho_procmap_text(i, &len);
		if (len <= want || memcmp(text, name, want) || text[want] != '\n')
			continue;
		return tacho_compile_type(c, text, len,
			(uint32_t)tacho_types_add(c->view, text, len));
	}
	id = tacho_compile_find_type(c->view, name, 1);
	text = id ? tacho_types_text(c->view, id, &len) : NULL;
	return text ? tacho_compile_type(c, text, len, id) : NULL;
}

/* The shared map of a histogram: known here, or mapped now. */
static int get_map(struct runtime_session *s, struct tacho_histmap *want,
		   const struct tacho_map_geometry *g, uint32_t *flags)
{
	struct tacho_map view;
	int err;

	for (uint32_t i = 0; i < s->nr_maps; i++) {
		const struct tacho_histmap *m = &s->map[i];

		if (m->series != want->series || m->type != want->type)
			continue;
		*want = *m;
		return tacho_map_view(&view, m->mem, m->size, g);
	}
	if (s->nr_maps == RUNTIME_MAPS_MAX)
		return -ENOSPC;
	err = tacho_histmap_make(&s->view, want, g);
	if (err)
		return err;
	/* a tool that pauses it sets the command's flag first, then that of existing maps */
	if (tacho_load_seq_cst(flags) & TACHO_COMMAND_PAUSED &&
	    !tacho_map_view(&view, want->mem, want->size, g))
		tacho_store_relaxed(&view.head->paused, 1);
	s->map[s->nr_maps] = *want;
	tacho_store_release(&s->nr_maps, s->nr_maps + 1);	/* [maps] */
	return 0;
}

static int bind_hist(struct tacho_compile *c, struct tacho_command *cmd,
		     const struct tacho_hist_spec *spec, struct tacho_hist *hist)
{
	struct tacho_histmap map = {
		.series = tacho_load_relaxed(&cmd->series),
		.type = spec->name ? 0 : tacho_hist_type_of(hist)->id,
	};
	struct tacho_map_geometry g;
	int err;

	tacho_hist_geometry(hist, &g);
	err = get_map(session_of(c), &map, &g, &cmd->flags);
	if (!err)
		err = tacho_hist_bind(hist, map.mem, map.size);
	if (err)
		(void)tacho_add_relaxed(&c->view->commands->lost_map, 1);
	/* counted; more memory would not help */
	return err ? -EINVAL : 0;
}

/* ---- one event ---- */

static bool is_post(enum tacho_trigger_cmd cmd)
{
	return cmd == TACHO_TRIGGER_STACKTRACE || cmd == TACHO_TRIGGER_TRACEOFF;
}

/* The histograms on a target of enable_hist and disable_hist. */
static void find_targets(struct tacho_compile *c, struct runtime_trigger *t,
			 const struct tacho_trigger_spec *spec)
{
	const struct tacho_type *type =
		c->host.find_type(c, spec->system, spec->event);
	struct tacho_command *cmd;
	char name[TACHO_RULE_MAX];
	uint32_t at = 0;

	if (!type || !tacho_compile_name(spec->system, spec->event, name))
		return;
	while ((cmd = tacho_compile_next(c->view, TACHO_COMMAND_TRIGGER, name,
					 false, &at))) {
		struct tacho_trigger_spec *other = tacho_compile_trigger(c, cmd);
		struct runtime_target *target;
		struct tacho_hist *hist;

		if (!other || other->cmd != TACHO_TRIGGER_HIST)
			continue;
		hist = tacho_compile_hist(c, cmd, other, type);
		target = hist ? tacho_compile_alloc(c, sizeof(*target)) : NULL;
		if (!target)
			continue;
		*target = (struct runtime_target){ t->targets, hist };
		t->targets = target;
	}
}

/* Errs on the safe side: a field may have such a name. */
static void note_needs(struct runtime_actions *p, const struct tacho_hist_spec *h)
{
	p->needs_time |= tacho_hist_uses_time(h);
	p->needs_stack |= strstr(h->text, "stacktrace") != NULL;
	p->tells |= p->needs_stack || strstr(h->text, ".sym");
}

uint64_t tacho_actions_known(const struct runtime_session *s)
{
	return (uint64_t)tacho_load_relaxed(&tacho_runtime.proc->nr_events) << 32 |
	       (tacho_load_relaxed(&s->view.types->text_used) & UINT32_MAX);
}

/* Whether a histogram that did not compile may do so when more events are known. */
static bool refers(const struct tacho_hist_spec *h)
{
	return strchr(h->text, '$') || strstr(h->text, "onmatch(");
}

/* Compiles one trigger; false: it does not compile for this type. */
static bool make_trigger(struct tacho_compile *c, struct runtime_actions *p,
			 struct runtime_trigger *t, struct tacho_command *cmd,
			 const struct tacho_type *type)
{
	struct tacho_trigger_spec *spec = tacho_compile_trigger(c, cmd);
	uint32_t soft = tacho_load_relaxed(&cmd->soft);
	struct tacho_filter *filter = NULL;

	if (!spec || (spec->filter &&
		      failed(c, tacho_filter_compile(&filter, c->arena, type,
					spec->filter, 0, &tacho_probe_names,
					NULL))))
		return false;
	*t = (struct runtime_trigger){
		.cmd = spec->cmd, .filter = filter, .command = cmd,
		.serial = tacho_load_relaxed(&cmd->serial),
	};
	switch (spec->cmd) {
	case TACHO_TRIGGER_ENABLE_EVENT:
	case TACHO_TRIGGER_DISABLE_EVENT:
		if (!soft || soft > TACHO_SOFT_MAX)
			return false;
		t->soft = &c->view->commands->soft[soft - 1].disabled;
		break;
	case TACHO_TRIGGER_ENABLE_HIST:
	case TACHO_TRIGGER_DISABLE_HIST:
		find_targets(c, t, spec);
		break;
	case TACHO_TRIGGER_HIST:
		t->hist = tacho_compile_hist(c, cmd, spec, type);
		if (!t->hist) {
			p->partial |= refers(&spec->hist);
			return false;
		}
		note_needs(p, &spec->hist);
		break;
	case TACHO_TRIGGER_TRACEON:
	case TACHO_TRIGGER_TRACEOFF:
	case TACHO_TRIGGER_SNAPSHOT:
	case TACHO_TRIGGER_STACKTRACE:
	default:
		break;
	}
	p->post |= is_post(spec->cmd) || spec->cmd == TACHO_TRIGGER_SNAPSHOT;
	p->looks |= filter || t->hist || is_post(spec->cmd);
	p->tells |= spec->cmd == TACHO_TRIGGER_STACKTRACE;
	return true;
}

static struct runtime_actions *make_actions(struct tacho_compile *c, const char *name,
					  const struct tacho_type *type);

/* The needs of a generated event's actions are also needs of the actions that generate it. */
static void note_made(struct runtime_actions *p, const struct runtime_actions *of)
{
	p->needs_time |= of->needs_time;
	p->needs_stack |= of->needs_stack;
	p->tells |= of->tells;
	p->partial |= of->partial;
}

/* Compiles an event probe on this type; false: not in use, or it does not compile. */
static bool make_eprobe(struct tacho_compile *c, struct runtime_actions *p,
			struct runtime_trigger *t, const struct tacho_command *cmd,
			const struct tacho_type *type)
{
	const char *text = tacho_compile_text(c, cmd->text, sizeof(cmd->text));
	char *group = (char *)(uintptr_t)tacho_compile_text(c, cmd->event, sizeof(cmd->event));
	const char *full = tacho_compile_text(c, cmd->event, sizeof(cmd->event));
	char *colon = group ? strchr(group, ':') : NULL;
	struct runtime_eprobe *made = tacho_compile_alloc(c, sizeof(*made));
	struct tacho_filter *filter = NULL;
	struct tacho_cmd_error e = { 0 };
	struct runtime_actions *program;

	if (!text || !full || !colon || !made || c->depth == TACHO_COMPILE_DEPTH)
		return false;
	*colon = '\0';
	made->eprobe = tacho_eprobe_parse(c->arena, group, colon + 1, text, type, &e);
	if (!made->eprobe) {
		(void)failed(c, e.err);
		return false;
	}
	if (made->eprobe->filter &&
	    failed(c, tacho_filter_compile(&filter, c->arena, type, made->eprobe->filter, 0,
					   &tacho_probe_names, NULL)))
		return false;
	c->depth++;
	program = make_actions(c, full, made->eprobe->type);
	c->depth--;
	if (!program || (!program->enabled && !program->soft && !program->nr_triggers))
		return false;
	program->id = (uint16_t)tacho_load_relaxed(&cmd->series);
	made->program = program;
	*t = (struct runtime_trigger){
		.cmd = TACHO_TRIGGER_HIST, .filter = filter, .eprobe = made,
		.serial = tacho_load_relaxed(&cmd->serial),
	};
	note_made(p, program);
	p->looks = true;
	return true;
}

static void make_eprobes(struct tacho_compile *c, struct runtime_actions *p, const char *name,
			 const struct tacho_type *type, uint32_t room)
{
	uint32_t n = tacho_view_nr_commands(c->view);

	for (uint32_t i = 0; i < n && p->nr_triggers < room; i++)
		if (tacho_view_eprobe_is_on(c->view, i, name))
			p->nr_triggers += make_eprobe(c, p, &p->trigger[p->nr_triggers],
						      &c->view->commands->command[i], type);
}

static uint32_t count_eprobes(const struct tacho_view *v, const char *name)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tacho_view_nr_commands(v); i++)
		n += tacho_view_eprobe_is_on(v, i, name);
	return n;
}

static void make_triggers(struct tacho_compile *c, struct runtime_actions *p,
			  const char *name, const struct tacho_type *type)
{
	const struct tacho_view *v = c->view;
	struct tacho_command *cmd;
	uint32_t at = 0, n = 0, eprobes = count_eprobes(v, name);

	while (tacho_compile_next(v, TACHO_COMMAND_TRIGGER, name, false, &at))
		n++;
	p->trigger = n + eprobes ?
		     tacho_compile_alloc(c, (n + eprobes) * sizeof(*p->trigger)) : NULL;
	at = 0;
	while (p->trigger && p->nr_triggers < n &&
	       (cmd = tacho_compile_next(v, TACHO_COMMAND_TRIGGER, name, false, &at)))
		p->nr_triggers += make_trigger(c, p, &p->trigger[p->nr_triggers],
					       cmd, type);
	if (p->trigger && eprobes)
		make_eprobes(c, p, name, type, p->nr_triggers + eprobes);
}

/* The newest filter that compiles for this type. */
static void make_filter(struct tacho_compile *c, struct runtime_actions *p,
			const char *name, const struct tacho_type *type)
{
	struct tacho_command *cmd;
	uint32_t at = UINT32_MAX;
	struct tacho_filter *filter;

	while ((cmd = tacho_compile_next(c->view, TACHO_COMMAND_FILTER, name, true,
				   &at))) {
		const char *text = tacho_compile_text(c, cmd->text, sizeof(cmd->text));

		if (!text || failed(c, tacho_filter_compile(&filter, c->arena, type,
						text, 0, &tacho_probe_names, NULL)))
			continue;
		p->filter = filter;
		return;
	}
}

/* Finds the histogram of actions that are only one histogram and need only two of the steps. */
static struct tacho_hist *find_count(const struct runtime_actions *p)
{
	const struct runtime_trigger *t = p->trigger;

	return p->nr_triggers == 1 && t->hist && !t->filter && !p->filter &&
	       tacho_hist_is_plain(t->hist) ? t->hist : NULL;
}

static struct runtime_actions *make_actions(struct tacho_compile *c,
					  const char *name,
					  const struct tacho_type *type)
{
	const struct tacho_view *v = c->view;
	const struct tacho_soft *soft = tacho_view_soft(v, name);
	struct runtime_actions *p = tacho_compile_alloc(c, sizeof(*p));

	if (!p)
		return NULL;
	p->enabled = tacho_view_decide(v, name, tacho_runtime.pid).enabled;
	p->soft = soft ? &soft->disabled : NULL;
	if (!type)
		return p;
	make_filter(c, p, name, type);
	make_triggers(c, p, name, type);
	p->count = find_count(p);
	/* a synthetic event's histograms see the time and place of its cause */
	for (const struct tacho_made_synth *s = c->synths; s; s = s->next) {
		if (s->program)
			note_made(p, s->program);
	}
	return p;
}

/* Of a synthetic event. */
static void *synth_actions(struct tacho_compile *c, const char *name,
			   struct tacho_command *cmd,
			   const struct tacho_type *type)
{
	struct runtime_actions *p = make_actions(c, name, type);

	if (p)
		p->id = (uint16_t)tacho_load_relaxed(&cmd->series);
	return p;
}

/*
 * Everything that actions point to is in the arena, also struct tacho_compile, which histograms
 * use while they run.
 */
static struct tacho_compile *begin(struct runtime_session *s,
				   struct tacho_arena *arena)
{
	struct tacho_compile *c = tacho_arena_alloc(arena, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct tacho_compile){
		.view = &s->view, .arena = arena, .names = &tacho_probe_names,
		.owner = s, .type = named_type, .bind = bind_hist,
		.program = synth_actions,
	};
	tacho_compile_init(c);
	c->host.synth = tacho_actions_synth;
	c->host.snapshot = tacho_actions_snapshot;
	return c;
}

/* Compiles the actions of an event; optionally without its commands. */
static struct runtime_actions *compile_event(struct tacho_compile *c,
					   uint32_t index, bool commands)
{
	const struct tacho_type *type = NULL;
	char name[TACHO_RULE_MAX];
	struct runtime_actions *p;
	uint32_t len;
	const char *text = tacho_procmap_text(index, &len);
	int id = commands ? tacho_types_add(c->view, text, len) : 0;

	tacho_type_text_name(text, len, name, sizeof(name));
	if (id > 0)
		type = tacho_compile_type(c, text, len, (uint32_t)id);
	p = make_actions(c, name, type);
	c->arena = NULL;
	return p;
}

/* Tries to compile in the rest of the chunk; NULL: not enough memory. */
static struct runtime_actions *compile_here(struct runtime_session *s,
					  uint32_t index, bool commands)
{
	unsigned char *mem = s->chunk + s->chunk_used;
	struct runtime_actions *p = NULL;
	struct tacho_compile *c;
	struct tacho_arena arena;
	size_t used;

	tacho_arena_init_mem(&arena, mem, CHUNK_SIZE - s->chunk_used);
	c = begin(s, &arena);
	if (c)
		p = compile_event(c, index, commands);
	used = tacho_arena_mem_used(&arena);
	if (p && !c->no_memory) {
		s->chunk_used += TACHO_ALIGN_UP(used, 64);
		return p;
	}
	memset(mem, 0, used);
	return NULL;
}

static bool new_chunk(struct runtime_session *s)
{
	s->chunk = tacho_shm_private(CHUNK_SIZE);
	s->chunk_used = 0;
	return s->chunk;
}

struct runtime_actions *tacho_actions_compile(struct runtime_session *s,
					    uint32_t index)
{
	uint32_t seq = tacho_load_seq_cst(&s->view.commands->seq);
	uint64_t known = tacho_actions_known(s);
	struct runtime_actions *p = NULL;

	if (s->chunk)
		p = compile_here(s, index, true);
	if (!p && !new_chunk(s))
		return NULL;
	if (!p)
		p = compile_here(s, index, true);
	if (!p) {
		/* recorded as if it had none */
		(void)tacho_add_relaxed(&tacho_runtime.proc->lost_program, 1);
		p = compile_here(s, index, false);
	}
	if (p) {
		p->seq = p->partial ? seq | 1 : seq;
		p->known = known;
	}
	return p;
}
