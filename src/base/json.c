// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void tacho_json_init(struct tacho_json *j, struct tacho_buf *out)
{
	*j = (struct tacho_json){ .out = out };
}

static void value(struct tacho_json *j)
{
	if (j->comma)
		tacho_buf_putc(j->out, ',');
	j->comma = true;
}

void tacho_json_open(struct tacho_json *j, char bracket)
{
	value(j);
	tacho_buf_putc(j->out, bracket);
	j->comma = false;
}

void tacho_json_close(struct tacho_json *j, char bracket)
{
	tacho_buf_putc(j->out, bracket);
	j->comma = true;
}

static void escaped(struct tacho_buf *out, const char *s, size_t len)
{
	tacho_buf_putc(out, '"');
	while (len) {
		unsigned char c = (unsigned char)*s;
		size_t n = 1;

		if (c == '"' || c == '\\') {
			tacho_buf_putc(out, '\\');
			tacho_buf_putc(out, *s);
		} else if (c < 0x20) {
			tacho_buf_puts(out, "\\u");
			tacho_buf_put_hex(out, c, 4);
		} else {
			n = tacho_utf8_len(s, len);
			if (n) {
				tacho_buf_put(out, s, n);
			} else {
				tacho_buf_puts(out, "\\ufffd");
				n = tacho_utf8_bad_len(s, len);
			}
		}
		s += n;
		len -= n;
	}
	tacho_buf_putc(out, '"');
}

void tacho_json_key(struct tacho_json *j, const char *name)
{
	value(j);
	escaped(j->out, name, strlen(name));
	tacho_buf_putc(j->out, ':');
	j->comma = false;
}

void tacho_json_strn(struct tacho_json *j, const char *s, size_t len)
{
	value(j);
	escaped(j->out, s, len);
}

void tacho_json_str(struct tacho_json *j, const char *s)
{
	if (s)
		tacho_json_strn(j, s, strlen(s));
	else
		tacho_json_null(j);
}

void tacho_json_u64(struct tacho_json *j, uint64_t v)
{
	value(j);
	tacho_buf_put_u64(j->out, v);
}

void tacho_json_s64(struct tacho_json *j, int64_t v)
{
	value(j);
	tacho_buf_put_s64(j->out, v);
}

void tacho_json_bool(struct tacho_json *j, bool v)
{
	value(j);
	tacho_buf_puts(j->out, v ? "true" : "false");
}

void tacho_json_null(struct tacho_json *j)
{
	value(j);
	tacho_buf_puts(j->out, "null");
}

void tacho_json_double(struct tacho_json *j, double v)
{
	char text[32];

	if (!isfinite(v)) {
		tacho_json_null(j);
		return;
	}
	/* the shortest that reads back as the same number */
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, v);
		if (!(strtod(text, NULL) < v) && !(strtod(text, NULL) > v))
			break;
	}
	value(j);
	tacho_buf_puts(j->out, text);
}

void tacho_json_pair_str(struct tacho_json *j, const char *name, const char *s)
{
	tacho_json_key(j, name);
	tacho_json_str(j, s);
}

void tacho_json_pair_u64(struct tacho_json *j, const char *name, uint64_t v)
{
	tacho_json_key(j, name);
	tacho_json_u64(j, v);
}

void tacho_json_pair_s64(struct tacho_json *j, const char *name, int64_t v)
{
	tacho_json_key(j, name);
	tacho_json_s64(j, v);
}

void tacho_json_pair_bool(struct tacho_json *j, const char *name, bool v)
{
	tacho_json_key(j, name);
	tacho_json_bool(j, v);
}
