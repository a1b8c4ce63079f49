// SPDX-License-Identifier: MIT
/*
 * window_test - the newest records in a ring of bytes: a snapshot is a tail of what was put in
 * when it was taken, as much of it as there is room for, whatever came since.
 */
#include "../unit/test.h"

#include "base/bytes.h"
#include "stream/window.h"
#include "tacho/abi/record.h"

#define SIZE		TACHO_WINDOW_MIN
#define RECORDS		6000u
#define CPUS		3u
#define OVERHEAD	256u	/* of a record, more than it can be */

static const struct tacho_type type = { .system = "t", .name = "seq", .id = 7 };

/* What was put in and not taken out again: the sum of all lengths up to each. */
static uint64_t len_to[RECORDS + 1];
static uint32_t nr_put;

static void close_nothing(struct tacho_source *source)
{
	tacho_source_release(source);
}

static int fill_nothing(struct tacho_source *source, struct tacho_part *p, bool bad)
{
	(void)source;
	(void)p;
	(void)bad;
	return TACHO_STREAM_END;
}

static const struct tacho_source_ops nothing = {
	.format = "nothing", .close = close_nothing, .fill = fill_nothing,
};

static struct tacho_source source;

static uint32_t random_below(uint32_t n)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

static void put(struct tacho_window *w, uint32_t len)
{
	static _Alignas(8) unsigned char raw[TACHO_RAW_MAX];
	struct tacho_record r = {
		.type = &type, .raw = raw, .len = len, .cpu = nr_put % CPUS,
		.source = nr_put % 2, .time = nr_put, .ticks = nr_put,
		.lost = nr_put % 100 == 9 ? 3 : 0,
	};

	memset(raw, 0, 16);
	memset(raw + 16, (int)nr_put, len - 16);
	tacho_put_u16(raw, (uint16_t)type.id);
	tacho_put_u64(raw + 8, nr_put);
	tacho_window_add(w, &r, &source);
	len_to[nr_put + 1] = len_to[nr_put] + len;
	nr_put++;
}

static bool good(const struct tacho_record *r, uint64_t seq)
{
	const unsigned char *raw = r->raw;
	uint64_t len = len_to[seq + 1] - len_to[seq];

	if (tacho_load_u64(raw + 8) != seq || r->ticks != seq ||
	    r->cpu != seq % CPUS || r->source != seq % 2 || r->type != &type ||
	    r->len != TACHO_ALIGN_UP(len, 8) || r->lost != (seq % 100 == 9 ? 3 : 0))
		return false;
	for (uint64_t i = 16; i < len; i++)
		if (raw[i] != (unsigned char)seq)
			return false;
	return true;
}

/* The snapshot, taken when `to` were put: the last of them, and not fewer than have room. */
static void check(struct tacho_window *w, struct tacho_stream *of, uint32_t to)
{
	struct tacho_stream_info info;
	struct tacho_stream *s;
	struct tacho_record r;
	uint64_t nr, seq, used;
	uint32_t bad = 0;

	if (!CHECK_EQ(tacho_window_open(w, of, &s), 0))
		return;
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	nr = info.events;
	for (int again = 0; again < 2 && CHECK(nr <= to); again++) {
		for (seq = to - nr; tacho_stream_next(s, &r) ==
		     TACHO_STREAM_RECORD; seq++)
			bad += seq >= to || !good(&r, seq);
		CHECK_EQ(seq, to);
		CHECK_EQ(tacho_stream_seek(s, 0), 0);
	}
	CHECK_EQ(bad, 0);
	tacho_stream_close(s);
	used = len_to[to] - len_to[to - nr];
	CHECK(used <= SIZE);
	/* one at the end that did not fit there, and one that had to go for the last */
	if (nr < to)
		CHECK(used + nr * OVERHEAD + 2 * TACHO_RECORD_MAX >= SIZE);
}

/* Lengths from tiny to the longest, some taken out again; snapshots now and then. */
static void test_ring(struct tacho_stream *of, uint32_t longest, uint32_t often)
{
	struct tacho_window *w;
	struct tacho_stream *s;
	uint32_t taken = 0;

	nr_put = 0;
	if (!CHECK_EQ(tacho_window_new(&w, SIZE), 0))
		return;
	CHECK(tacho_window_open(w, of, &s) < 0);
	tacho_window_take(w);
	check(w, of, 0);
	while (nr_put < RECORDS) {
		put(w, 16 + random_below(longest - 15));
		if (!random_below(10)) {
			tacho_window_undo(w);
			nr_put--;
			/* there is one to take out, not two */
			tacho_window_undo(w);
		}
		if (!random_below(often)) {
			tacho_window_take(w);
			taken = nr_put;
			/* that stays in it */
			tacho_window_undo(w);
		}
		/* often long after it was taken */
		if (!random_below(60))
			check(w, of, taken);
	}
	check(w, of, taken);
	tacho_window_free(w);
}

int main(int argc, char **argv)
{
	struct tacho_stream *of = tacho_stream_new(0);
	struct tacho_window *w;

	test_args(argc, argv);
	tacho_source_init(&source, &nothing, 0);
	CHECK_EQ(tacho_stream_add_take(of, &source), 0);
	CHECK(tacho_window_new(&w, SIZE - 1) < 0);
	for (uint32_t often = 1; often <= 3000; often *= 15) {
		TEST(test_ring(of, 64, often));
		TEST(test_ring(of, 3000, often));
		TEST(test_ring(of, TACHO_RAW_MAX, often));
	}
	tacho_stream_close(of);
	return test_done();
}
