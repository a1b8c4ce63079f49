/* SPDX-License-Identifier: MIT */
/*
 * tables.h - SQL over streams: the inside of <tacho/sql.h>.
 *
 *	sqlite3 *db ---- struct tacho_sql		one per handle
 *			   struct sql_trace		one per schema; tables and what is known
 *			     struct app_trace main	types, names, symbols
 *			     struct sql_stream *idle	streams for scans, used again
 *			     struct sql_table		columns of one table
 *	sqlite3_vtab  -- struct sql_vtab		a table as SQLite knows it
 *	cursor	      -- struct sql_cursor		one scan: a stream of its own
 *
 * 1. Tables
 *	A schema is an attached database in memory with one CREATE VIRTUAL TABLE for each table
 *	(schema.c). A table of *events* (events, loss, one per event type) is a scan of the
 *	stream: events.c; so is sample, of which frame is the companion: stack.h. A table of
 *	*items* (slice, thread_state, counter, flow, instant, gap) is a scan through the model,
 *	track is its list of tracks, and states() sums up: model.h. intervals_overlap() and
 *	span_join are of two tables, whatever they are: overlap.h. A table of *rows* (thread,
 *	process, cpu, packet, env, type, field) is a short list, made when it is first asked
 *	for: rows.c. hist() is a question of the control language: hist.c. Tables of items are
 *	those that model/items.h lists, the others are in `fixed` of schema.c, each kind with
 *	its module.
 *
 * 2. The life of a cursor
 *	C1  xOpen allocates the cursor, and no stream: SQLite opens cursors that it never uses.
 *	C2  xFilter takes an idle stream of the trace or opens one, narrows it to the plan
 *	    (tacho_stream_narrow()), seeks to the beginning of the range and goes to the
 *	    first row.  It may come many times (the inner table of a join); the stream is kept,
 *	    and only a live one is opened again.  Ranges of time that follow each other are read
 *	    through a window of the newest records: window.h.
 *	C3  xNext reads until a record is a row.  xColumn decodes one value of the record at
 *	    hand, which is valid until the next xNext.  Neither allocates; SQLite copies texts.
 *	C4  At its end a scan keeps its stream for the next xFilter; xClose puts the stream
 *	    back.  A stream that failed is closed instead.
 *	A value's way: column -> the binding of the record's type -> field -> bytes.  A binding
 *	is made when the first record of a type comes: streams of one trace have different
 *	struct tacho_type for the same event, and one event may have several layouts.
 *
 * 3. From constraint to seek, stop and selection (plan.c)
 *	xBestIndex is offered terms COLUMN OP VALUE.  It takes these, and says that SQLite need
 *	not test them again (omit):
 *	    time = >= > <= <	seek to the packet before, stop behind the last one: packets
 *				outside are not read
 *	    system, name, source = IN	the stream passes over the other types without merging
 *				them, which costs a look at size and type of each
 *	    cpu = IN		packets of other CPUs are not read, where a packet has one CPU
 *	    tid, pid, comm = IN	each record is looked at
 *	    LIMIT, OFFSET	if it has taken all other terms: the scan ends
 *	    ORDER BY time	rows come in order of time anyway
 *	A text is compared with BINARY only: a term with another collation is SQLite's.  IN comes
 *	as one list (sqlite3_vtab_in()), or the trace would be read once for each element.
 *	The plan is idxNum: a bit for each kind of term (enum sql_term), whose values follow in
 *	order of the bits, and a bit for each that is a list.  idxStr says the same to people
 *	who ask `explain query plan`, with the columns that the statement uses (colUsed).
 *	Values are decoded when xColumn asks for them, so a column that is not used costs nothing.
 *
 *	Costs.  A full scan costs as many units as the trace has events.  A time range divides
 *	that; other terms divide the number of rows and hardly the cost, as reading is
 *	most of it.  So of `a or b` SQLite makes one scan, and of time ranges joined by `or`
 *	several; those it joins by rowid, which is therefore the record's place in the trace.
 *	Where a format knows no places a range is not said to be cheap, and rowid counts rows.
 *
 * 4. Order.  Rows come as the stream has them: by time, equal times by file.  In a damaged
 *	trace records may be out of order; then a time range may miss those that come
 *	after a later one, as with `tacho report --time`.
 *
 * 5. Ownership.  The handle owns struct tacho_sql: SQLite calls its destructor after all tables
 *	are disconnected.  A trace is freed when it is detached and no vtab has it: `detach` in
 *	SQL is as good as tacho_sql_detach().  Cursors have streams, nothing else is shared.
 *
 * 6. Threads.  None, and none may be inside a handle at the same time as another.
 *
 * 7. Errors.  A call of SQLite's returns a code, and its sentence goes to the vtab's zErrMsg
 *	or to the function's result.  Damage in a trace is skipped and counted, as everywhere.
 *	What is no damage (memory, descriptors) ends the statement with an error.  Cancelling
 *	(tacho_sql_watch) is SQLITE_INTERRUPT.
 *
 * 8. Numbers.  SQLite's integers have 64 bits and a sign: an unsigned value of 2^63 or more
 *	comes out negative, as all addresses of the kernel; `printf('%x', v)` and sym() take it.
 */
