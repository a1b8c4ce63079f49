/* SPDX-License-Identifier: MIT */
/*
 * scan.h - numbers in text: the one place where digits become a value.
 *
 * Text is [*s, end); end NULL: it ends with a NUL.  So foreign text needs no NUL, and a
 * number is never read past the text.  Every function detects overflow.  Unless it says
 * otherwise, a function moves *s to the first character that it did not use.
 *
 * Returns 0; -EINVAL: there is no number at *s, which stays; -ERANGE: the number is larger than
 * allowed.  Then *s is after all digits and *v is the largest value allowed, as with strtoull().
 *
 * Context: any, also signal handlers.
 */
#ifndef TACHO_BASE_SCAN_H
#define TACHO_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits of a base from 2 to 16, of either case, up to max. */
int tacho_scan_digits(const char **s, const char *end, unsigned int base, uint64_t max,
		      uint64_t *v);

/*
 * A number as C writes it: 0x1f or 0X1F, 017, or 15.  "0x" without a hexadecimal digit is the
 * number 0, before an x.
 */
int tacho_scan_number(const char **s, const char *end, uint64_t max, uint64_t *v);

/*
 * The decimal number directly after the first `key` in [s, end), up to max.  end NULL: s ends with
 * a NUL.  Returns as tacho_scan_digits(); -EINVAL also if the text does not have the key.
 */
int tacho_scan_after(const char *s, const char *end, const char *key, uint64_t max, uint64_t *v);

/* Which signs a whole number may have. */
enum tacho_scan_sign {
	TACHO_SCAN_MINUS = 1,
	TACHO_SCAN_PLUS = 2,
};

/*
 * A number as C writes it, of all len characters at s, with one of the given signs or none.
 * Without TACHO_SCAN_MINUS up to UINT64_MAX, with it from INT64_MIN to INT64_MAX.  Returns false
 * for any other text and for a number out of range; *v is undefined then.
 */
bool tacho_scan_whole(const char *s, size_t len, unsigned int signs, uint64_t *v);

/*
 * A decimal number with a unit of 1024, 1024^2, ...: k K m M g G t T, and after it "B", or after a
 * unit also "iB": 4096, 64k, 16MiB.
 */
int tacho_scan_size(const char **s, const char *end, uint64_t *v);

/* "3" (then *last is *first) or "3-5", decimal; first <= last, else -EINVAL. */
int tacho_scan_range(const char **s, const char *end, uint64_t max, uint64_t *first,
		     uint64_t *last);

#endif
