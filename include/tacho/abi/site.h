/* SPDX-License-Identifier: MIT */
/*
 * abi/site.h - the interface between an instrumented object and libtacho.
 *
 * Types and symbols only; the macros of <tacho/tracepoint.h> fill in these structs.
 * Each struct starts with its size, and new members are added only at the end, so objects
 * and libraries of different versions work together.
 *
 * The states of a tracepoint
 *	off	`state` points to two constant zeros inside the object.  The site
 *		costs three loads, an or and an untaken branch.  The third load is
 *		that of the semaphore, for tools that attach to the SDT note.
 *	known	tacho_object_register() moved `state` to two words in the
 *		process's file DIR/proc/<pid> (struct tacho_proc_state), where tools
 *		set bits.
 *	hit	the first word is not 0: the site's function builds the raw event
 *		on its stack and calls ops->write(), which reads the second word.
 *
 * Without libtacho at run time (TACHO_OPTIONAL) all tracepoints remain `off`.
 */
#ifndef TACHO_ABI_SITE_H
#define TACHO_ABI_SITE_H

#include "tacho/abi/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One field of an event, as a line of a kernel `format` file. */
struct tacho_event_field {
	const char *decl;	/* "int prio", "char comm[16]", "__data_loc char[] path" */
	uint32_t offset;	/* from the second word of the record on; >= 8 */
	uint32_t size;		/* bytes; 4 for __data_loc and __rel_loc */
	uint32_t is_signed;	/* 1 for a signed integer or element */
	uint32_t align;
};

/* The value of a name in print fmt: TRACE_DEFINE_ENUM and TRACE_DEFINE_SIZEOF. */
struct tacho_event_eval {
	const char *system;
	const char *name;	/* "RED", "sizeof(struct x)" */
	int64_t value;
};

struct tacho_event;
struct tacho_control;		/* abi/shm.h */

/* The calls that libtacho provides to objects.  Any thread, any signal handler. */
struct tacho_event_ops {
	uint32_t struct_size;
	uint32_t pad;

	/*
	 * Records one raw event of len bytes at raw (8 <= len <=
	 * TACHO_RAW_MAX, 8-aligned, room for len rounded up to 8), in each session
	 * that has it enabled.  Fills in the common fields.  Preserves errno.
	 * Counts events that cannot be recorded.
	 */
	void (*write)(struct tacho_event *ev, void *raw, size_t len);

	/*
	 * Returns memory for a raw event that is too large for the stack: len bytes,
	 * 8-aligned, or NULL (the loss is counted).  Release it with scratch_put()
	 * before the thread calls again.  Returns NULL in a signal handler that
	 * interrupts the owner.
	 */
	void *(*scratch_get)(struct tacho_event *ev, size_t len);
	void (*scratch_put)(void *raw);

	/*
	 * As write(), for events whose length is known at compile time: 8 bytes
	 * of common fields, and 1 to 4 words of payload.
	 */
	void (*write1)(struct tacho_event *ev, uint64_t a);
	void (*write2)(struct tacho_event *ev, uint64_t a, uint64_t b);
	void (*write3)(struct tacho_event *ev, uint64_t a, uint64_t b, uint64_t c);
	void (*write4)(struct tacho_event *ev, uint64_t a, uint64_t b, uint64_t c,
		       uint64_t d);

	/*
	 * As write(), but only in the sessions whose bits are set in mask, as in a
	 * state word; for callers that decide themselves which sessions get the event.
	 */
	void (*write_mask)(struct tacho_event *ev, void *raw, size_t len,
			   uint64_t mask);

	/*
	 * Returns this process's mapping of the session with this bit in state words, and
	 * maps it if necessary; NULL if there is no such session, or it cannot be mapped.
	 * The mapping remains; it is all 0 after the session was destroyed.  A caller that
	 * reads a lane's cursor after write() should use this mapping and not another one,
	 * because the processor forwards a store only to loads from the same address.
	 */
	struct tacho_control *(*control)(uint32_t bit);
};

enum tacho_event_flag {
	TACHO_EVENT_LIVE = 1,	/* registered: state and ops are set */
};

/* One tracepoint event.  Static in its object, written by libtacho. */
struct tacho_event {
	uint32_t struct_size;
	uint16_t flags;				/* enum tacho_event_flag */
	uint16_t semaphore;			/* impl/sdt.h; the kernel and debuggers change it */
	const uint64_t *state;			/* two words; never NULL */
	const struct tacho_event_ops *ops;	/* set before state leaves zero */
	uint32_t index;				/* in the process's file */
	uint32_t nr_fields;
	const char *system;
	const char *name;
	const struct tacho_event_field *fields;	/* common fields not included */
	const char *print_fmt;			/* the text after "print fmt: " */
	void *session;				/* private: the session of the last event */
};

#define TACHO_SEMAPHORE_AT	6	/* for the assembler */
TACHO_ABI_ASSERT(offsetof(struct tacho_event, semaphore) == TACHO_SEMAPHORE_AT,
		 "semaphore");

/* All tracepoints of one object (program or shared library). */
struct tacho_object {
	uint32_t struct_size;
	uint32_t registered;			/* private to libtacho */
	struct tacho_event *const *events;	/* NULL entries are skipped */
	struct tacho_event *const *events_end;
	const struct tacho_event_eval *const *evals;
	const struct tacho_event_eval *const *evals_end;
};

/*
 * tacho_object_register - register an object's tracepoints.
 *
 * Called by a constructor of the object.  Has no effect if the object is already
 * registered.  Enables events for existing sessions before it returns.  The object remains
 * the caller's and must exist until tacho_object_unregister().
 *
 * Context: any thread, but not a signal handler.
 *
 * Returns 0, or a negative errno if tracing is not possible (no run-time
 * directory, no memory); the sites then remain off and nothing is printed.
 */
int tacho_object_register(struct tacho_object *object);

/*
 * tacho_object_unregister - unregister an object that is unloaded.
 *
 * Called by its destructor.  No site of the object may be running.
 */
void tacho_object_unregister(struct tacho_object *object);

#ifdef __cplusplus
}
#endif

#endif
