// SPDX-License-Identifier: MIT
/*
 * The cost of trace_logi() beside a tracepoint with the same payload, in ns per hit:
 * qnx_logi_bench [CHUNKS].
 *
 * The loops take turns (turns.h).  qnx_logi_bench start: QNX's trace of class USER in ring
 * mode; stop: its end.
 * Prints one JSON object.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/neutrino.h>
#include <sys/trace.h>

#include "turns.h"

#define CREATE_TRACE_POINTS
#include "qnx_logi_trace.h"

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

static const struct turn loops[] = { { "logi", logi }, { "tracepoint", tracepoints } };

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

	if (!chunks)
		return control(argv[1]) != 0;
	take_turns(loops, NR_LOOPS, chunks);
	return 0;
}
