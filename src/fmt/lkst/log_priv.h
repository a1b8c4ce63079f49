/* SPDX-License-Identifier: MIT */
/*
 * log_priv.h - the inside of struct lkst_log: cursors, merged by time.
 *
 * A cursor goes over records that ascend in time, a batch at a time.  What makes them is
 * a log file (log.c: a run of blocks each), or a source of tacho's (log_source.c: each part
 * twice, once for the kernel's events and once for the others; and, of a core dump that has
 * it, the static buffer).
 */
#ifndef TACHO_FMT_LKST_LOG_PRIV_H
#define TACHO_FMT_LKST_LOG_PRIV_H

#include "fmt/lkst/blocks.h"
#include "fmt/lkst/core.h"
#include "stream/stream.h"

/* A record with its buffer, where that differs from record to record. */
struct lkst_entry {
	struct lkst_record record;
	struct lkst_core_place place;	/* id: its buffer; the others of cores alone */
};

struct lkst_cursor {
	uint64_t ticks;		/* of the next record; !known: nothing earlier will come */
	bool known;
	bool own_buffer;	/* the batch is of struct lkst_entry, else of lkst_record */
	uint32_t index;		/* order at equal times */
	int32_t buffer;
	unsigned char *at;	/* next record */
	uint32_t left;		/* records from there on */

	/* the maker's */
	struct lkst_record *room;
	uint32_t next, run;		/* log file: block, and run */
	struct tacho_part *part;	/* source; NULL: the static buffer of a core */
	bool kernel;
	uint32_t entries;		/* room for so many */
	uint64_t counted;		/* number of the part's next record, plus 1 */
};

struct lkst_log {
	struct lkst_cursor *cursor;
	uint32_t nr;
	struct lkst_cursor **heap;
	uint32_t nr_heap;
	uint64_t bound;		/* the top may go on to here before the heap is looked at */
	struct tacho_diag why;
	uint64_t damaged, lost;

	/* The next batch of a cursor: 1, 0 at its end, or a negative errno with log->why. */
	int (*load)(struct lkst_log *log, struct lkst_cursor *c);

	bool is_file;
	struct lkst_blocks blocks;
	struct tacho_stream *stream[2];	/* of a source: for others, for the kernel's events */
	struct lkst_core *core;		/* what else a core has of LKST; or NULL */
	uint32_t core_source;		/* of that source alone are the records then */
	struct lkst_log_info info;	/* likewise; its counts are above */
	struct tacho_buf types;
};

/* Makes the cursors of what is not one of LKST's log files.  0, or -errno with a sentence. */
int lkst_log_open_source(struct lkst_log *log, const char *path, struct tacho_diag *d);
void lkst_log_free_source(struct lkst_log *log);

#endif
