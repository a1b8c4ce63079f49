/* SPDX-License-Identifier: MIT */
/* cursor.h - one scan of a table of events, and how its records become values. */
#ifndef TACHO_SQL_CURSOR_H
#define TACHO_SQL_CURSOR_H

#include "sql/plan.h"

/* How the bytes of a field become a value. */
enum sql_how {
	SQL_HOW_ABSENT,
	SQL_HOW_INT,		/* one integer at a fixed place */
	SQL_HOW_REAL,
	SQL_HOW_STRING,
	SQL_HOW_BITMASK,
	SQL_HOW_INTS,		/* arrays: JSON */
	SQL_HOW_REALS,
	SQL_HOW_BYTES,
};

struct sql_bound_field {
	const struct tacho_field *field;
	enum sql_how how;
	struct tacho_name_table names;	/* SQL_FIELD_NAME */
};

/* A type of the cursor's stream: where each column's value is. */
struct sql_binding {
	struct sql_binding *next;
	const struct tacho_type *type;
	struct sql_bound_field field[];	/* by column */
};

/* What is known of a thread: a cache by its id. */
struct sql_task {
	bool known, named;
	int32_t tid, tgid;
	const struct tacho_source *source;
	char comm[24];
};

#define SQL_TASKS	256u
#define SQL_TEXT_MAX	((size_t)1 << 20)

struct sql_cursor {
	sqlite3_vtab_cursor base;
	struct sql_vtab *vtab;
	struct sql_stream *stream;	/* NULL: none yet */
	struct tacho_record record;
	const struct sql_binding *bound;	/* of the record at hand, or of an earlier one */
	bool at_end, failed, filters;
	bool takes_tasks;		/* some term is of pid or comm */
	bool takes_types;		/* types are tested here, not by the stream */
	uint64_t row, left;
	struct sql_plan plan;
	struct tacho_scope scope;
	struct sql_window *window;	/* window.h; NULL: none yet */
	bool has_window;		/* this scan reads through it */
	bool scanned;			/* it is not the cursor's first scan */
	struct sql_sample *sample;	/* of the table sample: stack.h; else NULL */
	uint32_t *cpu;			/* the scope's */
	struct sql_binding *bindings;
	uint64_t packets, records;	/* counted since xFilter: not in the stats yet */
	uint64_t values;
	uint64_t begin, end;		/* of the range, for progress */
	struct tacho_buf text;
	struct sql_task task[SQL_TASKS];
};

/* ---- value.c ---- */

/* The value of a column of the record at hand.  SQLite's code. */
int sql_value(struct sql_cursor *c, sqlite3_context *ctx, const struct sql_column *column,
	      uint32_t index);

/* Frees what was found out about the stream's types and threads. */
void sql_forget(struct sql_cursor *c);

/* The thread of the record at hand. */
const struct sql_task *sql_task_of(struct sql_cursor *c);

#endif
