/* SPDX-License-Identifier: MIT */
/*
 * plan.h - how records of one type become values of columns: a list of ops.
 *
 * An op fills one column from a whole list of records (columns.h, 1).  Ops of fixed length come
 * first; those of variable length run row by row.
 */
#ifndef TACHO_COLUMNS_PLAN_H
#define TACHO_COLUMNS_PLAN_H

#include "columns/columns.h"
#include "columns/layout.h"
#include "columns/table.h"
#include "event/value_names.h"

enum columns_op_kind {
	/* of fields, fixed length */
	COLUMNS_OP_COPY,	/* width bytes */
	COLUMNS_OP_WIDEN,	/* an integer of width to 8 bytes */
	COLUMNS_OP_REAL,	/* float to double */
	COLUMNS_OP_BOOL,
	COLUMNS_OP_FIXED,	/* size bytes */
	COLUMNS_OP_CHARS,	/* char[size], at most 16, to an index */
	COLUMNS_OP_INDEX,	/* any other string to an index */
	COLUMNS_OP_NAME,	/* an integer to the index of its name */
	/* of the record */
	COLUMNS_OP_TIME,
	COLUMNS_OP_TICKS,
	COLUMNS_OP_LOST,
	COLUMNS_OP_CPU,
	COLUMNS_OP_PID,
	COLUMNS_OP_TGID,
	COLUMNS_OP_COMM,
	COLUMNS_OP_CONST,	/* the index of a text of the plan */
	/* of fields, variable length */
	COLUMNS_OP_TEXT,
	COLUMNS_OP_BYTES,
};

#define COLUMNS_OP_FIRST_VARIABLE	COLUMNS_OP_TEXT

/* A value whose index is known, of generation of its dictionary; key by key. */
struct columns_cached {
	uint64_t key[2];
	int32_t index;		/* -1: it has none */
	uint32_t generation;
};

#define COLUMNS_CACHED	256u

struct columns_op {
	enum columns_op_kind kind;
	uint32_t column;
	uint32_t offset, size;	/* bytes of the record that it needs at least */
	uint32_t width;
	bool is_signed;
	const struct tacho_field *field;
	const char *text;	/* CONST */
	int32_t index;		/* CONST, in generation of the dictionary */
	uint32_t generation;
	struct tacho_name_table names;
	struct columns_cached *cached;	/* COLUMNS_CACHED, or NULL */
};

struct columns_plan {
	const struct tacho_type *type;
	bool wanted;		/* the type is selected */
	uint32_t need;		/* bytes that all ops of fixed length look at */
	struct columns_op *op;
	uint32_t nr_ops, nr_fixed;
	/* the records of this run that are of the type, and long enough: their rows in it */
	uint32_t nr;
	uint16_t list[COLUMNS_RUN];
};

/* What is known of threads, of one source, in one batch. */
struct columns_task {
	int32_t tid, tgid;	/* tgid 0: not known */
	int32_t comm;		/* an index; -1: not known */
	bool known;
	bool has_comm;		/* comm was looked up */
};

#define COLUMNS_TASKS	1024u

/* What ops work with. */
struct columns_work {
	struct columns_table *table;
	struct tacho_stream *stream;
	const struct tacho_record *record;	/* of the run: row k is record[k] */
	uint32_t nr;				/* rows of the run */
	struct columns_task *task;		/* COLUMNS_TASKS, direct-mapped */
	const void *task_source;		/* the source that they are of */
};

/* Makes the plan of a type, without ops if it is not wanted.  NULL: no memory. */
struct columns_plan *columns_plan_new(const struct columns_layout *l,
				      const struct tacho_type *type, bool wanted);
void columns_plan_free(struct columns_plan *p);

/* Runs the ops of fixed length for the list of the plan.  0 or -ENOMEM. */
int columns_plan_run(struct columns_work *w, struct columns_plan *p);

/* Runs them for record k, which is shorter than p->need: those for which it is long enough. */
int columns_plan_run_short(struct columns_work *w, struct columns_plan *p, uint32_t k);

/* Runs the ops of variable length for record k.  0 or -ENOMEM. */
int columns_plan_run_variable(struct columns_work *w, const struct columns_plan *p, uint32_t k);

/* Forgets what is known of threads: a batch begins. */
void columns_work_forget(struct columns_work *w);

/* The thread of a record; its tgid is filled in. */
struct columns_task *columns_work_task(struct columns_work *w, int32_t tid);

#endif
