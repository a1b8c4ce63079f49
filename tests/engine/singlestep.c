// SPDX-License-Identifier: MIT
/*
 * singlestep - SIGKILL at every instruction of one hit of a map.
 *
 * A child counts one hit under ptrace and is killed after k single steps, for k = 1,
 * 2, ..., and at each instruction inside sequences (unit/singlestep.h).  After each kill
 * the hitcount has the hit or has not, likewise the sum, which comes behind it; no
 * other counter has changed, and the next one counts on.
 */
#include <sched.h>
#include <sys/mman.h>

#include "engine/map.h"
#include "unit/test.h"

#ifndef __x86_64__
int main(void)
{
	SKIP("single-stepping is known for x86-64 only");
}
#else

#include "unit/singlestep.h"

#define KEY	5u
#define OTHER	6u
#define VALUE	1000u

static struct tacho_map map;
static size_t size;
static void *mem;

/* What the children left: nothing, a hit without its sum, all of it. */
static uint64_t nothing, half, whole;

struct scene {
	const char *name;
	uint32_t cpus;
	uint64_t before;	/* hits of the key; 0: the child's makes it */
	bool shared;		/* the CPU's number is not one with a copy */
};

static const struct scene scenes[] = {
	{ "copy of the CPU", 1, 3, false },
	{ "copy of the CPU, new key", 1, 0, false },
	{ "shared words", 0, 3, true },
	{ "shared words, new key", 0, 0, true },
};

static TACHO_NOINLINE void put(uint64_t key)
{
	struct tacho_map_counters c = tacho_map_insert_at_u64(&map, key);

	if (!c.shared)
		return;
	tacho_map_add(&c, 0, 1);
	tacho_map_add(&c, 1, VALUE);
}

static void make_scene(const struct scene *s)
{
	struct tacho_map_geometry g = { 16, 8, 1, 0, 0, s->cpus };

	size = tacho_map_bytes(&g);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		abort();
	tacho_map_init(mem, &g);
	CHECK_EQ(tacho_map_view(&map, mem, size, &g), 0);
	put(OTHER);
	for (uint64_t i = 0; i < s->before; i++)
		put(KEY);
}

static TACHO_NOINLINE void hit(void)
{
	put(KEY);
}

static void read_key(uint64_t key, uint64_t *hits, uint64_t *sum)
{
	struct tacho_map_elt *e = tacho_map_find(&map, &key);

	*hits = e ? tacho_map_hitcount(&map, e) : 0;
	*sum = e ? tacho_map_sum(&map, e, 0) : 0;
}

/* The map after a kill, and after one hit more. */
static void check_map(const struct scene *s, const char *where)
{
	uint64_t hits, sum, again, more, other, others;
	bool good;

	read_key(KEY, &hits, &sum);
	hits -= s->before;
	sum -= s->before * VALUE;
	nothing += !hits;
	half += hits && !sum;
	whole += hits && sum;
	good = hits <= 1 && (sum == 0 || sum == VALUE) && (hits || !sum) &&
	       (!singlestep_marks->ended || sum);
	put(KEY);
	read_key(KEY, &again, &more);
	read_key(OTHER, &other, &others);
	good = good && again == s->before + hits + 1 &&
	       more == (s->before + 1) * VALUE + sum && other == 1 &&
	       others == VALUE && !map.head->drops;
	if (!CHECK(good))
		printf("# %s, %s: %ju hits, sum %ju, then %ju, %ju\n", s->name,
		       where, (uintmax_t)hits, (uintmax_t)sum, (uintmax_t)again,
		       (uintmax_t)more);
	munmap(mem, size);
}

/* Kills after `steps` steps inside the call; false when it ended before. */
static bool kill_after(const struct scene *s, uint64_t steps)
{
	char where[32];
	bool on;

	make_scene(s);
	on = singlestep_kill_after(hit, steps);
	(void)snprintf(where, sizeof(where), "step %ju", (uintmax_t)steps);
	check_map(s, where);
	return on;
}

/* Kills at an address inside a sequence; whether it was reached. */
static bool kill_at(const struct scene *s, uint64_t address)
{
	char where[32];
	bool reached;

	make_scene(s);
	reached = singlestep_kill_at(hit, address);
	(void)snprintf(where, sizeof(where), "address %#jx", (uintmax_t)address);
	check_map(s, where);
	return reached;
}

static bool have_breakpoints(void)
{
	bool have;

	make_scene(&scenes[0]);
	have = singlestep_has_breakpoints(hit);
	munmap(mem, size);
	return have;
}

static void test_scene(const struct scene *s)
{
	uint64_t k = 1, reached = 0;

	nothing = half = whole = 0;
	while (kill_after(s, k))
		k++;
	CHECK(k > 10);
	CHECK(nothing && half && whole);
	nothing = half = whole = 0;
	for (const struct sequence *q = SEQUENCES; !s->shared && q < SEQUENCES_END; q++)
		for (uint64_t at = 0; at <= q->length; at++)
			reached += kill_at(s, q->start + at);
	printf("# %s: killed after each of %ju steps, at %ju places in sequences\n",
	       s->name, (uintmax_t)k, (uintmax_t)reached);
	/* each of two sequences is three instructions; and the one behind */
	if (!s->shared)
		CHECK(reached >= 8 && nothing && half && whole);
}

static bool has_copies(void)
{
#ifdef TACHO_HAVE_RSEQ
	return tacho_rseq_cpu(tacho_rseq_area()) == 0;
#else
	return false;
#endif
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	bool breaks;

	test_args(argc, argv);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (!singlestep_init())
		return 1;
	if (sched_setaffinity(0, sizeof(set), &set))
		SKIP("CPU 0 is not to be had");
	breaks = have_breakpoints();
	if (!breaks)
		printf("# no hardware breakpoints: sequences are not killed inside\n");
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scenes); i++)
		if (scenes[i].shared || (has_copies() && breaks))
			TEST_NAMED(scenes[i].name, test_scene(&scenes[i]));
	return test_done();
}
#endif
