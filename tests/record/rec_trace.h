/* SPDX-License-Identifier: MIT */
/* Events of the programs that the recording tests trace. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rec

#if !defined(TACHO_TESTS_REC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_REC_TRACE_H

#include <tacho/tracepoint.h>

#ifndef TACHO_TESTS_REC_SUM
#define TACHO_TESTS_REC_SUM
static inline u64 rec_sum(u64 slot, u64 n)
{
	u64 v = slot * 0x9e3779b97f4a7c15ULL ^ (n + 0x1234567);

	return v * 0xff51afd7ed558ccdULL ^ v >> 29;
}
#endif

/* Who wrote it, the how manieth of that writer, and a sum over both. */
DECLARE_EVENT_CLASS(rec_hit,
	TP_PROTO(u64 slot, u64 n),
	TP_ARGS(slot, n),
	TP_STRUCT__entry(
		__field(	u64,	slot	)
		__field(	u64,	n	)
		__field(	u64,	sum	)
	),
	TP_fast_assign(
		__entry->slot = slot;
		__entry->n = n;
		__entry->sum = rec_sum(slot, n);
	),
	TP_printk("slot=%llu n=%llu sum=%llx",
		  (unsigned long long)__entry->slot,
		  (unsigned long long)__entry->n,
		  (unsigned long long)__entry->sum)
);

DEFINE_EVENT(rec_hit, hit, TP_PROTO(u64 slot, u64 n), TP_ARGS(slot, n));
DEFINE_EVENT(rec_hit, other, TP_PROTO(u64 slot, u64 n), TP_ARGS(slot, n));
DEFINE_EVENT(rec_hit, mark, TP_PROTO(u64 slot, u64 n), TP_ARGS(slot, n));

TRACE_EVENT(text,
	TP_PROTO(const char *text),
	TP_ARGS(text),
	TP_STRUCT__entry(
		__string(	text,	text	)
	),
	TP_fast_assign(
		__assign_str(text);
	),
	TP_printk("%s", __get_str(text))
);

#define REC_EIGHT(a)						\
		__field(u32, a##0) __field(u32, a##1)		\
		__field(u32, a##2) __field(u32, a##3)		\
		__field(u32, a##4) __field(u32, a##5)		\
		__field(u32, a##6) __field(u32, a##7)

/* 128 fields of 4 bytes. */
TRACE_EVENT(wide,
	TP_PROTO(u32 first),
	TP_ARGS(first),
	TP_STRUCT__entry(
		REC_EIGHT(fa) REC_EIGHT(fb) REC_EIGHT(fc) REC_EIGHT(fd)
		REC_EIGHT(fe) REC_EIGHT(ff) REC_EIGHT(fg) REC_EIGHT(fh)
		REC_EIGHT(fi) REC_EIGHT(fj) REC_EIGHT(fk) REC_EIGHT(fl)
		REC_EIGHT(fm) REC_EIGHT(fn) REC_EIGHT(fo) REC_EIGHT(fp)
	),
	TP_fast_assign(
		for (u32 i_ = 0; i_ < 128; i_++)
			memcpy((char *)&__entry->fa0 + 4 * i_,
			       &(u32){ first + i_ }, 4);
	),
	TP_printk("%u ... %u", __entry->fa0, __entry->fp7)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rec_trace
#include <tacho/define_trace.h>
