// SPDX-License-Identifier: MIT
#include "columns/table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/text.h"
#include "columns/columns.h"

/* Rows that a column has room for at first. */
#define ROOM_MIN	1024u

void columns_table_init(struct columns_table *t, uint32_t rows_max)
{
	*t = (struct columns_table){ .rows_max = rows_max };
}

static void column_empty(struct columns_column *c)
{
	columns_block_drop(c->bits);
	columns_block_drop(c->data);
	columns_block_drop(c->heap);
	c->bits = c->data = c->heap = NULL;
	c->rows = c->nr_set = 0;
	c->heap_len = 0;
}

void columns_table_release(struct columns_table *t)
{
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		column_empty(&t->column[i]);
		columns_dict_release(&t->column[i].dict);
	}
	free(t->column);
	columns_block_drop(t->zeroes);
	*t = (struct columns_table){ .rows_max = t->rows_max };
}

static uint32_t row_bytes(const struct columns_spec *spec)
{
	switch (spec->kind) {
	case COLUMNS_INT: case COLUMNS_FLOAT:
		return spec->width;
	case COLUMNS_TIME: case COLUMNS_TIME_UTC:
		return 8;
	case COLUMNS_DICT: case COLUMNS_TEXT: case COLUMNS_BINARY: case COLUMNS_LIST:
		return sizeof(int32_t);
	case COLUMNS_FIXED:
		return spec->count;
	case COLUMNS_FIXED_LIST:
		return spec->count * spec->width;
	case COLUMNS_BOOL:
	default:
		return 0;
	}
}

int columns_table_add(struct columns_table *t, const struct columns_spec *spec)
{
	uint32_t n = t->nr_columns;

	if (!(n & (n - 1))) {
		struct columns_column *p = reallocarray(t->column, n ? 2 * (size_t)n : 1,
							sizeof(*p));

		if (!p)
			return -ENOMEM;
		t->column = p;
	}
	t->column[n] = (struct columns_column){
		.spec = *spec, .row_bytes = row_bytes(spec),
		.variable = spec->kind == COLUMNS_TEXT || spec->kind == COLUMNS_BINARY ||
			    spec->kind == COLUMNS_LIST,
		.unit = spec->kind == COLUMNS_LIST ? spec->width : 1,
	};
	t->nr_columns++;
	return 0;
}

void columns_table_begin(struct columns_table *t)
{
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		column_empty(&t->column[i]);
		columns_dict_trim(&t->column[i].dict);
	}
	t->rows = t->adding = 0;
	t->bytes = 0;
}

/* ---- fixed length ------------------------------------------------------------ */

/* Bytes of n rows of data; offsets are one more than rows. */
static size_t data_bytes(const struct columns_column *c, size_t n)
{
	if (!c->row_bytes)
		return c->spec.kind == COLUMNS_BOOL ? (n + 7) / 8 : 0;
	return (n + c->variable) * c->row_bytes;
}

/* A column that has become this long once is made as long the next time. */
static uint32_t wanted_room(const struct columns_table *t, const struct columns_column *c,
			    uint32_t rows)
{
	uint32_t room = c->bits ? 2 * c->room : c->room;

	if (room < ROOM_MIN)
		room = ROOM_MIN;
	if (room > t->rows_max)
		room = t->rows_max;
	return room < rows ? rows : room;
}

static TACHO_COLD int more_rows(struct columns_table *t, struct columns_column *c, uint32_t rows)
{
	uint32_t room = wanted_room(t, c, rows);
	size_t had = c->bits ? c->bits->room + c->data->room : 0;
	size_t used_bits = c->bits ? ((size_t)c->rows + 7) / 8 : 0, bits = ((size_t)room + 7) / 8;
	size_t used = !c->bits ? 0 : data_bytes(c, c->rows);

	if (columns_block_grow(&c->data, used, data_bytes(c, room)) ||
	    columns_block_grow(&c->bits, used_bits, bits))
		return -ENOMEM;
	/* bits are set one by one, so they are zero beforehand; likewise those of bools */
	memset(c->bits->bytes + used_bits, 0, c->bits->room - used_bits);
	if (c->spec.kind == COLUMNS_BOOL)
		memset(c->data->bytes + used, 0, c->data->room - used);
	c->room = room;
	t->bytes += c->bits->room + c->data->room - had;
	return 0;
}

int columns_touch(struct columns_table *t, struct columns_column *c, bool all)
{
	uint32_t end = t->rows + t->adding, from = c->rows;

	if (c->bits && from == end)
		return 0;
	if ((!c->bits || end > c->room) && more_rows(t, c, end))
		return -ENOMEM;
	if (c->row_bytes && (!all || from < t->rows))
		memset(c->data->bytes + (size_t)from * c->row_bytes, 0,
		       (size_t)((all ? t->rows : end) - from) * c->row_bytes);
	c->rows = end;
	return 0;
}

void columns_set_range(const struct columns_table *t, struct columns_column *c, uint32_t n)
{
	uint32_t row = t->rows, end = t->rows + n;

	c->nr_set += n;
	for (; row < end && row % 8; row++)
		c->bits->bytes[row / 8] |= (unsigned char)(1u << row % 8);
	memset(c->bits->bytes + row / 8, 0xff, (end - row) / 8);
	for (row += (end - row) / 8 * 8; row < end; row++)
		c->bits->bytes[row / 8] |= (unsigned char)(1u << row % 8);
}

/* ---- variable length --------------------------------------------------------- */

