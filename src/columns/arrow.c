// SPDX-License-Identifier: MIT
#include "columns/arrow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* ---- schemas ----------------------------------------------------------------- */

/* One schema's own memory; its child structs follow the pointers to them. */
struct schema_memory {
	char *name, *metadata;
	char format[24];
	struct ArrowSchema **child;	/* n_children pointers, then the structs; or NULL */
	struct ArrowSchema *dictionary;
};

static void schema_release(struct ArrowSchema *s)
{
	struct schema_memory *m = s->private_data;

	for (int64_t i = 0; i < s->n_children; i++)
		if (m->child[i]->release)
			m->child[i]->release(m->child[i]);
	if (m->dictionary && m->dictionary->release)
		m->dictionary->release(m->dictionary);
	free(m->child);
	free(m->dictionary);
	free(m->name);
	free(m->metadata);
	free(m);
	s->release = NULL;
}

/* An array of n pointers to the n structs of `size` bytes behind them, all zero. */
static void *children_new(size_t n, size_t size)
{
	void **p = calloc(n, sizeof(*p) + size);
	unsigned char *first = (unsigned char *)(p + n);

	for (size_t i = 0; p && i < n; i++)
		p[i] = first + i * size;
	return p;
}

/* Makes a schema with room for children.  0 or -ENOMEM. */
static int schema_new(struct ArrowSchema *s, const char *name, int64_t flags, size_t nr_children)
{
	struct schema_memory *m = calloc(1, sizeof(*m));

	*s = (struct ArrowSchema){ .flags = flags };
	if (!m)
		return -ENOMEM;
	m->name = strdup(name);
	m->child = nr_children ? children_new(nr_children, sizeof(*s)) : NULL;
	s->private_data = m;
	s->release = schema_release;
	s->format = m->format;
	s->name = m->name;
	s->children = m->child;
	s->n_children = m->child ? (int64_t)nr_children : 0;
	if (m->name && (m->child || !nr_children))
		return 0;
	schema_release(s);
	return -ENOMEM;
}

static int schema_metadata(struct ArrowSchema *s, const char *key, const char *value)
{
	size_t key_len = strlen(key), value_len = strlen(value);
	char *p = malloc(3 * sizeof(int32_t) + key_len + value_len);

	if (!p)
		return -ENOMEM;
	tacho_put_u32(p, 1);
	tacho_put_u32(p + 4, (uint32_t)key_len);
	memcpy(p + 8, key, key_len);
	tacho_put_u32(p + 8 + key_len, (uint32_t)value_len);
	memcpy(p + 12 + key_len, value, value_len);
	((struct schema_memory *)s->private_data)->metadata = p;
	s->metadata = p;
	return 0;
}

/* The format of a number. */
static char number_format(uint32_t width, bool is_signed, bool is_float)
{
	static const char format[] = "csil";
	uint32_t i = width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;

	if (is_float)
		return width == 4 ? 'f' : 'g';
	return is_signed ? format[i] : (char)(format[i] - 'a' + 'A');
}

static void put_format(const struct columns_spec *spec, char format[24])
{
	const char *text = "";

	switch (spec->kind) {
	case COLUMNS_INT: case COLUMNS_FLOAT:
		format[0] = number_format(spec->width, spec->is_signed,
					  spec->kind == COLUMNS_FLOAT);
		return;
	case COLUMNS_FIXED:
		(void)snprintf(format, 24, "w:%" PRIu32, spec->count);
		return;
	case COLUMNS_FIXED_LIST:
		(void)snprintf(format, 24, "+w:%" PRIu32, spec->count);
		return;
	case COLUMNS_TIME:
		text = "tsn:";
		break;
	case COLUMNS_TIME_UTC:
		text = "tsn:UTC";
		break;
	case COLUMNS_BOOL:
		text = "b";
		break;
	case COLUMNS_DICT:
		text = spec->plain ? "u" : "i";
		break;
	case COLUMNS_TEXT:
		text = "u";
		break;
	case COLUMNS_BINARY:
		text = "z";
		break;
	case COLUMNS_LIST:
		text = "+l";
		break;
	}
	memcpy(format, text, strlen(text) + 1);
}

