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

uint64_t tacho_clock_ticks(const struct tacho_clock_map *m, uint64_t ns)
{
	/* base may lie "before 1970": the difference is signed then */
	uint64_t since = ns - m->base;
	uint64_t margin = 2 + m->freq / TACHO_NS_PER_S;
	u128 ticks;

	if ((int64_t)m->base >= 0 && ns <= m->base)
		return 0;
	ticks = (u128)since * m->freq / TACHO_NS_PER_S;
	if (ticks > UINT64_MAX)
		return UINT64_MAX;
	return (uint64_t)ticks > margin ? (uint64_t)ticks - margin : 0;
}
