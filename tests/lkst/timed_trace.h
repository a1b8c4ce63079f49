/* SPDX-License-Identifier: MIT */
/* An event of a program that has a field `time`, which means something else. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timed

#if !defined(TIMED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TIMED_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(took,
	TP_PROTO(u64 time),
	TP_ARGS(time),
	TP_STRUCT__entry(__field(u64, time)),
	TP_fast_assign(__entry->time = time;),
	TP_printk("time=%llu", (unsigned long long)__entry->time)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE timed_trace
#include <tacho/define_trace.h>
