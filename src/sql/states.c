// SPDX-License-Identifier: MIT
/* states(FROM, TO): what each thread did in a range of time, summed by thread and state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "index/index.h"
#include "sql/model.h"

#define NAMES_MAX	((size_t)1 << 30)

/* Columns, as they are declared. */
enum {
	PID, TID, COMM, STATE, DUR, COUNT, LONGEST, SHARE, IO, PREEMPTED, UNCERTAIN, TRACK,
	ARGS,				/* the hidden arguments */
	NR_ARGS = 2,
};

const char *sql_states_declaration(void)
{
	return "create table x(pid INTEGER, tid INTEGER, comm TEXT, state TEXT, dur INTEGER, "
	       "count INTEGER, longest INTEGER, share REAL, io INTEGER, preempted INTEGER, "
	       "uncertain INTEGER, track INTEGER, since INTEGER HIDDEN, until INTEGER HIDDEN)";
}

/* One thread in one state. */
struct states_sum {
	uint32_t track;
	enum model_thread_state state;
	uint64_t dur, count, longest;
	uint64_t io, preempted, uncertain;	/* of dur */
};

struct states_cursor {
	sqlite3_vtab_cursor base;
	struct sql_vtab *vtab;
	struct sql_tracks tracks;
	struct states_sum **sum;	/* by track, then state, when all are there */
	size_t nr, room, at;
	struct tacho_hashmap by_key;
	bool has_arg[NR_ARGS];
	int64_t arg[NR_ARGS];
	uint64_t from, to;
	uint64_t span;			/* of the range that the trace has */
};

static struct states_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct states_cursor *)(void *)cursor;	/* first member */
}

/* ---- sums -------------------------------------------------------------------------------- */

static int on_track(void *arg, const struct model_track *t)
{
	struct states_cursor *c = arg;

	return model_tracks_keep(&c->tracks.tracks, t);
}

/* NULL: no memory. */
static struct states_sum *sum_of(struct states_cursor *c, const struct model_state *s)
{
	uint64_t key = (uint64_t)s->track << 8 | s->state;
	struct states_sum *sum = tacho_hashmap_get(&c->by_key, key);

	if (sum)
		return sum;
	if (c->nr == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		struct states_sum **list = reallocarray(c->sum, room, sizeof(*list));

		if (!list)
			return NULL;
		c->sum = list;
		c->room = room;
	}
	sum = calloc(1, sizeof(*sum));
	if (!sum || tacho_hashmap_set(&c->by_key, key, sum)) {
		free(sum);
		return NULL;
	}
	sum->track = s->track;
	sum->state = s->state;
	c->sum[c->nr++] = sum;
	return sum;
}

_Static_assert(MODEL_NR_STATES <= 256, "key of a sum");

static int on_state(void *arg, const struct model_state *s)
{
	struct states_cursor *c = arg;
	uint64_t begin = s->begin > c->from ? s->begin : c->from;
	uint64_t end = s->end < c->to ? s->end : c->to;
	struct states_sum *sum;

	if (begin >= end)
		return 0;
	sum = sum_of(c, s);
	if (!sum)
		return -ENOMEM;
	sum->count++;
	sum->dur += end - begin;
	if (end - begin > sum->longest)
		sum->longest = end - begin;
	if (s->flags & MODEL_IO)
		sum->io += end - begin;
	if (s->flags & MODEL_PREEMPTED)
		sum->preempted += end - begin;
	if (s->flags & MODEL_UNCERTAIN)
		sum->uncertain += end - begin;
	return 0;
}

/* Names outlive the model: those that the rows have. */
static int keep(struct states_cursor *c, const struct model_stats *stats)
{
	uint64_t from = stats->first > c->from ? stats->first : c->from;
	uint64_t to = stats->last < c->to ? stats->last : c->to;

	c->span = to > from ? to - from : 0;
	for (uint32_t i = 0; i < c->tracks.tracks.nr; i++) {
		struct model_track_row *t = &c->tracks.tracks.track[i];

		t->name = t->kind == MODEL_THREAD && t->name[0] ?
			  tacho_arena_strndup(&c->tracks.arena, t->name, strlen(t->name)) : "";
		if (!t->name)
			return -ENOMEM;
	}
	return 0;
}

