// SPDX-License-Identifier: MIT
/* LKST_HOOK() and event types: in one program and in several, in every context. */
#include <pthread.h>
#include <sys/time.h>

#include "lkst/prog.h"
#include "lkst/types.h"

#define N	1000

static const struct prog_entry all[] = {
	{ 0x100, LKST_EVHANDLER_ID_LOG }, { 0x101, LKST_EVHANDLER_ID_LOG },
	{ 0x102, LKST_EVHANDLER_ID_LOG }, { 0x103, LKST_EVHANDLER_ID_LOG },
	{ 0x104, LKST_EVHANDLER_ID_LOG },
};

static void hit(uint64_t n)
{
	LKST_HOOK(TEST_ONE, n, n + 1, n + 2, n + 3);
}

/* ---- what is found ---- */

struct found {
	uint64_t of[256];		/* records of etype 0x100 + i */
	uint64_t wrong;			/* members that are not as they should be */
	uint64_t of_pid;
	int32_t pid;
	uint64_t seen[8 * N];		/* of TEST_ONE: how often number i was found */
};

static void take(const struct lkst_record *r, void *arg)
{
	struct found *f = arg;

	if (r->etype < 0x100 || r->etype > 0x1ff)
		return;
	f->of[r->etype - 0x100]++;
	f->wrong += r->uid != geteuid() || r->gid != getegid() || r->pgrp != getpgrp() || r->flags;
	f->of_pid += r->pid == f->pid;
	if (r->etype == 0x100 && r->arg[0] < 8 * N) {
		f->seen[r->arg[0]]++;
		if (r->arg[1] == r->arg[0] + 1)
			f->wrong += r->arg[2] != r->arg[0] + 2 || r->arg[3] != r->arg[0] + 3;
	}
}

static struct found *look(void)
{
	static struct found f;

	memset(&f, 0, sizeof(f));
	f.pid = getpid();
	each_record(take, &f);
	CHECK_EQ(f.wrong, 0);
	return &f;
}

/* A session of its own for each part. */
static void begin(void)
{
	tool_open();
	record("test", all, 5);
}

/* ---- registering ---- */

static int try_register(int etype, const char *mnemonic, const char *name)
{
	struct hook h = { lkst_hook_off, NULL };
	struct lkst_etype_info e = { etype, &h, { 0 }, mnemonic, name, { "a", "b", "c", "d" } };
	int got = lkst_hook_etype_register(&e);

	if (got >= 0) {
		CHECK(h.state != lkst_hook_off);
		CHECK_EQ(lkst_hook_etype_register(&e), -EBUSY);	/* it is already */
		lkst_hook_etype_unregister(&e);
		CHECK(!h.state[0]);
		lkst_hook_etype_unregister(&e);
	}
	return got;
}

static void test_register_errors(void)
{
	static const char too_long[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	struct lkst_etype_info e = { 0x110, NULL, { 0 }, "NO_HOOK", NULL, { NULL } };

	errno = EDOM;
	CHECK_EQ(lkst_hook_etype_register(NULL), -EINVAL);
	CHECK_EQ(try_register(0x0ff, "A", "a"), -EINVAL);
	CHECK_EQ(try_register(0x200, "A", "a"), -EINVAL);
	CHECK_EQ(try_register(0xf00, "A", "a"), -EINVAL);
	CHECK_EQ(try_register(-1, "A", "a"), -EINVAL);
	CHECK_EQ(try_register(0x110, NULL, "a"), -EINVAL);
	CHECK_EQ(try_register(0x110, "", "a"), -EINVAL);
	CHECK_EQ(try_register(0x110, "1ST", "a"), -EINVAL);
	CHECK_EQ(try_register(0x110, "A B", "a"), -EINVAL);
	CHECK_EQ(try_register(0x110, "a234567890123456789012345678901_", "a"), -EINVAL);
	CHECK_EQ(try_register(0x110, "A", too_long), -EINVAL);
	CHECK_EQ(try_register(0x110, "a23456789012345678901234567890_", too_long + 1), 0x110);
	e.args[3] = too_long;
	CHECK_EQ(lkst_hook_etype_register(&e), -EINVAL);
	e.args[3] = too_long + sizeof(too_long) - LKST_ETYPE_ARG_LEN;
	CHECK_EQ(lkst_hook_etype_register(&e), 0x110);		/* no hook, few texts */
	CHECK_EQ(try_register(0x110, "OTHER", "a"), -EBUSY);	/* another one of ours */
	CHECK_EQ(try_register(0x110, "NO_HOOK", "a"), 0x110);	/* the same, a second info */
	lkst_hook_etype_unregister(&e);
	lkst_hook_etype_unregister(&e);
	CHECK_EQ(try_register(0x110, "OTHER", "a"), 0x110);
	lkst_hook_etype_unregister(NULL);
	CHECK_EQ(errno, EDOM);
}

/* ---- two programs ---- */

static int to_child[2], from_child[2];

/* Registers a type, says so, and lives until it is told not to. */
static int holder(void *arg)
{
	static struct hook h;
	struct lkst_etype_info e = { 0x120, &h, { 0 }, arg, "held", { "a", "", "", "" } };
	int got;
	char c = 0;

	h.state = lkst_hook_off;
	got = lkst_hook_etype_register(&e);
	if (write(from_child[1], &got, sizeof(got)) != sizeof(got))
		return 1;
	while (read(to_child[0], &c, 1) == 1 && c == 'h')
		if (h.state[0]) {
			lkst_hook_hit(&e, 1, 2, 3, 4);
			if (write(from_child[1], &got, sizeof(got)) != sizeof(got))
				return 1;
		}
	if (c == 'k')
		raise(SIGKILL);
	return got;
}

static pid_t start_holder(const char *mnemonic, int *got)
{
	char name[LKST_MNEMONIC_LEN];
	pid_t pid;

	snprintf(name, sizeof(name), "%s", mnemonic);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(holder(name));
	CHECK_EQ(read(from_child[0], got, sizeof(*got)), sizeof(*got));
	return pid;
}

static void end_holder(pid_t pid, char how)
{
	int status;

	CHECK_EQ(write(to_child[1], &how, 1), 1);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WIFSIGNALED(status), how == 'k');
}