static int32_t *offsets_of(struct columns_column *c)
{
	return (int32_t *)(void *)c->data->bytes;
}

/* Brings a column's offsets to row `row`: what was passed over is null and empty. */
static int pass_over(struct columns_table *t, struct columns_column *c, uint32_t row,
		     uint32_t room)
{
	int32_t *at;

	if ((!c->bits || room > c->room) && more_rows(t, c, room))
		return -ENOMEM;
	at = offsets_of(c);
	if (!c->rows)
		at[0] = 0;
	for (uint32_t i = c->rows; i < row; i++)
		at[i + 1] = (int32_t)(c->heap_len / c->unit);
	c->rows = row;
	return 0;
}

/* Makes room for len bytes more of row i, and returns where; NULL: no memory. */
static unsigned char *append_room(struct columns_table *t, struct columns_column *c, uint32_t i,
				  size_t len)
{
	size_t had = c->heap ? c->heap->room : 0;

	/* offsets are of elements of 1 byte at least, and of 31 bits */
	if (len > INT32_MAX - c->heap_len || pass_over(t, c, t->rows + i, t->rows + t->adding) ||
	    columns_block_grow(&c->heap, c->heap_len, c->heap_len + len))
		return NULL;
	t->bytes += c->heap->room - had;
	return c->heap->bytes + c->heap_len;
}

static void append_done(const struct columns_table *t, struct columns_column *c, uint32_t i,
			size_t len)
{
	c->heap_len += len;
	offsets_of(c)[t->rows + i + 1] = (int32_t)(c->heap_len / c->unit);
	c->rows = t->rows + i + 1;
	columns_set(t, c, i);
}

int columns_append_bytes(struct columns_table *t, struct columns_column *c, uint32_t i,
			 const void *s, size_t len)
{
	unsigned char *to;

	len -= len % c->unit;
	to = append_room(t, c, i, len);
	if (!to)
		return -ENOMEM;
	if (len)
		memcpy(to, s, len);
	append_done(t, c, i, len);
	return 0;
}

/* How many of the bytes are ASCII from the first on. */
static size_t ascii_len(const char *s, size_t len)
{
	size_t n = 0;

	while (len - n >= 8 && !(tacho_load_u64(s + n) & UINT64_C(0x8080808080808080)))
		n += 8;
	while (n < len && !(s[n] & 0x80))
		n++;
	return n;
}

size_t columns_copy_text(char *to, const char *s, size_t len)
{
	char *start = to;

	while (len) {
		size_t n = ascii_len(s, len), take;

		memcpy(to, s, n);
		to += n;
		s += n;
		len -= n;
		if (!len)
			break;
		n = take = tacho_utf8_len(s, len);
		if (n) {
			memcpy(to, s, n);
		} else {
			take = tacho_utf8_bad_len(s, len);
			n = 3;
			memcpy(to, "\xef\xbf\xbd", 3);
		}
		to += n;
		s += take;
		len -= take;
	}
	return (size_t)(to - start);
}

int columns_append_text(struct columns_table *t, struct columns_column *c, uint32_t i,
			const char *s, size_t len)
{
	size_t n = strnlen(s, len);
	unsigned char *to;

	if (tacho_likely(ascii_len(s, n) == n))
		return columns_append_bytes(t, c, i, s, n);
	to = append_room(t, c, i, 3 * n);
	if (!to)
		return -ENOMEM;
	append_done(t, c, i, columns_copy_text((char *)to, s, n));
	return 0;
}

static int32_t other_index(struct columns_column *c, const char *s, size_t len)
{
	char small[256], *to = small;
	int32_t index;

	if (3 * len > sizeof(small))
		to = malloc(3 * len);
	if (!to)
		return -ENOMEM;
	index = columns_dict_index(&c->dict, to, columns_copy_text(to, s, len));
	if (to != small)
		free(to);
	return index;
}

int32_t columns_text_index(struct columns_table *t, struct columns_column *c, const char *s,
			   size_t len)
{
	uint32_t had = c->dict.bytes;
	size_t n = strnlen(s, len);
	int32_t index;

	index = tacho_likely(ascii_len(s, n) == n) ? columns_dict_index(&c->dict, s, n) :
						     other_index(c, s, n);
	t->bytes += c->dict.bytes - had;
	return index;
}

/* ---- the end of a batch -------------------------------------------------------- */

static int need_zeroes(struct columns_table *t, size_t size)
{
	if (t->zeroes && t->zeroes->room >= size)
		return 0;
	columns_block_drop(t->zeroes);
	t->zeroes = columns_block_new(size);
	if (!t->zeroes)
		return -ENOMEM;
	memset(t->zeroes->bytes, 0, t->zeroes->room);
	return 0;
}

int columns_table_finish(struct columns_table *t)
{
	/* the offsets of a dictionary without texts, at least */
	size_t zeroes = COLUMNS_ALIGN;

	for (uint32_t i = 0; i < t->nr_columns; i++) {
		struct columns_column *c = &t->column[i];

		/* offsets of utf8 that has no texts are zeroes, too: one more than rows */
		if (!c->nr_set && zeroes < data_bytes(c, t->rows + 1))
			zeroes = data_bytes(c, t->rows + 1);
		if (!c->bits)
			continue;
		if (c->variable ? pass_over(t, c, t->rows, t->rows) : columns_touch(t, c, false))
			return -ENOMEM;
	}
	if (zeroes < ((size_t)t->rows + 7) / 8)
		zeroes = ((size_t)t->rows + 7) / 8;
	return need_zeroes(t, zeroes);
}
