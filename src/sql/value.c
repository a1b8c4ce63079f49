// SPDX-License-Identifier: MIT
/* From a record to the value of a column. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "event/context.h"
#include "event/print_text.h"
#include "event/value.h"
#include "sql/stack.h"

/* ---- bindings ----------------------------------------------------------------------- */

static enum sql_how how_of(const struct tacho_field_info *info)
{
	bool array = info->flags & TACHO_VALUE_ARRAY;

	switch (info->kind) {
	case TACHO_VALUE_STRING:
		return SQL_HOW_STRING;
	case TACHO_VALUE_BITMASK:
		return SQL_HOW_BITMASK;
	case TACHO_VALUE_INTEGER:
		return array ? SQL_HOW_INTS : SQL_HOW_INT;
	case TACHO_VALUE_FLOAT:
		return array ? SQL_HOW_REALS : SQL_HOW_REAL;
	default:
		return SQL_HOW_BYTES;
	}
}

static void bind_column(const struct tacho_type *type, const struct sql_column *column,
			struct sql_bound_field *to)
{
	struct tacho_field_info info;

	*to = (struct sql_bound_field){ .how = SQL_HOW_ABSENT };
	if (column->kind < SQL_FIELD)
		return;
	to->field = tacho_type_field(type, column->field);
	if (!to->field || tacho_type_field_info(type, to->field, &info))
		return;
	to->how = how_of(&info);
	if (column->kind == SQL_FIELD_NAME)
		tacho_name_table_find(type, to->field, &to->names);
}

static TACHO_COLD const struct sql_binding *bind_type(struct sql_cursor *c)
{
	const struct sql_table *t = c->vtab->table;
	const struct tacho_type *type = c->record.type;
	struct sql_binding *b;

	for (b = c->bindings; b; b = b->next)
		if (b->type == type)
			return b;
	b = malloc(sizeof(*b) + t->nr_columns * sizeof(b->field[0]));
	if (!b)
		return NULL;
	b->type = type;
	for (uint32_t i = 0; i < t->nr_columns; i++)
		bind_column(type, &t->column[i], &b->field[i]);
	b->next = c->bindings;
	c->bindings = b;
	return b;
}

void sql_forget(struct sql_cursor *c)
{
	struct sql_binding *next;

	for (struct sql_binding *b = c->bindings; b; b = next) {
		next = b->next;
		free(b);
	}
	c->bindings = NULL;
	c->bound = NULL;
	memset(c->task, 0, sizeof(c->task));
}

/* ---- threads -------------------------------------------------------------------------- */

const struct sql_task *sql_task_of(struct sql_cursor *c)
{
	struct tacho_stream *s = c->stream->trace.stream;
	const struct tacho_source *source = tacho_stream_current(s);
	int32_t tid = c->record.pid;
	struct sql_task *t = &c->task[(uint32_t)tid % SQL_TASKS];
	const char *comm;

	if (tacho_likely(t->known && t->tid == tid && t->source == source))
		return t;
	*t = (struct sql_task){ .known = true, .tid = tid, .source = source };
	comm = tacho_stream_comm(s, tid, &t->tgid);
	if (!comm && !tid)
		comm = "<idle>";
	t->named = comm;
	strncpy(t->comm, comm ? comm : "", sizeof(t->comm) - 1);
	return t;
}

/* ---- fields --------------------------------------------------------------------------- */

static void put_json_ints(struct sql_cursor *c, const struct tacho_field *f,
			  const unsigned char *p, size_t size)
{
	bool is_signed = f->flags & TACHO_FIELD_SIGNED;
	size_t el = f->elem_size;
	struct tacho_json j;

	tacho_json_init(&j, &c->text);
	tacho_json_open(&j, '[');
	for (size_t at = 0; size - at >= el; at += el)
		tacho_json_s64(&j, (int64_t)tacho_value_load(p + at, f->elem_size, is_signed));
	tacho_json_close(&j, ']');
}

