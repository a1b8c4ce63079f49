/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - batches that several threads make, in the order of the trace.
 *
 *	columns_ahead_init();  columns_ahead_next() until it returns 0;  then the caller reads the
 *	rest of the stream himself;  columns_ahead_release() at any time
 *
 * 1. Who does what
 *	The first columns_ahead_next() divides the stream into slices (stream/parallel.h, 7) and
 *	starts the workers.  A worker has a view of the stream, a selection, and a fill (fill.h)
 *	with a table, plans and dictionaries of its own; it shares the layout, which does
 *	not change.  It reads a slice to its end and exports all its batches into the unit of the
 *	slice.  Exported arrays own their memory (columns.h, 2), so they are handed from the
 *	worker to the caller, and from there to the consumer, without a copy; the worker's
 *	dictionary goes on growing behind what they see.
 *
 * 2. What is as with one thread: the rows, their order, their values, the first error and the
 *	rows before it.  What may differ: where batches end, because one ends with each slice,
 *	and the order of texts in dictionaries.
 *
 * 3. When threads are there
 *	From the first columns_ahead_next() until the one that returns 0, or until
 *	columns_ahead_release(); only if the stream may have them (tacho_stream_set_threads()),
 *	and in no forked child.  Between calls they work until the slices that wait are twice as
 *	many as threads, and sleep then.
 */
#ifndef TACHO_COLUMNS_AHEAD_H
#define TACHO_COLUMNS_AHEAD_H

#include "columns/fill.h"
#include "stream/parallel.h"
#include "tacho/columns.h"

/* The batches of a slice. */
struct columns_unit {
	struct ArrowArray *batch;
	uint32_t at, nr, room;		/* those before `at` were handed out */
};

struct columns_ahead {
	struct columns_fill *fill;	/* the caller's: what its workers' are made like */
	struct tacho_slices *slices;	/* NULL: there are no workers */
	bool begun;
	struct columns_unit unit;	/* the slice that is handed out */
};

/* fill is complete, its selection open, and both outlive *a. */
void columns_ahead_init(struct columns_ahead *a, struct columns_fill *fill);
void columns_ahead_release(struct columns_ahead *a);

/*
 * The next batch.  1 and *out; 0: the fill goes on, from where the stream stands now; or a negative
 * errno with *d filled in: the stream could not be placed.
 */
int columns_ahead_next(struct columns_ahead *a, struct ArrowArray *out, struct tacho_diag *d);

#endif
