// SPDX-License-Identifier: MIT
/*
 * What one writer and one reader do with a ring, step by step: sizes, sub-buffer
 * changes, both modes, shifts, epochs, the end, and where no lane of a CPU can
 * be had.  Run again without restartable sequences by itself.
 */
#include <errno.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

/* How often a writer gave its turn away: the ring's calls come here. */
static unsigned int yields;

int sched_yield(void)
{
	yields++;
	return 0;
}

/* Words that a sub-buffer has for records, and the largest record's raw words. */
static uint64_t room(const struct fixture *f)
{
	return f->ring.sub_words - TACHO_PACKET_WORDS;
}

static uint64_t raw_max(const struct fixture *f)
{
	uint64_t words = room(f) - 1;

	return words > TACHO_RAW_MAX / 8 ? TACHO_RAW_MAX / 8 : words;
}

/* Records a record of this writer, number n; what the ring said. */
static int put(struct fixture *f, uint64_t slot, uint64_t n, uint64_t words)
{
	static uint64_t raw[TACHO_RAW_MAX / 8 + 8];

	ledger_make(raw, words, slot, n);
	return tacho_ring_write(&f->ring, raw, words);
}

/* Out of line: the compiler must not know the size. */
static TACHO_NOINLINE int put_raw(struct fixture *f, const uint64_t *raw,
				  uint64_t words)
{
	return tacho_ring_write(&f->ring, raw, words);
}

static struct tacho_lane *lane_of(struct fixture *f, uint32_t lane)
{
	return tacho_ring_lane(&f->ring, lane);
}

static struct tacho_packet *header(struct fixture *f, uint32_t lane, uint64_t c)
{
	struct tacho_ring_buf *b = tacho_ring_map(&f->ring, lane,
						  tacho_cursor_id(c));

	return tacho_ring_sub(&f->ring, b, c);
}

/* The records of one lane in order: numbers of slot 1 follow each other. */
struct follow {
	struct ledger_lane books;
	uint64_t next;		/* number expected */
	uint64_t wrong;
};

static void follow_one(void *arg, uint64_t slot, uint64_t number)
{
	struct follow *t = arg;

	t->wrong += slot != 1 || number != t->next;
	t->next = number + 1;
}

static uint64_t follow_all(struct tacho_ring_reader *rd, struct follow *t)
{
	struct tacho_chunk c;
	uint64_t before = t->books.read;

	while (tacho_ring_read(rd, &c) == 1)
		ledger_chunk(&t->books, &c, follow_one, t);
	return t->books.read - before;
}

static void check_follow(const struct follow *t)
{
	CHECK_EQ(t->wrong, 0);
	CHECK_EQ(t->books.torn, 0);
	CHECK_EQ(t->books.disorder, 0);
}

static void test_cursor(void)
{
	static const struct {
		uint32_t id, seq, events, words;
	} table[] = {
		{ 0, 0, 0, 0 },
		{ 63, TACHO_CURSOR_SEQ_MASK, (1u << 17) - 1, (1u << 17) - 1 },
		{ 63, 0, 0, 0 },
		{ 0, TACHO_CURSOR_SEQ_MASK, 0, 0 },
		{ 0, 0, (1u << 17) - 1, 0 },
		{ 0, 0, 0, (1u << 17) - 1 },
		{ 21, 0x555555, 0x15555, 0x0aaaa },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		uint64_t c = tacho_cursor_make(table[i].id, table[i].seq,
					       table[i].events, table[i].words);

		CHECK_EQ(tacho_cursor_id(c), table[i].id);
		CHECK_EQ(tacho_cursor_seq(c), table[i].seq);
		CHECK_EQ(tacho_cursor_events(c), table[i].events);
		CHECK_EQ(tacho_cursor_words(c), table[i].words);
	}
	/* the largest record that somebody adds to it neither fits nor wraps */
	CHECK(tacho_cursor_words(TACHO_CURSOR_DEAD +
				 tacho_cursor_step(TACHO_RAW_MAX / 8 + 1)) >
	      1u << (TACHO_SUB_SHIFT_MAX - 3));
	CHECK_EQ(tacho_cursor_id(TACHO_CURSOR_DEAD), 63);
	/* the fullest sub-buffer there can be: no field runs into the next */
	CHECK((1u << (TACHO_SUB_SHIFT_MAX - 3)) < 1u << TACHO_CURSOR_WORDS_BITS);
	CHECK((1u << (TACHO_SUB_SHIFT_MAX - 4)) < 1u << TACHO_CURSOR_EVENTS_BITS);
	CHECK(tacho_cursor_words(TACHO_CURSOR_DEAD) > 1u << (TACHO_SUB_SHIFT_MAX - 3));
	/* an epoch's end is ahead, and at most one epoch */
	CHECK(tacho_epoch_end(0) > 0);
	CHECK_EQ(tacho_epoch_end((UINT64_C(1) << 46) - 1), UINT64_C(1) << 46);
	CHECK_EQ(tacho_epoch_end(UINT64_C(1) << 46), UINT64_C(1) << 47);
}

