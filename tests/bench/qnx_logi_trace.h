/* SPDX-License-Identifier: MIT */
/* A tracepoint with what trace_logi() records. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(QNX_LOGI_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define QNX_LOGI_TRACE_H

#include <stdint.h>
#include <tacho/tracepoint.h>

TRACE_EVENT(pair,
	TP_PROTO(uint32_t d0, uint32_t d1),
	TP_ARGS(d0, d1),
	TP_STRUCT__entry(__field(uint32_t, d0) __field(uint32_t, d1)),
	TP_fast_assign(__entry->d0 = d0; __entry->d1 = d1;),
	TP_printk("d0=0x%x d1=0x%x", __entry->d0, __entry->d1)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE qnx_logi_trace
#include <tacho/define_trace.h>
