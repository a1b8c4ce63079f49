/* SPDX-License-Identifier: MIT */
/* Sub-buffers made by hand, then every way to damage one. */
#include "base/bytes.h"
#include "kdata/pages.h"
#include "unit/test.h"

#define PAGE	4096

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static struct tacho_kpage_layout layout;

struct maker {
	unsigned char bytes[PAGE];
	uint32_t len;		/* of events */
};

static void begin(struct maker *m, uint64_t time)
{
	memset(m, 0, sizeof(*m));
	tacho_put_u64(m->bytes, time);
}

static void put(struct maker *m, uint32_t v)
{
	tacho_put_u32(m->bytes + 16 + m->len, v);
	m->len += 4;
	tacho_put_u64(m->bytes + 8, m->len);
}

static void word(struct maker *m, uint32_t type, uint32_t delta)
{
	put(m, type | delta << 5);
}

/* A small event whose words are all `mark`. */
static void small(struct maker *m, uint32_t words, uint32_t delta, uint32_t mark)
{
	word(m, words, delta);
	while (words--)
		put(m, mark);
}

static void large(struct maker *m, uint32_t words, uint32_t delta, uint32_t mark)
{
	word(m, 0, delta);
	put(m, words * 4 + 4);
	while (words--)
		put(m, mark);
}

static void test_layout(void)
{
	struct tacho_diag d = { 0 };
	struct tacho_kpage_layout l;
	char text[sizeof(header_page)];
	size_t i;

	CHECK_EQ(layout.time_off, 0);
	CHECK_EQ(layout.commit_off, 8);
	CHECK_EQ(layout.commit_size, 8);
	CHECK_EQ(layout.data_off, 16);
	CHECK_EQ(layout.data_size, 4080);
	CHECK_EQ(tacho_kpage_layout_parse(&l, "", 0, &d), -EINVAL);
	CHECK(d.text[0]);
	/* Without its last fields it is refused, wherever it is cut. */
	for (i = 0; i < sizeof(header_page) - 30; i++) {
		memcpy(text, header_page, i);
		CHECK_EQ(tacho_kpage_layout_parse(&l, text, i, NULL), -EINVAL);
	}
	memcpy(text, header_page, sizeof(text));
	*strstr(text, "offset:16") = 'x';
	CHECK_EQ(tacho_kpage_layout_parse(&l, text, sizeof(text) - 1, NULL),
		 -EINVAL);
	memcpy(text, header_page, sizeof(text));
	memcpy(strstr(text, "offset:16"), "offset:09", 9);
	CHECK_EQ(tacho_kpage_layout_parse(&l, text, sizeof(text) - 1, NULL),
		 -EINVAL);
}

/* All kinds of entries in one sub-buffer. */
static void all_kinds(struct maker *m)
{
	begin(m, UINT64_C(0xf000000000000100));
	small(m, 1, 5, 0x11111111);
	word(m, 30, 7);				/* extend: 7 + (3 << 27) */
	put(m, 3);
	small(m, 28, 1, 0x22222222);
	large(m, 40, 2, 0x33333333);
	word(m, 29, 1);				/* discarded, had no delta */
	put(m, 12);
	put(m, 0xdead);
	put(m, 0xdead);
	word(m, 29, 10);			/* discarded, its delta counts */
	put(m, 4);
	small(m, 1, 0, 0x66666666);
	word(m, 31, 9);				/* stamp, the high 5 bits stay */
	put(m, 0x7fffffff);
	small(m, 2, 0, 0x44444444);
	word(m, 31, 3);				/* stamp that wrapped */
	put(m, 0);
	small(m, 3, 1, 0x55555555);
	word(m, 29, 0);				/* nothing follows */
	put(m, 0xffffffff);
	put(m, 0xffffffff);
}

