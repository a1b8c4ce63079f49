// SPDX-License-Identifier: MIT
#include "index/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOADED_MAX	1024u	/* pages in memory */

/* kind, then varints: name, parent, number, ref. */
#define ENTRY_MAX	(1u + 5u + 5u + INDEX_VARINT * 2u)

void index_table_release(struct index_table *table)
{
	for (uint32_t i = 0; i < table->nr_pages; i++)
		free(table->page[i].entry);
	free(table->page);
	*table = (struct index_table){ 0 };
}

/* ---- a page ---- */

static int write_page(struct index_table *table, struct index_log *log, uint32_t i)
{
	unsigned char bytes[1 + INDEX_PAGE * ENTRY_MAX], *p = bytes;
	struct index_page *page = &table->page[i];
	struct index_entry last = { 0 };
	uint64_t ref;

	*p++ = INDEX_PAGE_RECORD;
	for (uint32_t j = 0; j < INDEX_PAGE; j++) {
		const struct index_entry *e = &page->entry[j];

		*p++ = (unsigned char)e->kind;
		p = index_put(p, e->name);
		p = index_put(p, index_zigzag((int64_t)e->parent - last.parent));
		p = index_put(p, index_zigzag((int64_t)((uint64_t)e->number -
							(uint64_t)last.number)));
		p = index_put(p, e->edge);
		last = *e;
	}
	ref = index_log_put(log, bytes, (uint32_t)(p - bytes));
	if (!ref)
		return log->err;
	page->ref = ref;
	page->dirty = false;
	return 0;
}

static int read_page(struct index_table *table, struct index_log *log, uint32_t i)
{
	struct index_page *page = &table->page[i];
	struct index_entry last = { 0 };
	struct index_bytes in;
	int err = index_log_at(log, page->ref, &in);

	if (err)
		return err;
	if (index_get_u8(&in) != INDEX_PAGE_RECORD)
		return -EBADMSG;
	for (uint32_t j = 0; j < INDEX_PAGE; j++) {
		struct index_entry *e = &page->entry[j];
		int64_t parent;

		e->kind = index_get_u8(&in);
		e->name = index_get_u32(&in);
		parent = (int64_t)((uint64_t)index_get_signed(&in) + last.parent);
		e->parent = (uint32_t)parent;
		e->number = (int64_t)((uint64_t)index_get_signed(&in) + (uint64_t)last.number);
		e->edge = index_get(&in);
		if (parent < 0 || parent > UINT32_MAX)
			in.bad = true;
		last = *e;
	}
	return in.bad ? -EBADMSG : 0;
}

/* One that was not used for a turn leaves the memory. */
static int evict(struct index_table *table, struct index_log *log)
{
	for (;;) {
		struct index_page *page = &table->page[table->hand];
		uint32_t i = table->hand;
		int err;

		table->hand = (table->hand + 1) % table->nr_pages;
		if (!page->entry)
			continue;
		if (page->used) {
			page->used = false;
			continue;
		}
		err = page->dirty ? write_page(table, log, i) : 0;
		if (err)
			return err;
		free(page->entry);
		page->entry = NULL;
		table->nr_loaded--;
		return 0;
	}
}

static int load(struct index_table *table, struct index_log *log, uint32_t i)
{
	struct index_page *page = &table->page[i];
	int err = table->nr_loaded >= LOADED_MAX ? evict(table, log) : 0;

	if (err)
		return err;
	page->entry = calloc(INDEX_PAGE, sizeof(*page->entry));
	if (!page->entry)
		return -ENOMEM;
	err = page->ref ? read_page(table, log, i) : 0;
	if (err) {
		free(page->entry);
		page->entry = NULL;
		return err;
	}
	table->nr_loaded++;
	return 0;
}

/* ---- entries ---- */

int index_table_get(struct index_table *table, struct index_log *log, uint32_t i, bool change,
		    struct index_entry **entry)
{
	struct index_page *page = &table->page[i / INDEX_PAGE];
	int err = page->entry ? 0 : load(table, log, i / INDEX_PAGE);

	if (err)
		return err;
	page->used = true;
	page->dirty = page->dirty || change;
	*entry = &page->entry[i % INDEX_PAGE];
	return 0;
}

static int add_page(struct index_table *table)
{
	uint32_t room = table->room_pages ? table->room_pages * 2 : 16;
	struct index_page *page;

	if (table->nr_pages == table->room_pages) {
		page = reallocarray(table->page, room, sizeof(*page));
		if (!page)
			return -ENOMEM;
		table->page = page;
		table->room_pages = room;
	}
	table->page[table->nr_pages++] = (struct index_page){ 0 };
	return 0;
}

int index_table_add(struct index_table *table, struct index_log *log, struct index_entry **entry)
{
	int err = 0;

	if (table->nr == UINT32_MAX)
		return -EOVERFLOW;
	if (table->nr == table->nr_pages * INDEX_PAGE)
		err = add_page(table);
	if (!err)
		err = index_table_get(table, log, table->nr, true, entry);
	if (!err)
		table->nr++;
	return err;
}

int index_table_resize(struct index_table *table, uint32_t nr)
{
	while ((uint64_t)table->nr_pages * INDEX_PAGE < nr)
		if (add_page(table))
			return -ENOMEM;
	table->nr = nr;
	return 0;
}

/* ---- the list of pages ---- */

static void put(struct tacho_buf *out, uint64_t v)
{
	unsigned char bytes[INDEX_VARINT];

	tacho_buf_put(out, bytes, (size_t)(index_put(bytes, v) - bytes));
}

int index_table_write(struct index_table *table, struct index_log *log, struct tacho_buf *out)
{
	uint64_t last = 0;
	int err = 0;

	put(out, table->nr);
	for (uint32_t i = 0; i < table->nr_pages && !err; i++) {
		if (table->page[i].dirty)
			err = write_page(table, log, i);
		put(out, index_zigzag((int64_t)(table->page[i].ref - last)));
		last = table->page[i].ref;
	}
	return err ? err : tacho_buf_error(out);
}

int index_table_read(struct index_table *table, struct index_bytes *in)
{
	uint32_t nr = index_get_u32(in);
	uint64_t last = 0;

	for (uint64_t i = 0; i < nr && !in->bad; i += INDEX_PAGE) {
		if (add_page(table))
			return -ENOMEM;
		last += (uint64_t)index_get_signed(in);
		table->page[table->nr_pages - 1].ref = last;
	}
	table->nr = nr;
	return in->bad ? -EBADMSG : 0;
}
