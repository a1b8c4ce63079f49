// SPDX-License-Identifier: MIT
/*
 * The cost of a tracepoint, in nanoseconds per hit: bench_write [HITS [THREADS]].
 *
 * One thread per CPU at most, each pinned.  Prints one JSON object: the loops
 * without a tracepoint (empty, rdtsc, clock_gettime) and those with one, in the state
 * in which some tool has put them.  Built twice, for tacho and (BENCH_LTTNG) for
 * LTTng-UST, from the same loops.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng.h"
#define HIT_TWO(i) lttng_ust_tracepoint(bench, two, (i), (i) * 2)
#define HIT_FOUR(i) \
	lttng_ust_tracepoint(bench, four, (i), (i) * 2, (i) * 3, (i) * 4)
#define HIT_TEXT() lttng_ust_tracepoint(bench, text, "a string of 23 bytes...")
#else
#define CREATE_TRACE_POINTS
#include "bench_trace.h"
#define HIT_TWO(i) trace_two((i), (i) * 2)
#define HIT_FOUR(i) trace_four((i), (i) * 2, (i) * 3, (i) * 4)
#define HIT_TEXT() trace_text("a string of 23 bytes...")
#endif

/* Keeps the compiler from folding a loop. */
#define BARRIER(x) __asm__ __volatile__("" : "+r"(x) : : "memory")

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void loop_empty(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		BARRIER(i);
}

static void loop_clock(uint64_t n)
{
	struct timespec t;

	for (uint64_t i = 0; i < n; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
}

static void loop_tsc(uint64_t n)
{
#if defined(__x86_64__)
	for (uint64_t i = 0; i < n; i++) {
		uint64_t t = __builtin_ia32_rdtsc();

		BARRIER(t);
	}
#else
	loop_clock(n);
#endif
}

static void loop_two(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		BARRIER(i);
		HIT_TWO(i);
	}
}

static void loop_four(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		BARRIER(i);
		HIT_FOUR(i);
	}
}

static void loop_text(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		BARRIER(i);
		HIT_TEXT();
	}
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
} loops[] = {
	{ "empty", loop_empty }, { "rdtsc", loop_tsc }, { "clock", loop_clock },
	{ "two", loop_two }, { "four", loop_four }, { "text", loop_text },
};

#define NR_LOOPS (sizeof(loops) / sizeof(loops[0]))

struct thread {
	pthread_t id;
	int cpu;
	uint64_t n;
	double ns[NR_LOOPS];
};

static pthread_barrier_t start;

static void *run(void *arg)
{
	struct thread *t = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(t->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	for (size_t i = 0; i < NR_LOOPS; i++) {
		uint64_t begin;

		loops[i].run(t->n / 10);	/* warm: maps, caches, predictors */
		pthread_barrier_wait(&start);
		begin = now();
		loops[i].run(t->n);
		t->ns[i] = (double)(now() - begin) / (double)t->n;
		pthread_barrier_wait(&start);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	struct thread *t = calloc((size_t)threads, sizeof(*t));

	if (!t || threads < 1)
		return 1;
	pthread_barrier_init(&start, NULL, (unsigned int)threads);
	for (int i = 0; i < threads; i++) {
		t[i].cpu = i;
		t[i].n = n;
		if (pthread_create(&t[i].id, NULL, run, &t[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++)
		pthread_join(t[i].id, NULL);
	printf("{");
	for (size_t k = 0; k < NR_LOOPS; k++) {
		double sum = 0;

		for (int i = 0; i < threads; i++)
			sum += t[i].ns[k];
		printf("%s\"%s\":%.3f", k ? "," : "", loops[k].name, sum / threads);
	}
	printf("}\n");
	free(t);
	return 0;
}
