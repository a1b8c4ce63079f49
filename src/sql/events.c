// SPDX-License-Identifier: MIT
/* The tables of events: events, loss and one for each event type. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "sql/stack.h"
#include "sql/window.h"
#include "sys/clock.h"

static struct sql_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct sql_cursor *)(void *)cursor;	/* first member */
}

/* ---- opening and closing ---------------------------------------------------------------- */

static int events_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct sql_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->vtab = (struct sql_vtab *)(void *)vtab;
	c->at_end = true;
	if (c->vtab->table->kind == SQL_TABLE_SAMPLE) {
		c->sample = sql_sample_new();
		if (!c->sample) {
			free(c);
			return SQLITE_NOMEM;
		}
	}
	tacho_buf_init(&c->text, SQL_TEXT_MAX);
	*cursor = &c->base;
	return SQLITE_OK;
}

/* What the scan has read so far goes into the statistics. */
static void account(struct sql_cursor *c)
{
	struct tacho_sql_stats *stats = &c->vtab->trace->sql->stats;
	uint64_t packets = c->stream ? tacho_stream_packets_read(c->stream->trace.stream) : 0;

	stats->packets += packets - c->packets;
	stats->records += c->records;
	stats->rows += c->row;
	stats->values += c->values;
	c->packets = packets;
	c->records = c->values = 0;
}

/* Ends a scan; the stream stays. */
static void scan_end(struct sql_cursor *c)
{
	account(c);
	c->row = 0;
	c->at_end = true;
}

/* The stream is where no window expects it. */
static void leave_window(struct sql_cursor *c)
{
	if (c->window)
		sql_window_reset(c->window, UINT64_MAX, 0);
	if (c->stream)
		tacho_stream_lend(c->stream->trace.stream, NULL);
	c->has_window = false;
}

static void stream_drop(struct sql_cursor *c, bool failed)
{
	leave_window(c);
	if (c->stream)
		sql_forget(c);
	sql_stream_put(c->vtab->trace, c->stream, failed);
	c->stream = NULL;
	c->packets = 0;
}

static int events_close(sqlite3_vtab_cursor *cursor)
{
	struct sql_cursor *c = cursor_of(cursor);

	scan_end(c);
	stream_drop(c, c->failed);
	sql_plan_release(&c->plan);
	tacho_buf_release(&c->text);
	sql_sample_free(c->sample);
	sql_window_free(c->window);
	free(c->cpu);
	free(c);
	return SQLITE_OK;
}

/* ---- the scope of a scan ----------------------------------------------------------------- */

static const struct sql_texts *texts(const struct sql_cursor *c, enum sql_term term)
{
	return &c->plan.text[term - SQL_TERM_SYSTEM];
}

static const struct sql_numbers *numbers(const struct sql_cursor *c, enum sql_term term)
{
	return &c->plan.number[term - SQL_FIRST_SET];
}

/* Records that are no row may be of use: all are read, and tested here. */
static bool reads_all(const struct sql_cursor *c)
{
	return c->plan.numbers_records || c->plan.pairs;
}

static bool scope_wants(void *arg, const struct tacho_type *type, uint32_t stream_id)
{
	const struct sql_cursor *c = arg;
	const struct sql_table *t = c->vtab->table;

	if (c->sample && !sql_sample_is_stack(type))
		return false;
	if (t->kind == SQL_TABLE_EVENT)
		return !strcmp(type->name, t->event) && !strcmp(type->system, t->system);
	return sql_has_text(texts(c, SQL_TERM_SYSTEM), type->system) &&
	       sql_has_text(texts(c, SQL_TERM_NAME), type->name) &&
	       sql_has_text(texts(c, SQL_TERM_SOURCE),
			    stream_id == TACHO_STREAM_KERNEL ? "kernel" : "program");
}

