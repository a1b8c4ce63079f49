/* SPDX-License-Identifier: MIT */
/*
 * fill.h - reads records and fills a table with them, a batch at a time.
 *
 * A fill has all that changes while records are converted: caches, plans, the table.  The layout
 * is shared: several threads fill tables of one layout, each from a view of the stream (ahead.h).
 */
#ifndef TACHO_COLUMNS_FILL_H
#define TACHO_COLUMNS_FILL_H

#include "app/select.h"
#include "columns/layout.h"
#include "columns/plan.h"

/* What hands out runs of records: columns.h, 1. */
struct columns_reader {
	/*
	 * Fills in r[0] to r[*nr - 1], at most max, which are of one source and valid until the
	 * next call.  Returns an enum tacho_stream_status; ERROR: *d says why.
	 */
	int (*next)(struct columns_reader *reader, struct tacho_record *r, uint32_t max,
		    uint32_t *nr, struct tacho_diag *d);
	struct tacho_stream *stream;	/* for names of threads */
};

/* The reader of one thread: the stream's own runs. */
void columns_reader_init(struct columns_reader *reader, struct tacho_stream *stream);

/* Plans that are found without the map. */
#define COLUMNS_NEAR	64u

struct columns_fill {
	const struct columns_layout *layout;
	struct columns_reader *reader;
	struct app_select *select;	/* open */
	const struct app_ranges *pids;	/* processes; none: all */
	bool look;			/* select must look at each record */
	bool ordered;			/* what is too late is followed by nothing else */
	bool ended;
	struct tacho_diag diag;		/* why reading failed, after the rows so far */
	struct columns_table table;
	struct columns_work work;
	struct tacho_hashmap plans;	/* by type */
	struct columns_plan *near[COLUMNS_NEAR];	/* by type, direct-mapped; NULL: none */
	struct columns_plan *of[COLUMNS_RUN];	/* plans of the records */
	struct tacho_record record[COLUMNS_RUN];
};

/*
 * Makes a fill; what it is given must outlive it.  rows: of a batch.  Returns 0, or -ENOMEM with
 * nothing to release.
 */
int columns_fill_init(struct columns_fill *f, const struct columns_layout *layout,
		      struct columns_reader *reader, struct app_select *select,
		      const struct app_ranges *pids, uint32_t rows);
void columns_fill_release(struct columns_fill *f);

/* The reader has more records after its end. */
void columns_fill_again(struct columns_fill *f);

/*
 * Fills the table with the rows of the next batch.  Returns 1; 0: there are no more; or a negative
 * errno with *d filled in, which comes again.
 */
int columns_fill_batch(struct columns_fill *f, struct tacho_diag *d);

#endif
