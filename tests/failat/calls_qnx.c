// SPDX-License-Identifier: MIT
/* calls_qnx: TraceEvent(), in a program that goes on whatever it says. */
#include <sys/neutrino.h>
#include <sys/trace.h>

#include "tried.h"

int main(void)
{
	TRY(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 16, NULL));
	TRY(TraceEvent(_NTO_TRACE_DELALLCLASSES));
	TRY(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER));
	TRY(TraceEvent(_NTO_TRACE_START));
	TRY(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, 21, 1, 2));
	TRY(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 22, "text"));
	TRY(TraceEvent(_NTO_TRACE_STOP));
	TRY(TraceEvent(_NTO_TRACE_DEALLOCBUFFER));
	return 0;
}
