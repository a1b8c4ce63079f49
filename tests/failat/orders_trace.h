/* SPDX-License-Identifier: MIT */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM shop

#if !defined(ORDERS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ORDERS_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(order_done,
	TP_PROTO(int id, const char *customer),
	TP_ARGS(id, customer),
	TP_STRUCT__entry(
		__field(int, id)
		__string(customer, customer)
	),
	TP_fast_assign(
		__entry->id = id;
		__assign_str(customer);
	),
	TP_printk("id=%d customer=%s", __entry->id, __get_str(customer))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE orders_trace
#include <tacho/define_trace.h>
