/* SPDX-License-Identifier: MIT */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM snippet

#if !defined(TACHO_TESTS_ALL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_ALL_TRACE_H

#include <tacho/tracepoint.h>

#ifdef WRONG_PRINTK
#define ALL_PRINTK "id=%s name=%s", __entry->id, __get_str(name)
#elif defined(WRONG_FIELD)
#define ALL_PRINTK "id=%d name=%s", __entry->ident, __get_str(name)
#else
#define ALL_PRINTK "id=%d name=%s", __entry->id, __get_str(name)
#endif

TRACE_EVENT(first,
	TP_PROTO(int id, const char *name, void *where),
	TP_ARGS(id, name, where),
	TP_STRUCT__entry(
		__field(	int,	id	)
		__field(	void *,	where	)
		__string(	name,	name	)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->where = where;
		__assign_str(name);
	),
	TP_printk(ALL_PRINTK)
);

#endif

/* The file's name is the default of TRACE_INCLUDE_FILE where that is unset. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE all_trace
#include <tacho/define_trace.h>
