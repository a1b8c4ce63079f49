// SPDX-License-Identifier: MIT
#include "index/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		16384u
#define TEXT_MAX	((size_t)1 << 30)

void index_names_init(struct index_names *names)
{
	*names = (struct index_names){ .nr = 1, .first = 1 };
	tacho_buf_init(&names->text, TEXT_MAX);
}

void index_names_release(struct index_names *names)
{
	for (uint32_t i = 0; i < names->nr_pages; i++) {
		free(names->page[i].text);
		free(names->page[i].at);
	}
	free(names->page);
	free(names->key);
	free(names->number);
	tacho_buf_release(&names->text);
}

/* ---- adding ---- */

static uint32_t home_of(const struct index_names *names, const char *name)
{
	return (uint32_t)((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (names->room - 1);
}

/* Where a name is, or could be. */
static uint32_t find(const struct index_names *names, const char *name)
{
	uint32_t at = home_of(names, name);

	while (names->key[at] && names->key[at] != name)
		at = (at + 1) & (names->room - 1);
	return at;
}

/* At most three quarters are taken. */
static int grow(struct index_names *names)
{
	struct index_names bigger = { .room = names->room ? names->room * 2 : 1024 };

	if (names->nr_keys < names->room / 4 * 3)
		return 0;
	bigger.key = calloc(bigger.room, sizeof(*bigger.key));
	bigger.number = calloc(bigger.room, sizeof(*bigger.number));
	if (!bigger.room || !bigger.key || !bigger.number) {
		free(bigger.key);
		free(bigger.number);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < names->room; i++)
		if (names->key[i]) {
			uint32_t at = find(&bigger, names->key[i]);

			bigger.key[at] = names->key[i];
			bigger.number[at] = names->number[i];
		}
	free(names->key);
	free(names->number);
	names->key = bigger.key;
	names->number = bigger.number;
	names->room = bigger.room;
	return 0;
}

static struct index_name_page *new_page(struct index_names *names)
{
	uint32_t room = names->room_pages ? names->room_pages * 2 : 16;
	struct index_name_page *page;

	if (names->nr_pages == names->room_pages) {
		page = reallocarray(names->page, room, sizeof(*page));
		if (!page)
			return NULL;
		names->page = page;
		names->room_pages = room;
	}
	page = &names->page[names->nr_pages];
	*page = (struct index_name_page){ 0 };
	return page;
}

/* Writes the last page, and begins another one. */
static int end_page(struct index_names *names, struct index_log *log)
{
	struct index_name_page *page;

	if (names->first == names->nr)
		return 0;
	page = new_page(names);
	if (!page)
		return -ENOMEM;
	page->offset = index_log_put_blob(log, names->text.data, names->text.len);
	page->len = names->text.len;
	page->first = names->first;
	page->nr = names->nr - names->first;
	if (!page->offset)
		return log->err;
	names->nr_pages++;
	names->first = names->nr;
	tacho_buf_reset(&names->text);
	return 0;
}

static int add(struct index_names *names, struct index_log *log, const char *name)
{
	int err;

	if (names->nr == UINT32_MAX)
		return -EOVERFLOW;
	tacho_buf_put(&names->text, name, strlen(name) + 1);
	err = tacho_buf_error(&names->text);
	if (err)
		return err;
	names->nr++;
	return names->text.len >= PAGE ? end_page(names, log) : 0;
}

int index_names_add(struct index_names *names, struct index_log *log, const char *name,
		    uint32_t *number)
{
	uint32_t at;
	int err;

	*number = 0;
	if (!*name)
		return 0;
	if (names->room) {
		at = find(names, name);
		if (names->key[at]) {
			*number = names->number[at];
			return 0;
		}
	}
	err = grow(names);
	if (err)
		return err;
	at = find(names, name);
	*number = names->nr;
	err = add(names, log, name);
	if (err)
		return err;
	names->key[at] = name;
	names->number[at] = *number;
	names->nr_keys++;
	return 0;
}

/* ---- the list of pages ---- */

static void put(struct tacho_buf *out, uint64_t v)
{
	unsigned char bytes[INDEX_VARINT];

	tacho_buf_put(out, bytes, (size_t)(index_put(bytes, v) - bytes));
}

int index_names_write(struct index_names *names, struct index_log *log, struct tacho_buf *out)
{
	int err = end_page(names, log);

	put(out, names->nr_pages);
	for (uint32_t i = 0; i < names->nr_pages; i++) {
		put(out, names->page[i].offset);
		put(out, names->page[i].len);
		put(out, names->page[i].nr);
	}
	return err ? err : tacho_buf_error(out);
}

int index_names_read(struct index_names *names, struct index_bytes *in)
{
	uint64_t nr = index_get(in), number = 1;

	for (uint64_t i = 0; i < nr && !in->bad; i++) {
		struct index_name_page *page = new_page(names);

		if (!page)
			return -ENOMEM;
		page->offset = index_get(in);
		page->len = index_get(in);
		page->nr = index_get_u32(in);
		page->first = (uint32_t)number;
		number += page->nr;
		if (!page->nr || page->nr > page->len || number > UINT32_MAX)
			in->bad = true;
		names->nr_pages++;
	}
	names->nr = names->first = (uint32_t)number;
	return in->bad ? -EBADMSG : 0;
}

static int load(struct index_log *log, struct index_name_page *page)
{
	struct tacho_buf text;
	uint32_t nr = 0;
	int err;

	tacho_buf_init(&text, TEXT_MAX);
	err = index_log_blob(log, page->offset, page->len, &text);
	page->at = err ? NULL : reallocarray(NULL, page->nr, sizeof(*page->at));
	if (!err && !page->at)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < text.len; nr++) {
		const char *end = memchr(text.data + i, '\0', text.len - i);

		if (!end || nr == page->nr)
			err = -EBADMSG;
		else
			page->at[nr] = (uint32_t)i;
		i = end ? (size_t)(end - text.data) + 1 : text.len;
	}
	if (!err && nr != page->nr)
		err = -EBADMSG;
	if (err) {
		tacho_buf_release(&text);
		free(page->at);
		page->at = NULL;
		return err;
	}
	page->text = text.data;
	return 0;
}

const char *index_names_get(struct index_names *names, struct index_log *log, uint32_t number,
			    int *err)
{
	uint32_t low = 0, high = names->nr_pages;
	struct index_name_page *page;

	*err = 0;
	if (!number)
		return "";
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (names->page[middle].first <= number)
			low = middle;
		else
			high = middle;
	}
	page = low < high ? &names->page[low] : NULL;
	if (!page || number - page->first >= page->nr)
		*err = -EBADMSG;
	else if (!page->text)
		*err = load(log, page);
	return *err ? NULL : page->text + page->at[number - page->first];
}
