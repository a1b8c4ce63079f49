/* SPDX-License-Identifier: MIT */
/* lane.h - the right to write a lane, and commits with it.  For write.c and move.c. */
#ifndef TACHO_RING_LANE_H
#define TACHO_RING_LANE_H

#include "ring/write.h"

/* Where a commit goes: the restartable way, or the plain one under a lock. */
struct tacho_lane_ref {
	struct tacho_ring *r;
	struct tacho_lane *lane;
	struct rseq *rs;	/* NULL: the lane's lock is held */
	uint32_t nr;		/* lane number */
	uint64_t at;		/* a late lane's: time of the record; 0: the clock says it */
};

/* S3 for either kind of lane: 0 when committed. */
int tacho_lane_commit(const struct tacho_lane_ref *ref, uint64_t expect,
		      const struct tacho_piece *piece, uint64_t n, uint64_t next);

/*
 * Tries `step` in a lane with the right to write it: on its CPU, under its
 * lock, or from anywhere when the CPU is offline.  As long as it returns -EAGAIN,
 * many times.
 */
int tacho_lane_visit(struct tacho_ring *r, uint32_t nr,
		     int (*step)(const struct tacho_lane_ref *ref, void *arg),
		     void *arg, bool keep_lock);

/*
 * For ThreadSanitizer, which does not know that a reader throws away (R3' of ring.h, section 9)
 * what it read of memory that a tool then used again: what was read comes before it.
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
