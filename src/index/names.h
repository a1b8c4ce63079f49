/* SPDX-License-Identifier: MIT */
/*
 * names.h - the texts of an index, by number.
 *
 * Number 0 is "".  Names are kept in pages, in the order in which they were seen: a blob of
 * strings, each with its NUL, of about 16 KiB.
 *
 * A builder knows names by their address: a model has each text once, and keeps it.  So a name may
 * be in an index twice, if the builder was continued with another model.
 */
#ifndef TACHO_INDEX_NAMES_H
#define TACHO_INDEX_NAMES_H

#include "base/buf.h"
#include "index/log.h"

struct index_name_page {
	uint64_t offset, len;	/* of its blob */
	uint32_t first, nr;	/* numbers */
	char *text;		/* when it was read, with a NUL more */
	uint32_t *at;		/* where each name begins in it */
};

struct index_names {
	struct index_name_page *page;
	uint32_t nr_pages, room_pages;
	uint32_t nr;		/* names, with "" */
	/* the builder */
	const char **key;
	uint32_t *number;
	uint32_t nr_keys, room;
	struct tacho_buf text;	/* of the last page, which is not written yet */
	uint32_t first;
};

void index_names_init(struct index_names *names);
void index_names_release(struct index_names *names);

/* The number of a name, which is added if it is new.  0 or a negative errno. */
int index_names_add(struct index_names *names, struct index_log *log, const char *name,
		    uint32_t *number);
/* Writes the last page, and appends the list of pages to out. */
int index_names_write(struct index_names *names, struct index_log *log, struct tacho_buf *out);

/* The list of pages.  0, -EBADMSG or -ENOMEM. */
int index_names_read(struct index_names *names, struct index_bytes *in);
/* A name, valid until index_names_release(); NULL: *err.  -EBADMSG: there is no such number. */
const char *index_names_get(struct index_names *names, struct index_log *log, uint32_t number,
			    int *err);

#endif
