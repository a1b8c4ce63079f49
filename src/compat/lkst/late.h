/* SPDX-License-Identifier: MIT */
/*
 * late.h - the kernel's events in LKST's buffers: L1..L5 of state.h.
 *
 * Only the pumping thread writes; other functions are for all.
 */
#ifndef TACHO_COMPAT_LKST_LATE_H
#define TACHO_COMPAT_LKST_LATE_H

#include "base/atomic.h"
#include "compat/lkst/state.h"
#include "session/view.h"

/* The late lane of an entry of cpu[]; UINT32_MAX: it has none. */
uint32_t lkst_late_lane(const struct lkst_state *s, const struct tacho_ring *r, uint32_t cpu);

/* The entry of cpu[] that the kernel's events of a CPU go to. */
uint32_t lkst_late_cpu(const struct lkst_state *s, const struct tacho_ring *r, uint32_t cpu);

/* How far a ring's buffer goes, as a cursor; 0: nothing was ever written to it. */
uint64_t lkst_ring_end(const struct tacho_ring *r, uint32_t lane, uint32_t ring, bool *open);

/* The last turn of a buffer in its CPU's lane. */
struct lkst_turn_now {
	uint64_t end;		/* a cursor */
	uint64_t begins;	/* number of its first sub-buffer */
	uint64_t left;		/* ticks: when it was shifted out; 0: it is being written */
	uint64_t last_sub;	/* number of the sub-buffer that end is in */
	uint64_t records;	/* number after its last record */
};
/* False: nothing was written to it since it was made. */
bool lkst_turn_now(struct tacho_view *v, uint32_t cpu, const struct lkst_buffer *b,
		   struct lkst_turn_now *t);

/* Number of the first kernel record of a turn; if it has none, of the next one. */
static inline uint64_t lkst_late_first(const struct lkst_buffer *b, uint64_t begins)
{
	if (!b)
		return 0;
	return tacho_load_acquire(&b->late_turn) == begins + 1 ?	/* [late-turn] */
	       tacho_load_relaxed(&b->late_from) : tacho_load_relaxed(&b->late_end);
}

/* ---- for the pump ---- */

/*
 * L1..L4: records what happened at `ticks` on the CPU of an entry of cpu[], whose late lane is
 * locked.  *full: that is to be looked at.  0 or a negative errno; what is lost is counted.
 */
int lkst_late_write(struct lkst_state *s, struct tacho_view *v, uint32_t cpu, const uint64_t *raw,
		    uint32_t words, uint64_t ticks, bool *full);

/* L5: the kernel's events that follow go on in the next buffer. */
void lkst_late_leave(struct lkst_state *s, struct tacho_view *v, uint32_t cpu);

/* Counts again what one that was killed had written. */
void lkst_late_settle(struct lkst_state *s, struct tacho_view *v, uint32_t cpu);

#endif
