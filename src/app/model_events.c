// SPDX-License-Identifier: MIT
#include "app/model_events.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/text.h"
#include "tacho/abi/record.h"

#define SYSTEM		"model"
#define FORMAT_MAX	((size_t)64 << 10)
#define TYPES_MAX	((size_t)1 << 20)
#define COMM_ROOM	64u
#define WORD_ROOM	32u
#define NAMES_ROOM	512u	/* of the texts without a given length */

/* ---- the events ---- */

/* A text without a given length: where it is in the raw event, and its size << 16. */
typedef uint32_t loc;

struct state_event {
	struct tacho_common common;
	uint64_t dur, us;
	int32_t pid, tgid;
	char state[WORD_ROOM], comm[COMM_ROOM], waker[COMM_ROOM];
	uint8_t io, preempted, irq, open, uncertain;
};

struct slice_event {
	struct tacho_common common;
	uint64_t dur, us;
	int32_t pid, tgid;
	uint32_t depth;
	loc name, track;
	char kind[WORD_ROOM], category[WORD_ROOM], comm[COMM_ROOM];
	uint8_t open, uncertain;
	char texts[NAMES_ROOM];
};

struct flow_event {
	struct tacho_common common;
	uint64_t dur, us;
	int32_t from_pid, to_pid;
	char kind[WORD_ROOM], from[COMM_ROOM], to[COMM_ROOM];
};

struct instant_event {
	struct tacho_common common;
	int32_t pid, tgid;
	loc name;
	char category[WORD_ROOM], comm[COMM_ROOM];
	char texts[NAMES_ROOM];
};

struct column {
	const char *decl, *room;	/* "u64 dur"; "[64]" or "" */
	uint32_t offset, size;
	bool is_signed;
};

#define TEXT_OF(x)	#x
#define ROOM_OF(x)	"[" TEXT_OF(x) "]"
#define PART(event, name)	\
	offsetof(struct event, name), sizeof(((struct event *)NULL)->name)
#define U64(event, name)	{ "u64 " #name, "", PART(event, name), false }
#define U32(event, name)	{ "u32 " #name, "", PART(event, name), false }
#define S32(event, name)	{ "s32 " #name, "", PART(event, name), true }
#define U8(event, name)		{ "u8 " #name, "", PART(event, name), false }
#define TEXT(event, name, n)	{ "char " #name, n, PART(event, name), false }
#define LOC(event, name)	{ "__data_loc char[] " #name, "", PART(event, name), false }
#define WORD_TEXT	"[32]"
#define COMM_TEXT	"[64]"
_Static_assert(WORD_ROOM == 32 && COMM_ROOM == 64, "as the texts say");

static const struct column state_columns[] = {
	U64(state_event, dur), U64(state_event, us), S32(state_event, pid),
	S32(state_event, tgid), TEXT(state_event, state, WORD_TEXT),
	TEXT(state_event, comm, COMM_TEXT), TEXT(state_event, waker, COMM_TEXT),
	U8(state_event, io), U8(state_event, preempted), U8(state_event, irq),
	U8(state_event, open), U8(state_event, uncertain), { .decl = NULL },
};

static const struct column slice_columns[] = {
	U64(slice_event, dur), U64(slice_event, us), S32(slice_event, pid),
	S32(slice_event, tgid), U32(slice_event, depth), LOC(slice_event, name),
	LOC(slice_event, track), TEXT(slice_event, kind, WORD_TEXT),
	TEXT(slice_event, category, WORD_TEXT), TEXT(slice_event, comm, COMM_TEXT),
	U8(slice_event, open), U8(slice_event, uncertain), { .decl = NULL },
};

static const struct column flow_columns[] = {
	U64(flow_event, dur), U64(flow_event, us), S32(flow_event, from_pid),
	S32(flow_event, to_pid), TEXT(flow_event, kind, WORD_TEXT),
	TEXT(flow_event, from, COMM_TEXT), TEXT(flow_event, to, COMM_TEXT), { .decl = NULL },
};

static const struct column instant_columns[] = {
	S32(instant_event, pid), S32(instant_event, tgid), LOC(instant_event, name),
	TEXT(instant_event, category, WORD_TEXT), TEXT(instant_event, comm, COMM_TEXT),
	{ .decl = NULL },
};

enum item { STATE, SLICE, FLOW, INSTANT, NR_ITEMS };

