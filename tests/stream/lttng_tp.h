/* SPDX-License-Identifier: MIT */
/* lttng_tp.h - an LTTng-UST event with a field of every kind. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tacho_test

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_tp.h"

#if !defined(TACHO_TESTS_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TACHO_TESTS_LTTNG_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_ENUM(tacho_test, colour,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("red", 0)
		lttng_ust_field_enum_value("green", 1)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tacho_test, all,
	LTTNG_UST_TP_ARGS(int, i, const char *, text, const int *, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, i, -i)
		lttng_ust_field_integer(uint8_t, small, i)
		lttng_ust_field_integer_hex(uint64_t, hex, (uint64_t)i << 40)
		lttng_ust_field_float(double, real, i / 4.0)
		lttng_ust_field_string(text, text)
		lttng_ust_field_array(int, fixed, v, 3)
		lttng_ust_field_sequence(short, seq, (const short *)v, size_t, i % 3)
		lttng_ust_field_array_text(char, comm, text, 4)
		lttng_ust_field_enum(tacho_test, colour, int, col, i % 2)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tacho_test, none,
	LTTNG_UST_TP_ARGS(),
	LTTNG_UST_TP_FIELDS()
)

#endif

#include <lttng/tracepoint-event.h>
