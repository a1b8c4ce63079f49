/* SPDX-License-Identifier: MIT */
/*
 * <ltt/trace.h> - custom events of the Linux Trace Toolkit, from a program.
 *
 * Link with -ltacho-ltt (pkg-config tacho-ltt).  The names are those of LTT's kernel
 * interface and of its library for programs; what is recorded goes to every session of
 * tacho in which ltt:new_event, ltt:custom and ltt:change_mask are on:
 *
 *	int id = trace_create_event("cache", "key %d: %s", CUSTOM_EVENT_FORMAT_TYPE_STR,
 *				    NULL);
 *	trace_std_formatted_event(id, 5, "hit");
 *
 *	$ tacho record -e 'ltt:*' -o run.ltt -- ./program
 *	$ tracevisualizer run.ltt
 *
 * Ids of custom events are unique on the machine: those of a process lie at 256 times its
 * pid and up.  A process has at most TRACE_CUSTOM_EVENTS_MAX at a time, and makes as many
 * in all as fit there.
 *
 * A mask, of this process, says which events it records (bit n: event id n); START,
 * BUFFER_START and CHANGE_MASK are always on in it.
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
 * Records the NEW_EVENT of all events again: for whoever begins to record after they were
 * made.  Happens by itself when recording of ltt:new_event was off and is on.
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

/* What callbacks are given: of NEW_EVENT trace_new_event, of CHANGE_MASK trace_change_mask. */
struct trace_custom_event {
	trace_custom custom;
	const void *data;	/* custom.data_size bytes */
};

typedef void (*tracer_callback)(uint8_t event_id, void *event);

/*
 * trace_register_callback - has fn called after each event of this process with this id
 * (NEW_EVENT, CUSTOM or CHANGE_MASK), whether it is recorded or not; of several in the order
 * in which they were registered.  fn may call what is declared here.  0; -EINVAL:
 * another id; -ENOMEM.
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

/* Records CHANGE_MASK with the new mask, then uses it.  0. */
int trace_set_event_mask(trace_event_mask mask);
int trace_get_event_mask(trace_event_mask *mask);

/* One bit of it: 0; -EINVAL for an id that no event has. */
int trace_enable_event_trace(int event_id);
int trace_disable_event_trace(int event_id);

/* 1 or 0. */
int trace_is_event_traced(int event_id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
