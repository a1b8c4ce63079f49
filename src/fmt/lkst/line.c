// SPDX-License-Identifier: MIT
#include "fmt/lkst/line.h"

#include "base/digits.h"

#define NAME_MAX_	64	/* bytes of a name, and of a description, that are shown */
#define DAY		INT64_C(86400)

struct lkst_date lkst_date_of(int64_t days)
{
	/* eras of 400 years from 0000-03-01 on, so that the leap day is a year's last */
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	uint32_t of_era = (uint32_t)(z - era * 146097);
	uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint32_t shifted = (5 * of_year + 2) / 153;
	struct lkst_date d;

	d.day = of_year - (153 * shifted + 2) / 5 + 1;
	d.month = shifted < 10 ? shifted + 3 : shifted - 9;
	d.year = (int32_t)(year + era * 400) + (d.month <= 2);
	return d;
}

static char *put_text(char *o, const char *s)
{
	for (size_t i = 0; i < NAME_MAX_ && s[i]; i++) {
		unsigned char c = (unsigned char)s[i];

		*o++ = c < ' ' || c == 0x7f ? '?' : (char)c;
	}
	return o;
}

static char *put_hex(char *o, uint64_t v)
{
	int shift = v ? (63 - __builtin_clzll(v)) / 4 * 4 : 0;

	*o++ = '0';
	*o++ = 'x';
	for (; shift >= 0; shift -= 4)
		*o++ = "0123456789abcdef"[v >> shift & 15];
	return o;
}

static char *put_signed(char *o, int64_t v)
{
	if (v < 0)
		*o++ = '-';
	return tacho_digits(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* "2026-11-22 02:41:06.123456789" */
static char *put_time(char *o, uint64_t ns, int32_t offset)
{
	int64_t s = (int64_t)(ns / 1000000000) + offset;
	int64_t days = (s >= 0 ? s : s - (DAY - 1)) / DAY;
	uint32_t left = (uint32_t)(s - days * DAY);
	struct lkst_date d = lkst_date_of(days);

	o = put_signed(o, d.year);
	*o++ = '-';
	o = tacho_digits_two(o, d.month);
	*o++ = '-';
	o = tacho_digits_two(o, d.day);
	*o++ = ' ';
	o = tacho_digits_two(o, left / 3600);
	*o++ = ':';
	o = tacho_digits_two(o, left / 60 % 60);
	*o++ = ':';
	o = tacho_digits_two(o, left % 60);
	*o++ = '.';
	return tacho_digits_nine(o, (uint32_t)(ns % 1000000000));
}

static bool is_text(const char *s)
{
	return s && *s;
}

static char *put_arg(char *o, int i, uint64_t v, const struct lkst_line *how)
{
	if (!is_text(how->arg[i]) && !how->all)
		return o;
	*o++ = ' ';
	if (is_text(how->arg[i])) {
		o = put_text(o, how->arg[i]);
	} else {
		o = tacho_chars(o, "arg", 3);
		*o++ = (char)('1' + i);
	}
	*o++ = '=';
	return put_hex(o, v);
}

/* At most 64 + 5 + 5 + 5 + 11 + 1 + 35 + 4 * (2 + 64 + 18) + 1 bytes. */
size_t lkst_line_put(char *to, const struct lkst_record *r, const struct lkst_line *how)
{
	char *o = to;

	o = is_text(how->name) ? put_text(o, how->name) : put_hex(o, r->etype);
	o = tacho_chars(o, " cpu=", 5);
	o = tacho_digits(o, r->cpu);
	o = tacho_chars(o, " pid=", 5);
	o = put_signed(o, r->pid);
	*o++ = ' ';
	o = put_time(o, how->realtime, how->utc_offset);
	for (int i = 0; i < 4; i++)
		o = put_arg(o, i, r->arg[i], how);
	*o++ = '\n';
	return (size_t)(o - to);
}