static bool is_list(const struct columns_spec *spec)
{
	return spec->kind == COLUMNS_LIST || spec->kind == COLUMNS_FIXED_LIST;
}

static int dictionary_schema(struct ArrowSchema *s)
{
	struct schema_memory *m = s->private_data;
	struct ArrowSchema *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	m->dictionary = s->dictionary = d;
	if (schema_new(d, "", 0, 0))
		return -ENOMEM;
	memcpy(((struct schema_memory *)d->private_data)->format, "u", 2);
	return 0;
}

static int item_schema(struct ArrowSchema *s, const struct columns_spec *spec)
{
	int err = schema_new(s, "item", 0, 0);

	if (!err)
		((struct schema_memory *)s->private_data)->format[0] =
			number_format(spec->width, spec->is_signed, spec->is_float);
	return err;
}

/* What it has made so far is released with the parent. */
static int column_schema(struct ArrowSchema *s, const struct columns_spec *spec)
{
	int err = schema_new(s, spec->name, spec->nullable ? ARROW_FLAG_NULLABLE : 0,
			     is_list(spec));

	if (err)
		return err;
	put_format(spec, ((struct schema_memory *)s->private_data)->format);
	if (spec->declaration)
		err = schema_metadata(s, "tacho.declaration", spec->declaration);
	if (!err && is_list(spec))
		err = item_schema(s->children[0], spec);
	if (!err && spec->kind == COLUMNS_DICT && !spec->plain)
		err = dictionary_schema(s);
	return err;
}

int columns_export_schema(const struct columns_table *t, struct ArrowSchema *out)
{
	int err = schema_new(out, "", 0, t->nr_columns);

	if (err)
		return err;
	memcpy(((struct schema_memory *)out->private_data)->format, "+s", 3);
	for (uint32_t i = 0; !err && i < t->nr_columns; i++)
		err = column_schema(out->children[i], &t->column[i].spec);
	if (err)
		schema_release(out);
	return err;
}

/* ---- arrays ------------------------------------------------------------------ */

#define BUFFERS_MAX	3

/* One array's own memory. */
struct array_memory {
	struct columns_block *block[BUFFERS_MAX];	/* each may be NULL */
	const void *buffer[BUFFERS_MAX];
	struct ArrowArray **child;	/* as in struct schema_memory */
	struct ArrowArray *dictionary;
};

static void array_release(struct ArrowArray *a)
{
	struct array_memory *m = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		if (m->child[i]->release)
			m->child[i]->release(m->child[i]);
	if (m->dictionary && m->dictionary->release)
		m->dictionary->release(m->dictionary);
	for (int i = 0; i < BUFFERS_MAX; i++)
		columns_block_drop(m->block[i]);
	free(m->child);
	free(m->dictionary);
	free(m);
	a->release = NULL;
}

/* Makes an array of length rows without nulls, with room for children.  0 or -ENOMEM. */
static int array_new(struct ArrowArray *a, int64_t length, int64_t nr_buffers, size_t nr_children)
{
	struct array_memory *m = calloc(1, sizeof(*m));

	*a = (struct ArrowArray){ .length = length, .n_buffers = nr_buffers };
	if (!m)
		return -ENOMEM;
	m->child = nr_children ? children_new(nr_children, sizeof(*a)) : NULL;
	a->private_data = m;
	a->release = array_release;
	a->buffers = m->buffer;
	a->children = m->child;
	a->n_children = m->child ? (int64_t)nr_children : 0;
	if (m->child || !nr_children)
		return 0;
	array_release(a);
	return -ENOMEM;
}

/* Buffer i is a block, of which the array becomes an owner; NULL: zeroes. */
static void set_buffer(struct ArrowArray *a, int i, struct columns_block *b,
		       struct columns_block *zeroes)
{
	struct array_memory *m = a->private_data;

	m->block[i] = columns_block_share(b ? b : zeroes);
	m->buffer[i] = m->block[i]->bytes;
}

static int export_dictionary(struct ArrowArray *a, const struct columns_dict *d,
			     struct columns_block *zeroes)
{
	struct array_memory *m = a->private_data;

