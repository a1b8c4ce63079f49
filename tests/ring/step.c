// SPDX-License-Identifier: MIT
/*
 * Killed exactly there: at every injection point, at its first, second, ...
 * arrival, a process dies, or a signal handler writes, or another writer runs
 * first.  Afterwards everything that was committed is read back, nothing
 * is torn, the numbers agree, and the next writer goes on.
 *
 * Needs the injection points (-Dinject=true).
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#ifndef TACHO_INJECT_POINTS
int main(void)
{
	SKIP("built without injection points");
}
#else

#define RECORDS		60u	/* of one writer: several sub-buffers */
#define SLOTS		8

static const char *const points[] = {
	"ring_before_commit", "ring_committed", "ring_before_fallback_commit",
	"ring_before_advance", "ring_advanced", "ring_fallback_locked",
	"ring_buffer_allocated",
};

/* What a writer says of itself, in shared memory: it may be killed. */
struct tale {
	uint64_t tried, ok;	/* calls that returned; that returned 0 */
	uint64_t arrivals;	/* at the point */
};

static struct tale *tale;	/* [SLOTS], shared */
static struct fixture fix;
static const char *at_point;
static uint64_t at_arrival;
static bool inside;

static void put(uint64_t slot)
{
	uint64_t raw[16];
	uint64_t n = tale[slot].tried;
	uint64_t words = ledger_words(n + slot, 10);

	ledger_make(raw, words, slot, n);
	if (!tacho_ring_write(&fix.ring, raw, words))
		tale[slot].ok++;
	tale[slot].tried++;
}

static bool arrived(const char *point)
{
	return !strcmp(point, at_point) && ++tale[0].arrivals == at_arrival;
}

static void hook_kill(const char *point)
{
	if (arrived(point))
		(void)raise(SIGKILL);
}

/* A handler comes here, and it writes; at the points in its own way too. */
static void hook_nest(const char *point)
{
	if (inside || !arrived(point))
		return;
	inside = true;
	for (int i = 0; i < 5; i++)
		put(1);
	inside = false;
}

/* Reads all lanes; the books of all of them summed up. */
static struct ledger_lane read_back(bool consume)
{
	struct ledger_lane all = { 0 };

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&fix.ring); lane++) {
		struct ledger_lane one = { 0 };
		struct tacho_ring_reader rd;
		struct tacho_chunk c;

		if (tacho_ring_reader_init(&rd, &fix.ring, lane, 0, consume, 0))
			continue;
		while (tacho_ring_read(&rd, &c) == 1)
			ledger_chunk(&one, &c, NULL, NULL);
		all.read += one.read;
		all.overwritten += one.overwritten;
		all.torn += one.torn + rd.damaged;
		all.disorder += one.disorder;
		tacho_ring_reader_release(&rd);
	}
	return all;
}

/* After whatever happened: the books, and a writer who goes on. */
static void check_state(const char *what, uint64_t killed)
{
	struct ledger_lane all;
	uint64_t tried = 0, ok = 0, lost = fixture_lost(&fix), before;
	struct tacho_diag d = { .err = 0 };
	bool good;

	(void)tacho_ring_check(&fix.ring, &d);
	all = read_back(false);
	for (int i = 0; i < SLOTS; i++) {
		tried += tale[i].tried;
		ok += tale[i].ok;
	}
	good = !d.err && !all.torn && !all.disorder &&
	       all.read + all.overwritten == fixture_written(&fix) &&
	       all.read + all.overwritten >= ok &&
	       all.read + all.overwritten <= ok + killed &&
	       all.read + all.overwritten + lost >= tried &&
	       all.read + all.overwritten + lost <= tried + killed;
	before = all.read + all.overwritten;
	tacho_inject_hook = NULL;
	for (int i = 0; i < 8; i++)
		put(7);
	all = read_back(false);
	good = good && !tacho_ring_check(&fix.ring, &d) && tale[7].ok == 8 && !all.torn && !all.disorder &&
	       all.read + all.overwritten == before + 8;
	if (!CHECK(good))
		printf("# %s, point %s, arrival %ju: read %ju over %ju lost %ju "
		       "tried %ju ok %ju torn %ju disorder %ju, after %ju %s\n", what,
		       at_point, (uintmax_t)at_arrival, (uintmax_t)all.read,
		       (uintmax_t)all.overwritten, (uintmax_t)lost,
		       (uintmax_t)tried, (uintmax_t)ok, (uintmax_t)all.torn,
		       (uintmax_t)all.disorder, (uintmax_t)tale[7].ok, d.text);
}

/*
 * One run: a child with the hook writes; does what the hook says at that arrival.
 * False when the point was not reached so often.
 */
static bool run_once(uint32_t flags, bool fallback, void (*hook)(const char *))
{
	int status = 0;
	bool killed;
	pid_t child;

	memset(tale, 0, SLOTS * sizeof(*tale));
	/* room for all: what was lost would hide what was read */
	fixture_make_cpus(&fix, TACHO_SUB_SHIFT_MIN, flags ? 4 : 64, flags,
			  fallback ? 0 : tacho_cpu_possible());
	child = fork();
	if (!child) {
		tacho_inject_hook = hook;
		while (tale[0].tried < RECORDS)
			put(0);
		_exit(0);
	}
	waitpid(child, &status, 0);
	killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (!killed)
		CHECK_EQ(status, 0);
	check_state(hook == hook_kill ? "killed" : "nested", killed);
	fixture_drop(&fix);
	return tale[0].arrivals >= at_arrival;
}

