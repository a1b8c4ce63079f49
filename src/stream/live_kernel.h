/* SPDX-License-Identifier: MIT */
/*
 * live_kernel.h - the running kernel's events as a source of records.
 *
 * Opening the source creates a tracing instance (tracefs/instance.h); closing it removes the
 * instance.  Each CPU is a part.  A pump reads its records; batches are queued until they are
 * read.
 *
 * Order: when a CPU has no records queued, all CPUs are drained.  Everything written before the
 * drain is then in memory.  So the start of the drain, minus SLACK for events that have a time
 * stamp and are still being written, is the horizon of all CPUs without records.
 *
 * Call stacks are recorded on demand, after the events selected with tacho_source_ops.stacks, by
 * the kernel's trigger `stacktrace`.  Filters are offloaded to the kernel if it accepts them
 * (.filter).
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
 * Returns 0 and *source, or a negative errno of tacho_kernel_create() or tacho_kernel_enable()
 * with d filled in.  Events of the recording process are excluded.
 */
int tacho_live_kernel_open(struct tacho_source **source,
			   const struct tacho_live_kernel_config *config,
			   unsigned int flags, struct tacho_diag *d);

/* The same for "GLOB,GLOB..." as one text. */
int tacho_live_kernel_open_list(struct tacho_source **source, const char *list,
				unsigned int flags, struct tacho_diag *d);

#endif
