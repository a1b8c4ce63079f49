// SPDX-License-Identifier: MIT
/* Items of the model as rows: their columns, what is queued, and values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sql/model.h"

/* ---- columns ------------------------------------------------------------------------ */

#define COLUMN(name, kind, type)	{ name, kind, false, type, NULL }
#define INTERVAL \
	COLUMN("time", SQL_TIME, "INTEGER"), COLUMN("dur", SQL_DUR, "INTEGER"), \
	COLUMN("end", SQL_END, "INTEGER")
#define WHERE \
	COLUMN("cpu", SQL_CPU, "INTEGER"), COLUMN("pid", SQL_PID, "INTEGER"), \
	COLUMN("tid", SQL_TID, "INTEGER"), COLUMN("comm", SQL_COMM, "TEXT")
#define MADE_BY \
	COLUMN("begin_record", SQL_BEGIN_RECORD, "INTEGER"), \
	COLUMN("end_record", SQL_END_RECORD, "INTEGER"), \
	COLUMN("begin_unknown", SQL_FLAG_BEGIN, "INTEGER"), \
	COLUMN("end_unknown", SQL_FLAG_END, "INTEGER"), \
	COLUMN("uncertain", SQL_FLAG_UNCERTAIN, "INTEGER")
#define PLACE \
	COLUMN("track", SQL_TRACK, "INTEGER"), COLUMN("path", SQL_PATH, "TEXT")
#define UNTIL	{ "until", SQL_UNTIL, true, "INTEGER", NULL }

static const struct sql_column slice_columns[] = {
	INTERVAL, WHERE,
	COLUMN("name", SQL_NAME, "TEXT"), COLUMN("category", SQL_CATEGORY, "TEXT"),
	COLUMN("depth", SQL_DEPTH, "INTEGER"), PLACE, MADE_BY,
	COLUMN("from_track", SQL_FROM_TRACK, "INTEGER"),
	COLUMN("to_track", SQL_TO_TRACK, "INTEGER"), UNTIL,
};

static const struct sql_column state_columns[] = {
	INTERVAL, WHERE,
	COLUMN("state", SQL_NAME, "TEXT"), COLUMN("io", SQL_FLAG_IO, "INTEGER"),
	COLUMN("preempted", SQL_FLAG_PREEMPTED, "INTEGER"),
	COLUMN("waker_tid", SQL_TO_TID, "INTEGER"), COLUMN("waker", SQL_TO, "TEXT"),
	COLUMN("by_irq", SQL_FLAG_IRQ, "INTEGER"), PLACE, MADE_BY,
	COLUMN("waker_track", SQL_TO_TRACK, "INTEGER"), UNTIL,
};

static const struct sql_column counter_columns[] = {
	INTERVAL,
	COLUMN("cpu", SQL_CPU, "INTEGER"), COLUMN("pid", SQL_PID, "INTEGER"),
	COLUMN("name", SQL_NAME, "TEXT"), COLUMN("value", SQL_VALUE, "REAL"), PLACE,
	COLUMN("record", SQL_BEGIN_RECORD, "INTEGER"), UNTIL,
};

static const struct sql_column flow_columns[] = {
	INTERVAL,
	COLUMN("kind", SQL_CATEGORY, "TEXT"),
	COLUMN("from_cpu", SQL_CPU, "INTEGER"), COLUMN("from_pid", SQL_PID, "INTEGER"),
	COLUMN("from_tid", SQL_TID, "INTEGER"), COLUMN("from_comm", SQL_COMM, "TEXT"),
	COLUMN("from_path", SQL_PATH, "TEXT"),
	COLUMN("to_cpu", SQL_TO_CPU, "INTEGER"), COLUMN("to_pid", SQL_TO_PID, "INTEGER"),
	COLUMN("to_tid", SQL_TO_TID, "INTEGER"), COLUMN("to_comm", SQL_TO_COMM, "TEXT"),
	COLUMN("from_track", SQL_TRACK, "INTEGER"),
	COLUMN("to_track", SQL_TO_TRACK, "INTEGER"),
	COLUMN("from_record", SQL_BEGIN_RECORD, "INTEGER"),
	COLUMN("to_record", SQL_END_RECORD, "INTEGER"), UNTIL,
};

static const struct sql_column instant_columns[] = {
	COLUMN("time", SQL_TIME, "INTEGER"), WHERE,
	COLUMN("name", SQL_NAME, "TEXT"), COLUMN("category", SQL_CATEGORY, "TEXT"), PLACE,
	COLUMN("record", SQL_BEGIN_RECORD, "INTEGER"), UNTIL,
};

