/* SPDX-License-Identifier: MIT */
/*
 * random.h - random records for a model, and what the model makes of them, as a list.
 *
 * A stream that only has types; records are made of a seed, so that a model can read them again.
 * The list is what an index is compared with.
 */
#ifndef TACHO_TESTS_INDEX_RANDOM_H
#define TACHO_TESTS_INDEX_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "stream/stream.h"

#define FIELD(type, name, at, size) \
	"\tfield:" type " " name ";\toffset:" #at ";\tsize:" #size ";\tsigned:1;\n"

enum { SWITCH, WAKING, FORK, EXIT, ENTER, LEAVE, IRQ, IRQ_END, SIRQ, SIRQ_END, FAULT, ISSUE,
       COMPLETE, IDLE, TAKE, DONE, QUEUE, WORK, WORKED, NR_TYPES };

static const struct {
	const char *system, *name, *fields;
} type_texts[NR_TYPES] = {
	{ "sched", "sched_switch", FIELD("int", "prev_pid", 8, 4) FIELD("int", "next_pid", 12, 4)
	  FIELD("int", "prev_state", 16, 4) },
	{ "sched", "sched_waking", FIELD("int", "pid", 8, 4) },
	{ "sched", "sched_process_fork", FIELD("int", "child_pid", 8, 4) },
	{ "sched", "sched_process_exit", FIELD("int", "pid", 8, 4) },
	{ "raw_syscalls", "sys_enter", FIELD("int", "id", 8, 4) },
	{ "raw_syscalls", "sys_exit", FIELD("int", "id", 8, 4) },
	{ "irq", "irq_handler_entry", FIELD("int", "irq", 8, 4) },
	{ "irq", "irq_handler_exit", FIELD("int", "irq", 8, 4) },
	{ "irq", "softirq_entry", FIELD("int", "vec", 8, 4) },
	{ "irq", "softirq_exit", FIELD("int", "vec", 8, 4) },
	{ "exceptions", "page_fault_user", FIELD("int", "address", 8, 4) },
	{ "block", "block_rq_issue", FIELD("int", "dev", 8, 4) FIELD("int", "sector", 12, 4) },
	{ "block", "block_rq_complete", FIELD("int", "dev", 8, 4) FIELD("int", "sector", 12, 4) },
	{ "power", "cpu_idle", FIELD("int", "cpu_id", 8, 4) FIELD("int", "state", 12, 4) },
	{ "shop", "take", FIELD("int", "id", 8, 4) },
	{ "shop", "done", FIELD("int", "order", 8, 4) },
	{ "shop", "queue", FIELD("int", "left", 8, 4) FIELD("int", "item", 12, 4) },
	{ "shop", "work_begin", FIELD("int", "id", 8, 4) },
	{ "shop", "work_end", FIELD("int", "id", 8, 4) },
};

static const char random_rules[] =
	"span order: shop:take -> shop:done by id=order\n"
	"span work: shop:work_begin -> shop:work_end\n"
	"counter left: shop:queue.left by item\n";

/* ---- the stream ---- */

struct trace {
	struct tacho_arena arena;
	struct tacho_stream *stream;
	const struct tacho_type *type[NR_TYPES];
	struct model_rules *rules;
};

static void trace_close_source(struct tacho_source *source)
{
	tacho_source_release(source);
	free(source);
}

static const struct tacho_source_ops trace_source_ops = {
	.format = "random", .close = trace_close_source,
};

/* false: no memory. */
static inline bool trace_init(struct trace *t)
{
	struct tacho_source *source = calloc(1, sizeof(*source));
	struct tacho_diag d = { 0 };

	memset(t, 0, sizeof(*t));
	tacho_arena_init(&t->arena, 1u << 20);
	t->stream = tacho_stream_new(0);
	if (!source || !t->stream) {
		free(source);
		return false;
	}
	tacho_source_init(source, &trace_source_ops, 0);
	for (int i = 0; i < NR_TYPES; i++) {
		char text[2048];
		int len = snprintf(text, sizeof(text), TACHO_COMMON_FIELDS
				   "%s\nprint fmt: \"\"\n", type_texts[i].fields);

		t->type[i] = tacho_type_parse(&t->arena, type_texts[i].system,
					      type_texts[i].name, (uint32_t)i, text,
					      (size_t)len, &d);
		if (!t->type[i] || tacho_source_set_type(source, 1, (uint32_t)i, t->type[i])) {
			trace_close_source(source);
			return false;
		}
	}
	return !tacho_stream_add_take(t->stream, source) && !model_rules_new(&t->rules, &d) &&
	       !model_rules_add(t->rules, random_rules, strlen(random_rules), &d);
}

