// SPDX-License-Identifier: MIT
#include "ring/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "ring/lane.h"
#include "ring/write.h"
#include "sys/futex.h"

int tacho_ring_reader_init(struct tacho_ring_reader *rd, struct tacho_ring *r,
			   uint32_t lane, uint32_t id, bool consume,
			   uint64_t start_event)
{
	int err;

	if (lane >= tacho_ring_nr_lanes(r))
		return -ENOENT;
	*rd = (struct tacho_ring_reader){
		.r = r, .lane = lane, .id = id, .consume = consume,
		.next_event = start_event == TACHO_READ_ALL ? TACHO_READ_OLDEST : start_event,
		.all = start_event == TACHO_READ_ALL,
	};
	/* the lane may have been moved to another pair */
	if (tacho_load_acquire(&tacho_ring_lane(r, lane)->moves))
		rd->id = tacho_ring_home(r, lane) | (id & 1);
	if (!tacho_ring_map_why(r, lane, rd->id, &err))
		return err;
	rd->copy = malloc((size_t)1 << r->sub_shift);
	return rd->copy ? 0 : -ENOMEM;
}

void tacho_ring_reader_release(struct tacho_ring_reader *rd)
{
	free(rd->copy);
	rd->copy = NULL;
}

/* R1: how far the buffer goes now; 0 when it has not begun. */
static uint64_t committed(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);
	/* [cursor] R1 */
	uint64_t c = tacho_load_acquire(&l->cursor);

	if (c == TACHO_CURSOR_DEAD || tacho_cursor_id(c) != id)
		c = tacho_load_acquire(&tacho_lane_buffer(l, id)->saved);
	return c;
}

/* Whether a tool has touched memory of the lane since `moves` was read (R3'). */
static bool has_moved(const struct tacho_ring_reader *rd, uint64_t moves)
{
	tacho_fence_acquire();	/* [moves] the copy before the second look */
	return tacho_load_relaxed(&tacho_ring_lane(rd->r, rd->lane)->moves) != moves;
}

/*
 * R1 and R1': the reader follows its buffer to another pair (section 9).  *moves is as it was
 * when the cursor was read.
 */
static uint64_t locate(struct tacho_ring_reader *rd, uint64_t *moves)
{
	struct tacho_lane *l = tacho_ring_lane(rd->r, rd->lane);
	uint32_t id;
	uint64_t c;

	do {
		*moves = tacho_load_acquire(&l->moves);		/* [moves] */
		c = committed(rd->r, rd->lane, rd->id);
		id = *moves ? tacho_ring_home(rd->r, rd->lane) | (rd->id & 1) : rd->id;
		if (id != rd->id) {
			rd->id = id;
			rd->released = 0;
			continue;
		}
		if (!has_moved(rd, *moves))
			return c;
	} while (true);
}

/* The full number of the sub-buffer that c is in, near `near`. */
static uint64_t full_seq(uint64_t c, uint64_t near)
{
	uint32_t ahead = (tacho_cursor_seq(c) - (uint32_t)near) &
			 TACHO_CURSOR_SEQ_MASK;

	/* before `near` rather than after it: a stale cursor */
	if (ahead > TACHO_CURSOR_SEQ_MASK / 2)
		return near;
	return near + ahead;
}

/*
 * The oldest sub-buffer that can still be read, given that the writer is in
 * `seq`: in overwrite mode a writer may be storing to the one after it (R3).
 */
static uint64_t oldest(uint64_t seq, uint32_t nr_subs, bool overwrite)
{
	uint64_t room = overwrite ? nr_subs - 2 : nr_subs - 1;

	return seq > room ? seq - room : 0;
}

static bool overwrites(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);

	return tacho_load_relaxed(&tacho_lane_buffer(l, id)->flags) &
	       TACHO_BUFFER_OVERWRITE;
}

/* Sub-buffers before this one were released, by this or another reader. */
static uint64_t consumed_of(const struct tacho_ring_reader *rd)
{
	struct tacho_lane *l = tacho_ring_lane(rd->r, rd->lane);

	return tacho_load_acquire(&tacho_lane_buffer(l, rd->id)->consumed);	/* [consumed] */
}

/*
 * For ThreadSanitizer: reads words by plain loads, as no writer may store to words that a
 * cursor covers and the reader has not released.  If a commit or a release does not order
 * them, ThreadSanitizer reports the race here.
 */
