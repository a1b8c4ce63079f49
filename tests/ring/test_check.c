// SPDX-License-Identifier: MIT
/*
 * tacho_ring_check(): all invariants hold after each way in which a ring is used, and for
 * each invariant there is damage by which exactly that one is violated.
 */
#include <errno.h>

#include "base/atomic.h"
#include "ring/check.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

static struct fixture f;
static uint32_t lane;
static uint64_t numbers;

static void put(uint64_t n)
{
	uint64_t raw[16];

	while (n--) {
		uint64_t words = ledger_words(numbers, 12);

		ledger_make(raw, words, 1, numbers++);
		(void)tacho_ring_write(&f.ring, raw, words);
	}
}

static struct tacho_lane *the_lane(void)
{
	return tacho_ring_lane(&f.ring, lane);
}

static struct tacho_buffer *buffer(uint32_t id)
{
	return tacho_lane_buffer(the_lane(), id);
}

/* A sub-buffer of the buffer that is written, `back` before the open one. */
static struct tacho_packet *sub(uint32_t back)
{
	uint64_t c = the_lane()->cursor;
	uint64_t seq = tacho_buffer_open(buffer(tacho_cursor_id(c)), c)->seq - back;
	struct tacho_ring_buf *b = tacho_ring_map(&f.ring, lane, tacho_cursor_id(c));

	return tacho_ring_sub(&f.ring, b, tacho_cursor_make(0, seq, 0, 0));
}

static uint64_t *word_of(uint32_t back, uint32_t n)
{
	return (uint64_t *)(void *)sub(back) + n;
}

static void make(uint32_t flags)
{
	fixture_make(&f, 12, 8, flags);
	lane = fixture_lane(&f, 0);
}

/* ---- undamaged ---- */

static void good(const char *what)
{
	struct tacho_diag d = { .err = 0 };

	if (!CHECK_EQ(tacho_ring_check(&f.ring, &d), 0) || !CHECK_EQ(d.err, 0))
		printf("# %s: %s\n", what, d.text);
}

static void consume_some(uint32_t chunks)
{
	struct tacho_ring_reader rd;
	struct tacho_chunk c;

	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, 0), 0);
	while (chunks-- && tacho_ring_read(&rd, &c) == 1)
		good("reading");
	tacho_ring_reader_release(&rd);
}

static void test_discard(void)
{
	make(0);
	good("new");
	for (int i = 0; i < 300; i++) {
		put(7);
		good("filling up");
	}
	CHECK(tacho_ring_lost(&f.ring, lane) > 0);
	consume_some(3);
	put(300);
	consume_some(100);
	for (int i = 0; i < 100; i++) {
		put(7);
		good("after reading");
	}
	fixture_drop(&f);
}

static void test_overwrite(void)
{
	make(TACHO_SESSION_OVERWRITE);
	for (int i = 0; i < 300; i++) {
		put(7);
		good("overwriting");
	}
	fixture_drop(&f);
}

static void test_changes(uint32_t flags)
{
	uint32_t mode = flags ? TACHO_BUFFER_OVERWRITE : 0;

	make(flags);
	put(100);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 8, mode), 0);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 1), 0);
	good("shifted");
	put(100);
	good("shifted and written");
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 0), 1);
	put(30);
	good("shifted back");
	for (uint32_t n = 2; n <= 64; n *= 2) {
		CHECK_EQ(tacho_ring_move(&f.ring, lane, n, mode), 0);
		good("moved");
		put(20);
		good("moved and written");
	}
	f.ctl->state = TACHO_STATE_STOPPED;
	tacho_ring_run(&f.ring, false);
	good("stopped");
	f.ctl->state = TACHO_STATE_RECORDING;
	tacho_ring_run(&f.ring, true);
	put(10);
	good("started");
	CHECK_EQ(tacho_ring_close_lane(&f.ring, lane), 0);
	good("closed");
	fixture_drop(&f);
}

/* ---- damaged ---- */

/* The ring is damaged: exactly I n is violated, and the text says so. */
static void violated(unsigned int n, const char *what)
{
	struct tacho_diag d = { .err = 0 };
	char want[16], place[32];
	uint32_t got = tacho_ring_check(&f.ring, &d);

	(void)snprintf(want, sizeof(want), "I%u", n);
	(void)snprintf(place, sizeof(place), "lane %u, buffer ", lane);
	if (!CHECK_EQ(got, TACHO_RING_I(n)) || !CHECK(strstr(d.text, want)) ||
	    !CHECK(!strncmp(d.text, place, strlen(place))) || !CHECK_EQ(d.err, -EBADMSG))
		printf("# %s: %s\n", what, d.text);
	/* without a place for the text, too */
	CHECK_EQ(tacho_ring_check_lane(&f.ring, lane, NULL), got);
}

/* Stores a value, checks that exactly I n is violated, and puts the old value back. */
#define DAMAGE(n, at, value) do {					\
	__typeof__(at) at_ = (at);					\
	__typeof__(*at_) old_ = *at_;					\
									\
	*at_ = (__typeof__(*at_))(value);				\
	violated((n), #at " = " #value);				\
	*at_ = old_;							\
	good("repaired");						\
} while (0)

