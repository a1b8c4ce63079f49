/* SPDX-License-Identifier: MIT */
/*
 * pump.h - the kernel's events, from the kept instance of the session into LKST's buffers.
 *
 * The kernel records into its own ring independent of pumps.  A reader of LKST's buffers pumps
 * first (tacho_lkst_pump_once); daemons pump all the time.  Only one thread of all processes
 * pumps at a time: DIR/lkst.pump has its identity and the events in progress, so that after a
 * kill the next one continues. pump_priv.h has the design comment.
 *
 * A kernel event is written to the late lane of its own CPU, by a thread on that CPU, with its
 * original time, thread, process and ids, filtered by the maskset that was selected at that time,
 * into the buffer that was current at that time (state.h, 4).  Handlers of LKST work as in
 * programs; handlers of users run if they are in this process (modules that a daemon has loaded),
 * otherwise the event is recorded.
 *
 * The masksets decide which tracepoints are enabled: tacho_lkst_kernel_set().
 */
#ifndef TACHO_COMPAT_LKST_PUMP_H
#define TACHO_COMPAT_LKST_PUMP_H

#include "compat/lkst/lkst.h"

/*
 * Enables the tracepoints that either maskset word needs, and disables the others.  Returns 0;
 * -EACCES, -ENOENT ...: no kernel events, with d filled in.
 */
int tacho_lkst_kernel_set(struct tacho_lkst *l, uint64_t current, uint64_t or_current,
			  struct tacho_diag *d);

/* Removes the instance, if it exists.  Returns 0, or a negative errno: it stays. */
int tacho_lkst_kernel_remove(struct tacho_lkst *l);

/*
 * Moves the kernel's events into the buffers.  Returns 0; -EBUSY: another process pumps, and has
 * moved all events that existed at the call (or has made no progress for 10 s); else: no kernel
 * events.
 */
int tacho_lkst_pump_once(struct tacho_lkst *l);

struct tacho_lkst_pump;

/*
 * Starts threads that pump until they are stopped, or the session ends. l must not be closed
 * before.  If the process forks, its child has the instance's files open until an exec, and the
 * instance cannot be removed until then.
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