static uint64_t hash_texts(const struct sql_texts *set, uint64_t h)
{
	h = tacho_hash(&set->nr, sizeof(set->nr), h);
	for (uint32_t i = 0; i < set->nr; i++)
		h = tacho_hash(set->list[i], strlen(set->list[i]) + 1, h);
	return tacho_hash(&set->any, sizeof(set->any), h);
}

/* What tells scopes of one table from each other: types and CPUs. */
static uint64_t scope_hash(const struct sql_cursor *c)
{
	const struct sql_numbers *cpu = numbers(c, SQL_TERM_CPU);
	uint64_t h = hash_texts(texts(c, SQL_TERM_SYSTEM), 0);

	h = hash_texts(texts(c, SQL_TERM_NAME), h);
	h = hash_texts(texts(c, SQL_TERM_SOURCE), h);
	h = tacho_hash(&cpu->any, sizeof(cpu->any), h);
	return tacho_hash(cpu->list, cpu->nr * sizeof(*cpu->list), h);
}

static bool scope_pulse(void *arg, uint64_t now)
{
	const struct sql_cursor *c = arg;

	return sql_pulse(c->vtab->trace->sql, c->begin, c->end, now);
}

static int set_cpus(struct sql_cursor *c)
{
	const struct sql_numbers *set = numbers(c, SQL_TERM_CPU);

	free(c->cpu);
	c->cpu = NULL;
	c->scope.nr_cpus = 0;
	if (set->any)
		return 0;
	c->cpu = calloc(set->nr + 1, sizeof(*c->cpu));
	if (!c->cpu)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->nr; i++)
		if (set->list[i] >= 0 && set->list[i] < UINT32_MAX)
			c->cpu[c->scope.nr_cpus++] = (uint32_t)set->list[i];
	if (reads_all(c)) {
		c->scope.nr_cpus = 0;
		return 0;
	}
	/* no CPU can be meant: one that no packet has */
	if (!c->scope.nr_cpus)
		c->plan.nothing = true;
	c->scope.cpu = c->cpu;
	return 0;
}

static int set_scope(struct sql_cursor *c)
{
	bool types = c->vtab->table->kind == SQL_TABLE_EVENT || c->sample ||
		     !texts(c, SQL_TERM_SYSTEM)->any || !texts(c, SQL_TERM_NAME)->any ||
		     !texts(c, SQL_TERM_SOURCE)->any;

	c->scope = (struct tacho_scope){ .arg = c, .pulse = scope_pulse,
		.to = c->has_window ? UINT64_MAX : c->plan.to,
		.wants = types && !reads_all(c) ? scope_wants : NULL };
	c->takes_types = types && reads_all(c);
	c->takes_tasks = !numbers(c, SQL_TERM_PID)->any || !texts(c, SQL_TERM_COMM)->any;
	c->filters = c->takes_tasks || reads_all(c) || c->sample ||
		     !numbers(c, SQL_TERM_TID)->any ||
		     !numbers(c, SQL_TERM_CPU)->any || c->vtab->table->kind == SQL_TABLE_LOSS;
	return set_cpus(c);
}

/* ---- scanning ----------------------------------------------------------------------------- */

static int fail(struct sql_cursor *c, const struct tacho_diag *d)
{
	c->failed = true;
	scan_end(c);
	return sql_vtab_error(&c->vtab->base, SQLITE_ERROR, d);
}

static TACHO_COLD int scan_stopped(struct sql_cursor *c, int status)
{
	struct tacho_diag d = { 0 };

	if (status == TACHO_STREAM_ERROR) {
		(void)app_stream_failed(c->stream->trace.stream, 0, &d);
		return fail(c, &d);
	}
	if (status == TACHO_STREAM_AGAIN && sql_cancelled(c->vtab->trace->sql)) {
		scan_end(c);
		return SQLITE_INTERRUPT;
	}
	scan_end(c);
	return SQLITE_OK;
}

