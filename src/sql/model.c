// SPDX-License-Identifier: MIT
/* Scans through the model: the module of the tables of items. */
#include "sql/model.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "sys/clock.h"

static struct sql_model_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct sql_model_cursor *)(void *)cursor;	/* first member */
}

static int model_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct sql_model_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->vtab = (struct sql_vtab *)(void *)vtab;
	c->at_end = true;
	*cursor = &c->base;
	return SQLITE_OK;
}

/* ---- beginning and ending ------------------------------------------------------------------- */

static void account(const struct sql_model_cursor *c)
{
	struct tacho_sql_stats *stats = &c->vtab->trace->sql->stats;

	stats->packets += tacho_stream_packets_read(c->stream->trace.stream);
	stats->records += c->records;
	stats->rows += c->rows;
	stats->values += c->values;
}

/* Ends a scan and frees what it had; fine if there is none. */
static void scan_end(struct sql_model_cursor *c)
{
	c->at_end = true;
	if (c->stream) {
		account(c);
		c->vtab->trace->sql->nr_readers--;
	}
	model_free(c->model);
	c->model = NULL;
	sql_stream_put(c->vtab->trace, c->stream, true);
	c->stream = NULL;
	model_items_release(&c->items);
	c->rows = c->records = c->values = 0;
	c->finished = false;
}

static int model_close(sqlite3_vtab_cursor *cursor)
{
	struct sql_model_cursor *c = cursor_of(cursor);

	scan_end(c);
	sql_plan_release(&c->plan);
	free(c);
	return SQLITE_OK;
}

static int fail(struct sql_model_cursor *c, const struct tacho_diag *d)
{
	scan_end(c);
	return sql_vtab_error(&c->vtab->base, SQLITE_ERROR, d);
}

static bool pulse(void *arg, uint64_t now)
{
	const struct sql_model_cursor *c = arg;

	return sql_pulse(c->vtab->trace->sql, c->begin, c->end, now);
}

static int begin_stream(struct sql_trace *trace, const struct tacho_scope *scope,
			struct sql_stream **stream, struct model_config *config,
			struct tacho_diag *d)
{
	int err = sql_stream_new(trace, stream, d);

	if (err)
		return err;
	(*stream)->fresh = false;
	config->stream = (*stream)->trace.stream;
	return tacho_stream_narrow(config->stream, scope) ? tacho_no_memory(d) : 0;
}

int sql_model_begin(struct sql_trace *trace, const struct tacho_scope *scope, uint64_t from,
		    const struct model_ops *ops, void *arg, struct sql_stream **stream,
		    struct model **model, struct tacho_diag *d)
{
	struct model_config config = { .ops = ops, .arg = arg };
	int err = sql_rules(trace->sql, d);