static void test_kinds(void)
{
	static const struct {
		uint64_t time;
		uint32_t len, mark;
	} want[] = {
		{ UINT64_C(0xf000000000000105), 4, 0x11111111 },
		{ UINT64_C(0xf00000001800010d), 112, 0x22222222 },
		{ UINT64_C(0xf00000001800010f), 160, 0x33333333 },
		{ UINT64_C(0xf000000018000119), 4, 0x66666666 },
		{ UINT64_C(0xf3fffffff8000009), 8, 0x44444444 },
		{ UINT64_C(0xf800000000000004), 12, 0x55555555 },
	};
	struct tacho_kevent ev;
	struct tacho_kpage p;
	struct maker m;
	size_t i;

	all_kinds(&m);
	CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), 0);
	CHECK_EQ(p.lost, 0);
	for (i = 0; i < TACHO_ARRAY_SIZE(want); i++) {
		CHECK_EQ(tacho_kpage_next(&p, &ev), 1);
		CHECK_EQ(ev.time, want[i].time);
		CHECK_EQ(ev.len, want[i].len);
		CHECK_EQ(tacho_load_u32(ev.raw), want[i].mark);
		CHECK_EQ(tacho_load_u32(ev.raw + ev.len - 4), want[i].mark);
	}
	CHECK_EQ(tacho_kpage_next(&p, &ev), 0);
	CHECK_EQ(tacho_kpage_next(&p, &ev), 0);
}

static void test_lost(void)
{
	struct tacho_kpage p;
	struct maker m;
	uint32_t room;

	begin(&m, 1);
	small(&m, 2, 1, 1);
	tacho_put_u64(m.bytes + 8, m.len | 1u << 31);
	CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), 0);
	CHECK_EQ(p.lost, -1);
	CHECK_EQ(p.end - p.pos, m.len);

	tacho_put_u64(m.bytes + 8, m.len | 3u << 30);
	tacho_put_u64(m.bytes + 16 + m.len, 12345);
	CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), 0);
	CHECK_EQ(p.lost, 12345);
	/* The number is cut off: some were lost, nobody knows how many. */
	for (room = 0; room < 8; room++) {
		CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes,
					  16 + m.len + room), 0);
		CHECK_EQ(p.lost, -1);
	}
	tacho_put_u64(m.bytes + 16 + m.len, UINT64_MAX);
	CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), 0);
	CHECK_EQ(p.lost, -1);
}

/* A sub-buffer that grows while it is read. */
static void test_part(void)
{
	struct tacho_kevent ev;
	struct tacho_kpage p;
	struct maker m;

	begin(&m, 100);
	small(&m, 2, 1, 7);
	small(&m, 2, 1, 8);
	small(&m, 2, 1, 9);
	CHECK_EQ(tacho_kpage_open_part(&p, &layout, m.bytes, PAGE, 12), 0);
	CHECK_EQ(tacho_kpage_next(&p, &ev), 1);
	CHECK_EQ(tacho_kpage_next(&p, &ev), 0);
	CHECK_EQ(tacho_kpage_extend(&p, &layout, m.bytes, PAGE, 36), 0);
	CHECK_EQ(tacho_kpage_next(&p, &ev), 1);
	CHECK_EQ(tacho_kpage_next(&p, &ev), 1);
	CHECK_EQ(ev.time, 103);
	CHECK_EQ(tacho_load_u32(ev.raw), 9);
	CHECK_EQ(tacho_kpage_next(&p, &ev), 0);
	CHECK_EQ(tacho_kpage_extend(&p, &layout, m.bytes, PAGE, 12), -EBADMSG);
	CHECK_EQ(tacho_kpage_extend(&p, &layout, m.bytes, PAGE, PAGE - 15),
		 -EBADMSG);
	CHECK_EQ(tacho_kpage_open_part(&p, &layout, m.bytes, PAGE, PAGE),
		 -EBADMSG);
}