static void test_points(uint32_t flags, bool fallback, void (*hook)(const char *))
{
	uint64_t reached = 0;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(points); i++) {
		at_point = points[i];
		for (at_arrival = 1; at_arrival <= RECORDS + 10; at_arrival++) {
			if (!run_once(flags, fallback, hook))
				break;
			reached++;
		}
	}
	/* each kind of lane has at least its commit, and its sub-buffer changes */
	CHECK(reached > RECORDS);
}

/* ---- two and three writers in every order ---- */

/*
 * Writers are processes; at each point a writer waits for its turn.  A schedule is a
 * number whose digits say who goes next, so that it can be named and repeated.
 */
struct turns {
	uint32_t who;		/* whose turn it is; UINT32_MAX: the conductor's */
	uint32_t finished;	/* bits */
	uint32_t free_run;	/* the schedule is over */
};

static struct turns *turns;
static uint32_t me;

static void wait_turn(void)
{
	while (tacho_load_acquire(&turns->who) != me &&
	       !tacho_load_acquire(&turns->free_run))
		(void)sched_yield();
}

static void hook_turn(const char *point)
{
	(void)point;
	if (tacho_load_acquire(&turns->free_run))
		return;
	tacho_store_release(&turns->who, UINT32_MAX);
	wait_turn();
}

static void turn_writer(uint32_t nr)
{
	me = nr;
	tacho_inject_hook = hook_turn;
	wait_turn();
	while (tale[nr].tried < 3)
		put(nr);
	tacho_or_seq_cst(&turns->finished, 1u << nr);
	tacho_store_release(&turns->who, UINT32_MAX);
	_exit(0);
}

static void run_schedule(uint32_t writers, uint32_t steps, uint64_t schedule,
			 bool fallback)
{
	pid_t child[3];
	int status;

	memset(tale, 0, SLOTS * sizeof(*tale));
	memset(turns, 0, sizeof(*turns));
	turns->who = UINT32_MAX;
	/* records of 4 to 11 words: each writer changes the sub-buffer */
	fixture_make_cpus(&fix, TACHO_SUB_SHIFT_MIN, 64, 0,
			  fallback ? 0 : tacho_cpu_possible());
	for (uint32_t i = 0; i < writers; i++) {
		child[i] = fork();
		if (!child[i])
			turn_writer(i);
	}
	for (; steps; steps--, schedule /= writers) {
		uint32_t next = (uint32_t)(schedule % writers);

		if (turns->finished >> next & 1)
			continue;
		tacho_store_release(&turns->who, next);
		while (tacho_load_acquire(&turns->who) == next)
			(void)sched_yield();
	}
	tacho_store_release(&turns->free_run, 1);
	for (uint32_t i = 0; i < writers; i++) {
		waitpid(child[i], &status, 0);
		CHECK_EQ(status, 0);
	}
	at_point = "schedule";
	at_arrival = schedule;
	check_state("interleaved", 0);
	fixture_drop(&fix);
}

static void test_schedules(uint32_t writers, uint32_t steps, bool fallback)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < steps; i++)
		n *= writers;
	for (uint64_t s = 0; s < n; s++)
		run_schedule(writers, steps, s, fallback);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tale = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	turns = (struct turns *)(void *)((char *)tale + 2048);
	/* one CPU: writers take turns on one lane */
	if (tale == MAP_FAILED || fixture_pin(0))
		return 1;
	for (int fallback = !fixture_has_rseq(); fallback < 2; fallback++) {
		TEST_NAMED(fallback ? "points(0, true, hook_kill)" : "points(0, false, hook_kill)",
			   test_points(0, fallback, hook_kill));
		TEST_NAMED(fallback ? "points(TACHO_SESSION_OVERWRITE, true, hook_kill)" : "points(TACHO_SESSION_OVERWRITE, false, hook_kill)",
			   test_points(TACHO_SESSION_OVERWRITE, fallback, hook_kill));
		TEST_NAMED(fallback ? "points(0, true, hook_nest)" : "points(0, false, hook_nest)",
			   test_points(0, fallback, hook_nest));
		TEST_NAMED(fallback ? "points(TACHO_SESSION_OVERWRITE, true, hook_nest)" : "points(TACHO_SESSION_OVERWRITE, false, hook_nest)",
			   test_points(TACHO_SESSION_OVERWRITE, fallback, hook_nest));
		TEST_NAMED(fallback ? "schedules(2, 8, true)" : "schedules(2, 8, false)",
			   test_schedules(2, 8, fallback));
		TEST_NAMED(fallback ? "schedules(3, 5, true)" : "schedules(3, 5, false)",
			   test_schedules(3, 5, fallback));
	}
	return test_done();
}
#endif
