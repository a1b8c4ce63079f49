/* SPDX-License-Identifier: MIT */
/*
 * <ltt/trace.h> - events of the Linux Trace Toolkit, from a program.
 *
 * Link with -ltacho-ltt (pkg-config tacho-ltt).  The names are those of LTT's kernel
 * interface and of its library for programs:
 *
 *	int id = trace_create_event("cache", "key %d: %s", CUSTOM_EVENT_FORMAT_TYPE_STR,
 *				    NULL);
 *	trace_schedchange change = { .out = 7, .in = 8, .out_state = 1 };
 *
 *	trace_std_formatted_event(id, 5, "hit");
 *	trace_event(TRACE_SCHEDCHANGE, &change);
 *
 *	$ tracedaemon run.ltt &			or: tacho record -e 'ltt:*' -o run.ltt
 *	$ ./program
 *	$ tracevisualizer run.ltt
 *
 * A *trace* is any recording that takes LTT's events, whoever began it.  Each has
 *
 *	an event mask	bit n: events of id n are recorded.  START, BUFFER_START and
 *			CHANGE_MASK always are
 *	a details mask	bit n: with their struct; else a record is its header word alone
 *	id filters	whose events are recorded
 *
 * for all programs: what began it says with which masks, these calls and those of
 * <ltt/tracer.h> change them.
 *
 * Ids of custom events are unique on the machine: those of a process lie at 256 times its
 * pid and up.  A process has at most TRACE_CUSTOM_EVENTS_MAX at a time, and makes as many
 * in all as fit there.
 *
 * All functions may be called by any thread, and none from a signal handler.  Errors are
 * negative errno values.
 */
#ifndef LTT_TRACE_H
#define LTT_TRACE_H

#include <sys/types.h>

#include <ltt/events.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define TRACE_CUSTOM_EVENTS_MAX	200

/*
 * trace_create_event - declares a custom event, and records its NEW_EVENT.
 *
 * type, desc and form are copied, and cut to the CUSTOM_EVENT_*_STR_LEN with their NUL;
 * NULL is "".  format_type: CUSTOM_EVENT_FORMAT_TYPE_.  desc is also the format of
 * trace_std_formatted_event().  Returns the id; -EINVAL for another format type,
 * -ENOMEM: no more ids, or no memory.
 */
int trace_create_event(const char *type, const char *desc, int format_type,
		       const char *form);

/* The same; the event goes when the process `owner` does. */
int trace_create_owned_event(const char *type, const char *desc, int format_type,
			     const char *form, pid_t owner);

/* Forgets an event.  Nothing is recorded; unknown ids are fine. */
void trace_destroy_event(int id);

/* Forgets all events of an owner. */
void trace_destroy_owners_events(pid_t owner);

/*
 * Records the NEW_EVENT of all events again, in all traces.  A trace that began after they were
 * made is told by itself, before the next custom event.
 */
void trace_reregister_custom_events(void);

/*
 * trace_std_formatted_event - records an event whose data is text: its desc as a printf()
 * format, with the arguments that it names, at most CUSTOM_EVENT_FINAL_STR_LEN bytes
 * with the NUL.  0; -ENOMEDIUM: there is no such event.
 */
int trace_std_formatted_event(int id, ...);

/*
 * trace_raw_event - records an event with size bytes of data, at most
 * CUSTOM_EVENT_MAX_SIZE; more is cut.  0; -ENOMEDIUM: there is no such event; -EINVAL: a
 * negative size.
 */
int trace_raw_event(int id, int size, const void *data);

/* ---- the kernel's own events ---- */

/* An event and its sub event, as they stand in a header word. */
#define TRACE_SUB(event_id, sub_id)	((unsigned int)(event_id) | (unsigned int)(sub_id) << 8)

#define TRACE_FILE_NAME_MAX	4095

/* Of FILE_SYSTEM, EXEC and OPEN.  event_data2 becomes the length of the name. */
struct trace_named_file {
	trace_file_system file;
	const char *name;	/* NULL: ""; TRACE_FILE_NAME_MAX bytes at most, more is cut */
};

/*
 * trace_event - records an event of an id of the kernel's, for programs that do what a kernel
 * does, and for those that play back what one did.
 *
 * event: an id from SYSCALL_ENTRY to NETWORK, or HEARTBEAT; with TRACE_SUB() where it has sub
 * events.  event_struct: the struct of <ltt/events.h> in the flavour of this machine, of
 * FILE_SYSTEM EXEC and OPEN struct trace_named_file; NULL for events without one.  It is not
 * kept.  0, also when no trace takes it; -EINVAL: there is no such event, or it is made by a
 * call of its own (NEW_EVENT, CUSTOM, CHANGE_MASK) or by who writes files (START, BUFFER_START,
 * BUFFER_END); or its struct is missing.  -ENOMEM.
 */
int trace_event(unsigned int event, const void *event_struct);

/* ---- callbacks ---- */

/*
 * What callbacks are given: of NEW_EVENT trace_new_event, of CUSTOM this, of CHANGE_MASK
 * trace_change_mask, of others what trace_event() was.
 */
struct trace_custom_event {
	trace_custom custom;
	const void *data;	/* custom.data_size bytes */
};

typedef void (*tracer_callback)(uint8_t event_id, void *event);

/*
 * trace_register_callback - has fn called after each event of this process with this id,
 * whether it is recorded or not; of several in the order in which they were registered.  fn may
 * call what is declared here, and does not change the struct.  0; -EINVAL: programs make
 * no events of this id; -ENOMEM.
 */
int trace_register_callback(tracer_callback fn, uint8_t event_id);

/* 0, or -ENOMEDIUM: it was not registered. */
int trace_unregister_callback(tracer_callback fn, uint8_t event_id);

/* ---- as LTT's library for programs has it: all -1 while not attached ---- */

/* 0. */
int trace_attach(void);
int trace_detach(void);

/* trace_raw_event(). */
int trace_user_event(int id, int size, const void *data);

/*
 * Another event mask for all traces: records CHANGE_MASK with it, then uses it.  Details masks
 * stay.  0; -ENODEV: there is no trace; -EPERM, -ENOMEM.
 */
int trace_set_event_mask(trace_event_mask mask);

/* What is on in any of them.  0, -ENODEV, -EPERM, -ENOMEM. */
int trace_get_event_mask(trace_event_mask *mask);

/* One bit of it, as these two: -EINVAL for an id that no event has. */
int trace_enable_event_trace(int event_id);
int trace_disable_event_trace(int event_id);

/* 1: some trace takes events of this id from this process; 0.  Costs some loads. */
int trace_is_event_traced(int event_id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