/* Every size from one word to the largest, each read back by itself. */
static void sizes_of(uint32_t sub_shift, uint64_t from, uint64_t to)
{
	static uint64_t raw[TACHO_RAW_MAX / 8 + 8];
	struct tacho_ring_reader rd;
	struct tacho_chunk c;
	struct fixture f;
	uint64_t bad = 0;
	uint32_t lane;

	fixture_make(&f, sub_shift, 4, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, false, 0), 0);
	for (uint64_t words = from; words <= to; words++) {
		for (uint64_t i = 0; i < words; i++)
			raw[i] = ledger_mix(words * 65536 + i);
		bad += put_raw(&f, raw, words) != 0;
		bad += tacho_ring_read(&rd, &c) != 1;
		bad += c.len != (words + 1) * 8 || c.head.events != 1 ||
		       tacho_record_size(*(const uint64_t *)c.data) != c.len ||
		       memcmp((const char *)c.data + 8, raw, words * 8);
	}
	CHECK_EQ(bad, 0);
	CHECK_EQ(rd.damaged, 0);
	CHECK_EQ(rd.overwritten, 0);
	CHECK_EQ(fixture_lost(&f), 0);
	if (to == raw_max(&f)) {
		CHECK_EQ(put_raw(&f, raw, to + 1), -EMSGSIZE);
		CHECK_EQ(put_raw(&f, raw, UINT64_MAX / 8), -EMSGSIZE);
		CHECK_EQ(put_raw(&f, raw, UINT64_MAX), -EMSGSIZE);
		CHECK_EQ(put_raw(&f, raw, 0), -EMSGSIZE);
		CHECK_EQ(lane_of(&f, lane)->lost_big, 4);
		CHECK_EQ(fixture_lost(&f), 4);
		CHECK_EQ(tacho_ring_read(&rd, &c), 0);
	}
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

static void test_sizes(void)
{
	sizes_of(TACHO_SUB_SHIFT_MIN, 1,
		 (1u << (TACHO_SUB_SHIFT_MIN - 3)) - TACHO_PACKET_WORDS - 1);
	/* here the size field of a record is the limit, not the sub-buffer */
	sizes_of(TACHO_SUB_SHIFT_MAX, TACHO_RAW_MAX / 8 - 20, TACHO_RAW_MAX / 8);
}

/* Sub-buffers that end exactly full, one word short, two words short. */
static void test_exact_fit(void)
{
	for (uint64_t spare = 0; spare < 4; spare++) {
		struct tacho_ring_reader rd;
		struct follow t = { .next = 0 };
		struct fixture f;
		uint32_t lane;
		uint64_t n = 0, first;

		fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
		lane = fixture_lane(&f, 0);
		/* one record leaves `spare` words, the next takes 4 */
		first = room(&f) - 1 - spare;
		CHECK_EQ(put(&f, 1, n++, first), 0);
		CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN), 0);
		CHECK_EQ(tacho_cursor_seq(lane_of(&f, lane)->cursor), 1);
		CHECK_EQ(header(&f, lane, 0)->content_size,
			 (TACHO_PACKET_WORDS + first + 1) * 64);
		CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
		CHECK_EQ(follow_all(&rd, &t), n);
		check_follow(&t);
		tacho_ring_reader_release(&rd);
		fixture_drop(&f);
	}
}

