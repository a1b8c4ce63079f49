// SPDX-License-Identifier: MIT
/* Lanes that go on in buffers of other sizes and modes (ring.h, section 9), step by step. */
#include <errno.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#define SUB_SHIFT	12	/* also where the smallest are smaller: what is counted here fits */

#define OVER	TACHO_BUFFER_OVERWRITE

static uint64_t numbers;	/* records of this test so far */

static void put(struct fixture *f, uint64_t n)
{
	uint64_t raw[16];

	while (n--) {
		uint64_t words = ledger_words(numbers, 12);

		ledger_make(raw, words, 1, numbers++);
		CHECK_EQ(tacho_ring_write(&f->ring, raw, words), 0);
	}
}

static void check_and_drop(struct fixture *f)
{
	struct tacho_diag d = { .err = 0 };

	if (!CHECK_EQ(tacho_ring_check(&f->ring, &d), 0))
		printf("# %s\n", d.text);
	fixture_drop(f);
}

/* What a reader met: records in order, and which one was the first. */
struct seen {
	struct ledger_lane books;
	uint64_t first, next, wrong;
};

static void see_one(void *arg, uint64_t slot, uint64_t number)
{
	struct seen *s = arg;

	if (s->next == UINT64_MAX)
		s->first = s->next = number;
	s->wrong += slot != 1 || number < s->next;
	s->next = number + 1;
}

static void see_all(struct tacho_ring_reader *rd, struct seen *s)
{
	struct tacho_chunk c;

	while (tacho_ring_read(rd, &c) == 1)
		ledger_chunk(&s->books, &c, see_one, s);
}

/* What is in the lane now, for somebody who comes anew. */
static struct seen look(struct fixture *f, uint32_t lane, uint32_t id)
{
	struct seen s = { .next = UINT64_MAX };
	struct tacho_ring_reader rd;

	if (tacho_ring_reader_init(&rd, &f->ring, lane, id, false, TACHO_READ_OLDEST))
		return s;
	see_all(&rd, &s);
	CHECK_EQ(s.wrong + s.books.torn + s.books.disorder + rd.damaged, 0);
	tacho_ring_reader_release(&rd);
	return s;
}

static uint32_t current(struct fixture *f, uint32_t lane)
{
	return tacho_cursor_id(tacho_ring_lane(&f->ring, lane)->cursor);
}

/* Bytes that the buffers of a lane take. */
static uint64_t memory(struct fixture *f, uint32_t lane)
{
	uint64_t sum = 0;
	struct stat st;
	char name[32];

	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		tacho_ring_file(name, sizeof(name), lane, id);
		if (!fstatat(f->dirfd, name, &st, 0))
			sum += (uint64_t)st.st_blocks * 512;
	}
	return sum;
}

static uint64_t bytes_of(const struct fixture *f, uint32_t subs)
{
	return TACHO_ABI_PAGE_UP((uint64_t)subs << f->ring.sub_shift);
}

/*
 * 10,000 changes between sizes that all hold it: nothing goes, whoever follows gets
 * each record once, and no more memory is taken than the buffer has.
 */
static void test_many(void)
{
	struct seen s = { .next = UINT64_MAX }, now;
	struct tacho_ring_reader rd;
	struct fixture f;
	uint32_t lane;

	numbers = 0;
	fixture_make(&f, SUB_SHIFT + 2, 64, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, false, 0), 0);
	for (uint32_t i = 1; i <= 10000; i++) {
		uint32_t subs = i % 2 ? 32 : 64;

		put(&f, i % 16 == 0);
		if (i % 7 == 0)
			see_all(&rd, &s);
		CHECK_EQ(tacho_ring_move(&f.ring, lane, subs, i % 3 ? OVER : 0), 0);
		CHECK_EQ(tacho_ring_lane(&f.ring, lane)->cursor == 0, 0);
		if (i % 100 == 0)
			CHECK_EQ(memory(&f, lane), bytes_of(&f, subs));
	}
	see_all(&rd, &s);
	CHECK_EQ(s.first, 0);
	CHECK_EQ(s.books.read, numbers);
	CHECK_EQ(s.books.overwritten + s.wrong + s.books.torn + s.books.disorder, 0);
	now = look(&f, lane, current(&f, lane));
	CHECK_EQ(now.first, 0);
	CHECK_EQ(now.books.read, numbers);
	CHECK_EQ(fixture_written(&f), numbers);
	CHECK_EQ(fixture_lost(&f), 0);
	tacho_ring_reader_release(&rd);
	check_and_drop(&f);
}

/* Each size and mode that there is, in two turns: ids do not run out. */
static void test_all_sizes(void)
{
	struct fixture f;
	uint32_t lane;

	numbers = 0;
	fixture_make_cpus(&f, SUB_SHIFT, 2, 0, 1);
	lane = fixture_lane(&f, 0);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t subs = 2; subs <= 4096; subs *= 2)
			for (uint32_t mode = 0; mode <= OVER; mode += OVER) {
				put(&f, 1);
				CHECK_EQ(tacho_ring_move(&f.ring, lane, subs, mode), 0);
				CHECK_EQ(tacho_lane_buffer(tacho_ring_lane(&f.ring, lane),
							   current(&f, lane))->nr_subs, subs);
			}
	CHECK_EQ(look(&f, lane, current(&f, lane)).books.read, numbers);
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 3, 0), -EINVAL);
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 2 * TACHO_SUBS_MAX, 0), -EINVAL);
	CHECK_EQ(look(&f, lane, current(&f, lane)).books.read, numbers);
	check_and_drop(&f);
}