static void test_programs(void)
{
	const struct prog_entry held[] = { { 0x120, LKST_EVHANDLER_ID_LOG } };
	pid_t a, b;
	char h = 'h';
	int got;

	CHECK_EQ(pipe(to_child) | pipe(from_child), 0);
	tool_open();
	record("held", held, 1);
	a = start_holder("HELD", &got);
	CHECK_EQ(got, 0x120);
	CHECK_EQ(try_register(0x120, "OTHER", "x"), -EBUSY);
	CHECK_EQ(try_register(0x120, "HELD", "held"), 0x120);
	end_holder(a, 'k');
	/* its owner is dead: others may have the number */
	CHECK_EQ(try_register(0x120, "HELD", "held"), 0x120);
	a = start_holder("HELD", &got);
	CHECK_EQ(got, 0x120);
	end_holder(a, 'q');
	a = start_holder("NEXT", &got);
	CHECK_EQ(got, 0x120);
	/* and its events are recorded under the new name */
	CHECK_EQ(write(to_child[1], &h, 1), 1);
	CHECK_EQ(read(from_child[0], &got, sizeof(got)), sizeof(got));
	CHECK_EQ(look()->of[0x20], 1);
	b = start_holder("NEXT", &got);
	CHECK_EQ(got, 0x120);
	/* the owner goes: the other one still has it */
	kill(a, SIGKILL);
	CHECK_EQ(waitpid(a, NULL, 0), a);
	CHECK_EQ(try_register(0x120, "OTHER", "x"), -EBUSY);
	end_holder(b, 'q');
	CHECK_EQ(try_register(0x120, "OTHER", "x"), 0x120);
	tool_destroy();
}

/* ---- records ---- */

static void test_records(void)
{
	struct found *f;
	struct lkst_record r = { .etype = 0x100 };
	uint32_t names = 0, len;

	hit(0);				/* no session yet */
	begin();
	errno = EDOM;
	hit(1);
	other_hit(2);
	LKST_HOOK(TEST_TWO, 1, 2, 3, 4);
	LKST_HOOK(TEST_NUL, 0, 0, 0, 0);
	LKST_HOOK(TEST_MODULE, 1, 2, 3, 4);	/* not registered */
	CHECK_EQ(lkst_hook_etype_register(&LKST_ETYPE_INFO(TEST_MODULE)), 0x103);
	CHECK_EQ(lkst_hook_etype_register(&LKST_ETYPE_INFO(TEST_SEVEN)), 0x104);
	LKST_HOOK(TEST_MODULE, 1, 2, 3, 4);
	LKST_HOOK(TEST_SEVEN, 1, 2, 3, 4);
	lkst_hook_etype_unregister(&LKST_ETYPE_INFO(TEST_MODULE));
	LKST_HOOK(TEST_MODULE, 1, 2, 3, 4);
	lkst_hook_etype_unregister(&LKST_ETYPE_INFO(TEST_SEVEN));
	CHECK_EQ(errno, EDOM);
	f = look();
	CHECK_EQ(f->of[0], 2);
	CHECK_EQ(f->seen[1], 1);
	CHECK_EQ(f->seen[2], 1);
	CHECK_EQ(f->of[1], 1);
	CHECK_EQ(f->of[2], 1);
	CHECK_EQ(f->of[3], 1);
	CHECK_EQ(f->of[4], 1);
	CHECK_EQ(f->of_pid, 6);
	/* what tools tell of is the same type of the session */
	CHECK_EQ(tacho_lkst_entry(&tool, &r), 0);
	CHECK_EQ(look()->of[0], 3);
	for (uint32_t id = 1; id < 1000; id++) {
		const char *text = tacho_types_text(&tool.session.view, id, &len);

		names += text && len > 14 && !memcmp(text, "lkst:TEST_ONE\n", 14);
	}
	CHECK_EQ(names, 1);
	tool_destroy();
	hit(1);
}