static void put_json_reals(struct sql_cursor *c, const struct tacho_field *f,
			   const unsigned char *p, size_t size)
{
	size_t el = f->elem_size;
	struct tacho_json j;

	tacho_json_init(&j, &c->text);
	tacho_json_open(&j, '[');
	for (size_t at = 0; size - at >= el; at += el)
		tacho_json_double(&j, tacho_value_real(p + at, f->elem_size));
	tacho_json_close(&j, ']');
}

static int result_text(struct sql_cursor *c, sqlite3_context *ctx)
{
	if (tacho_buf_error(&c->text))
		return SQLITE_NOMEM;
	sqlite3_result_text(ctx, c->text.len ? c->text.data : "", (int)c->text.len,
			    SQLITE_TRANSIENT);
	return SQLITE_OK;
}

/* What has several elements, or none at a fixed place. */
static int value_of_bytes(struct sql_cursor *c, sqlite3_context *ctx,
			  const struct sql_bound_field *b)
{
	size_t size;
	const unsigned char *p = tacho_field_data(b->field, c->record.raw, c->record.len, &size);

	if (!p)
		return SQLITE_OK;	/* NULL */
	switch ((int)b->how) {
	case SQL_HOW_STRING:
		sqlite3_result_text(ctx, (const char *)p, (int)strnlen((const char *)p, size),
				    SQLITE_TRANSIENT);
		return SQLITE_OK;
	case SQL_HOW_BYTES:
		sqlite3_result_blob(ctx, p, (int)size, SQLITE_TRANSIENT);
		return SQLITE_OK;
	case SQL_HOW_INTS:
	case SQL_HOW_REALS:
	case SQL_HOW_BITMASK:
		break;
	default:
		return SQLITE_OK;
	}
	tacho_buf_reset(&c->text);
	if (b->how == SQL_HOW_BITMASK)
		tacho_text_bitmap_list(&c->text, p, size * 8);
	else if (b->how == SQL_HOW_INTS)
		put_json_ints(c, b->field, p, size);
	else
		put_json_reals(c, b->field, p, size);
	return result_text(c, ctx);
}

static int value_of_field(struct sql_cursor *c, sqlite3_context *ctx,
			  const struct sql_bound_field *b)
{
	const struct tacho_field *f = b->field;
	double real;

	if (tacho_likely(b->how == SQL_HOW_INT && f->kind == TACHO_FIELD_SCALAR)) {
		if (tacho_likely(f->offset + (uint64_t)f->size <= c->record.len))
			sqlite3_result_int64(ctx, (int64_t)tacho_value_load(
				(const unsigned char *)c->record.raw + f->offset, f->size,
				f->flags & TACHO_FIELD_SIGNED));
		return SQLITE_OK;
	}
	if (b->how == SQL_HOW_ABSENT)
		return SQLITE_OK;
	if (b->how == SQL_HOW_REAL) {
		if (tacho_field_double(f, c->record.raw, c->record.len, &real))
			sqlite3_result_double(ctx, real);
		return SQLITE_OK;
	}
	return value_of_bytes(c, ctx, b);
}

/* The names of the bits of v, as __print_flags() prints them, with '|'. */
static int flag_names(struct sql_cursor *c, sqlite3_context *ctx,
		      const struct tacho_name_table *names, uint64_t v)
{
	tacho_buf_reset(&c->text);
	for (uint32_t i = 0; v && i < names->nr; i++) {
		uint64_t bits;
		size_t len;
		const char *name = tacho_name_table_at(names, i, &bits, &len);

		if (!bits || (v & bits) != bits)
			continue;
		v &= ~bits;
		if (c->text.len)
			tacho_buf_putc(&c->text, '|');
		tacho_buf_put(&c->text, name, len);
	}
	if (v) {
		tacho_buf_puts(&c->text, c->text.len ? "|0x" : "0x");
		tacho_buf_put_hex(&c->text, v, 1);
	}
	return result_text(c, ctx);
}

