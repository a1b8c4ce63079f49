/* SPDX-License-Identifier: MIT */
/*
 * digits.h - the decimal writer: numbers as text, two digits at a time.
 *
 * All functions write to `o`, which must have room, and return the end of the written text.  They
 * write no NUL.
 *
 * Context: any, also signal handlers.
 */
#ifndef TACHO_BASE_DIGITS_H
#define TACHO_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* "00" to "99" */
extern const char tacho_digit_pairs[200] __attribute__((visibility("hidden")));

/* v < 100 */
static inline char *tacho_digits_two(char *o, uint32_t v)
{
	memcpy(o, tacho_digit_pairs + 2 * v, 2);
	return o + 2;
}

/* v < 10^6 */
static inline char *tacho_digits_six(char *o, uint32_t v)
{
	o = tacho_digits_two(o, v / 10000);
	o = tacho_digits_two(o, v / 100 % 100);
	return tacho_digits_two(o, v % 100);
}

/* v < 10^9 */
static inline char *tacho_digits_nine(char *o, uint32_t v)
{
	o = tacho_digits_six(o, v / 1000);
	*o++ = (char)('0' + v / 100 % 10);
	return tacho_digits_two(o, v % 100);
}

/* Writes the digits of v immediately before `end`; returns their start. */
static inline char *tacho_digits_before(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, tacho_digit_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, tacho_digit_pairs + 2 * v, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

/* Writes all digits of v, at most 20. */
char *tacho_digits(char *o, uint64_t v);

/* Writes all digits of v, with leading blanks to at least `width` characters. */
char *tacho_digits_right(char *o, uint64_t v, size_t width);

static inline char *tacho_chars(char *o, const char *s, size_t len)
{
	memcpy(o, s, len);
	return o + len;
}

#endif