/* Full, lost, read, and on: again and again, all numbers exact. */
static void test_discard(void)
{
	struct tacho_ring_reader rd;
	struct follow t = { .next = 0 };
	struct fixture f;
	uint64_t tried = 0, kept = 0, lost = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	for (int round = 0; round < 20; round++) {
		int err = 0;

		for (int extra = 0; extra < 3; tried++) {
			err = put(&f, 1, kept, ledger_words(tried, raw_max(&f)));
			kept += !err;
			lost += err == -ENOBUFS;
			extra += err != 0;
		}
		CHECK_EQ(err, -ENOBUFS);
		CHECK_EQ(kept + lost, tried);
		CHECK_EQ(lane_of(&f, lane)->lost_full, lost);
		CHECK_EQ(tacho_ring_written(&f.ring, lane, 0), kept);
		follow_all(&rd, &t);
		CHECK_EQ(t.books.read, kept);
		CHECK_EQ(t.next, kept);
	}
	CHECK_EQ(rd.overwritten, 0);
	CHECK_EQ(rd.damaged, 0);
	check_follow(&t);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* What is counted as overwritten is what a reader of all that is there does not find. */
static void check_overwritten(struct fixture *f, uint32_t lane, uint64_t written)
{
	struct ledger_lane books = { 0 };
	struct tacho_ring_reader rd;
	struct tacho_chunk c;

	CHECK_EQ(tacho_ring_reader_init(&rd, &f->ring, lane, 0, false, TACHO_READ_OLDEST), 0);
	while (tacho_ring_read(&rd, &c) == 1)
		ledger_chunk(&books, &c, NULL, NULL);
	CHECK_EQ(books.read + tacho_ring_overwritten(&f->ring, lane, 0), written);
	tacho_ring_reader_release(&rd);
}

/* A reader that looks only now and then: written = read + overwritten. */
static void overwrite_with(uint32_t nr_subs, uint64_t burst)
{
	struct tacho_ring_reader rd;
	struct ledger_lane books = { 0 };
	struct tacho_chunk c;
	struct fixture f;
	uint64_t n = 0, chunk_lost = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, nr_subs, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, false, 0), 0);
	for (int round = 0; round < 50; round++) {
		uint64_t until = n + ledger_mix(round) % burst;

		while (n < until) {
			if (put(&f, 1, n, ledger_words(n, raw_max(&f))))
				CHECK(0);
			n++;
		}
		while (tacho_ring_read(&rd, &c) == 1) {
			chunk_lost += c.lost;
			ledger_chunk(&books, &c, NULL, NULL);
		}
		CHECK_EQ(books.read + rd.overwritten, n);
		check_overwritten(&f, lane, n);
	}
	CHECK(burst < 100 || rd.overwritten > 0);
	CHECK_EQ(books.overwritten, rd.overwritten);
	CHECK_EQ(chunk_lost, rd.overwritten);
	CHECK_EQ(books.torn + books.disorder + rd.damaged, 0);
	CHECK_EQ(tacho_ring_written(&f.ring, lane, 0), n);
	CHECK_EQ(fixture_lost(&f), 0);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* How much history there is: n - 1 sub-buffers, the open one among them. */
static void test_history(void)
{
	for (uint32_t nr_subs = 2; nr_subs <= 8; nr_subs *= 2) {
		struct tacho_ring_reader rd;
		struct follow t = { .next = 0 };
		struct fixture f;
		uint32_t lane;
		uint64_t n = 0;

		fixture_make(&f, TACHO_SUB_SHIFT_MIN, nr_subs,
			     TACHO_SESSION_OVERWRITE);
		lane = fixture_lane(&f, 0);
		/* one record fills one sub-buffer */
		while (n < 20)
			CHECK_EQ(put(&f, 1, n++, room(&f) - 1), 0);
		CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, false,
						TACHO_READ_OLDEST), 0);
		t.next = n - (nr_subs - 1);
		CHECK_EQ(follow_all(&rd, &t), nr_subs - 1);
		CHECK_EQ(rd.overwritten, 0);
		t.books.overwritten = 0;
		check_follow(&t);
		tacho_ring_reader_release(&rd);
		fixture_drop(&f);
	}
}

/* The open sub-buffer gives what it has, again and again. */
static void test_pieces(void)
{
	struct tacho_ring_reader rd;
	struct follow t = { .next = 0 };
	struct tacho_chunk c;
	struct fixture f;
	uint64_t n = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	CHECK_EQ(tacho_ring_read(&rd, &c), 0);
	for (int round = 0; round < 200; round++) {
		uint64_t k = round % 3 + 1;

		for (uint64_t i = 0; i < k; i++)
			CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN), 0);
		CHECK_EQ(follow_all(&rd, &t), k);
		CHECK_EQ(tacho_ring_read(&rd, &c), 0);
	}
	CHECK_EQ(t.next, n);
	check_follow(&t);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/*
 * A reader dies at any place, and another takes over from what the first
 * has put away.  What was handed out, but perhaps not put away yet, must
 * still be there.
 */