static bool passes(struct sql_cursor *c)
{
	const struct tacho_record *r = &c->record;
	const struct sql_task *task;

	if (!sql_has_number(numbers(c, SQL_TERM_TID), r->pid) ||
	    /* NULL is equal to nothing */
	    (!numbers(c, SQL_TERM_CPU)->any &&
	     (r->cpu == UINT32_MAX || !sql_has_number(numbers(c, SQL_TERM_CPU), r->cpu))) ||
	    (c->vtab->table->kind == SQL_TABLE_LOSS && !r->lost) ||
	    (reads_all(c) && r->time < c->plan.from) ||
	    (c->takes_types && !scope_wants(c, r->type, r->source)))
		return false;
	if (!c->takes_tasks)
		return true;
	task = sql_task_of(c);
	return (numbers(c, SQL_TERM_PID)->any ||
		((task->tgid || !task->tid) &&
		 sql_has_number(numbers(c, SQL_TERM_PID), task->tgid))) &&
	       (texts(c, SQL_TERM_COMM)->any ||
		(task->named && sql_has_text(texts(c, SQL_TERM_COMM), task->comm)));
}

/* Places the stream at the beginning of the range. */
static int place_stream(struct sql_cursor *c, uint64_t from)
{
	struct tacho_stream *s = c->stream->trace.stream;

	tacho_stream_lend(s, NULL);
	if (c->has_window)
		sql_window_reset(c->window, from, scope_hash(c));
	return c->vtab->trace->can_seek && (from || !c->stream->fresh) ?
	       tacho_stream_seek(s, from) : 0;
}

/* The next record of the stream; of a window, the next one of the range. */
static int read_record(struct sql_cursor *c)
{
	struct tacho_stream *s = c->stream->trace.stream;
	struct sql_window *w = c->window;
	int status;

	if (tacho_likely(!c->has_window))
		return tacho_stream_next(s, &c->record);
	for (;;) {
		status = sql_window_next(w, s, &c->record);
		if (status != TACHO_STREAM_RECORD || c->record.time >= c->plan.from)
			return status;
		if (++w->skipped < SQL_WINDOW_AHEAD)
			continue;
		if (place_stream(c, c->plan.from))
			return TACHO_STREAM_ERROR;
	}
}

static int events_next(sqlite3_vtab_cursor *cursor)
{
	struct sql_cursor *c = cursor_of(cursor);

	if (tacho_unlikely(!c->left)) {
		scan_end(c);
		return SQLITE_OK;
	}
	for (;;) {
		int status = read_record(c);

		if (tacho_unlikely(status != TACHO_STREAM_RECORD)) {
			/* a stream that was asked to pause and may go on */
			if (status == TACHO_STREAM_AGAIN && !c->vtab->trace->live &&
			    !sql_cancelled(c->vtab->trace->sql))
				continue;
			return scan_stopped(c, status);
		}
		c->records++;
		if (tacho_unlikely(c->record.time > c->plan.to))
			return scan_stopped(c, TACHO_STREAM_END);
		if (tacho_likely(!c->filters))
			break;
		status = c->sample ? sql_sample_take(c) : 1;
		if (tacho_unlikely(status < 0))
			return SQLITE_NOMEM;
		if (status && passes(c))
			break;
	}
	c->left--;
	c->row++;
	return SQLITE_OK;
}

/* A stream at the beginning of the range. */
static int begin_stream(struct sql_cursor *c, struct tacho_diag *d)
{
	struct sql_trace *trace = c->vtab->trace;
	struct tacho_stream *s;
	uint64_t from;
	int err;

	if (c->has_window && c->stream &&
	    sql_window_find(c->window, c->plan.from, scope_hash(c)))
		return 0;
	if (c->stream && (c->failed || (!trace->can_seek && !c->stream->fresh)))
		stream_drop(c, true);
	if (!c->stream) {
		err = sql_stream_get(trace, &c->stream, d);
		if (err)
			return err;
		c->packets = tacho_stream_packets_read(c->stream->trace.stream);
	}
	c->failed = false;
	s = c->stream->trace.stream;
	if (tacho_stream_narrow(s, &c->scope))
		return tacho_no_memory(d);
	from = c->plan.numbers_records ? 0 : c->plan.from;
	if (c->plan.pairs)
		from = from > SQL_SAMPLE_AHEAD ? from - SQL_SAMPLE_AHEAD : 0;
	err = place_stream(c, from);
	c->stream->fresh = false;
	return err ? app_stream_failed(s, err, d) : 0;
}

