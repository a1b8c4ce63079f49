// SPDX-License-Identifier: MIT
/* One JSON object a line. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "event/print_text.h"
#include "event/value.h"
#include "fmt/text/line_priv.h"

static uint32_t task_text(const struct tacho_line *l, int32_t pid,
			  const char *comm, char *text, size_t size)
{
	struct tacho_json j;
	struct tacho_buf b;
	uint32_t n;

	(void)l;
	tacho_buf_init(&b, size);
	tacho_json_init(&j, &b);
	j.comma = true;
	tacho_json_pair_s64(&j, "pid", pid);
	tacho_json_key(&j, "comm");
	if (comm)
		tacho_json_strn(&j, comm, strnlen(comm, 16));
	else if (!pid)
		tacho_json_str(&j, "<idle>");
	else
		tacho_json_null(&j);
	n = (uint32_t)b.len;
	memcpy(text, b.data, n);
	tacho_buf_release(&b);
	return n;
}

static void type_text(const struct tacho_line *l, const struct tacho_type *type,
		      uint32_t source, struct tacho_buf *head)
{
	struct tacho_json j;

	(void)l;
	tacho_json_init(&j, head);
	j.comma = true;
	tacho_json_pair_str(&j, "system", type->system);
	tacho_json_pair_str(&j, "event", type->name);
	tacho_json_pair_str(&j, "source",
			    source == TACHO_STREAM_KERNEL ? "kernel" : "program");
	tacho_json_key(&j, "fields");
	tacho_buf_putc(head, '{');
}

static void key_text(const struct tacho_field *f, struct tacho_buf *key)
{
	struct tacho_json j;

	tacho_json_init(&j, key);
	j.comma = true;
	tacho_json_key(&j, f->name);
}

/* JSON has no word for what is not finite. */
static void put_real(struct tacho_buf *out, double v, uint32_t size)
{
	if (isfinite(v))
		tacho_text_shortest(out, v, size);
	else
		tacho_buf_puts(out, "null");
}

static void put_number(const struct tacho_field *f, const unsigned char *p,
		       struct tacho_buf *out)
{
	bool is_signed = f->flags & TACHO_FIELD_SIGNED;
	uint64_t v = tacho_value_load(p, f->elem_size, is_signed);

	if (f->flags & TACHO_FIELD_FLOAT) {
		put_real(out, tacho_value_bits(v, f->elem_size), f->elem_size);
		return;
	}
	if (f->flags & TACHO_FIELD_BOOL)
		tacho_buf_puts(out, v ? "true" : "false");
	else if (is_signed)
		tacho_buf_put_s64(out, (int64_t)v);
	else
		tacho_buf_put_u64(out, v);
}

static void put_string(struct tacho_buf *out, const char *s, size_t len)
{
	struct tacho_json j;

	tacho_json_init(&j, out);
	tacho_json_strn(&j, s, len);
}

/* Bitmaps and bytes as their text. */
static void put_other(const struct tacho_field *f, const struct tacho_record *r,
		      struct tacho_buf *out)
{
	tacho_buf_putc(out, '"');
	tacho_field_print(f, r->raw, r->len, out);
	tacho_buf_putc(out, '"');
}

static void put_value(const struct tacho_field *f, const struct tacho_record *r,
		      struct tacho_buf *out)
{
	size_t size;
	const unsigned char *p = tacho_field_data(f, r->raw, r->len, &size);

	if (!p) {
		tacho_buf_puts(out, "null");
	} else if (f->kind == TACHO_FIELD_SCALAR) {
		put_number(f, p, out);
	} else if (f->flags & TACHO_FIELD_STRING) {
		put_string(out, (const char *)p, strnlen((const char *)p, size));
	} else if (line_number_array(f)) {
		tacho_buf_putc(out, '[');
		for (size_t i = 0; i < size / f->elem_size; i++) {
			if (i)
				tacho_buf_putc(out, ',');
			put_number(f, p + i * f->elem_size, out);
		}
		tacho_buf_putc(out, ']');
	} else {
		put_other(f, r, out);
	}
}

static uint64_t shown_time(const struct tacho_line *l,
			   const struct tacho_record *r)
{
	switch (l->config.time) {
	case TACHO_LINE_RELATIVE:
		return r->time - l->base;
	case TACHO_LINE_TICKS:
		return r->ticks;
	case TACHO_LINE_CLOCK:
	case TACHO_LINE_UTC:
	default:
		return r->time;
	}
}

/* {"time":1,"delta":1,"cpu":0 */
static char *put_place(const struct tacho_line *l, const struct tacho_record *r,
		       char *o)
{
	o = tacho_chars(o, "{\"time\":", 8);
	o = tacho_digits(o, shown_time(l, r));
	if (l->config.delta) {
		o = tacho_chars(o, ",\"delta\":", 9);
		o = tacho_digits(o, line_delta(l, r));
	}
	o = tacho_chars(o, ",\"cpu\":", 7);
	if (tacho_unlikely(r->cpu == UINT32_MAX))
		return tacho_chars(o, "null", 4);
	return tacho_digits(o, r->cpu);
}

/* Of a record that is not from the main buffer, its buffer's name. */
static void put_buffer(const char *name, struct tacho_buf *out)
{
	if (tacho_likely(!*name))
		return;
	tacho_buf_puts(out, ",\"buffer\":");
	put_string(out, name, strlen(name));
}

static void put(struct tacho_line *l, const struct tacho_record *r,
		const struct line_type *type, const struct line_task *task,
		struct tacho_buf *out)
{
	char *o = tacho_buf_reserve(out, LINE_PREFIX + type->head_len);
	char *from = o;

	if (!o)
		return;
	o = put_place(l, r, o);
	o = tacho_chars(o, task->text, task->len);
	o = tacho_chars(o, type->head, type->head_len);
	tacho_buf_commit(out, (size_t)(o - from));
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		const struct line_field *f = &type->field[i];

		/* a comma between, none before the first */
		tacho_buf_put(out, f->key + !i, f->key_len - !i);
		put_value(f->field, r, out);
	}
	tacho_buf_putc(out, '}');
	put_buffer(tacho_stream_buffer(l->stream), out);
	tacho_buf_put(out, "}\n", 2);
}

static void lost(struct tacho_line *l, const struct tacho_record *r,
		 struct tacho_buf *out)
{
	char *o = tacho_buf_reserve(out, LINE_PREFIX);
	char *from = o;

	if (!o)
		return;
	o = put_place(l, r, o);
	tacho_buf_commit(out, (size_t)(o - from));
	tacho_buf_puts(out, ",\"lost\":");
	tacho_buf_put_u64(out, r->lost);
	tacho_buf_puts(out, ",\"source\":\"");
	tacho_buf_puts(out, r->source == TACHO_STREAM_KERNEL ? "kernel" :
							       "program");
	tacho_buf_puts(out, "\"}\n");
}

const struct line_ops tacho_line_json = {
	.task = task_text, .type = type_text, .key = key_text,
	.put = put, .lost = lost,
};
