/* SPDX-License-Identifier: MIT */
/*
 * pump.h - the kernel's events, from the kept instance of the session into LKST's buffers.
 *
 * The kernel records into its own ring whether anybody pumps or not.  Whoever reads LKST's
 * buffers pumps first (tacho_lkst_pump_once); daemons pump all the time.  One thread of all
 * processes at a time does: DIR/lkst.pump says which, and what it has in its hands, so that the
 * next one goes on where it was killed.  pump_priv.h is the essay.
 *
 * A kernel event is written to the late lane of its own CPU, by a thread on that CPU, with its own
 * time, thread, process and ids in the record, after the maskset that was selected at its
 * time has been asked; into the buffer that was written at that time (state.h, 4).  Handlers of
 * LKST act as in programs; those of users act if they are of this process (modules that a
 * daemon has loaded), else the event is recorded.
 *
 * Which tracepoints are on follows the masksets: tacho_lkst_kernel_set().
 */
#ifndef TACHO_COMPAT_LKST_PUMP_H
#define TACHO_COMPAT_LKST_PUMP_H

#include "compat/lkst/lkst.h"

/*
 * Switches the tracepoints on that either maskset word wants, and the others off.
 * 0; -EACCES, -ENOENT ...: no kernel events here, with a sentence.
 */
int tacho_lkst_kernel_set(struct tacho_lkst *l, uint64_t current, uint64_t or_current,
			  struct tacho_diag *d);

/* The instance is removed, if there is one.  0, or a negative errno: it stays. */
int tacho_lkst_kernel_remove(struct tacho_lkst *l);

/*
 * Moves what the kernel has into the buffers.  0; -EBUSY: somebody else pumps, and has
 * moved all that was there at the call when this returns (or has not moved for 10 s); else no
 * kernel events.
 */
int tacho_lkst_pump_once(struct tacho_lkst *l);

struct tacho_lkst_pump;

/*
 * Threads that pump until they are stopped, or the session ends.  l is not to be closed
 * before.  A process that forks meanwhile: what it forks has the instance's files open until an
 * exec, and as long it cannot be removed.
 * 0, -EBUSY, or why there are no kernel events.
 */
int tacho_lkst_pump_start(struct tacho_lkst_pump **pump, struct tacho_lkst *l,
			  struct tacho_diag *d);
void tacho_lkst_pump_stop(struct tacho_lkst_pump *pump);

/*
 * The event types that come from the kernel: fn(number, tracepoint "system:event" or NULL where
 * this kernel has none, by default) until it returns not 0.
 */
int tacho_lkst_kernel_each(int (*fn)(uint32_t etype, const char *tracepoint, bool by_default,
				     void *arg), void *arg);

#endif