static inline void trace_release(struct trace *t)
{
	if (t->rules)
		model_rules_free(t->rules);
	if (t->stream)
		tacho_stream_close(t->stream);
	tacho_arena_release(&t->arena);
}

/* ---- records ---- */

struct record {
	uint64_t time, lost;
	uint32_t cpu;
	int type, pid, v[3];
};

struct random {
	uint64_t state;
	uint64_t time;
	uint32_t cpus, threads, lossy;	/* lossy: one record of so many; 0: none */
	bool slow;			/* times far apart */
	int running[8];
};

static inline uint32_t random_below(struct random *r, uint32_t n)
{
	r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((r->state >> 33) % n);
}

static inline struct random random_begin(uint64_t seed)
{
	struct random r = { .state = seed * 977 + 1 };

	r.cpus = 1 + random_below(&r, 4);
	r.threads = 2 + random_below(&r, 12);
	r.lossy = random_below(&r, 3) ? 0 : 50 + random_below(&r, 500);
	r.slow = !random_below(&r, 4);
	r.time = UINT64_C(1700000000000000000);
	return r;
}

static inline uint64_t random_step(struct random *r)
{
	uint32_t kind = random_below(r, 100);

	if (kind < 10)
		return 0;
	if (kind < 80)
		return random_below(r, 5000);
	if (kind < 99)
		return random_below(r, 400000);
	return random_below(r, r->slow ? 2000000000 : 20000000);
}

/* The next one.  Programs that run now and then do what a real one cannot. */
static inline struct record random_next(struct random *r)
{
	struct record x = { 0 };
	uint32_t kind = random_below(r, 100);
	int thread = 1 + (int)random_below(r, r->threads);

	x.time = r->time += random_step(r);
	x.cpu = random_below(r, r->cpus);
	x.pid = random_below(r, 20) ? r->running[x.cpu] : thread;
	x.lost = r->lossy && !random_below(r, r->lossy) ? 1 + random_below(r, 1000) : 0;
	x.v[0] = (int)random_below(r, 6);
	x.v[1] = (int)random_below(r, 8);
	x.type = kind < 25 ? SWITCH : kind < 35 ? WAKING : kind < 50 ? ENTER : kind < 65 ? LEAVE :
		 kind < 67 ? IRQ : kind < 69 ? IRQ_END : kind < 72 ? SIRQ : kind < 75 ? SIRQ_END :
		 kind < 78 ? FAULT : kind < 81 ? ISSUE : kind < 84 ? COMPLETE : kind < 86 ? IDLE :
		 kind < 89 ? TAKE : kind < 92 ? DONE : kind < 94 ? QUEUE : kind < 96 ? WORK :
		 kind < 98 ? WORKED : kind < 99 ? FORK : EXIT;
	if (x.type == SWITCH) {
		x.v[0] = x.pid = r->running[x.cpu];
		x.v[1] = r->running[x.cpu] = random_below(r, 4) ? thread : 0;
		x.v[2] = (int)random_below(r, 3);
	} else if (x.type == WAKING || x.type == FORK || x.type == EXIT) {
		x.v[0] = thread;
	} else if (x.type == IDLE) {
		x.v[0] = (int)x.cpu;
		x.v[1] = random_below(r, 3) ? (int)random_below(r, 5) : -1;
	} else if (x.type == QUEUE) {
		x.v[0] = (int)(random_below(r, 2000000000) - 1000000000u);
		x.v[1] = (int)random_below(r, 2);
	} else if (x.type == ISSUE || x.type == COMPLETE) {
		x.v[0] = 1 << 20;
	}
	return x;
}