static void test_resume(void)
{
	struct tacho_ring_reader rd;
	struct follow t = { .next = 0 };
	struct tacho_chunk c;
	struct fixture f;
	uint64_t n = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	for (int life = 0; life < 200; life++) {
		while (!put(&f, 1, n, LEDGER_WORDS_MIN + n % 5))
			n++;
		CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true,
						t.books.next_event), 0);
		for (int chunks = life % 4; chunks; chunks--)
			if (tacho_ring_read(&rd, &c) == 1)
				ledger_chunk(&t.books, &c, follow_one, &t);
		/* dies with a chunk in its hands */
		(void)tacho_ring_read(&rd, &c);
		tacho_ring_reader_release(&rd);
	}
	CHECK(t.next > 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true,
					t.books.next_event), 0);
	follow_all(&rd, &t);
	CHECK_EQ(t.next, n);
	CHECK_EQ(t.books.overwritten, 0);
	check_follow(&t);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* Starts a lane close to the end of the 24 bits of the sub-buffer's number. */
static void start_at(struct fixture *f, uint32_t lane, uint64_t seq)
{
	struct tacho_lane *l = lane_of(f, lane);
	uint64_t c = tacho_cursor_make(0, seq, 0, TACHO_PACKET_WORDS);
	struct tacho_packet *from = header(f, lane, 0);
	struct tacho_packet *to = header(f, lane, c);

	*to = *from;
	to->packet_seq_num = seq;
	tacho_buffer_open(tacho_lane_buffer(l, 0), c)->seq = seq;
	tacho_lane_buffer(l, 0)->consumed = seq;
	tacho_store_release(&l->cursor, c);
}

static void wrap_in(uint32_t flags)
{
	struct tacho_ring_reader rd, late;
	struct follow t = { .next = 0 }, u = { .next = 0 };
	struct fixture f;
	uint64_t n = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, flags);
	lane = fixture_lane(&f, 0);
	start_at(&f, lane, TACHO_CURSOR_SEQ_MASK - 5);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, !flags, 0), 0);
	while (header(&f, lane, lane_of(&f, lane)->cursor)->packet_seq_num <
	       (UINT64_C(1) << 24) + 20) {
		CHECK_EQ(put(&f, 1, n++, raw_max(&f) / 2 + 1), 0);
		CHECK_EQ(follow_all(&rd, &t), 1);
	}
	CHECK_EQ(t.next, n);
	check_follow(&t);
	CHECK_EQ(tacho_ring_written(&f.ring, lane, 0), n);
	/* somebody who comes after the wrap gets the full number */
	CHECK_EQ(tacho_ring_reader_init(&late, &f.ring, lane, 0, false,
					TACHO_READ_OLDEST), 0);
	u.books.next_event = 0;
	CHECK(follow_all(&late, &u) > 0);
	CHECK_EQ(u.next, n);
	CHECK(late.seq > UINT64_C(1) << 24);
	if (!flags) {
		while (!put(&f, 1, n, raw_max(&f)))
			n++;
		CHECK_EQ(tacho_ring_lost(&f.ring, lane), 1);
		follow_all(&rd, &t);
		CHECK_EQ(t.next, n);
	}
	tacho_ring_reader_release(&rd);
	tacho_ring_reader_release(&late);
	fixture_drop(&f);
}

/* Snapshot: to the other buffer and back, the reader of the first undisturbed. */
static void test_shift(void)
{
	const uint32_t over = TACHO_BUFFER_OVERWRITE;
	struct tacho_ring_reader rd[2];
	struct ledger_lane books[2] = { { 0 }, { 0 } };
	struct tacho_chunk c;
	struct fixture f;
	uint64_t n = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 1), -ENOENT);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 64), -ENOENT);
	CHECK_EQ(tacho_ring_shift(&f.ring, 99999, 0), -ENOENT);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 3, over), -EINVAL);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 8, over), 0);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 8, over), 0);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 0), 0);	/* is there already */
	for (int id = 0; id < 2; id++)
		CHECK_EQ(tacho_ring_reader_init(&rd[id], &f.ring, lane, id, false, 0),
			 0);
	CHECK_EQ(tacho_ring_read(&rd[1], &c), 0);
	for (int round = 0; round < 60; round++) {
		int id = round % 2;

		for (int i = 0; i < round; i++)
			CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN + i % 7), 0);
		CHECK_EQ(tacho_ring_shift(&f.ring, lane, !id), id);
		CHECK_EQ(tacho_cursor_id(lane_of(&f, lane)->cursor), !id);
		while (tacho_ring_read(&rd[id], &c) == 1)
			ledger_chunk(&books[id], &c, NULL, NULL);
		CHECK_EQ(books[id].read + books[id].overwritten,
			 tacho_ring_written(&f.ring, lane, id));
	}
	for (int id = 0; id < 2; id++) {
		while (tacho_ring_read(&rd[id], &c) == 1)
			ledger_chunk(&books[id], &c, NULL, NULL);
		CHECK_EQ(books[id].overwritten, rd[id].overwritten);
		CHECK_EQ(books[id].torn + books[id].disorder + rd[id].damaged, 0);
		tacho_ring_reader_release(&rd[id]);
	}
	CHECK_EQ(books[0].read + books[0].overwritten + books[1].read +
		 books[1].overwritten, n);
	CHECK_EQ(fixture_written(&f), n);
	fixture_drop(&f);
}

