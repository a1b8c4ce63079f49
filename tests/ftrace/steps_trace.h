/* SPDX-License-Identifier: MIT */
/* The events of steps.c. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM steps

#if !defined(STEPS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define STEPS_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(step,

	TP_PROTO(unsigned long n, const char *text),

	TP_ARGS(n, text),

	TP_STRUCT__entry(
		__field(	unsigned long,	n	)
		__field(	int,		less	)
		__string(	text,		text	)
	),

	TP_fast_assign(
		__entry->n = n;
		__entry->less = -(int)n;
		__assign_str(text);
	),

	TP_printk("n=%lu less=%d text=%s", __entry->n, __entry->less, __get_str(text))
);

TRACE_EVENT(idle,

	TP_PROTO(int how),

	TP_ARGS(how),

	TP_STRUCT__entry(
		__field(	int,	how	)
	),

	TP_fast_assign(
		__entry->how = how;
	),

	TP_printk("how=%d", __entry->how)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE steps_trace
#include <tacho/define_trace.h>
