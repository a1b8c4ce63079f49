// SPDX-License-Identifier: MIT
/*
 * The cost of trace_logi() beside a tracepoint with the same payload, in ns per hit:
 * qnx_logi_bench [CHUNKS].
 *
 * The loops take turns in chunks of 2,000 hits on one CPU, and the shortest chunk of each
 * counts.  qnx_logi_bench start: QNX's trace of class USER in ring mode; stop: its end.
 * Prints one JSON object.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/neutrino.h>
#include <sys/trace.h>
#include <time.h>

#define CREATE_TRACE_POINTS
#include "qnx_logi_trace.h"

#define HITS	2000u
#define BARRIER(x) __asm__ __volatile__("" : "+r"(x) : : "memory")

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void logi(void)
{
	for (uint32_t i = 0; i < HITS; i++) {
		BARRIER(i);
		(void)trace_logi(5, i, i * 2);
	}
}

static void tracepoints(void)
{
	for (uint32_t i = 0; i < HITS; i++) {
		BARRIER(i);
		trace_pair(i, i * 2);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} loops[] = { { "logi", logi }, { "tracepoint", tracepoints } };

#define NR_LOOPS (sizeof(loops) / sizeof(loops[0]))

static int control(const char *how)
{
	if (!strcmp(how, "stop"))
		return TraceEvent(_NTO_TRACE_STOP) || TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
	return TraceEvent(_NTO_TRACE_SETRINGMODE) ||
	       TraceEvent(_NTO_TRACE_ALLOCBUFFER, 256, NULL) ||
	       TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER) || TraceEvent(_NTO_TRACE_START);
}

int main(int argc, char **argv)
{
	long chunks = argc > 1 ? atol(argv[1]) : 5000;
	double best[NR_LOOPS];
	cpu_set_t set;

	if (!chunks)
		return control(argv[1]) != 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (long c = 0; c < chunks; c++)
		for (size_t k = 0; k < NR_LOOPS; k++) {
			double begin = now(), ns;

			loops[k].run();
			ns = (now() - begin) / HITS;
			if (!c || ns < best[k])
				best[k] = ns;
		}
	for (size_t k = 0; k < NR_LOOPS; k++)
		printf("%s\"%s\":%.3f", k ? "," : "{", loops[k].name, best[k]);
	printf("}\n");
	return 0;
}
