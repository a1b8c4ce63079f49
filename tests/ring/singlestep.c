// SPDX-License-Identifier: MIT
/*
 * singlestep - SIGKILL at every instruction of one tacho_ring_write().
 *
 *	singlestep [-STRIDE] [NAME...]	-1: every instruction; default -13
 *
 * A child writes one record under ptrace and is killed after k single steps, for
 * k = 1, 1 + stride, ..., and at each instruction inside sequences (unit/singlestep.h).
 *
 * After each kill the lane has the record whole or not at all, and the next writer
 * goes on.
 */
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#ifndef __x86_64__
int main(void)
{
	SKIP("single-stepping is known for x86-64 only");
}
#else

#include "unit/singlestep.h"

static struct fixture fix;

struct scene {
	const char *name;
	uint32_t flags;
	bool fallback;
	uint32_t before;	/* records of 8 words in the lane already */
};

static const struct scene scenes[] = {
	{ "fast path", 0, false, 3 },
	{ "sub-buffer change", 0, false, 0 },
	{ "change, overwriting", TACHO_SESSION_OVERWRITE, false, 0 },
	{ "fallback lane", 0, true, 3 },
	{ "fallback lane, change", 0, true, 0 },
	{ "fallback lane, change, overwriting", TACHO_SESSION_OVERWRITE, true, 0 },
};

static TACHO_NOINLINE int put(uint64_t slot, uint64_t n)
{
	uint64_t raw[8];

	ledger_make(raw, 8, slot, n);
	return tacho_ring_write(&fix.ring, raw, 8);
}

static uint64_t make_scene(const struct scene *s)
{
	uint64_t n = s->before;

	fixture_make_cpus(&fix, TACHO_SUB_SHIFT_MIN, s->flags ? 2 : 8, s->flags,
			  s->fallback ? 0 : tacho_cpu_possible());
	/* for a change: until nothing fits in the sub-buffer any more; in
	 * overwrite mode of the second, so that the change overwrites */
	if (!n)
		n = (fix.ring.sub_words - TACHO_PACKET_WORDS) / 9 *
		    (s->flags ? 2 : 1);
	for (uint64_t i = 0; i < n; i++)
		if (put(0, i))
			abort();
	return n;
}

/* The child's call. */
static TACHO_NOINLINE void write_one(void)
{
	(void)put(1, 0);
}

/* The lane after a kill: n records before, perhaps the victim's, and 3 more. */
static void check_lane(const struct scene *s, const char *where, uint64_t n)
{
	uint64_t read = 0, over = 0, bad = 0, written = fixture_written(&fix);
	struct tacho_diag d = { .err = 0 };
	bool good = (written == n || written == n + 1) && !tacho_ring_check(&fix.ring, &d);

	for (uint64_t i = 0; i < 3; i++)
		bad += put(2, i) != 0;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&fix.ring); lane++) {
		struct ledger_lane one = { 0 };
		struct tacho_ring_reader rd;
		struct tacho_chunk c;

		if (tacho_ring_reader_init(&rd, &fix.ring, lane, 0, false, 0))
			continue;
		while (tacho_ring_read(&rd, &c) == 1)
			ledger_chunk(&one, &c, NULL, NULL);
		read += one.read;
		over += one.overwritten;
		bad += one.torn + one.disorder + rd.damaged;
		tacho_ring_reader_release(&rd);
	}
	good = good && !bad && read + over == written + 3 && !fixture_lost(&fix);
	if (!CHECK(good))
		printf("# %s, %s: %ju before, %ju written, %ju read, %ju "
		       "overwritten, %ju bad %s\n", s->name, where, (uintmax_t)n,
		       (uintmax_t)written, (uintmax_t)read, (uintmax_t)over,
		       (uintmax_t)bad, d.text);
}

/* ---- the tests ---- */

/* Kills after `steps` steps inside the call; false when it ended before. */
static bool kill_after(const struct scene *s, uint64_t steps)
{
	uint64_t n = make_scene(s);
	bool on = singlestep_kill_after(write_one, steps);
	char where[32];

	(void)snprintf(where, sizeof(where), "step %ju", (uintmax_t)steps);
	check_lane(s, where, n);
	fixture_drop(&fix);
	return on;
}

/* Kills at an address inside a sequence; whether it was reached. */
static bool kill_at(const struct scene *s, uint64_t address)
{
	uint64_t n = make_scene(s);
	bool reached = singlestep_kill_at(write_one, address);
	char where[32];

	(void)snprintf(where, sizeof(where), "address %#jx", (uintmax_t)address);
	check_lane(s, where, n);
	fixture_drop(&fix);
	return reached;
}

static bool have_breakpoints(void)
{
	bool have;

	(void)make_scene(&scenes[0]);
	have = singlestep_has_breakpoints(write_one);
	fixture_drop(&fix);
	return have;
}

static void test_sequences(const struct scene *s, uint64_t stride)
{
	uint64_t reached = 0;

	for (const struct sequence *q = SEQUENCES; q < SEQUENCES_END; q++) {
		/* the commit is the last instruction: never skipped */
		for (uint64_t at = 0; at <= q->length; at++)
			if (at % stride == 0 || at + 12 >= q->length)
				reached += kill_at(s, q->start + at);
	}
	printf("# %s: killed at %ju places in sequences\n", s->name,
	       (uintmax_t)reached);
	CHECK(reached > 0);
}

static void test_steps(const struct scene *s, uint64_t stride)
{
	uint64_t k = 1;

	while (kill_after(s, k))
		k += stride;
	printf("# %s: killed at every %ju. of %ju steps\n", s->name,
	       (uintmax_t)stride, (uintmax_t)k);
	CHECK(k > 10);
}

static void test_scene(const struct scene *s, uint64_t stride)
{
	test_steps(s, stride);
	if (!s->fallback)
		test_sequences(s, stride > 3 ? 3 : stride);
}

int main(int argc, char **argv)
{
	bool given = argc > 1 && argv[1][0] == '-' && argv[1][1] != '-';
	uint64_t stride = given ? strtoull(argv[1] + 1, NULL, 10) : 13;
	bool breaks;

	test_args(argc - given, argv + given);
	if (!stride || !singlestep_init() || fixture_pin(0))
		return 1;
	breaks = have_breakpoints();
	if (!breaks)
		printf("# no hardware breakpoints: sequences are not killed inside\n");
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scenes); i++) {
		const struct scene *s = &scenes[i];

		if (!s->fallback && (!fixture_has_rseq() || !breaks))
			continue;
		TEST_NAMED(s->name, test_scene(s, stride));
	}
	return test_done();
}
#endif
