/* SPDX-License-Identifier: MIT */
/*
 * pages.h - one CPU's pages of one buffer of a trace.dat: a part of the stream.
 *
 *	file --> window: some pages, or one chunk decompressed
 *		   |	(pages of the other byte order are turned here)
 *		   v
 *		 out: records, the batch that the stream walks
 *
 * Both are bounded, whatever the size of the file; the memory of a part
 * is taken when its time has come and given back at its end.
 *
 * A batch ends where the window does, where `out` is full, before events that
 * were lost, and where times go back or leap further than a record's 48
 * bits can tell.
 */
#ifndef TACHO_FMT_TRACEDAT_PAGES_H
#define TACHO_FMT_TRACEDAT_PAGES_H

#include "fmt/tracedat/meta.h"
#include "kdata/types.h"
#include "stream/source.h"

struct tacho_dat_source {
	struct tacho_source source;
	struct tacho_dat_file file;
	struct tacho_dat_meta meta;
	struct tacho_ktypes types;
	struct tacho_arena swaps;		/* files of the other byte order */
	const struct tacho_dat_swap **swap;	/* by id */
	uint32_t *format_of;	/* by id: 1 + index into meta.format; 0: none, or tried */
	struct tacho_buf packed;	/* a chunk before it is decompressed */
	size_t window_room;	/* for each part */
};

/* A page: its offset in the file, or that of its chunk, and its own in that. */
struct tacho_dat_place {
	uint64_t at;
	uint32_t in;
};

/* A chunk where reading can begin: view.h. */
struct tacho_dat_mark {
	uint64_t offset;	/* of its header */
	uint64_t raw;		/* bytes of pages before it */
	uint64_t time;		/* ticks: of its first page that has events */
	uint32_t page;		/* where that is in it */
	uint32_t chunks;	/* from here to the part's end */
};

/* Events that were lost before a page. */
struct tacho_dat_loss {
	struct tacho_dat_place at;
	uint64_t n;
};

struct tacho_dat_part {
	struct tacho_part part;
	const struct tacho_dat_buffer *buffer;
	uint64_t begin, end;	/* of its data in the file */
	uint64_t next;		/* offset of what is not in the window yet */
	uint32_t chunks;	/* compressed: chunks from next on */

	unsigned char *window;
	size_t window_len, window_room;
	size_t at;		/* the next page in the window */
	uint64_t window_at;	/* its offset in the file, for messages */

	struct tacho_kpage page;	/* being read */
	struct tacho_kevent held;	/* taken from it, not yet a record */
	bool in_page, has_held;
	uint64_t fresh_loss;	/* lost before the page that was opened, not told so far */

	unsigned char *out;
	size_t out_room;

	struct tacho_dat_mark *mark;	/* compressed, by tacho_dat_find_marks() */
	uint32_t nr_marks;
	bool marked, timed;		/* found, and when they are */
	uint64_t raw_end;		/* bytes of all pages that could be found */

	/* of a view that reads a slice (view.h) */
	bool checks;
	struct tacho_dat_place from, opened;	/* where it began; its last page */
	uint64_t order;			/* ticks: nothing earlier may follow */
	struct tacho_dat_loss *loss;	/* since `from` */
	uint32_t nr_losses;

	/* what was seen since the start; whole: up to the end */
	bool whole, partial;
	uint64_t pages, lost, first, last;
};

/* A chunk is some ten pages; this is far beyond. */
#define TACHO_DAT_CHUNK_MAX	((size_t)4 << 20)

/* tacho_source_ops.fill and .type. */
int tacho_dat_fill(struct tacho_source *source, struct tacho_part *part,
		   bool bad);
const struct tacho_type *tacho_dat_type(struct tacho_source *source,
					uint32_t stream_id, uint32_t id);

/* Whose event an id is: enum tacho_stream_id. */
static inline uint32_t tacho_dat_stream_of(const struct tacho_dat_source *s, uint32_t id)
{
	return tacho_dat_own_event(&s->meta.own, id).program ? TACHO_STREAM_PROGRAM :
							       TACHO_STREAM_KERNEL;
}

/* Puts the part at its start; what was seen stays. */
void tacho_dat_part_begin(struct tacho_dat_part *p);

/* Puts the part at its start, and its horizon at the first page's time; forgets what was seen. */
void tacho_dat_part_rewind(struct tacho_dat_source *s, struct tacho_dat_part *p);

/* The time of the page at an offset of an uncompressed part; false: no events. */
bool tacho_dat_page_time(struct tacho_dat_source *s, uint64_t at,
			 uint64_t *time);

/* The same of a page whose header is at head. */
bool tacho_dat_head_time(const struct tacho_dat_source *s, const unsigned char *head,
			 uint64_t *time);

void tacho_dat_part_free(struct tacho_dat_part *p);

#endif
