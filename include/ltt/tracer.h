/* SPDX-License-Identifier: MIT */
/*
 * <ltt/tracer.h> - LTT's tracer, as its daemon told it what to do.
 *
 * Link with -ltacho-ltt.  LTT's daemon opened the tracer's device and gave commands by ioctl();
 * here trace_control() takes the same commands, with the same numbers:
 *
 *	trace_event_mask some = TRACE_EVENT_BIT(TRACE_CUSTOM) | TRACE_EVENT_BIT(TRACE_NEW_EVENT);
 *
 *	trace_control(FLIGHT_HANDLE, TRACER_CONFIG_EVENTS, (unsigned long)&some);
 *	trace_control(FLIGHT_HANDLE, TRACER_CONFIG_DETAILS, (unsigned long)&some);
 *	trace_control(FLIGHT_HANDLE, TRACER_START, 0);
 *	...
 *	$ tracedaemon -j crash.ltt	what it holds, also of a program that is dead by now
 *
 * What a handle stands for
 *
 *	TRACE_HANDLE	all traces (see <ltt/trace.h>) that keep everything until it is read.
 *			The daemon, or `tacho record`, begins and ends one
 *	FLIGHT_HANDLE	all traces that keep the newest.  START makes one, the session
 *			"ltt-flight", if there is none
 *
 * Masks and filters are the trace's: they hold for all programs, at once and also while it runs,
 * for as long as it is there.  They choose among events of programs; the kernel's are
 * chosen by who records them, except that what a CHANGE_MASK turns off ends in tracedaemon's
 * files for them, too.
 *
 * An event of a trace with filters is recorded if all of them match the process that makes it:
 * its id, its process group, its real user and group.  A SCHEDCHANGE is, too, if they match
 * the process that comes in.  CHANGE_MASK always is.
 *
 * HEARTBEATs, which tell that 32 bits of time went round, are made by who writes files, where
 * they are needed; trace_event(TRACE_HEARTBEAT, NULL) makes another one.
 */
#ifndef LTT_TRACER_H
#define LTT_TRACER_H

#include <ltt/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define TRACE_HANDLE	0
#define FLIGHT_HANDLE	1

#define TRACER_COMMAND(n)	(TRACER_MAGIC_NUMBER + (n))

/*
 * STOP		Keeps events out of the traces that record.  Destroys "ltt-flight", with what
 *		it holds
 * START	Lets them in again where STOP or PAUSE keeps them out; -EBUSY: nowhere.
 *		FLIGHT_HANDLE: makes "ltt-flight", as it was configured, if there is no trace;
 *		-ENOSPC: no room for its buffers
 * PAUSE, UNPAUSE	As STOP and START, but that "ltt-flight" stays, and that it is no error if
 *		nothing is kept out
 */
#define TRACER_START			TRACER_COMMAND(0)
#define TRACER_STOP			TRACER_COMMAND(1)
#define TRACER_PAUSE			TRACER_COMMAND(31)
#define TRACER_UNPAUSE			TRACER_COMMAND(32)

/*
 * What follows changes the traces that there are.  For FLIGHT_HANDLE without one, it
 * is what this process's next START begins with.
 *
 * DEFAULT	arg unused: all events, of FLIGHT_HANDLE ids 1 to 10; with details; everybody's
 * EVENTS	arg: const trace_event_mask *, which events
 * DETAILS	arg: const trace_event_mask *, which of them with their struct
 * PID, PGRP	arg: events of this process, of this process group only.  -EINVAL: 0, or both
 * GID, UID	arg: events of processes of this real group, user only
 */
#define TRACER_CONFIG_DEFAULT		TRACER_COMMAND(2)
#define TRACER_CONFIG_EVENTS		TRACER_COMMAND(4)
#define TRACER_CONFIG_DETAILS		TRACER_COMMAND(5)
#define TRACER_CONFIG_PID		TRACER_COMMAND(7)
#define TRACER_CONFIG_PGRP		TRACER_COMMAND(8)
#define TRACER_CONFIG_GID		TRACER_COMMAND(9)
#define TRACER_CONFIG_UID		TRACER_COMMAND(10)

/*
 * Of "ltt-flight", before START: bytes of a buffer (a power of two, 4096 or more; 262144 unless
 * told), and how many there are for each CPU (64).  -EINVAL for TRACE_HANDLE: whoever records
 * says it.
 */
#define TRACER_CONFIG_MEMORY_BUFFERS	TRACER_COMMAND(3)
#define TRACER_CONFIG_N_MEMORY_BUFFERS	TRACER_COMMAND(22)

/* arg: uint64_t *, events that were lost, of all traces of the handle. */
#define TRACER_GET_EVENTS_LOST		TRACER_COMMAND(15)

/* arg: const trace_event_mask *: records CHANGE_MASK with it, then uses it. */
#define TRACER_SET_EVENT_MASK		TRACER_COMMAND(19)
/* arg: trace_event_mask *: what is on in any trace of the handle. */
#define TRACER_GET_EVENT_MASK		TRACER_COMMAND(20)

/*
 * trace_control - a command for LTT's tracer.
 *
 * handle: TRACE_HANDLE or FLIGHT_HANDLE.  command: TRACER_*.  arg: as told there; pointers are
 * the caller's and are not kept.
 *
 * Any thread, not from a signal handler; of commands of several processes one goes
 * after the other.  Returns 0; -EACCES: another handle; -ENOSYS: another command; -EINVAL: an
 * argument that means nothing; -ENODEV: there is no trace; -EPERM: the run-time
 * directory is somebody else's; -ENOMEM, -ENOSPC; or what is told there.
 */
int trace_control(unsigned int handle, unsigned int command, unsigned long arg);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