/* What contradicts itself is refused, where it stands. */
static void test_bad(void)
{
	static const struct {
		uint32_t words[3], nr;
	} rows[] = {
		{ { 2 }, 1 },			/* 8 bytes, there are none */
		{ { 2, 0 }, 2 },
		{ { 28, 0, 0 }, 3 },
		{ { 0 }, 1 },			/* large without a length */
		{ { 0, 0, 0 }, 3 },		/* a length that excludes itself */
		{ { 0, 3, 0 }, 3 },
		{ { 0, 6, 0 }, 3 },		/* not a multiple of 4 */
		{ { 0, 12, 0 }, 3 },		/* one word too many */
		{ { 0, 0xfffffffc, 0 }, 3 },
		{ { 29 | 1 << 5 }, 1 },		/* discarded without a length */
		{ { 29 | 1 << 5, 12, 0 }, 3 },
		{ { 30 }, 1 },			/* half an extend */
		{ { 31 }, 1 },
	};
	struct tacho_kevent ev;
	struct tacho_kpage p;
	struct maker m;
	size_t i, j;

	for (i = 0; i < TACHO_ARRAY_SIZE(rows); i++) {
		begin(&m, 0);
		small(&m, 1, 1, 1);
		for (j = 0; j < rows[i].nr; j++)
			put(&m, rows[i].words[j]);
		CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), 0);
		CHECK_EQ(tacho_kpage_next(&p, &ev), 1);
		if (!CHECK_EQ(tacho_kpage_next(&p, &ev), -EBADMSG))
			printf("# row %zu\n", i);
		CHECK_EQ(tacho_kpage_next(&p, &ev), -EBADMSG);
	}
	begin(&m, 0);
	tacho_put_u64(m.bytes + 8, PAGE - 15);
	CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), -EBADMSG);
	tacho_put_u64(m.bytes + 8, 6);
	CHECK_EQ(tacho_kpage_open(&p, &layout, m.bytes, PAGE), 0);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Runs to the end of exactly len bytes; the sanitizers see any byte beyond. */
static unsigned int walk(const unsigned char *bytes, size_t len)
{
	unsigned char *copy = malloc(len ? len : 1);
	const unsigned char *before;
	struct tacho_kevent ev;
	struct tacho_kpage p;
	unsigned int n = 0;

	memcpy(copy, bytes, len);
	if (!tacho_kpage_open(&p, &layout, copy, len)) {
		before = p.pos;
		while (tacho_kpage_next(&p, &ev) == 1) {
			if (ev.raw < copy + 16 || ev.len % 4 ||
			    ev.len > (size_t)(copy + len - ev.raw) ||
			    p.pos <= before)
				test_check(0, __FILE__, __LINE__, "out of bounds");
			before = p.pos;
			n++;
		}
	}
	free(copy);
	return n;
}

static void test_hostile(void)
{
	unsigned int sum = 0, i, j;
	struct maker m, bad;
	uint32_t len;

	all_kinds(&m);
	CHECK_EQ(walk(m.bytes, PAGE), 6);
	for (len = 0; len < 16 + m.len + 16; len++)
		CHECK_EQ(walk(m.bytes, len), len < 16 + m.len ? 0 : 6);
	/* Truncated, and the header says so. */
	for (len = 0; len < m.len; len++) {
		bad = m;
		tacho_put_u64(bad.bytes + 8, len);
		CHECK(walk(bad.bytes, 16 + len) <= 6);
	}
	for (i = 0; i < (16 + m.len) * 8; i++) {
		bad = m;
		bad.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
		sum += walk(bad.bytes, 16 + m.len);
	}
	CHECK(sum > 0);
	for (i = 0; i < 20000; i++) {
		bad = m;
		for (j = 0; j < 1 + i % 8; j++)
			bad.bytes[rnd() % (16 + m.len)] = (unsigned char)rnd();
		sum += walk(bad.bytes, i % 2 ? PAGE : 16 + m.len);
	}
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < PAGE; j += 8)
			tacho_put_u64(bad.bytes + j, rnd());
		tacho_put_u64(bad.bytes + 8, PAGE - 16);
		sum += walk(bad.bytes, PAGE);
	}
	CHECK(sum > 1000);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	CHECK_EQ(tacho_kpage_layout_parse(&layout, header_page,
					  sizeof(header_page) - 1, NULL), 0);
	TEST(test_layout());
	TEST(test_kinds());
	TEST(test_lost());
	TEST(test_part());
	TEST(test_bad());
	TEST(test_hostile());
	return test_done();
}
