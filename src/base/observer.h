/* SPDX-License-Identifier: MIT */
/*
 * observer.h - how library code reports notes and progress, and how it is cancelled.
 *
 * A function that takes long, or that reports notes, takes a pointer to one of these.  The
 * pointer may be NULL, and so may each member: then nothing is reported.
 *
 *	note		a note: one message as in diag.h (no capital, full stop or newline); the
 *			work continues
 *	progress	done of total, in a unit that the reporting function documents; total 0: not
 *			known.  Never decreases within one call
 *	cancelled	whether the caller wants the work to end.  The work then ends at the next
 *			safe place, with -ECANCELED
 *
 * All are called by the thread that does the work, between two steps of it, never from a
 * signal handler.  They may take long (the work waits), and must not call into the working
 * object.  text is valid during the call.
 */
#ifndef TACHO_BASE_OBSERVER_H
#define TACHO_BASE_OBSERVER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"

struct tacho_observer {
	void (*note)(void *arg, const char *text);
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	bool (*cancelled)(void *arg);
	void *arg;
};

/* A longer note is cut to this many bytes, NUL included. */
#define TACHO_NOTE_MAX	4096

/* Reports a note, with printf's format.  o may be NULL. */
TACHO_PRINTF(2, 3)
static inline void tacho_observer_note(const struct tacho_observer *o, const char *fmt, ...)
{
	char text[TACHO_NOTE_MAX];
	va_list ap;

	if (!o || !o->note)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	o->note(o->arg, text);
}

/* Reports the progress of the work; total 0: not known.  o may be NULL. */
static inline void tacho_observer_progress(const struct tacho_observer *o, uint64_t done,
					   uint64_t total)
{
	if (o && o->progress)
		o->progress(o->arg, done, total);
}

/* Whether the work must end, with -ECANCELED. o may be NULL: false. */
static inline bool tacho_observer_cancelled(const struct tacho_observer *o)
{
	return o && o->cancelled && o->cancelled(o->arg);
}

#endif
