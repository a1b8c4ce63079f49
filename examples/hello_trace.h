/* SPDX-License-Identifier: MIT */
/* The events of hello.c. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hello

#if !defined(HELLO_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HELLO_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(greet,

	TP_PROTO(int round, const char *whom),

	TP_ARGS(round, whom),

	TP_STRUCT__entry(
		__field(	int,	round	)
		__string(	whom,	whom	)
	),

	TP_fast_assign(
		__entry->round = round;
		__assign_str(whom);
	),

	TP_printk("round=%d whom=%s", __entry->round, __get_str(whom))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE hello_trace
#include <tacho/define_trace.h>
