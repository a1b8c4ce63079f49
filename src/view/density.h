/* SPDX-License-Identifier: MIT */
/*
 * density.h - how many events each CPU recorded when, by the headers of packets alone: the first
 * picture of a trace, before any record was read.
 *
 * The events of a packet are spread evenly over its time.  A loss counts where the packet begins
 * that says so.
 */
#ifndef TACHO_VIEW_DENSITY_H
#define TACHO_VIEW_DENSITY_H

#include <stdint.h>

#include "base/diag.h"
#include "stream/stream.h"

#define VIEW_DENSITY_MAX	4096u	/* buckets */

struct view_density_cpu {
	uint32_t cpu;			/* UINT32_MAX: not known */
	double *events;			/* of each bucket */
	uint64_t *lost;
};

struct view_density {
	uint64_t from, width;		/* ns */
	uint32_t nr_buckets, nr_cpus;
	struct view_density_cpu *cpu;	/* in the order in which they come */
};

/*
 * begin, end: of the trace, ns.  A format without packets has no CPUs.
 * Returns 0; -ENOMEM, or the stream's error, with d and nothing to release.
 */
int view_density_make(struct view_density *density, struct tacho_stream *stream, uint64_t begin,
		      uint64_t end, uint32_t nr_buckets, struct tacho_diag *d);
void view_density_release(struct view_density *density);

#endif
