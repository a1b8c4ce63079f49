/* SPDX-License-Identifier: MIT */
/*
 * observer.h - how library code says remarks and progress, and how it is cancelled.
 *
 * What takes long, or has something to say that is no error, takes a pointer to one of
 * these.  NULL means that nobody listens, and so does each function that is NULL.
 *
 *	note		a remark: one sentence as in diag.h (no capital, no full stop, no
 *			newline); the work goes on
 *	progress	done of total, in a unit that the function which calls it documents;
 *			total 0: not known.  Never decreases within one call
 *	cancelled	whether the caller wants the work to end.  It then ends at the next
 *			place where that is safe, with -ECANCELED
 *
 * All are called by the thread that does the work, between two steps of it, never from a
 * signal handler.  They may take their time (the work waits), and must not call back into the
 * object that is at work.  text is valid during the call.
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

/* A remark is cut at this many bytes, NUL included. */
#define TACHO_NOTE_MAX	4096

/* Says a remark, with printf's format.  o may be NULL. */
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

/* Says how far the work is; total 0: not known.  o may be NULL. */
static inline void tacho_observer_progress(const struct tacho_observer *o, uint64_t done,
					   uint64_t total)
{
	if (o && o->progress)
		o->progress(o->arg, done, total);
}

/* Whether the work is to end, with -ECANCELED.  o may be NULL: it is not. */
static inline bool tacho_observer_cancelled(const struct tacho_observer *o)
{
	return o && o->cancelled && o->cancelled(o->arg);
}

#endif
