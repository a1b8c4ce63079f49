/* SPDX-License-Identifier: MIT */
/* arrow.h - tables as structs of the Arrow C data interface. */
#ifndef TACHO_COLUMNS_ARROW_H
#define TACHO_COLUMNS_ARROW_H

#include "base/diag.h"
#include "columns/table.h"
#include "tacho/columns.h"

/*
 * Exports the schema of a table: a struct of its columns.  All texts are copied.  Returns 0 and
 * *out, which the caller releases, or -ENOMEM.
 */
int columns_export_schema(const struct columns_table *t, struct ArrowSchema *out);

/*
 * Exports the rows of a table, whose batch ends hereby: columns_table_begin() is next.  Returns
 * 0 and *out, which the caller releases and which does not depend on the table, or -ENOMEM.
 */
int columns_export_batch(struct columns_table *t, struct ArrowArray *out);

/* Likewise, for struct columns_rows: returns 1, or -ENOMEM with d filled in. */
static inline int columns_put_batch(struct columns_table *t, struct ArrowArray *out,
				    struct tacho_diag *d)
{
	return columns_export_batch(t, out) ? tacho_no_memory(d) : 1;
}

#endif
