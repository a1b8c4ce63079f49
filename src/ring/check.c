// SPDX-License-Identifier: MIT
#include "ring/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/atomic.h"
#include "ring/write.h"

/* A packet spans no more, ring.h section 7. */
#define SPAN_MAX	(UINT64_C(2) << TACHO_EPOCH_BITS)
/* How often a lane is checked again because writers changed it. */
#define TRIES		20

/* What is checked, and the result. */
struct check {
	struct tacho_ring *r;
	struct tacho_diag *d;
	uint32_t lane, id;	/* where */
	uint64_t sub;
	uint32_t violated;
};

/* One buffer.  `end` is the cursor, or `saved`; seq its sub-buffer's full number. */
struct buffer {
	const struct tacho_ring_buf *map;
	struct tacho_buffer *shared;
	uint64_t end, seq;
	uint32_t nr_subs;
	bool overwrite;
};

/* Notes that invariant n is violated; in the current sub-buffer if `at` is not 0. */
#define violates(c, n, at, ...) violates_at((c), (n), (at), __LINE__, __VA_ARGS__)

TACHO_PRINTF(5, 6)
static void violates_at(struct check *c, unsigned int n, uint64_t at, unsigned int line,
			const char *fmt, ...)
{
	char what[160];
	va_list ap;

	c->violated |= TACHO_RING_I(n);
	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	(void)tacho_diag_set(c->d, -EBADMSG, at, line, "lane %" PRIu32 ", buffer %" PRIu32
			     ", sub-buffer %" PRIu64 ": invariant I%u is violated: %s", c->lane,
			     c->id, c->sub, n, what);
}

/* Byte of a sub-buffer in its buffer. */
static uint64_t offset_of(const struct check *c, const struct buffer *b, uint64_t seq)
{
	return (seq & (b->nr_subs - 1)) << c->r->sub_shift;
}

static const struct tacho_packet *sub_of(const struct check *c, const struct buffer *b,
					 uint64_t seq)
{
	return tacho_ring_sub(c->r, b->map, tacho_cursor_make(0, seq, 0, 0));
}

/*
 * I2 and I4 of the records in words [header, end) of a sub-buffer: `events` of them, none
 * later than `last`.  Stops at the first bad one.
 */
static void check_records(struct check *c, const struct tacho_packet *sub, uint64_t offset,
			  uint32_t end, uint32_t events, uint64_t last)
{
	const uint64_t *words = (const uint64_t *)(const void *)sub;
	uint64_t time = tacho_load_relaxed(&sub->timestamp_begin);
	uint32_t at = TACHO_PACKET_WORDS, found = 0;

	for (; at < end; found++) {
		uint64_t word = tacho_load_relaxed(&words[at]);
		uint32_t size = tacho_record_size(word);

		if (size < TACHO_RECORD_HEAD || size % 8 || size / 8 > end - at) {
			violates(c, 2, offset + 8 * (uint64_t)at, "a record of %" PRIu32
				 " bytes, with %" PRIu32 " left", size, 8 * (end - at));
			return;
		}
		time = tacho_record_time(word, time);
		if (time > last) {
			violates(c, 4, offset + 8 * (uint64_t)at,
				 "record %" PRIu32 " is earlier than the one before it, or later "
				 "than the packet's end", found);
			return;
		}
		at += size / 8;
	}
	if (found != events)
		violates(c, 2, offset, "%" PRIu32 " records, but %" PRIu32 " were committed",
			 found, events);
}

/* I2, I3 and I4 of a closed sub-buffer; *next: what the one after it begins with. */
static void check_closed(struct check *c, const struct buffer *b, uint64_t seq,
			 struct tacho_open *next)
{
	const struct tacho_packet *sub = sub_of(c, b, seq);
	uint64_t offset = offset_of(c, b, seq);
	uint64_t begin = tacho_load_relaxed(&sub->timestamp_begin);
	uint64_t end = tacho_load_relaxed(&sub->timestamp_end);
	uint64_t bits = tacho_load_relaxed(&sub->content_size);
	uint32_t events = tacho_load_relaxed(&sub->events);

	if (end < begin || end - begin > SPAN_MAX)
		violates(c, 4, offset, "the packet is from %" PRIu64 " to %" PRIu64, begin, end);
	else if (bits % 64 || bits / 64 < TACHO_PACKET_WORDS || bits / 64 > c->r->sub_words)
		violates(c, 2, offset, "its content is %" PRIu64 " bits", bits);
	else
		check_records(c, sub, offset, (uint32_t)(bits / 64), events, end);
	next->seq = seq + 1;
	next->first = tacho_load_relaxed(&sub->event_first) + events;
	next->begin = end;
}

