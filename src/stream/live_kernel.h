/* SPDX-License-Identifier: MIT */
/*
 * live_kernel.h - the running kernel's events as a source of records.
 *
 * A tracing instance of its own (tracefs/instance.h) is made when the source is
 * opened, and removed when it is closed.  Each CPU is a part.  Its records are
 * what a pump brings: batches are kept, one behind the other, until they are read.
 *
 * In order: when some CPU has nothing at hand, all CPUs are drained.  What was
 * written before that moment is in memory then, so that moment, less SLACK for
 * events whose time was read and that are being written, is the horizon of all
 * CPUs that have nothing.
 *
 * Call stacks are recorded on demand, behind those events whose stacks are asked for
 * (tacho_source_ops.stacks): the kernel's own trigger `stacktrace` does it.
 * Filters go to the kernel, too, if it takes them (.filter).
 */
#ifndef TACHO_STREAM_LIVE_KERNEL_H
#define TACHO_STREAM_LIVE_KERNEL_H

#include "stream/source.h"

struct tacho_live_kernel_config {
	const char *const *globs;	/* events, as tacho_kernel_enable() */
	size_t nr_globs;
	uint64_t buffer_size;		/* per CPU; 0: 16 MiB */
};

/*
 * tacho_live_kernel_open - record and read the running kernel.
 *
 * Returns 0 and *source, or a negative errno with d filled in: those of
 * tacho_kernel_create() and tacho_kernel_enable().  The recording process's own
 * events are left out.
 */
int tacho_live_kernel_open(struct tacho_source **source,
			   const struct tacho_live_kernel_config *config,
			   unsigned int flags, struct tacho_diag *d);

/* The same for "GLOB,GLOB..." as one text. */
int tacho_live_kernel_open_list(struct tacho_source **source, const char *list,
				unsigned int flags, struct tacho_diag *d);

#endif
