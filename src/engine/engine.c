// SPDX-License-Identifier: MIT
/* An instance: events, and the commands that set them up. */
#include "engine/engine_priv.h"

#include <errno.h>
#include <string.h>

#define LOC_FILTER	"event filter parse error"
#define LOC_SYNTH	"synthetic_events"
#define LOC_MAX		(4 << 10)	/* bytes of "hist:system:event" */
#define SYSTEM_ERROR	"Couldn't find or set field in one of a subsystem's events"

/* ---- errors ---- */

static void log_add(struct tacho_engine *engine, const char *loc,
		    const char *command, const struct tacho_cmd_error *e)
{
	uint64_t now = engine->host.now ? engine->host.now(engine->host.arg) : 0;

	tacho_errlog_add(&engine->log, now, loc, command, e);
}

int engine_log_event(struct tacho_engine *engine, const char *kind,
		     const struct engine_event *event, const char *command,
		     const struct tacho_cmd_error *e)
{
	struct tacho_buf loc;

	tacho_buf_init(&loc, LOC_MAX);
	tacho_buf_puts(&loc, kind);
	tacho_buf_putc(&loc, ':');
	tacho_buf_puts(&loc, event->pub.type->system);
	tacho_buf_putc(&loc, ':');
	tacho_buf_puts(&loc, event->pub.type->name);
	log_add(engine, tacho_buf_str(&loc), command, e);
	tacho_buf_release(&loc);
	return e->err;
}

/* ---- the instance and its events ---- */

struct tacho_engine *tacho_engine_new(const struct tacho_engine_host *host,
				      const struct tacho_names *names)
{
	struct tacho_arena arena;
	struct tacho_engine *engine;

	tacho_arena_init(&arena, ENGINE_MAX);
	engine = tacho_arena_alloc(&arena, sizeof(*engine));
	if (!engine) {
		tacho_arena_release(&arena);
		return NULL;
	}
	engine->arena = arena;
	engine->host = *host;
	engine->names = names;
	engine->running = true;
	engine_hist_init(engine);
	return engine;
}

static void event_free(struct engine_event *event)
{
	struct tacho_arena arena = event->arena;

	while (event->triggers) {
		struct engine_trigger *t = event->triggers;

		event->triggers = t->next;
		engine_trigger_free(t);
	}
	tacho_arena_release(&event->filter_arena);
	if (event->pub.generated)
		tacho_arena_release(&arena);
}

void tacho_engine_free(struct tacho_engine *engine)
{
	struct tacho_arena arena;

	if (!engine)
		return;
	for (uint32_t i = 0; i < engine->nr_events; i++)
		event_free(engine->event[i]);
	arena = engine->arena;
	tacho_arena_release(&arena);
}

struct engine_event *engine_find(const struct tacho_engine *engine,
				 const char *system, const char *name)
{
	for (uint32_t i = 0; i < engine->nr_events; i++) {
		const struct tacho_type *type = engine->event[i]->pub.type;

		if (!strcmp(type->name, name) && !strcmp(type->system, system))
			return engine->event[i];
	}
	return NULL;
}

/* Makes room for one more event.  The old table stays allocated in the arena. */
bool engine_reserve_event(struct tacho_engine *engine)
{
	uint32_t room = engine->room ? engine->room * 2 : 64;
	struct engine_event **table;

	if (engine->nr_events < engine->room)
		return true;
	table = tacho_arena_array(&engine->arena, room, sizeof(struct engine_event *));
	if (!table)
		return false;
	for (uint32_t i = 0; i < engine->nr_events; i++)
		table[i] = engine->event[i];
	engine->event = table;
	engine->room = room;
	return true;
}

struct tacho_engine_event *tacho_engine_add(struct tacho_engine *engine,
					    const struct tacho_type *type)
{
	struct engine_event *event = engine_find(engine, type->system, type->name);

	if (event)
		return &event->pub;
	if (!engine_reserve_event(engine))
		return NULL;
	event = tacho_arena_alloc(&engine->arena, sizeof(*event));
	if (!event)
		return NULL;
	event->pub.type = type;
	engine->event[engine->nr_events++] = event;
	return &event->pub;
}

struct tacho_engine_event *tacho_engine_find(struct tacho_engine *engine,
					     const char *system,
					     const char *name)
{
	struct engine_event *event = engine_find(engine, system, name);

	return event ? &event->pub : NULL;
}

