// SPDX-License-Identifier: MIT
#include "stream/clock.h"

__extension__ typedef unsigned __int128 u128;

void tacho_clock_map_init(struct tacho_clock_map *m, uint64_t freq,
			  uint64_t ticks, uint64_t realtime)
{
	if (!freq)
		freq = TACHO_NS_PER_S;
	m->freq = freq;
	m->whole = TACHO_NS_PER_S / freq;
	/* rounded up, so that a tick that is a whole ns stays one */
	m->part = (uint64_t)((((u128)(TACHO_NS_PER_S % freq) << 64) +
			      (freq - 1)) / freq);
	m->base = 0;
	m->base = realtime - tacho_clock_ns(m, ticks);
}

void tacho_clock_map_init_mult(struct tacho_clock_map *m, uint32_t mult,
			       uint32_t shift)
{
	u128 factor = ((u128)mult << 64) >> shift;
	u128 freq = ((u128)TACHO_NS_PER_S << shift) / mult;

	m->freq = freq > UINT64_MAX ? UINT64_MAX : freq ? (uint64_t)freq : 1;
	m->whole = (uint64_t)(factor >> 64);
	m->part = (uint64_t)factor;
	m->base = 0;
}

uint64_t tacho_clock_ticks(const struct tacho_clock_map *m, uint64_t ns)
{
	/* base may lie "before 1970": the difference is signed then */
	uint64_t since = ns - m->base;
	uint64_t margin = 2 + m->freq / TACHO_NS_PER_S;
	u128 ticks;

	if ((int64_t)m->base >= 0 && ns <= m->base)
		return 0;
	/* by the factor itself: freq is rounded */
	ticks = ((u128)since << 64) / ((u128)m->whole << 64 | m->part);
	if (ticks > UINT64_MAX)
		return UINT64_MAX;
	return (uint64_t)ticks > margin ? (uint64_t)ticks - margin : 0;
}