#ifndef TACHO_SQL_TABLES_H
#define TACHO_SQL_TABLES_H

#include "app/find.h"
#include "base/arena.h"
#include "base/hashmap.h"
#include "event/value_names.h"
#include "model/items.h"
#include "query/query.h"
#include "sql/sqlite.h"
#include "stream/stream.h"
#include "tacho/sql.h"

/* ---- columns ------------------------------------------------------------------ */

enum sql_column_kind {
	SQL_TIME, SQL_CPU, SQL_PID, SQL_TID, SQL_COMM, SQL_SYSTEM, SQL_NAME, SQL_SOURCE,
	SQL_LOST, SQL_TEXT, SQL_CONTEXT, SQL_TICKS, SQL_BUFFER, SQL_RECORD,
	/* of samples: stack.h */
	SQL_EVENT_SYSTEM, SQL_EVENT_NAME, SQL_EVENT_RECORD, SQL_STACK, SQL_STACK_DEPTH,
	SQL_SYMBOL, SQL_MODULE, SQL_FOLDED,
	/* of items: model.h */
	SQL_TRACK, SQL_CATEGORY, SQL_UNTIL,
	SQL_ITEM,		/* what `of` says, and no term is of it */
	SQL_FIELD,		/* a field's value */
	SQL_FIELD_NAME,		/* its name by the print format's enum or flags */
};

struct sql_column {
	const char *name;	/* in SQL */
	enum sql_column_kind kind;
	bool hidden;		/* `select *` leaves it out */
	const char *decl;	/* "INTEGER", "TEXT", ... */
	const char *field;	/* SQL_FIELD, SQL_FIELD_NAME: name of the field */
	enum model_of of;	/* of a table of items */
};

enum sql_table_kind {
	SQL_TABLE_EVENTS, SQL_TABLE_LOSS, SQL_TABLE_SAMPLE, SQL_TABLE_EVENT,
	SQL_TABLE_THREAD, SQL_TABLE_PROCESS, SQL_TABLE_CPU, SQL_TABLE_PACKET, SQL_TABLE_ENV,
	SQL_TABLE_TYPE, SQL_TABLE_FIELD,
	SQL_TABLE_HIST,
	/* in the order of enum model_items_kind */
	SQL_TABLE_SLICE, SQL_TABLE_STATE, SQL_TABLE_COUNTER, SQL_TABLE_FLOW,
	SQL_TABLE_INSTANT, SQL_TABLE_GAP, SQL_TABLE_TRACK,
	SQL_TABLE_STATES, SQL_TABLE_FRAME,
};

