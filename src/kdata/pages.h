/* SPDX-License-Identifier: MIT */
/*
 * pages.h - the kernel's ring-buffer sub-buffers, read from bytes.
 *
 * trace_pipe_raw returns a sub-buffer as the kernel's writer wrote it
 * (kernel/trace/ring_buffer.c; the offsets are in events/header_page):
 *
 *	 0          8           16
 *	+----------+-----------+---------------------------- - - ---+------+
 *	| time u64 | commit    | events                             | junk |
 *	+----------+-----------+---------------------------- - - ---+------+
 *	                       |<----------- size ---------------->|
 *
 * `commit` holds the size in its low bits.  Bit 31: events were lost before this sub-buffer; bit
 * 30: their number is stored after the events, as a long.  It is not stored if the sub-buffer is
 * full.
 *
 * An event begins with one 32-bit word: 5 bits of type_len, 27 bits of time
 * delta since the previous event (the first: since `time`).
 *
 *	type_len	then
 *	1..28		type_len * 4 bytes of raw event
 *	0		u32 n, then n - 4 bytes of raw event
 *	29 padding	delta 0: no more events in this sub-buffer; otherwise a discarded event:
 *			u32 n, then n - 4 bytes.  Its delta counts, except 1, which discarding
 *			writes if the event had none
 *	30 extend	u32 high: the delta has high << 27 added; no event
 *	31 stamp	u32 high: the time is high << 27 | delta, 59 bits, the
 *			5 bits above stay what they were; no event
 *
 * A raw event's length is a multiple of 4: up to 3 bytes at its end are junk.
 *
 * The bytes are untrusted.  The iterator never reads outside of them, and each step moves
 * forward, so it takes at most len / 4 steps.
 *
 * One iterator is used by one thread at a time.
 */
#ifndef TACHO_KDATA_PAGES_H
#define TACHO_KDATA_PAGES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/diag.h"

/* The layout of a sub-buffer's header: events/header_page. */
struct tacho_kpage_layout {
	uint32_t time_off;	/* u64 */
	uint32_t commit_off;
	uint32_t commit_size;	/* 4 or 8 */
	uint32_t data_off;	/* the events; also the size of the header */
	uint32_t data_size;	/* maximum bytes of events; 0: not known */
};

/*
 * tacho_kpage_layout_parse - read events/header_page.
 *
 * Returns 0, or -EINVAL with d filled in when the text is not a layout that
 * this reader can follow.
 */
int tacho_kpage_layout_parse(struct tacho_kpage_layout *l, const char *text,
			     size_t len, struct tacho_diag *d);

/* An iterator over one sub-buffer. */
struct tacho_kpage {
	const unsigned char *pos;
	const unsigned char *end;
	uint64_t time;		/* of the last event, or the sub-buffer's own */
	int64_t lost;		/* events lost before it; -1: an unknown number */
};

struct tacho_kevent {
	uint64_t time;
	const unsigned char *raw;
	uint32_t len;		/* a multiple of 4 */
};

/*
 * tacho_kpage_open - begin a sub-buffer of len bytes.
 *
 * The bytes are borrowed until the last tacho_kpage_next().  Returns 0, or
 * -EBADMSG when its header contradicts len.
 */
int tacho_kpage_open(struct tacho_kpage *p, const struct tacho_kpage_layout *l,
		     const void *bytes, size_t len);

/*
 * tacho_kpage_open_part - begin a sub-buffer that the kernel still fills: only the first `size`
 * bytes of events are read, whatever `commit` is.  After the kernel has added events,
 * tacho_kpage_extend() sets the new size.
 */
int tacho_kpage_open_part(struct tacho_kpage *p,
			  const struct tacho_kpage_layout *l,
			  const void *bytes, size_t len, size_t size);

/*
 * Continues an iterator at its end.  bytes and len are those of open_part.  Returns 0, or
 * -EBADMSG if size is larger than len or smaller than what was read.
 */
int tacho_kpage_extend(struct tacho_kpage *p,
		       const struct tacho_kpage_layout *l,
		       const void *bytes, size_t len, size_t size);

/* Handles all but small events; returns as tacho_kpage_next(), or 2 for "no event". */
int tacho_kpage_other(struct tacho_kpage *p, uint32_t type, uint32_t delta,
		      struct tacho_kevent *ev);

/*
 * tacho_kpage_next - the next event.
 *
 * Returns 1 and *ev (raw borrowed from the sub-buffer), 0 at the end, or
 * -EBADMSG for bytes that are not an event; then, and at the end, the iterator does not move.
 */
static TACHO_ALWAYS_INLINE int tacho_kpage_next(struct tacho_kpage *p,
						struct tacho_kevent *ev)
{
	for (;;) {
		size_t left = (size_t)(p->end - p->pos);
		uint32_t word, type, delta, len;
		int ret;

		if (left < 4)
			return left ? -EBADMSG : 0;
		word = tacho_load_u32(p->pos);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		type = word & 31;
		delta = word >> 5;
#else
		type = word >> 27;
		delta = word & 0x7ffffff;
#endif
		if (tacho_likely(type - 1 < 28)) {
			len = type * 4;
			if (len > left - 4)
				return -EBADMSG;
			p->time += delta;
			ev->time = p->time;
			ev->raw = p->pos + 4;
			ev->len = len;
			p->pos += 4 + len;
			return 1;
		}
		ret = tacho_kpage_other(p, type, delta, ev);
		if (ret != 2)
			return ret;
	}
}

#endif
