/* SPDX-License-Identifier: MIT */
/*
 * model.h - tables of items: slice, thread_state, counter, flow, instant, gap; track, states.
 *
 * 1. A scan is one pass of the model (model/model.h) over a stream of its own:
 *
 *	xNext: while no item is queued: read a record -> model_record() -> ops -> queue
 *
 *	    Columns, queue and values are those of model/items.h.
 *
 *	I1  The plan's terms are tested before an item is queued.  The queue has what one record
 *	    ended, at the end of the trace what was open: nothing depends on the number of
 *	    records.
 *	I2  The stream is opened for the scan and closed after it.  One that was read before may
 *	    know names of threads that the records did not tell yet, and the items would
 *	    depend on what was asked before.
 *	I3  rowid numbers the items of the table as the model makes them, whatever passes.
 *
 * 2. Where reading ends.  Items come in order of their ends, roughly: what ends with a loss, or
 *	with a guess about an earlier time, comes later.  A slice that begins in a range may end at
 *	any time after it, and one whose begin no record tells begins in the range only when its
 *	end comes.  So a term of time (it is of begins) ends no scan, but of instants.  What ends
 *	one is LIMIT, and the hidden column `until`, which is also the tables' argument:
 *	slice(X) is what slice would be if the trace had no record after X.
 *
 * 3. Costs.  Each scan is a full pass, whatever the terms are, and takes longer than one of
 *	events.  xBestIndex says so, and SQLite makes a table of items the outer loop of a join
 *	with events.  Two of them are joined through `materialized`.
 *
 * 4. track is a list that one pass makes when it is first asked for.  It is kept until rules are
 *	added or a live session is refreshed, and found by number, so that it is cheap to join.
 *
 * 5. states(FROM, TO) sums thread_state per thread and state: states.c.  xFilter makes the whole
 *	pass, with a struct for each thread and state that occur; there is no queue.  It reads to
 *	the end of the trace: a state that reaches into the range may end at any time after it, and
 *	what comes later may say more about it (docs/model.md, switch).  So the sums are those of
 *	the rows of thread_state, cut at both ends.
 *
 * 6. Rules are the handle's.  They must not change while a model uses them: nr_readers counts
 *	cursors between xFilter and the end of their scan.
 */
#ifndef TACHO_SQL_MODEL_H
#define TACHO_SQL_MODEL_H

#include "base/buf.h"
#include "sql/plan.h"

struct sql_model_cursor {
	sqlite3_vtab_cursor base;
	struct sql_vtab *vtab;
	struct sql_stream *stream;	/* NULL: no scan */
	struct model *model;
	struct model_ops ops;
	struct sql_plan plan;
	struct tacho_scope scope;
	struct model_items items;
	uint64_t left, rows, records, values;
	uint64_t last;			/* records after this time are not read */
	uint64_t begin, end;		/* for progress */
	bool finished;			/* the model was told that no record comes */
	bool at_end;
};

/* ---- item.c: items and their values ---- */

#define SQL_ITEM_COLUMNS	32u

/* Sets the columns of a table of items, or of track.  Returns how many; 0: it is neither. */
uint32_t sql_item_columns(enum sql_table_kind kind, struct sql_column to[SQL_ITEM_COLUMNS]);

/* Whether an item passes the terms of a cursor (arg). */
bool sql_item_wanted(void *arg, const struct model_item *item);

/* A value as SQLite's.  SQLite's code. */
int sql_item_result(sqlite3_context *ctx, const struct model_cell *cell);

/* The value of a column of the item at hand.  SQLite's code. */
int sql_item_value(struct sql_model_cursor *c, sqlite3_context *ctx,
		   const struct sql_column *column);

/* ---- track.c ---- */

void sql_tracks_release(struct sql_tracks *tracks);

/* ---- states.c ---- */

const char *sql_states_declaration(void);

/* ---- model.c ---- */

/*
 * A model over a new stream of the trace, which reads until scope->to; for a live trace, what
 * is there now.  scope and ops are borrowed.  0, or a negative errno with d; *stream is to be
 * put back as failed either way.
 */
int sql_model_begin(struct sql_trace *trace, const struct tacho_scope *scope,
		    const struct model_ops *ops, void *arg, struct sql_stream **stream,
		    struct model **model, struct tacho_diag *d);

/*
 * A whole pass: sql_model_begin(), all records, model_finish(), after which done(arg, model) may
 * still read what the model has.  Says the progress.  0, -ECANCELED, or a negative errno with d.
 */
int sql_model_pass(struct sql_trace *trace, const struct model_ops *ops, void *arg,
		   int (*done)(void *arg, const struct model *model), struct tacho_diag *d);

#endif
