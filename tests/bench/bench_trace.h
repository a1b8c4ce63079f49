/* SPDX-License-Identifier: MIT */
/* bench_trace.h - the payloads that are measured. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(TACHO_TESTS_BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_BENCH_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(two,
	TP_PROTO(uint64_t a, uint64_t b),
	TP_ARGS(a, b),
	TP_STRUCT__entry(__field(uint64_t, a) __field(uint64_t, b)),
	TP_fast_assign(__entry->a = a; __entry->b = b;),
	TP_printk("a=%lu b=%lu", __entry->a, __entry->b)
);

TRACE_EVENT(four,
	TP_PROTO(uint64_t a, uint64_t b, uint64_t c, uint64_t d),
	TP_ARGS(a, b, c, d),
	TP_STRUCT__entry(
		__field(uint64_t, a) __field(uint64_t, b)
		__field(uint64_t, c) __field(uint64_t, d)
	),
	TP_fast_assign(
		__entry->a = a; __entry->b = b; __entry->c = c; __entry->d = d;
	),
	TP_printk("a=%lu b=%lu c=%lu d=%lu", __entry->a, __entry->b,
		  __entry->c, __entry->d)
);

TRACE_EVENT(text,
	TP_PROTO(const char *s),
	TP_ARGS(s),
	TP_STRUCT__entry(__string(s, s)),
	TP_fast_assign(__assign_str(s);),
	TP_printk("%s", __get_str(s))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bench_trace
#include <tacho/define_trace.h>
