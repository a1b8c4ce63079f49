// SPDX-License-Identifier: MIT
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/query_priv.h"

#define ARENA_MAX	((size_t)16 << 20)
#define PREPARED	TACHO_SYNTH_RAW_MAX
#define FILTER_MAX	((size_t)1 << 20)

/* ---- the engine's host ---- */

static struct query_generated *generated_place(struct tacho_query *q, uint32_t len)
{
	struct query_generated *m;

	if (q->nr_generated == QUERY_GENERATED_MAX || len > PREPARED)
		return NULL;
	m = &q->generated[q->nr_generated];
	if (m->room < len) {
		unsigned char *raw = realloc(m->raw, PREPARED);

		if (!raw)
			return NULL;
		m->raw = raw;
		m->room = PREPARED;
	}
	return m;
}

/* Makes a record of a synthetic event, next to the one that caused it. */
static void host_emit(void *arg, const struct tacho_engine_event *event,
		      const struct tacho_rec *rec)
{
	struct tacho_query *q = arg;
	struct query_generated *m = generated_place(q, rec->len);

	if (!m || !q->now)
		return;
	memcpy(m->raw, rec->raw, rec->len);
	m->record = *q->now;
	m->record.type = event->type;
	m->record.raw = m->raw;
	m->record.len = rec->len;
	m->record.lost = 0;
	q->nr_generated++;
}

static void host_stacktrace(void *arg, const struct tacho_engine_event *event,
			    const struct tacho_rec *cause)
{
	struct tacho_query *q = arg;

	(void)event;
	(void)cause;
	q->nr_stacktraces++;
}

uint64_t tacho_query_stacktraces(const struct tacho_query *q)
{
	return q->nr_stacktraces;
}

int tacho_query_new(struct tacho_query **query, struct tacho_stream *stream)
{
	struct tacho_query *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->stream = stream;
	q->last = &q->commands;
	tacho_arena_init(&q->arena, ARENA_MAX);
	tacho_query_names_init(q);
	q->held_last = &q->held;
	q->window_size = TACHO_QUERY_SNAPSHOT;
	q->host = (struct tacho_engine_host){
		.arg = q, .emit = host_emit, .snapshot = query_snapshot_take,
		.stacktrace = host_stacktrace,
	};
	q->resolver = tacho_resolver_of(stream);
	q->engine = tacho_engine_new(&q->host, &q->names);
	if (!q->engine) {
		tacho_query_free(q);
		return -ENOMEM;
	}
	*query = q;
	return 0;
}

void tacho_query_free(struct tacho_query *q)
{
	if (!q)
		return;
	query_pair_release(q);
	tacho_window_free(q->window);
	tacho_engine_free(q->engine);
	run_queue_free(q->run_queue);
	tacho_arena_release(&q->arena);
	free(q->function);
	for (uint32_t i = 0; i < QUERY_GENERATED_MAX; i++)
		free(q->generated[i].raw);
	free(q);
}

struct tacho_engine *tacho_query_engine(const struct tacho_query *q)
{
	return q->engine;
}

const struct tacho_names *tacho_query_names(const struct tacho_query *q)
{
	return &q->names;
}

static bool is_live(const struct tacho_query *q)
{
	const struct tacho_source *source = tacho_stream_source(q->stream, 0);

	return source && source->ops->live;
}

bool tacho_query_is_additive(const struct tacho_query *q)
{
	return !q->pairing && !q->window && !q->run_queue && !q->made && !is_live(q) &&
	       tacho_engine_is_additive(q->engine, !tacho_stream_source(q->stream, 1));
}

bool tacho_query_is_sparse(const struct tacho_query *q)
{
	return !q->pairing && !q->window && !is_live(q);
}

bool tacho_query_has_hist(const struct tacho_query *q)
{
	return q->has_hist;
}

void tacho_query_changed(struct tacho_query *q)
{
	memset(q->slot, 0, sizeof(q->slot));
}

/* ---- the built-in event ---- */

static void run_queue_changed(void *arg, const struct tacho_synth_value *value,
			      const struct tacho_rec *rec)
{
	struct tacho_query *q = arg;

	tacho_engine_make(q->engine, RUN_QUEUE_EVENT, value, rec);
}

