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
 * A *trace* is any recording that has LTT's events enabled.  Each has
 *
 *	an event mask	bit n: events of id n are recorded.  START, BUFFER_START and
 *			CHANGE_MASK always are
 *	a details mask	bit n: with their struct; otherwise as a header word alone
 *	id filters	the processes, groups and users whose events are recorded
 *
 * They apply to all programs.  The process that begins the trace sets the masks; these
 * calls and those of <ltt/tracer.h> change them.
 *
 * Ids of custom events are unique on the machine: those of a process start at 256 times
 * its pid.  A process can have at most TRACE_CUSTOM_EVENTS_MAX at a time, and can create
 * as many in total as fit in that range.
 *
 * Any thread may call all functions, but not in a signal handler.  Errors are
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
 * type, desc and form are copied, and truncated to CUSTOM_EVENT_*_STR_LEN with their NUL;
 * NULL is "".  format_type: CUSTOM_EVENT_FORMAT_TYPE_.  desc is also the format of
 * trace_std_formatted_event().  Returns the id; -EINVAL for another format type,
 * -ENOMEM: no more ids, or no memory.
 */
int trace_create_event(const char *type, const char *desc, int format_type,
		       const char *form);

/* The same; the event is removed when the process `owner` ends. */
int trace_create_owned_event(const char *type, const char *desc, int format_type,
			     const char *form, pid_t owner);

/* Removes an event.  Nothing is recorded; unknown ids are ignored. */
void trace_destroy_event(int id);

/* Removes all events of an owner. */
void trace_destroy_owners_events(pid_t owner);

/*
 * Records the NEW_EVENT of all events again, in all traces.  This is not needed for a trace
 * that begins later, which gets them automatically before the next custom event.
 */
void trace_reregister_custom_events(void);

/*
 * trace_std_formatted_event - records an event whose data is text: its desc as a printf()
 * format, with its arguments, at most CUSTOM_EVENT_FINAL_STR_LEN bytes
 * with the NUL.  Returns 0; -ENOMEDIUM: no such event.
 */
int trace_std_formatted_event(int id, ...);

/*
 * trace_raw_event - records an event with size bytes of data, at most
 * CUSTOM_EVENT_MAX_SIZE; more is truncated.  Returns 0; -ENOMEDIUM: no such event;
 * -EINVAL: a negative size.
 */
int trace_raw_event(int id, int size, const void *data);

/* ---- the kernel's own events ---- */

/* An event and its sub event, as in a header word. */
#define TRACE_SUB(event_id, sub_id)	((unsigned int)(event_id) | (unsigned int)(sub_id) << 8)

#define TRACE_FILE_NAME_MAX	4095

/* For FILE_SYSTEM, EXEC and OPEN.  event_data2 is set to the length of the name. */
struct trace_named_file {
	trace_file_system file;
	const char *name;	/* NULL: ""; truncated to TRACE_FILE_NAME_MAX bytes */
};

/*
 * trace_event - records an event with a kernel id, for programs that do the work of a kernel,
 * and for programs that replay a trace.
 *
 * event: an id from SYSCALL_ENTRY to NETWORK, or HEARTBEAT; with TRACE_SUB() if it has sub
 * events.  event_struct: the struct of <ltt/events.h> in this machine's layout, for
 * FILE_SYSTEM EXEC and OPEN struct trace_named_file; NULL for events without one.  It is not
 * kept.  Returns 0, also if no trace records the event; -EINVAL: no such event, an event of
 * another call (NEW_EVENT, CUSTOM, CHANGE_MASK) or of the trace writer (START, BUFFER_START,
 * BUFFER_END), or a missing struct; -ENOMEM.
 */
int trace_event(unsigned int event, const void *event_struct);

/* ---- callbacks ---- */

/*
 * The argument of callbacks: for NEW_EVENT trace_new_event, for CUSTOM this struct, for
 * CHANGE_MASK trace_change_mask, for other events the argument of trace_event().
 */
struct trace_custom_event {
	trace_custom custom;
	const void *data;	/* custom.data_size bytes */
};

typedef void (*tracer_callback)(uint8_t event_id, void *event);

/*
 * trace_register_callback - calls fn after each event of this process with this id,
 * whether the event is recorded or not.  Several callbacks are called in the order of their
 * registration.  fn may call the functions of this header, and must not change the struct.
 * Returns 0; -EINVAL: programs cannot record events with this id; -ENOMEM.
 */
int trace_register_callback(tracer_callback fn, uint8_t event_id);

/* Returns 0, or -ENOMEDIUM: it was not registered. */
int trace_unregister_callback(tracer_callback fn, uint8_t event_id);

/* ---- LTT's library for programs: all return -1 while not attached ---- */

/* Return 0. */
int trace_attach(void);
int trace_detach(void);

/* As trace_raw_event(). */
int trace_user_event(int id, int size, const void *data);

/*
 * Sets the event mask of all traces: records CHANGE_MASK with it, then uses it.  Details
 * masks do not change.  Returns 0; -ENODEV: there is no trace; -EPERM, -ENOMEM.
 */
int trace_set_event_mask(trace_event_mask mask);

/* Returns in *mask the events enabled in any trace.  0, -ENODEV, -EPERM, -ENOMEM. */
int trace_get_event_mask(trace_event_mask *mask);

/* Set and clear one bit of it.  Errors as above; -EINVAL for an unknown id. */
int trace_enable_event_trace(int event_id);
int trace_disable_event_trace(int event_id);

/* Returns 1 if a trace records events of this id of this process, or 0.  A few loads. */
int trace_is_event_traced(int event_id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