static const struct sql_column gap_columns[] = {
	INTERVAL,
	COLUMN("cpu", SQL_CPU, "INTEGER"), COLUMN("source", SQL_CATEGORY, "TEXT"),
	COLUMN("lost", SQL_LOST, "INTEGER"), COLUMN("record", SQL_BEGIN_RECORD, "INTEGER"),
	UNTIL,
};

const struct sql_column *sql_item_columns(enum sql_table_kind kind, uint32_t *nr)
{
	static const struct {
		const struct sql_column *column;
		uint32_t nr;
	} list[] = {
		{ slice_columns, TACHO_ARRAY_SIZE(slice_columns) },
		{ state_columns, TACHO_ARRAY_SIZE(state_columns) },
		{ counter_columns, TACHO_ARRAY_SIZE(counter_columns) },
		{ flow_columns, TACHO_ARRAY_SIZE(flow_columns) },
		{ instant_columns, TACHO_ARRAY_SIZE(instant_columns) },
		{ gap_columns, TACHO_ARRAY_SIZE(gap_columns) },
	};

	if (!sql_is_items(kind))
		return NULL;
	*nr = list[kind - SQL_TABLE_SLICE].nr;
	return list[kind - SQL_TABLE_SLICE].column;
}

/* ---- what an item is of ----------------------------------------------------------------- */

/* False: not known. */
static bool number_of(const struct sql_model_cursor *c, uint32_t track,
		      enum model_track_kind kind, int64_t *v)
{
	const struct sql_track *t = sql_tracks_find(&c->tracks, track, kind);

	if (t)
		*v = t->number;
	return t;
}

static bool cpu_of(const struct sql_model_cursor *c, const struct sql_item *it, int64_t *v)
{
	*v = it->cpu;
	return it->cpu != MODEL_NO_CPU || number_of(c, it->track, MODEL_CPU, v);
}

/* NULL: not known. */
static const char *comm_of(const struct sql_model_cursor *c, uint32_t track)
{
	const struct sql_track *t = sql_tracks_find(&c->tracks, track, MODEL_THREAD);

	return t && t->name[0] ? t->name : NULL;
}

/* ---- the queue ----------------------------------------------------------------------------- */

static bool has_number(const struct sql_plan *plan, enum sql_term term, bool known, int64_t v)
{
	const struct sql_numbers *set = &plan->number[term - SQL_FIRST_SET];

	return set->any || (known && sql_has_number(set, v));
}

static bool has_text(const struct sql_plan *plan, enum sql_term term, const char *s)
{
	return sql_has_text(&plan->text[term - SQL_TERM_SYSTEM], s);
}

/* Whether a number that is looked up passes; it is only if a term asks for it. */
static bool passes_of(const struct sql_model_cursor *c, const struct sql_item *it,
		      enum sql_term term)
{
	int64_t v = 0;
	bool known;

	if (c->plan.number[term - SQL_FIRST_SET].any)
		return true;
	known = term == SQL_TERM_CPU ? cpu_of(c, it, &v) :
		number_of(c, it->thread, term == SQL_TERM_PID ? MODEL_PROCESS : MODEL_THREAD, &v);
	return has_number(&c->plan, term, known, v);
}

static bool passes(const struct sql_model_cursor *c, const struct sql_item *it)
{
	const struct sql_plan *p = &c->plan;

	if (it->time < p->from || it->time > p->to ||
	    !has_number(p, SQL_TERM_TRACK, true, it->track) ||
	    !has_text(p, SQL_TERM_NAME, it->name) ||
	    !has_text(p, SQL_TERM_CATEGORY, it->category))
		return false;
	if (!passes_of(c, it, SQL_TERM_CPU) || !passes_of(c, it, SQL_TERM_PID) ||
	    !passes_of(c, it, SQL_TERM_TID))
		return false;
	return p->text[SQL_TERM_COMM - SQL_TERM_SYSTEM].any ||
	       has_text(p, SQL_TERM_COMM, comm_of(c, it->thread));
}

