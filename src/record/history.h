/* SPDX-License-Identifier: MIT */
/*
 * history.h - what a flight recorder took out of memory and still needs.
 *
 * A dump freezes the session's buffers, and the next dump gives them back to the
 * writers; what is read of the kernel's buffers is no longer there.  So records that
 * one dump leaves out, or that the next one has to repeat, exist only here.
 *
 *	H1  collect: the session's buffers are frozen, then what the kernel has is
 *	    taken, then the frozen buffers are copied.  Nothing is stopped: records
 *	    that are written meanwhile are in the next collection.
 *	H2  find: when events of a name happened, by the records themselves.  The
 *	    time of any other copy of the event (a second session's) is not theirs.
 *	H3  each: the packets of a window of time, for a recorder to write.
 *	H4  trim: what no later dump can want is freed, and each stream keeps at most
 *	    its newest bytes, as many as its buffer in memory has.
 *
 * A lane that cannot be frozen (tacho_session_snapshot()) is read as it runs, from
 * where the collection before ended.
 *
 * Packets of a stream are numbered from the history's beginning, so in one trace
 * their numbers ascend although a lane's two buffers number by themselves.
 *
 * One thread uses a history.  Not for signal handlers.
 */
#ifndef TACHO_RECORD_HISTORY_H
#define TACHO_RECORD_HISTORY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/diag.h"
#include "tracefs/instance.h"
#include "kdata/tasks.h"
#include "session/session.h"

struct tacho_history;

/* Records of one packet, cut to a window. */
struct tacho_history_piece {
	struct tacho_packet head;	/* describes exactly these records */
	const void *data;
	size_t len;
};

/* Leaves out the records outside [from, to]; false when none is left. */
bool tacho_history_cut(struct tacho_history_piece *piece, uint64_t from, uint64_t to);

/*
 * tacho_history_new - an empty history of a session, an instance, or both.
 *
 * repeat: later windows need not be fresh, so what a window had is kept for them.
 * Session and instance stay the caller's and must outlive the history.  Returns 0, or a negative
 * errno with d filled in.
 */
int tacho_history_new(struct tacho_history **h, struct tacho_session *session,
		      const struct tacho_kernel *kernel, bool repeat,
		      struct tacho_diag *d);

/* NULL is fine. */
void tacho_history_free(struct tacho_history *h);

/* H1.  Returns 0, or a negative errno with d filled in. */
int tacho_history_collect(struct tacho_history *h, struct tacho_diag *d);

/* H1 of the kernel's alone: for a record that its writer had not committed yet. */
int tacho_history_collect_kernel(struct tacho_history *h, struct tacho_diag *d);

/*
 * tacho_history_find - H2: when events that glob means happened.
 *
 * stream: enum tacho_stream_id.  times gets a uint64_t in ticks for each that is
 * later than `after`, in order; without `repeat`, only those that no window
 * had.  Returns 0 or -ENOMEM.
 */
int tacho_history_find(const struct tacho_history *h, uint32_t stream,
		       const char *glob, uint64_t after, struct tacho_buf *times);

/* A window of time; both ends belong to it. */
struct tacho_history_window {
	uint64_t from, to;	/* ticks */
	bool fresh;		/* only what no earlier window had */
};

/*
 * tacho_history_each - H3: the records of a window, stream by stream.
 *
 * Returns 0 or what fn returned that was not 0.
 */
int tacho_history_each(struct tacho_history *h,
		       const struct tacho_history_window *w,
		       int (*fn)(void *arg, const struct tacho_history_piece *piece),
		       void *arg);

/* H4.  before: packets that end earlier go. */
void tacho_history_trim(struct tacho_history *h, uint64_t before);

/* Names of threads that the kernel's events told; the history's. */
struct tacho_ktasks *tacho_history_tasks(struct tacho_history *h);

/* Bytes in rings that were no records, since the last call. */
uint64_t tacho_history_damaged(struct tacho_history *h);

#endif