/* A smaller buffer keeps the newest; the reader is told what went. */
static void test_shrink(uint32_t from, uint32_t to)
{
	struct seen s = { .next = UINT64_MAX }, now;
	struct tacho_ring_reader rd;
	struct fixture f;
	uint64_t had;
	uint32_t lane;

	numbers = 0;
	fixture_make(&f, SUB_SHIFT, 32, from ? TACHO_SESSION_OVERWRITE : 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, false, 0), 0);
	put(&f, from ? 5000 : 900 / (4096 >> SUB_SHIFT));
	had = look(&f, lane, 0).books.read;
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 8, to), 0);
	now = look(&f, lane, current(&f, lane));
	/* 6 whole sub-buffers at least, of the 31 that there may have been, and the newest */
	CHECK(now.books.read < had);
	CHECK(now.books.read >= 6 * (f.ring.sub_words - TACHO_PACKET_WORDS - 13) / 13);
	CHECK_EQ(now.next, numbers);
	CHECK_EQ(now.books.read, numbers - now.first);
	see_all(&rd, &s);
	CHECK_EQ(s.books.read + s.books.overwritten, numbers);
	CHECK_EQ(s.next, numbers);
	/* and back: nothing comes back, and nothing else goes */
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 32, OVER), 0);
	CHECK_EQ(look(&f, lane, current(&f, lane)).first, now.first);
	put(&f, 3);
	see_all(&rd, &s);
	CHECK_EQ(s.books.read + s.books.overwritten, numbers);
	tacho_ring_reader_release(&rd);
	check_and_drop(&f);
}

/* Full and keeping the oldest: still full afterwards; what a reader consumed stays so. */
static void test_full(void)
{
	struct seen s = { .next = UINT64_MAX };
	struct tacho_ring_reader rd;
	struct fixture f;
	uint64_t raw[8];
	uint32_t lane;

	numbers = 0;
	fixture_make(&f, SUB_SHIFT, 8, 0);
	lane = fixture_lane(&f, 0);
	for (ledger_make(raw, 8, 1, numbers); !tacho_ring_write(&f.ring, raw, 8);
	     ledger_make(raw, 8, 1, numbers))
		numbers++;
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 4, 0), 0);
	CHECK_EQ(tacho_ring_write(&f.ring, raw, 8), -ENOBUFS);
	CHECK_EQ(look(&f, lane, current(&f, lane)).next, numbers);
	CHECK_EQ(tacho_ring_reader_init(&rd, &f.ring, lane, 0, true, TACHO_READ_OLDEST), 0);
	see_all(&rd, &s);
	CHECK_EQ(s.next, numbers);
	CHECK_EQ(tacho_ring_write(&f.ring, raw, 8), 0);
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 8, 0), 0);
	numbers++;
	see_all(&rd, &s);
	CHECK_EQ(s.next, numbers);
	CHECK_EQ(s.wrong, 0);
	tacho_ring_reader_release(&rd);
	check_and_drop(&f);
}

/* What a snapshot froze goes with the lane, and the two still take turns. */
static void test_snapshot(void)
{
	struct tacho_lane *l;
	struct seen before, after;
	struct fixture f;
	uint32_t lane, id;

	numbers = 0;
	fixture_make(&f, SUB_SHIFT, 16, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	l = tacho_ring_lane(&f.ring, lane);
	put(&f, 300);
	CHECK_EQ(tacho_ring_add_buffer(&f.ring, lane, 1, 16, OVER), 0);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, 1), 0);
	tacho_lane_buffer(l, 0)->flags |= TACHO_BUFFER_FROZEN;
	put(&f, 20);
	before = look(&f, lane, 0);
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 32, OVER), 0);
	id = tacho_ring_frozen(&f.ring, lane);
	CHECK_EQ(id, current(&f, lane) ^ 1);
	CHECK(id > 1);
	after = look(&f, lane, id);
	CHECK_EQ(after.first, before.first);
	CHECK_EQ(after.next, before.next);
	CHECK_EQ(look(&f, lane, current(&f, lane)).first, 300);
	CHECK_EQ(tacho_ring_shift(&f.ring, lane, id), (int)(id ^ 1));
	put(&f, 7);
	CHECK_EQ(fixture_written(&f), numbers);
	CHECK_EQ(look(&f, lane, id).next, numbers);
	check_and_drop(&f);
}

/*
 * Whoever read the cursor before, and sleeps until the lane is back where it was, does with it
 * what it would have done then; in between, nothing.
 */
static void test_late_writer(void)
{
	struct fixture f;
	struct seen s;
	uint32_t lane;
	uint64_t c;

	numbers = 0;
	fixture_make(&f, SUB_SHIFT, 8, TACHO_SESSION_OVERWRITE);
	lane = fixture_lane(&f, 0);
	put(&f, 500);
	c = tacho_ring_lane(&f.ring, lane)->cursor;
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 16, OVER), 0);
	CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, c, 0), -EAGAIN);
	CHECK_EQ(tacho_ring_move(&f.ring, lane, 8, OVER), 0);
	CHECK_EQ(tacho_ring_lane(&f.ring, lane)->cursor, c);
	CHECK_EQ(tacho_ring_shift_from(&f.ring, lane, c, 0), 0);
	put(&f, 1);
	s = look(&f, lane, current(&f, lane));
	CHECK_EQ(s.next, numbers);
	CHECK_EQ(s.books.read, numbers - s.first);
	CHECK_EQ(fixture_written(&f), numbers);
	check_and_drop(&f);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_many());
	TEST(test_all_sizes());
	TEST(test_shrink(OVER, OVER));
	TEST(test_shrink(OVER, 0));
	TEST(test_shrink(0, OVER));
	TEST(test_shrink(0, 0));
	TEST(test_full());
	TEST(test_snapshot());
	TEST(test_late_writer());
	return test_done();
}
