/* SPDX-License-Identifier: MIT */
/* Events of request.c: with the time as the program saw it among their fields. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM request

#if !defined(TACHO_TESTS_REQUEST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_REQUEST_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(begin,
	TP_PROTO(u64 id, u64 at, u64 kind),
	TP_ARGS(id, at, kind),
	TP_STRUCT__entry(
		__field(	u64,	id	)
		__field(	u64,	at	)
		__field(	u64,	kind	)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->at = at;
		__entry->kind = kind;
	),
	TP_printk("id=%llu at=%llu kind=%llu", (unsigned long long)__entry->id,
		  (unsigned long long)__entry->at, (unsigned long long)__entry->kind)
);

TRACE_EVENT(end,
	TP_PROTO(u64 id, u64 at, const char *name),
	TP_ARGS(id, at, name),
	TP_STRUCT__entry(
		__field(	u64,	id	)
		__field(	u64,	at	)
		__string(	name,	name	)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->at = at;
		__assign_str(name);
	),
	TP_printk("id=%llu at=%llu name=%s", (unsigned long long)__entry->id,
		  (unsigned long long)__entry->at, __get_str(name))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE request_trace
#include <tacho/define_trace.h>
