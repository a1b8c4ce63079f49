// SPDX-License-Identifier: MIT
/*
 * Shared memory is whatever a broken process left in it.  Junk goes into cursors,
 * headers, records and counters, and writers, readers and tools must come
 * back: no access outside (the sanitizers watch), no loop without end.
 */
#include <errno.h>

#include "base/atomic.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#ifdef TACHO_TINY
#define ROUNDS	1200u
#else
#define ROUNDS	600u
#endif
/* A read of one buffer ends after as many chunks as it has sub-buffers, twice
 * (junk numbers make it jump), and once for its open one. */
#define SUBS	4u
#define CHUNKS	(2 * SUBS + 2)

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed += UINT64_C(0x9e3779b97f4a7c15);
	return ledger_mix(seed);
}

/* A value of the kinds that break things: small, huge, near a limit, any. */
static uint64_t nasty(void)
{
	switch (rnd() % 6) {
	case 0:
		return rnd() % 16;
	case 1:
		return UINT64_MAX - rnd() % 16;
	case 2:
		return UINT64_C(1) << rnd() % 64;
	case 3:
		return (UINT64_C(1) << rnd() % 64) - 1;
	case 4:
		return tacho_cursor_make((uint32_t)(rnd() % 3), rnd() % 16,
					 (uint32_t)(rnd() % 100),
					 (uint32_t)(rnd() % 600));
	default:
		return rnd();
	}
}

/* The lane's words and its first buffer's description. */
static void spoil_lane(struct fixture *f, uint32_t lane)
{
	struct tacho_lane *l = tacho_ring_lane(&f->ring, lane);
	struct tacho_buffer *b = tacho_lane_buffer(l, 0);

	switch (rnd() % 8) {
	case 0:
		l->fast_until = nasty();
		break;
	case 1:
		b->saved = nasty();
		break;
	case 2:
		b->consumed = nasty();
		break;
	case 3:
		b->flags = (uint32_t)nasty();
		break;
	case 4:
		b->nr_subs = (uint32_t)nasty();
		break;
	default:
		l->cursor = nasty();
		break;
	}
}

/* Words of the sub-buffers: headers more often than records. */
static void spoil_buffer(struct fixture *f, uint32_t lane)
{
	struct tacho_ring_buf *b = tacho_ring_map(&f->ring, lane, 0);
	uint64_t sub = rnd() % SUBS;
	uint64_t word = rnd() % 3 ? rnd() % TACHO_PACKET_WORDS
				  : rnd() % f->ring.sub_words;

	if (b)
		((uint64_t *)(void *)b->base)[sub * f->ring.sub_words + word] =
			rnd() % 2 ? nasty() : tacho_record_word(rnd(), nasty());
}

/* Reads until nothing comes; the chunk's own promises must hold. */
static uint64_t read_some(struct tacho_ring_reader *rd)
{
	struct tacho_chunk c;
	uint64_t chunks = 0, bad = 0;

	while (chunks <= CHUNKS && tacho_ring_read(rd, &c) == 1) {
		const uint64_t *w = c.data;
		uint64_t left = c.len / 8, events = 0;

		for (; left; events++) {
			uint64_t size = tacho_record_size(*w) / 8;

			if (size < 2 || size > left)
				break;
			w += size;
			left -= size;
		}
		bad += left || events != c.head.events || !events ||
		       c.head.content_size !=
		       (TACHO_PACKET_WORDS * 8 + (uint64_t)c.len) * 8 ||
		       c.head.magic != TACHO_PACKET_MAGIC;
		chunks++;
	}
	CHECK_EQ(bad, 0);
	return chunks;
}

