/* SPDX-License-Identifier: MIT */
/*
 * check.h - checks the invariants I1 to I7 (ring.h, section 10) of a ring.
 *
 * For tests and tools; traced programs do not contain it.
 */
#ifndef TACHO_RING_CHECK_H
#define TACHO_RING_CHECK_H

#include "base/diag.h"
#include "ring/ring.h"

/* Bits of a set of violated invariants. */
#define TACHO_RING_I(n)		(1u << (n))

/*
 * tacho_ring_check - check the invariants of all lanes of a ring.
 *
 * Writers may be active: a lane that was changed during the check is checked again, and
 * skipped if it changes each time.  So the result is complete only for a ring at rest.  The
 * session must not be destroyed during the call.
 *
 * Returns the set of violated invariants, TACHO_RING_I(1) to TACHO_RING_I(7), 0 if all hold.
 * Then d says which invariant is violated first, in which lane, buffer and sub-buffer, and what
 * was found; its offset is the byte in the buffer, its error -EBADMSG.  A buffer that cannot be
 * mapped for lack of memory or descriptors is not checked; d has that error if there is no
 * violation before it.  d may be NULL.
 *
 * Context: tools; allocates no heap memory, makes system calls to map buffers.
 */
uint32_t tacho_ring_check(struct tacho_ring *r, struct tacho_diag *d);

/* Does the same for one lane. */
uint32_t tacho_ring_check_lane(struct tacho_ring *r, uint32_t lane, struct tacho_diag *d);

#endif
