/* SPDX-License-Identifier: MIT */
/* What happens to an order, from its arrival to its receipt on disk. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM shop

#if !defined(SHOP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SHOP_TRACE_H

#include <tacho/tracepoint.h>

#include "shop.h"

TRACE_DEFINE_ENUM(ORDER_OK);
TRACE_DEFINE_ENUM(ORDER_SOLD_OUT);
TRACE_DEFINE_ENUM(ORDER_DISK);

#define show_outcome(outcome)				\
	__print_symbolic(outcome,			\
		{ ORDER_OK,		"ok" },		\
		{ ORDER_SOLD_OUT,	"sold out" },	\
		{ ORDER_DISK,		"disk error" })

#define show_wishes(wishes)				\
	__print_flags(wishes, "|",			\
		{ 0x1,	"gift" },			\
		{ 0x2,	"express" },			\
		{ 0x4,	"invoice" })

DECLARE_EVENT_CLASS(shop_order,

	TP_PROTO(const struct order *order, unsigned int queued),

	TP_ARGS(order, queued),

	TP_STRUCT__entry(
		__field(	unsigned int,	id		)
		__field(	unsigned int,	wishes		)
		__field(	unsigned int,	queued		)
		__string(	customer,	order->customer	)
	),

	TP_fast_assign(
		__entry->id = order->id;
		__entry->wishes = order->wishes;
		__entry->queued = queued;
		__assign_str(customer);
	),

	TP_printk("id=%u customer=%s wishes=%s queued=%u", __entry->id,
		  __get_str(customer), show_wishes(__entry->wishes),
		  __entry->queued)
);

/* An order enters the queue, a worker takes it out. */
DEFINE_EVENT(shop_order, order_arrive,
	TP_PROTO(const struct order *order, unsigned int queued),
	TP_ARGS(order, queued));

DEFINE_EVENT(shop_order, order_take,
	TP_PROTO(const struct order *order, unsigned int queued),
	TP_ARGS(order, queued));

/* It is done: after how long, and with what outcome. */
TRACE_EVENT(order_done,

	TP_PROTO(const struct order *order, int outcome, u64 waited_us,
		 u64 took_us),

	TP_ARGS(order, outcome, waited_us, took_us),

	TP_STRUCT__entry(
		__field(	unsigned int,	id		)
		__field(	int,		outcome		)
		__field(	unsigned int,	cents		)
		__field(	u64,		waited_us	)
		__field(	u64,		took_us		)
		__dynamic_array(u16,		items,	order->nr_items	)
		__string(	customer,	order->customer	)
	),

	TP_fast_assign(
		__entry->id = order->id;
		__entry->outcome = outcome;
		__entry->cents = order->cents;
		__entry->waited_us = waited_us;
		__entry->took_us = took_us;
		memcpy(__get_dynamic_array(items), order->items,
		       order->nr_items * sizeof(order->items[0]));
		__assign_str(customer);
	),

	TP_printk("id=%u customer=%s outcome=%s cents=%u items=%s waited_us=%llu took_us=%llu",
		  __entry->id, __get_str(customer),
		  show_outcome(__entry->outcome), __entry->cents,
		  __print_array(__get_dynamic_array(items),
				__get_dynamic_array_len(items) / 2, 2),
		  __entry->waited_us, __entry->took_us)
);

/* Only what is worth a look: an order that took long. */
TRACE_EVENT_CONDITION(order_slow,

	TP_PROTO(unsigned int id, u64 took_us),

	TP_ARGS(id, took_us),

	TP_CONDITION(took_us > 5000),

	TP_STRUCT__entry(
		__field(	unsigned int,	id	)
		__field(	u64,		took_us	)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->took_us = took_us;
	),

	TP_printk("id=%u took_us=%llu", __entry->id, __entry->took_us)
);

/* A receipt on its way to the disk. */
TRACE_EVENT(receipt_write,

	TP_PROTO(const char *file, size_t bytes, bool synced, int error),

	TP_ARGS(file, bytes, synced, error),

	TP_STRUCT__entry(
		__string(	file,	file	)
		__field(	size_t,	bytes	)
		__field(	bool,	synced	)
		__field(	int,	error	)
	),

	TP_fast_assign(
		__assign_str(file);
		__entry->bytes = bytes;
		__entry->synced = synced;
		__entry->error = error;
	),

	TP_printk("file=%s bytes=%zu%s error=%d", __get_str(file),
		  __entry->bytes, __entry->synced ? " synced" : "",
		  __entry->error)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE shop_trace
#include <tacho/define_trace.h>
