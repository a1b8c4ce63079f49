// SPDX-License-Identifier: MIT
#include "event/type.h"

#include <string.h>

#include "event/print.h"
#include "event/print_text.h"
#include "event/value.h"

static void escape(struct tacho_buf *out, unsigned char c)
{
	static const char from[] = "\n\t\r\\";
	static const char to[] = "ntr\\";
	const char *p = c ? strchr(from, c) : NULL;

	tacho_buf_putc(out, '\\');
	if (p) {
		tacho_buf_putc(out, to[p - from]);
	} else {
		tacho_buf_putc(out, 'x');
		tacho_buf_put_hex(out, c, 2);
	}
}

/* Text up to its NUL, runs of plain characters copied at once. */
static void string_print(const unsigned char *s, size_t n,
			 struct tacho_buf *out)
{
	size_t from = 0, i;

	for (i = 0; i < n && s[i]; i++) {
		if (s[i] >= 0x20 && s[i] != 0x7f && s[i] != '\\')
			continue;
		tacho_buf_put(out, s + from, i - from);
		escape(out, s[i]);
		from = i + 1;
	}
	tacho_buf_put(out, s + from, i - from);
}

static void number_print(const struct tacho_field *f, const unsigned char *p,
			 struct tacho_buf *out)
{
	bool is_signed = f->flags & TACHO_FIELD_SIGNED;
	uint64_t v = tacho_value_load(p, f->elem_size, is_signed);

	if (f->flags & TACHO_FIELD_FLOAT) {
		tacho_text_shortest(out, tacho_value_bits(v, f->elem_size),
				    f->elem_size);
		return;
	}
	if (f->flags & TACHO_FIELD_POINTER) {
		tacho_buf_put(out, "0x", 2);
		tacho_buf_put_hex(out, v, 0);
	} else if (is_signed) {
		tacho_buf_put_s64(out, (int64_t)v);
	} else {
		tacho_buf_put_u64(out, v);
	}
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void array_print(const struct tacho_field *f, const unsigned char *p,
			size_t size, struct tacho_buf *out)
{
	size_t n = size / f->elem_size;

	tacho_buf_putc(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i)
			tacho_buf_putc(out, ',');
		number_print(f, p + i * f->elem_size, out);
	}
	tacho_buf_putc(out, '}');
}

void tacho_field_print(const struct tacho_field *f, const void *raw, size_t len,
		       struct tacho_buf *out)
{
	size_t size;
	const unsigned char *p = tacho_field_data(f, raw, len, &size);

	if (!p)
		tacho_buf_puts(out, "(absent)");
	else if (f->kind == TACHO_FIELD_SCALAR)
		number_print(f, p, out);
	else if (f->flags & TACHO_FIELD_STRING)
		string_print(p, size, out);
	else if (f->flags & TACHO_FIELD_BITMASK)
		tacho_text_bitmap(out, p, size * 8);
	else if (f->kind == TACHO_FIELD_OPAQUE || !is_number_size(f->elem_size))
		tacho_text_hex(out, p, size, '\0');
	else
		array_print(f, p, size, out);
}

void tacho_print_fields(const struct tacho_type *type, const void *raw,
			size_t len, struct tacho_buf *out)
{
	for (uint32_t i = type->nr_common; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];

		tacho_buf_putc(out, ' ');
		tacho_buf_puts(out, f->name);
		tacho_buf_putc(out, '=');
		tacho_field_print(f, raw, len, out);
	}
}
