/* SPDX-License-Identifier: MIT */
/*
 * convert.h - converts raw events of the kernel to records of abi/record.h.
 *
 * The record is the first word (time, size) and the unchanged raw event, except for what the
 * record's layout guarantees and the kernel does not:
 *
 *	- after the last field there is only zero padding to 8 bytes;
 *	- variable data begins where the fixed part ends and is in the order
 *	  of its fields without gaps.
 *
 * Nearly all events of the kernel comply already.  A load and a compare check that; the others
 * are rebuilt (convert.c).
 *
 * Raw events are untrusted.  One that contradicts its type is not converted.
 */
#ifndef TACHO_KDATA_CONVERT_H
#define TACHO_KDATA_CONVERT_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "kdata/types.h"
#include "tacho/abi/record.h"

/* Bytes at `out` that a conversion may overwrite. */
#define TACHO_KCONVERT_ROOM	((size_t)TACHO_RECORD_MAX + 72)

/* Converts events that must be rebuilt; see tacho_kconvert(). */
uint32_t tacho_kconvert_slow(const struct tacho_ktypes *t,
			     const struct tacho_kplan *plan,
			     const unsigned char *raw, uint32_t len,
			     unsigned char *out);

/* Copies len bytes in blocks of 16: reads and writes up to 15 bytes more. */
static TACHO_ALWAYS_INLINE void tacho_kconvert_copy(unsigned char *out,
						    const unsigned char *in,
						    uint32_t len)
{
	uint32_t i = 0;

	do {
		memcpy(out + i, in + i, 16);
		i += 16;
	} while (i < len);
}

/*
 * tacho_kconvert - append a record.
 *
 * plan is that of the event's type, not of kind NONE.  raw holds len bytes;
 * bytes up to `limit` may be read, too.  out is 8-aligned and has
 * TACHO_KCONVERT_ROOM bytes.
 *
 * Returns the record's size, or 0 when the event is damaged or too large.
 */
static TACHO_ALWAYS_INLINE uint32_t
tacho_kconvert(const struct tacho_ktypes *t, const struct tacho_kplan *plan,
	       uint64_t time, const unsigned char *raw, uint32_t len,
	       const unsigned char *limit, unsigned char *out)
{
	uint32_t used = plan->fixed, size, word;
	uint64_t tail;

	if (tacho_unlikely(used > len))
		return 0;
	if (plan->kind == TACHO_KPLAN_ONE) {
		word = tacho_load_u32(raw + plan->loc);
		if (tacho_unlikely((word & 0xffff) != used ||
				   word >> 16 > len - used))
			goto slow;
		used += word >> 16;
	} else if (plan->kind != TACHO_KPLAN_FIXED) {
		goto slow;
	}
	if (tacho_unlikely(used > TACHO_RAW_MAX))
		return 0;
	if (tacho_unlikely(used > 256 || (size_t)(limit - raw) < used + 16))
		memcpy(out + 8, raw, used);
	else
		tacho_kconvert_copy(out + 8, raw, used);
	goto finish;
slow:
	used = tacho_kconvert_slow(t, plan, raw, len, out + 8);
	if (!used)
		return 0;
finish:
	size = TACHO_ALIGN_UP(used + 8, 8);
	if (used & 7) {
		tail = tacho_load_u64(out + size - 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		tail &= (UINT64_C(1) << (used & 7) * 8) - 1;
#else
		tail &= ~(UINT64_MAX >> (used & 7) * 8);
#endif
		tacho_put_u64(out + size - 8, tail);
	}
	tacho_put_u64(out, tacho_record_word(time, size));
	return size;
}

#endif
