/* SPDX-License-Identifier: MIT */
/*
 * compare.h - Arrow arrays against the records that they are of.
 *
 * The arrays are read here as their specification says, from nothing but schema and buffers, and
 * the records by <tacho/stream.h>.  Each value of either becomes text; the texts must be equal.
 */
#ifndef TACHO_TESTS_COLUMNS_COMPARE_H
#define TACHO_TESTS_COLUMNS_COMPARE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/text.h"
#include "tacho/columns.h"
#include "tacho/stream.h"

/* What is wrong, "" if nothing is. */
static char compare_wrong[512];

#define COMPARE(cond, ...) __extension__ ({					\
	bool ok_ = (cond);							\
	if (!ok_ && !compare_wrong[0])						\
		(void)snprintf(compare_wrong, sizeof(compare_wrong), __VA_ARGS__); \
	ok_; })

/* ---- what holds of any array ------------------------------------------------- */

static inline bool arrow_bit(const void *bits, int64_t i)
{
	return ((const unsigned char *)bits)[i / 8] >> i % 8 & 1;
}

static inline bool arrow_is_null(const struct ArrowArray *a, int64_t i)
{
	return a->buffers[0] && !arrow_bit(a->buffers[0], a->offset + i);
}

static inline bool arrow_is_utf8(const char *s, size_t len)
{
	while (len) {
		size_t n = tacho_utf8_len(s, len);

		if (!n)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

/* Bytes of a fixed-length value; 0: bits, or no such format. */
static inline size_t arrow_width(const char *format)
{
	switch (format[0]) {
	case 'c': case 'C': return 1;
	case 's': case 'S': return 2;
	case 'i': case 'I': case 'f': return 4;
	case 'l': case 'L': case 'g': case 't': return 8;
	case 'w': return strtoul(format + 2, NULL, 10);
	default: return 0;
	}
}

static inline int64_t arrow_buffers(const char *format)
{
	if (!strncmp(format, "+w:", 3) || !strcmp(format, "+s"))
		return 1;
	return format[0] == 'u' || format[0] == 'z' ? 3 : 2;
}

static inline void arrow_check_offsets(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	const int32_t *at = a->buffers[1];

	COMPARE(at[0] == 0, "%s: the first offset is %d", s->name, at[0]);
	for (int64_t i = 0; i < a->length; i++) {
		COMPARE(at[i] <= at[i + 1], "%s: offsets go back at row %" PRId64, s->name, i);
		if (s->format[0] == 'u')
			COMPARE(arrow_is_utf8((const char *)a->buffers[2] + at[i],
					      (size_t)(at[i + 1] - at[i])),
				"%s: row %" PRId64 " is not UTF-8", s->name, i);
	}
	if (s->n_children)
		COMPARE(a->children[0]->length == at[a->length], "%s: %" PRId64 " items, not %d",
			s->name, a->children[0]->length, at[a->length]);
}

static inline void arrow_check(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	int64_t nulls = 0;

	COMPARE(s->release && a->release, "%s: was released", s->name);
	COMPARE(!a->offset && a->length >= 0, "%s: offset and length", s->name);
	COMPARE(a->n_buffers == arrow_buffers(s->format), "%s: %" PRId64 " buffers", s->name,
		a->n_buffers);
	COMPARE(a->n_children == s->n_children, "%s: children", s->name);
	COMPARE(!a->dictionary == !s->dictionary, "%s: dictionary", s->name);
	for (int64_t i = 0; i < a->n_buffers; i++) {
		COMPARE(i == 0 || a->buffers[i], "%s: buffer %" PRId64 " is NULL", s->name, i);
		COMPARE(!((uintptr_t)a->buffers[i] % 64), "%s: alignment", s->name);
	}
	for (int64_t i = 0; i < a->length; i++)
		nulls += arrow_is_null(a, i);
	COMPARE(nulls == a->null_count, "%s: %" PRId64 " nulls, not %" PRId64, s->name, nulls,
		a->null_count);
	COMPARE(!nulls || s->flags & ARROW_FLAG_NULLABLE, "%s: is not nullable", s->name);
	if (s->format[0] == 'u' || s->format[0] == 'z' || !strcmp(s->format, "+l"))
		arrow_check_offsets(s, a);
	if (!strncmp(s->format, "+w:", 3))
		COMPARE(a->children[0]->length == a->length * atoi(s->format + 3), "%s: items",
			s->name);
	for (int64_t i = 0; i < s->n_children; i++) {
		if (!strcmp(s->format, "+s"))
			COMPARE(a->children[i]->length == a->length, "%s: %" PRId64 " rows of %"
				PRId64, s->children[i]->name, a->children[i]->length, a->length);
		arrow_check(s->children[i], a->children[i]);
	}
	if (s->dictionary) {
		for (int64_t i = 0; i < a->length; i++)
			COMPARE(arrow_is_null(a, i) ||
				(uint64_t)((const int32_t *)a->buffers[1])[i] <
				(uint64_t)a->dictionary->length, "%s: index", s->name);
		arrow_check(s->dictionary, a->dictionary);
	}
}

/* ---- values as text ----------------------------------------------------------- */

static inline void put_hex(struct tacho_buf *out, const unsigned char *s, size_t len)
{
	tacho_buf_puts(out, "0x");
	for (size_t i = 0; i < len; i++)
		tacho_buf_printf(out, "%02x", s[i]);
}

static inline void put_number(struct tacho_buf *out, const void *p, size_t size, bool is_signed,
			      bool is_float)
{
	int8_t s8;
	int16_t s16;
	int32_t s32;
	int64_t s64;
	float f;
	double d;

	memcpy(&s8, p, 1);
	if (is_float && size == 4) {
		memcpy(&f, p, 4);
		tacho_buf_printf(out, "%.17g", (double)f);
	} else if (is_float) {
		memcpy(&d, p, 8);
		tacho_buf_printf(out, "%.17g", d);
	} else if (size == 1) {
		tacho_buf_printf(out, "%d", is_signed ? s8 : (uint8_t)s8);
	} else if (size == 2) {
		memcpy(&s16, p, 2);
		tacho_buf_printf(out, "%d", is_signed ? s16 : (uint16_t)s16);
	} else if (size == 4) {
		memcpy(&s32, p, 4);
		tacho_buf_printf(out, "%" PRId64, is_signed ? s32 : (int64_t)(uint32_t)s32);
	} else {
		memcpy(&s64, p, 8);
		tacho_buf_printf(out, is_signed ? "%" PRId64 : "%" PRIu64, s64);
	}
}

static inline void put_arrow(struct tacho_buf *out, const struct ArrowSchema *s,
			     const struct ArrowArray *a, int64_t i)
{
	const char *format = s->format;
	size_t width = arrow_width(format);
	const int32_t *at;

	if (arrow_is_null(a, i)) {
		tacho_buf_puts(out, "null");
	} else if (s->dictionary) {
		put_arrow(out, s->dictionary, a->dictionary, ((const int32_t *)a->buffers[1])[i]);
	} else if (!strcmp(format, "b")) {
		tacho_buf_puts(out, arrow_bit(a->buffers[1], i) ? "1" : "0");
	} else if (format[0] == 'w') {
		put_hex(out, (const unsigned char *)a->buffers[1] + (size_t)i * width, width);
	} else if (width) {
		put_number(out, (const char *)a->buffers[1] + (size_t)i * width, width,
			   strchr("csilt", format[0]), strchr("fg", format[0]));
	} else if (format[0] == 'u' || format[0] == 'z') {
		at = a->buffers[1];
		if (format[0] == 'z')
			put_hex(out, (const unsigned char *)a->buffers[2] + at[i],
				(size_t)(at[i + 1] - at[i]));
		else
			tacho_buf_printf(out, "'%.*s'", at[i + 1] - at[i],
					 (const char *)a->buffers[2] + at[i]);
	} else {
		int64_t from, to, n = format[1] == 'w' ? atoi(format + 3) : 0;

		at = format[1] == 'w' ? NULL : a->buffers[1];
		from = at ? at[i] : i * n;
		to = at ? at[i + 1] : (i + 1) * n;
		tacho_buf_putc(out, '[');
		for (; from < to; from++) {
			put_arrow(out, s->children[0], a->children[0], from);
			tacho_buf_putc(out, ' ');
		}
		tacho_buf_putc(out, ']');
	}
}

/* ---- the same of records ---------------------------------------------------------- */

/* Text as <tacho/columns.h> says: up to a NUL, as UTF-8. */
static inline void put_text(struct tacho_buf *out, const char *s, size_t len)
{
	len = strnlen(s, len);
	tacho_buf_putc(out, '\'');
	while (len) {
		size_t n = tacho_utf8_len(s, len);

		if (n) {
			tacho_buf_put(out, s, n);
		} else {
			tacho_buf_puts(out, "\xef\xbf\xbd");
			n = tacho_utf8_bad_len(s, len);
		}
		s += n;
		len -= n;
	}
	tacho_buf_putc(out, '\'');
}

static inline void put_bytes(struct tacho_buf *out, const struct tacho_field_info *info,
			     const char *format, const void *data, size_t size)
{
	bool is_signed = info->flags & TACHO_VALUE_SIGNED;
	bool is_float = info->kind == TACHO_VALUE_FLOAT;

	if (info->kind == TACHO_VALUE_STRING) {
		put_text(out, data, size);
	} else if (format[0] == '+') {
		tacho_buf_putc(out, '[');
		for (size_t i = 0; i + info->elem_size <= size; i += info->elem_size) {
			put_number(out, (const char *)data + i, info->elem_size, is_signed,
				   is_float);
			tacho_buf_putc(out, ' ');
		}
		tacho_buf_putc(out, ']');
	} else {
		put_hex(out, data, size);
	}
}

static inline void put_field(struct tacho_buf *out, const struct tacho_record *r,
			     const struct tacho_field *field, const struct tacho_field_info *info,
			     const char *format)
{
	uint64_t value;
	double real;
	size_t size;
	const void *data = tacho_record_data(r, field, &size);

	if (!data)
		tacho_buf_puts(out, "null");
	else if (tacho_record_double(r, field, &real))
		tacho_buf_printf(out, "%.17g", real);
	else if (!(info->flags & TACHO_VALUE_ARRAY) && info->kind == TACHO_VALUE_INTEGER &&
		 tacho_record_int(r, field, &value))
		tacho_buf_printf(out, info->flags & TACHO_VALUE_SIGNED ? "%" PRId64 : "%" PRIu64,
				 format[0] == 'b' ? !!value : value);
	else
		put_bytes(out, info, format, data, size);
}

/* What the names of a field's value are, by the entries of its table. */
static inline void put_names(struct tacho_buf *out, const struct tacho_record *r,
			     const struct tacho_field *field, const struct tacho_field_info *info)
{
	uint64_t value, bits;
	char name[4096], all[8192] = "";
	size_t len = 0;

	if (!tacho_record_int(r, field, &value)) {
		tacho_buf_puts(out, "null");
		return;
	}
	value &= info->names_mask;
	for (uint32_t i = 0; i < info->nr_names && len < 4000; i++) {
		size_t n = tacho_type_value_name(r->type, field, i, &bits, name, sizeof(name));

		if (info->names == TACHO_NAMES_ENUM && bits == value) {
			put_text(out, name, n);
			return;
		}
		if (info->names == TACHO_NAMES_ENUM || !value || (value & bits) != bits)
			continue;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? "|" : "", name);
		value &= ~bits;
	}
	if (info->names == TACHO_NAMES_ENUM) {
		tacho_buf_puts(out, "null");
		return;
	}
	if (value)
		(void)snprintf(all + len, sizeof(all) - len, "%s0x%" PRIx64, len ? "|" : "", value);
	put_text(out, all, strlen(all));
}

static inline void put_id(struct tacho_buf *out, bool known, uint64_t v)
{
	if (known)
		tacho_buf_printf(out, "%" PRIu64, v);
	else
		tacho_buf_puts(out, "null");
}

/* A column of every event; false: it is none. */
static inline bool put_common(struct tacho_buf *out, struct tacho_stream *stream,
			      const struct tacho_record *r, const char *column)
{
	int32_t tgid;
	const char *comm = tacho_stream_comm(stream, r->pid, &tgid);

	if (!strcmp(column, "common_timestamp"))
		tacho_buf_printf(out, "%" PRId64, (int64_t)r->time);
	else if (!strcmp(column, "common_cpu"))
		put_id(out, r->cpu != UINT32_MAX, r->cpu);
	else if (!strcmp(column, "common_pid"))
		tacho_buf_printf(out, "%" PRId32, r->pid);
	else if (!strcmp(column, "common_ticks"))
		put_id(out, true, r->ticks);
	else if (!strcmp(column, "common_lost"))
		put_id(out, true, r->lost);
	else if (!strcmp(column, "common_tgid"))
		tacho_buf_printf(out, tgid ? "%" PRId32 : "null", tgid);
	else if (!strcmp(column, "common_comm") && !comm)
		tacho_buf_puts(out, "null");
	else if (!strcmp(column, "common_comm"))
		put_text(out, comm, strlen(comm));
	else if (!strcmp(column, "common_event"))
		put_text(out, tacho_type_name(r->type), strlen(tacho_type_name(r->type)));
	else if (!strcmp(column, "common_system"))
		put_text(out, tacho_type_system(r->type), strlen(tacho_type_system(r->type)));
	else if (!strcmp(column, "common_source"))
		tacho_buf_puts(out, r->source == TACHO_STREAM_KERNEL ? "'kernel'" : "'program'");
	else
		return false;
	return true;
}

static inline bool has_column(const struct ArrowSchema *s, const char *name)
{
	for (int64_t i = 0; i < s->n_children; i++)
		if (!strcmp(s->children[i]->name, name))
			return true;
	return false;
}

/* The field of a type that a column is of, or whose values it names (*names); NULL: none. */
static inline const struct tacho_field *column_field(const struct ArrowSchema *all,
						     const struct tacho_type *type,
						     const char *column, bool *names)
{
	const char *event = tacho_type_name(type);
	const struct tacho_field *field = tacho_type_find(type, column);
	size_t len = strlen(event);
	char base[512];

	*names = false;
	(void)snprintf(base, sizeof(base), "%s_%s", event, column);
	/* one that has a column of its own is not in the shared one */
	if (field && has_column(all, base))
		return NULL;
	if (!field && !strncmp(column, event, len) && column[len] == '_')
		field = tacho_type_find(type, column + len + 1);
	if (field)
		return field;
	/* underscores after a name make it differ from others */
	(void)snprintf(base, sizeof(base), "%s", column);
	for (size_t n = strlen(base); n && base[n - 1] == '_'; n--)
		base[n - 1] = '\0';
	if (!strncmp(base, event, len) && base[len] == '_')
		field = tacho_type_find(type, base + len + 1);
	if (field)
		return field;
	len = strlen(base);
	if (len < 5 || strcmp(base + len - 5, "_name") != 0)
		return NULL;
	base[len - 5] = '\0';
	*names = true;
	return tacho_type_find(type, base);
}

/* Types that were known before the first record was read: their fields have columns. */
#define KNOWN_MAX	4096u
static const struct tacho_type *known[KNOWN_MAX];
static uint32_t nr_known;

static inline void list_known(struct tacho_stream *stream)
{
	const struct tacho_type *type;

	for (nr_known = 0; nr_known < KNOWN_MAX; nr_known++) {
		type = tacho_stream_type(stream, nr_known);
		if (!type)
			break;
		known[nr_known] = type;
	}
}

/*
 * Whether null is right for what a type has a value of: fields of a type that became known later may
 * not fit, and of several types of one name each has its columns.
 */
static inline bool may_be_null(const struct tacho_type *type)
{
	uint32_t same = 0, own = 0;

	for (uint32_t i = 0; i < nr_known; i++) {
		own += known[i] == type;
		same += !strcmp(tacho_type_name(known[i]), tacho_type_name(type));
	}
	return !own || same > 1;
}

static inline void put_record(struct tacho_buf *out, struct tacho_stream *stream,
			      const struct tacho_record *r, const struct ArrowSchema *all,
			      const struct ArrowSchema *column)
{
	struct tacho_field_info info;
	const struct tacho_field *field;
	bool names;

	if (put_common(out, stream, r, column->name))
		return;
	field = column_field(all, r->type, column->name, &names);
	if (!field || tacho_type_field_info(r->type, field, &info) || (names && !info.nr_names))
		tacho_buf_puts(out, "null");
	else if (names)
		put_names(out, r, field, &info);
	else
		put_field(out, r, field, &info, column->format);
}

/* ---- both ------------------------------------------------------------------------ */

static inline void compare_row(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i,
			       struct tacho_stream *stream, const struct tacho_record *r)
{
	struct tacho_buf is, expected;

	tacho_buf_init(&is, (size_t)1 << 20);
	tacho_buf_init(&expected, (size_t)1 << 20);
	for (int64_t c = 0; c < s->n_children; c++) {
		tacho_buf_reset(&is);
		tacho_buf_reset(&expected);
		put_arrow(&is, s->children[c], a->children[c], i);
		put_record(&expected, stream, r, s, s->children[c]);
		COMPARE(!strcmp(tacho_buf_str(&is), tacho_buf_str(&expected)) ||
			(!strcmp(tacho_buf_str(&is), "null") && may_be_null(r->type)),
			"%s, row %" PRId64 " of %s: %.150s, not %.150s", s->children[c]->name, i,
			tacho_type_name(r->type), tacho_buf_str(&is), tacho_buf_str(&expected));
	}
	tacho_buf_release(&is);
	tacho_buf_release(&expected);
}

/*
 * Compares all rows of an Arrow stream with the records of a stream that wanted() lets pass (NULL: all).
 * Returns how many rows there were.  Neither was read before; both are released.
 */
static inline uint64_t compare_streams(struct ArrowArrayStream *arrow, struct tacho_stream *stream,
				       bool (*wanted)(const struct tacho_record *r))
{
	struct ArrowSchema schema;
	struct ArrowArray batch;
	struct tacho_record r;
	uint64_t rows = 0;
	int err;

	list_known(stream);
	if (!COMPARE(!arrow->get_schema(arrow, &schema), "no schema"))
		goto out;
	while (!(err = arrow->get_next(arrow, &batch)) && batch.release) {
		COMPARE(batch.length > 0, "an empty batch");
		arrow_check(&schema, &batch);
		for (int64_t i = 0; i < batch.length && !compare_wrong[0]; i++) {
			int status;

			do
				status = tacho_stream_next(stream, &r);
			while (status == TACHO_STREAM_RECORD && wanted && !wanted(&r));
			if (COMPARE(status == TACHO_STREAM_RECORD, "more rows than records"))
				compare_row(&schema, &batch, i, stream, &r);
		}
		rows += (uint64_t)batch.length;
		batch.release(&batch);
		COMPARE(!batch.release, "release() leaves a pointer");
	}
	if (err)
		COMPARE(arrow->get_last_error(arrow), "an error without a message");
	while (!err && tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD)
		COMPARE(wanted && !wanted(&r), "a record without a row");
	schema.release(&schema);
out:
	arrow->release(arrow);
	COMPARE(!arrow->release, "the stream's release() leaves a pointer");
	tacho_stream_close(stream);
	return rows;
}

#endif
