/* SPDX-License-Identifier: MIT */
/*
 * visualize.h - a trace of LTT as text, in the lines of LTT's own tool.
 *
 * The trace is read twice: once to count, since the counts stand first, and once to print.
 */
#ifndef TACHO_COMPAT_LTT_VISUALIZE_H
#define TACHO_COMPAT_LTT_VISUALIZE_H

#include <stdbool.h>
#include <stdint.h>

#include <ltt/events.h>

#include "base/buf.h"
#include "base/diag.h"

struct ltt_visual_config {
	const char *trace;		/* a file, or a directory with a file per CPU */
	const char *proc;		/* names of processes; NULL: NAME.proc next to the trace */
	unsigned int flags;		/* ltt_layout_flag()'s; 0: the layout is detected */
	bool summarize;			/* no events, only counts */
	bool account;			/* also system calls and the time of each process */
	bool no_cpu, no_time, no_pid, no_length, no_text;	/* columns to leave out */
	trace_event_mask only, omit;	/* events; 0: not given */
	int64_t cpu, pid;		/* only of these; -1: of all */
	/*
	 * Takes text, which is empty again afterwards.  0: go on; not 0: an error of the caller's,
	 * which ends it and which ltt_visualize() returns, with d empty.
	 */
	int (*put)(void *arg, const struct tacho_buf *text);
	void *arg;
};

/*
 * ltt_visualize - print a trace.
 *
 * *damaged: places were skipped.  Returns 0; with d empty what put() returned, or -ENOMEM: a line
 * did not fit; or a negative errno with d filled in: the trace cannot be read.
 */
int ltt_visualize(const struct ltt_visual_config *config, bool *damaged, struct tacho_diag *d);

/*
 * The bits of an event by its name in LTT's options: SCHED, FS, ..., or CORE for the first seven.
 * Returns 0 and *bits, or -EINVAL: there is none.
 */
int ltt_mask_of(const char *name, trace_event_mask *bits);

/* What the layout "64", "32" or "text" of structs is in ltt_visual_config.flags; 0: unknown. */
unsigned int ltt_layout_flag(const char *name);

#endif