struct tacho_engine_event *tacho_engine_at(struct tacho_engine *engine,
					   uint32_t index)
{
	return index < engine->nr_events ? &engine->event[index]->pub : NULL;
}

void tacho_engine_run(struct tacho_engine *engine, bool on)
{
	engine->running = on;
}

bool tacho_engine_running(const struct tacho_engine *engine)
{
	return engine->running;
}

bool tacho_engine_has_filter(const struct tacho_engine_event *event)
{
	return engine_event_ro(event)->filter;
}

bool tacho_engine_needs_record(const struct tacho_engine_event *event)
{
	return engine_event_ro(event)->needs_record;
}

uint64_t tacho_engine_too_deep(const struct tacho_engine *engine)
{
	return engine->too_deep;
}

/* ---- soft users of an event ---- */

bool engine_is_wanted(const struct engine_event *event)
{
	return event->pub.enabled || event->pub.soft;
}

static void tell_wanted(struct tacho_engine *engine, struct engine_event *event,
			bool was)
{
	bool is = engine_is_wanted(event);

	event->pub.soft_disabled = event->pub.soft && !event->pub.enabled;
	if (is != was && event->base)
		engine_eprobe_switch(engine, event, is);
	if (is != was && engine->host.wanted)
		engine->host.wanted(engine->host.arg, &event->pub, is);
}

void tacho_engine_enable(struct tacho_engine *engine,
			 struct tacho_engine_event *event, bool on)
{
	struct engine_event *ev = engine_event_of(event);
	bool was = engine_is_wanted(ev);

	ev->pub.enabled = on;
	tell_wanted(engine, ev, was);
}

void engine_soft_get(struct tacho_engine *engine, struct engine_event *event)
{
	bool was = engine_is_wanted(event);

	event->pub.soft++;
	tell_wanted(engine, event, was);
}

/*
 * An event that disable_event disabled stays disabled, and one that enable_event enabled stays
 * enabled.
 */
void engine_soft_put(struct tacho_engine *engine, struct engine_event *event)
{
	event->pub.soft--;
	tell_wanted(engine, event, true);
}

/* ---- filters of events ---- */

static void filter_clear(struct engine_event *event)
{
	tacho_arena_release(&event->filter_arena);
	event->filter = NULL;
	event->filter_text = NULL;
}

/* A filter with its own arena, and its text. */
struct filter_try {
	struct tacho_arena arena;
	struct tacho_filter *filter;
	const char *text;
};

static int filter_compile(struct tacho_engine *engine,
			  const struct engine_event *event, const char *text,
			  struct filter_try *try, struct tacho_cmd_error *e)
{
	int err;

	tacho_arena_init(&try->arena, ENGINE_MAX);
	try->filter = NULL;
	try->text = tacho_arena_strndup(&try->arena, text, strlen(text));
	err = try->text ? tacho_filter_compile(&try->filter, &try->arena,
					       event->pub.type, try->text, 0,
					       engine->names, e) :
			  tacho_cmd_no_memory(e);
	if (err)
		tacho_arena_release(&try->arena);
	return err;
}

static void filter_set_take(struct engine_event *event, struct filter_try *try)
{
	filter_clear(event);
	event->filter_arena = try->arena;
	event->filter = try->filter;
	event->filter_text = try->text;
}

/*
 * As in the kernel, a wrong filter replaces the old one: all events pass, and the file shows the
 * error.
 */