static void assert_ours(const uint64_t *words, uint64_t n)
{
#ifdef __SANITIZE_THREAD__
	const volatile uint64_t *w = words;

	while (n--)
		(void)*w++;
#else
	(void)words;
	(void)n;
#endif
}

/* Result of a copy: complete; a writer may have stored to it; or a tool, see section 9. */
enum copied { COPIED, OVERWRITTEN, MOVED };

/* Copies words [0, end) of sub-buffer seq; moves: its value when the cursor was read. */
static enum copied copy_sub(struct tacho_ring_reader *rd,
			    const struct tacho_ring_buf *b, uint64_t seq,
			    uint32_t from, uint32_t end, uint64_t moves)
{
	const uint64_t *sub = (const void *)
		tacho_ring_sub(rd->r, b, tacho_cursor_make(rd->id, seq, 0, 0));
	uint64_t c;

	tacho_copy_relaxed(rd->copy, sub, TACHO_PACKET_WORDS);	/* R2 */
	if (end > from)
		tacho_copy_relaxed(rd->copy + from, sub + from, end - from);
	tacho_fence_acquire();					/* [overwrite] R3 */
	if (has_moved(rd, moves))
		return MOVED;
	if (rd->consume && !overwrites(rd->r, rd->lane, rd->id)) {
		/* only a tool that moves the lane writes to what was not released */
		if (!moves)
			assert_ours(sub + from, end > from ? end - from : 0);
		lane_was_read(tacho_ring_lane(rd->r, rd->lane));
		return COPIED;
	}
	if (!overwrites(rd->r, rd->lane, rd->id))
		return seq >= consumed_of(rd) ? COPIED : OVERWRITTEN;
	c = committed(rd->r, rd->lane, rd->id);
	if (moves && tacho_ring_home(rd->r, rd->lane) != (rd->id & ~1u))
		return MOVED;
	return seq >= oldest(full_seq(c, seq), tacho_ring_subs(rd->r, b), true) ?
	       COPIED : OVERWRITTEN;
}

/*
 * Checks the records in words [from, end) of the copy.  Returns the word after the
 * last good one; counts them; rd->last becomes the time of the last.
 */
static uint32_t check_records(struct tacho_ring_reader *rd, uint32_t from,
			      uint32_t end, uint32_t *events)
{
	uint32_t at = from;

	*events = 0;
	while (at < end) {
		uint64_t word = rd->copy[at];
		uint32_t size = tacho_record_size(word);

		if (size < TACHO_RECORD_HEAD || size % 8 ||
		    size / 8 > end - at)
			break;
		rd->last = tacho_record_time(word, rd->last);
		at += size / 8;
		++*events;
	}
	return at;
}

/* The oldest sub-buffer that is there, the writer being in `seq`. */
static uint64_t first_of(const struct tacho_ring_reader *rd, const struct tacho_ring_buf *b,
			 uint64_t seq)
{
	struct tacho_lane *l = tacho_ring_lane(rd->r, rd->lane);
	uint64_t floor = tacho_load_relaxed(&tacho_lane_buffer(l, rd->id)->floor);
	uint64_t first = oldest(seq, tacho_ring_subs(rd->r, b),
				overwrites(rd->r, rd->lane, rd->id));

	return floor > first && floor <= seq ? floor : first;
}

/* First read: where the buffer's oldest sub-buffer is. */
static bool begin(struct tacho_ring_reader *rd, const struct tacho_ring_buf *b,
		  uint64_t c)
{
	struct tacho_buffer *buf = tacho_lane_buffer(tacho_ring_lane(rd->r, rd->lane), rd->id);
	bool over = overwrites(rd->r, rd->lane, rd->id);
	uint64_t seq, consumed;

	seq = tacho_load_relaxed(&tacho_buffer_open(buf, c)->seq);
	/* being changed by a writer, or corrupt: look again later */
	if ((seq & TACHO_CURSOR_SEQ_MASK) != tacho_cursor_seq(c))
		return false;
	rd->seq = first_of(rd, b, seq);
	consumed = consumed_of(rd);
	if (rd->all && over)
		consumed = 0;
	/* all that it holds is consumed: the next sub-buffer is the first */
	if (consumed == seq + 1)
		return false;
	if (consumed > rd->seq && consumed <= seq)
		rd->seq = consumed;
	rd->released = rd->seq;
	rd->words = TACHO_PACKET_WORDS;
	rd->begun = true;
	return true;
}