static bool has_event(const struct tacho_query *q, const char *event)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(q->stream, i)); i++)
		if (tacho_event_glob(event, type->system, type->name))
			return true;
	return false;
}

bool tacho_query_is_run_queue(const char *event)
{
	return !strcmp(event, "synthetic:" RUN_QUEUE_EVENT);
}

/* Defines it for the first command on it, unless a command has defined an event of that name. */
static int begin_run_queue(struct tacho_query *q, struct tacho_cmd_error *e)
{
	static const char *const needs[] = { "*:sched_switch", "*:sched_wakeup" };
	int err;

	if (tacho_engine_find(q->engine, "synthetic", RUN_QUEUE_EVENT))
		return 0;
	for (size_t i = 0; !is_live(q) && i < TACHO_ARRAY_SIZE(needs); i++)
		if (!has_event(q, needs[i]))
			return tacho_cmd_error(e, -ENODATA, 0, "Events of the run queue "
					       "are made of %s, which the trace does not "
					       "have", needs[i] + strlen("*:"));
	q->run_queue = run_queue_new(run_queue_changed, q);
	if (!q->run_queue)
		return tacho_cmd_no_memory(e);
	err = tacho_engine_synth(q->engine, RUN_QUEUE_TEXT, e);
	memset(q->slot, 0, sizeof(q->slot));
	return err;
}

/* ---- commands ---- */

/* The built-in event is computed from others, which need what its histograms need. */
static bool needs_stack(const struct tacho_query *q,
			const struct tacho_engine_event *event,
			enum run_queue_kind kind)
{
	const struct tacho_engine_event *run_queue = NULL;

	if (q->run_queue && kind)
		run_queue = tacho_engine_find(q->engine, "synthetic", RUN_QUEUE_EVENT);
	return (event && tacho_engine_needs_stack(q->engine, event)) ||
	       (run_queue && tacho_engine_needs_stack(q->engine, run_queue));
}

/*
 * Requests the stacks of an event from the source, once.  A recording has them or not; the
 * running kernel can record them.
 */
static int want_stacks(struct tacho_query *q, const struct tacho_type *type,
		       struct tacho_cmd_error *e)
{
	struct tacho_engine_event *event = tacho_engine_add(q->engine, type);
	struct tacho_diag d = { 0 };
	struct tacho_source *s;
	int err = event ? 0 : -ENOMEM;

	q->pairing = true;
	if (!event || event->host_data)
		return err;
	event->host_data = q;
	for (uint32_t i = 0; !err && (s = tacho_stream_source(q->stream, i)); i++)
		if (s->ops->stacks)
			err = s->ops->stacks(s, type, &d);
	return err ? tacho_cmd_error(e, err, 0, "No call stacks: %.100s", d.text) : 0;
}

/* A command on one event may make another one need its stack. */
static int look_for_stacks(struct tacho_query *q, struct tacho_cmd_error *e)
{
	const struct tacho_type *type;
	int err = 0;

	for (uint32_t i = 0; !err && (type = tacho_stream_type(q->stream, i)); i++)
		if (needs_stack(q, tacho_engine_find(q->engine, type->system,
						     type->name),
				run_queue_kind(type)))
			err = want_stacks(q, type, e);
	return err;
}

/* Whether the type is one of the stream's programs. */
static bool is_program(const struct tacho_query *q, const struct tacho_type *type)
{
	const struct tacho_source *source;

	for (uint32_t i = 0; (source = tacho_stream_source(q->stream, i)); i++) {
		const struct tacho_type_table *t =
			&source->table[TACHO_STREAM_PROGRAM];

		if (type->id < t->nr && t->type[type->id] == type)
			return true;
	}
	return false;
}

/* One command on one event. */
static int apply(struct tacho_query *q, const struct query_command *c,
		 struct tacho_engine_event *event, struct tacho_cmd_error *e)
{
	memset(q->slot, 0, sizeof(q->slot));
	q->program = is_program(q, event->type);
	/* the stream's events are recorded, so they are enabled */
	if (!event->generated)
		tacho_engine_enable(q->engine, event, true);
	if (c->is_filter)
		return tacho_engine_filter(q->engine, event, c->text, e);
	return tacho_engine_trigger(q->engine, event, c->text, e);
}