/* A live session is read as far as it is now, or a fast writer would never let it end. */
static void end_live(struct sql_cursor *c)
{
	uint64_t now = tacho_now_ns(CLOCK_REALTIME);

	if (c->vtab->trace->live && c->plan.to > now)
		c->plan.to = now;
}

/* Decides whether this scan has a window: window.h.  0 or -ENOMEM. */
static int use_window(struct sql_cursor *c)
{
	const struct sql_trace *trace = c->vtab->trace;
	bool use = c->scanned && !trace->live && trace->can_seek && trace->has_places &&
		   !c->sample && !reads_all(c) && !c->failed && c->plan.from &&
		   (c->plan.to < UINT64_MAX || c->plan.limit < UINT64_MAX);

	c->scanned = true;
	if (!use) {
		leave_window(c);
		return 0;
	}
	if (!c->window) {
		c->window = sql_window_new();
		if (!c->window)
			return -ENOMEM;
		sql_window_reset(c->window, UINT64_MAX, 0);
	}
	c->has_window = true;
	return 0;
}

static int begin_scan(struct sql_cursor *c, struct tacho_diag *d)
{
	struct sql_trace *trace = c->vtab->trace;
	int err;

	end_live(c);
	if (use_window(c) || set_scope(c))
		return tacho_no_memory(d);
	if (c->plan.nothing || !c->plan.limit)
		return 0;
	if (trace->sql->watch.progress && !trace->live) {
		err = sql_measure(trace, d);
		if (err)
			return err;
		c->begin = trace->begin > c->plan.from ? trace->begin : c->plan.from;
		c->end = trace->end < c->plan.to ? trace->end : c->plan.to;
	}
	return begin_stream(c, d);
}

static int events_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			 sqlite3_value **argv)
{
	struct sql_cursor *c = cursor_of(cursor);
	struct tacho_diag d = { 0 };
	int rc, err = 0;

	(void)text;
	scan_end(c);
	sql_plan_release(&c->plan);
	rc = sql_plan_read(&c->plan, number, argc, argv);
	if (rc != SQLITE_OK)
		return rc;
	if (c->sample)
		sql_sample_reset(c->sample);
	if (c->plan.numbers_stacks)
		err = sql_stacks_load(c->vtab->trace, &d);
	if (!err)
		err = begin_scan(c, &d);
	if (err)
		return err == -ECANCELED ? SQLITE_INTERRUPT : fail(c, &d);
	if (c->plan.nothing || !c->plan.limit)
		return SQLITE_OK;
	c->vtab->trace->sql->stats.scans++;
	c->left = c->plan.limit;
	c->at_end = false;
	return events_next(cursor);
}

static int events_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->at_end;
}

static int events_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	struct sql_cursor *c = cursor_of(cursor);

	return sql_value(c, ctx, &c->vtab->table->column[column], (uint32_t)column);
}

/* See tables.h, 3. */
static int events_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	struct sql_cursor *c = cursor_of(cursor);
	uint64_t place;

	if (c->has_window && c->window->current)
		*rowid = (sqlite3_int64)c->window->current->place;
	else
		*rowid = tacho_stream_place(c->stream->trace.stream, &place) ?
			 (sqlite3_int64)place : (sqlite3_int64)c->row;
	return SQLITE_OK;
}

const sqlite3_module sql_events_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = sql_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = events_open,
	.xClose = events_close,
	.xFilter = events_filter,
	.xNext = events_next,
	.xEof = events_eof,
	.xColumn = events_column,
	.xRowid = events_rowid,
};