/* The number of the packet that is open in a lane. */
static uint64_t open_packet(struct fixture *f, uint32_t lane)
{
	uint64_t c = lane_of(f, lane)->cursor;
	struct tacho_ring_buf *b = tacho_ring_map(&f->ring, lane, tacho_cursor_id(c));

	return tacho_ring_sub(&f->ring, b, c)->packet_seq_num;
}

/*
 * From within a writer: only from the cursor it decided on.  Where the turn of each buffer
 * began is told, and an attempt that fails changes nothing of it.
 */
static void test_shift_from(void)
{
	const uint32_t over = TACHO_BUFFER_OVERWRITE;
	struct tacho_buffer *b[2];
	struct fixture f;
	uint64_t n = 0, c, first;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	for (uint32_t id = 0; id < 2; id++)
		b[id] = tacho_lane_buffer(lane_of(&f, lane), id);
	CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, 1, 1), -ENOENT);
	CHECK_EQ(tacho_ring_shift_from(&f.ring, 99999, 1, 0), -ENOENT);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 8, over), 0);
	CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, 0, 1), -EINVAL);
	for (int round = 0; round < 40; round++) {
		uint32_t id = (uint32_t)round % 2;

		c = lane_of(&f, lane)->cursor;
		for (int i = 0; i <= round; i++)
			CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN), 0);
		CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, c, !id), -EAGAIN);
		first = b[id]->begins;
		c = lane_of(&f, lane)->cursor;
		CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, c, !id), 0);
		CHECK_EQ(tacho_cursor_id(lane_of(&f, lane)->cursor), !id);
		CHECK_EQ(b[id]->saved, c);
		CHECK_EQ(b[id]->began, first);
		CHECK_EQ(b[!id]->begins, open_packet(&f, lane));
	}
	first = open_packet(&f, lane);
	c = lane_of(&f, lane)->cursor;
	CHECK_EQ(tacho_ring_switch_subbuf(&f.ring, lane), 0);
	CHECK_EQ(open_packet(&f, lane), first + 1);
	CHECK_EQ(b[tacho_cursor_id(c)]->begins, first);
	CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, c, !tacho_cursor_id(c)), -EAGAIN);
	CHECK_EQ(tacho_ring_switch_subbuf(&f.ring, 99999), -ENOENT);
	CHECK_EQ(fixture_written(&f), n);
	fixture_drop(&f);
}

/* A discarding buffer that is full cannot be shifted to; nothing is harmed. */
static void test_shift_full(void)
{
	struct tacho_ring_reader rd;
	struct follow t = { .next = 0 };
	struct fixture f;
	uint64_t n = 0, c;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 2, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 2, 0), 0);
	while (!put(&f, 1, n, raw_max(&f)))
		n++;
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 1), 0);
	c = lane_of(&f, lane)->cursor;
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 0), -ENOBUFS);
	CHECK_EQ(lane_of(&f, lane)->cursor, c);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	CHECK_EQ(follow_all(&rd, &t), n);
	check_follow(&t);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 0), 1);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* After the end nobody gets in, and what was written can still be read. */