static int on_end(void *arg, const struct model *model)
{
	return keep(arg, model_stats(model));
}

static void drop_sums(struct states_cursor *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->sum[i]);
	free(c->sum);
	c->sum = NULL;
	c->nr = c->room = c->at = 0;
	tacho_hashmap_release(&c->by_key);
}

/* ---- by the index ------------------------------------------------------------------------ */

/* The states of the index that touch the range.  0, -ECANCELED, or another errno. */
static int take_states(struct states_cursor *c, struct index *index)
{
	static const struct model_ops ops = { .state = on_state };
	uint64_t to = c->to < INT64_MAX ? c->to : INT64_MAX;
	struct tacho_diag d = { 0 };
	int err = 0;

	for (uint32_t i = 0; !err && c->from < to && i < c->tracks.tracks.nr; i++) {
		if (c->tracks.tracks.track[i].kind != MODEL_STATE)
			continue;
		if (sql_cancelled(c->vtab->trace->sql))
			return -ECANCELED;
		err = index_items(index, i, c->from, to, &ops, c, &d);
	}
	return err;
}

/* Sums without reading the trace.  0; -ECANCELED; -ENOMEM with d; -ENOENT: it takes a pass. */
static int sum_by_index(struct states_cursor *c, struct tacho_diag *d)
{
	struct sql_trace *trace = c->vtab->trace;
	struct index *index = sql_index(trace);
	struct index_info info;
	int err = sql_index_tracks(trace, &c->tracks.tracks);

	if (!err)
		err = take_states(c, index);
	if (!err) {
		index_info(index, &info);
		err = keep(c, &info.stats);
	}
	if (!err || err == -ECANCELED)
		return err;
	if (err == -ENOMEM)
		return tacho_no_memory(d);
	/* some items are only in the trace, or it is damaged */
	trace->index_failed |= err != -ENODATA && err != -ENOENT;
	drop_sums(c);
	return -ENOENT;
}

/* ---- the order --------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct states_sum *x = *(const struct states_sum *const *)a;
	const struct states_sum *y = *(const struct states_sum *const *)b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

static void forget(struct states_cursor *c)
{
	drop_sums(c);
	sql_tracks_release(&c->tracks);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* idxNum: bit 0: FROM, bit 1: TO is given. */
static int states_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct sql_vtab *v = (const struct sql_vtab *)(const void *)vtab;
	int nr = 0;

	if (sql_index(v->trace))
		info->idxStr = (char *)(uintptr_t)SQL_BY_INDEX;
	info->idxNum = 0;
	for (int arg = 0; arg < NR_ARGS; arg++)
		for (int i = 0; i < info->nConstraint; i++) {
			if (info->aConstraint[i].iColumn != ARGS + arg ||
			    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
			    info->idxNum & 1 << arg)
				continue;
			/* of another table that is not known yet: another order */
			if (!info->aConstraint[i].usable)
				return SQLITE_CONSTRAINT;
			info->aConstraintUsage[i].argvIndex = ++nr;
			info->aConstraintUsage[i].omit = 1;
			info->idxNum |= 1 << arg;
		}
	info->estimatedCost = 5e6;
	info->estimatedRows = 1000;
	return SQLITE_OK;
}

static int states_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct states_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->vtab = (struct sql_vtab *)(void *)vtab;
	*cursor = &c->base;
	return SQLITE_OK;
}

static int states_close(sqlite3_vtab_cursor *cursor)
{
	struct states_cursor *c = cursor_of(cursor);

	forget(c);
	free(c);
	return SQLITE_OK;
}

/* NULL is no bound.  False: it is no time. */
static bool take_argument(struct states_cursor *c, int arg, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);

	c->has_arg[arg] = type != SQLITE_NULL;
	if (type == SQLITE_NULL)
		return true;
	c->arg[arg] = sqlite3_value_int64(value);
	return type == SQLITE_INTEGER;
}

static int take_arguments(struct states_cursor *c, int number, sqlite3_value **argv,
			  struct tacho_diag *d)
{
	int nr = 0;

