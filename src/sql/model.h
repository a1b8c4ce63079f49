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
 *	I3  rowid is the number of the record that completed the item (of a counter: that has
 *	    the value; at the end: how many there are) and which of the items of the table that
 *	    record made, whatever passes.  A scan that begins in the middle gives the same.
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
 *	The index.  If the trace has an index of all of it and of the handle's rules, a scan
 *	with a lower bound of time begins at the checkpoint before it.  What was complete there
 *	began before the bound, so no row is missing.  The values of counters that hold there
 *	began before it, too.  Costs stay those of a pass: a bound that another table gives
 *	would begin a scan for each of its rows.  The index is looked for when it is first
 *	needed; one that fails later is not used any more, and the scan begins as without it.
 *	It stays open as long as cursors may have its names.
 *
 * 4. track is a list that the index has, or one pass makes, when it is first asked for.  It is
 *	kept until rules are added or a live session is refreshed, and found by number, so that it
 *	is cheap to join.
 *
 * 5. states(FROM, TO) sums thread_state per thread and state: states.c.  xFilter makes the whole
 *	pass, with a struct for each thread and state that occur; there is no queue.  It reads to
 *	the end of the trace: a state that reaches into the range may end at any time after it, and
 *	what comes later may say more about it (docs/model.md, switch).  So the sums are those of
 *	the rows of thread_state, cut at both ends.  The index has these rows, and gives those that
 *	touch the range; nothing else is read.  Where leaves are without items (index.h, 5)
 *	there is a pass.
 *
 * 6. Rules are the handle's.  They must not change while a model uses them: nr_readers counts
 *	cursors between xFilter and the end of their scan.
 */
#ifndef TACHO_SQL_MODEL_H
#define TACHO_SQL_MODEL_H

#include "base/buf.h"
#include "sql/plan.h"

#define SQL_ITEM_BITS	24	/* of a rowid: which of the items of a record */

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

/* ---- index.c ---- */

/*
 * The index of the whole trace and of the handle's rules, looked for once until
 * sql_index_release().  NULL: there is none, or it is not to be used.
 */
struct index *sql_index(struct sql_trace *trace);
void sql_index_release(struct sql_trace *trace);

/*
 * The tracks of the trace, called as they are at its end; names are the index's.  0; -ENOMEM;
 * -ENOENT: the index does not tell.
 */
int sql_index_tracks(struct sql_trace *trace, struct model_tracks *tracks);

/*
 * app_index_model() with the index that sql_index() gave.  0; -ENOMEM with d; -ENOENT: it failed
 * and is not used any more, and what config has may have been used.
 */
int sql_index_model(struct sql_trace *trace, const struct model_config *config, uint64_t time,
		    struct model **model, struct tacho_diag *d);

/* ---- track.c ---- */

void sql_tracks_release(struct sql_tracks *tracks);

/* ---- states.c ---- */

const char *sql_states_declaration(void);

/* ---- model.c ---- */

/*
 * A model over a new stream of the trace, which reads until scope->to; for a live trace, what
 * is there now.  It stands before the first record that is not before `from`, or earlier.
 * scope and ops are borrowed.  0, or a negative errno with d; *stream is to be put back as
 * failed either way.
 */
int sql_model_begin(struct sql_trace *trace, const struct tacho_scope *scope, uint64_t from,
		    const struct model_ops *ops, void *arg, struct sql_stream **stream,
		    struct model **model, struct tacho_diag *d);

/*
 * A whole pass: sql_model_begin(), all records, model_finish(), after which done(arg, model) may
 * still read what the model has.  Says the progress.  0, -ECANCELED, or a negative errno with d.
 */
int sql_model_pass(struct sql_trace *trace, const struct model_ops *ops, void *arg,
		   int (*done)(void *arg, const struct model *model), struct tacho_diag *d);

#endif
