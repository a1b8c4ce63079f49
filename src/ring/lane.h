/* SPDX-License-Identifier: MIT */
/* lane.h - the right to write to a lane, and commits with it.  For write.c and move.c. */
#ifndef TACHO_RING_LANE_H
#define TACHO_RING_LANE_H

#include "ring/write.h"

/* Where a commit goes, and how: by a restartable sequence, or under the lane's lock. */
struct tacho_lane_ref {
	struct tacho_ring *r;
	struct tacho_lane *lane;
	struct rseq *rs;	/* NULL: the lane's lock is held, or its CPU is offline */
	uint32_t nr;		/* lane number */
	uint64_t at;		/* of a late lane: time of the record; 0: read the clock */
};

/* The commit of W4 and S3 for either kind of lane: 0 when committed. */
int tacho_lane_commit(const struct tacho_lane_ref *ref, uint64_t expect,
		      const struct tacho_copy_range *range, uint64_t n, uint64_t next);

/*
 * Calls `step` with the right to write to a lane: on the lane's CPU, under the lane's lock, or on
 * this CPU if the lane's CPU is offline.  Repeats the call, up to a limit, while it returns
 * -EAGAIN. keep_lock: a lane with a lock stays locked.
 */
int tacho_lane_visit(struct tacho_ring *r, uint32_t nr,
		     int (*step)(const struct tacho_lane_ref *ref, void *arg),
		     void *arg, bool keep_lock);

/*
 * For ThreadSanitizer: orders reads before the reuse of the memory.  A reader discards what it
 * read from memory that a tool then reused (R3' of ring.h, section 9); ThreadSanitizer does not
 * know that.
 */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *at);
void __tsan_release(void *at);
#define lane_was_read(lane)	__tsan_release(&(lane)->moves)
#define lane_is_moved(lane)	__tsan_acquire(&(lane)->moves)
#else
#define lane_was_read(lane)	((void)0)
#define lane_is_moved(lane)	((void)0)
#endif

#endif