/* I3 and I4 of a sub-buffer's header; `want` is what the one before it says, if any. */
static void check_header(struct check *c, const struct buffer *b, uint64_t seq,
			 const struct tacho_open *want)
{
	const struct tacho_packet *sub = sub_of(c, b, seq);
	uint64_t offset = offset_of(c, b, seq);
	uint64_t number = tacho_load_relaxed(&sub->packet_seq_num);
	uint64_t first = tacho_load_relaxed(&sub->event_first);
	uint64_t begin = tacho_load_relaxed(&sub->timestamp_begin);

	if (tacho_load_relaxed(&sub->magic) != TACHO_PACKET_MAGIC || number != seq)
		violates(c, 3, offset, "its header is of sub-buffer %" PRIu64, number);
	if (!want)
		return;
	if (first != want->first)
		violates(c, 3, offset, "its first record is number %" PRIu64 " instead of %"
			 PRIu64, first, want->first);
	if (begin < want->begin)
		violates(c, 4, offset, "it begins at %" PRIu64 ", the one before it ends at %"
			 PRIu64, begin, want->begin);
}

/* The open sub-buffer: its header, `open`, and its records up to b->end. */
static void check_open(struct check *c, const struct buffer *b, const struct tacho_open *want)
{
	const struct tacho_open *open = tacho_buffer_open(b->shared, b->end);
	const struct tacho_packet *sub = sub_of(c, b, b->seq);
	uint64_t offset = offset_of(c, b, b->seq);
	uint64_t begin = tacho_load_relaxed(&sub->timestamp_begin);

	c->sub = b->seq;
	check_header(c, b, b->seq, want);
	if (tacho_load_relaxed(&open->first) != tacho_load_relaxed(&sub->event_first) ||
	    tacho_load_relaxed(&open->begin) != begin)
		violates(c, 3, offset, "`open` says first record %" PRIu64 ", begin %" PRIu64
			 ", the header %" PRIu64 ", %" PRIu64, tacho_load_relaxed(&open->first),
			 tacho_load_relaxed(&open->begin),
			 tacho_load_relaxed(&sub->event_first), begin);
	check_records(c, sub, offset, tacho_cursor_words(b->end), tacho_cursor_events(b->end),
		      begin + SPAN_MAX);
}

/* The oldest sub-buffer of a buffer's history. */
static uint64_t oldest(const struct buffer *b)
{
	uint64_t room = b->overwrite ? b->nr_subs - 2 : b->nr_subs - 1;
	uint64_t first = b->seq > room ? b->seq - room : 0;
	uint64_t floor = tacho_load_relaxed(&b->shared->floor);
	uint64_t consumed = tacho_load_relaxed(&b->shared->consumed);

	if (floor > first)
		first = floor;
	if (!b->overwrite && consumed > first)
		first = consumed;
	return first < b->seq ? first : b->seq;
}

/* I5. */
static void check_consumed(struct check *c, const struct buffer *b)
{
	uint64_t consumed = tacho_load_relaxed(&b->shared->consumed);

	c->sub = b->seq;
	if (consumed > b->seq + 1 || (!b->overwrite && b->seq >= consumed + b->nr_subs))
		violates(c, 5, 0, "consumed is %" PRIu64 ", there are %" PRIu32 " sub-buffers",
			 consumed, b->nr_subs);
}

/* Whether an end (cursor, saved) is a place in buffer id. */
static bool is_place(const struct tacho_ring *r, uint64_t end, uint32_t id)
{
	return tacho_cursor_id(end) == id && tacho_cursor_words(end) >= TACHO_PACKET_WORDS &&
	       tacho_cursor_words(end) <= r->sub_words;
}