	m->dictionary = a->dictionary = calloc(1, sizeof(*a));
	if (!m->dictionary || array_new(m->dictionary, d->nr, 3, 0))
		return -ENOMEM;
	set_buffer(m->dictionary, 1, d->offsets, zeroes);
	set_buffer(m->dictionary, 2, d->text, zeroes);
	return 0;
}

/* The elements of a list; c has values, or there are none. */
static int export_items(struct ArrowArray *item, const struct columns_column *c, uint32_t rows,
			struct columns_block *zeroes)
{
	bool fixed = c->spec.kind == COLUMNS_FIXED_LIST;
	int err = array_new(item, fixed ? (int64_t)rows * c->spec.count :
					  (int64_t)(c->heap_len / c->unit), 2, 0);

	if (!err)
		set_buffer(item, 1, fixed ? c->data : c->heap, zeroes);
	return err;
}

/* The texts of a dictionary column, one for each row: sets buffers 1 and 2. */
static int export_plain(struct ArrowArray *a, const struct columns_column *c, uint32_t rows)
{
	struct array_memory *m = a->private_data;
	const int32_t *index = (const int32_t *)(const void *)c->data->bytes;
	const int32_t *at = (const int32_t *)(const void *)c->dict.offsets->bytes;
	size_t total = 0;
	int32_t *to;

	m->block[1] = columns_block_new((rows + (size_t)1) * sizeof(*to));
	if (!m->block[1])
		return -ENOMEM;
	to = (int32_t *)(void *)m->block[1]->bytes;
	for (uint32_t i = 0; i < rows; i++) {
		to[i] = (int32_t)total;
		total += (size_t)(at[index[i] + 1] - at[index[i]]);
		if (total > INT32_MAX)
			return -ENOMEM;
	}
	to[rows] = (int32_t)total;
	m->block[2] = columns_block_new(total);
	if (!m->block[2])
		return -ENOMEM;
	for (uint32_t i = 0; i < rows; i++)
		memcpy(m->block[2]->bytes + to[i], c->dict.text->bytes + at[index[i]],
		       (size_t)(to[i + 1] - to[i]));
	m->buffer[1] = m->block[1]->bytes;
	m->buffer[2] = m->block[2]->bytes;
	return 0;
}

static bool is_plain(const struct columns_column *c)
{
	return c->spec.kind == COLUMNS_DICT && c->spec.plain;
}

static int nr_buffers(const struct columns_column *c)
{
	if (is_plain(c))
		return 3;
	switch (c->spec.kind) {
	case COLUMNS_FIXED_LIST:
		return 1;
	case COLUMNS_TEXT: case COLUMNS_BINARY:
		return 3;
	case COLUMNS_INT: case COLUMNS_FLOAT: case COLUMNS_TIME: case COLUMNS_TIME_UTC:
	case COLUMNS_BOOL: case COLUMNS_DICT: case COLUMNS_FIXED: case COLUMNS_LIST:
	default:
		return 2;
	}
}

/* What it has made so far is released with the parent. */
static int export_column(struct ArrowArray *a, const struct columns_table *t,
			 const struct columns_column *c)
{
	int n = nr_buffers(c), err;

	err = array_new(a, t->rows, n, is_list(&c->spec));
	if (err)
		return err;
	a->null_count = t->rows - c->nr_set;
	if (a->null_count)
		set_buffer(a, 0, c->bits, t->zeroes);
	if (is_plain(c) && c->nr_set)
		return export_plain(a, c, t->rows);
	if (n > 1)
		set_buffer(a, 1, is_plain(c) ? NULL : c->data, t->zeroes);
	if (n > 2)
		set_buffer(a, 2, c->heap, t->zeroes);
	if (is_list(&c->spec))
		err = export_items(a->children[0], c, t->rows, t->zeroes);
	else if (c->spec.kind == COLUMNS_DICT && !c->spec.plain)
		err = export_dictionary(a, &c->dict, t->zeroes);
	return err;
}

int columns_export_batch(struct columns_table *t, struct ArrowArray *out)
{
	int err = columns_table_finish(t);

	if (!err)
		err = array_new(out, t->rows, 1, t->nr_columns);
	if (err)
		return err;
	for (uint32_t i = 0; !err && i < t->nr_columns; i++)
		err = export_column(out->children[i], t, &t->column[i]);
	if (err)
		array_release(out);
	return err;
}
