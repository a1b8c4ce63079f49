/* SPDX-License-Identifier: MIT */
/* parallel_plan.h - the pieces that a stream is divided into: see parallel.h. */
#ifndef TACHO_STREAM_PARALLEL_PLAN_H
#define TACHO_STREAM_PARALLEL_PLAN_H

#include "stream/parallel.h"

/* Packets of one part: [offset, end). */
struct plan_range {
	uint32_t source, part;
	uint64_t offset, end, discarded;
};

struct plan {
	struct plan_range *range;
	/* slice i is [time[i], time[i + 1]); the last one has no end, and is not counted in nr */
	uint64_t *time;
	uint32_t nr;		/* pieces for workers; less than two: there is no plan */
};

/*
 * Both make a plan, which is released after either result.  from, to: as in struct
 * tacho_parallel.  0 or a negative errno.
 */
int plan_ranges(struct plan *plan, struct tacho_stream *stream);
int plan_slices(struct plan *plan, struct tacho_stream *stream, uint64_t from, uint64_t to);
void plan_release(struct plan *plan);

#endif
