// SPDX-License-Identifier: MIT
/* <tacho/sql.h>: handles, traces and their streams. */
#include "sql/tables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sized.h"
#include "base/text.h"
#include "sql/model.h"
#include "sql/overlap.h"
#include "sql/stack.h"

#define ARENA_MAX	((size_t)1 << 30)
/* The last member of version 1.0 ends here. */
#define STATS_SIZE_1_0	(offsetof(struct tacho_sql_stats, values) + sizeof(uint64_t))

uint32_t tacho_sql_version(void)
{
	return TACHO_SQL_VERSION;
}

/* ---- traces ----------------------------------------------------------------------- */

struct sql_trace *sql_find_trace(const struct tacho_sql *sql, const char *schema)
{
	for (struct sql_trace *t = sql->traces; t; t = t->next)
		if (!schema || !strcasecmp(t->schema, schema))
			return t;
	return NULL;
}

static void trace_free(struct sql_trace *t)
{
	struct sql_stream *next;

	for (struct sql_stream *s = t->idle; s; s = next) {
		next = s->next;
		app_trace_close(&s->trace);
		free(s);
	}
	for (size_t i = 0; i < SQL_NR_ROWS; i++)
		sql_rows_release(&t->rows[i]);
	sql_tracks_release(&t->tracks);
	sql_index_release(t);
	sql_stacks_release(&t->stacks);
	tacho_query_free(t->query);
	app_trace_close(&t->main);
	tacho_arena_release(&t->arena);
	free(t->schema);
	free(t->path);
	free(t);
}

void sql_trace_put(struct sql_trace *t)
{
	if (!--t->refs)
		trace_free(t);
}

static void unlink_trace(struct tacho_sql *sql, struct sql_trace *trace)
{
	struct sql_trace **p = &sql->traces;

	while (*p && *p != trace)
		p = &(*p)->next;
	if (!*p)
		return;
	*p = trace->next;
	trace->next = NULL;
	sql_trace_put(trace);
}

static void link_trace(struct tacho_sql *sql, struct sql_trace *trace)
{
	struct sql_trace **p = &sql->traces;

	while (*p)
		p = &(*p)->next;
	*p = trace;
}

/* The last part of a path, without what a name in SQL cannot have unquoted. */
static char *schema_of(const char *path)
{
	size_t len = strlen(path);
	const char *from;
	char *name;

	while (len > 1 && path[len - 1] == '/')
		len--;
	from = memrchr(path, '/', len);
	from = from && len > 1 ? from + 1 : path;
	if (!strncmp(from, "session:", 8))
		from += 8;
	len -= (size_t)(from - path);
	name = malloc(len + 2);
	if (!name)
		return NULL;
	*name = '_';
	memcpy(name + 1, from, len);
	name[len + 1] = '\0';
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	if (name[1] && !isdigit((unsigned char)name[1]))
		memmove(name, name + 1, len + 1);
	return name;
}

/* What a trace's sources can do. */
static void look_at_sources(struct sql_trace *t)
{
	const struct tacho_source *source;

	t->live = false;
	t->can_seek = t->has_places = t->has_packets = true;
	for (uint32_t i = 0; (source = tacho_stream_source(t->main.stream, i)); i++) {
		t->live |= source->ops->live;
		t->can_seek &= source->ops->seek && !source->ops->live;
		t->has_places &= source->ops->place != NULL;
		t->has_packets &= source->ops->packets != NULL;
	}
}

/* Opens the trace, which may be open: what it has is replaced if that succeeds. */
static int open_main(struct sql_trace *t, struct tacho_diag *d)
{
	struct app_trace opened = { .stream = NULL };
	struct tacho_query *query = NULL;
	int err = app_trace_open(&opened, t->path, t->flags, d);

	if (err)
		return err;
	if (tacho_query_new(&query, opened.stream)) {
		app_trace_close(&opened);
		return tacho_no_memory(d);
	}
	for (size_t i = 0; i < SQL_NR_ROWS; i++)
		sql_rows_release(&t->rows[i]);
	sql_tracks_release(&t->tracks);
	sql_index_release(t);
	sql_stacks_release(&t->stacks);
	tacho_query_free(t->query);
	app_trace_close(&t->main);
	t->main = opened;
	t->query = query;
	look_at_sources(t);
	return 0;
}

