// SPDX-License-Identifier: MIT
#include "fmt/tracedat/shift.h"

#include <errno.h>
#include <stdlib.h>

#include "fmt/tracedat/layout.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static int by_time(const void *a, const void *b)
{
	const struct tacho_dat_sample *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void sort_samples(struct tacho_dat_shift_cpu *c)
{
	uint32_t n = 0;

	if (c->nr)
		qsort(c->sample, c->nr, sizeof(*c->sample), by_time);
	for (uint32_t i = 0; i < c->nr; i++)
		if (!n || c->sample[i].time != c->sample[n - 1].time)
			c->sample[n++] = c->sample[i];
	c->nr = n;
}

/* The counts are believed as far as there are bytes for that many samples. */
static int parse_cpus(struct tacho_dat_shift *s, uint32_t nr,
		      struct tacho_cur *c, struct tacho_arena *arena)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct tacho_dat_shift_cpu *cpu = &s->cpu[i];
		uint32_t n = tacho_cur_u32(c), j;

		if (n > tacho_cur_left(c) / 24)
			return -EINVAL;
		cpu->sample = tacho_arena_array(arena, n ? n : 1,
						sizeof(*cpu->sample));
		if (!cpu->sample)
			return -ENOMEM;
		cpu->nr = n;
		for (j = 0; j < n; j++)
			cpu->sample[j].time = (int64_t)tacho_cur_u64(c);
		for (j = 0; j < n; j++)
			cpu->sample[j].offset = (int64_t)tacho_cur_u64(c);
		for (j = 0; j < n; j++)
			cpu->sample[j].scaling = tacho_cur_u64(c);
	}
	return 0;
}

int tacho_dat_shift_parse(struct tacho_dat_shift *s, struct tacho_cur *c,
			  struct tacho_arena *arena)
{
	uint32_t nr;
	int err;

	*s = (struct tacho_dat_shift){ .peer = tacho_cur_u64(c) };
	s->flags = tacho_cur_u32(c);
	nr = tacho_cur_u32(c);
	if (c->why || nr > tacho_cur_left(c) / 4)
		return -EINVAL;
	s->cpu = tacho_arena_array(arena, nr ? nr : 1, sizeof(*s->cpu));
	if (!s->cpu)
		return -ENOMEM;
	err = parse_cpus(s, nr, c, arena);
	if (!err && tacho_cur_left(c))
		for (uint32_t i = 0; i < nr; i++)
			for (uint32_t j = 0; j < s->cpu[i].nr; j++)
				s->cpu[i].sample[j].fraction = tacho_cur_u64(c);
	if (!err && c->why)
		err = -EINVAL;
	if (err)
		return err;
	for (uint32_t i = 0; i < nr; i++)
		sort_samples(&s->cpu[i]);
	s->nr_cpus = nr;
	return 0;
}

/*
 * How far the offset has gone from a's towards b's at time.  Nothing, where samples of a
 * damaged file are too far apart for numbers of 128 bits.
 */
static uint64_t interpolate(int64_t time, const struct tacho_dat_sample *a,
			    const struct tacho_dat_sample *b)
{
	s128 delta = (s128)b->time - a->time, part;

	if (__builtin_mul_overflow((s128)time - a->time, (s128)b->offset - a->offset,
				   &part) ||
	    __builtin_add_overflow(part, delta / 2, &part))
		return 0;
	return (uint64_t)(part / delta);
}

static uint64_t correct(const struct tacho_dat_shift *s, uint64_t time,
			const struct tacho_dat_sample *a,
			const struct tacho_dat_sample *b)
{
	uint64_t offset = (uint64_t)a->offset, scaled = time;

	if (s->flags & TACHO_DAT_INTERPOLATE)
		offset += interpolate((int64_t)time, a, b);
	if (a->fraction < 128)
		scaled = (uint64_t)((u128)time * a->scaling >> a->fraction);
	return scaled + offset;
}

uint64_t tacho_dat_shift(const struct tacho_dat_shift *s, uint32_t cpu,
			 uint64_t time)
{
	const struct tacho_dat_shift_cpu *c;
	uint32_t low = 0, high;

	if (cpu >= s->nr_cpus || !s->cpu[cpu].nr)
		return time;
	c = &s->cpu[cpu];
	if (c->nr == 1)
		return time + (uint64_t)c->sample[0].offset;
	/* the last sample at or before time, but never the last of all */
	high = c->nr - 2;
	while (low < high) {
		uint32_t mid = (low + high + 1) / 2;

		if (c->sample[mid].time <= (int64_t)time)
			low = mid;
		else
			high = mid - 1;
	}
	return correct(s, time, &c->sample[low], &c->sample[low + 1]);
}