static const struct {
	const char *name;
	const struct column *columns;
} items[NR_ITEMS] = {
	[STATE] = { "state", state_columns },
	[SLICE] = { "slice", slice_columns },
	[FLOW] = { "flow", flow_columns },
	[INSTANT] = { "instant", instant_columns },
};

/* What an item says of its place. */
struct place {
	const char *name;
	int64_t number;
	uint32_t parent;
	enum model_track_kind kind;
};

struct app_model_events {
	struct tacho_query *query;
	struct tacho_stream *stream;
	struct model_rules *own_rules;
	const struct model_rules *rules;
	struct model *model;
	struct model_ops ops;
	struct tacho_engine_event *event[NR_ITEMS];	/* NULL: the trace has its own */
	struct tacho_arena arena;	/* types */
	struct place *place;		/* by track */
	uint32_t room;
	const struct tacho_record *record;	/* that is looked at; NULL: after the last one */
	uint64_t base;			/* of its clock */
};

bool app_model_events_match(const char *event)
{
	for (int i = 0; i < NR_ITEMS; i++)
		if (app_model_events_system(event) &&
		    tacho_event_glob(event, SYSTEM, items[i].name))
			return true;
	return false;
}

bool app_model_events_system(const char *event)
{
	return !strncmp(event, SYSTEM ":", strlen(SYSTEM ":"));
}

/* ---- places ---- */

