// SPDX-License-Identifier: MIT
/* A program for QNX: its headers, nothing else of this tree. */
#include <stdio.h>
#include <string.h>
#include <sys/neutrino.h>
#include <sys/trace.h>

int main(int argc, char **argv)
{
	static const uint32_t words[] = { 0x01020304, 2, 3, 4 };
	int own = argc > 1 && !strcmp(argv[1], "own");

	if (own && (TraceEvent(_NTO_TRACE_ALLOCBUFFER, 16, NULL) == -1 ||
		    TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER) == -1 ||
		    TraceEvent(_NTO_TRACE_START) == -1)) {
		perror("TraceEvent");
		return 1;
	}
	if (argc > 1 && !strcmp(argv[1], "start") && TraceEvent(_NTO_TRACE_START) == -1)
		return 1;
	for (unsigned i = 0; i < 100; i++)
		if (trace_logi(20, i, i * i))
			return 2;
	if (trace_logf(21, "%s of %d", "text", 21) == -1 ||
	    TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 22, words, 4) == -1)
		return 3;
	if (argc > 1 && TraceEvent(_NTO_TRACE_STOP) == -1)
		return 4;
	return 0;
}
