/* SPDX-License-Identifier: MIT */
/*
 * items.h - the tables of the model (model/items.h) as columns.
 *
 * 1. A pass
 *	Each batch goes on reading the stream, one record after the other, until enough items are
 *	queued: a model takes records in order from the start of the trace, and hands items out
 *	when they end.  So one thread does it, and nothing of the trace can be passed over but
 *	what is after `until`.  The table track is read to the end before its first batch.
 *
 * 2. When items become rows
 *	Values of items are evaluated column by column, for up to COLUMNS_RUN items at once.
 *	An item's thread, CPU and path are to be what they were called after the record that
 *	ended it, as in SQL; so before a track gets another name, what earlier records have
 *	queued becomes rows.  For that the batch must have room:
 *
 *	I1  A record is read only while fewer items are queued than the batch, and a run,
 *	    have room for.
 *	I2  What one record queues beyond that waits for the next batch.
 *
 * 3. Which items
 *	The configuration's terms are tested when an item is queued, like those of SQL: what does
 *	not pass costs no row.  A path is built once for each track and name (struct verdict), and
 *	a text is looked up in its column's dictionary once for each address (columns_cached).
 */
#ifndef TACHO_COLUMNS_ITEMS_H
#define TACHO_COLUMNS_ITEMS_H

#include "columns/open.h"

/*
 * The rows of config->table.  The stream is the caller's, and outlives them.  0, or a negative
 * errno with d filled in.
 */
int columns_items_rows(struct columns_rows *rows, struct tacho_stream *stream,
		       const struct tacho_columns_config *config, struct tacho_diag *d);

#endif