/* The session ends and comes again, with another bit, or with the same. */
static void test_again(void)
{
	struct tacho_session_config cfg = { .name = "between", .clock = -1 };
	struct tacho_session s;
	struct tacho_dir dir;

	CHECK_EQ(tacho_dir_open(&dir, true, NULL), 0);
	for (uint64_t i = 0; i < 4; i++) {
		begin();
		hit(i);
		hit(i);
		CHECK_EQ(look()->seen[i], 2);
		CHECK_EQ(look()->of[0], 2);
		tool_destroy();
		hit(i);
		if (i != 1)
			continue;
		/* somebody else has the bit now */
		CHECK_EQ(tacho_session_create(&s, &dir, &cfg, NULL), 0);
		CHECK_EQ(tacho_session_rule(&s, true, "lkst:*", NULL, NULL), 0);
		hit(77);
	}
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	/* destroyed by a tool that knows nothing of LKST */
	begin();
	hit(1);
	CHECK_EQ(tacho_session_open(&s, &dir, getenv("LKST_SESSION"), NULL), 0);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	hit(2);
	tacho_lkst_close(&tool);
	begin();
	hit(3);
	CHECK_EQ(look()->of[0], 1);
	CHECK_EQ(look()->seen[3], 1);
	tool_destroy();
	tacho_dir_close(&dir);
}

/* ---- other sessions ---- */

static uint64_t written(struct tacho_session *s)
{
	struct tacho_session_counts c;

	tacho_session_count(s, &c);
	return c.written;
}

/* LKST's masksets are for LKST's session. */
static void test_other_session(void)
{
	struct tacho_session_config cfg = { .name = "other", .clock = -1 };
	const struct prog_entry two[] = { { 0x101, LKST_EVHANDLER_ID_LOG } };
	struct tacho_session s;
	struct tacho_dir dir;

	CHECK_EQ(tacho_dir_open(&dir, true, NULL), 0);
	CHECK_EQ(tacho_session_create(&s, &dir, &cfg, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "lkst:TEST_ONE", NULL, NULL), 0);
	hit(1);
	CHECK_EQ(written(&s), 1);		/* without LKST's */
	begin();
	for (uint64_t i = 0; i < 10; i++)
		hit(i);				/* both */
	CHECK_EQ(written(&s), 11);
	CHECK_EQ(look()->of[0], 10);
	record("two", two, 1);
	for (uint64_t i = 0; i < 10; i++)
		hit(i);				/* masked in LKST's */
	CHECK_EQ(written(&s), 21);
	CHECK_EQ(look()->of[0], 10);
	/* LKST's session has it off by its rules, whatever the maskset says */
	record("test", all, 5);
	CHECK_EQ(tacho_session_rule(&tool.session, false, "lkst:TEST_ONE", NULL, NULL), 0);
	hit(1);
	CHECK_EQ(written(&s), 22);
	CHECK_EQ(look()->of[0], 10);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	tool_destroy();
	tacho_dir_close(&dir);
}

/* ---- contexts ---- */

static void *hit_many(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg * N;

	for (uint64_t i = 0; i < N; i++)
		hit(first + i);
	return NULL;
}

static void test_threads(void)
{
	struct tacho_session_counts c;
	uint64_t missing = 0;
	pthread_t t[4];
	struct found *f;

	begin();
	for (uintptr_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, hit_many, (void *)i), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	f = look();
	for (int i = 0; i < 4 * N; i++) {
		CHECK(f->seen[i] <= 1);
		missing += !f->seen[i];
	}
	/* in fallback lanes a writer waits for another one only briefly; what it gives up counts */
	tacho_session_count(&tool.session, &c);
	CHECK_EQ(missing, c.lost_busy);
	CHECK_EQ(f->of[0], 4 * N - missing);
#ifndef TACHO_RSEQ_PLAIN
	CHECK_EQ(missing, 0);
#endif
	tool_destroy();
}

static uint64_t in_handler;

static void on_signal(int sig)
{
	(void)sig;
	hit(4 * N + in_handler++ % N);
}

/* Signals come at any instruction of a hook: each event is recorded, once. */
static void test_signals(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	uint64_t n = 0, of;

	begin();
	in_handler = 0;
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	/* room for 14,563 records, so that nothing is overwritten */
	while (tacho_load_relaxed(&in_handler) < 500 && n < 10000)
		hit(n++ % N);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	of = look()->of[0];
	CHECK_EQ(of, n + in_handler);
	tool_destroy();
}

static int child(void *arg)
{
	struct found *f;

	(void)arg;
	hit_many((void *)1);
	f = look();
	return f->of_pid == N && f->of[0] == 2 * N ? 0 : 1;
}

static void test_fork(void)
{
	struct found *f;

	begin();
	hit_many((void *)0);
	CHECK_EQ(in_child(child, NULL), 0);
	f = look();
	CHECK_EQ(f->of[0], 2 * N);
	CHECK_EQ(f->of_pid, N);		/* the parent's own */
	tool_destroy();
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_register_errors());
	TEST(test_records());
	TEST(test_again());
	TEST(test_other_session());
	TEST(test_threads());
	TEST(test_signals());
	TEST(test_fork());
	TEST(test_programs());
	tool_open();
	return prog_done();
}
