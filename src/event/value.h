/* SPDX-License-Identifier: MIT */
/* value.h - bytes of raw events as numbers; shared by printers. */
#ifndef TACHO_EVENT_VALUE_H
#define TACHO_EVENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* The integer of size bytes at p, extended to 64 bits; 0 for other sizes than 1, 2, 4 and 8. */
static inline uint64_t tacho_value_load(const void *p, uint32_t size,
					bool is_signed)
{
	switch (size) {
	case 1: {
		uint8_t v = *(const uint8_t *)p;

		return is_signed ? (uint64_t)(int8_t)v : v;
	}
	case 2: {
		uint16_t v = tacho_load_u16(p);

		return is_signed ? (uint64_t)(int16_t)v : v;
	}
	case 4: {
		uint32_t v = tacho_load_u32(p);

		return is_signed ? (uint64_t)(int32_t)v : v;
	}
	case 8:
		return tacho_load_u64(p);
	default:
		return 0;
	}
}

/* The floating-point number with the bits in v, in its low 4 bytes or all 8. */
static inline double tacho_value_bits(uint64_t v, uint32_t size)
{
	uint32_t half = (uint32_t)v;
	double wide;
	float narrow;

	if (size == 4) {
		memcpy(&narrow, &half, sizeof(narrow));
		return (double)narrow;
	}
	memcpy(&wide, &v, sizeof(wide));
	return wide;
}

static inline double tacho_value_real(const void *p, uint32_t size)
{
	return tacho_value_bits(tacho_value_load(p, size, false), size);
}

/*
 * The variable data that the word at offset `at` describes: offset in the
 * low 16 bits (from the raw event's start, or from the word's end when
 * relative), length in the high 16.  NULL if any byte is outside the event.
 */
static inline const unsigned char *tacho_value_loc(const void *raw, size_t len,
						   uint32_t at, bool relative,
						   size_t *size)
{
	uint32_t word;
	size_t from;

	if (len < 4 || at > len - 4)
		return NULL;
	word = tacho_load_u32((const unsigned char *)raw + at);
	from = word & 0xffff;
	if (relative)
		from += (size_t)at + 4;
	*size = word >> 16;
	if (from > len || *size > len - from)
		return NULL;
	return (const unsigned char *)raw + from;
}

#endif
