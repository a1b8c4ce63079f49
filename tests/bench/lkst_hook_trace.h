/* SPDX-License-Identifier: MIT */
/* A tracepoint with as many words as a hook of LKST records. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(LKST_HOOK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LKST_HOOK_TRACE_H

#include <stdint.h>
#include <tacho/tracepoint.h>

TRACE_EVENT(seven,
	TP_PROTO(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
		 uint64_t g),
	TP_ARGS(a, b, c, d, e, f, g),
	TP_STRUCT__entry(
		__field(uint64_t, a) __field(uint64_t, b) __field(uint64_t, c)
		__field(uint64_t, d) __field(uint64_t, e) __field(uint64_t, f)
		__field(uint64_t, g)
	),
	TP_fast_assign(
		__entry->a = a; __entry->b = b; __entry->c = c; __entry->d = d;
		__entry->e = e; __entry->f = f; __entry->g = g;
	),
	TP_printk("a=%lu g=%lu", __entry->a, __entry->g)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lkst_hook_trace
#include <tacho/define_trace.h>
