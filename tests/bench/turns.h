/* SPDX-License-Identifier: MIT */
/*
 * turns.h - loops that take turns, in ns per hit.
 *
 * They take turns in chunks of 2,000 hits on one CPU, and the shortest chunk of each counts: what
 * other programs do on the machine makes some chunks longer, and none shorter.
 */
#ifndef TACHO_TESTS_BENCH_TURNS_H
#define TACHO_TESTS_BENCH_TURNS_H

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#define HITS	2000u
#define BARRIER(x) __asm__ __volatile__("" : "+r"(x) : : "memory")
#define TURNS_MAX	8

struct turn {
	const char *name;
	void (*run)(void);	/* HITS of them */
};

static inline double turns_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* `chunks` of each of nr loops; prints one JSON object. */
static inline void take_turns(const struct turn *loop, size_t nr, long chunks)
{
	double best[TURNS_MAX] = { 0 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (long c = 0; c < chunks; c++)
		for (size_t k = 0; k < nr; k++) {
			double begin = turns_now(), ns;

			loop[k].run();
			ns = (turns_now() - begin) / HITS;
			if (!c || ns < best[k])
				best[k] = ns;
		}
	for (size_t k = 0; k < nr; k++)
		printf("%s\"%s\":%.3f", k ? "," : "{", loop[k].name, best[k]);
	printf("}\n");
}

#endif