static void filter_show_error(struct engine_event *event, const char *text,
			      const struct tacho_cmd_error *e)
{
	uint32_t len = (uint32_t)strlen(text);
	uint32_t at = e->column < len ? e->column : len;
	struct tacho_buf out;

	filter_clear(event);
	tacho_arena_init(&event->filter_arena, ENGINE_MAX);
	tacho_buf_init(&out, 3 * TACHO_COMMAND_MAX + (size_t)2 * len);
	tacho_buf_puts(&out, text);
	tacho_buf_putc(&out, '\n');
	for (; at; at--)
		tacho_buf_putc(&out, ' ');
	tacho_buf_puts(&out, "^\nparse_error: ");
	tacho_buf_puts(&out, e->text);
	tacho_buf_putc(&out, '\n');
	if (!tacho_buf_error(&out))
		event->filter_text = tacho_arena_strndup(&event->filter_arena,
							 out.data, out.len);
	tacho_buf_release(&out);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies the text without trailing white space to the arena.  NULL: no memory. */
static const char *trim_end(struct tacho_arena *a, const char *text)
{
	size_t len = strlen(text);

	while (len && is_blank(text[len - 1]))
		len--;
	return tacho_arena_strndup(a, text, len);
}

/* "0" removes a filter. */
static bool is_nothing(const char *text)
{
	while (is_blank(*text))
		text++;
	return !strcmp(text, "0");
}

static int filter_event(struct tacho_engine *engine, struct engine_event *event,
			const char *text, struct tacho_cmd_error *e)
{
	struct filter_try try;
	int err;

	if (is_nothing(text)) {
		filter_clear(event);
		return 0;
	}
	err = filter_compile(engine, event, text, &try, e);
	if (!err) {
		filter_set_take(event, &try);
		return 0;
	}
	if (err != -ENOMEM)
		filter_show_error(event, text, e);
	log_add(engine, LOC_FILTER, text, e);
	return err;
}

int tacho_engine_filter(struct tacho_engine *engine,
			struct tacho_engine_event *event, const char *text,
			struct tacho_cmd_error *e)
{
	struct tacho_cmd_error own = { .err = 0 };
	struct tacho_arena a;
	const char *trimmed;
	int err;

	e = e ? e : &own;
	tacho_arena_init(&a, ENGINE_MAX);
	trimmed = trim_end(&a, text);
	err = trimmed ? filter_event(engine, engine_event_of(event), trimmed, e) :
			tacho_cmd_no_memory(e);
	tacho_arena_release(&a);
	return err;
}

static bool in_system(const struct engine_event *event, const char *system)
{
	return !strcmp(event->pub.type->system, system);
}

/*
 * Sets the filter of all events of a system.  Returns for how many it was valid; *failed: for how
 * many not, *e: the last error.
 */
static uint32_t filter_events(struct tacho_engine *engine, const char *system,
			      const char *text, uint32_t *failed,
			      struct tacho_cmd_error *e)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < engine->nr_events; i++) {
		struct engine_event *event = engine->event[i];
		struct filter_try try;

		if (!in_system(event, system))
			continue;
		*e = (struct tacho_cmd_error){ .err = 0 };
		if (is_nothing(text)) {
			filter_clear(event);
		} else if (filter_compile(engine, event, text, &try, e)) {
			++*failed;
			continue;
		} else {
			filter_set_take(event, &try);
		}
		taken++;
	}
	return taken;
}

static int filter_system(struct tacho_engine *engine, const char *system,
			 const char *text, struct tacho_cmd_error *e)
{
	struct tacho_cmd_error why = { .err = 0 };
	uint32_t failed = 0, taken;

	taken = filter_events(engine, system, text, &failed, &why);
	if (!failed && !taken)
		return tacho_cmd_error(e, -EINVAL, 0, "No such subsystem");
	if (!failed)
		return 0;
	/* a filter that is valid for no event has its error */
	if (taken || why.err != -ENOMEM)
		why = (struct tacho_cmd_error){ .err = -EINVAL,
						.text = SYSTEM_ERROR };
	log_add(engine, LOC_FILTER, text, &why);
	return taken ? 0 : tacho_cmd_error(e, why.err, why.column, "%s", why.text);
}

int tacho_engine_filter_system(struct tacho_engine *engine, const char *system,
			       const char *text, struct tacho_cmd_error *e)
{
	struct tacho_arena a;
	const char *trimmed;
	int err;

	tacho_arena_init(&a, ENGINE_MAX);
	trimmed = trim_end(&a, text);
	err = trimmed ? filter_system(engine, system, trimmed, e) : tacho_cmd_no_memory(e);
	tacho_arena_release(&a);
	return err;
}

/* ---- triggers ---- */

struct engine_trigger *engine_trigger_new(struct engine_event *event)
{
	struct tacho_arena a;
	struct engine_trigger *t;

	tacho_arena_init(&a, ENGINE_MAX);
	t = tacho_arena_alloc(&a, sizeof(*t));
	if (!t) {
		tacho_arena_release(&a);
		return NULL;
	}
	t->arena = a;
	t->event = event;
	return t;
}

void engine_trigger_free(struct engine_trigger *t)
{
	struct tacho_arena arena = t->arena;

	if (t->map)
		engine_map_put(t);
	tacho_arena_release(&arena);
}

void engine_update_needs(struct engine_event *event)
{
	event->needs_record = event->eprobes != NULL;
	for (struct engine_trigger *t = event->triggers; t; t = t->next)
		if (t->filter || t->hist ||
		    t->spec.cmd == TACHO_TRIGGER_STACKTRACE ||
		    t->spec.cmd == TACHO_TRIGGER_TRACEOFF)
			event->needs_record = true;
}

