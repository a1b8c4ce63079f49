/* SPDX-License-Identifier: MIT */
/*
 * dynevent.h - the kernel's dynamic events: make, list, and take away.
 *
 * They are written to three files at the top of tracefs; they belong to the
 * machine, not to an instance:
 *
 *	uprobe_events	probes in programs	CONFIG_UPROBE_EVENTS
 *	kprobe_events	probes in the kernel	CONFIG_KPROBE_EVENTS
 *	dynamic_events	all kinds; f, t and e only here
 *
 * Opening one of them to write afresh would take all events away, also those of
 * others: here they are always opened to append.  An event is made disabled;
 * enabling it, in an instance, is for whoever records (instance.h).  Taking one
 * away that somebody records fails with -EBUSY.
 *
 * error_log, at the top, says why the kernel refused a line.  It is read, never
 * cleared.  Somebody else's errors may come between: only an entry that came
 * while we asked, with our own text, is taken for the answer.
 *
 * One thread uses a struct tacho_tracefs at a time.
 */
#ifndef TACHO_TRACEFS_DYNEVENT_H
#define TACHO_TRACEFS_DYNEVENT_H

#include "tracefs/probe_spec.h"
#include "tracefs/tracefs.h"

/*
 * tacho_dynevent_add - make the event that a line describes.
 *
 * The line is parsed first (probe_spec.h).  Returns 0, or with d filled in, its
 * offset being the byte of the text that is wrong, or TACHO_PROBE_NO_COLUMN:
 *	-EINVAL, -E2BIG	see tacho_probe_parse(), or the kernel's own words
 *	-ENOSYS		this kernel has no such probes
 *	-EEXIST		there is such an event, of another kind or with other
 *			arguments
 *	-EACCES, -EPERM	not root
 *	-ENOENT		also: the kernel finds no such file or symbol
 */
int tacho_dynevent_add(const struct tacho_tracefs *t, const char *text,
		       struct tacho_diag *d);

/*
 * tacho_dynevent_list - all probes of the machine, whoever made them.
 *
 * A line of a kind that tacho does not know (synthetic and user events, and
 * what a newer kernel may have) is left out.  Memory comes from the arena.
 * Returns 0, *list and *nr, or a negative errno with d filled in.
 */
int tacho_dynevent_list(const struct tacho_tracefs *t, struct tacho_arena *arena,
			struct tacho_probe_spec **list, size_t *nr,
			struct tacho_diag *d);

/*
 * tacho_dynevent_del - take an event away, with all probes that it has.
 *
 * kind: one of its probes', as the list tells it.  Returns 0, or with d filled
 * in: -ENOENT, -EBUSY (somebody has it enabled), -EACCES, -EPERM, -ENOSYS.
 */
int tacho_dynevent_del(const struct tacho_tracefs *t,
		       const struct tacho_probe_spec *which,
		       struct tacho_diag *d);

#endif
