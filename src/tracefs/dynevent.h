/* SPDX-License-Identifier: MIT */
/*
 * dynevent.h - the kernel's dynamic events: create, list and remove.
 *
 * They are written to three files at the top of tracefs; they belong to the
 * machine, not to an instance:
 *
 *	uprobe_events	probes in programs	CONFIG_UPROBE_EVENTS
 *	kprobe_events	probes in the kernel	CONFIG_KPROBE_EVENTS
 *	dynamic_events	all kinds; f, t and e only here
 *
 * Opening one of them with O_TRUNC would remove all events, also those of other tools: tacho
 * always opens them with O_APPEND. An event is created disabled; the recorder enables it in an
 * instance (instance.h).  Removing an event that is enabled in any instance fails with -EBUSY.
 *
 * error_log at the top of tracefs has the reason why the kernel rejected a line. tacho reads and
 * never clears it.  Errors of other tools may be in it: only an entry that appeared during the
 * call and has the same text is used.
 *
 * One thread uses a struct tacho_tracefs at a time.
 */
#ifndef TACHO_TRACEFS_DYNEVENT_H
#define TACHO_TRACEFS_DYNEVENT_H

#include "tracefs/probe_spec.h"
#include "tracefs/tracefs.h"

/*
 * tacho_dynevent_add - create the event that a line describes.
 *
 * The line is parsed first (probe_spec.h).  Returns 0, or with d filled in, its offset being the
 * wrong byte of the text, or TACHO_PROBE_NO_COLUMN:
 *	-EINVAL, -E2BIG	see tacho_probe_parse(), or the kernel's own words
 *	-ENOSYS		this kernel has no such probes
 *	-EEXIST		the event exists, of another kind or with other arguments
 *	-EACCES, -EPERM	not root
 *	-ENOENT		also: the kernel finds no such file or symbol
 */
int tacho_dynevent_add(const struct tacho_tracefs *t, const char *text,
		       struct tacho_diag *d);

/*
 * tacho_dynevent_list - list all probes of the machine, of any creator.
 *
 * Lines of unknown kinds (synthetic and user events, kinds of newer kernels) are skipped.  Memory
 * comes from the arena. Returns 0, *list and *nr, or a negative errno with d filled in.
 */
int tacho_dynevent_list(const struct tacho_tracefs *t, struct tacho_arena *arena,
			struct tacho_probe_spec **list, size_t *nr,
			struct tacho_diag *d);

/*
 * tacho_dynevent_del - remove an event with all its probes.
 *
 * kind: that of one of its probes in the list.  Returns 0, or with d filled in: -ENOENT, -EBUSY
 * (it is enabled), -EACCES, -EPERM, -ENOSYS.
 */
int tacho_dynevent_del(const struct tacho_tracefs *t,
		       const struct tacho_probe_spec *which,
		       struct tacho_diag *d);

#endif
