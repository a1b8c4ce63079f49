/* SPDX-License-Identifier: MIT */
/* open.h - an Arrow C stream of any table whose batches come one by one. */
#ifndef TACHO_COLUMNS_OPEN_H
#define TACHO_COLUMNS_OPEN_H

#include "base/diag.h"
#include "columns/table.h"
#include "tacho/columns.h"
#include "tacho/stream.h"

/* What fills the table. */
struct columns_rows {
	const struct columns_table *table;	/* has its columns */
	void *arg;
	/*
	 * The next batch.  1 and *out; 0: there are no more; or a negative errno with *d filled
	 * in.  After 0 or an error it is not called again.
	 */
	int (*next)(void *arg, struct ArrowArray *out, struct tacho_diag *d);
	void (*free)(void *arg);	/* and the table; not the stream that it reads */
};

/*
 * Makes *out, which owns what rows says from now on, and the stream, which it closes last.  Returns
 * 0; or -ENOMEM, and then both are the caller's.
 */
int columns_stream_new(struct ArrowArrayStream *out, const struct columns_rows *rows,
		       struct tacho_stream *stream);

#endif
