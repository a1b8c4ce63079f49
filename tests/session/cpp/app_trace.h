/* SPDX-License-Identifier: MIT */
/* An event of app.cc. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM app

#if !defined(APP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define APP_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(step,

	TP_PROTO(int number, const char *text),

	TP_ARGS(number, text),

	TP_STRUCT__entry(
		__field(	int,	number	)
		__string(	text,	text	)
	),

	TP_fast_assign(
		__entry->number = number;
		__assign_str(text);
	),

	TP_printk("number=%d text=%s", __entry->number, __get_str(text))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE app_trace
#include <tacho/define_trace.h>