static int on_track(void *arg, const struct model_track *t)
{
	struct app_model_events *e = arg;

	if (t->id >= e->room) {
		uint32_t room = e->room ? 2 * e->room : 256;
		struct place *bigger = reallocarray(e->place, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		e->place = bigger;
		e->room = room;
	}
	/* numbers are given in order, so no entry stays unset */
	e->place[t->id] = (struct place){ t->name, t->number, t->parent, t->kind };
	return 0;
}

/* The thread of a track, or NULL. */
static const struct place *thread_of(const struct app_model_events *e, uint32_t track)
{
	const struct place *p = &e->place[track];

	if (p->kind == MODEL_STATE || p->kind == MODEL_CALLS)
		p = &e->place[p->parent];
	return p->kind == MODEL_THREAD ? p : NULL;
}

static void put_word(char *to, size_t room, const char *from)
{
	size_t len = strlen(from);

	if (len >= room)
		len = room - 1;
	memcpy(to, from, len);
	memset(to + len, 0, room - len);
}

/* A thread's name; without one, its process's and its number. */
static void put_comm(const struct app_model_events *e, const struct place *thread, char *to)
{
	const char *process = e->place[thread->parent].name;
	struct tacho_buf b;

	put_word(to, COMM_ROOM, thread->name);
	if (*thread->name)
		return;
	tacho_buf_init(&b, FORMAT_MAX);
	tacho_buf_printf(&b, "%.*s-%lld", (int)COMM_ROOM - 24, *process ? process : "<...>",
			 (long long)thread->number);
	put_word(to, COMM_ROOM, tacho_buf_str(&b));
	tacho_buf_release(&b);
}

/* Where something came from: a thread, or what else there is. */
static int32_t put_place(const struct app_model_events *e, uint32_t track, char *to)
{
	const struct place *thread = thread_of(e, track);
	enum model_track_kind kind = e->place[track].kind;

	if (thread) {
		put_comm(e, thread, to);
		return (int32_t)thread->number;
	}
	put_word(to, COMM_ROOM, kind == MODEL_IRQ ? "(irq)" : kind == MODEL_SOFTIRQ ?
		 "(softirq)" : "(cpu)");
	return 0;
}

static uint32_t cpu_of(const struct app_model_events *e, uint32_t track)
{
	const struct place *p = &e->place[track];

	if (p->kind == MODEL_RUNNING || p->kind == MODEL_IRQ || p->kind == MODEL_SOFTIRQ)
		p = &e->place[p->parent];
	return p->kind == MODEL_CPU ? (uint32_t)p->number : MODEL_NO_CPU;
}

/* ---- items ---- */

/* cpu: MODEL_NO_CPU: that of the record.  time: ns since 1970. */
static int hit(struct app_model_events *e, enum item item, void *raw, size_t len, uint32_t cpu,
	       uint64_t time)
{
	struct tacho_common *common = raw;
	struct tacho_rec rec = {
		.raw = raw, .len = (uint32_t)len, .cpu = cpu, .pid = common->pid,
		.time = time - e->base,
	};

	if (cpu == MODEL_NO_CPU && e->record)
		rec.cpu = e->record->cpu;
	tacho_query_made(e->query, e->event[item], &rec);
	return 0;
}

static int on_state(void *arg, const struct model_state *s)
{
	struct app_model_events *e = arg;
	const struct place *thread = &e->place[e->place[s->track].parent];
	struct state_event ev = {
		.common.pid = (int32_t)thread->number, .dur = s->end - s->begin,
		.us = (s->end - s->begin) / 1000, .pid = (int32_t)thread->number,
		.tgid = (int32_t)e->place[thread->parent].number,
		.io = !!(s->flags & MODEL_IO), .preempted = !!(s->flags & MODEL_PREEMPTED),
		.irq = !!(s->flags & MODEL_BY_IRQ),
		.open = !!(s->flags & (MODEL_BEGIN_UNKNOWN | MODEL_END_UNKNOWN)),
		.uncertain = !!(s->flags & MODEL_UNCERTAIN),
	};

	put_word(ev.state, WORD_ROOM, model_state_name(s->state));
	put_comm(e, thread, ev.comm);
	if (s->waker)
		(void)put_place(e, s->waker, ev.waker);
	return hit(e, STATE, &ev, sizeof(ev), s->cpu, s->end);
}

/* Appends a text behind the others; *used: bytes of all. */
static loc put_text(char *texts, size_t *used, size_t texts_at, size_t room, const char *text)
{
	size_t len = strlen(text), left = room - *used - 1;
	loc where;

	if (len > left)
		len = left;
	where = (loc)(texts_at + *used) | (loc)(len + 1) << 16;

	memcpy(texts + *used, text, len);
	texts[*used + len] = '\0';
	*used += len + 1;
	return where;
}

static int on_slice(void *arg, const struct model_slice *s)
{
	const size_t at = offsetof(struct slice_event, texts);
	struct app_model_events *e = arg;
	const struct place *track = &e->place[s->track];
	const struct place *thread = thread_of(e, s->thread ? s->thread : s->track);
	size_t used = 0;
	struct slice_event ev;

	memset(&ev, 0, at);
	ev.dur = s->end - s->begin;
	ev.us = ev.dur / 1000;
	ev.depth = s->depth;
	ev.open = !!(s->flags & (MODEL_BEGIN_UNKNOWN | MODEL_END_UNKNOWN));
	ev.uncertain = !!(s->flags & MODEL_UNCERTAIN);
	/* half of the room for each */
	ev.name = put_text(ev.texts, &used, at, NAMES_ROOM / 2, s->name);
	ev.track = put_text(ev.texts, &used, at, NAMES_ROOM,
			    track->kind == MODEL_DEVICE || track->kind == MODEL_SPAN ?
			    track->name : "");
	put_word(ev.kind, WORD_ROOM, model_track_kind_name(track->kind));
	put_word(ev.category, WORD_ROOM, s->category);
	if (!thread && s->from)
		thread = thread_of(e, s->from);
	if (thread) {
		ev.common.pid = ev.pid = (int32_t)thread->number;
		ev.tgid = (int32_t)e->place[thread->parent].number;
		put_comm(e, thread, ev.comm);
	}
	return hit(e, SLICE, &ev, at + used, cpu_of(e, s->track), s->end);
}

static int on_flow(void *arg, const struct model_flow *f)
{
	struct app_model_events *e = arg;
	struct flow_event ev = {
		.dur = f->to_time - f->from_time, .us = (f->to_time - f->from_time) / 1000,
	};

	put_word(ev.kind, WORD_ROOM, f->kind);
	ev.from_pid = put_place(e, f->from, ev.from);
	ev.to_pid = put_place(e, f->to, ev.to);
	ev.common.pid = ev.to_pid;
	return hit(e, FLOW, &ev, sizeof(ev), MODEL_NO_CPU, f->to_time);
}

static int on_instant(void *arg, const struct model_instant *i)
{
	const size_t at = offsetof(struct instant_event, texts);
	struct app_model_events *e = arg;
	const struct place *thread = thread_of(e, i->track);
	struct instant_event ev;
	size_t used = 0;

	memset(&ev, 0, at);
	ev.name = put_text(ev.texts, &used, at, NAMES_ROOM, i->name);
	put_word(ev.category, WORD_ROOM, i->category);
	if (thread) {
		ev.common.pid = ev.pid = (int32_t)thread->number;
		ev.tgid = (int32_t)e->place[thread->parent].number;
		put_comm(e, thread, ev.comm);
	}
	return hit(e, INSTANT, &ev, at + used, cpu_of(e, i->track), i->time);
}

/* ---- life ---- */

static const struct tacho_type *make_type(struct app_model_events *e, enum item item)
{
	const struct tacho_type *type = NULL;
	struct tacho_diag d = { 0 };
	struct tacho_buf b;

	tacho_buf_init(&b, FORMAT_MAX);
	tacho_buf_puts(&b, TACHO_COMMON_FIELDS);
	for (const struct column *c = items[item].columns; c->decl; c++)
		tacho_buf_printf(&b, "\tfield:%s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", c->decl,
				 c->room, c->offset, c->size, c->is_signed);
	if (!tacho_buf_error(&b))
		type = tacho_type_parse_fields(&e->arena, SYSTEM, items[item].name, 0, b.data,
					       b.len, &d);
	tacho_buf_release(&b);
	return type;
}

static bool has_own(struct tacho_stream *stream, const char *name)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(stream, i)); i++)
		if (!strcmp(type->system, SYSTEM) && !strcmp(type->name, name))
			return true;
	return false;
}