/* The result of a command on the events that it names. */
struct outcome {
	uint32_t matched, done;
	int err;		/* of the first event for which it is invalid */
	struct tacho_cmd_error e;
};

static void apply_noted(struct tacho_query *q, const struct query_command *c,
			struct tacho_engine_event *event, struct outcome *o)
{
	struct tacho_cmd_error e = { 0 };
	int err = event ? apply(q, c, event, &e) :
			  tacho_cmd_no_memory(&e);

	o->matched++;
	if (!err)
		o->done++;
	else if (!o->err || err == -ENOMEM) {
		o->err = err;
		o->e = e;
	}
}

/* An event that the caller makes is only meant by a command that says its system. */
static bool names_made(const char *event, const struct tacho_type *type)
{
	size_t len = strlen(type->system);

	return !strncmp(event, type->system, len) && event[len] == ':' &&
	       tacho_event_glob(event, type->system, type->name);
}

/* Applies a command to all types that the stream has now, and to those that it has not. */
static void apply_all(struct tacho_query *q, const struct query_command *c,
		      struct outcome *o)
{
	struct tacho_engine_event *event;
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(q->stream, i)); i++)
		if (tacho_event_glob(c->event, type->system, type->name))
			apply_noted(q, c, tacho_engine_add(q->engine, type), o);
	for (uint32_t i = 0; (event = tacho_engine_at(q->engine, i)); i++)
		if (event->generated && tacho_event_glob(c->event, event->type->system,
						     event->type->name))
			apply_noted(q, c, event, o);
	for (const struct query_made *m = q->made; m; m = m->next)
		if (names_made(c->event, m->event->type))
			apply_noted(q, c, m->event, o);
}

static struct query_command *keep(struct tacho_query *q, bool is_filter,
				  const char *event, const char *text)
{
	struct query_command *c = tacho_arena_alloc(&q->arena, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct query_command){
		.is_filter = is_filter,
		.event = tacho_arena_strndup(&q->arena, event, strlen(event)),
		.text = tacho_arena_strndup(&q->arena, text, strlen(text)),
	};
	return c->event && c->text ? c : NULL;
}

static int command(struct tacho_query *q, bool is_filter, const char *event,
		   const char *text, struct tacho_cmd_error *e)
{
	struct query_command *c = keep(q, is_filter, event, text);
	struct outcome o = { 0 };
	int err = tacho_query_is_run_queue(event) ? begin_run_queue(q, e) : 0;

	if (err)
		return err;
	if (!c || (!is_filter && query_snapshot_prepare(q, text)))
		return tacho_cmd_no_memory(e);
	apply_all(q, c, &o);
	if (tacho_stream_check(q->stream) == -ENOMEM)
		return tacho_cmd_no_memory(e);
	if (!o.matched && !is_live(q))
		return -ENOENT;
	/* events for which a command is not valid are left out, not those without memory */
	if (o.err == -ENOMEM || (o.matched && !o.done)) {
		if (e)
			*e = o.e;
		return o.err;
	}
	*q->last = c;
	q->last = &c->next;
	return is_filter ? 0 : look_for_stacks(q, e);
}

int tacho_query_filter(struct tacho_query *q, const char *event,
		       const char *text, struct tacho_cmd_error *e)
{
	int err = command(q, true, event, text, e);

	q->filtered |= !err;
	return err;
}

int tacho_query_trigger(struct tacho_query *q, const char *event,
			const char *text, struct tacho_cmd_error *e)
{
	int err = command(q, false, event, text, e);

	q->has_hist |= !err && !strncmp(text, "hist:", 5);
	return err;
}

int tacho_query_synth(struct tacho_query *q, const char *text,
		      struct tacho_cmd_error *e)
{
	return tacho_engine_synth(q->engine, text, e);
}

/* ---- offloading to the source ---- */