static void test_close(void)
{
	struct tacho_ring_reader rd, late;
	struct follow t = { .next = 0 }, u = { .next = 0 };
	struct tacho_chunk c;
	struct fixture f;
	uint64_t n = 0;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	while (n < 5)
		CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN), 0);
	CHECK_EQ(follow_all(&rd, &t), 5);
	while (n < 10)
		CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN), 0);
	for (uint32_t i = 0; i < tacho_ring_nr_lanes(&f.ring); i++) {
#ifdef TACHO_HAVE_RSEQ
		/* without sequences, lanes of CPUs are not ours to touch */
		if (!fixture_has_rseq() && i < f.ring.nr_cpus) {
			CHECK_EQ(tacho_ring_close_lane(&f.ring, i), -EPERM);
			continue;
		}
#endif
		CHECK_EQ(tacho_ring_close_lane(&f.ring, i), 0);
		CHECK_EQ(lane_of(&f, i)->cursor, TACHO_CURSOR_DEAD);
	}
	CHECK_EQ(put(&f, 1, n, LEDGER_WORDS_MIN), -ESHUTDOWN);
	CHECK_EQ(fixture_lost(&f), 0);
	CHECK_EQ(follow_all(&rd, &t), 5);
	CHECK_EQ(tacho_ring_read(&rd, &c), -ESHUTDOWN);
	check_follow(&t);
	CHECK_EQ(tacho_ring_written(&f.ring, lane, 0), n);
	CHECK_EQ(tacho_ring_reader_init(&late, &f.ring, lane, 0, true, 0), 0);
	/* a whole sub-buffer may have been given back already */
	CHECK(follow_all(&late, &u) >= 5);
	CHECK_EQ(u.books.read + late.overwritten, n);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 0), -EINVAL);
	CHECK_EQ(tacho_ring_close_lane(&f.ring, 99999), -ENOENT);
	/* destroyed: the memory may be punched at any moment */
	f.ctl->state = TACHO_STATE_DEAD;
	tacho_ring_reader_release(&late);
	CHECK_EQ(tacho_ring_reader_init(&late, &f.ring, lane, 0, true, 0), 0);
	CHECK_EQ(tacho_ring_read(&late, &c), -ESHUTDOWN);
	tacho_ring_reader_release(&rd);
	tacho_ring_reader_release(&late);
	fixture_drop(&f);
}

