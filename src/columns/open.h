/* SPDX-License-Identifier: MIT */
/* open.h - an Arrow C stream of any table that is filled batch by batch. */
#ifndef TACHO_COLUMNS_OPEN_H
#define TACHO_COLUMNS_OPEN_H

#include "base/diag.h"
#include "columns/table.h"
#include "tacho/columns.h"

/* What fills the table. */
struct columns_rows {
	struct columns_table *table;	/* has its columns */
	void *arg;
	/* As columns_fill_batch(); after 0 or an error it is not called again. */
	int (*batch)(void *arg, struct tacho_diag *d);
	void (*release)(void *arg);	/* and the table */
};

/*
 * Makes *out, which owns what rows says from now on.  Returns 0 or -ENOMEM; then release() was not
 * called.
 */
int columns_stream_new(struct ArrowArrayStream *out, const struct columns_rows *rows);

#endif
