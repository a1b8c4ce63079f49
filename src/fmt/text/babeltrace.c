// SPDX-License-Identifier: MIT
/* The line of babeltrace's text output, fields as LTTng's contexts and payload. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "event/print_text.h"
#include "event/value.h"
#include "fmt/text/line_priv.h"

/* The escapes of babeltrace. */
static void put_quoted(struct tacho_buf *out, const char *s, size_t len)
{
	static const char from[] = "\\'\"?\a\b\033\f\n\r\t\v";
	static const char to[] = "\\'\"?abefnrtv";

	tacho_buf_putc(out, '"');
	for (size_t i = 0; i < len && s[i]; i++) {
		const char *p = strchr(from, s[i]);

		if (p) {
			tacho_buf_putc(out, '\\');
			tacho_buf_putc(out, to[p - from]);
		} else if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f) {
			tacho_buf_puts(out, "\\x");
			tacho_buf_put_hex(out, (unsigned char)s[i], 2);
		} else {
			tacho_buf_putc(out, s[i]);
		}
	}
	tacho_buf_putc(out, '"');
}

static uint32_t task_text(const struct tacho_line *l, int32_t pid,
			  const char *comm, char *text, size_t size)
{
	struct tacho_buf b;
	uint32_t n;

	tacho_buf_init(&b, size);
	tacho_buf_printf(&b, "pid = %d", pid);
	if (comm) {
		tacho_buf_puts(&b, ", procname = ");
		if (l->config.colour)
			tacho_buf_puts(&b, LINE_COLOUR_COMM);
		put_quoted(&b, comm, strnlen(comm, 16));
		if (l->config.colour)
			tacho_buf_puts(&b, LINE_COLOUR_OFF);
	}
	n = tacho_buf_error(&b) == -ENOMEM ? 0 : (uint32_t)b.len;
	if (n)
		memcpy(text, b.data, n);
	tacho_buf_release(&b);
	return n;
}

/* " host system:event: " */
static void type_text(const struct tacho_line *l, const struct tacho_type *type,
		      uint32_t source, struct tacho_buf *head)
{
	(void)source;
	tacho_buf_putc(head, ' ');
	tacho_buf_puts(head, l->host);
	tacho_buf_putc(head, ' ');
	if (l->config.colour)
		tacho_buf_puts(head, LINE_COLOUR_EVENT);
	tacho_buf_puts(head, type->system);
	tacho_buf_putc(head, ':');
	tacho_buf_puts(head, type->name);
	if (l->config.colour)
		tacho_buf_puts(head, LINE_COLOUR_OFF);
	tacho_buf_puts(head, ": ");
}

static void key_text(const struct tacho_field *f, struct tacho_buf *key)
{
	tacho_buf_putc(key, ' ');
	tacho_buf_puts(key, f->name);
	tacho_buf_puts(key, " = ");
}

static uint32_t clock_of_day(const struct tm *tm, char text[48])
{
	return (uint32_t)strftime(text, 48, "[%H:%M:%S.", tm);
}

static uint32_t local_text(uint64_t second, char text[48])
{
	time_t t = (time_t)second;
	struct tm tm = { 0 };

	(void)localtime_r(&t, &tm);
	return clock_of_day(&tm, text);
}

static uint32_t utc_text(uint64_t second, char text[48])
{
	time_t t = (time_t)second;
	struct tm tm = { 0 };

	(void)gmtime_r(&t, &tm);
	return clock_of_day(&tm, text);
}

static uint32_t seconds_text(uint64_t second, char text[48])
{
	char *o = text;

	*o++ = '[';
	o = tacho_digits(o, second);
	*o++ = '.';
	return (uint32_t)(o - text);
}

/* The first line's is not known. */
static char *put_delta(const struct tacho_line *l, const struct tacho_record *r, char *o)
{
	uint64_t d;

	if (tacho_unlikely(!l->before))
		return tacho_chars(o, "?." "?????????" ")", 12);
	d = line_delta(l, r);
	o = tacho_digits(o, d / TACHO_NS_PER_S);
	*o++ = '.';
	o = tacho_digits_nine(o, (uint32_t)(d % TACHO_NS_PER_S));
	*o++ = ')';
	return o;
}

static char *put_time(struct tacho_line *l, const struct tacho_record *r,
		      char *o)
{
	line_second_fn *make = local_text;
	const struct line_second *s;
	uint64_t t = r->time;

	if (l->config.time == TACHO_LINE_TICKS) {
		*o++ = '[';
		o = tacho_digits(o, r->ticks);
	} else {
		if (l->config.time == TACHO_LINE_UTC)
			make = utc_text;
		if (l->config.time == TACHO_LINE_RELATIVE) {
			make = seconds_text;
			t -= l->base;
		}
		s = line_second(l, t / TACHO_NS_PER_S, make);
		o = tacho_chars(o, s->text, s->len);
		o = tacho_digits_nine(o, (uint32_t)(t % TACHO_NS_PER_S));
	}
	return tacho_chars(o, "] (+", 4);
}

