/* SPDX-License-Identifier: MIT */
/*
 * hist_table.h - a histogram as data: columns, and a row for each entry in its order.
 *
 * The columns are the keys, the hit count, then the other values.  A table is a copy of what the
 * histogram had when it was taken; it uses the histogram and the names until it is released.
 * One thread uses a table.
 */
#ifndef TACHO_APP_HIST_TABLE_H
#define TACHO_APP_HIST_TABLE_H

#include "base/buf.h"
#include "engine/hist.h"
#include "engine/hist_view.h"
#include "engine/names.h"

#define APP_HIST_COLUMNS_MAX	(TACHO_HIST_KEYS_MAX + 1 + TACHO_HIST_VALS_MAX)

enum app_hist_kind {
	APP_HIST_NUMBER,
	APP_HIST_RANGE,		/* .log2, .buckets */
	APP_HIST_STRING,
	APP_HIST_STACK,
};

struct app_hist_column {
	enum app_hist_kind kind;
	bool is_signed;
	const char *name;	/* its text in the trigger; borrowed from the table */
};

struct app_hist_cell {
	uint64_t number, high;	/* high: of a range, else as number; 0: no number */
	const uint64_t *addresses;	/* of a stack */
	uint32_t nr_addresses;
	const char *text;	/* as people read it; borrowed until the next cell */
};

struct app_hist_table {
	struct hist_view view;
	uint32_t nr_keys, nr_columns, nr_rows;
	uint64_t hits, dropped;
	struct tacho_buf trigger;
	struct tacho_buf name[APP_HIST_COLUMNS_MAX];
	struct tacho_buf text;	/* of the last cell */
};

/* Takes the copy.  Returns 0 or -ENOMEM; to be released either way. */
int app_hist_table_take(struct app_hist_table *t, const struct tacho_hist *hist,
			const struct tacho_names *names);
void app_hist_table_release(struct app_hist_table *t);

/* Appends what the kernel's hist file says.  Returns 0, -ENOMEM or the buffer's error. */
int app_hist_table_print(const struct app_hist_table *t, struct tacho_buf *out);

/* A column, from 0 on.  Returns 0, or -ENOENT after the last one. */
int app_hist_table_column(struct app_hist_table *t, uint32_t index, struct app_hist_column *c);

/* A cell.  Returns 0, -ENOENT (there is no such one) or -ENOMEM. */
int app_hist_table_cell(struct app_hist_table *t, uint32_t row, uint32_t column,
			struct app_hist_cell *cell);

#endif