void engine_trigger_attach(struct tacho_engine *engine,
			   struct engine_trigger *t, bool last)
{
	struct engine_trigger **at = &t->event->triggers;

	while (last && *at)
		at = &(*at)->next;
	t->next = *at;
	*at = t;
	t->left = t->spec.count;
	engine_update_needs(t->event);
	engine_soft_get(engine, t->event);
	if (t->target)
		engine_soft_get(engine, t->target);
}

void engine_trigger_detach(struct tacho_engine *engine,
			   struct engine_trigger *t)
{
	struct engine_trigger **at = &t->event->triggers;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	engine_update_needs(t->event);
	engine_soft_put(engine, t->event);
	if (t->target)
		engine_soft_put(engine, t->target);
	engine_trigger_free(t);
}

int engine_trigger_filter(struct tacho_engine *engine, struct engine_trigger *t,
			  struct tacho_cmd_error *e)
{
	struct tacho_cmd_error in = { .err = 0 };
	const char *text = t->spec.filter;
	int err;

	if (!text)
		return 0;
	err = tacho_filter_compile(&t->filter, &t->arena, t->event->pub.type,
				   text, 0, engine->names, &in);
	if (!err)
		return 0;
	log_add(engine, LOC_FILTER, text, &in);
	return tacho_cmd_error(e, err, in.column + t->spec.filter_column, "%s",
			       in.text);
}

/* Commands of one kind exclude each other. */
static enum tacho_trigger_cmd kind_of(enum tacho_trigger_cmd cmd)
{
	if (cmd == TACHO_TRIGGER_TRACEOFF)
		return TACHO_TRIGGER_TRACEON;
	if (cmd == TACHO_TRIGGER_DISABLE_EVENT)
		return TACHO_TRIGGER_ENABLE_EVENT;
	if (cmd == TACHO_TRIGGER_DISABLE_HIST)
		return TACHO_TRIGGER_ENABLE_HIST;
	return cmd;
}

/* The trigger of the event that conflicts with t, or that "!t" removes. */
static struct engine_trigger *find_like(const struct engine_trigger *t)
{
	struct engine_trigger *o;

	for (o = t->event->triggers; o; o = o->next)
		if (kind_of(o->spec.cmd) == kind_of(t->spec.cmd) &&
		    o->target == t->target)
			return o;
	return NULL;
}

static int log_plain(struct tacho_engine *engine, const struct engine_trigger *t,
		     int err, const struct tacho_cmd_error *e)
{
	engine_log_event(engine, "trigger", t->event, t->spec.text, e);
	return err;
}

static int plain_remove(struct tacho_engine *engine,
			const struct engine_trigger *t, struct tacho_cmd_error *e)
{
	struct engine_trigger *like = find_like(t);

	if (!like)
		return tacho_cmd_error(e, -ENOENT, 0, "No such trigger");
	engine_trigger_detach(engine, like);
	return 0;
}

static int plain_check(struct tacho_engine *engine, struct engine_trigger *t,
		       struct tacho_cmd_error *e)
{
	int err = engine_trigger_filter(engine, t, e);

	if (err || !find_like(t))
		return err;
	return log_plain(engine, t, tacho_cmd_error(e, -EEXIST, 0,
			 "A trigger of this kind is there already"), e);
}

/* Executes a parsed command other than hist.  Takes ownership of t. */
static int plain_command_take(struct tacho_engine *engine,
			      struct engine_trigger *t, struct tacho_cmd_error *e)
{
	const struct tacho_trigger_spec *spec = &t->spec;
	bool remove = spec->remove;
	int err = 0;

	if (spec->system)
		t->target = engine_find(engine, spec->system, spec->event);
	if (spec->system && !t->target)
		err = log_plain(engine, t, tacho_cmd_error(e, -EINVAL,
				spec->target_column, "No such event"), e);
	else if (remove)
		err = plain_remove(engine, t, e);
	else
		err = plain_check(engine, t, e);
	if (!err && !remove)
		engine_trigger_attach(engine, t, false);
	else
		engine_trigger_free(t);
	return err;
}

int tacho_engine_trigger(struct tacho_engine *engine,
			 struct tacho_engine_event *event, const char *text,
			 struct tacho_cmd_error *e)
{
	struct tacho_cmd_error own = { .err = 0 };
	struct engine_trigger *t = engine_trigger_new(engine_event_of(event));
	int err;

