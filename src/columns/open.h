/* SPDX-License-Identifier: MIT */
/* open.h - an Arrow C stream of any table whose batches come one by one. */
#ifndef TACHO_COLUMNS_OPEN_H
#define TACHO_COLUMNS_OPEN_H

#include "base/diag.h"
#include "columns/table.h"
#include "tacho/columns.h"

/* What fills the table. */
struct columns_rows {
	const struct columns_table *table;	/* has its columns */
	void *arg;
	/*
	 * The next batch.  1 and *out; 0: there are no more; or a negative errno with *d filled
	 * in.  After 0 or an error it is not called again.
	 */
	int (*next)(void *arg, struct ArrowArray *out, struct tacho_diag *d);
	void (*release)(void *arg);	/* and the table */
};

/*
 * Makes *out, which owns what rows says from now on.  Returns 0 or -ENOMEM; then release() was not
 * called.
 */
int columns_stream_new(struct ArrowArrayStream *out, const struct columns_rows *rows);

#endif
