/* SPDX-License-Identifier: MIT */
/*
 * clock.h - from a recording's ticks to nanoseconds since 1970.
 *
 *	ns = base + ticks * 10^9 / freq
 *
 * where base is chosen so that one known pair (ticks, realtime) holds.  The
 * factor is kept as a 64.64 fixed-point number: one or two multiplications per
 * record, monotone, and off by less than one ns for ticks below 2^63.
 */
#ifndef TACHO_STREAM_CLOCK_H
#define TACHO_STREAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define TACHO_NS_PER_S	UINT64_C(1000000000)

struct tacho_clock_map {
	uint64_t freq;	/* ticks per second, not 0 */
	uint64_t whole;	/* 10^9 / freq: integer part */
	uint64_t part;	/* and its fraction in 2^-64 */
	uint64_t base;	/* ns at tick 0, modulo 2^64 */
};

/* Makes the map from the frequency (0 counts as 10^9) and one pair. */
void tacho_clock_map_init(struct tacho_clock_map *m, uint64_t freq,
			  uint64_t ticks, uint64_t realtime);

/* ns = ticks * mult >> shift, from tick 0 at ns 0.  mult not 0, shift <= 63. */
void tacho_clock_map_init_mult(struct tacho_clock_map *m, uint32_t mult,
			       uint32_t shift);

static inline uint64_t tacho_clock_ns(const struct tacho_clock_map *m,
				      uint64_t ticks)
{
	__extension__ typedef unsigned __int128 u128;

	return m->base + ticks * m->whole +
	       (uint64_t)((u128)ticks * m->part >> 64);
}

/* Whether times ascend from one tick to a later one: the clock does not overflow between them. */
static inline bool tacho_clock_ascends(const struct tacho_clock_map *m, uint64_t from, uint64_t to)
{
	return from <= to && to <= UINT64_MAX / (m->whole + 1) &&
	       tacho_clock_ns(m, from) <= tacho_clock_ns(m, to);
}

/* A tick whose time is not after ns, and hardly before it. */
uint64_t tacho_clock_ticks(const struct tacho_clock_map *m, uint64_t ns);

#endif
