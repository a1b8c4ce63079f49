// SPDX-License-Identifier: MIT
#include "base/scan.h"

#include <errno.h>
#include <string.h>

/* Whether there is a character at p. */
static bool is_there(const char *p, const char *end)
{
	return end ? p < end : *p != '\0';
}

/* 0 to 15, or 16 for anything that is not a digit. */
static unsigned int digit_of(char c)
{
	unsigned int digit = (unsigned int)(unsigned char)c - '0';

	if (digit < 10)
		return digit;
	digit = ((unsigned int)(unsigned char)c | 0x20) - 'a';
	return digit < 6 ? digit + 10 : 16;
}

int tacho_scan_digits(const char **s, const char *end, unsigned int base, uint64_t max,
		      uint64_t *v)
{
	const char *p = *s;
	uint64_t n = 0;
	bool over = false;

	for (; is_there(p, end); p++) {
		unsigned int digit = digit_of(*p);

		if (digit >= base)
			break;
		over |= __builtin_mul_overflow(n, (uint64_t)base, &n) ||
			__builtin_add_overflow(n, (uint64_t)digit, &n) || n > max;
	}
	if (p == *s)
		return -EINVAL;
	*s = p;
	*v = over ? max : n;
	return over ? -ERANGE : 0;
}

int tacho_scan_number(const char **s, const char *end, uint64_t max, uint64_t *v)
{
	const char *p = *s;

	if (!is_there(p, end) || *p != '0')
		return tacho_scan_digits(s, end, 10, max, v);
	if (is_there(p + 1, end) && (p[1] | 0x20) == 'x' && is_there(p + 2, end) &&
	    digit_of(p[2]) < 16)
		*s = p + 2;
	return tacho_scan_digits(s, end, *s == p ? 8 : 16, max, v);
}

int tacho_scan_after(const char *s, const char *end, const char *key, uint64_t max, uint64_t *v)
{
	size_t len = strlen(key);
	const char *at = end ? memmem(s, (size_t)(end - s), key, len) : strstr(s, key);

	if (!at)
		return -EINVAL;
	at += len;
	return tacho_scan_digits(&at, end, 10, max, v);
}

bool tacho_scan_whole(const char *s, size_t len, unsigned int signs, uint64_t *v)
{
	const char *end = s + len;
	bool minus = len && *s == '-' && signs & TACHO_SCAN_MINUS;
	uint64_t max = signs & TACHO_SCAN_MINUS ? (uint64_t)INT64_MAX + minus : UINT64_MAX;

	if (minus || (len && *s == '+' && signs & TACHO_SCAN_PLUS))
		s++;
	if (s == end || tacho_scan_number(&s, end, max, v) || s != end)
		return false;
	if (minus)
		*v = 0 - *v;
	return true;
}

/* Moves *s past c, if that is there. */
static bool take(const char **s, const char *end, char c)
{
	bool found = is_there(*s, end) && **s == c;

	*s += found;
	return found;
}

int tacho_scan_size(const char **s, const char *end, uint64_t *v)
{
	static const char units[] = "kmgt";
	unsigned int shift = 0;
	int err = tacho_scan_digits(s, end, 10, UINT64_MAX, v);

	if (err == -EINVAL)
		return err;
	for (unsigned int i = 0; is_there(*s, end) && units[i]; i++)
		if ((**s | 0x20) == units[i])
			shift = 10 * (i + 1);
	if (shift) {
		++*s;
		if (is_there(*s, end) && **s == 'i' && is_there(*s + 1, end) && (*s)[1] == 'B')
			++*s;
	}
	(void)take(s, end, 'B');
	if (err || *v > UINT64_MAX >> shift) {
		*v = UINT64_MAX;
		return -ERANGE;
	}
	*v <<= shift;
	return 0;
}

int tacho_scan_range(const char **s, const char *end, uint64_t max, uint64_t *first,
		     uint64_t *last)
{
	const char *p = *s;
	int err = tacho_scan_digits(&p, end, 10, max, first);

	*last = *first;
	if (!err && take(&p, end, '-'))
		err = tacho_scan_digits(&p, end, 10, max, last);
	if (!err && *last < *first)
		err = -EINVAL;
	if (err != -EINVAL)
		*s = p;
	return err;
}