static int source_filter(struct tacho_query *q, const struct tacho_type *type,
			 const char *text)
{
	struct tacho_source *source;
	int err = -EOPNOTSUPP;

	for (uint32_t i = 0; err && (source = tacho_stream_source(q->stream, i)); i++)
		if (source->ops->filter)
			err = source->ops->filter(source, type, text);
	return err;
}

/* Leaves the filter to the kernel: here all records of the event pass. */
static int leave_to_kernel(struct tacho_query *q, struct tacho_engine_event *event)
{
	struct query_offloaded *h = tacho_arena_alloc(&q->arena, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->type = event->type;
	h->next = q->offloaded;
	q->offloaded = h;
	return tacho_engine_filter(q->engine, event, "0", NULL);
}

uint32_t tacho_query_offload(struct tacho_query *q)
{
	const struct tacho_type *type;
	struct tacho_buf text;
	uint32_t n = 0;

	/* a snapshot needs all records; stacks follow events that do not pass */
	if (q->window || q->pairing)
		return 0;
	tacho_buf_init(&text, FILTER_MAX);
	for (uint32_t i = 0; (type = tacho_stream_type(q->stream, i)); i++) {
		struct tacho_engine_event *event =
			tacho_engine_find(q->engine, type->system, type->name);
		enum tacho_filter_offload offload;

		tacho_buf_reset(&text);
		/* every record of these types is needed */
		if (q->run_queue && run_queue_kind(type) != RUN_QUEUE_NONE)
			continue;
		offload = event ? tacho_engine_offload(q->engine, event, &text) :
				  TACHO_FILTER_LOCAL;
		if (offload == TACHO_FILTER_LOCAL ||
		    source_filter(q, type, tacho_buf_str(&text)))
			continue;
		n++;
		if (offload == TACHO_FILTER_KERNEL_ONLY && leave_to_kernel(q, event))
			(void)source_filter(q, type, "0");
	}
	memset(q->slot, 0, sizeof(q->slot));
	tacho_buf_release(&text);
	return n;
}

static bool is_offloaded(const struct tacho_query *q, const struct tacho_type *type)
{
	for (const struct query_offloaded *h = q->offloaded; h; h = h->next)
		if (h->type == type)
			return true;
	return false;
}

/* ---- events that the caller makes ---- */

struct tacho_engine_event *tacho_query_add_type(struct tacho_query *q,
						const struct tacho_type *type)
{
	struct query_made *made = tacho_arena_alloc(&q->arena, sizeof(*made));

	if (!made)
		return NULL;
	made->event = tacho_engine_add(q->engine, type);
	if (!made->event)
		return NULL;
	made->next = q->made;
	q->made = made;
	return made->event;
}

void tacho_query_made(struct tacho_query *q, struct tacho_engine_event *event,
		      struct tacho_rec *rec)
{
	rec->names = &q->names;
	/* it is no record of the stream: nothing can be written beside it */
	q->now = NULL;
	(void)tacho_engine_hit(q->engine, event, rec);
}

/* ---- records ---- */

/*
 * Applies a command to an event that was unknown when the command was given; a glob need not be
 * valid for all events.
 */
static void apply_late(struct tacho_query *q, const struct query_command *c,
		       struct tacho_engine_event *event)
{
	struct tacho_cmd_error e = { 0 };

	if (!apply(q, c, event, &e) || q->late_text || strpbrk(c->event, "*?["))
		return;
	q->late = e;
	q->late_text = c->text;
}

const char *tacho_query_late(const struct tacho_query *q, struct tacho_cmd_error *e)
{
	*e = q->late;
	return q->late_text;
}

/* Processes the first record of a type: commands with globs may apply to it. */
static void query_add_type(struct tacho_query *q, struct query_slot *slot,
			   const struct tacho_type *type)
{
	struct tacho_engine_event *event =
		tacho_engine_find(q->engine, type->system, type->name);

	if (!event && is_live(q)) {
		for (const struct query_command *c = q->commands; c; c = c->next) {
			if (!tacho_event_glob(c->event, type->system, type->name))
				continue;
			event = tacho_engine_add(q->engine, type);
			if (event)
				apply_late(q, c, event);
		}
		if (event)
			(void)look_for_stacks(q, NULL);
	}
	*slot = (struct query_slot){
		.type = type, .event = event,
		.caller = tacho_query_stack_field(type),
		.active = event && (event->soft ||
				    tacho_engine_has_filter(event)),
		.kind = q->run_queue ? run_queue_kind(type) : RUN_QUEUE_NONE,
		.passes = !q->filtered || is_offloaded(q, type),
	};
	slot->needs_stack = needs_stack(q, event, slot->kind);
	slot->filtered = slot->active && !slot->kind && !tacho_engine_may_act(event, NULL);
}

static bool hit(struct tacho_query *q, const struct query_run *run,
		const struct tacho_rec *rec)
{
	if (run->kind)
		run_queue_hit(q->run_queue, run->kind, run->record->type, rec);
	return run->event ? tacho_engine_hit(q->engine, run->event, rec) :
			    !q->filtered;
}

/*
 * A kept record that is not recorded after all is removed again; one that switches tracing on is
 * added late.
 */
static bool run_and_keep(struct tacho_query *q, const struct query_run *run,
			 const struct tacho_rec *rec)
{
	bool keep = tacho_engine_running(q->engine), passes;
	uint64_t taken = q->nr_snapshots;

	if (keep)
		tacho_window_add(q->window, run->record, run->source);
	if (keep && run->stack_record)
		tacho_window_add(q->window, &run->stack_record->record,
				 run->stack_record->source);
	passes = hit(q, run, rec);
	if (!run->event)
		return passes;
	if (keep && !passes && !run->stack_record && taken == q->nr_snapshots)
		tacho_window_undo(q->window);
	else if (!keep && passes)
		tacho_window_add(q->window, run->record, run->source);
	return passes;
}

static struct tacho_rec rec_of(const struct tacho_query *q, const struct query_run *run)
{
	return (struct tacho_rec){
		.raw = run->record->raw, .len = run->record->len,
		.cpu = run->record->cpu, .time = run->time,
		.pid = run->record->pid, .names = &q->names,
		.nr_stack = run->nr_stack, .stack = run->stack,
	};
}

bool query_run(struct tacho_query *q, const struct query_run *run)
{
	struct tacho_rec rec = rec_of(q, run);

	q->now = run->record;
	if (tacho_unlikely(q->window && !run->is_kept))
		return run_and_keep(q, run, &rec);
	return hit(q, run, &rec);
}

static inline const struct query_slot *slot_of(struct tacho_query *q, const struct tacho_type *type)
{
	uint64_t h = (uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15);
	struct query_slot *slot = &q->slot[h >> 52];

	if (tacho_unlikely(slot->type != type))
		query_add_type(q, slot, type);
	return slot;
}

bool tacho_query_needs(struct tacho_query *q, const struct tacho_record *r)
{
	const struct query_slot *slot = slot_of(q, r->type);
	struct query_run run = { .record = r };
	struct tacho_rec rec;

	if (!slot->filtered)
		return slot->active || slot->kind;
	run.time = r->time - tacho_stream_current(q->stream)->clock.base;
	rec = rec_of(q, &run);
	return tacho_engine_may_act(slot->event, &rec);
}

bool tacho_query_hit(struct tacho_query *q, const struct tacho_record *r)
{
	const struct query_slot *slot = slot_of(q, r->type);
	struct query_run run;

	q->nr_generated = q->next_generated = 0;
	if (!slot->active && !slot->kind && !q->pairing && !q->window)
		return slot->passes;
	run = (struct query_run){
		.record = r, .source = tacho_stream_current(q->stream),
		.event = slot->active ? slot->event : NULL,
		.kind = slot->kind,
	};
	run.time = r->time - run.source->clock.base;
	if (tacho_likely(!q->pairing))
		return query_run(q, &run);
	query_pair(q, slot, &run);
	return true;
}

const struct tacho_record *tacho_query_generated(struct tacho_query *q)
{
	if (q->next_generated == q->nr_generated)
		return NULL;
	return &q->generated[q->next_generated++].record;
}
