// SPDX-License-Identifier: MIT
/* One JSON object a line. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "event/print_text.h"
#include "event/value.h"
#include "fmt/text/line_priv.h"
#include "stream/stream.h"

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
	n = tacho_buf_error(&b) == -ENOMEM ? 0 : (uint32_t)b.len;
	if (n)
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

/* A call stack of a program. */
static bool is_stack(const struct tacho_record *r)
{
	return r->source == TACHO_STREAM_PROGRAM &&
	       !strcmp(r->type->name, "user_stack") &&
	       !strcmp(r->type->system, "tacho");
}

/* Its addresses, which by their type could be a set of CPUs. */
static bool is_caller(const struct tacho_field *f, const struct tacho_record *r)
{
	return f->elem_size == 8 && is_stack(r) && !strcmp(f->name, "caller");
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
	} else if (line_number_array(f) || is_caller(f, r)) {
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

/* ---- call stacks of programs ---- */

/* {"address":1,"function":"f","offset":2,...}: what is known of it. */
static void put_frame(struct tacho_json *j, const struct tacho_frame *f,
		      uint64_t addr)
{
	tacho_json_open(j, '{');
	tacho_json_pair_u64(j, "address", addr);
	if (f->function) {
		tacho_json_pair_str(j, "function", f->function);
		tacho_json_pair_u64(j, "offset", f->offset);
	}
	if (f->file) {
		tacho_json_pair_str(j, "file", f->file);
		tacho_json_pair_u64(j, "line", f->line);
	}
	if (f->object) {
		tacho_json_pair_str(j, "object", f->object);
		tacho_json_pair_u64(j, "object_offset", f->object_offset);
	}
	tacho_json_close(j, '}');
}

static void put_stack(struct tacho_line *l, const struct tacho_record *r,
		      struct tacho_buf *out)
{
	const struct tacho_field *caller = tacho_type_field(r->type, "caller");
	const unsigned char *p;
	struct tacho_frame frame;
	struct tacho_json j;
	size_t size = 0;

	p = caller ? tacho_field_data(caller, r->raw, r->len, &size) : NULL;
	tacho_json_init(&j, out);
	j.comma = true;
	tacho_json_key(&j, "stack");
	tacho_json_open(&j, '[');
	for (size_t i = 0; p && i + 8 <= size; i += 8) {
		uint64_t addr = tacho_load_u64(p + i);

		tacho_stream_frame(l->stream, r, addr, &frame);
		put_frame(&j, &frame, addr);
	}
	tacho_json_close(&j, ']');
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
	if (tacho_unlikely(is_stack(r)))
		put_stack(l, r, out);
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