static int trace_new(struct sql_trace **trace, struct tacho_sql *sql, const char *path,
		     const char *schema, unsigned int flags, struct tacho_diag *d)
{
	struct sql_trace *t = calloc(1, sizeof(*t));

	*trace = t;
	if (!t)
		return tacho_no_memory(d);
	t->sql = sql;
	t->flags = flags;
	t->refs = 1;
	t->last_table = &t->tables;
	tacho_arena_init(&t->arena, ARENA_MAX);
	t->path = strdup(path);
	t->schema = schema ? strdup(schema) : schema_of(path);
	if (!t->path || !t->schema)
		return tacho_no_memory(d);
	return open_main(t, d);
}

static int exec(sqlite3 *db, char *text, struct tacho_diag *d)
{
	int rc = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	if (rc == SQLITE_NOMEM)
		return tacho_no_memory(d);
	if (rc != SQLITE_OK)
		return tacho_diag(d, rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? -EBUSY : -EINVAL,
				  0, "%s", sqlite3_errmsg(db));
	return 0;
}

static bool has_schema(sqlite3 *db, const char *name)
{
	return sqlite3_db_readonly(db, name) >= 0;
}

int sql_attach(struct tacho_sql *sql, const char *path, const char *schema,
	       unsigned int flags, const char **name, struct tacho_diag *d)
{
	struct sql_trace *t;
	int err;

	/* a rollback would take the tables away and leave the schema */
	if (!sqlite3_get_autocommit(sql->db))
		return tacho_diag(d, -EINVAL, 0,
				  "cannot add trace '%s' inside a transaction: commit it first",
				  path);
	err = trace_new(&t, sql, path, schema, flags, d);
	if (!err && has_schema(sql->db, t->schema))
		err = tacho_diag(d, -EEXIST, 0, "there is a schema '%s' already", t->schema);
	if (err) {
		if (t)
			sql_trace_put(t);
		return err;
	}
	/* what was detached behind our back */
	if (sql_find_trace(sql, t->schema))
		unlink_trace(sql, sql_find_trace(sql, t->schema));
	err = exec(sql->db, sqlite3_mprintf("attach ':memory:' as \"%w\"", t->schema), d);
	if (err) {
		sql_trace_put(t);
		return err;
	}
	link_trace(sql, t);
	err = sql_schema_make(t, d);
	if (err) {
		(void)exec(sql->db, sqlite3_mprintf("detach \"%w\"", t->schema), NULL);
		unlink_trace(sql, t);
		return err;
	}
	if (name)
		*name = t->schema;
	return 0;
}

int tacho_sql_attach(struct tacho_sql *sql, const char *path, const char *schema,
		     unsigned int flags, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };

	return sql_attach(sql, path, schema, flags, NULL, &d) ? tacho_error_from(error, &d) : 0;
}

int tacho_sql_detach(struct tacho_sql *sql, const char *schema, struct tacho_error *error)
{
	struct sql_trace *t = sql_find_trace(sql, schema);
	struct tacho_diag d = { 0 };

	if (!t || !has_schema(sql->db, schema))
		(void)tacho_diag(&d, -ENOENT, 0, "there is no trace '%s'", schema);
	else
		(void)exec(sql->db, sqlite3_mprintf("detach \"%w\"", schema), &d);
	if (d.err)
		return tacho_error_from(error, &d);
	unlink_trace(sql, t);
	return 0;
}

/* Whether a statement of the handle is running. */
static bool is_busy(const struct tacho_sql *sql)
{
	for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(sql->db, s));)
		if (sqlite3_stmt_busy(s))
			return true;
	return false;
}

int tacho_sql_refresh(struct tacho_sql *sql, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };

	for (struct sql_trace *t = sql->traces; t; t = t->next) {
		if (!t->live || !has_schema(sql->db, t->schema))
			continue;
		if (is_busy(sql)) {
			(void)tacho_diag(&d, -EBUSY, 0, "a statement is running: refresh when it "
					 "has ended");
			return tacho_error_from(error, &d);
		}
		/* a rollback would take new tables away */
		if (open_main(t, &d) ||
		    (sqlite3_get_autocommit(sql->db) && sql_schema_make(t, &d)))
			return tacho_error_from(error, &d);
	}
	return 0;
}

