/* SPDX-License-Identifier: MIT */
/*
 * view.h - an instance's records, of programs and of the kernel, as one stream.
 *
 * A reader that consumes takes inst->pipe itself, for each record; others compare with
 * copies of the marks, and take it when a mark changed.
 */
#ifndef TACHO_COMPAT_FTRACE_VIEW_H
#define TACHO_COMPAT_FTRACE_VIEW_H

#include "compat/ftrace/output.h"
#include "compat/ftrace/store.h"
#include "stream/stream.h"

enum tree_view {
	TREE_VIEW_NOW,		/* what there is; it ends */
	TREE_VIEW_LIVE,		/* AGAIN: nothing now */
	TREE_VIEW_SNAPSHOT,
};

struct tree_reader {
	struct tree_inst *inst;
	struct tacho_stream *stream;
	enum tree_view view;
	int32_t cpu;			/* -1: all */
	bool consume;
	bool has_kernel;		/* the kernel's records are in it */
	uint64_t until;			/* ticks: later records are not wanted */
	struct tree_swaps swaps;	/* inst's, when it was opened, and their turn */
	uint32_t swap_turn;
	struct tree_mark *at;		/* where it is, as inst->mark */
	struct tree_mark *seen;		/* inst->mark, as it was when its turn was that */
	struct tacho_clock_map clock;	/* the shown clock's */
	struct tree_symbols *symbols;	/* when they were asked for */
	uint64_t lost;			/* records lost before the next one */
	uint32_t slot;			/* of the last record's lane, among the marks */
	char probed[2 * TACHO_RULE_MAX];	/* "system.event" that was asked for last */
};

/* Takes inst->lock.  0 or -errno. */
int tree_reader_open(struct tree_reader *r, struct tree_inst *inst,
		     enum tree_view view, int32_t cpu, bool consume);
void tree_reader_close(struct tree_reader *r);

/*
 * The instance got its part of the kernel since, or a snapshot was taken: it takes a new reader
 * to read what is there now.
 */
bool tree_reader_is_partial(struct tree_reader *r);

/*
 * The next record that is not consumed: an enum tacho_stream_status.  record->lost is
 * what was lost before it.  Records of no CPU are the first one's.
 */
int tree_reader_next(struct tree_reader *r, struct tacho_record *record);

/*
 * Consumes the record that next() gave last, for a reader that does not do so by itself.
 * False: another reader has it by now.
 */
bool tree_reader_take(struct tree_reader *r, const struct tacho_record *record);

/*
 * How its records are printed, by the instance's options and clock now.
 */
void tree_reader_output(struct tree_reader *r, struct tacho_output_config *c);

/* What one CPU (-1: all) holds that is not consumed. */
struct tree_counts {
	uint64_t entries, bytes;
	uint64_t overrun;		/* overwritten since it was cleared */
	uint64_t dropped;		/* given up by writers */
	uint64_t read;			/* consumed */
	uint64_t oldest;		/* ticks; 0: nothing is there */
};
int tree_count(struct tree_inst *inst, int32_t cpu, struct tree_counts *c);

/*
 * Whether percent of a CPU's buffer, of programs or of the kernel, have records that are not
 * consumed.  As the kernel counts: sub-buffers.
 */
bool tree_has_filled(struct tree_inst *inst, uint32_t cpu, uint32_t percent);

/* With the option overwrite off: what was consumed of a CPU (-1: all) is free again. */
void tree_give_back(struct tree_inst *inst, int32_t cpu);

/* Grows when records come, and only then; the kernel is drained.  Takes inst->lock. */
uint64_t tree_activity(struct tree_inst *inst);

/* All that is there now is consumed, of one CPU (-1: all).  Takes the locks. */
void tree_clear(struct tree_inst *inst, int32_t cpu);

/*
 * A snapshot was taken, with all until end (ticks): what is consumed changes sides, too.
 * Readers that are open hand nothing more out.  Under inst->lock.
 */
void tree_snapshot_taken(struct tree_inst *inst, uint64_t end);

/*
 * All that the snapshot holds is consumed.  By reading it: what later goes into a
 * snapshot may be older than now.  Takes the locks.  0 or -errno.
 */
int tree_clear_snapshot(struct tree_inst *inst, int32_t cpu);

/* The clock that is shown: from ticks to its ns; or ticks are shown as they are. */
void tree_shown_clock(const struct tree_inst *inst, struct tacho_clock_map *m);
bool tree_clock_is_ticks(const struct tree_inst *inst);

/* A clock's value as it is shown. */
uint64_t tree_shown_time(const struct tree_inst *inst, uint64_t ticks);
bool tree_clock_in_ns(const struct tree_inst *inst);

#endif
