/* SPDX-License-Identifier: MIT */
/* request_lttng.h - the events of request_trace.h, as LTTng-UST's. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER request

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./request_lttng.h"

#if !defined(TACHO_TESTS_REQUEST_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TACHO_TESTS_REQUEST_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(request, begin,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint64_t, time, uint64_t, which),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, id, number)
		lttng_ust_field_integer(uint64_t, at, time)
		lttng_ust_field_integer(uint64_t, kind, which)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(request, end,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint64_t, time, const char *, what),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, id, number)
		lttng_ust_field_integer(uint64_t, at, time)
		lttng_ust_field_string(name, what)
	)
)

#endif

#include <lttng/tracepoint-event.h>