/* ---- streams ------------------------------------------------------------------------ */

int sql_stream_get(struct sql_trace *trace, struct sql_stream **stream, struct tacho_diag *d)
{
	struct sql_stream *s = trace->idle;

	if (!s)
		return sql_stream_new(trace, stream, d);
	trace->idle = s->next;
	s->next = NULL;
	*stream = s;
	return 0;
}

int sql_stream_new(struct sql_trace *trace, struct sql_stream **stream, struct tacho_diag *d)
{
	struct sql_stream *s = calloc(1, sizeof(*s));
	int err;

	*stream = NULL;
	if (!s)
		return tacho_no_memory(d);
	err = app_trace_open(&s->trace, trace->path, trace->flags, d);
	if (err) {
		free(s);
		return err;
	}
	s->fresh = true;
	*stream = s;
	return 0;
}

void sql_stream_put(struct sql_trace *trace, struct sql_stream *s, bool failed)
{
	if (!s)
		return;
	failed |= !trace->can_seek && !s->fresh;
	if (!failed) {
		failed = tacho_stream_narrow(s->trace.stream, NULL) ||
			 /* gives back the memory of its windows */
			 (!s->fresh && tacho_stream_seek(s->trace.stream, 0));
	}
	if (failed) {
		app_trace_close(&s->trace);
		free(s);
		return;
	}
	s->next = trace->idle;
	trace->idle = s;
}

int sql_measure(struct sql_trace *trace, struct tacho_diag *d)
{
	struct tacho_stream_info info;
	int err;

	if (trace->measured && !trace->live)
		return 0;
	err = tacho_stream_get_info(trace->main.stream, &info);
	if (err)
		return app_stream_failed(trace->main.stream, err, d);
	trace->begin = info.begin;
	trace->end = info.end;
	trace->measured = true;
	return 0;
}

int sql_find_first(struct sql_trace *trace, struct tacho_diag *d)
{
	struct sql_stream *s;
	struct tacho_record r;
	int status, err;

	if (trace->first_known)
		return 0;
	err = sql_stream_get(trace, &s, d);
	if (err || !s)
		return err;
	s->fresh = false;
	status = tacho_stream_next(s->trace.stream, &r);
	if (status == TACHO_STREAM_ERROR)
		err = app_stream_failed(s->trace.stream, 0, d);
	trace->first = status == TACHO_STREAM_RECORD ? r.time : 0;
	trace->first_known = !err && (!trace->live || trace->first);
	sql_stream_put(trace, s, err);
	return err;
}

bool sql_pulse(const struct tacho_sql *sql, uint64_t begin, uint64_t end, uint64_t now)
{
	if (sql->watch.progress && end > begin) {
		uint64_t done = now < begin ? 0 : now > end ? end - begin : now - begin;

		sql->watch.progress(sql->watch.arg, done, end - begin);
	}
	return !sql_cancelled(sql);
}

/* ---- rules of the model --------------------------------------------------------------- */

int sql_rules(struct tacho_sql *sql, struct tacho_diag *d)
{
	return sql->rules ? 0 : model_rules_new(&sql->rules, d);
}

int sql_add_rules(struct tacho_sql *sql, const char *text, struct tacho_diag *d)
{
	int err;

	if (sql->nr_readers)
		return tacho_diag(d, -EBUSY, 0, "a statement reads the model: add rules when it "
				  "has ended");
	err = sql_rules(sql, d);
	if (!err)
		err = model_rules_add(sql->rules, text, strlen(text), d);
	if (err == -ENOMEM)
		return tacho_no_memory(d);
	for (struct sql_trace *t = sql->traces; !err && t; t = t->next) {
		sql_tracks_release(&t->tracks);
		sql_index_release(t);
	}
	return err;
}

int tacho_sql_add_rules(struct tacho_sql *sql, const char *rules, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };

	return sql_add_rules(sql, rules, &d) ? tacho_error_from(error, &d) : 0;
}

