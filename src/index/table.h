/* SPDX-License-Identifier: MIT */
/*
 * table.h - what is known of each track, or of each place where records are lost: a table in
 * pages, of which only those that are used are in memory.
 *
 * A page is a record: PAGE, then INDEX_PAGE entries, each packed against the one before it.  What
 * was changed is written as a new page; the list of pages says where the newest of each is.
 */
#ifndef TACHO_INDEX_TABLE_H
#define TACHO_INDEX_TABLE_H

#include "base/buf.h"
#include "index/log.h"

#define INDEX_PAGE	128u

struct index_entry {
	uint32_t parent;		/* losses: the CPU */
	uint32_t kind, name;
	int64_t number;
	uint64_t edge;			/* its ref; 0: no items */
};

struct index_page {
	uint64_t ref;			/* 0: all of it is 0 */
	struct index_entry *entry;	/* NULL: not in memory */
	bool dirty, used;
};

struct index_table {
	uint32_t nr;			/* entries */
	struct index_page *page;
	uint32_t nr_pages, room_pages, nr_loaded, hand;
};

void index_table_release(struct index_table *table);

/* An entry, to be read or changed, valid until the next call.  0 or a negative errno. */
int index_table_get(struct index_table *table, struct index_log *log, uint32_t i, bool change,
		    struct index_entry **entry);
/* Another one, zeroed. */
int index_table_add(struct index_table *table, struct index_log *log, struct index_entry **entry);
/* It has nr entries, not less than before; the new ones are zeroed. */
int index_table_resize(struct index_table *table, uint32_t nr);
/* Writes what was changed, and appends the list of pages to out. */
int index_table_write(struct index_table *table, struct index_log *log, struct tacho_buf *out);
/* The list of pages.  0, -EBADMSG or -ENOMEM. */
int index_table_read(struct index_table *table, struct index_bytes *in);

#endif