/* Sub-buffer rd->seq is gone, or read: continue at seq. */
static void jump(struct tacho_ring_reader *rd, uint64_t seq)
{
	rd->seq = seq;
	rd->words = TACHO_PACKET_WORDS;
}

/*
 * Releases to the writers what the caller has finished with: the sub-buffers before rd->seq,
 * when it reads again.  A reader that is killed before that has not released the chunk
 * that it returned last.
 */
static void release_read(struct tacho_ring_reader *rd)
{
	struct tacho_lane *l = tacho_ring_lane(rd->r, rd->lane);

	if (!rd->consume || !rd->begun || rd->seq <= rd->released)
		return;
	/* [consumed] S2 */
	tacho_store_release(&tacho_lane_buffer(l, rd->id)->consumed, rd->seq);
	rd->released = rd->seq;
}

/* Fills in the chunk for words [from, to) of the copy, `events` records. */
static void make_chunk(struct tacho_ring_reader *rd, struct tacho_chunk *chunk,
		       uint64_t first_event, uint32_t from, uint32_t to,
		       uint32_t events, uint64_t begin_time)
{
	const struct tacho_packet *src = (const void *)rd->copy;
	struct tacho_packet *h = &chunk->head;

	*h = *src;
	h->magic = TACHO_PACKET_MAGIC;
	memcpy(h->uuid, rd->r->uuid, sizeof(h->uuid));
	h->stream_id = rd->r->stream_id;
	h->stream_instance_id = rd->lane;
	h->cpu_id = tacho_ring_cpu(rd->r, rd->lane);
	h->timestamp_begin = begin_time;
	h->timestamp_end = rd->last;
	h->events = events;
	h->event_first = first_event;
	h->content_size = (TACHO_PACKET_WORDS + (uint64_t)(to - from)) * 64;
	h->packet_size = h->content_size;
	h->packet_seq_num = rd->seq;
	chunk->data = rd->copy + from;
	chunk->len = (to - from) * 8;
	chunk->lost = 0;
	if (first_event > rd->next_event)
		chunk->lost = first_event - rd->next_event;
	rd->overwritten += chunk->lost;
	h->events_discarded = tacho_ring_lost(rd->r, rd->lane) + rd->overwritten;
	rd->next_event = first_event + events;
}

/* Skips records that the caller has already; returns the new start. */
static uint32_t skip_known(struct tacho_ring_reader *rd, uint32_t from,
			   uint32_t end, uint64_t *first_event)
{
	while (from < end && *first_event < rd->next_event) {
		uint64_t word = rd->copy[from];
		uint32_t size = tacho_record_size(word);

		if (size < TACHO_RECORD_HEAD || size % 8 || size / 8 > end - from)
			break;
		rd->last = tacho_record_time(word, rd->last);
		from += size / 8;
		++*first_event;
	}
	return from;
}

/*
 * Reads the sub-buffer at rd->seq up to `end` words.  1: a chunk, 0: nothing
 * in it, -EAGAIN: overwritten during the copy, -ESTALE: moved, -ESHUTDOWN: possibly freed.
 */
static int read_sub(struct tacho_ring_reader *rd, const struct tacho_ring_buf *b,
		    uint32_t end, uint64_t moves, struct tacho_chunk *chunk)
{
	const struct tacho_packet *head = (const void *)rd->copy;
	uint32_t from = rd->words, to, events;
	uint64_t first, begin_time;
	enum copied how = copy_sub(rd, b, rd->seq, from, end, moves);

	if (how != COPIED)
		return how == MOVED ? -ESTALE : -EAGAIN;
	if (tacho_load_relaxed(&rd->r->ctl->state) == TACHO_STATE_DEAD)
		return -ESHUTDOWN;
	if (from == TACHO_PACKET_WORDS) {
		first = head->event_first;
		if (rd->next_event == TACHO_READ_OLDEST)
			rd->next_event = first;
		rd->last = head->timestamp_begin;
		from = skip_known(rd, from, end, &first);
	} else {
		first = rd->next_event;
	}
	begin_time = rd->last;
	to = check_records(rd, from, end, &events);
	rd->damaged += (uint64_t)(end - to) * 8;
	rd->words = end;
	if (!events)
		return 0;
	make_chunk(rd, chunk, first, from, to, events, begin_time);
	return 1;
}