static void put_pointer(struct tacho_buf *out, uint64_t v)
{
	char digits[18], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789ABCDEF"[v & 15];
		v >>= 4;
	} while (v);
	*--p = 'x';
	*--p = '0';
	tacho_buf_put(out, p, (size_t)(digits + sizeof(digits) - p));
}

static void put_number(const struct tacho_field *f, const unsigned char *p,
		       struct tacho_buf *out)
{
	/* the six digits that babeltrace gives */
	static const struct tacho_spec real = {
		.base = 'g', .width = -1, .prec = -1,
	};
	bool is_signed = f->flags & TACHO_FIELD_SIGNED;
	uint64_t v = tacho_value_load(p, f->elem_size, is_signed);

	if (f->flags & TACHO_FIELD_FLOAT) {
		tacho_text_real(out, &real, tacho_value_bits(v, f->elem_size));
	} else if (f->flags & TACHO_FIELD_POINTER) {
		put_pointer(out, v);
	} else if (is_signed) {
		tacho_buf_put_s64(out, (int64_t)v);
	} else {
		tacho_buf_put_u64(out, v);
	}
}

static void put_array(const struct tacho_field *f, const unsigned char *p,
		      size_t n, struct tacho_buf *out)
{
	tacho_buf_putc(out, '[');
	for (size_t i = 0; i < n; i++) {
		tacho_buf_puts(out, i ? ", [" : " [");
		tacho_buf_put_u64(out, i);
		tacho_buf_puts(out, "] = ");
		put_number(f, p + i * f->elem_size, out);
	}
	tacho_buf_puts(out, " ]");
}

static void put_value(const struct tacho_field *f, const struct tacho_record *r,
		      struct tacho_buf *out)
{
	size_t size;
	const unsigned char *p = tacho_field_data(f, r->raw, r->len, &size);

	if (!p)
		tacho_buf_puts(out, "(absent)");
	else if (f->kind == TACHO_FIELD_SCALAR)
		put_number(f, p, out);
	else if (f->flags & TACHO_FIELD_STRING)
		put_quoted(out, (const char *)p, size);
	else if (line_number_array(f))
		put_array(f, p, size / f->elem_size, out);
	else
		tacho_field_print(f, r->raw, r->len, out);
}

static void put(struct tacho_line *l, const struct tacho_record *r,
		const struct line_type *type, const struct line_task *task,
		struct tacho_buf *out)
{
	char *o = tacho_buf_reserve(out, LINE_PREFIX + type->head_len);
	char *start = o, *delta;
	size_t from;

	if (!o)
		return;
	delta = put_time(l, r, o);
	o = put_delta(l, r, delta);
	line_note_seam(l, r, out, start, delta, o);
	o = tacho_chars(o, type->head, type->head_len);
	if (tacho_likely(r->cpu != UINT32_MAX)) {
		o = tacho_chars(o, "{ cpu_id = ", 11);
		o = tacho_digits(o, r->cpu);
		o = tacho_chars(o, " }, ", 4);
	}
	o = tacho_chars(o, "{ ", 2);
	o = tacho_chars(o, task->text, task->len);
	o = tacho_chars(o, " }, {", 5);
	tacho_buf_commit(out, (size_t)(o - start));
	from = out->len;
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		const struct line_field *f = &type->field[i];

		if (i)
			tacho_buf_putc(out, ',');
		tacho_buf_put(out, f->key, f->key_len);
		put_value(f->field, r, out);
	}
	tacho_line_tame(l, out->data + from, out->len - from);
	tacho_buf_put(out, " }\n", 3);
}

static void lost(struct tacho_line *l, const struct tacho_record *r,
		 struct tacho_buf *out)
{
	if (l->config.colour)
		tacho_buf_puts(out, LINE_COLOUR_LOST);
	tacho_buf_puts(out, "WARNING: ");
	tacho_buf_put_u64(out, r->lost);
	tacho_buf_puts(out, " events were lost");
	if (r->cpu != UINT32_MAX)
		tacho_buf_printf(out, " on CPU %u", r->cpu);
	if (l->config.colour)
		tacho_buf_puts(out, LINE_COLOUR_OFF);
	tacho_buf_putc(out, '\n');
}

const struct line_ops tacho_line_babeltrace = {
	.task = task_text, .type = type_text, .key = key_text,
	.put = put, .lost = lost, .delta = put_delta,
};
