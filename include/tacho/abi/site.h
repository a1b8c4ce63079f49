/* SPDX-License-Identifier: MIT */
/*
 * abi/site.h - what an instrumented object and libtacho say to each other.
 *
 * Types and symbols only; the macros of <tacho/tracepoint.h> fill these structs
 * in.  Every struct begins with its size, new members are added at the end
 * only, so objects and libraries of different age work together.
 *
 * The life of a tracepoint
 *	off	state points at two constant zeros inside the object.  The site
 *		is three loads, an or and a branch not taken: the third load is
 *		that of the semaphore, for who attached himself to the SDT note.
 *	known	tacho_object_register() moved `state` to two words in the
 *		process's file DIR/proc/<pid> (struct tacho_proc_state), where tools
 *		set bits.
 *	hit	the first word is not 0: the site's function builds the raw event
 *		on its stack and calls ops->write(), which looks at the second.
 *
 * Without libtacho at run time (TACHO_OPTIONAL) nothing ever leaves `off`.
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

/* What TRACE_DEFINE_ENUM and TRACE_DEFINE_SIZEOF say: a name in print fmt. */
struct tacho_event_eval {
	const char *system;
	const char *name;	/* "RED", "sizeof(struct x)" */
	int64_t value;
};

struct tacho_event;
struct tacho_control;		/* abi/shm.h */

/* What libtacho gives to objects.  All calls: any thread, any signal handler. */
struct tacho_event_ops {
	uint32_t struct_size;
	uint32_t pad;

	/*
	 * Records one raw event of len bytes at raw (8 <= len <=
	 * TACHO_RAW_MAX, 8-aligned, room for len rounded up to 8), in each session
	 * that wants it.  The common fields are filled in.  Preserves errno.
	 * What cannot be recorded is counted.
	 */
	void (*write)(struct tacho_event *ev, void *raw, size_t len);

	/*
	 * Memory for a raw event that is too large for the stack: len bytes,
	 * 8-aligned, or NULL (the loss is counted).  Give it back with
	 * scratch_put() before the thread asks again.  A signal handler that
	 * interrupts the owner gets NULL.
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
	 * As write(), but in those sessions only whose bits are set in mask, as in a
	 * state word: for who judges by itself what a session shall have.
	 */
	void (*write_mask)(struct tacho_event *ev, void *raw, size_t len,
			   uint64_t mask);

	/*
	 * The session behind a bit of state words as it is mapped here, now if need be;
	 * NULL: there is none, or it cannot be had.  It stays mapped; all of it is 0
	 * when the session has been destroyed.  Who looks at a lane's cursor behind
	 * write() finds it sooner by this mapping than by one of his own: what was just
	 * stored is handed to a load from the same address only.
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
	uint16_t semaphore;			/* abi/sdt.h; the kernel and debuggers count it */
	const uint64_t *state;			/* two words; never NULL */
	const struct tacho_event_ops *ops;	/* set before state leaves zero */
	uint32_t index;				/* in the process's file */
	uint32_t nr_fields;
	const char *system;
	const char *name;
	const struct tacho_event_field *fields;	/* common fields not included */
	const char *print_fmt;			/* all after "print fmt: " */
	void *session;				/* libtacho's: who got the last one */
};

#define TACHO_SEMAPHORE_AT	6	/* for the assembler */
TACHO_ABI_ASSERT(offsetof(struct tacho_event, semaphore) == TACHO_SEMAPHORE_AT,
		 "semaphore");

/* All tracepoints of one object (program or shared library). */
struct tacho_object {
	uint32_t struct_size;
	uint32_t registered;			/* libtacho's */
	struct tacho_event *const *events;	/* NULL entries are skipped */
	struct tacho_event *const *events_end;
	const struct tacho_event_eval *const *evals;
	const struct tacho_event_eval *const *evals_end;
};

/*
 * tacho_object_register - make an object's tracepoints known.
 *
 * Called from a constructor of the object.  Registering twice does nothing.  Events
 * that sessions want already are on when it returns.  The object stays the
 * caller's and must live until tacho_object_unregister().
 *
 * Context: one thread or several, not from signal handlers.
 *
 * Returns 0, or a negative errno when tracing is not possible (no run-time
 * directory, no memory); the sites stay off and nothing is printed.
 */
int tacho_object_register(struct tacho_object *object);

/*
 * tacho_object_unregister - forget an object that goes away.
 *
 * Called from its destructor.  No site of the object may be running.
 */
void tacho_object_unregister(struct tacho_object *object);

#ifdef __cplusplus
}
#endif

#endif