/* Words of a closed sub-buffer by its header, limited to what is possible. */
static uint32_t closed_words(struct tacho_ring_reader *rd,
			     const struct tacho_ring_buf *b)
{
	const struct tacho_packet *sub =
		tacho_ring_sub(rd->r, b, tacho_cursor_make(rd->id, rd->seq, 0, 0));
	uint64_t words = tacho_load_relaxed(&sub->content_size) / 64;

	if (words < rd->words)
		return rd->words;
	return words > rd->r->sub_words ? rd->r->sub_words : (uint32_t)words;
}

/* Whether the lane is closed, and so never changes again. */
static bool lane_closed(const struct tacho_ring *r, uint32_t lane)
{
	return tacho_load_acquire(&tacho_ring_lane(r, lane)->cursor) ==
	       TACHO_CURSOR_DEAD;
}

/* Where reading of sub-buffer rd->seq ends now; c is the buffer's cursor. */
static uint32_t end_of_sub(struct tacho_ring_reader *rd,
			   const struct tacho_ring_buf *b, uint64_t c,
			   bool closed)
{
	uint32_t words = tacho_cursor_words(c);

	if (closed)
		return closed_words(rd, b);
	return words > rd->r->sub_words ? rd->r->sub_words : words;
}

/* Continues at the oldest sub-buffer if rd->seq is gone; the writer is in `now`. */
static void catch_up(struct tacho_ring_reader *rd,
		     const struct tacho_ring_buf *b, uint64_t now)
{
	bool over = overwrites(rd->r, rd->lane, rd->id);
	uint64_t first = first_of(rd, b, now);

	if (!rd->consume && !over && first < consumed_of(rd))
		first = consumed_of(rd);
	if (rd->seq < first)
		jump(rd, first);
}

int tacho_ring_read(struct tacho_ring_reader *rd, struct tacho_chunk *chunk)
{
	for (;;) {
		/* before the cursor is read, so that the cursor covers all there is */
		int none = lane_closed(rd->r, rd->lane) ? -ESHUTDOWN : 0;
		uint64_t moves, c = locate(rd, &moves);			/* R1 */
		const struct tacho_ring_buf *b = tacho_ring_map(rd->r, rd->lane, rd->id);
		uint32_t end;
		uint64_t now;
		bool closed;
		int got;

		if (!b && !has_moved(rd, moves))
			return -ENOENT;
		if (!b)
			continue;
		release_read(rd);
		if (!c)
			return none;
		if (!rd->begun && !begin(rd, b, c)) {
			if (has_moved(rd, moves))
				continue;
			return none;
		}
		now = full_seq(c, rd->seq);
		catch_up(rd, b, now);
		closed = rd->seq < now;
		end = end_of_sub(rd, b, c, closed);
		if (!closed && end <= rd->words)
			return none;
		got = read_sub(rd, b, end, moves, chunk);
		if (got == -ESHUTDOWN)
			return got;
		if (got == -ESTALE)
			continue;
		/* overwritten: continue with a later one */
		if (closed || got == -EAGAIN)
			jump(rd, rd->seq + 1);
		if (got > 0)
			return 1;
	}
}

uint64_t tacho_ring_lost(const struct tacho_ring *r, uint32_t lane)
{
	const struct tacho_lane *l = tacho_ring_lane(r, lane);

	return tacho_load_relaxed(&l->lost_full) +
	       tacho_load_relaxed(&l->lost_big) +
	       tacho_load_relaxed(&l->lost_busy);
}

uint64_t tacho_ring_written(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	struct tacho_buffer *b = tacho_lane_buffer(tacho_ring_lane(r, lane), id);
	uint64_t c, first;

	for (int tries = 0; tries < 100 && tacho_ring_in_use(r, lane, id); tries++) {
		c = committed(r, lane, id);
		if (!c)
			return 0;
		first = tacho_load_relaxed(&tacho_buffer_open(b, c)->first);
		tacho_fence_acquire();		/* [overwrite] */
		/* still the same sub-buffer: `open` was stable */
		if (tacho_cursor_seq(committed(r, lane, id)) == tacho_cursor_seq(c) &&
		    tacho_ring_in_use(r, lane, id))
			return first + tacho_cursor_events(c);
	}
	return 0;
}

