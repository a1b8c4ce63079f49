/* SPDX-License-Identifier: MIT */
/*
 * events.h - what the files after <tacho/events.h> share.
 *
 *	dynevent.c	commands: text, piece by piece
 *	synth.c		synthetic events of this process
 *	trace.c		tracing them, at once or piece by piece
 *	file.c		trace arrays (sessions) and event files
 *	kprobe.c	kprobe events, through the kernel
 *
 * All lists are under one mutex, which is never held while libtacho or a session is
 * called: its own lock is held over fork, and so is this one, in whatever order
 * the two were registered.
 */
#ifndef TACHO_COMPAT_KERNEL_API_EVENTS_H
#define TACHO_COMPAT_KERNEL_API_EVENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "engine/synth.h"
#include "tacho/abi/shm.h"
#include "tacho/abi/site.h"
#include "tacho/events.h"

/* A synthetic event of this process: its registration with libtacho, and its memory. */
struct tacho_user_event {
	struct tacho_user_event *next;
	const struct tacho_synth *synth;	/* the arena's */
	struct tacho_arena arena;
	struct tacho_event event;
	struct tacho_event *list[1];
	struct tacho_object object;
	unsigned int files;	/* that refer to it */
	bool ready;		/* registered, and not about to be deleted */
	bool dynamic;		/* has a field of variable length */
};

/* What a struct trace_event_file really is. */
struct tacho_event_file {
	struct trace_event_file file;
	struct tacho_user_event *event;	/* NULL: not a synthetic event of ours */
};

/* The lock of all lists here.  Held over fork. */
void tacho_events_lock(void);
void tacho_events_unlock(void);

/* The synthetic event called name, if it is ready; under the lock. */
struct tacho_user_event *tacho_user_event_find(const char *name);

/* The synthetic event of a file; NULL: none. */
struct tacho_user_event *tacho_file_event(const struct trace_event_file *file);

/* ---- kprobe.c: events of the kernel, at the top of tracefs ---- */

/* Whether the kernel has an event called so, and we may see it. */
bool tacho_kernel_event_known(const char *system, const char *event);

/* Switches it; 0 or a negative errno. */
int tacho_kernel_event_enable(const char *system, const char *event, bool on);

#endif
