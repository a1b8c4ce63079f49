/* SPDX-License-Identifier: MIT */
/*
 * history.h - records that a flight recorder has read and still needs.
 *
 * A dump freezes the session's buffers, and the next dump releases them to the writers; reading
 * the kernel's buffers consumes them.  So records that one dump omits, or that the next one must
 * repeat, exist only here.
 *
 *	H1  collect: the session's buffers are frozen, then the kernel's buffers are read, then
 *	    the frozen buffers are copied.  Recording continues: records that are written during
 *	    this are in the next collection.
 *	H2  find: the times of events of a name, from the records themselves.  Another copy of an
 *	    event (in a second session) has another time.
 *	H3  each: the packets of a window of time, for a recorder to write.
 *	H4  trim: records that no later dump can need are freed, and each stream keeps at most as
 *	    many of its newest bytes as its buffer in memory has.
 *
 * A lane that cannot be frozen (tacho_session_snapshot()) is read live, from the end of the
 * previous collection.
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
struct tacho_history_slice {
	struct tacho_packet head;	/* describes exactly these records */
	const void *data;
	size_t len;
};

/* Removes the records outside [from, to]; false: none is left. */
bool tacho_history_cut(struct tacho_history_slice *slice, uint64_t from, uint64_t to);

/*
 * tacho_history_new - an empty history of a session, an instance, or both.
 *
 * repeat: later windows may repeat records, so the records of a window are kept. Session and
 * instance stay the caller's and must outlive the history.  Returns 0, or a negative errno with d
 * filled in.
 */
int tacho_history_new(struct tacho_history **h, struct tacho_session *session,
		      const struct tacho_kernel *kernel, bool repeat,
		      struct tacho_diag *d);

/* Frees a history.  Ignores NULL. */
void tacho_history_free(struct tacho_history *h);

/* H1.  Returns 0, or a negative errno with d filled in. */
int tacho_history_collect(struct tacho_history *h, struct tacho_diag *d);

/* H1 for the kernel only: for a record that its writer had not committed before. */
int tacho_history_collect_kernel(struct tacho_history *h, struct tacho_diag *d);

/*
 * tacho_history_find - H2: find the times of events that match glob.
 *
 * stream: enum tacho_stream_id.  times receives a uint64_t in ticks for each event later than
 * `after`, in order; without `repeat`, only for those that were in no window.  Returns 0 or
 * -ENOMEM.
 */
int tacho_history_find(const struct tacho_history *h, uint32_t stream,
		       const char *glob, uint64_t after, struct tacho_buf *times);

/* A window of time; both ends belong to it. */
struct tacho_history_window {
	uint64_t from, to;	/* ticks */
	bool fresh;		/* only records that were in no earlier window */
};

/*
 * tacho_history_each - H3: call fn for the records of a window, stream by stream.
 *
 * Returns 0, or the first result of fn that is not 0.
 */
int tacho_history_each(struct tacho_history *h,
		       const struct tacho_history_window *w,
		       int (*fn)(void *arg, const struct tacho_history_slice *slice),
		       void *arg);

/* H4.  before: packets that end earlier are freed. */
void tacho_history_trim(struct tacho_history *h, uint64_t before);

/* Thread names from the kernel's events; owned by the history. */
struct tacho_ktasks *tacho_history_tasks(struct tacho_history *h);

/* Bytes in rings that were not valid records, since the last call. */
uint64_t tacho_history_damaged(struct tacho_history *h);

#endif
