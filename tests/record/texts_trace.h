/* SPDX-License-Identifier: MIT */
/* Every kind of field, for the readers of other systems' formats. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM texts

#if !defined(TACHO_TESTS_TEXTS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_TEXTS_TRACE_H

#include <tacho/tracepoint.h>

/* Strings, lists and masks, each behind a __data_loc. */
TRACE_EVENT(located,
	TP_PROTO(int n, const char *text, const u16 *list,
		 const unsigned long *mask),
	TP_ARGS(n, text, list, mask),
	TP_STRUCT__entry(
		__field(	int,		n			)
		__array(	u8,		mac,	6		)
		__string(	text,		text			)
		__dynamic_array(u16,		list,	n		)
		__bitmask(	mask,		70			)
	),
	TP_fast_assign(
		__entry->n = n;
		memset(__entry->mac, n, 6);
		__assign_str(text);
		memcpy(__get_dynamic_array(list), list, n * sizeof(*list));
		__assign_bitmask(mask, mask, 70);
	),
	TP_printk("n=%d mac=%s text=%s list=%s mask=%s", __entry->n,
		  __print_hex(__entry->mac, 6), __get_str(text),
		  __print_array(__get_dynamic_array(list),
				__get_dynamic_array_len(list) / 2, 2),
		  __get_bitmask(mask))
);

/* The same behind a __rel_loc. */
TRACE_EVENT(relative,
	TP_PROTO(int n, const char *text, const u32 *list,
		 const unsigned long *mask),
	TP_ARGS(n, text, list, mask),
	TP_STRUCT__entry(
		__field(	u8,		n			)
		__rel_string(	text,		text			)
		__rel_dynamic_array(u32,	list,	n		)
		__rel_bitmask(	mask,		64			)
	),
	TP_fast_assign(
		__entry->n = (u8)n;
		__assign_rel_str(text);
		memcpy(__get_rel_dynamic_array(list), list, n * sizeof(*list));
		__assign_rel_bitmask(mask, mask, 64);
	),
	TP_printk("n=%d text=%s mask=%s", __entry->n, __get_rel_str(text),
		  __get_rel_bitmask(mask))
);

/* Numbers, and names for them. */
TRACE_EVENT(named,
	TP_PROTO(int n, double real),
	TP_ARGS(n, real),
	TP_STRUCT__entry(
		__field(	s16,		odd	)
		__field(	int,		less	)
		__field(	int,		n	)
		__field(	unsigned long,	flags	)
		__field(	bool,		flag	)
		__field(	double,		real	)
		__array(	char,		word,	8 )
	),
	TP_fast_assign(
		__entry->odd = (s16)(n & 1);
		__entry->less = -n;
		__entry->n = n;
		__entry->flags = (unsigned long)n;
		__entry->flag = n & 2;
		__entry->real = real;
		memcpy(__entry->word, "seven\0\0", 8);
	),
	TP_printk("less=%d n=%s flags=%s odd=%d flag=%d word=%s %lx", __entry->less,
		  __print_symbolic(__entry->n, { 0, "none" }, { 1, "one" },
				   { 2, "two" }),
		  __print_flags(__entry->flags, "|", { 1, "A" }, { 2, "B" }),
		  __entry->odd, __entry->flag, __entry->word, __entry->flags)
);

/* As large as the caller says: beyond a page, too. */
TRACE_EVENT(blob,
	TP_PROTO(unsigned int n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__field(	unsigned int,	n		)
		__dynamic_array(unsigned char, data, n	)
	),
	TP_fast_assign(
		__entry->n = n;
		memset(__get_dynamic_array(data), 'b', n);
	),
	TP_printk("n=%u", __entry->n)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE texts_trace
#include <tacho/define_trace.h>
