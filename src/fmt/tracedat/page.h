/* SPDX-License-Identifier: MIT */
/*
 * page.h - the kernel's sub-buffers, written: the other half of
 * kdata/pages.h, which has their layout.
 *
 *	tacho_dat_page_begin(&p, bytes, 4096, time, lost);
 *	while (tacho_dat_page_add(&p, time, raw, len))
 *		;
 *	size = tacho_dat_page_end(&p);
 *
 * Its header is a u64, the time, and a long of the recording kernel, how many bytes follow.
 * A page begins at its first event's time, so that event has the delta 0.  A
 * delta of more than 27 bits takes a time extend, one of more than 59, or time
 * that goes back, a new page.  Events lost before the page are counted after
 * its events; a reader tells of them before its first event.
 */
#ifndef TACHO_FMT_TRACEDAT_PAGE_H
#define TACHO_FMT_TRACEDAT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TACHO_DAT_PAGE_HEAD	16u	/* of a kernel with longs of 8 bytes */
#define TACHO_DAT_PAGE_MIN	4096u
/* The header, a time extend, an event's two words, and the count of lost events. */
#define TACHO_DAT_PAGE_EXTRA	(TACHO_DAT_PAGE_HEAD + 8u + 8u + 8u)

struct tacho_dat_page {
	unsigned char *bytes;	/* borrowed */
	size_t size;		/* of the page */
	unsigned int long_size;	/* of the recording kernel: 4 or 8 */
	size_t used;		/* header included */
	uint64_t last;		/* time of the last event */
	uint64_t lost;		/* events before the page */
};

/* Begins a page in size bytes, a multiple of 8, at bytes. */
void tacho_dat_page_begin(struct tacho_dat_page *p, void *bytes, size_t size,
			  unsigned int long_size, uint64_t time, uint64_t lost);

/*
 * Appends an event of len bytes, rounded up to 4 with zeros.  Its bytes are
 * where the result points to, for the caller to fill in.  NULL: it does not
 * fit in this page.
 */
unsigned char *tacho_dat_page_add(struct tacho_dat_page *p, uint64_t time,
				  size_t len);

/* Writes the header; the rest is zeroed.  Returns the bytes in use. */
size_t tacho_dat_page_end(struct tacho_dat_page *p);

/*
 * What events/header_page says of pages of page_size bytes, and events/header_event of the
 * words in them.
 */
void tacho_dat_print_header_page(struct tacho_buf *out, size_t page_size,
				 unsigned int long_size);
void tacho_dat_print_header_event(struct tacho_buf *out);

/* An event of a page that was written here. */
struct tacho_dat_event {
	uint64_t time;
	const unsigned char *raw;
	size_t len;
};

/* A walk over such a page. */
struct tacho_dat_walk {
	const unsigned char *pos, *end;
	uint64_t time, lost;
};

/* Returns the bytes that the page uses, the count of lost events included. */
size_t tacho_dat_walk_begin(struct tacho_dat_walk *w, const void *page,
			    unsigned int long_size);
bool tacho_dat_walk_next(struct tacho_dat_walk *w, struct tacho_dat_event *e);

#endif