/* Records before the oldest sub-buffer that can still be read. */
static uint64_t first_kept(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	const struct tacho_ring_buf *b = tacho_ring_map(r, lane, id);
	const struct tacho_packet *sub;
	uint64_t c, first;

	for (int tries = 0; b && tries < 100 && tacho_ring_in_use(r, lane, id); tries++) {
		struct tacho_ring_reader rd = { .r = r, .lane = lane, .id = id };

		c = committed(r, lane, id);
		if (!c)
			return 0;
		/* all that was written is consumed */
		if (!begin(&rd, b, c)) {
			if (consumed_of(&rd))
				return tacho_ring_written(r, lane, id);
			continue;
		}
		sub = tacho_ring_sub(r, b, tacho_cursor_make(id, rd.seq, 0, 0));
		first = tacho_load_relaxed(&sub->event_first);
		tacho_fence_acquire();		/* [overwrite] */
		/* still there: its header was stable */
		c = committed(r, lane, id);
		if (rd.seq >= oldest(full_seq(c, rd.seq), tacho_ring_subs(r, b),
				     overwrites(r, lane, id)))
			return first;
	}
	return 0;
}

uint64_t tacho_ring_overwritten(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	if (!tacho_ring_in_use(r, lane, id) || !overwrites(r, lane, id))
		return 0;
	return first_kept(r, lane, id);
}

uint64_t tacho_ring_released(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	if (!tacho_ring_in_use(r, lane, id) || overwrites(r, lane, id))
		return 0;
	return first_kept(r, lane, id);
}

/* The open sub-buffer of the buffer that is written; false: there is none, or it is corrupt. */
static bool open_sub(struct tacho_ring *r, uint32_t lane, struct tacho_ring_reader *rd,
		     uint64_t *seq)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);
	uint64_t c = tacho_load_acquire(&l->cursor);

	*rd = (struct tacho_ring_reader){ .r = r, .lane = lane, .id = tacho_cursor_id(c) };
	*seq = tacho_load_relaxed(&tacho_buffer_open(tacho_lane_buffer(l, rd->id), c)->seq);
	return c && c != TACHO_CURSOR_DEAD &&
	       (*seq & TACHO_CURSOR_SEQ_MASK) == tacho_cursor_seq(c);
}

uint32_t tacho_ring_closed_subs(struct tacho_ring *r, uint32_t lane, uint64_t since,
				uint32_t *most)
{
	const struct tacho_ring_buf *b;
	struct tacho_ring_reader rd;
	uint64_t seq, first;
	uint32_t n = 0;

	*most = TACHO_SUBS_MAX;
	if (!open_sub(r, lane, &rd, &seq))
		return 0;
	b = tacho_ring_map(r, lane, rd.id);
	if (!b)
		return 0;
	first = first_of(&rd, b, seq);
	*most = tacho_ring_subs(r, b) - (overwrites(r, lane, rd.id) ? 2 : 1);
	for (; seq > first; seq--, n++) {
		const struct tacho_packet *sub = (const void *)
			tacho_ring_sub(r, b, tacho_cursor_make(0, seq - 1, 0, 0));

		if (tacho_load_relaxed(&sub->timestamp_end) <= since)
			break;
	}
	return n;
}

void tacho_ring_consume(struct tacho_ring *r, uint32_t lane, uint64_t until)
{
	struct tacho_buffer *buf;
	const struct tacho_ring_buf *b;
	struct tacho_ring_reader rd;
	uint64_t seq, at, from;

	if (!open_sub(r, lane, &rd, &seq) || overwrites(r, lane, rd.id))
		return;
	b = tacho_ring_map(r, lane, rd.id);
	if (!b)
		return;
	buf = tacho_lane_buffer(tacho_ring_lane(r, lane), rd.id);
	from = tacho_load_relaxed(&buf->consumed);
	at = first_of(&rd, b, seq);
	if (at < from)
		at = from;
	for (; at < seq; at++) {
		const struct tacho_packet *sub = (const void *)
			tacho_ring_sub(r, b, tacho_cursor_make(0, at, 0, 0));

		if (tacho_load_relaxed(&sub->timestamp_end) > until)
			break;
	}
	/* [consumed] S2 */
	if (at > from)
		tacho_store_release(&buf->consumed, at);
}

void tacho_ring_wait(struct tacho_ring *r, uint64_t ns)
{
	uint32_t seen = tacho_load_seq_cst(&r->ctl->wake);

	(void)tacho_futex_wait(&r->ctl->wake, seen, ns);
}
