/* SPDX-License-Identifier: MIT */
/*
 * control.h - filters and triggers that the running kernel evaluates itself, in
 * one of tacho's own tracing instances.
 *
 * The text goes as it is to events/SYSTEM/EVENT/filter and .../trigger of the
 * instance.  What the kernel says of a text it does not take, with the place in it, is
 * in the instance's error_log, and comes back as a sentence and a column.
 */
#ifndef TACHO_KERNEL_CONTROL_H
#define TACHO_KERNEL_CONTROL_H

#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "kernel/instance.h"
#include "kernel/tracefs.h"

/* What is written: the file's name below an event. */
enum tacho_kernel_control {
	TACHO_KERNEL_FILTER,
	TACHO_KERNEL_TRIGGER,
};

/*
 * tacho_kernel_control - write a filter or a trigger to all events that match.
 *
 * instance is the directory's name below instances/ (one of tacho's own; no other
 * is written to).  event is "system:event" with globs, or one word for either.
 * done (may be NULL) receives how many events took it.
 *
 * Returns 0 when one event took it, or a negative errno with d filled in, d->offset being
 * the column in text that the kernel points at:
 *	-ENOENT		no such instance, or no event matches
 *	-EINVAL		no event took it; d has the kernel's sentence
 *	-EOPNOTSUPP	this kernel does not know the trigger (hist, snapshot): the
 *			engine does it on the stream
 *	or what the kernel said.
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
 * Appends "SYSTEM:EVENT\tTEXT" lines for every event of the instance that has a
 * filter, or trigger.  0 or a negative errno.
 */
int tacho_kernel_controls(const struct tacho_tracefs *t, const char *instance,
			  enum tacho_kernel_control what, struct tacho_buf *out,
			  struct tacho_diag *d);

#endif
