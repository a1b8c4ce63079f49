/* SPDX-License-Identifier: MIT */
/*
 * points.h - LTT's events that programs make, as tracepoints.
 *
 * Fields are those of LTT's structs, in their order: that is what fmt/ltt/copy.c goes by.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ltt

#if !defined(TACHO_FACE_LTT_POINTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_FACE_LTT_POINTS_H

#include <tacho/tracepoint.h>

TRACE_EVENT(new_event,

	TP_PROTO(u32 id, const char *type, const char *desc, u32 format_type,
		 const char *form),

	TP_ARGS(id, type, desc, format_type, form),

	TP_STRUCT__entry(
		__field(	u32,	id		)
		__array(	char,	type,	20	)
		__array(	char,	desc,	100	)
		__field(	u32,	format_type	)
		__array(	char,	form,	256	)
	),

	TP_fast_assign(
		__entry->id = id;
		memcpy(__entry->type, type, 20);
		memcpy(__entry->desc, desc, 100);
		__entry->format_type = format_type;
		memcpy(__entry->form, form, 256);
	),

	TP_printk("id=%u type=%s desc=%s format_type=%u form=%s", __entry->id,
		  __entry->type, __entry->desc, __entry->format_type, __entry->form)
);

TRACE_EVENT(custom,

	TP_PROTO(u32 id, u32 size, const void *data),

	TP_ARGS(id, size, data),

	TP_STRUCT__entry(
		__field(	u32,	id		)
		__field(	u32,	data_size	)
		__dynamic_array(u8,	data,	size	)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->data_size = size;
		memcpy(__get_dynamic_array(data), data, size);
	),

	TP_printk("id=%u data_size=%u data=%s", __entry->id, __entry->data_size,
		  __print_hex(__get_dynamic_array(data),
			      __get_dynamic_array_len(data)))
);

TRACE_EVENT(change_mask,

	TP_PROTO(u64 mask),

	TP_ARGS(mask),

	TP_STRUCT__entry(
		__field(	u64,	mask		)
	),

	TP_fast_assign(
		__entry->mask = mask;
	),

	TP_printk("mask=0x%llx", (unsigned long long)__entry->mask)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH face/ltt
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE points
#include <tacho/define_trace.h>
