/* SPDX-License-Identifier: MIT */
/*
 * read_priv.h - from slots to a batch of records.
 *
 *	file --> window: slots
 *		   |	parse.c, record.c
 *		   v
 *		 chunk: records, and where each begins with its time
 *		   |	order.c, with the chunk before
 *		   v
 *		 the batch that the stream walks
 *
 * All are bounded, whatever the size of the file.
 */
#ifndef TACHO_FMT_KEV_READ_PRIV_H
#define TACHO_FMT_KEV_READ_PRIV_H

#include "fmt/kev/file.h"
#include "fmt/kev/kev.h"
#include "fmt/kev/read.h"
#include "fmt/kev/types.h"

#ifdef TACHO_TINY
#define TACHO_KEV_CHUNK		2048u	/* looks no further ahead than tests need */
#else
#define TACHO_KEV_CHUNK		131072u	/* slots */
#endif

/* Slots of one chunk: of a short file, all that it has. */
static inline uint32_t tacho_kev_chunk_slots(const struct tacho_kev_file *f)
{
	uint64_t n = f->size > f->slots ? (f->size - f->slots) / TACHO_KEV_SLOT + 1 : 1;

	return n < TACHO_KEV_CHUNK ? (uint32_t)n : TACHO_KEV_CHUNK;
}

/* Where a record of a chunk is. */
struct tacho_kev_entry {
	uint64_t time;
	uint32_t at;
	uint32_t size;
};

struct tacho_kev_chunk {
	unsigned char *bytes;
	size_t len, room;
	struct tacho_kev_entry *entry;	/* none while events are only counted */
	uint32_t nr, room_entries;
	bool sorted;			/* so far */
	uint64_t lost;			/* before or among its events */
};

struct tacho_kev_source {
	struct tacho_source source;
	struct tacho_part part;
	struct tacho_kev_file file;
	struct tacho_kev_types types;
	struct tacho_kev_parser *parser;
	unsigned char *window;
	uint64_t at;			/* offset of the next slot */
	struct tacho_kev_chunk chunk[4];
	uint8_t first, second, spare[2];	/* indices: what goes out next, ... */
	uint32_t out;			/* entries of the first that went out */
	bool loaded;			/* the first holds records */
	bool ended;			/* the parser was emptied */
	bool threads;			/* common_pid is the thread */
	int32_t running[TACHO_KEV_CPUS];
	uint32_t seen_name[4096];	/* which names were told, by pid: a hash */

	/* TIME events found by looking ahead */
	bool timed[TACHO_KEV_CPUS];
	uint32_t msb[TACHO_KEV_CPUS], lsb[TACHO_KEV_CPUS];
	int first_timed;		/* CPU of the first one; -1: there is none */

	uint32_t told;			/* problems of the header */
	int32_t sequence;		/* of the last BUFFER event; -1: none */
	uint64_t slots, buffers, lost;
	uint64_t begin, end;		/* times seen; begin UINT64_MAX: none */
	bool whole;			/* read to its end */
	bool scanned;			/* all types are there */
};

/* Fills a chunk from the file.  A stream status; END: there was nothing. */
int tacho_kev_fill_chunk(struct tacho_kev_source *s, struct tacho_kev_chunk *c);

/* Forgets all that was read. */
void tacho_kev_rewind(struct tacho_kev_source *s);

/* Brings a chunk's records into the order of time, by way of `spare`.  0 or -ENOMEM. */
int tacho_kev_sort(struct tacho_kev_chunk *c, struct tacho_kev_chunk *spare);

/*
 * Deals the records of two sorted chunks out to two others: as many of the earliest as
 * there are in a to c, the rest to d.  0 or -ENOMEM.
 */
int tacho_kev_merge(const struct tacho_kev_chunk *a, const struct tacho_kev_chunk *b,
		    struct tacho_kev_chunk *c, struct tacho_kev_chunk *d);

/* Room for len more bytes and an entry.  0 or -ENOMEM. */
int tacho_kev_chunk_grow(struct tacho_kev_chunk *c, size_t len);

/* Stores the name of a process or thread from an event. */
void tacho_kev_take_name(struct tacho_kev_source *s, const struct tacho_kev_event *ev);

#endif