	if (!err)
		err = begin_stream(trace, scope, stream, &config, d);
	if (err)
		return err;
	config.rules = trace->sql->rules;
	if (from && sql_index(trace)) {
		err = sql_index_model(trace, &config, from, model, d);
		if (err != -ENOENT)
			return err;
		/* without it; tracks that it told are told again */
		sql_stream_put(trace, *stream, true);
		*stream = NULL;
		err = begin_stream(trace, scope, stream, &config, d);
		if (err)
			return err;
	}
	err = model_new(model, &config, d);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

struct pass {
	struct sql_trace *trace;
	struct sql_stream *stream;
	struct model *model;
	struct tacho_scope scope;
};

static bool pass_pulse(void *arg, uint64_t now)
{
	const struct pass *p = arg;

	return sql_pulse(p->trace->sql, p->trace->begin, p->trace->end, now);
}

/* Reads to the end.  0, -ECANCELED, or a negative errno. */
static int read_all(struct pass *p, struct tacho_diag *d)
{
	struct tacho_stream *s = p->stream->trace.stream;
	struct tacho_record r;
	int err = 0, status;

	while (!err) {
		status = tacho_stream_next(s, &r);
		if (status == TACHO_STREAM_ERROR)
			return app_stream_failed(s, -EIO, d);
		if (status == TACHO_STREAM_AGAIN && sql_cancelled(p->trace->sql))
			return -ECANCELED;
		if (status == TACHO_STREAM_AGAIN && !p->trace->live)
			continue;
		if (status != TACHO_STREAM_RECORD || r.time > p->scope.to)
			return model_finish(p->model);
		err = model_record(p->model, &r);
	}
	return err;
}

int sql_model_pass(struct sql_trace *trace, const struct model_ops *ops, void *arg,
		   int (*done)(void *arg, const struct model *model), struct tacho_diag *d)
{
	struct pass p = { .trace = trace };
	int err = 0;

	p.scope = (struct tacho_scope){ .arg = &p, .to = UINT64_MAX, .pulse = pass_pulse };
	if (trace->live)
		p.scope.to = tacho_now_ns(CLOCK_REALTIME);
	else if (trace->sql->watch.progress)
		err = sql_measure(trace, d);
	if (!err)
		err = sql_model_begin(trace, &p.scope, 0, ops, arg, &p.stream, &p.model, d);
	if (!err)
		err = read_all(&p, d);
	if (!err)
		err = done(arg, p.model);
	model_free(p.model);
	sql_stream_put(trace, p.stream, true);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

/* The time after which nothing is read. */
static uint64_t last_time(const struct sql_model_cursor *c)
{
	uint64_t last = c->plan.has_until ? c->plan.until : UINT64_MAX;
	uint64_t now = UINT64_MAX;

	if (c->vtab->trace->live)
		now = tacho_now_ns(CLOCK_REALTIME);
	if (c->vtab->table->kind == SQL_TABLE_INSTANT && c->plan.to < last)
		last = c->plan.to;
	return now < last ? now : last;
}

static int begin_scan(struct sql_model_cursor *c, struct tacho_diag *d)
{
	struct sql_trace *trace = c->vtab->trace;
	int err;

	c->last = last_time(c);
	c->left = c->plan.limit;
	if (trace->sql->watch.progress && !trace->live) {
		err = sql_measure(trace, d);
		if (err)
			return err;
		c->begin = trace->begin;
		c->end = trace->end < c->last ? trace->end : c->last;
	}
	c->scope = (struct tacho_scope){ .arg = c, .to = c->last, .pulse = pulse };
	model_items_init(&c->items, sql_items_kind(c->vtab->table->kind), sql_item_wanted, c);
	model_items_ops(c->items.kind, &c->ops);
	err = sql_model_begin(trace, &c->scope, c->plan.from, &c->ops, &c->items, &c->stream,
			      &c->model, d);
	if (c->stream) {
		trace->sql->nr_readers++;
		trace->sql->stats.scans++;
	}
	return err;
}

/* ---- scanning ------------------------------------------------------------------------ */

/* Feeds the model with a record or the end.  SQLite's code. */
static int feed(struct sql_model_cursor *c)
{
	struct tacho_stream *s = c->stream->trace.stream;
	const struct sql_trace *trace = c->vtab->trace;
	struct tacho_diag d = { 0 };
	struct tacho_record r;
	int status = tacho_stream_next(s, &r), err;

	if (status == TACHO_STREAM_ERROR) {
		(void)app_stream_failed(s, 0, &d);
		return fail(c, &d);
	}
	if (status == TACHO_STREAM_AGAIN && sql_cancelled(trace->sql)) {
		scan_end(c);
		return SQLITE_INTERRUPT;
	}
	if (status == TACHO_STREAM_AGAIN && !trace->live)
		return SQLITE_OK;
	c->items.serial = model_stats(c->model)->records << SQL_ITEM_BITS;
	if (status == TACHO_STREAM_RECORD && r.time <= c->last) {
		c->records++;
		err = model_record(c->model, &r);
	} else {
		c->finished = true;
		err = model_finish(c->model);
		if (!err)
			err = model_items_end(&c->items, model_stats(c->model)->last);
	}
	if (!err)
		return SQLITE_OK;
	/* the ops fail by lack of memory only */
	(void)tacho_no_memory(&d);
	return fail(c, &d);
}

/* Goes on to an item of the queue, or the end. */
static int go_on(struct sql_model_cursor *c)
{
	struct model_item_list *queue = &c->items.queue;

	if (!c->left) {
		scan_end(c);
		return SQLITE_OK;
	}
	while (queue->at == queue->nr) {
		int rc;

		queue->at = queue->nr = 0;
		if (c->finished) {
			scan_end(c);
			return SQLITE_OK;
		}
		rc = feed(c);
		if (rc != SQLITE_OK)
			return rc;
	}
	c->left--;
	c->rows++;
	return SQLITE_OK;
}

static int model_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			sqlite3_value **argv)
{
	struct sql_model_cursor *c = cursor_of(cursor);
	struct tacho_diag d = { 0 };
	int rc;

	(void)text;
	scan_end(c);
	sql_plan_release(&c->plan);
	rc = sql_plan_read(&c->plan, number, argc, argv);
	if (rc != SQLITE_OK || c->plan.nothing || !c->plan.limit)
		return rc;
	if (begin_scan(c, &d))
		return fail(c, &d);
	c->at_end = false;
	return go_on(c);
}

static int model_next(sqlite3_vtab_cursor *cursor)
{
	struct sql_model_cursor *c = cursor_of(cursor);

	c->items.queue.at++;
	return go_on(c);
}

static int model_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->at_end;
}

static int model_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	struct sql_model_cursor *c = cursor_of(cursor);

	return sql_item_value(c, ctx, &c->vtab->table->column[column]);
}

static int model_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	const struct sql_model_cursor *c = cursor_of(cursor);

	*rowid = (sqlite3_int64)c->items.queue.list[c->items.queue.at].serial;
	return SQLITE_OK;
}

const sqlite3_module sql_model_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = sql_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = model_open,
	.xClose = model_close,
	.xFilter = model_filter,
	.xNext = model_next,
	.xEof = model_eof,
	.xColumn = model_column,
	.xRowid = model_rowid,
};