/* A table of a trace.  Memory is the trace's arena. */
struct sql_table {
	struct sql_table *next;
	struct sql_table *next_named, *next_event;	/* of the same hash */
	const char *name;
	enum sql_table_kind kind;
	const char *system, *event;	/* SQL_TABLE_EVENT */
	struct sql_column *column;	/* of a table of events or of items, and track */
	uint32_t nr_columns;
};

/* ---- rows ------------------------------------------------------------------------ */

struct sql_cell {
	const char *text;	/* NULL: a number, or nothing */
	int64_t number;
	bool null;
};

/* A short table.  Texts are in its arena or borrowed from the trace. */
struct sql_rows {
	struct tacho_arena arena;
	struct sql_cell *cell;	/* row by row */
	uint32_t nr_columns;
	size_t nr, room;	/* rows */
	bool loaded;
	bool no_memory;
};

/* ---- tracks ---------------------------------------------------------------------- */

/* Tracks of a model that is gone.  Names are in the arena. */
struct sql_tracks {
	struct model_tracks tracks;
	struct tacho_arena arena;
	bool loaded;
};

/* ---- stacks ----------------------------------------------------------------------- */

/* The different call stacks of a trace, by number: stack.h. */
struct sql_stacks {
	struct tacho_arena arena;
	struct tacho_hashmap frames, by_frames;	/* by hash: lists */
	struct sql_stack **stack;
	uint32_t nr, room;
	bool begun;		/* there is an arena */
	bool complete;		/* all were read, and the numbers are those of the trace */
};

#define SQL_TABLE_HASH	4096u
#define SQL_TABLES_MAX	8192u	/* more event types are in `events` alone */

#define SQL_NR_ROWS	(SQL_TABLE_FIELD - SQL_TABLE_THREAD + 1)

struct index;

/* ---- a trace ----------------------------------------------------------------------- */

struct sql_stream {
	struct sql_stream *next;
	struct app_trace trace;
	bool fresh;		/* nothing of it was read */
};

struct sql_trace {
	struct sql_trace *next;
	struct tacho_sql *sql;
	char *schema, *path;
	unsigned int flags;	/* enum tacho_stream_flag */
	uint32_t refs;		/* the list's and one for each vtab */
	struct app_trace main;
	struct tacho_query *query;	/* names of addresses and system calls */
	bool live;
	bool can_seek, has_places, has_packets;
	struct sql_stream *idle;
	struct tacho_arena arena;	/* of tables */
	struct sql_table *tables, **last_table;
	struct sql_table *named[SQL_TABLE_HASH];	/* by name in lower case */
	struct sql_table *of_event[SQL_TABLE_HASH];	/* by system and event */
	uint32_t nr_tables;
	const struct tacho_type **type;	/* by name, while tables are made; else NULL */
	uint32_t nr_types;
	uint64_t begin, end;	/* ns since 1970, by packets; valid if measured */
	uint64_t first;		/* the first record's time, 0: there is none */
	bool measured, first_known;
	struct sql_rows rows[SQL_NR_ROWS];
	struct sql_tracks tracks;
	struct sql_stacks stacks;
	struct index *index;	/* index.c; NULL: there is none, or it was not asked for */
	bool index_asked;
	bool index_failed;	/* not used: damaged, or not of the whole trace */
};

struct tacho_sql {
	sqlite3 *db;
	struct sql_trace *traces;
	struct tacho_sql_watch watch;
	struct tacho_sql_stats stats;
	struct model_rules *rules;	/* NULL: not asked for yet */
	uint32_t nr_readers;		/* cursors that read with these rules */
	uint32_t nesting;		/* of statements inside statements: overlap.h */
};

/* SQLite's side of a table. */
struct sql_vtab {
	sqlite3_vtab base;
	struct sql_trace *trace;
	struct sql_table *table;
};

/* ---- sql.c ---- */

/* The trace of a schema, or NULL.  schema NULL: the first one attached. */
struct sql_trace *sql_find_trace(const struct tacho_sql *sql, const char *schema);

