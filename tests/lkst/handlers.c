// SPDX-License-Identifier: MIT
/*
 * Event handlers of programs: registered, listed, asked for by other processes, run in
 * hooks; and programs that die in them.
 */
#include <pthread.h>
#include <sys/resource.h>

#include "compat/lkst/hook.h"
#include "compat/lkst/service.h"
#include "lkst/prog.h"
#include "lkst/types.h"

#define N	2000

#ifdef __SANITIZE_THREAD__
/* Children of a program with threads make some of their own. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}
#endif

static void nothing(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)rec, (void)etype, (void)a, (void)b, (void)c, (void)d;
}

static int reverse(void *buf, size_t size)
{
	char *s = buf;

	if (!buf)
		return -77;
	for (size_t i = 0; i < size / 2; i++) {
		char c = s[i];

		s[i] = s[size - 1 - i];
		s[size - 1 - i] = c;
	}
	return (int)size;
}

/* ---- registering ---- */

static void test_register(void)
{
	struct lkst_evhandler_listent e[8];
	struct lkst_evhandler_listparam p = { sizeof(e), e };
	int id, other;

	CHECK_EQ(lkst_evhandler_register(0x020, "h", NULL, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(0x020, NULL, nothing, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(0x020, "", nothing, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(0x020, "a2345678901234567890123456789012", nothing, NULL),
		 -EINVAL);
	CHECK_EQ(lkst_evhandler_register(0x01f, "h", nothing, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(0x1000, "h", nothing, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(-1, "h", nothing, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(LKST_EVHANDLER_ID_VOID, "LOG", nothing, NULL), -EINVAL);
	id = lkst_evhandler_register(LKST_EVHANDLER_ID_VOID, "first", nothing, NULL);
	CHECK(id >= 0x020);
	CHECK_EQ(lkst_evhandler_register(id, "first", nothing, NULL), -EINVAL);	/* twice */
	CHECK_EQ(lkst_evhandler_register(id, "second", nothing, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(id + 1, "first", nothing, NULL), -EINVAL);
	other = lkst_evhandler_register(0xfff, "last", nothing, reverse);
	CHECK_EQ(other, 0xfff);
	CHECK_EQ(lkst_evhandler_get_id("first"), id);
	CHECK_EQ(lkst_evhandler_get_id("last"), 0xfff);
	CHECK_EQ(lkst_evhandler_get_id("LOG"), LKST_EVHANDLER_ID_LOG);
	CHECK_EQ(lkst_evhandler_get_id("none"), LKST_EVHANDLER_ID_VOID);
	CHECK_EQ(lkst_evhandler_get_id(""), -EINVAL);
	CHECK_EQ(lkst_evhandler_get_id(NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_get_id("a2345678901234567890123456789012"), -EINVAL);

	CHECK_EQ(lkst_evhandler_list(NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_list(&p), 0);
	CHECK_EQ(e[0].id, LKST_EVHANDLER_ID_LOG);
	CHECK_EQ(e[2].id, LKST_EVHANDLER_ID_BUFFER_SHIFT_DW);
	CHECK_STR(e[2].name, "BUFFER_SHIFT_DW");
	CHECK_EQ(e[3].id, id);
	CHECK_EQ(e[4].id, 0xfff);
	CHECK_STR(e[4].name, "last");
	CHECK_EQ(e[5].id, LKST_EVHANDLER_ID_VOID);	/* no more */
	p.listent_size = LKST_EVHANDLER_LISTENT_SIZE(4) + 1;
	memset(e, 0x55, sizeof(e));
	CHECK_EQ(lkst_evhandler_list(&p), 0);
	CHECK_EQ(e[3].id, id);
	CHECK_EQ(e[4].id, 0x55555555);
	p.listent_size = LKST_EVHANDLER_LISTENT_SIZE(1) - 1;
	CHECK_EQ(lkst_evhandler_list(&p), -EINVAL);
	p.listent = NULL;
	CHECK_EQ(lkst_evhandler_list(&p), -EINVAL);

	CHECK_EQ(lkst_evhandler_unregister(LKST_EVHANDLER_ID_LOG), -EINVAL);
	CHECK_EQ(lkst_evhandler_unregister(0x1000), -EINVAL);
	CHECK_EQ(lkst_evhandler_unregister(0x123), -EINVAL);
	CHECK_EQ(lkst_evhandler_unregister(id), 0);
	CHECK_EQ(lkst_evhandler_unregister(id), -EINVAL);
	CHECK_EQ(lkst_evhandler_unregister(0xfff), 0);
	CHECK_EQ(lkst_evhandler_get_id("first"), LKST_EVHANDLER_ID_VOID);
}

/* All ids are somebody's. */
static void test_full(void)
{
	char name[LKST_EVHANDLER_NAME_LEN];
	int n = 0, id;

	do {
		snprintf(name, sizeof(name), "full%d", n++);
		id = lkst_evhandler_register(LKST_EVHANDLER_ID_VOID, name, nothing, NULL);
	} while (id > 0);
	CHECK_EQ(id, -ENOSPC);
	CHECK_EQ(n, LKST_EVHANDLER_ID_MAX - LKST_EVHANDLER_ID_USER + 2);
	for (id = LKST_EVHANDLER_ID_USER; id <= LKST_EVHANDLER_ID_MAX; id++)
		if (lkst_evhandler_unregister(id))
			CHECK_EQ(id, 0);
}

/* ---- control functions and devices ---- */

static char stored[64];

static ssize_t show(struct lkst_eh_device *dev, char *page)
{
	return sprintf(page, "%s: %s\n", dev->name, stored);
}

static ssize_t store(struct lkst_eh_device *dev, const char *text, size_t size)
{
	(void)dev;
	if (text[size] || size >= sizeof(stored))
		return -E2BIG;
	memcpy(stored, text, size + 1);
	return (ssize_t)size;
}

static LKST_EH_DEV_DEF(TEST_DEVICE, nothing, reverse, store, show);
static LKST_EH_DEV_DEF(NO_CTRL, nothing, NULL, NULL, NULL);

static int ctrl_of(int id, char *buf, size_t size, int *ret)
{
	struct lkst_evhandler_ctrl_param p = { id, buf, size, 12345 };
	int err = lkst_evhandler_ctrl(&p);

	*ret = p.ret;
	return err;
}

/* The same from another process. */
static int ctrl_child(void *arg)
{
	char text[] = "from a child";
	int ret, id = *(int *)arg;

	CHECK_EQ(ctrl_of(id, text, sizeof(text) - 1, &ret), 0);
	CHECK_STR(text, "dlihc a morf");
	CHECK_EQ(ret, sizeof(text) - 1);
	return test_failed != 0;
}

/* A program that has no descriptors left for a while answers when it has. */
static void test_no_descriptors(int id)
{
	struct rlimit old, none;
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		test_nr = test_failed = 0;
		(void)usleep(50000);
		_exit(ctrl_child(&id));
	}
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 3;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	(void)usleep(300000);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void test_ctrl(void)
{
	char text[] = "0123456789", page[LKST_EVHANDLER_CTRL_MAX + 1];
	int id, plain, ret;

	CHECK_EQ(lkst_eh_device_register(NULL), -EINVAL);
	id = lkst_eh_device_register(&LKST_EH_DEV(TEST_DEVICE));
	CHECK(id >= 0x020);
	CHECK_EQ(LKST_EH_DEV(TEST_DEVICE).id, id);
	LKST_EH_DEV(NO_CTRL).id = 0x040;
	plain = lkst_eh_device_register(&LKST_EH_DEV(NO_CTRL));
	CHECK_EQ(plain, 0x040);

	CHECK_EQ(ctrl_of(id, text, 10, &ret), 0);
	CHECK_STR(text, "9876543210");
	CHECK_EQ(ret, 10);
	CHECK_EQ(ctrl_of(id, NULL, 0, &ret), 0);	/* and what it returns is no error of ours */
	CHECK_EQ(ret, -77);
	CHECK_EQ(ctrl_of(id, page, LKST_EVHANDLER_CTRL_MAX, &ret), 0);
	CHECK_EQ(ret, LKST_EVHANDLER_CTRL_MAX);
	CHECK_EQ(in_child(ctrl_child, &id), 0);
	test_no_descriptors(id);
	CHECK_EQ(lkst_evhandler_ctrl(NULL), -EINVAL);
	CHECK_EQ(ctrl_of(id, page, LKST_EVHANDLER_CTRL_MAX + 1, &ret), -EINVAL);
	CHECK_EQ(ctrl_of(id, NULL, 1, &ret), -EINVAL);
	CHECK_EQ(ctrl_of(plain, text, 1, &ret), -EINVAL);	/* no such function */
	CHECK_EQ(ctrl_of(LKST_EVHANDLER_ID_LOG, text, 1, &ret), -EINVAL);
	CHECK_EQ(ctrl_of(-1, text, 1, &ret), -EINVAL);
	CHECK_EQ(ctrl_of(0x1000, text, 1, &ret), -EINVAL);
	CHECK_EQ(ret, 12345);

	CHECK_EQ(tacho_lkst_handler_store(&tool, (uint32_t)id, "a word", 6), 6);
	CHECK_EQ(tacho_lkst_handler_show(&tool, (uint32_t)id, page, sizeof(page)), 20);
	CHECK(!memcmp(page, "TEST_DEVICE: a word\n", 20));
	CHECK_EQ(tacho_lkst_handler_store(&tool, (uint32_t)id, page, 64), -E2BIG);
	CHECK_EQ(tacho_lkst_handler_show(&tool, (uint32_t)plain, page, sizeof(page)), -EIO);
	CHECK_EQ(tacho_lkst_handler_show(&tool, 0x41, page, sizeof(page)), -ENODEV);
	CHECK_EQ(tacho_lkst_handler_show(&tool, LKST_EVHANDLER_ID_LOG, page, sizeof(page)),
		 -ENODEV);
	lkst_eh_device_unregister(NULL);
	lkst_eh_device_unregister(&LKST_EH_DEV(NO_CTRL));
	lkst_eh_device_unregister(&LKST_EH_DEV(TEST_DEVICE));
	CHECK_EQ(ctrl_of(id, text, 10, &ret), -EINVAL);
	CHECK_EQ(tacho_lkst_handler_show(&tool, (uint32_t)id, page, sizeof(page)), -ENODEV);
}

/* ---- in hooks ---- */

static uint64_t calls, deepest, sum;
static __thread uint64_t depth;

static void count(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)tacho_add_relaxed(&calls, 1);
	(void)tacho_add_relaxed(&sum, a);
	if (a & 1)
		lkst_evhandlerprim_entry_log(rec, etype, a, b, c, d);
	errno = EPIPE;
}

/* Its own hook fires in it, and this one's again. */
static void nest(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)rec, (void)etype, (void)b, (void)c, (void)d;
	calls++;
	if (++depth > deepest)
		deepest = depth;
	if (a < 20)
		LKST_HOOK(TEST_ONE, a + 1, 0, 0, 0);
	depth--;
}

static void other(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)rec;
	calls++;
	/* another type than the event's, masked; none of this process; unknown; impossible */
	lkst_evhandlerprim_entry_log(rec, 0x101, a, b, c, d);
	lkst_evhandlerprim_entry_log(NULL, 0x102, a, b, c, d);
	lkst_evhandlerprim_entry_log(NULL, etype, a, b, c, d);
	lkst_evhandlerprim_entry_log(NULL, 0x1fe, a, b, c, d);
	lkst_evhandlerprim_entry_log(NULL, 0x200, a, b, c, d);
	lkst_evhandlerprim_entry_log(rec, -1, a, b, c, d);
}

struct tally {
	uint64_t of[256], sum;
};

static void tally(const struct lkst_record *r, void *arg)
{
	struct tally *t = arg;

	if (r->etype < 0x100 || r->etype > 0x1ff)
		return;
	t->of[r->etype - 0x100]++;
	t->sum += r->arg[0];
}

static struct tally *look(void)
{
	static struct tally t;

	memset(&t, 0, sizeof(t));
	each_record(tally, &t);
	return &t;
}

static void *hit_many(void *arg)
{
	(void)arg;
	errno = EDOM;
	for (uint64_t i = 0; i < N; i++)
		LKST_HOOK(TEST_ONE, i, 1, 2, 3);
	return (void *)(intptr_t)(errno == EDOM);
}

static void handle_by(lkst_evhandler_func fn, const char *name)
{
	struct prog_entry e = { 0x100, lkst_evhandler_register(0, name, fn, NULL) };

	CHECK(e.handler > 0);
	calls = sum = 0;
	record(name, &e, 1);
}

static void test_hooks(void)
{
	pthread_t t[2];
	struct tally *f;
	void *ret;

	handle_by(count, "count");
	CHECK(hit_many(NULL));
	CHECK_EQ(calls, N);
	CHECK_EQ(sum, (uint64_t)N * (N - 1) / 2);
	f = look();
	CHECK_EQ(f->of[0], N / 2);
	CHECK_EQ(f->sum, (uint64_t)N / 2 * N / 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, hit_many, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &ret);
		CHECK(ret);
	}
	CHECK_EQ(calls, 3 * N);
	CHECK_EQ(look()->of[0], 3 * N / 2);

	handle_by(nest, "nest");
	LKST_HOOK(TEST_ONE, 0, 0, 0, 0);
	CHECK_EQ(deepest, 4);		/* the fifth was recorded only */
	CHECK_EQ(calls, 4);
	f = look();
	CHECK_EQ(f->of[0], 3 * N / 2 + 1);

	handle_by(other, "other");
	LKST_HOOK(TEST_ONE, 0, 0, 0, 0);
	CHECK_EQ(calls, 1);
	f = look();
	CHECK_EQ(f->of[1], 1);
	CHECK_EQ(f->of[2], 1);
	CHECK_EQ(f->of[0], 3 * N / 2 + 2);
	CHECK_EQ(f->of[0xfe], 1);
}

/* ---- programs that have not the function, share it, or die in it ---- */

static int ready[2];

static void say_ready(void)
{
	if (write(ready[1], "r", 1) != 1)
		_exit(9);
}

static void loop(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)rec, (void)etype, (void)a, (void)b, (void)c, (void)d;
	say_ready();
	for (;;)
		pause();
}

static int loop_ctrl(void *buf, size_t size)
{
	(void)buf, (void)size;
	say_ready();
	while (pause())
		;
	return 0;
}

static void crash(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	lkst_evhandlerprim_entry_log(rec, etype, a, b, c, d);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static int looper(void *arg)
{
	(void)arg;
	if (lkst_evhandler_register(0x050, "looper", loop, loop_ctrl) != 0x050)
		return 1;	/* start() sees it */
	say_ready();
	for (;;)
		LKST_HOOK(TEST_ONE, 1, 2, 3, 4);
}

static pid_t start(int (*fn)(void *arg))
{
	pid_t pid;
	char c;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		(void)fn(NULL);
		_exit(write(ready[1], "x", 1) != 1);
	}
	CHECK_EQ(read(ready[0], &c, 1), 1);
	CHECK_EQ(c, 'r');
	return pid;
}

static void end(pid_t pid)
{
	int status;

	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

static int hit_ten(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++)
		LKST_HOOK(TEST_ONE, 5, 5, 5, 5);
	return 0;
}

static void test_death(void)
{
	const struct prog_entry e[] = { { 0x100, 0x050 } };
	uint64_t before;
	pid_t pid;
	char c;

	tool_destroy();
	tool_open();
	pid = start(looper);
	record("looper", e, 1);
	CHECK_EQ(read(ready[0], &c, 1), 1);	/* it loops in its handler */
	before = look()->of[0];
	CHECK_EQ(hit_ten(NULL), 0);		/* we have no such function: recorded */
	CHECK_EQ(look()->of[0], before + 10);
	end(pid);
	/* the handler is nobody's now; what names it records */
	CHECK_EQ(lkst_evhandler_get_id("looper"), LKST_EVHANDLER_ID_VOID);
	CHECK_EQ(in_child(hit_ten, NULL), 0);
	CHECK_EQ(look()->of[0], before + 20);
	/* and the id can be had again */
	CHECK_EQ(lkst_evhandler_register(0x050, "crash", crash, NULL), 0x050);
	CHECK_EQ(in_child(hit_ten, NULL), -1);	/* ours by the fork: it dies in the first */
	CHECK_EQ(look()->of[0], before + 21);
	CHECK_EQ(lkst_evhandler_get_id("crash"), 0x050);
	CHECK_EQ(lkst_evhandler_unregister(0x050), 0);
	hit_ten(NULL);
	CHECK_EQ(look()->of[0], before + 31);
}

/* A control function that does not come back: asked for by a client that gives up. */
static void test_ctrl_death(void)
{
	struct lkst_evhandler_ctrl_param p = { .id = 0x050 };
	const struct prog_entry e[] = { { 0x101, LKST_EVHANDLER_ID_LOG } };
	pid_t pid, asker;
	char c;

	record("two", e, 1);			/* it does not loop in its handler */
	pid = start(looper);
	asker = fork();
	if (!asker)
		_exit(tacho_lkst_handler_ctrl(&tool, &p) == -EINVAL ? 0 : 1);
	CHECK_EQ(read(ready[0], &c, 1), 1);	/* the function runs */
	end(pid);
	int status;

	CHECK_EQ(waitpid(asker, &status, 0), asker);
	CHECK_EQ(status, 0);
	CHECK_EQ(tacho_lkst_handler_ctrl(&tool, &p), -EINVAL);
}

static int sharer(void *arg)
{
	(void)arg;
	if (lkst_evhandler_register(0x060, "shared", count, NULL) != 0x060)
		return 1;
	say_ready();
	pause();
	return 0;
}

/* Two programs have a handler of one name: one id, each runs its own. */
static void test_shared(void)
{
	const struct prog_entry e = { 0x100, 0x060 };
	struct lkst_evhandler_listent list[8];
	struct lkst_evhandler_listparam p = { sizeof(list), list };
	pid_t pid;
	int n = 0;

	pid = start(sharer);
	CHECK_EQ(lkst_evhandler_register(0x061, "shared", count, NULL), -EINVAL);
	CHECK_EQ(lkst_evhandler_register(0, "shared", count, NULL), 0x060);
	CHECK_EQ(lkst_evhandler_list(&p), 0);
	for (int i = 3; i < 8 && list[i].id; i++)
		n += !strcmp(list[i].name, "shared");
	CHECK_EQ(n, 1);
	calls = 0;
	record("shared", &e, 1);
	hit_ten(NULL);
	CHECK_EQ(calls, 10);
	end(pid);
	hit_ten(NULL);
	CHECK_EQ(calls, 20);		/* ours, though the entry was the other's */
	CHECK_EQ(lkst_evhandler_unregister(0x060), 0);
}

/* ---- a buffer that is full ---- */

static uint32_t overruns, inside, most_inside;
static int32_t overrun_buffer;

/* More than a buffer holds: it runs into the next overrun, in itself. */
static void many(void *rec, int etype, lkst_arg_t cpu, lkst_arg_t buffer, lkst_arg_t next,
		 lkst_arg_t n)
{
	overruns += etype == LKST_ETYPE_LKST_BUFF_OVFLOW && buffer == (lkst_arg_t)overrun_buffer &&
		    next == (lkst_arg_t)(int64_t)LKST_BUFFER_ID_VOID && n;
	if (++inside > most_inside)
		most_inside = inside;
	for (lkst_arg_t i = 0; i < 70; i++)
		lkst_evhandlerprim_entry_log(rec, etype, cpu, buffer, i, 4711);
	inside--;
}

static void count_many(const struct lkst_record *r, void *arg)
{
	uint64_t *n = arg;

	if (r->etype == LKST_ETYPE_LKST_BUFF_OVFLOW && r->arg[3] == 4711)
		/* a lane behind those of the CPUs is any CPU's */
		*n += r->pid == getpid() && r->thread == gettid() &&
		      (r->cpu == r->arg[0] || r->arg[0] >= tool.session.view.ctl->nr_cpus);
}

static void test_overrun(void)
{
	int id = lkst_evhandler_register(LKST_EVHANDLER_ID_VOID, "many", many, NULL);
	const struct prog_entry e[] = { { 0x100, LKST_EVHANDLER_ID_LOG },
					{ LKST_ETYPE_LKST_BUFF_OVFLOW, id } };
	struct lkst_buffer_param p = { .id = LKST_BUFFER_ID_VOID, .cpu = -1, .size = 4096,
				       .next = LKST_BUFFER_ID_VOID };
	uint64_t found = 0;
	cpu_set_t all, one;

	/* the records say the CPU that they were made on */
	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	record("overrun", e, 2);
	CHECK_EQ(tacho_lkst_buffer_create(&tool, &p), 0);
	overrun_buffer = p.id;
	for (uint32_t c = 0; c < tool.state->nr_cpus; c++)
		(void)tacho_lkst_buffer_jump(&tool, &(struct lkst_buffer_jumpparam){ (int)c, p.id });
	/* the last that is written is what the handler did, wherever this thread runs */
	for (uint64_t i = 0; i < 10000 && !overruns; i++)
		LKST_HOOK(TEST_ONE, i, 0, 0, 0);
	CHECK(overruns >= 1);
	CHECK_EQ(most_inside, LKST_DEPTH_MAX);
	(void)each_record(count_many, &found);
	CHECK(found > 20);
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	record("overrun", e, 1);
	for (uint32_t c = 0; c < tool.state->nr_cpus; c++)
		(void)tacho_lkst_buffer_jump(&tool, &(struct lkst_buffer_jumpparam){ (int)c, 0 });
	CHECK_EQ(lkst_evhandler_unregister(id), 0);
	CHECK_EQ(tacho_lkst_buffer_delete(&tool, &(struct lkst_buffer_delparam){ -1, p.id }), 0);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	CHECK_EQ(pipe(ready), 0);
	tool_open();
	TEST(test_register());
	TEST(test_full());
	TEST(test_ctrl());
	TEST(test_hooks());
	TEST(test_overrun());
	TEST(test_death());
	TEST(test_ctrl_death());
	TEST(test_shared());
	return prog_done();
}