/* A clock beyond `until` begins one new packet, and moves `until` on. */
static void test_epoch(void)
{
	struct tacho_ring_reader rd;
	struct follow t = { .next = 0 };
	struct fixture f;
	uint64_t n = 0, end;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	end = tacho_epoch_end(tacho_clock_read(f.ring.clock));
	for (uint32_t seq = 1; seq < 20; seq++) {
		tacho_store_seq_cst(&lane_of(&f, lane)->fast_until, seq);
		for (int i = 0; i < 3; i++) {
			CHECK_EQ(put(&f, 1, n++, LEDGER_WORDS_MIN), 0);
			CHECK_EQ(tacho_cursor_seq(lane_of(&f, lane)->cursor), seq);
		}
		CHECK(lane_of(&f, lane)->fast_until >= end);
		CHECK_EQ(follow_all(&rd, &t), 3);
	}
	check_follow(&t);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* Stopped keeps everybody out; lanes follow the state, also those left behind. */
static void test_stop(void)
{
	struct fixture f;
	uint64_t c;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(put(&f, 1, 0, LEDGER_WORDS_MIN), 0);
	c = lane_of(&f, lane)->cursor;
	f.ctl->state = TACHO_STATE_STOPPED;
	tacho_ring_run(&f.ring, false);
	CHECK_EQ(put(&f, 1, 1, LEDGER_WORDS_MIN), -ESHUTDOWN);
	CHECK_EQ(put(&f, 1, 1, raw_max(&f)), -ESHUTDOWN);
	CHECK_EQ(lane_of(&f, lane)->cursor, c);
	CHECK_EQ(lane_of(&f, lane)->fast_until, 0);
	CHECK_EQ(fixture_lost(&f), 0);
	f.ctl->state = TACHO_STATE_RECORDING;
	tacho_ring_run(&f.ring, true);
	CHECK_EQ(put(&f, 1, 1, LEDGER_WORDS_MIN), 0);
	/* a short stop does not cost a sub-buffer */
	CHECK_EQ(tacho_cursor_seq(lane_of(&f, lane)->cursor), 0);
	CHECK_EQ(tacho_cursor_events(lane_of(&f, lane)->cursor), 2);
	/* whoever let go was killed behind the state: the writer lets himself go */
	f.ctl->state = TACHO_STATE_STOPPED;
	tacho_ring_run(&f.ring, false);
	f.ctl->state = TACHO_STATE_RECORDING;
	CHECK_EQ(put(&f, 1, 2, LEDGER_WORDS_MIN), 0);
	CHECK(lane_of(&f, lane)->fast_until > 0);
	/* whoever stopped was: the next one that comes the slow way stops the lane */
	f.ctl->state = TACHO_STATE_STOPPED;
	CHECK_EQ(put(&f, 1, 3, raw_max(&f)), -ESHUTDOWN);
	CHECK_EQ(lane_of(&f, lane)->fast_until, 0);
	/* let go in a session that was stopped meanwhile: undone */
	tacho_ring_run(&f.ring, true);
	CHECK_EQ(lane_of(&f, lane)->fast_until, 0);
	fixture_drop(&f);
}

/* Stopped for so long that 48 bits of time have gone round: a new packet. */
static void test_long_stop(void)
{
	struct tacho_ring_reader rd;
	struct tacho_chunk c;
	struct fixture f;
	uint64_t now;
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	tacho_ring_run(&f.ring, false);
	/* the open packet began an age ago, as the clock cannot be set forward */
	tacho_buffer_open(tacho_lane_buffer(lane_of(&f, lane), 0),
			  lane_of(&f, lane)->cursor)->begin -=
		UINT64_C(1) << 48;
	tacho_ring_run(&f.ring, true);
	now = tacho_clock_read(f.ring.clock);
	CHECK_EQ(put(&f, 1, 0, LEDGER_WORDS_MIN), 0);
	CHECK_EQ(tacho_ring_read(&rd, &c), 1);
	CHECK(c.head.timestamp_end >= now);
	CHECK_EQ(tacho_cursor_seq(lane_of(&f, lane)->cursor), 1);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* A CPU that came after the session was made writes to a fallback lane. */
static void test_unknown_cpu(void)
{
	struct tacho_ring_reader rd;
	struct follow t = { .next = 0 };
	struct fixture f;
	uint32_t lane;

	if (fixture_pin(1)) {
		printf("# one CPU only: no CPU beyond the lanes\n");
		return;
	}
	fixture_make_cpus(&f, TACHO_SUB_SHIFT_MIN, 4, 0, 1);
	lane = fixture_lane(&f, 1);
	CHECK(lane >= 1);
	for (uint64_t n = 0; n < 20; n++)
		CHECK_EQ(put(&f, 1, n, LEDGER_WORDS_MIN), 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	CHECK_EQ(follow_all(&rd, &t), 20);
	check_follow(&t);
	CHECK_EQ(tacho_ring_written(&f.ring, 0, 0), 0);
	tacho_ring_reader_release(&rd);
	fixture_drop(&f);
}

/* A CPU that is not there (unplugged): tools change its lane from where they are. */
static void test_absent_cpu(void)
{
	struct fixture f;
	uint32_t cpu = tacho_cpu_possible();

	CHECK(tacho_cpu_online(0));
	CHECK(!tacho_cpu_online(cpu));
	fixture_make_cpus(&f, TACHO_SUB_SHIFT_MIN, 4, 0, cpu + 1);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, cpu, 1, 4, 0), 0);
	CHECK_EQ(tacho_ring_shift(&f.ring, cpu, 1), 0);
	CHECK_EQ(tacho_cursor_id(lane_of(&f, cpu)->cursor), 1);
	CHECK_EQ(tacho_ring_close_lane(&f.ring, cpu), 0);
	CHECK_EQ(lane_of(&f, cpu)->cursor, TACHO_CURSOR_DEAD);
	fixture_drop(&f);
}

static void test_lose(void)
{
	struct fixture f;
	struct tacho_ring_reader rd;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, 0, 9, true, 0), -ENOENT);
	tacho_ring_lose(&f.ring, TACHO_LOSS_BUSY);
	tacho_ring_lose(&f.ring, TACHO_LOSS_BIG);
	CHECK_EQ(fixture_lost(&f), 2);
	fixture_drop(&f);
}

