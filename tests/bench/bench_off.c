// SPDX-License-Identifier: MIT
/*
 * The cost of a tracepoint that is off, in nanoseconds above an empty loop.
 *
 * A loop is run in many short pieces, in turn with the others, and its shortest piece counts: on a
 * busy machine some pieces are left alone.  Prints one JSON object.  Built for tacho, with and
 * without SDT notes, and (BENCH_LTTNG) for LTTng-UST, at -O2 and at -O3.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng.h"
#define HIT_TWO(a, b)		lttng_ust_tracepoint(bench, two, a, b)
#define HIT_FOUR(a, b, c, d)	lttng_ust_tracepoint(bench, four, a, b, c, d)
#define HIT_TEXT(s)		lttng_ust_tracepoint(bench, text, s)
#else
#define CREATE_TRACE_POINTS
#include "bench_trace.h"
#define HIT_TWO(a, b)		trace_two(a, b)
#define HIT_FOUR(a, b, c, d)	trace_four(a, b, c, d)
#define HIT_TEXT(s)		trace_text(s)
#endif

/* The compiler knows nothing of i and of memory from here on. */
#define BARRIER(i) __asm__ __volatile__("" : "+r"(i) : : "memory")

struct state {
	uint64_t a, b, c;
	const char *name;
};

#define LOOP(id, hit)						\
	__attribute__((noinline, aligned(64)))				\
	static void loop_##id(uint64_t n, const struct state *s)	\
	{								\
		(void)s;						\
		for (uint64_t i = 0; i < n; i++) {			\
			BARRIER(i);					\
			hit;						\
		}							\
	}

LOOP(empty, (void)0)
LOOP(values, HIT_TWO(i, i * 2))
LOOP(sums, HIT_FOUR(i, i * 2, i * 3, i * 4))
LOOP(fields, HIT_FOUR(s->a, s->b, s->c, i))
LOOP(mixed, HIT_FOUR(s->a + i, s->b ^ (i << 3), s->c & 0xff, s->a * s->b))
LOOP(text, HIT_TEXT("a constant string"))
LOOP(pointer, HIT_TEXT(s->name + (i & 1)))

static const struct {
	const char *name;
	void (*run)(uint64_t n, const struct state *s);
} loops[] = {
	{ "empty", loop_empty }, { "values", loop_values }, { "sums", loop_sums },
	{ "fields", loop_fields }, { "mixed", loop_mixed }, { "text", loop_text },
	{ "pointer", loop_pointer },
};

#define NR_LOOPS	(sizeof(loops) / sizeof(loops[0]))
#define PIECE		20000u

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t pieces = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
	struct state s = { 3, 5, 7, "name" };
	uint64_t best[NR_LOOPS];

	for (size_t k = 0; k < NR_LOOPS; k++)
		best[k] = UINT64_MAX;
	for (uint64_t i = 0; i < pieces; i++) {
		for (size_t k = 0; k < NR_LOOPS; k++) {
			uint64_t begin = now(), ns;

			loops[k].run(PIECE, &s);
			ns = now() - begin;
			if (ns < best[k])
				best[k] = ns;
		}
	}
	printf("{\"empty\":%.3f", (double)best[0] / PIECE);
	for (size_t k = 1; k < NR_LOOPS; k++)
		printf(",\"%s\":%.3f", loops[k].name,
		       ((double)best[k] - (double)best[0]) / PIECE);
	printf("}\n");
	return 0;
}