/* I2 to I5 of a buffer that has been written; b->end is in it. */
static void check_history(struct check *c, struct buffer *b)
{
	const struct tacho_open *open = tacho_buffer_open(b->shared, b->end);
	struct tacho_open next;
	bool follows = false;

	b->nr_subs = tacho_ring_subs(c->r, b->map);
	b->overwrite = tacho_load_relaxed(&b->shared->flags) & TACHO_BUFFER_OVERWRITE;
	b->seq = tacho_load_relaxed(&open->seq);
	c->sub = b->seq;
	if ((b->seq & TACHO_CURSOR_SEQ_MASK) != tacho_cursor_seq(b->end)) {
		violates(c, 3, 0, "the position is in sub-buffer %" PRIu32 " mod 2^24",
			 tacho_cursor_seq(b->end));
		return;
	}
	check_consumed(c, b);
	for (c->sub = oldest(b); c->sub < b->seq; c->sub++) {
		check_header(c, b, c->sub, follows ? &next : NULL);
		check_closed(c, b, c->sub, &next);
		follows = true;
	}
	check_open(c, b, follows ? &next : NULL);
}

/* I1 to I5 and I7 of one buffer of a lane at `cursor`. */
static void check_buffer(struct check *c, uint64_t cursor)
{
	struct tacho_lane *l = tacho_ring_lane(c->r, c->lane);
	bool written = cursor && cursor != TACHO_CURSOR_DEAD && tacho_cursor_id(cursor) == c->id;
	struct buffer b = { .shared = tacho_lane_buffer(l, c->id) };
	int why;

	c->sub = 0;
	if (!written && !tacho_ring_in_use(c->r, c->lane, c->id))
		return;
	b.end = written ? cursor : tacho_load_acquire(&b.shared->saved);	/* [cursor] */
	b.map = tacho_ring_map_why(c->r, c->lane, c->id, &why);
	if (!b.map && tacho_no_room_here(why))
		(void)tacho_diag(c->d, why, 0, "cannot map buffer %" PRIu32 " of lane %" PRIu32,
				 c->id, c->lane);
	else if (written && (!b.map || !is_place(c->r, cursor, c->id)))
		violates(c, 1, 0, "the cursor %#" PRIx64 " is not a place in it", cursor);
	else if (b.end && !is_place(c->r, b.end, c->id))
		violates(c, 7, 0, "it is not written, and saved %#" PRIx64 " is not a place in it",
			 b.end);
	else if (b.end && b.map)
		check_history(c, &b);
}

/* I6; the lane is written. */
static void check_fast_until(struct check *c, uint64_t cursor)
{
	struct tacho_lane *l = tacho_ring_lane(c->r, c->lane);
	struct tacho_buffer *b = tacho_lane_buffer(l, tacho_cursor_id(cursor));
	uint64_t begin = tacho_load_relaxed(&tacho_buffer_open(b, cursor)->begin);
	uint64_t until = tacho_load_relaxed(&l->fast_until);

	c->id = tacho_cursor_id(cursor);
	c->sub = tacho_cursor_seq(cursor);
	if (until > tacho_epoch_end(begin) + (UINT64_C(1) << TACHO_EPOCH_BITS))
		violates(c, 6, 0, "fast_until is %" PRIu64 ", the open packet began at %" PRIu64,
			 until, begin);
}

/* False: the lane was changed meanwhile, so what was found means nothing. */
static bool check_lane(struct check *c)
{
	const struct tacho_lane *l = tacho_ring_lane(c->r, c->lane);
	uint64_t moves = tacho_load_acquire(&l->moves);		/* [moves] */
	uint64_t cursor = tacho_load_acquire(&l->cursor);	/* [cursor] */

	for (c->id = 0; c->id < TACHO_BUFFERS_MAX; c->id++)
		check_buffer(c, cursor);
	if (cursor && cursor != TACHO_CURSOR_DEAD)
		check_fast_until(c, cursor);
	tacho_fence_acquire();					/* [overwrite] as R3 */
	return tacho_load_relaxed(&l->cursor) == cursor &&
	       tacho_load_relaxed(&l->moves) == moves;
}

uint32_t tacho_ring_check_lane(struct tacho_ring *r, uint32_t lane, struct tacho_diag *d)
{
	if (lane >= tacho_ring_nr_lanes(r))
		return 0;
	for (int i = 0; i < TRIES; i++) {
		struct tacho_diag found = { .err = 0 };
		struct check c = { .r = r, .d = &found, .lane = lane };

		if (!check_lane(&c) && c.violated)
			continue;
		if (found.err && d && !d->err)
			*d = found;
		return c.violated;
	}
	return 0;
}

uint32_t tacho_ring_check(struct tacho_ring *r, struct tacho_diag *d)
{
	uint32_t violated = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++)
		violated |= tacho_ring_check_lane(r, lane, d);
	return violated;
}