/* NULL: the value has no name. */
static int name_of_field(struct sql_cursor *c, sqlite3_context *ctx,
			 const struct sql_bound_field *b)
{
	uint64_t v;

	if (!b->field || !tacho_field_int(b->field, c->record.raw, c->record.len, &v))
		return SQLITE_OK;
	v &= b->names.mask;
	if (b->names.flags)
		return flag_names(c, ctx, &b->names, v);
	for (uint32_t i = 0; i < b->names.nr; i++) {
		uint64_t value;
		size_t len;
		const char *name = tacho_name_table_at(&b->names, i, &value, &len);

		if ((value & b->names.mask) != v)
			continue;
		sqlite3_result_text(ctx, name, (int)len, SQLITE_TRANSIENT);
		break;
	}
	return SQLITE_OK;
}

/* ---- columns --------------------------------------------------------------------------- */

static int value_of_task(struct sql_cursor *c, sqlite3_context *ctx, bool comm)
{
	const struct sql_task *t = sql_task_of(c);

	if (comm && t->named)
		sqlite3_result_text(ctx, t->comm, -1, SQLITE_TRANSIENT);
	if (!comm && (t->tgid || (t->named && !t->tid)))
		sqlite3_result_int64(ctx, t->tgid);
	return SQLITE_OK;
}

static int value_of_text(struct sql_cursor *c, sqlite3_context *ctx)
{
	tacho_buf_reset(&c->text);
	tacho_stream_print(c->stream->trace.stream, &c->record, &c->text);
	return result_text(c, ctx);
}

static int value_of_context(const struct sql_cursor *c, sqlite3_context *ctx)
{
	const unsigned char *raw = c->record.raw;
	char letters[TACHO_CONTEXT_LETTERS];
	const char *end = tacho_context_put(letters, raw[2], raw[3]);

	sqlite3_result_text(ctx, letters, (int)(end - letters), SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static void static_text(sqlite3_context *ctx, const char *text)
{
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static int value_of_common(struct sql_cursor *c, sqlite3_context *ctx,
			   enum sql_column_kind kind)
{
	const struct tacho_record *r = &c->record;

	switch ((int)kind) {
	case SQL_TIME:
		sqlite3_result_int64(ctx, r->time < INT64_MAX ? (int64_t)r->time : INT64_MAX);
		return SQLITE_OK;
	case SQL_CPU:
		if (r->cpu != UINT32_MAX)
			sqlite3_result_int64(ctx, r->cpu);
		return SQLITE_OK;
	case SQL_TID:
		sqlite3_result_int64(ctx, r->pid);
		return SQLITE_OK;
	case SQL_PID:
	case SQL_COMM:
		return value_of_task(c, ctx, kind == SQL_COMM);
	case SQL_SYSTEM:
		static_text(ctx, r->type->system);
		return SQLITE_OK;
	case SQL_NAME:
		static_text(ctx, r->type->name);
		return SQLITE_OK;
	case SQL_SOURCE:
		static_text(ctx, r->source == TACHO_STREAM_KERNEL ? "kernel" : "program");
		return SQLITE_OK;
	case SQL_LOST:
		sqlite3_result_int64(ctx, (int64_t)r->lost);
		return SQLITE_OK;
	case SQL_TEXT:
		return value_of_text(c, ctx);
	case SQL_CONTEXT:
		return value_of_context(c, ctx);
	case SQL_TICKS:
		sqlite3_result_int64(ctx, (int64_t)r->ticks);
		return SQLITE_OK;
	case SQL_RECORD:
		sqlite3_result_int64(ctx, (int64_t)(c->records - 1));
		return SQLITE_OK;
	default:
		static_text(ctx, tacho_stream_buffer(c->stream->trace.stream));
		return SQLITE_OK;
	}
}

int sql_value(struct sql_cursor *c, sqlite3_context *ctx, const struct sql_column *column,
	      uint32_t index)
{
	c->values++;
	if (column->kind >= SQL_EVENT_SYSTEM && column->kind <= SQL_FOLDED)
		return sql_sample_value(c, ctx, column->kind);
	if (column->kind < SQL_FIELD)
		return value_of_common(c, ctx, column->kind);
	if (tacho_unlikely(!c->bound || c->bound->type != c->record.type)) {
		c->bound = bind_type(c);
		if (!c->bound)
			return SQLITE_NOMEM;
	}
	return column->kind == SQL_FIELD ? value_of_field(c, ctx, &c->bound->field[index]) :
	       name_of_field(c, ctx, &c->bound->field[index]);
}