/* Drops a reference; the last one frees the trace. */
void sql_trace_put(struct sql_trace *trace);

/* A stream of the trace for one scan.  0, or a negative errno with d filled in. */
int sql_stream_get(struct sql_trace *trace, struct sql_stream **stream, struct tacho_diag *d);

/* A stream of which nothing was read.  As sql_stream_get(). */
int sql_stream_new(struct sql_trace *trace, struct sql_stream **stream, struct tacho_diag *d);

/* Gives it back; failed: it is closed.  NULL is fine. */
void sql_stream_put(struct sql_trace *trace, struct sql_stream *stream, bool failed);

/* Sets begin and end.  0, or the stream's error with d filled in. */
int sql_measure(struct sql_trace *trace, struct tacho_diag *d);

/* Sets first.  As sql_measure(). */
int sql_find_first(struct sql_trace *trace, struct tacho_diag *d);

/* Sets the sentence of a vtab's error, and returns the code. */
int sql_vtab_error(sqlite3_vtab *vtab, int code, const struct tacho_diag *d);

/*
 * What a scan's stream calls (tacho_scope.pulse): says the progress from begin to end, at now.
 * Returns whether the query is to go on.
 */
bool sql_pulse(const struct tacho_sql *sql, uint64_t begin, uint64_t end, uint64_t now);

/* Whether the query that runs is to end. */
bool sql_cancelled(const struct tacho_sql *sql);

/* tacho_sql_attach() with the diag; *name (may be NULL) is the schema, borrowed. */
int sql_attach(struct tacho_sql *sql, const char *path, const char *schema,
	       unsigned int flags, const char **name, struct tacho_diag *d);

/* The rules of the handle.  0, or -ENOMEM with d. */
int sql_rules(struct tacho_sql *sql, struct tacho_diag *d);

/* tacho_sql_add_rules() with the diag. */
int sql_add_rules(struct tacho_sql *sql, const char *text, struct tacho_diag *d);

/* ---- schema.c ---- */

/* Makes the tables that do not exist yet, in SQLite too.  0, or a negative errno with d. */
int sql_schema_make(struct sql_trace *trace, struct tacho_diag *d);

struct sql_table *sql_find_table(const struct sql_trace *trace, const char *name);

/* The table of an event, or NULL. */
const struct sql_table *sql_event_table(const struct sql_trace *trace, const char *system,
					const char *event);

/* xCreate of every module: finds the trace and the table. */
int sql_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
		sqlite3_vtab **vtab, char **error);
int sql_disconnect(sqlite3_vtab *vtab);

/* xDestroy and xRename of every module: "drop table" and "alter table" are refused. */
int sql_destroy(sqlite3_vtab *vtab);
int sql_rename(sqlite3_vtab *vtab, const char *name);

/* ---- rows.c ---- */

extern const sqlite3_module sql_rows_module;
extern const sqlite3_module sql_events_module;
extern const sqlite3_module sql_hist_module;
extern const sqlite3_module sql_model_module;
extern const sqlite3_module sql_track_module;
extern const sqlite3_module sql_states_module;

/* The declaration of a table of rows or of hist, for sqlite3_declare_vtab(). */
const char *sql_rows_declaration(enum sql_table_kind kind);
const char *sql_hist_declaration(void);
void sql_rows_release(struct sql_rows *rows);

/* ---- functions.c, quantile.c ---- */

/* Registers the functions.  SQLite's code. */
int sql_functions_register(struct tacho_sql *sql);
int sql_quantile_register(sqlite3 *db);

/*
 * A moment as text: see ts() in docs/sql.md.  Returns 0, or -EINVAL with d filled in, or the
 * trace's error.
 */
int sql_moment_parse(struct sql_trace *trace, const char *text, uint64_t *ns,
		     struct tacho_diag *d);

/* ns as people say it: "1.5 ms".  size: at least 32. */
void sql_duration_text(int64_t ns, char *to, size_t size);

#endif
