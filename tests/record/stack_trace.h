/* SPDX-License-Identifier: MIT */
/* Events of the program whose call stacks are looked at. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM stk

#if !defined(TACHO_TESTS_STACK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_STACK_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(step,
	TP_PROTO(u64 n),
	TP_ARGS(n),
	TP_STRUCT__entry(__field(u64, n)),
	TP_fast_assign(__entry->n = n;),
	TP_printk("n=%llu", (unsigned long long)__entry->n)
);

TRACE_EVENT(call,
	TP_PROTO(void *fn, u64 n),
	TP_ARGS(fn, n),
	TP_STRUCT__entry(
		__field(void *, fn)
		__field(u64, n)
	),
	TP_fast_assign(
		__entry->fn = fn;
		__entry->n = n;
	),
	TP_printk("fn=%p n=%llu", __entry->fn, (unsigned long long)__entry->n)
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE stack_trace
#include <tacho/define_trace.h>