static void rounds_of(uint32_t flags, bool consume)
{
	uint64_t raw[64], endless = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct tacho_ring_reader rd, late;
		struct fixture f;
		uint32_t lane;

		/* a fresh one now and then, the rest of the time what junk made */
		fixture_make_cpus(&f, TACHO_SUB_SHIFT_MIN, SUBS, flags,
				  tacho_cpu_possible());
		lane = fixture_lane(&f, 0);
		if (tacho_ring_reader_init(&rd, &f.ring, lane, 0, consume,
					   rnd() % 2 ? nasty() : 0))
			abort();
		for (int step = 0; step < 12; step++) {
			for (uint64_t n = rnd() % 40; n; n--) {
				ledger_make(raw, 3 + n % 10, 1, n);
				(void)tacho_ring_write(&f.ring, raw, 3 + n % 10);
			}
			if (rnd() % 2)
				spoil_lane(&f, lane);
			else
				spoil_buffer(&f, lane);
			endless += read_some(&rd) > CHUNKS;
			(void)tacho_ring_written(&f.ring, lane, 0);
		}
		if (!tacho_ring_reader_init(&late, &f.ring, lane, 0, false,
					    TACHO_READ_OLDEST))
			endless += read_some(&late) > CHUNKS;
		if (rnd() % 4 == 0)
			(void)tacho_ring_shift(&f.ring, lane, (uint32_t)rnd() % 3);
		tacho_ring_run(&f.ring, true);
		(void)tacho_ring_close_lane(&f.ring, lane);
		endless += read_some(&rd) > CHUNKS;
		tacho_ring_reader_release(&rd);
		tacho_ring_reader_release(&late);
		fixture_drop(&f);
	}
	CHECK_EQ(endless, 0);
}

/* Geometry out of bounds is refused, whatever else the file says. */
static void test_geometry(void)
{
	static const struct {
		uint32_t cpus, fallback, shift;
	} table[] = {
		{ 0, 0, 12 }, { 2049, 0, 12 }, { 2048, 1, 12 },
		{ UINT32_MAX, 2, 12 }, { 1, UINT32_MAX, 12 }, { 1, 1, 0 },
		{ 1, 1, TACHO_SUB_SHIFT_MIN - 1 }, { 1, 1, TACHO_SUB_SHIFT_MAX + 1 },
		{ 1, 1, UINT32_MAX }, { 1, 1, 64 },
	};
	struct tacho_ring r;
	struct fixture f;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		f.ctl->nr_cpus = table[i].cpus;
		f.ctl->nr_fallback = table[i].fallback;
		f.ctl->sub_shift = table[i].shift;
		CHECK_EQ(tacho_ring_attach(&r, f.ctl, f.path, true), -EINVAL);
	}
	fixture_drop(&f);
}

/* A buffer's file shorter than its description is not mapped. */
static void test_short_file(void)
{
	struct tacho_ring other;
	struct fixture f;
	char name[32];
	uint32_t lane;

	fixture_make(&f, TACHO_SUB_SHIFT_MIN, 4, 0);
	lane = fixture_lane(&f, 0);
	CHECK_EQ(tacho_ring_attach(&other, f.ctl, f.path, false), 0);
	tacho_lane_buffer(tacho_ring_lane(&f.ring, lane), 0)->nr_subs = 65536;
	CHECK(!tacho_ring_map(&other, lane, 0));
	tacho_lane_buffer(tacho_ring_lane(&f.ring, lane), 0)->nr_subs = 3;
	CHECK(!tacho_ring_map(&other, lane, 0));
	CHECK(!tacho_ring_map(&other, lane, 64));
	CHECK(!tacho_ring_map(&other, 99999, 0));
	/* the size that was tried first stays: a mapping of another size by another
	 * thread would put writers out of it */
	tacho_lane_buffer(tacho_ring_lane(&f.ring, lane), 0)->nr_subs = 4;
	CHECK(!tacho_ring_map(&other, lane, 0));
	tacho_ring_detach(&other);
	tacho_ring_file(name, 8, lane, 0);
	CHECK_STR(name, "");
	fixture_drop(&f);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_geometry());
	TEST(test_short_file());
	TEST(rounds_of(0, true));
	TEST(rounds_of(0, false));
	TEST(rounds_of(TACHO_SESSION_OVERWRITE, false));
	TEST(rounds_of(TACHO_SESSION_OVERWRITE, true));
	return test_done();
}
