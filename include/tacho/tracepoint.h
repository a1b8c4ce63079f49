/* SPDX-License-Identifier: MIT */
/*
 * <tacho/tracepoint.h> - the kernel's TRACE_EVENT family for programs.
 *
 * Link with -ltacho.  A trace header is written as for the kernel:
 *
 *	#undef TRACE_SYSTEM
 *	#define TRACE_SYSTEM shop
 *
 *	#if !defined(SHOP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
 *	#define SHOP_TRACE_H
 *
 *	#include <tacho/tracepoint.h>
 *
 *	TRACE_EVENT(order_done,
 *		TP_PROTO(int id, const char *customer),
 *		TP_ARGS(id, customer),
 *		TP_STRUCT__entry(
 *			__field(	int,	id		)
 *			__string(	customer, customer	)
 *		),
 *		TP_fast_assign(
 *			__entry->id = id;
 *			__assign_str(customer);
 *		),
 *		TP_printk("id=%d customer=%s", __entry->id,
 *			  __get_str(customer))
 *	);
 *
 *	#endif
 *
 *	#undef TRACE_INCLUDE_PATH
 *	#define TRACE_INCLUDE_PATH .
 *	#undef TRACE_INCLUDE_FILE
 *	#define TRACE_INCLUDE_FILE shop_trace
 *	#include <tacho/define_trace.h>
 *
 * Files that use the events include it and call trace_order_done(id, name).  Exactly
 * one C or C++ file of each program or library defines CREATE_TRACE_POINTS first:
 *
 *	#define CREATE_TRACE_POINTS
 *	#include "shop_trace.h"
 *
 * The header is then included eight times, each time with other definitions of the
 * macros (see tacho/impl/stages.h).  The compiler must find it as
 * <TRACE_INCLUDE_PATH/TRACE_INCLUDE_FILE.h>, so `.` needs -I with its directory.
 *
 * A disabled site costs three loads (one is for perf and gdb, see tacho/impl/sdt.h), an or
 * and an untaken branch.  Sites are safe in any thread.  They are safe in signal handlers
 * if the code in TP_fast_assign is.
 *
 *	TACHO_DISABLE	tracepoints become empty functions.  Define it for all files
 *			of an object or for none.
 *	TACHO_OPTIONAL	libtacho is not linked, but loaded when the program starts.
 *	TACHO_NO_SDT	no nop, no note for perf, bpftrace and gdb.
 *	TACHO_NO_KERNEL_TYPES	no u8 ... s64, see <tacho/ktypes.h>.
 */
#ifndef TACHO_TRACEPOINT_H
#define TACHO_TRACEPOINT_H

#include "tacho/impl/macro.h"
#include "tacho/impl/sdt.h"
#include "tacho/abi/site.h"
#include "tacho/ktypes.h"

/* Whether any session has the event enabled. */
TACHO_INLINE bool tacho_event_recorded(const struct tacho_event *ev)
{
	const uint64_t *state = TACHO_SITE_LOAD(const uint64_t *, ev->state);

	return __builtin_expect(TACHO_SITE_LOAD(uint64_t, *state) != 0, 0);
}

/* The same, or a tool is attached to its SDT note: one branch for both. */
TACHO_INLINE bool tacho_event_enabled(const struct tacho_event *ev)
{
	const uint64_t *state = TACHO_SITE_LOAD(const uint64_t *, ev->state);

	return __builtin_expect((TACHO_SITE_LOAD(uint64_t, *state) |
				 TACHO_SDT_USERS(ev)) != 0, 0);
}

/*
 * The parts of an event are passed through the macros in parentheses, so that they can
 * contain commas.
 */
#define TP_PROTO(...)		(__VA_ARGS__)
#define TP_ARGS(...)		(__VA_ARGS__)
#define TP_CONDITION(...)	(__VA_ARGS__)
#define TP_STRUCT__entry(...)	(__VA_ARGS__)
#define TP_fast_assign(...)	(__VA_ARGS__)
#define TP_printk(...)		(__VA_ARGS__)

#ifndef PARAMS
#define PARAMS(...)		__VA_ARGS__
#endif

#define TACHO_STAGE 0
#include "tacho/impl/stages.h"
#undef TACHO_STAGE

#endif