/* Plain lanes taken by others: the next one, then counted as lost. */
static void test_fallback_taken(void)
{
	struct tacho_lane *l[2];
	struct fixture f;
	uint64_t lost;
	struct stat st;
	pid_t child;
	uint32_t lane;

	fixture_make_cpus(&f, TACHO_SUB_SHIFT_MIN, 4, 0, 1);
	if (fixture_has_rseq() && fixture_pin(1)) {
		fixture_drop(&f);
		return;
	}
	lane = fixture_lane(&f, fixture_has_rseq() ? 1 : 0);
	l[0] = lane_of(&f, 1);
	l[1] = lane_of(&f, 2);
	/* a lock of another name space is never judged dead */
	for (int taken = 0; taken < 2; taken++) {
		l[taken]->lock = 1 | UINT64_C(12345) << 32;
		if (!taken)
			CHECK_EQ(put(&f, 1, 0, LEDGER_WORDS_MIN), 0);
	}
	CHECK_EQ(lane_of(&f, 2)->cursor != 0 || lane == 2, 1);
	lost = fixture_lost(&f);
	yields = 0;
	CHECK_EQ(put(&f, 1, 1, LEDGER_WORDS_MIN), -EBUSY);
	CHECK_EQ(fixture_lost(&f), lost + 1);
	CHECK(yields > 0);
	/* a lane of our own: we are a handler on top of it, and do not wait */
	CHECK_EQ(stat("/proc/self/ns/pid", &st), 0);
	l[1]->lock = (uint32_t)gettid() | (uint64_t)st.st_ino << 32;
	yields = 0;
	CHECK_EQ(put(&f, 1, 2, LEDGER_WORDS_MIN), -EBUSY);
	CHECK_EQ(fixture_lost(&f), lost + 2);
	CHECK_EQ(yields, 0);
	/* the owner of this one is dead: a child of ours, in our name space */
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	l[0]->lock = (uint32_t)child | (uint64_t)st.st_ino << 32;
	CHECK_EQ(put(&f, 1, 3, LEDGER_WORDS_MIN), 0);
	CHECK_EQ(l[0]->lock, 0);
	fixture_drop(&f);
}

/*
 * A child in a pid name space of its own has other thread ids: what it locks
 * must not look like a dead thread of ours.
 */
static void test_name_space(void)
{
	struct fixture f;
	struct stat st;
	int status = -1;
	pid_t child;
	uint32_t lane;

	fixture_make_cpus(&f, TACHO_SUB_SHIFT_MIN, 4, 0, 1);
	if (fixture_has_rseq() && fixture_pin(1)) {
		fixture_drop(&f);
		return;
	}
	lane = fixture_lane(&f, fixture_has_rseq() ? 1 : 0);
	CHECK_EQ(put(&f, 1, 0, LEDGER_WORDS_MIN), 0);
	child = fork();
	if (!child) {
		struct tacho_lane *l = lane_of(&f, f.ring.nr_cpus);
		pid_t inner;

		if (stat("/proc/self/ns/pid", &st) || unshare(CLONE_NEWPID) ||
		    (inner = fork()) < 0)
			_exit(77);
		if (inner) {
			waitpid(inner, &status, 0);
			_exit(WEXITSTATUS(status));
		}
		/* both locks are held by a thread id that is nobody in here, of
		 * the name space that we came from: they are not ours to judge */
		for (int i = 0; i < 2; i++, l = lane_of(&f, f.ring.nr_cpus + 1))
			l->lock = 4000000 | (uint64_t)st.st_ino << 32;
		_exit(put(&f, 1, 1, LEDGER_WORDS_MIN) == -EBUSY ? 0 : 1);
	}
	waitpid(child, &status, 0);
	if (WEXITSTATUS(status) == 77)
		printf("# no pid name spaces here\n");
	else
		CHECK_EQ(status, 0);
	(void)lane;
	fixture_drop(&f);
}

static void run_all(void)
{
	TEST(test_cursor());
	TEST(test_sizes());
	TEST(test_exact_fit());
	TEST(test_discard());
	TEST(overwrite_with(4, 40));
	TEST(overwrite_with(4, 4000));
	TEST(overwrite_with(2, 4000));
	TEST(overwrite_with(64, 4000));
	TEST(test_history());
	TEST(test_pieces());
	TEST(test_resume());
	TEST(wrap_in(0));
	TEST(wrap_in(TACHO_SESSION_OVERWRITE));
	TEST(test_shift());
	TEST(test_shift_from());
	TEST(test_shift_full());
	TEST(test_close());
	TEST(test_epoch());
	TEST(test_stop());
	TEST(test_long_stop());
	TEST(test_unknown_cpu());
	TEST(test_absent_cpu());
	TEST(test_lose());
	TEST(test_fallback_taken());
	TEST(test_name_space());
}

#ifdef TACHO_HAVE_RSEQ
/* The same with sequences switched off in the C library. */
static void run_without_rseq(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		(void)dup2(2, 1);
		execl("/proc/self/exe", "test_ring", "again", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
}
#endif

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "again")) {
		test_args(argc - 1, argv + 1);
		CHECK(!fixture_has_rseq());
		run_all();
		return test_done();
	}
	test_args(argc, argv);
	run_all();
#ifdef TACHO_HAVE_RSEQ
	TEST_NAMED("all without rseq", run_without_rseq());
#endif
	return test_done();
}