static int append(struct sql_items *items, const struct sql_item *it)
{
	if (items->nr == items->room) {
		size_t room = items->room ? 2 * items->room : 16;
		struct sql_item *list = reallocarray(items->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		items->list = list;
		items->room = room;
	}
	items->list[items->nr++] = *it;
	return 0;
}

static int queue(struct sql_model_cursor *c, struct sql_item *it)
{
	it->serial = c->serial++;
	return passes(c, it) ? append(&c->queue, it) : 0;
}

/* ---- ops --------------------------------------------------------------------------------- */

static int on_track(void *arg, const struct model_track *t)
{
	struct sql_model_cursor *c = arg;

	return sql_tracks_keep(&c->tracks, t);
}

static int on_slice(void *arg, const struct model_slice *s)
{
	struct sql_item it = {
		.time = s->begin, .end = s->end, .begin_record = s->begin_record,
		.end_record = s->end_record, .name = s->name, .category = s->category,
		.track = s->track, .depth = s->depth, .cpu = MODEL_NO_CPU,
		.thread = s->thread ? s->thread : s->track, .from = s->from, .to = s->to,
		.flags = s->flags,
	};

	return queue(arg, &it);
}

static int on_state(void *arg, const struct model_state *s)
{
	struct sql_item it = {
		.time = s->begin, .end = s->end, .begin_record = s->begin_record,
		.end_record = s->end_record, .name = model_state_name(s->state),
		.track = s->track, .thread = s->track, .cpu = s->cpu, .to = s->waker,
		.flags = s->flags,
	};

	return queue(arg, &it);
}

static int on_counter(void *arg, const struct model_counter *v)
{
	struct sql_model_cursor *c = arg;
	struct sql_track *t = &c->tracks.track[v->track];
	struct sql_item it = {
		.time = v->time, .begin_record = v->record, .end_record = MODEL_NO_RECORD,
		.name = t->name, .value = v->value, .track = v->track, .thread = v->track,
		.cpu = MODEL_NO_CPU,
	};
	struct sql_item *held;
	int err;

	if (!t->held) {
		err = append(&c->held, &it);
		t->held = (uint32_t)c->held.nr;
		return err;
	}
	held = &c->held.list[t->held - 1];
	held->end = it.time;
	err = queue(c, held);
	*held = it;
	return err;
}

static int on_flow(void *arg, const struct model_flow *f)
{
	struct sql_item it = {
		.time = f->from_time, .end = f->to_time, .begin_record = f->from_record,
		.end_record = f->to_record, .category = f->kind, .track = f->from,
		.thread = f->from, .to = f->to, .cpu = MODEL_NO_CPU,
	};

	return queue(arg, &it);
}

static int on_instant(void *arg, const struct model_instant *i)
{
	struct sql_item it = {
		.time = i->time, .end = i->time, .begin_record = i->record, .name = i->name,
		.category = i->category, .track = i->track, .thread = i->track,
		.cpu = MODEL_NO_CPU,
	};

	return queue(arg, &it);
}

static int on_loss(void *arg, const struct model_loss *l)
{
	struct sql_item it = {
		.time = l->begin, .end = l->end, .begin_record = l->record, .lost = l->count,
		.category = l->source == TACHO_STREAM_KERNEL ? "kernel" : "program",
		.cpu = l->cpu,
	};

	return queue(arg, &it);
}

void sql_item_ops(enum sql_table_kind kind, struct model_ops *ops)
{
	*ops = (struct model_ops){
		.track = on_track,
		.slice = kind == SQL_TABLE_SLICE ? on_slice : NULL,
		.state = kind == SQL_TABLE_STATE ? on_state : NULL,
		.counter = kind == SQL_TABLE_COUNTER ? on_counter : NULL,
		.flow = kind == SQL_TABLE_FLOW ? on_flow : NULL,
		.instant = kind == SQL_TABLE_INSTANT ? on_instant : NULL,
		.loss = kind == SQL_TABLE_GAP ? on_loss : NULL,
	};
}

int sql_item_flush(struct sql_model_cursor *c, uint64_t end)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->held.nr; i++) {
		c->held.list[i].end = end;
		err = queue(c, &c->held.list[i]);
	}
	c->held.nr = 0;
	return err;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_u64(sqlite3_context *ctx, uint64_t v)
{
	sqlite3_result_int64(ctx, v < INT64_MAX ? (int64_t)v : INT64_MAX);
}

