// SPDX-License-Identifier: MIT
/*
 * The writer's pages of a trace.dat, read by the decoder of the kernel's: every
 * length, every distance of time, loss, pages of every size; and a guest's times.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/tracedat/layout.h"
#include "fmt/tracedat/shift.h"
#include "fmt/tracedat/spool.h"
#include "kdata/pages.h"
#include "../unit/test.h"

#define CPUS	3u
#define EVENTS	3000u

struct event {
	uint64_t time, lost;
	uint32_t len, seed;
};

static struct event want[CPUS][EVENTS];
static uint32_t nr_want[CPUS];
static uint64_t lost_at_end[CPUS];

/* What comes back. */
struct check {
	struct tacho_dat_spool *spool;
	const struct event *want;
	uint32_t nr, at, pages;
	uint64_t lost;		/* told, and its event not seen yet */
};

static uint32_t rnd(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

static unsigned char byte(uint32_t seed, uint32_t i)
{
	return (unsigned char)(seed + i * 7);
}

/* The limits of a delta's 27 and of a time extend's 59 bits, and time that goes back. */
static uint64_t next_time(uint64_t time)
{
	static const uint64_t delta[] = { 0, 1, 1000, (1u << 27) - 1, 1u << 27,
		(UINT64_C(1) << 59) - 1, UINT64_C(1) << 59, (uint64_t)-5 };
	uint32_t r = rnd() % 64;

	return time + (r < 8 ? delta[r] : rnd() % 5000);
}

static uint32_t next_len(uint32_t max)
{
	static const uint32_t limit[] = { 4, 8, 108, 112, 116, 120 };
	uint32_t r = rnd() % 16;

	if (r < 6)
		return limit[r];
	return (r < 15 ? 8 + rnd() % 100 : 8 + rnd() % (max - 8)) & ~3u;
}

static void fill(struct tacho_dat_spool *s, uint32_t max)
{
	uint64_t time[CPUS] = { 0, 1u << 20, UINT64_C(1) << 40 };

	memset(nr_want, 0, sizeof(nr_want));
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t cpu = rnd() % CPUS;
		struct tacho_dat_lane *l = tacho_dat_spool_lane(s, cpu);
		struct event *e = &want[cpu][nr_want[cpu]++];
		unsigned char *to;
		int err = 0;

		*e = (struct event){ .time = time[cpu] = next_time(time[cpu]),
				     .lost = rnd() % 50 ? 0 : 1 + rnd() % 9,
				     .len = i ? next_len(max) : max, .seed = rnd() };
		l->lost_next += e->lost;
		to = tacho_dat_spool_add(s, l, e->time, e->len, &err);
		if (!CHECK(to))
			exit(1);
		for (uint32_t k = 0; k < e->len; k++)
			to[k] = byte(e->seed, k);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		lost_at_end[cpu] = cpu * 11;
		tacho_dat_spool_lane(s, cpu)->lost_next += lost_at_end[cpu];
	}
}

static void check_event(struct check *c, const struct tacho_kevent *k)
{
	const struct event *e = &c->want[c->at];
	uint32_t bad = 0;

	if (!CHECK(c->at < c->nr))
		return;
	c->at++;
	CHECK_EQ(k->time, e->time);
	CHECK_EQ(k->len, e->len);
	CHECK_EQ(c->lost, e->lost);
	c->lost = 0;
	for (uint32_t i = 0; i < k->len && i < e->len; i++)
		bad += k->raw[i] != byte(e->seed, i);
	CHECK_EQ(bad, 0);
}

static int look(void *arg, const void *pages, size_t len)
{
	static const struct tacho_kpage_layout layout = {
		.time_off = 0, .commit_off = 8, .commit_size = 8, .data_off = 16,
	};
	struct check *c = arg;
	size_t size = c->spool->page_size;

	CHECK_EQ(len % size, 0);
	for (size_t at = 0; at < len; at += size) {
		struct tacho_kpage p;
		struct tacho_kevent k;

		if (!CHECK(!tacho_kpage_open(&p, &layout, (const char *)pages + at,
					     size)))
			return -EBADMSG;
		c->pages++;
		CHECK(p.lost >= 0);
		c->lost += (uint64_t)p.lost;
		while (tacho_kpage_next(&p, &k) == 1)
			check_event(c, &k);
		CHECK(p.pos == p.end);
	}
	return 0;
}

static void test_pages(uint32_t max, size_t page)
{
	struct tacho_dat_spool s;

	if (!CHECK(!tacho_dat_spool_open(&s, "nowhere")))
		return;
	fill(&s, max);
	CHECK(!tacho_dat_spool_finish(&s));
	CHECK_EQ(s.page_size, page);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct check c = { .spool = &s, .want = want[cpu],
				   .nr = nr_want[cpu] };

		CHECK(!tacho_dat_spool_read(&s, tacho_dat_spool_lane(&s, cpu),
					    look, &c));
		CHECK_EQ(c.at, c.nr);
		CHECK_EQ(c.lost, lost_at_end[cpu]);
	}
	tacho_dat_spool_release(&s);
}

/* A full page holds as much as the kernel puts in one. */
static void test_room(void)
{
	_Alignas(8) unsigned char bytes[4096];
	struct tacho_dat_page p;
	uint32_t n = 0;

	tacho_dat_page_begin(&p, bytes, sizeof(bytes), 8, 5, 0);
	while (tacho_dat_page_add(&p, 5, 24))
		n++;
	CHECK_EQ(n, (4096 - 16) / 28);
	tacho_dat_page_begin(&p, bytes, sizeof(bytes), 8, 5, 0);
	CHECK(!tacho_dat_page_add(&p, 5, 4080 - 4));
	CHECK(tacho_dat_page_add(&p, 5, 4080 - 8));
	CHECK(!tacho_dat_page_add(&p, 5, 4));
	CHECK_EQ(tacho_dat_page_end(&p), 4096);
	tacho_dat_page_begin(&p, bytes, sizeof(bytes), 8, 5, 1);
	CHECK(!tacho_dat_page_add(&p, 5, 4080 - 12));
	CHECK(tacho_dat_page_add(&p, 5, 4080 - 16));
	CHECK_EQ(tacho_dat_page_end(&p), 4096);
}

/* A guest's clock: between samples, and between such as no clock ever gave. */
static void test_shift(void)
{
	struct tacho_dat_sample sample[2] = {
		{ .time = 1000, .offset = 50, .scaling = 1 },
		{ .time = 2000, .offset = 150, .scaling = 1 },
	};
	struct tacho_dat_shift_cpu cpu = { 2, sample };
	struct tacho_dat_shift s = {
		.flags = TACHO_DAT_INTERPOLATE, .nr_cpus = 1, .cpu = &cpu,
	};

	CHECK_EQ(tacho_dat_shift(&s, 0, 1500), 1600);
	CHECK_EQ(tacho_dat_shift(&s, 1, 1500), 1500);
	sample[0].time = INT64_MIN;
	sample[0].offset = INT64_MIN;
	sample[1].time = sample[1].offset = INT64_MAX;
	CHECK_EQ(tacho_dat_shift(&s, 0, (uint64_t)INT64_MIN), 0);
	/* the whole way takes more than 128 bits: it is left out */
	CHECK_EQ(tacho_dat_shift(&s, 0, INT64_MAX), (uint64_t)INT64_MAX ^ (1ull << 63));
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_shift());
	TEST(test_room());
	TEST(test_pages(400, 4096));
	TEST(test_pages(4000, 4096));
	TEST(test_pages(8000, 8192));
	TEST(test_pages(65520, 131072));
	return test_done();
}