int app_model_events_new(struct app_model_events **out, struct tacho_query *query,
			 struct tacho_stream *stream, const struct model_rules *rules,
			 struct tacho_diag *d)
{
	struct app_model_events *e = calloc(1, sizeof(*e));

	*out = e;
	if (!e)
		return tacho_no_memory(d);
	e->query = query;
	e->stream = stream;
	e->rules = rules;
	tacho_arena_init(&e->arena, TYPES_MAX);
	for (int i = 0; i < NR_ITEMS; i++) {
		const struct tacho_type *type;

		if (has_own(stream, items[i].name))
			continue;
		type = make_type(e, (enum item)i);
		e->event[i] = type ? tacho_query_add_type(query, type) : NULL;
		if (!e->event[i])
			return tacho_no_memory(d);
	}
	if (rules)
		return 0;
	if (model_rules_new(&e->own_rules, d))
		return d->err;
	e->rules = e->own_rules;
	return 0;
}

void app_model_events_free(struct app_model_events *e)
{
	if (!e)
		return;
	model_free(e->model);
	model_rules_free(e->own_rules);
	tacho_arena_release(&e->arena);
	free(e->place);
	free(e);
}

static bool is_asked(const struct app_model_events *e, enum item item)
{
	return e->event[item] && e->event[item]->soft;
}

int app_model_events_begin(struct app_model_events *e, struct tacho_diag *d)
{
	const struct model_config config = { e->stream, e->rules, &e->ops, e };
	struct tacho_engine *engine = tacho_query_engine(e->query);
	int err;

	for (int i = 0; i < NR_ITEMS; i++)
		if (e->event[i] && tacho_engine_needs_stack(engine, e->event[i]))
			return tacho_diag(d, -EINVAL, UINT64_MAX, "events of the model have no "
					  "call stacks: '" SYSTEM ":%s' has none", items[i].name);
	e->ops = (struct model_ops){
		.track = on_track,
		.state = is_asked(e, STATE) ? on_state : NULL,
		.slice = is_asked(e, SLICE) ? on_slice : NULL,
		.flow = is_asked(e, FLOW) ? on_flow : NULL,
		.instant = is_asked(e, INSTANT) ? on_instant : NULL,
	};
	err = model_new(&e->model, &config, d);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

int app_model_events_record(struct app_model_events *e, const struct tacho_record *r,
			    struct tacho_diag *d)
{
	e->record = r;
	e->base = tacho_stream_current(e->stream)->clock.base;
	return tacho_likely(!model_record(e->model, r)) ? 0 : tacho_no_memory(d);
}

int app_model_events_finish(struct app_model_events *e, struct tacho_diag *d)
{
	e->record = NULL;
	return model_finish(e->model) ? tacho_no_memory(d) : 0;
}

struct model *app_model_events_model(const struct app_model_events *e)
{
	return e->model;
}