	e = e ? e : &own;
	if (!t)
		return tacho_cmd_no_memory(e);
	err = tacho_trigger_parse(&t->spec, &t->arena, text, e);
	if (!err && t->spec.cmd == TACHO_TRIGGER_HIST)
		return engine_hist_command_take(engine, t, e);
	if (!err)
		return plain_command_take(engine, t, e);
	engine_log_event(engine, t->spec.cmd == TACHO_TRIGGER_HIST ? "hist" :
			 "trigger", t->event, t->spec.text, e);
	engine_trigger_free(t);
	return err;
}

/* ---- synthetic events ---- */

void engine_generated_remove(struct tacho_engine *engine, struct engine_event *event)
{
	uint32_t i = 0;

	while (engine->event[i] != event)
		i++;
	engine->nr_events--;
	for (; i < engine->nr_events; i++)
		engine->event[i] = engine->event[i + 1];
	event_free(event);
}

static void synth_forget(struct tacho_engine *engine,
			 const struct engine_event *event)
{
	struct engine_event **at = &engine->synths;

	while (*at != event)
		at = &(*at)->next_synth;
	*at = event->next_synth;
}

static int synth_remove(struct tacho_engine *engine, const char *name,
			struct tacho_cmd_error *e)
{
	struct engine_event *event = engine_find(engine, "synthetic", name);

	if (!event || !event->pub.synth)
		return tacho_cmd_error(e, -ENOENT, 0, "No such event");
	if (engine_is_wanted(event) || engine_hist_makes(engine, event->pub.synth) ||
	    engine_eprobe_uses(engine, event))
		return tacho_cmd_error(e, -EBUSY, 0, "Event is in use");
	synth_forget(engine, event);
	engine_generated_remove(engine, event);
	return 0;
}

static int synth_define(struct tacho_engine *engine, const char *text,
			struct tacho_cmd_error *e)
{
	struct engine_event *event = NULL, **at = &engine->synths;
	struct tacho_synth *synth;
	struct tacho_arena a;

	tacho_arena_init(&a, ENGINE_MAX);
	synth = tacho_synth_parse(&a, text, e);
	if (synth) {
		event = tacho_arena_alloc(&a, sizeof(*event));
		if (!event || !engine_reserve_event(engine))
			synth = NULL;
	}
	if (!synth) {
		tacho_arena_release(&a);
		return e->err ? e->err : tacho_cmd_no_memory(e);
	}
	event->pub.type = synth->type;
	event->pub.synth = synth;
	event->pub.generated = true;
	event->arena = a;
	engine->event[engine->nr_events++] = event;
	while (*at)
		at = &(*at)->next_synth;
	*at = event;
	return 0;
}

static int synth_command(struct tacho_engine *engine, const char *text,
			 struct tacho_cmd_error *e)
{
	struct tacho_arena a;
	const char *s;
	size_t len;
	bool whole = tacho_synth_name(text, &s, &len);
	char *name;
	int err;

	tacho_arena_init(&a, ENGINE_MAX);
	name = tacho_arena_strndup(&a, s, len);
	if (!name)
		err = tacho_cmd_no_memory(e);
	else if (*text == '!')
		err = synth_remove(engine, name, e);
	else if (whole && engine_find(engine, "synthetic", name))
		err = tacho_cmd_error(e, -EEXIST, 0, "Event already exists");
	else
		err = synth_define(engine, text, e);
	tacho_arena_release(&a);
	return err;
}

int tacho_engine_synth(struct tacho_engine *engine, const char *text,
		       struct tacho_cmd_error *e)
{
	struct tacho_cmd_error own = { .err = 0 };
	const char *from = text;
	struct tacho_arena a;
	char *line;
	int err;

	e = e ? e : &own;
	while (is_blank(*from))
		from++;
	/* a comment, or nothing */
	if (!*from || *from == '#')
		return 0;
	tacho_arena_init(&a, ENGINE_MAX);
	line = tacho_arena_strndup(&a, from, strcspn(from, "#\n"));
	err = line ? synth_command(engine, line, e) : tacho_cmd_no_memory(e);
	if (err && err != -ENOENT && err != -EBUSY && line)
		log_add(engine, LOC_SYNTH, line, e);
	if (err)
		e->column += (uint32_t)(from - text);
	tacho_arena_release(&a);
	return err;
}
