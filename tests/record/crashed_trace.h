/* SPDX-License-Identifier: MIT */
/* An event as LKST's hooks record it (fmt/lkst/record.h), and one that is none. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lkst

#if !defined(TACHO_TESTS_CRASHED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_CRASHED_TRACE_H

#include <tacho/tracepoint.h>

#define CRASHED_FIELDS							\
	__field(u64, arg1) __field(u64, arg2) __field(u64, arg3)	\
	__field(u64, arg4) __field(u32, uid) __field(u32, gid)		\
	__field(s32, pid) __field(s32, pgrp) __field(u16, etype)	\
	__field(u16, cpu) __field(u32, flags)
#define CRASHED_ASSIGN(third, with)					\
	__entry->arg1 = n;						\
	__entry->arg2 = ~n;						\
	__entry->arg3 = third;						\
	__entry->arg4 = 0;						\
	__entry->uid = 1;						\
	__entry->gid = 2;						\
	__entry->pid = 3;						\
	__entry->pgrp = -1;						\
	__entry->etype = etype;						\
	__entry->cpu = on;						\
	__entry->flags = with;

DECLARE_EVENT_CLASS(lkst_event,
	TP_PROTO(u64 n, u16 etype, u16 on, u32 with),
	TP_ARGS(n, etype, on, with),
	TP_STRUCT__entry(
		CRASHED_FIELDS
	),
	TP_fast_assign(
		CRASHED_ASSIGN(n * 3, with)
	),
	TP_printk("user added event: data1=0x%llx data2=0x%llx",
		  __entry->arg1, __entry->arg2)
);

DEFINE_EVENT(lkst_event, NEW_EVENT, TP_PROTO(u64 n, u16 etype, u16 on, u32 with),
	     TP_ARGS(n, etype, on, with));
/* As the pump writes those of the kernel, with a time of their own. */
TRACE_EVENT(PUMPED,
	TP_PROTO(u64 n, u16 etype, u16 on, u64 when),
	TP_ARGS(n, etype, on, when),
	TP_STRUCT__entry(
		CRASHED_FIELDS
		__field(	u64,	time	)
	),
	TP_fast_assign(
		CRASHED_ASSIGN(0, 2)
		__entry->time = when;
	),
	TP_printk("user added event: data1=0x%llx data2=0x%llx",
		  __entry->arg1, __entry->arg2)
);

TRACE_EVENT(none,
	TP_PROTO(u64 n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__field(	u64,	n	)
	),
	TP_fast_assign(
		__entry->n = n;
	),
	TP_printk("n=%llu", (unsigned long long)__entry->n)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE crashed_trace
#include <tacho/define_trace.h>
