/* SPDX-License-Identifier: MIT */
/*
 * control.h - filters and triggers that the running kernel evaluates itself, in
 * one of tacho's own tracing instances.
 *
 * The text is written unchanged to events/SYSTEM/EVENT/filter and .../trigger of the instance.
 * If the kernel rejects a text, its message and the column are read from the instance's error_log
 * and returned.
 */
#ifndef TACHO_TRACEFS_CONTROL_H
#define TACHO_TRACEFS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "tracefs/instance.h"
#include "tracefs/tracefs.h"

/* The file's name below an event. */
enum tacho_kernel_control {
	TACHO_KERNEL_FILTER,
	TACHO_KERNEL_TRIGGER,
	TACHO_KERNEL_HIST,	/* read only */
};

/* diag's offset when the kernel points at no place in the text. */
#define TACHO_KERNEL_NO_PLACE	SIZE_MAX

/*
 * tacho_kernel_control - write a filter or a trigger to all events that match.
 *
 * instance is the directory's name below instances/ (one of tacho's own; no other
 * is written to).  event is "system:event" with globs, or one word for either.
 * done (may be NULL) receives how many events accepted it.
 *
 * Returns 0 if at least one event accepted it, or a negative errno with d filled in, d->offset
 * being the column in text that the kernel points at, or TACHO_KERNEL_NO_PLACE:
 *	-ENOENT		no such instance, or no event matches
 *	-EINVAL		no event accepted it; d has the kernel's message, if any
 *	-EEXIST		an event has such a trigger already
 *	-EOPNOTSUPP	this kernel does not have the trigger (hist, snapshot); the engine can run
 *			it on the stream
 *	or another error of the kernel.
 */
int tacho_kernel_control(const struct tacho_tracefs *t, const char *instance,
			 enum tacho_kernel_control what, const char *event,
			 const char *text, uint32_t *done, struct tacho_diag *d);

/*
 * The same for those events that are enabled in an instance of this process, with one
 * write each.  -ENOENT: none of them matches.
 */
int tacho_kernel_control_enabled(const struct tacho_kernel *k,
				 enum tacho_kernel_control what,
				 const char *event, const char *text,
				 uint32_t *done, struct tacho_diag *d);

/*
 * Calls fn for every filter, or trigger, of the instance on events that match the glob `event`
 * (NULL: all), with one line of text each; for TACHO_KERNEL_HIST once for each event with
 * histograms, with its whole hist file.  Stops when fn returns not 0; returns that, or a negative
 * errno with d filled in.
 */
int tacho_kernel_controls(const struct tacho_tracefs *t, const char *instance,
			  enum tacho_kernel_control what, const char *event,
			  int (*fn)(const struct tacho_kernel_event *ev,
				    const char *text, void *arg),
			  void *arg, struct tacho_diag *d);

/* Whether an event is enabled in an instance, or a trigger there can enable it. */
bool tacho_kernel_records(const struct tacho_tracefs *t, const char *instance,
			  const char *system, const char *event);

#endif