/* NULL: nothing. */
static void put_text(sqlite3_context *ctx, const char *text)
{
	if (text)
		sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void put_record(sqlite3_context *ctx, uint64_t record)
{
	if (record != MODEL_NO_RECORD)
		put_u64(ctx, record);
}

static void put_track(sqlite3_context *ctx, uint32_t track)
{
	if (track)
		sqlite3_result_int64(ctx, track);
}

static void put_number(struct sql_model_cursor *c, sqlite3_context *ctx, uint32_t track,
		       enum model_track_kind kind)
{
	int64_t v;

	if (number_of(c, track, kind, &v))
		sqlite3_result_int64(ctx, v);
}

static int put_path(struct sql_model_cursor *c, sqlite3_context *ctx, uint32_t track)
{
	const char *path;

	tacho_buf_reset(&c->text);
	sql_tracks_path(&c->tracks, track, &c->text);
	path = tacho_buf_str(&c->text);		/* its NUL may take memory, too */
	if (tacho_buf_error(&c->text))
		return SQLITE_NOMEM;
	put_text(ctx, path);
	return SQLITE_OK;
}

/* The other end: a thread by its name, anything else by its path. */
static int put_other(struct sql_model_cursor *c, sqlite3_context *ctx, uint32_t track)
{
	const char *comm = comm_of(c, track);

	if (!track)
		return SQLITE_OK;
	if (!comm)
		return put_path(c, ctx, track);
	put_text(ctx, comm);
	return SQLITE_OK;
}

static int value_of_other(struct sql_model_cursor *c, sqlite3_context *ctx,
			  const struct sql_item *it, enum sql_column_kind kind)
{
	switch ((int)kind) {
	case SQL_FROM_TRACK:
		put_track(ctx, it->from);
		return SQLITE_OK;
	case SQL_TO_TRACK:
		put_track(ctx, it->to);
		return SQLITE_OK;
	case SQL_TO_CPU:
		put_number(c, ctx, it->to, MODEL_CPU);
		return SQLITE_OK;
	case SQL_TO_PID:
		put_number(c, ctx, it->to, MODEL_PROCESS);
		return SQLITE_OK;
	case SQL_TO_TID:
		put_number(c, ctx, it->to, MODEL_THREAD);
		return SQLITE_OK;
	case SQL_TO_COMM:
		put_text(ctx, comm_of(c, it->to));
		return SQLITE_OK;
	case SQL_TO:
		return put_other(c, ctx, it->to);
	default:	/* SQL_UNTIL */
		if (c->plan.has_until)
			put_u64(ctx, c->plan.until);
		return SQLITE_OK;
	}
}

static void put_flag(sqlite3_context *ctx, const struct sql_item *it, enum sql_column_kind kind)
{
	static const uint32_t flags[] = { MODEL_BEGIN_UNKNOWN, MODEL_END_UNKNOWN,
		MODEL_UNCERTAIN, MODEL_IO, MODEL_PREEMPTED, MODEL_BY_IRQ };

	sqlite3_result_int(ctx, !!(it->flags & flags[kind - SQL_FLAG_BEGIN]));
}

static void value_of_place(struct sql_model_cursor *c, sqlite3_context *ctx,
			   const struct sql_item *it, enum sql_column_kind kind)
{
	int64_t v;

	if (kind == SQL_COMM)
		put_text(ctx, comm_of(c, it->thread));
	else if (kind != SQL_CPU)
		put_number(c, ctx, it->thread, kind == SQL_PID ? MODEL_PROCESS : MODEL_THREAD);
	else if (cpu_of(c, it, &v))
		sqlite3_result_int64(ctx, v);
}

static int value_of_item(struct sql_model_cursor *c, sqlite3_context *ctx,
			 const struct sql_item *it, enum sql_column_kind kind)
{
	switch ((int)kind) {
	case SQL_TIME:
		put_u64(ctx, it->time);
		return SQLITE_OK;
	case SQL_END:
		put_u64(ctx, it->end);
		return SQLITE_OK;
	case SQL_DUR:
		put_u64(ctx, it->end - it->time);
		return SQLITE_OK;
	case SQL_NAME:
		put_text(ctx, it->name);
		return SQLITE_OK;
	case SQL_CATEGORY:
		put_text(ctx, it->category);
		return SQLITE_OK;
	case SQL_DEPTH:
		sqlite3_result_int64(ctx, it->depth);
		return SQLITE_OK;
	case SQL_TRACK:
		sqlite3_result_int64(ctx, it->track);
		return SQLITE_OK;
	case SQL_PATH:
		return put_path(c, ctx, it->track);
	case SQL_VALUE:
		sqlite3_result_double(ctx, it->value);
		return SQLITE_OK;
	case SQL_LOST:
		put_u64(ctx, it->lost);
		return SQLITE_OK;
	case SQL_BEGIN_RECORD:
		put_record(ctx, it->begin_record);
		return SQLITE_OK;
	case SQL_END_RECORD:
		put_record(ctx, it->end_record);
		return SQLITE_OK;
	default:
		return value_of_other(c, ctx, it, kind);
	}
}

int sql_item_value(struct sql_model_cursor *c, sqlite3_context *ctx,
		   const struct sql_column *column)
{
	const struct sql_item *it = &c->queue.list[c->queue.at];
	enum sql_column_kind kind = column->kind;

	c->values++;
	if (kind >= SQL_FLAG_BEGIN && kind <= SQL_FLAG_IRQ)
		put_flag(ctx, it, kind);
	else if (kind >= SQL_CPU && kind <= SQL_COMM)
		value_of_place(c, ctx, it, kind);
	else
		return value_of_item(c, ctx, it, kind);
	return SQLITE_OK;
}
