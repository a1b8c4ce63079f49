/* SPDX-License-Identifier: MIT */
/*
 * columns.h - records as columns, and columns as an Arrow C stream (<tacho/columns.h>).
 *
 *	tacho_stream  ->  fill, plan, ops  ->  table  ->  arrow
 *	(stream/run)      fill.h, plan.h       table.h    arrow.h
 *
 * Only fill, plan and ops know events.  table.h and arrow.h know columns: code with
 * rows of another kind fills a table and exports it likewise.  Several threads have a fill
 * and a table each: ahead.h.
 *
 * 1. The life of a batch
 *
 *	(1) The reader hands out a *run*: up to COLUMNS_RUN records of one source that are valid
 *	    together, because no part was filled since the first of them.  Records that are not
 *	    selected are left out here.
 *	(2) Record k of the run becomes row (table rows + k).  Rows are in the run's order.
 *	(3) The records of each type are put on the list of that type's plan.  For each plan each
 *	    *op* runs once, over its whole list: a loop whose width is a constant, without a call
 *	    per value.  What has a variable length is appended row by row afterwards, because
 *	    such a column must be written in the order of rows.
 *	(4) Only now the next run may be read, which overwrites the records.
 *	(5) When the table has batch_rows rows, or its buffers have COLUMNS_BYTES, its columns
 *	    are exported: buffers move to the batch, and the table is empty again.
 *
 *    A column of the table has no memory before its first value in a batch.  One that gets none
 *    is exported as nulls over one block of zeroes, which all such columns of all batches share.
 *    A table with thousands of columns, most of them of types that are rare, costs what is in it.
 *
 * 2. Ownership
 *
 *    A *block* (block.h) is memory with a count of its owners.  Exported arrays own blocks and
 *    nothing else: no array points into the table, the stream or another array.  This is why a
 *    batch outlives its stream, and a column that was moved out of a batch outlives the batch:
 *
 *	ArrowArray of a batch	owns the memory of its child structs, and releases the children
 *				that are still there
 *	ArrowArray of a column	owns its blocks, and the structs of its list item or dictionary,
 *				which it releases if they are still there
 *
 *    Consumers release in any thread, hence the count is atomic ([block]).  The release callbacks
 *    use only what private_data points to, never the address of the struct: it may have moved.
 *
 * 3. Dictionaries
 *
 *    Each batch carries its dictionaries whole; the C interface has no deltas.  To copy what has
 *    been collected so far would cost dictionary times batches, so a dictionary only grows at
 *    its end, and a batch gets (blocks, number of texts at that time):
 *
 *	offsets	[0 3 7 | 12 ]			batch 1 has 2 texts, batch 2 has 3, in
 *	text	[foobarx | hello ]		the same two blocks
 *
 *    The table writes beyond what a batch can see, so it may do so while a consumer in another
 *    thread reads.  A block that is full is replaced by a copy of twice its size; older
 *    batches keep the old one.  A dictionary with more than COLUMNS_DICT_TEXTS texts or
 *    COLUMNS_DICT_BYTES begins again, empty, with the next batch: texts that all differ cost
 *    each batch no more than its own.  Who has cached an index checks the dictionary's
 *    generation.
 *
 * 4. Nulls
 *
 *    Each column has a bit per row.  An op sets the bits of its rows, as a range if the rows
 *    are consecutive; a value that is not there takes its bit back.  A column whose bits are all
 *    set is exported without them.  Rows of a column that were passed over are zeroed, so no
 *    batch shows memory of something else.
 *
 * 5. Hostile input
 *
 *    Offsets of fields are foreign.  A plan knows up to which byte its ops look; a shorter
 *    record takes the slow path, which checks every op.  What a record locates (__data_loc) is
 *    checked for each value.  Texts are made UTF-8.  A column is at most COLUMNS_FIXED_MAX bytes
 *    per row wide, plus what records really contain, so a table's memory follows the trace's size.
 *
 * One thread uses a table and a reader at a time; exported arrays belong to their consumers.
 */
#ifndef TACHO_COLUMNS_COLUMNS_H
#define TACHO_COLUMNS_COLUMNS_H

/* Rows that are converted at a time. */
#define COLUMNS_RUN		1024u
/* Rows of a batch: their columns fit into a cache, and memory of earlier batches is used again. */
#define COLUMNS_ROWS		16384u
#define COLUMNS_ROWS_MAX	(1u << 24)
/* A batch ends when its buffers take as much; one run may exceed it. */
#define COLUMNS_BYTES		((size_t)64 << 20)
/* Columns of a table. */
#define COLUMNS_MAX		8192u
/* Arrays and structs up to this size take it in each row; larger ones only what they have. */
#define COLUMNS_FIXED_MAX	64u
#define COLUMNS_DICT_TEXTS	65536u
#define COLUMNS_DICT_BYTES	((size_t)4 << 20)

#endif
