/* SPDX-License-Identifier: MIT */
/*
 * <tacho/sql.h> - the tables of a trace in an application's own SQLite handle.
 *
 * Link with -ltacho-sql -lsqlite3 (pkg-config tacho-sql).
 *
 *	struct tacho_error error;
 *	struct tacho_sql *sql;
 *	sqlite3 *db;
 *
 *	sqlite3_open(":memory:", &db);
 *	if (tacho_sql_open(&sql, db, &error) < 0 ||
 *	    tacho_sql_attach(sql, "my-trace", "t", 0, &error) < 0)
 *		...
 *	sqlite3_exec(db, "select name, count(*) from t.events group by name", ...);
 *	sqlite3_close(db);
 *
 * Each trace is a schema with read-only virtual tables.  They read the trace while a query
 * runs; nothing is copied.  docs/sql.md describes tables and functions.  The handle's own
 * databases are not changed: the schema is an attached database in memory.
 *
 * Context
 *	All calls on one handle, SQLite's included, are made by one thread at a time, whatever
 *	the threading mode of SQLite; different handles are independent.  No function may be
 *	called in a signal handler, or in a function that SQLite calls, except where it says so.
 *	Functions print nothing, start no thread and install no signal handler.
 *
 * Requires SQLite 3.38 or newer.
 */
#ifndef TACHO_SQL_H
#define TACHO_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "tacho/error.h"

#define TACHO_SQL_VERSION_MAJOR	1
#define TACHO_SQL_VERSION_MINOR	1
#define TACHO_SQL_VERSION \
	(TACHO_SQL_VERSION_MAJOR << 16 | TACHO_SQL_VERSION_MINOR)

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct sqlite3;
struct tacho_sql;

/* TACHO_SQL_VERSION of the library that runs: major << 16 | minor.  Any context. */
uint32_t tacho_sql_version(void);

/*
 * tacho_sql_open - register the tables and functions in a handle.
 *
 * Once per handle.  *sql belongs to the handle and is freed by sqlite3_close().  Returns 0, or a
 * negative errno with *error (may be NULL) filled in:
 *	-ENOTSUP	the SQLite that runs is too old
 *	-EEXIST		the handle has the tables already
 *	-ENOMEM
 */
int tacho_sql_open(struct tacho_sql **sql, struct sqlite3 *db, struct tacho_error *error);

/*
 * tacho_sql_attach - add a trace as a schema.
 *
 * path and flags: as of tacho_stream_open(), also "session:NAME"; a query of a live session reads
 * what is there when it begins.  schema: the name that queries use; NULL: made of the last
 * part of the path, with '_' for what is no letter, digit or '_'.  Both are copied.  Not inside
 * a transaction.  Returns 0, or a negative errno with *error (may be NULL) filled in:
 *	-EEXIST		there is a schema of that name
 *	-EINVAL		a transaction is open; or SQLite refuses, and the text is SQLite's
 *	others		as tacho_stream_open()
 */
int tacho_sql_attach(struct tacho_sql *sql, const char *path, const char *schema,
		     unsigned int flags, struct tacho_error *error);

/*
 * tacho_sql_detach - remove a schema and close its trace.
 *
 * No statement that uses it may be running.  Returns 0, -ENOENT, or -EBUSY, with *error
 * (may be NULL) filled in.
 */
int tacho_sql_detach(struct tacho_sql *sql, const char *schema, struct tacho_error *error);

/*
 * tacho_sql_refresh - add tables for the event types that live sessions got since.
 *
 * Between statements.  Schemas of traces do not change.  Inside a transaction no table is added:
 * the next call after it does that.  Returns 0, or a negative errno with *error (may be NULL)
 * filled in, and the tables are as before:
 *	-EBUSY		a statement is running
 *	others		as tacho_stream_open(): the session is gone
 */
int tacho_sql_refresh(struct tacho_sql *sql, struct tacho_error *error);

/*
 * tacho_sql_add_rules - add rules to the model of all traces of the handle (1.1).
 *
 * rules: lines of docs/model.md, such as "span order: shop:take -> shop:done by id"; copied.  They
 * apply before those that are there, from the next statement on.  In SQL: tacho_rule().
 * Returns 0, or a negative errno with *error (may be NULL) filled in, and nothing added:
 *	-EINVAL		wrong; the text says why
 *	-EBUSY		a statement reads a table of the model
 *	-ENOMEM
 */
int tacho_sql_add_rules(struct tacho_sql *sql, const char *rules, struct tacho_error *error);

/* What the library calls while a query reads a trace.  Members may be NULL. */
struct tacho_sql_watch {
	void *arg;	/* handed to the calls */
	/* How far the scan of a table is; total is never 0.  About once per packet. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	/* Whether the query is to end, with SQLITE_INTERRUPT. */
	bool (*cancelled)(void *arg);
};

/*
 * Sets what is called from now on; NULL: nothing.  *watch is copied.  The calls are made by the
 * thread that runs the statement and must not use the handle.
 */
void tacho_sql_watch(struct tacho_sql *sql, const struct tacho_sql_watch *watch);

/* What queries have cost since tacho_sql_open(). */
struct tacho_sql_stats {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_sql_get_stats() sets it */
	uint32_t scans;		/* of tables of events */
	uint64_t packets;	/* packets read, where the trace has packets */
	uint64_t records;	/* records looked at, those of types that were asked for */
	uint64_t rows;		/* rows handed to SQLite */
	uint64_t values;	/* values decoded */
};

/* tacho_sql_get_stats() for callers that set stats->struct_size; -EINVAL: too small. */
int tacho_sql_fill_stats(const struct tacho_sql *sql, struct tacho_sql_stats *stats);

/* Describes the scans so far.  stats need not be initialised.  Returns 0. */
static inline int tacho_sql_get_stats(const struct tacho_sql *sql,
				      struct tacho_sql_stats *stats)
{
	stats->struct_size = (uint32_t)sizeof(*stats);
	return tacho_sql_fill_stats(sql, stats);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
