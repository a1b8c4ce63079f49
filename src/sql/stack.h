/* SPDX-License-Identifier: MIT */
/*
 * stack.h - call stacks: the tables sample and frame.
 *
 * 1. A sample is a stack record: ftrace:kernel_stack or tacho:user_stack, which the trigger
 *	`stacktrace` and `tacho record --stack` write behind the event that they are of.  The table
 *	is a table of events (tables.h) that passes over all other records.
 *
 * 2. The event.  A stack belongs to the last record before it of the same CPU and context
 *	(interrupted contexts wait below), of programs of the same thread; the rule is that of
 *	histograms by stack (query/pair.c).  There is a struct for each CPU and each thread of a
 *	program that had records:
 *
 *		lane	kernel: CPU; program: thread
 *		  event[context]	the record that may get a stack
 *
 *	S1  A record of context c forgets the events of contexts c and above in its lane; one
 *	    with losses before it all of them.
 *	S2  If it is a stack, and event[c] was of its thread, and nothing was lost, it is
 *	    that event's.  Else it has none: the event was not recorded (a trigger alone does
 *	    not record), or was lost.
 *	S3  Another record becomes event[c].
 *
 *	Only a query that uses a column of the event reads the other records.  In a range of time it
 *	begins SQL_SAMPLE_AHEAD before, as the event may come before the range.  What it has not
 *	seen it does not say.
 *
 * 3. Frames. The functions of the tracer at the innermost end of kernel stacks are left out. An
 *	address is looked up in the tables of the record's source, for programs in the mappings
 *	of the process at that time. Frames that are equal in all, and stacks with equal frames,
 *	are stored once, in struct sql_stacks of the trace: memory grows with the number of
 *	different stacks.
 *
 * 4. Numbers of stacks are the order in which they come in the trace: a query that uses them has
 *	all stacks read first, once.  In a live session those that come later get the next ones.
 */
#ifndef TACHO_SQL_STACK_H
#define TACHO_SQL_STACK_H

#include "sql/cursor.h"

#define SQL_SAMPLE_AHEAD	UINT64_C(1000000000)	/* ns */

struct sql_frame {
	struct sql_frame *next;		/* of the same hash */
	uint64_t address, offset;	/* offset: in the function */
	const char *symbol, *module, *file;	/* or NULL */
	uint32_t line;			/* 0: not known */
};

struct sql_stack {
	struct sql_stack *next;		/* of the same hash */
	uint32_t id, nr;
	const struct sql_frame *frame[];	/* innermost first */
};

/* What a scan of samples has besides its cursor. */
struct sql_sample;

/* NULL: no memory. */
struct sql_sample *sql_sample_new(void);
void sql_sample_free(struct sql_sample *sample);

/* Forgets all events: a scan begins. */
void sql_sample_reset(struct sql_sample *sample);

/* Whether a type is one of stacks. */
bool sql_sample_is_stack(const struct tacho_type *type);

/* Takes the record at hand.  1: it is a sample, 0: it is none, -ENOMEM. */
int sql_sample_take(struct sql_cursor *c);

/* The value of a column that is the sample's own.  SQLite's code. */
int sql_sample_value(struct sql_cursor *c, sqlite3_context *ctx, enum sql_column_kind kind);

/* Reads all stacks of a trace, if that was not done.  0, -ECANCELED, or an errno with d. */
int sql_stacks_load(struct sql_trace *trace, struct tacho_diag *d);
void sql_stacks_release(struct sql_stacks *stacks);

extern const sqlite3_module sql_frame_module;
const char *sql_frame_declaration(void);

#endif
