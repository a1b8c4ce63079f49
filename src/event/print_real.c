// SPDX-License-Identifier: MIT
/* Floating-point numbers as text; the digits are the C library's. */
#include "event/print_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest double has 309 digits before its point. */
#define REAL_MAX (TACHO_WIDTH_MAX + 400)

/*
 * Replaces the decimal point of this program's locale by '.'.  Every other character that
 * printf() prints for a number is one of these.
 */
static size_t point_fix(char *s, size_t n)
{
	static const char plain[] = "0123456789abcdefinpx+-.";
	size_t at = 0, end;

	while (at < n && strchr(plain, s[at]))
		at++;
	for (end = at; end < n && !strchr(plain, s[end]); end++)
		;
	if (at == end)
		return n;
	s[at] = '.';
	memmove(s + at + 1, s + end, n - end);
	return n - (end - at) + 1;
}

/* The digits of v, which has no sign; prec < 0 is the conversion's default. */
static size_t digits(char *to, size_t room, const struct tacho_spec *s,
		     double v)
{
	int prec = s->prec < 0 ? -1 : s->prec > TACHO_WIDTH_MAX ?
		   TACHO_WIDTH_MAX : s->prec;
	bool alt = s->flags & TACHO_SPEC_ALT;
	int n;

	switch (s->base) {
	case 'e':
		n = alt ? snprintf(to, room, "%#.*e", prec, v) :
			  snprintf(to, room, "%.*e", prec, v);
		break;
	case 'g':
		n = alt ? snprintf(to, room, "%#.*g", prec, v) :
			  snprintf(to, room, "%.*g", prec, v);
		break;
	case 'a':
		n = alt ? snprintf(to, room, "%#.*a", prec, v) :
			  snprintf(to, room, "%.*a", prec, v);
		break;
	case 'f':
	default:
		n = alt ? snprintf(to, room, "%#.*f", prec, v) :
			  snprintf(to, room, "%.*f", prec, v);
		break;
	}
	if (n < 0)
		return 0;
	return point_fix(to, (size_t)n < room ? (size_t)n : room - 1);
}

static void fill(struct tacho_buf *out, char c, size_t n)
{
	char *to = n ? tacho_buf_reserve(out, n) : NULL;

	if (!to)
		return;
	memset(to, c, n);
	tacho_buf_commit(out, n);
}

static size_t width_of(const struct tacho_spec *s)
{
	if (s->width < 0)
		return 0;
	return s->width > TACHO_WIDTH_MAX ? TACHO_WIDTH_MAX : (size_t)s->width;
}

void tacho_text_real(struct tacho_buf *out, const struct tacho_spec *s,
		     double v)
{
	bool left = s->flags & TACHO_SPEC_LEFT;
	bool zero = !left && s->flags & TACHO_SPEC_ZERO && isfinite(v);
	size_t width = width_of(s), head = 0, n, pad;
	char text[REAL_MAX];

	if (signbit(v))
		text[head++] = '-';
	else if (s->flags & TACHO_SPEC_PLUS)
		text[head++] = '+';
	else if (s->flags & TACHO_SPEC_SPACE)
		text[head++] = ' ';
	n = head + digits(text + head, sizeof(text) - head, s, fabs(v));
	if (s->flags & TACHO_SPEC_UPPER)
		for (size_t i = head; i < n; i++)
			if (text[i] >= 'a' && text[i] <= 'z')
				text[i] = (char)(text[i] - 'a' + 'A');
	/* zeros go after the sign and the 0x */
	if (s->base == 'a' && isfinite(v))
		head += 2;
	pad = width > n ? width - n : 0;
	if (!left && !zero)
		fill(out, ' ', pad);
	tacho_buf_put(out, text, head);
	if (zero)
		fill(out, '0', pad);
	tacho_buf_put(out, text + head, n - head);
	if (left)
		fill(out, ' ', pad);
}

static bool same_bits(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

void tacho_text_shortest(struct tacho_buf *out, double v, uint32_t size)
{
	int prec = size == 4 ? 6 : 15, most = size == 4 ? 9 : 17;
	char text[64];
	int n;

	for (;; prec++) {
		double back;

		n = snprintf(text, sizeof(text), "%.*g", prec, v);
		if (prec == most || !isfinite(v))
			break;
		back = size == 4 ? (double)strtof(text, NULL) :
				   strtod(text, NULL);
		if (same_bits(back, v))
			break;
	}
	if (n > 0)
		tacho_buf_put(out, text, point_fix(text, (size_t)n));
}