static inline int trace_put(const struct trace *t, struct model *m, const struct record *x)
{
	struct {
		struct tacho_common common;
		int32_t v[4];
	} raw = { { (uint16_t)x->type, 0, 0, x->pid }, { x->v[0], x->v[1], x->v[2], 0 } };
	struct tacho_record r = {
		.struct_size = sizeof(r), .len = sizeof(raw), .time = x->time, .ticks = x->time,
		.type = t->type[x->type], .raw = &raw, .cpu = x->cpu, .pid = x->pid,
		.source = x->type >= TAKE ? TACHO_STREAM_PROGRAM : TACHO_STREAM_KERNEL,
		.lost = x->lost,
	};

	return model_record(m, &r);
}

/* ---- what comes out, as a list ---- */

enum item_kind { SLICE, STATE, COUNTER, INSTANT, LOSS };

struct item {
	enum item_kind kind;
	uint32_t track, depth, flags, thread, from, to, cpu;	/* depth: state, source, too */
	uint64_t begin, end, count;
	double value;
	char name[24], category[16];
};

struct list_track {
	struct model_track track;
	char name[24];
};

struct list {
	struct item *item;
	size_t nr, room;
	struct list_track *track;
	uint32_t nr_tracks, room_tracks;
};

static inline struct item *list_new(struct list *l)
{
	if (l->nr == l->room) {
		l->room = l->room ? l->room * 2 : 1024;
		l->item = reallocarray(l->item, l->room, sizeof(*l->item));
		if (!l->item)
			abort();
	}
	memset(&l->item[l->nr], 0, sizeof(*l->item));
	return &l->item[l->nr++];
}

static inline int list_add_track(void *arg, const struct model_track *t)
{
	struct list *l = arg;

	if (t->id >= l->room_tracks) {
		l->room_tracks = (t->id + 1) * 2;
		l->track = reallocarray(l->track, l->room_tracks, sizeof(*l->track));
		if (!l->track)
			abort();
	}
	if (t->id >= l->nr_tracks)
		l->nr_tracks = t->id + 1;
	l->track[t->id].track = *t;
	(void)snprintf(l->track[t->id].name, sizeof(l->track[t->id].name), "%s", t->name);
	return 0;
}

static inline int list_add_slice(void *arg, const struct model_slice *s)
{
	struct item *i = list_new(arg);

	i->kind = SLICE;
	i->track = s->track;
	i->depth = s->depth;
	i->flags = s->flags;
	i->thread = s->thread;
	i->from = s->from;
	i->to = s->to;
	i->begin = s->begin;
	i->end = s->end;
	(void)snprintf(i->name, sizeof(i->name), "%s", s->name);
	(void)snprintf(i->category, sizeof(i->category), "%s", s->category);
	return 0;
}

static inline int list_add_state(void *arg, const struct model_state *s)
{
	struct item *i = list_new(arg);

	i->kind = STATE;
	i->track = s->track;
	i->depth = s->state;
	i->cpu = s->cpu;
	i->flags = s->flags;
	i->begin = s->begin;
	i->end = s->end;
	return 0;
}

static inline int list_add_counter(void *arg, const struct model_counter *c)
{
	struct item *i = list_new(arg);

	i->kind = COUNTER;
	i->track = c->track;
	i->begin = i->end = c->time;
	i->value = c->value;
	return 0;
}

static inline int list_add_instant(void *arg, const struct model_instant *x)
{
	struct item *i = list_new(arg);

	i->kind = INSTANT;
	i->track = x->track;
	i->begin = i->end = x->time;
	(void)snprintf(i->name, sizeof(i->name), "%s", x->name);
	(void)snprintf(i->category, sizeof(i->category), "%s", x->category);
	return 0;
}

static inline int list_add_loss(void *arg, const struct model_loss *x)
{
	struct item *i = list_new(arg);

	i->kind = LOSS;
	i->cpu = x->cpu;
	i->depth = x->source;
	i->begin = x->begin;
	i->end = x->end;
	i->count = x->count;
	return 0;
}

static const struct model_ops list_ops = {
	.track = list_add_track, .slice = list_add_slice, .state = list_add_state,
	.counter = list_add_counter, .instant = list_add_instant, .loss = list_add_loss,
};

static inline void list_release(struct list *l)
{
	free(l->item);
	free(l->track);
	memset(l, 0, sizeof(*l));
}

#endif
