// SPDX-License-Identifier: MIT
#include "base/digits.h"

const char tacho_digit_pairs[200] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

char *tacho_digits(char *o, uint64_t v)
{
	char tmp[20], *end = tmp + sizeof(tmp), *s = tacho_digits_before(end, v);

	return tacho_chars(o, s, (size_t)(end - s));
}

char *tacho_digits_right(char *o, uint64_t v, size_t width)
{
	char tmp[20], *end = tmp + sizeof(tmp), *s = tacho_digits_before(end, v);
	size_t n = (size_t)(end - s);

	if (n < width) {
		memset(o, ' ', width - n);
		o += width - n;
	}
	return tacho_chars(o, s, n);
}