	for (int arg = 0; arg < NR_ARGS; arg++) {
		c->has_arg[arg] = false;
		if (number & 1 << arg && !take_argument(c, arg, argv[nr++]))
			return tacho_diag(d, -EINVAL, 0, "states(FROM, TO) takes times in ns, or "
					  "NULL: states(ts('1s'), ts('2s'))");
	}
	c->from = c->has_arg[0] && c->arg[0] > 0 ? (uint64_t)c->arg[0] : 0;
	c->to = !c->has_arg[1] ? UINT64_MAX : c->arg[1] > 0 ? (uint64_t)c->arg[1] : 0;
	return 0;
}

static int states_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			 sqlite3_value **argv)
{
	static const struct model_ops ops = { .track = on_track, .state = on_state };
	struct states_cursor *c = cursor_of(cursor);
	struct tacho_sql *sql = c->vtab->trace->sql;
	struct tacho_diag d = { 0 };
	int err;

	(void)text;
	(void)argc;
	forget(c);
	c->tracks.loaded = true;
	tacho_arena_init(&c->tracks.arena, NAMES_MAX);
	err = take_arguments(c, number, argv, &d);
	if (!err) {
		sql->nr_readers++;
		sql->stats.scans++;
		err = sum_by_index(c, &d);
		if (err == -ENOENT)
			err = sql_model_pass(c->vtab->trace, &ops, c, on_end, &d);
		sql->nr_readers--;
	}
	if (!err && c->nr)
		qsort(c->sum, c->nr, sizeof(*c->sum), compare);
	if (!err)
		return SQLITE_OK;
	forget(c);
	return err == -ECANCELED ? SQLITE_INTERRUPT :
	       sql_vtab_error(cursor->pVtab, SQLITE_ERROR, &d);
}

static int states_next(sqlite3_vtab_cursor *cursor)
{
	cursor_of(cursor)->at++;
	return SQLITE_OK;
}

static int states_eof(sqlite3_vtab_cursor *cursor)
{
	const struct states_cursor *c = cursor_of(cursor);

	return c->at >= c->nr;
}

static void put_task(const struct states_cursor *c, sqlite3_context *ctx, uint32_t track,
		     int column)
{
	const struct model_track_row *t = model_tracks_find(&c->tracks.tracks, track,
							    column == PID ? MODEL_PROCESS :
									    MODEL_THREAD);

	if (!t)
		return;
	if (column != COMM)
		sqlite3_result_int64(ctx, t->number);
	else if (t->name[0])
		sqlite3_result_text(ctx, t->name, -1, SQLITE_TRANSIENT);
}

static void put_sum(const struct states_cursor *c, sqlite3_context *ctx,
		    const struct states_sum *sum, int column)
{
	const uint64_t list[] = { [DUR] = sum->dur, [COUNT] = sum->count,
		[LONGEST] = sum->longest, [IO] = sum->io, [PREEMPTED] = sum->preempted,
		[UNCERTAIN] = sum->uncertain, [TRACK] = sum->track };

	if (column == STATE)
		sqlite3_result_text(ctx, model_state_name(sum->state), -1, SQLITE_STATIC);
	else if (column != SHARE)
		sqlite3_result_int64(ctx, (sqlite3_int64)list[column]);
	else if (c->span)
		sqlite3_result_double(ctx, (double)sum->dur / (double)c->span);
}

static int states_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct states_cursor *c = cursor_of(cursor);
	const struct states_sum *sum = c->sum[c->at];

	if (column <= COMM)
		put_task(c, ctx, sum->track, column);
	else if (column < ARGS)
		put_sum(c, ctx, sum, column);
	else if (c->has_arg[column - ARGS])
		sqlite3_result_int64(ctx, c->arg[column - ARGS]);
	return SQLITE_OK;
}

static int states_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)cursor_of(cursor)->at;
	return SQLITE_OK;
}

const sqlite3_module sql_states_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = states_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = states_open,
	.xClose = states_close,
	.xFilter = states_filter,
	.xNext = states_next,
	.xEof = states_eof,
	.xColumn = states_column,
	.xRowid = states_rowid,
};