/* ---- the handle ------------------------------------------------------------------------ */

bool sql_cancelled(const struct tacho_sql *sql)
{
	return sql->watch.cancelled && sql->watch.cancelled(sql->watch.arg);
}

int sql_vtab_error(sqlite3_vtab *vtab, int code, const struct tacho_diag *d)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", d->text);
	return d->err == -ENOMEM ? SQLITE_NOMEM : code;
}

void tacho_sql_watch(struct tacho_sql *sql, const struct tacho_sql_watch *watch)
{
	sql->watch = watch ? *watch : (struct tacho_sql_watch){ .arg = NULL };
}

int tacho_sql_fill_stats(const struct tacho_sql *sql, struct tacho_sql_stats *stats)
{
	struct tacho_sql_stats own = sql->stats;

	if (stats->struct_size < STATS_SIZE_1_0)
		return -EINVAL;
	own.struct_size = sizeof(own);
	tacho_sized_put(stats, stats->struct_size, &own, sizeof(own));
	return 0;
}

/* The destructor of the first module: all tables are disconnected. */
static void sql_free(void *arg)
{
	struct tacho_sql *sql = arg;

	while (sql->traces)
		unlink_trace(sql, sql->traces);
	model_rules_free(sql->rules);
	free(sql);
}

/* Whether the handle has the tables: only they know one of our functions. */
static bool is_open(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, "select tacho_version()", -1, &s, NULL);

	(void)sqlite3_finalize(s);
	return rc == SQLITE_OK;
}

static int sqlite_failed(sqlite3 *db, int rc, struct tacho_diag *d)
{
	return rc == SQLITE_NOMEM ? tacho_no_memory(d) :
	       tacho_diag(d, -EINVAL, 0, "%s", sqlite3_errmsg(db));
}

static int register_all(struct tacho_sql *sql)
{
	static const struct {
		const char *name;
		const sqlite3_module *module;
	} list[] = {
		{ "tacho_rows", &sql_rows_module },
		{ "tacho_hist", &sql_hist_module },
		{ "tacho_model", &sql_model_module },
		{ "tacho_track", &sql_track_module },
		{ "tacho_states", &sql_states_module },
		{ "tacho_frame", &sql_frame_module },
		{ "intervals_overlap", &sql_overlap_module },
		{ "span_join", &sql_span_module },
		{ "span_left_join", &sql_span_module },
		{ "span_outer_join", &sql_span_module },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < TACHO_ARRAY_SIZE(list); i++)
		rc = sqlite3_create_module(sql->db, list[i].name, list[i].module, sql);
	if (rc == SQLITE_OK)
		rc = sql_functions_register(sql);
	if (rc == SQLITE_OK)
		rc = sql_quantile_register(sql->db);
	return rc;
}

int tacho_sql_open(struct tacho_sql **sql, struct sqlite3 *db, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	struct tacho_sql *s;
	int rc;

	*sql = NULL;
	if (sqlite3_libversion_number() < SQL_SQLITE_MIN)
		(void)tacho_diag(&d, -ENOTSUP, 0, "SQLite %s is too old: 3.38 is needed",
				 sqlite3_libversion());
	else if (is_open(db))
		(void)tacho_diag(&d, -EEXIST, 0, "the handle has the tables of tacho already");
	if (d.err)
		return tacho_error_from(error, &d);
	s = calloc(1, sizeof(*s));
	if (!s) {
		(void)tacho_no_memory(&d);
		return tacho_error_from(error, &d);
	}
	s->db = db;
	/* frees s when it fails, too */
	rc = sqlite3_create_module_v2(db, "tacho_events", &sql_events_module, s, sql_free);
	if (rc == SQLITE_OK) {
		rc = register_all(s);
		if (rc != SQLITE_OK) {
			(void)sqlite_failed(db, rc, &d);
			(void)sqlite3_create_module(db, "tacho_events", NULL, NULL);
			return tacho_error_from(error, &d);
		}
		*sql = s;
		return 0;
	}
	(void)sqlite_failed(db, rc, &d);
	return tacho_error_from(error, &d);
}
