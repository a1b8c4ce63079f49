/* SPDX-License-Identifier: MIT */
/*
 * <ltt/tracer.h> - the commands of LTT's daemon to the tracer.
 *
 * Link with -ltacho-ltt.  LTT's daemon opened the tracer's device and sent commands by ioctl();
 * trace_control() executes the same commands, with the same numbers:
 *
 *	trace_event_mask some = TRACE_EVENT_BIT(TRACE_CUSTOM) | TRACE_EVENT_BIT(TRACE_NEW_EVENT);
 *
 *	trace_control(FLIGHT_HANDLE, TRACER_CONFIG_EVENTS, (unsigned long)&some);
 *	trace_control(FLIGHT_HANDLE, TRACER_CONFIG_DETAILS, (unsigned long)&some);
 *	trace_control(FLIGHT_HANDLE, TRACER_START, 0);
 *	...
 *	$ tracedaemon -j crash.ltt	writes its contents, also after the program has ended
 *
 * Handles
 *
 *	TRACE_HANDLE	all traces (see <ltt/trace.h>) in discard mode.
 *			The daemon, or `tacho record`, begins and ends one
 *	FLIGHT_HANDLE	all traces in overwrite mode.  START creates one, the session
 *			"ltt-flight", if there is none
 *
 * Masks and filters belong to the trace.  They apply to all programs, immediately and until
 * the trace ends, and can be changed while it runs.  They select program events.  The recorder
 * selects kernel events; the files of tracedaemon exclude kernel events after a CHANGE_MASK
 * that disables them.
 *
 * In a trace with filters, an event is recorded if all filters match the process that
 * generates it: its id, its process group, its real user and group.  A SCHEDCHANGE is also
 * recorded if they match the process that it switches to.  CHANGE_MASK is always recorded.
 *
 * The trace writer generates HEARTBEATs, which mark wraps of 32-bit times, where they are
 * needed; trace_event(TRACE_HEARTBEAT, NULL) generates another one.
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
 * STOP		Stops recording in the traces.  Destroys "ltt-flight" and its contents
 * START	Starts recording again after STOP or PAUSE; -EBUSY: no trace is stopped.
 *		FLIGHT_HANDLE: creates "ltt-flight", as configured, if there is no trace;
 *		-ENOSPC: no room for its buffers
 * PAUSE, UNPAUSE	As STOP and START, but "ltt-flight" remains, and UNPAUSE is not an error
 *		if no trace is stopped
 */
#define TRACER_START			TRACER_COMMAND(0)
#define TRACER_STOP			TRACER_COMMAND(1)
#define TRACER_PAUSE			TRACER_COMMAND(31)
#define TRACER_UNPAUSE			TRACER_COMMAND(32)

/*
 * These commands change the existing traces.  With FLIGHT_HANDLE and no trace, they
 * configure the next START of this process.
 *
 * DEFAULT	arg unused: all events (FLIGHT_HANDLE: ids 1 to 10) of all processes, with details
 * EVENTS	arg: const trace_event_mask *, the events
 * DETAILS	arg: const trace_event_mask *, the events with their struct
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
 * For "ltt-flight", before START: the size of a buffer in bytes (a power of two, 4096 or
 * more; default: 262144), and the number of buffers per CPU (default: 64).  -EINVAL for
 * TRACE_HANDLE: the recorder sets them.
 */
#define TRACER_CONFIG_MEMORY_BUFFERS	TRACER_COMMAND(3)
#define TRACER_CONFIG_N_MEMORY_BUFFERS	TRACER_COMMAND(22)

/* arg: uint64_t *, the number of lost events in all traces of the handle. */
#define TRACER_GET_EVENTS_LOST		TRACER_COMMAND(15)

/* arg: const trace_event_mask *: records CHANGE_MASK with it, then uses it. */
#define TRACER_SET_EVENT_MASK		TRACER_COMMAND(19)
/* arg: trace_event_mask *: the events enabled in any trace of the handle. */
#define TRACER_GET_EVENT_MASK		TRACER_COMMAND(20)

/*
 * trace_control - a command for LTT's tracer.
 *
 * handle: TRACE_HANDLE or FLIGHT_HANDLE.  command: TRACER_*.  arg: see the command; pointers
 * remain the caller's and are not kept.
 *
 * Any thread, not from a signal handler; commands of several processes are serialized.
 * Returns 0; -EACCES: no such handle; -ENOSYS: no such command; -EINVAL: an invalid
 * argument; -ENODEV: there is no trace; -EPERM: the run-time directory belongs to another
 * user; -ENOMEM, -ENOSPC; or an error listed for the command.
 */
int trace_control(unsigned int handle, unsigned int command, unsigned long arg);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
