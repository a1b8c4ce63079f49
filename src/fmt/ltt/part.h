/* SPDX-License-Identifier: MIT */
/*
 * part.h - one file of an LTT trace as a part of the stream.
 *
 *	file --> window: some whole buffers
 *		   |	(one at a time is open: its time base and its end are known)
 *		   v
 *		 out: records, the batch that the stream walks
 *
 * Both are bounded, whatever the size of the file; the memory of a part is allocated when it is
 * first read and freed at its end.
 *
 * A record of a known event whose size is the usual one is copied after two words
 * (walk.c); all others go through emit.c.  A batch ends where `out` is full, where
 * time goes back or leaps further than a record's 48 bits can tell, before lost
 * events, and where the next record is of another CPU or stream id.
 */
#ifndef TACHO_FMT_LTT_PART_H
#define TACHO_FMT_LTT_PART_H

#include "fmt/ltt/choose.h"
#include "fmt/ltt/custom.h"
#include "fmt/ltt/file.h"
#include "stream/source.h"

/* How records of an event are copied. */
struct tacho_ltt_plan {
	uint32_t size;		/* of the record in the file; LTT_NO_PLAN: they are not */
	uint16_t out;		/* of ours */
	uint16_t type;
	bool sched;		/* SCHEDCHANGE: another process from here on */
	uint8_t nr_turn;	/* the other byte order: numbers to turn */
	struct { uint8_t at, size; } turn[3];
};

/* No record has this size. */
#define LTT_NO_PLAN	0x10000u

#define LTT_PLANS	512u	/* event id << 4 | sub id */

struct tacho_ltt_source {
	struct tacho_source source;
	struct tacho_arena arena;		/* types */
	struct tacho_ltt_customs customs;
	enum tacho_ltt_layout layout;
	enum tacho_ltt_layout also;	/* see tacho_ltt_choose() */
	bool swap, s390;
	bool plain;		/* see read.h */
	bool scanned;		/* all types are known */
	bool begun;		/* somebody reads */
	/* for a directory: files that are not LTT files, reported when reading begins */
	struct tacho_diag bad_file;	/* the first one */
	uint32_t nr_bad_files;
	struct tacho_ltt_shape shape[TRACE_MAX + 1];
	struct tacho_ltt_plan plan[LTT_PLANS];
	size_t window_room;	/* for each part */
};

enum tacho_ltt_unit { LTT_UNIT_US, LTT_UNIT_NS, LTT_UNIT_CYCLE };

/* The time in a buffer. */
struct tacho_ltt_clock {
	enum tacho_ltt_unit unit;
	uint64_t now;		/* in units */
	uint64_t limit;		/* nothing in the buffer is later; UINT64_MAX: not known */
	uint32_t last;		/* of the last header word */
	/* CYCLE: ns = zero_ns + (now - zero) * mult >> 32 */
	uint64_t zero, zero_ns, mult;
};

struct tacho_ltt_part {
	struct tacho_part part;
	struct tacho_ltt_file file;
	struct tacho_ltt_fit fit;	/* 2.3 */

	unsigned char *window;
	size_t window_len, window_room;
	uint64_t window_at;	/* its offset in the file */
	uint64_t next;		/* offset of what is not in the window yet */

	/* the buffer that is open */
	const unsigned char *buf;
	uint64_t buf_at;	/* its offset in the file */
	size_t pos;		/* of the next record in it */
	size_t data_end;	/* where BUFFER_END begins; SIZE_MAX: not known */
	size_t end;		/* of what may be looked at */
	struct tacho_ltt_clock clock;
	uint32_t *index;	/* 2.2: where records begin, as far as that is known */
	uint32_t nr_index, room_index, at_index;

	bool timed;		/* the clock is at the record at pos already */
	int32_t pid;		/* that runs; -1: not known */
	uint32_t cpu;
	struct tacho_ltt_fragments fragments;
	uint64_t first, last;	/* ns: of what was read */

	unsigned char *out;
};

struct tacho_ltt_batch {
	unsigned char *out;
	size_t len;
	uint64_t first, last;	/* ns */
	uint32_t cpu, stream_id;
};

#define LTT_OUT_ROOM	((size_t)128 << 10)
/* The most that is written for a record beyond its own size. */
#define LTT_OUT_MORE	128u

static inline size_t tacho_ltt_room(const struct tacho_ltt_batch *b)
{
	return LTT_OUT_ROOM - b->len;
}

static inline uint64_t tacho_ltt_ns(const struct tacho_ltt_clock *c)
{
	__extension__ typedef unsigned __int128 u128;

	switch (c->unit) {
	case LTT_UNIT_US: return c->now * 1000;
	case LTT_UNIT_NS: return c->now;
	case LTT_UNIT_CYCLE:
	default: break;
	}
	return c->zero_ns + (uint64_t)((u128)(c->now - c->zero) * c->mult >> 32);
}

/*
 * Whether a record at ns, of this stream id, can be the batch's next one.  Says
 * nothing when the batch is empty: then it is its first.
 */
static inline bool tacho_ltt_fits(struct tacho_ltt_batch *b, uint64_t ns,
				  uint32_t stream_id)
{
	if (!b->len) {
		b->first = b->last = ns;
		b->stream_id = stream_id;
		return true;
	}
	return ns - b->last < (uint64_t)1 << 47 && stream_id == b->stream_id;
}

/* Counts damage at an offset of the part's file. */
int tacho_ltt_damage(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		     uint64_t at, const char *fmt, ...) TACHO_PRINTF(4, 5);

/* ---- buffer.c ---- */

/* Opens the next buffer of the file.  RECORD: it is open, or was skipped; END, ERROR. */
int tacho_ltt_open_buffer(struct tacho_ltt_source *s, struct tacho_ltt_part *p);

/*
 * Takes the clock to the time of the header word of a record.  RECORD, or ERROR:
 * it goes back, or beyond the buffer's end, and the stream is strict.
 */
int tacho_ltt_advance(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		      uint32_t time, uint32_t id);

/* ---- walk.c ---- */

/*
 * Makes records of the buffer that is open.  RECORD: it is done and closed.  AGAIN:
 * the batch has to end first.  ERROR.
 */
int tacho_ltt_walk(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   struct tacho_ltt_batch *b);

/*
 * Loads the types that are declared in the buffer that is open, and makes nothing of
 * it.  RECORD, ERROR.
 */
int tacho_ltt_walk_types(struct tacho_ltt_source *s, struct tacho_ltt_part *p);

/* ---- emit.c ---- */

struct tacho_ltt_record {
	uint32_t id, sub;
	const unsigned char *body;	/* after the header */
	size_t len;			/* of body */
	size_t size;			/* of the record in the file */
	uint64_t at;			/* its offset there */
};

/*
 * Appends what a record is to the batch; the clock stands at its time.  RECORD, AGAIN
 * (nothing was done), ERROR.
 */
int tacho_ltt_emit(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   struct tacho_ltt_batch *b, const struct tacho_ltt_record *r);

/* Loads a type, if the record declares one. */
int tacho_ltt_load_type(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
			const struct tacho_ltt_record *r);

/* Fills in s->plan. */
void tacho_ltt_plans(struct tacho_ltt_source *s);

#endif
