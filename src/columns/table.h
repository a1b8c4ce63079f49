/* SPDX-License-Identifier: MIT */
/*
 * table.h - columns that are being filled, of any kind of rows.
 *
 *	columns_table_add()		for each column, then
 *	columns_table_begin()		before the rows of a batch
 *	columns_table_rows()		n rows more; then, for each column that has a value in one:
 *		columns_touch()			once or more
 *		stores at columns_at(), columns_set_range(), columns_set(), columns_put_null()
 *		columns_append_...()		variable length: in the order of rows
 *	columns_table_done()		the n rows count
 *	arrow.h				exports them
 *
 * A row of a column that was not set is null.  See columns.h, 1 and 4.  Functions return 0 or
 * -ENOMEM; after -ENOMEM a table can only be released.
 */
#ifndef TACHO_COLUMNS_TABLE_H
#define TACHO_COLUMNS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "columns/block.h"
#include "columns/dict.h"

enum columns_kind {
	COLUMNS_INT,		/* of width 1, 2, 4 or 8 */
	COLUMNS_FLOAT,		/* of width 4 or 8 */
	COLUMNS_TIME,		/* int64, ns since 1970 */
	COLUMNS_TIME_UTC,	/* the same with a zone */
	COLUMNS_BOOL,		/* a bit */
	COLUMNS_DICT,		/* int32, an index */
	COLUMNS_FIXED,		/* count bytes */
	COLUMNS_FIXED_LIST,	/* count elements of width */
	COLUMNS_TEXT,		/* utf8 */
	COLUMNS_BINARY,
	COLUMNS_LIST,		/* elements of width */
};

/* What a column is. */
struct columns_spec {
	const char *name;	/* borrowed for the table's life */
	const char *declaration;	/* likewise; NULL: it has none */
	enum columns_kind kind;
	uint32_t width;		/* bytes of a number */
	uint32_t count;
	bool is_signed;
	bool is_float;		/* elements of a list are */
	bool nullable;
	bool plain;		/* a dictionary that is exported as utf8 */
};

struct columns_column {
	struct columns_spec spec;
	uint32_t row_bytes;	/* of a row in data or offsets; 0: bits */
	bool variable;
	uint32_t unit;		/* of the offsets, in bytes of heap */
	struct columns_block *bits;	/* validity; NULL: no value in this batch */
	struct columns_block *data;	/* values, or int32 offsets of a variable length */
	struct columns_block *heap;	/* what the offsets are of */
	uint32_t rows;		/* rows that are written or zeroed */
	uint32_t room;		/* rows that bits and data have room for */
	uint32_t nr_set;
	size_t heap_len;
	struct columns_dict dict;
};

struct columns_table {
	struct columns_column *column;
	uint32_t nr_columns;
	uint32_t rows;		/* rows that count */
	uint32_t adding;	/* rows after them that are being filled */
	uint32_t rows_max;	/* of a batch */
	size_t bytes;		/* that this batch's blocks take */
	struct columns_block *zeroes;	/* for columns without a value */
};

/* Makes a table without columns, of at most rows_max rows per batch. */
void columns_table_init(struct columns_table *t, uint32_t rows_max);
void columns_table_release(struct columns_table *t);

/* Adds a column, before the first batch.  At most COLUMNS_MAX. */
int columns_table_add(struct columns_table *t, const struct columns_spec *spec);

/* Begins a batch: no rows. */
void columns_table_begin(struct columns_table *t);

/* Begins n rows, at most COLUMNS_RUN; and counts them. */
static inline void columns_table_rows(struct columns_table *t, uint32_t n)
{
	t->adding = n;
}

static inline void columns_table_done(struct columns_table *t)
{
	t->rows += t->adding;
	t->adding = 0;
}

/*
 * Makes room in a column of fixed length for the rows being filled, and zeroes what was passed
 * over.  all: each of the rows gets a value, so they need not be zeroed.
 */
int columns_touch(struct columns_table *t, struct columns_column *c, bool all);

/* Before the export: the columns have all rows, and zeroes has what those without value need. */
int columns_table_finish(struct columns_table *t);

/* Where the values of the rows being filled are stored. */
static inline unsigned char *columns_at(const struct columns_table *t,
					const struct columns_column *c)
{
	return c->data->bytes + (size_t)t->rows * c->row_bytes;
}

/* Row i of those being filled has a value. */
static inline void columns_set(const struct columns_table *t, struct columns_column *c, uint32_t i)
{
	uint32_t row = t->rows + i;

	c->bits->bytes[row / 8] |= (unsigned char)(1u << row % 8);
	c->nr_set++;
}

/* A row that was set has none. */
static inline void columns_put_null(const struct columns_table *t, struct columns_column *c,
				    uint32_t i)
{
	uint32_t row = t->rows + i;

	c->bits->bytes[row / 8] &= (unsigned char)~(1u << row % 8);
	c->nr_set--;
}

/* The first n rows of those being filled have values. */
void columns_set_range(const struct columns_table *t, struct columns_column *c, uint32_t n);

/* A bool of row i is true. */
static inline void columns_put_true(const struct columns_table *t, struct columns_column *c,
				    uint32_t i)
{
	uint32_t row = t->rows + i;

	c->data->bytes[row / 8] |= (unsigned char)(1u << row % 8);
}

/*
 * Sets row i of a column of variable length: UTF-8 of what s has up to a NUL; bytes; or count
 * elements.  i is larger than in the calls before.
 */
int columns_append_text(struct columns_table *t, struct columns_column *c, uint32_t i,
			const char *s, size_t len);
int columns_append_bytes(struct columns_table *t, struct columns_column *c, uint32_t i,
			 const void *s, size_t len);

/* Copies text as UTF-8 to `to`, which has room for 3 * len.  Returns its length. */
size_t columns_copy_text(char *to, const char *s, size_t len);

/* Index of a text in a column's dictionary: of what s has up to a NUL, as UTF-8.  -ENOMEM. */
int32_t columns_text_index(struct columns_table *t, struct columns_column *c, const char *s,
			   size_t len);

#endif
