/* SPDX-License-Identifier: MIT */
/*
 * shift.h - a guest's times on its host's clock: the TIME_SHIFT option.
 *
 * For each CPU of the guest there are samples (time, offset, scaling, fraction).
 * Between two samples the earlier one counts; beyond the last, the last but
 * one.  The corrected time is (time * scaling >> fraction) + offset, where the
 * offset is interpolated between the two samples if the option's flags say so.
 * With a single sample only its offset is added.  So does trace-cmd.
 */
#ifndef TACHO_FMT_TRACEDAT_SHIFT_H
#define TACHO_FMT_TRACEDAT_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cursor.h"

struct tacho_dat_sample {
	int64_t time, offset;
	uint64_t scaling, fraction;
};

struct tacho_dat_shift_cpu {
	uint32_t nr;
	struct tacho_dat_sample *sample;	/* by time, no two at the same */
};

struct tacho_dat_shift {
	uint64_t peer;		/* trace id */
	uint32_t flags;
	uint32_t nr_cpus;	/* 0: there is no shift */
	struct tacho_dat_shift_cpu *cpu;
};

/*
 * Reads the option's data; samples come from the arena.  0, -EINVAL when it is
 * damaged, -ENOMEM; without success there is no shift.
 */
int tacho_dat_shift_parse(struct tacho_dat_shift *s, struct tacho_cur *c,
			  struct tacho_arena *arena);

/* A guest's time as the host's; a CPU without samples keeps its own. */
uint64_t tacho_dat_shift(const struct tacho_dat_shift *s, uint32_t cpu,
			 uint64_t time);

#endif