static uint64_t cursor_with_words(uint64_t c, uint32_t words)
{
	uint64_t mask = ((UINT64_C(1) << TACHO_CURSOR_WORDS_BITS) - 1) << TACHO_CURSOR_WORDS_SHIFT;

	return (c & ~mask) | (uint64_t)words << TACHO_CURSOR_WORDS_SHIFT;
}

static void test_damage(uint32_t flags)
{
	struct tacho_lane *l;
	uint64_t c, head, begin;
	uint32_t id;

	make(flags);
	put(200);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 8, flags ? TACHO_BUFFER_OVERWRITE : 0), 0);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 1), 0);
	put(200);
	good("before");
	l = the_lane();
	c = l->cursor;
	id = tacho_cursor_id(c);
	head = *word_of(0, TACHO_PACKET_WORDS);
	begin = sub(0)->timestamp_begin;

	DAMAGE(1, &l->cursor, cursor_with_words(c, 3));
	DAMAGE(1, &l->cursor, cursor_with_words(c, f.ring.sub_words + 1));
	/* a buffer that there is not; and in `saved` what is right then */
	buffer(id)->saved = c;
	DAMAGE(1, &l->cursor, tacho_cursor_make(60, 0, 0, TACHO_PACKET_WORDS));

	/* sizes: odd, too small, past the end; the counts */
	DAMAGE(2, word_of(0, TACHO_PACKET_WORDS), head ^ UINT64_C(1) << TACHO_TIME_BITS);
	DAMAGE(2, word_of(0, TACHO_PACKET_WORDS), head & TACHO_TIME_MASK);
	DAMAGE(2, word_of(2, TACHO_PACKET_WORDS), head | UINT64_C(0x7ff8) << TACHO_TIME_BITS);
	DAMAGE(2, &l->cursor, c + 1);
	DAMAGE(2, &sub(1)->content_size, sub(1)->content_size + 1);
	DAMAGE(2, &sub(1)->content_size, (uint64_t)f.ring.sub_words * 64 + 64);

	DAMAGE(3, &sub(0)->packet_seq_num, sub(0)->packet_seq_num + 8);
	DAMAGE(3, &sub(2)->packet_seq_num, 0);
	DAMAGE(3, &sub(1)->magic, 0);
	DAMAGE(3, &sub(1)->event_first, sub(1)->event_first + 1);
	DAMAGE(3, &tacho_buffer_open(buffer(id), c)->first, 5);
	DAMAGE(3, &tacho_buffer_open(buffer(id), c)->seq, 1);

	DAMAGE(4, &sub(1)->timestamp_end, sub(1)->timestamp_begin - 1);
	DAMAGE(4, &sub(1)->timestamp_end, sub(1)->timestamp_begin);
	DAMAGE(4, &sub(1)->timestamp_end, sub(0)->timestamp_begin + 1);
	DAMAGE(4, &sub(1)->timestamp_end, begin + (UINT64_C(1) << 62));
	DAMAGE(4, word_of(0, TACHO_PACKET_WORDS), (head & ~TACHO_TIME_MASK) |
	       ((begin - 1) & TACHO_TIME_MASK));

	DAMAGE(5, &buffer(id)->consumed, sub(0)->packet_seq_num + 2);
	if (!flags)	/* a sub-buffer more than there are */
		for (uint32_t i = 0; i < 2; i++) {
			struct tacho_buffer *b = buffer(i);
			uint64_t seq = tacho_buffer_open(b, i == id ? c : b->saved)->seq;

			if (seq >= 8)
				DAMAGE(5, &b->consumed, seq - 8);
		}

	DAMAGE(6, &l->fast_until, UINT64_MAX);
	DAMAGE(6, &l->fast_until, tacho_epoch_end(begin) + (UINT64_C(2) << TACHO_EPOCH_BITS));

	DAMAGE(7, &buffer(id ^ 1)->saved, tacho_cursor_make(5, 0, 0, TACHO_PACKET_WORDS));
	DAMAGE(7, &buffer(id ^ 1)->saved, cursor_with_words(buffer(id ^ 1)->saved, 3));
	fixture_drop(&f);
}

/* In discard mode, with sub-buffers that were written before: fewer released than reused. */
static void test_consumed(void)
{
	make(0);
	for (int i = 0; i < 50; i++) {
		put(50);
		consume_some(100);
	}
	CHECK(sub(0)->packet_seq_num > 8);
	DAMAGE(5, &buffer(0)->consumed, sub(0)->packet_seq_num - 8);
	DAMAGE(5, &buffer(0)->consumed, 0);
	fixture_drop(&f);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_discard());
	TEST(test_overwrite());
	TEST(test_changes(0));
	TEST(test_changes(TACHO_SESSION_OVERWRITE));
	TEST(test_damage(0));
	TEST(test_damage(TACHO_SESSION_OVERWRITE));
	TEST(test_consumed());
	return test_done();
}
