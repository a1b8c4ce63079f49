// SPDX-License-Identifier: MIT
/*
 * Something for others to trace.
 *
 *	load calls SECONDS [RATE]	system calls: RATE a second, or as many as
 *					there can be
 *	load events SECONDS [RATE]	hits of the tracepoint bench:two, likewise
 *	load hits N			N calls of bench_hit(), for a uprobe
 *
 * Prints one line of JSON: how many, and ns of CPU time for each.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "bench_trace.h"

#define ROUND	100

void bench_hit(uint64_t key, uint64_t value);

/* Not inlined, and not known to do nothing. */
__attribute__((noinline)) void bench_hit(uint64_t key, uint64_t value)
{
	__asm__ volatile("" : : "r"(key), "r"(value) : "memory");
}

static double read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void call(uint64_t i)
{
	(void)i;
	(void)syscall(SYS_getppid);
}

static void event(uint64_t i)
{
	trace_two(i, i * 2);
}

/*
 * What was not on time is not made up for: then there are fewer, at the rate at most.
 */
static unsigned long paced(void (*make)(uint64_t i), double from, double seconds,
			   double rate)
{
	double step = rate > 0 ? ROUND * 1e9 / rate : 0, next = from;
	unsigned long n = 0;

	do {
		for (int i = 0; i < ROUND; i++)
			make(n++);
		next += step;
		if (next < now())
			next = now();
		while (now() < next)
			;
	} while (now() - from < seconds * 1e9);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long n;
	double from;

	if (argc < 3 || argc > 4 || (strcmp(argv[1], "calls") &&
	    strcmp(argv[1], "events") && strcmp(argv[1], "hits"))) {
		fprintf(stderr, "usage: load calls|events SECONDS [RATE] | load hits N\n");
		return 2;
	}
	from = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	if (strcmp(argv[1], "hits")) {
		n = paced(strcmp(argv[1], "calls") ? event : call, now(),
			  strtod(argv[2], NULL), argc > 3 ? strtod(argv[3], NULL) : 0);
	} else {
		n = strtoul(argv[2], NULL, 10);
		for (unsigned long i = 0; i < n; i++)
			bench_hit(i % 64, i);
	}
	printf("{\"n\": %lu, \"ns\": %.2f}\n", n,
	       (read_clock(CLOCK_PROCESS_CPUTIME_ID) - from) / (double)(n ? n : 1));
	return 0;
}
