// SPDX-License-Identifier: MIT
/*
 * Masksets that are switched while programs record: each event is judged by one of them, whole;
 * overruns and shifts out of hooks; programs that are killed in handlers.
 */
#include <pthread.h>

#include "lkst/prog.h"
#include "lkst/types.h"

#define SWITCHES	300

/* ---- one maskset for each event ---- */

/* Two handlers that count: what is not recorded has come to exactly one of them. */
static uint64_t came[2], hits;
static uint32_t step;

static void first(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)rec, (void)etype, (void)a, (void)b, (void)c, (void)d;
	(void)tacho_add_relaxed(&came[0], 1);
}

static void second(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)rec, (void)etype, (void)a, (void)b, (void)c, (void)d;
	(void)tacho_add_relaxed(&came[1], 1);
}

/* 40 hits for each switch, while it is going on: not so many that a buffer overruns. */
static void *hit_on(void *arg)
{
	cpu_set_t set;
	uint64_t n = 0;

	CPU_ZERO(&set);
	CPU_SET((size_t)(uintptr_t)arg, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
	while (n < 40 * SWITCHES) {
		if (n < 40 * (uint64_t)tacho_load_relaxed(&step)) {
			LKST_HOOK(TEST_ONE, 1, 2, 3, 4);
			n++;
		} else {
			(void)sched_yield();
		}
	}
	(void)tacho_add_relaxed(&hits, n);
	return NULL;
}

static void count(const struct lkst_record *r, void *arg)
{
	*(uint64_t *)arg += r->etype == 0x100;
}

static uint64_t recorded(void)
{
	uint64_t n = 0;

	each_record(count, &n);
	return n;
}

static void test_switch(void)
{
	int handler[3] = { LKST_EVHANDLER_ID_LOG }, id[3];
	pthread_t t[2];

	tool_open();
	handler[1] = lkst_evhandler_register(0, "first", first, NULL);
	handler[2] = lkst_evhandler_register(0, "second", second, NULL);
	for (int i = 0; i < 3; i++) {
		const struct prog_entry e = { 0x100, handler[i] };
		char name[16];

		snprintf(name, sizeof(name), "set%d", i);
		id[i] = maskset(name, &e, 1);
	}
	CHECK_EQ(tacho_lkst_maskset_set(&tool, (uint32_t)id[0]), 0);
	for (uintptr_t i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, hit_on, (void *)i), 0);
	for (int i = 0; i < SWITCHES; i++) {
		(void)tacho_add_relaxed(&step, 1);
		/* replaced, too: written anew while it is selected */
		if (i % 10 == 9) {
			const struct prog_entry e = { 0x100, handler[i / 10 % 3] };

			(void)maskset("set0", &e, 1);
		} else {
			CHECK_EQ(tacho_lkst_maskset_set(&tool, (uint32_t)id[i % 3]), 0);
		}
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("# %llu hits: %llu recorded, %llu and %llu by handlers\n",
	       (unsigned long long)hits, (unsigned long long)recorded(),
	       (unsigned long long)came[0], (unsigned long long)came[1]);
	CHECK_EQ(recorded() + came[0] + came[1], hits);
	CHECK(recorded() && came[0] && came[1]);
	tool_destroy();
}

/* ---- overrun ---- */

static uint32_t lane_of(void)
{
	const struct tacho_ring *r = &tool.session.view.ring;
	int cpu = sched_getcpu();
	uint64_t c = tacho_load_relaxed(&tacho_ring_lane(r, (uint32_t)cpu)->cursor);

	/* in a build without restartable sequences: the thread's plain lane */
	if (c && c != tacho_cursor_make(0, 0, 0, TACHO_PACKET_WORDS))
		return (uint32_t)cpu;
	return r->nr_cpus + (uint32_t)gettid() % r->nr_fallback;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

static uint64_t overflow_at[64], overflows;

static void on_overflow(void *rec, int etype, lkst_arg_t cpu, lkst_arg_t id, lkst_arg_t next,
			lkst_arg_t n)
{
	(void)rec, (void)etype, (void)cpu, (void)id, (void)next;
	if (overflows < 64)
		overflow_at[overflows] = n;
	overflows++;
}

#define SIZE	65536u
#define ROOM	(SIZE / LKST_SIZEOF_LKST_EVENT_RECORD)	/* 910 */

/* One buffer: each lap raises one overrun, at the record that fills it. */
static void test_overrun(void)
{
	struct prog_entry e[2] = { { 0x100, LKST_EVHANDLER_ID_LOG },
				   { LKST_ETYPE_LKST_BUFF_OVFLOW, 0 } };
	uint32_t lane;

	tool_open_sized(SIZE);
	e[1].handler = lkst_evhandler_register(0, "overflow", on_overflow, NULL);
	record("overrun", e, 2);
	LKST_HOOK(TEST_ONE, 0, 0, 0, 0);
	lane = lane_of();
	/* what the kernel's events of the beginning have left there is not known */
	overflows = 0;
	for (uint64_t i = 0; !overflows && i < 2 * ROOM; i++)
		LKST_HOOK(TEST_ONE, i, 0, 0, 0);
	CHECK_EQ(overflows, 1);
	for (int lap = 2; lap < 6; lap++) {
		for (uint64_t i = 0; i < ROOM - 1; i++)
			LKST_HOOK(TEST_ONE, i, 0, 0, 0);
		CHECK_EQ(overflows, lap - 1);
		LKST_HOOK(TEST_ONE, 0, 0, 0, 0);
		CHECK_EQ(overflows, lap);
		CHECK_EQ(overflow_at[lap - 1], ROOM);
	}
	CHECK_EQ(tool.state->cpu[lane].overruns >= 5, 1);
	CHECK_EQ(lkst_evhandler_unregister(e[1].handler), 0);
	tool_destroy();
}

static uint64_t expect, gaps;

static void follows(const struct lkst_record *r, void *arg)
{
	(void)arg;
	if (r->etype != 0x100)
		return;
	gaps += r->arg[0] != expect;
	expect = r->arg[0] + 1;
}

static int create(int cpu, lkst_buffer_id id, lkst_buffer_id next)
{
	struct lkst_buffer_param p = { .id = id, .next = next, .cpu = cpu, .size = SIZE };

	return tacho_lkst_buffer_create(&tool, &p);
}

/* A chain of buffers: the hook that fills one goes on in the next, and nothing is lost. */
static void test_shift(void)
{
	const struct prog_entry e[] = {
		{ 0x100, LKST_EVHANDLER_ID_LOG },
		{ LKST_ETYPE_LKST_BUFF_OVFLOW, LKST_EVHANDLER_ID_BUFFER_SHIFT },
	};
	int32_t cpu;

	tool_open_sized(SIZE);
	record("shift", e, 2);
	LKST_HOOK(TEST_ONE, 0, 0, 0, 0);
	cpu = (int32_t)lane_of();
	CHECK_EQ(create(cpu, 1, 2), 0);
	CHECK_EQ(create(cpu, 2, 3), 0);
	CHECK_EQ(create(cpu, 3, LKST_BUFFER_ID_VOID), 0);
	CHECK_EQ(tacho_lkst_buffer_jump(&tool, &(struct lkst_buffer_jumpparam){ cpu, 1 }), 0);
	for (uint64_t i = 0; i < 3 * ROOM - 50; i++)
		LKST_HOOK(TEST_ONE, i, 0, 0, 0);
	for (lkst_buffer_id id = 1; id <= 3; id++) {
		static struct lkst_record r[2 * ROOM];
		size_t n;

		CHECK_EQ(tacho_lkst_records(&tool, cpu, id, &(struct lkst_span){ 0 }, r, 2 * ROOM, &n), 0);
		/* full, and the event of the overrun, for which there is an entry kept */
		if (!CHECK(id < 3 ? n == ROOM + 1 : n && n <= ROOM))
			printf("# buffer %d: %zu\n", id, n);
		for (size_t i = 0; i < n; i++)
			follows(&r[i], NULL);
	}
	CHECK_EQ(gaps, 0);
	CHECK_EQ(expect, 3 * ROOM - 50);
	tool_destroy();
}

/* The event's own handler shifts. */
static void test_shift_handler(void)
{
	const struct prog_entry e[] = { { 0x100, LKST_EVHANDLER_ID_BUFFER_SHIFT_DW },
					{ 0x101, LKST_EVHANDLER_ID_BUFFER_SHIFT } };
	struct lkst_record r[8];
	uint32_t wake;
	size_t n;
	int cpu;

	tool_open_sized(SIZE);
	record("shifting", e, 2);
	LKST_HOOK(TEST_ONE, 0, 0, 0, 0);
	cpu = (int)lane_of();
	CHECK_EQ(create(cpu, 1, 2), 0);
	CHECK_EQ(create(cpu, 2, 3), 0);
	CHECK_EQ(create(cpu, 3, LKST_BUFFER_ID_VOID), 0);
	CHECK_EQ(tacho_lkst_buffer_jump(&tool, &(struct lkst_buffer_jumpparam){ cpu, 1 }), 0);
	wake = tacho_load_relaxed(&tool.state->wake);
	LKST_HOOK(TEST_TWO, 1, 0, 0, 0);
	CHECK_EQ(tacho_load_relaxed(&tool.state->wake), wake);
	LKST_HOOK(TEST_ONE, 2, 0, 0, 0);
	CHECK_EQ(tacho_load_relaxed(&tool.state->wake), wake + 1);
	CHECK_EQ(tacho_lkst_records(&tool, cpu, 1, &(struct lkst_span){ 0 }, r, 8, &n), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(r[0].arg[0], 1);
	CHECK_EQ(tacho_lkst_records(&tool, cpu, 2, &(struct lkst_span){ 0 }, r, 8, &n), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(r[0].arg[0], 2);
	tool_destroy();
}

/* ---- kills ---- */

static void record_some(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c,
			lkst_arg_t d)
{
	if (a % 3)
		lkst_evhandlerprim_entry_log(rec, etype, a, b, c, d);
	if (a % 64 == 0)
		(void)lkst_buffer_shift();
}

static uint64_t torn;

static void check_whole(const struct lkst_record *r, void *arg)
{
	(void)arg;
	if (r->etype == 0x100)
		torn += r->arg[1] != r->arg[0] + 1 || r->arg[2] != r->arg[0] + 2 ||
			r->arg[3] != r->arg[0] + 3;
}

/* Programs are killed anywhere in hooks, handlers and calls; the others, and LKST, go on. */
static void test_kills(void)
{
	struct prog_entry e = { 0x100, 0 };
	struct timespec some = { 0, 0 };

	tool_open_sized(SIZE);
	for (int32_t cpu = 0; cpu < 2; cpu++)
		if (!create(cpu, 1, 0))
			(void)tacho_lkst_buffer_link(&tool,
				&(struct lkst_buffer_linkparam){ cpu, 0, 1 });
	e.handler = lkst_evhandler_register(0, "some", record_some, NULL);
	record("kills", &e, 1);
	for (int i = 0; i < 40; i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			for (uint64_t n = 0;; n++)
				LKST_HOOK(TEST_ONE, n, n + 1, n + 2, n + 3);
		some.tv_nsec = 1000000 + i * 217001 % 5000000;
		nanosleep(&some, NULL);
		CHECK_EQ(kill(pid, SIGKILL), 0);
		CHECK_EQ(waitpid(pid, NULL, 0), pid);
		if (i % 8 == 0) {
			CHECK_EQ(tacho_lkst_stop(&tool), 0);
			CHECK_EQ(tacho_lkst_start(&tool), 0);
		}
	}
	each_record(check_whole, NULL);
	CHECK_EQ(torn, 0);
	for (uint64_t n = 1; n < 6; n++)
		LKST_HOOK(TEST_ONE, n, n + 1, n + 2, n + 3);
	CHECK(recorded() >= 4);
	tool_destroy();
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_switch());
	pin();
	TEST(test_overrun());
	TEST(test_shift());
	TEST(test_shift_handler());
	TEST(test_kills());
	tool_open();
	return prog_done();
}
