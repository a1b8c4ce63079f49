// SPDX-License-Identifier: MIT
/*
 * The functions of the library (specification 4.7.2): each does what it is for, and gives its
 * errors.  What the operations behind them do in detail is tested in core.c.
 */
#include <pthread.h>
#include <sys/stat.h>

#include "lkst/prog.h"
#include "lkst/types.h"

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* The CPU of buffers; in a build without restartable sequences the thread's plain lane. */
static int here(void)
{
#ifdef TACHO_RSEQ_PLAIN
	const struct tacho_ring *r = &tool.session.view.ring;

	return (int)(r->nr_cpus + (uint32_t)gettid() % r->nr_fallback);
#else
	return sched_getcpu();
#endif
}

/* ---- status ---- */

static void test_status(void)
{
	struct lkst_trc_status s;

	CHECK_EQ(lkst_trc_status(NULL), -EINVAL);
	CHECK_EQ(lkst_trc_status(&s), 0);	/* LKST is set up by it */
	CHECK_EQ(s.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
	CHECK_EQ(s.maskset_num, 3);
	CHECK_EQ(s.evhandler_num, 3);
	CHECK_EQ(lkst_trc_stop(), 0);
	CHECK_EQ(lkst_maskset_set(LKST_MASKSET_ID_RALL), -EBUSY);
	CHECK_EQ(lkst_trc_status(&s), 0);
	CHECK_EQ(s.current_maskset_id, LKST_MASKSET_ID_RNOTHING);
	CHECK_EQ(lkst_trc_start(), 0);
	CHECK_EQ(lkst_trc_status(&s), 0);
	CHECK_EQ(s.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
}

/* ---- masksets ---- */

static int write_one(lkst_maskset_id id, const char *name, int etype, lkst_maskset_id *got)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { id, LKST_MASKSET_SIZE(2), b };
	int err;

	snprintf(b->name, sizeof(b->name), "%s", name);
	b->len = 2;
	b->entry[0] = (struct lkst_maskset_entry){ etype, LKST_EVHANDLER_ID_LOG };
	/* a buffer that is full goes on, so that these tests say when it is left */
	b->entry[1] = (struct lkst_maskset_entry){ LKST_ETYPE_LKST_ERROR, LKST_EVHANDLER_ID_LOG };
	err = lkst_maskset_write(&p);
	*got = p.id;
	free(b);
	return err;
}

static void test_masksets(void)
{
	struct lkst_maskset_listent e[8];
	struct lkst_maskset_listparam list = { 0, sizeof(e), e };
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, sizeof(*b), b };
	lkst_maskset_id id;

	CHECK_EQ(lkst_maskset_write(NULL), -EINVAL);
	CHECK_EQ(write_one(LKST_MASKSET_ID_VOID, "mine", 0x300, &id), -EINVAL);
	CHECK_EQ(write_one(LKST_MASKSET_ID_RALL, "mine", 0x100, &id), -EINVAL);
	CHECK_EQ(write_one(LKST_MASKSET_ID_VOID, "mine", 0x100, &id), 0);
	CHECK_EQ(id, 3);
	CHECK_EQ(lkst_maskset_get_id("mine"), id);
	CHECK_EQ(lkst_maskset_get_id("nobody's"), LKST_MASKSET_ID_VOID);
	CHECK_EQ(lkst_maskset_get_id(""), -EINVAL);
	CHECK_EQ(lkst_maskset_get_id(NULL), -EINVAL);
	CHECK_EQ(lkst_maskset_set(id), 0);
	CHECK_EQ(lkst_maskset_set(99), -EINVAL);
	CHECK_EQ(lkst_maskset_read(NULL), -EINVAL);
	CHECK_EQ(lkst_maskset_read(&p), 0);
	CHECK_EQ(p.id, id);
	CHECK_EQ(b->len, 2);
	CHECK_EQ(b->entry[0].event_type, 0x100);
	p.maskset_size = 1;
	CHECK_EQ(lkst_maskset_read(&p), -EINVAL);
	CHECK_EQ(lkst_maskset_list(NULL), -EINVAL);
	CHECK_EQ(lkst_maskset_list(&list), 0);
	CHECK_EQ(list.current_id, id);
	CHECK_STR(e[3].name, "mine");
	list.listent_size = 0;
	CHECK_EQ(lkst_maskset_list(&list), -EINVAL);
	CHECK_EQ(lkst_maskset_delete(id), -EBUSY);
	CHECK_EQ(lkst_maskset_delete(LKST_MASKSET_ID_RALL), -EINVAL);
	CHECK_EQ(lkst_maskset_delete(99), -EINVAL);
	CHECK_EQ(lkst_maskset_set(LKST_MASKSET_ID_RDEFAULT), 0);
	CHECK_EQ(lkst_maskset_delete(id), 0);
	CHECK_EQ(lkst_maskset_get_id("mine"), LKST_MASKSET_ID_VOID);
	free(b);
}

/* ---- buffers and events ---- */

static struct lkst_log_record rec[512];

static int read_buffer(lkst_buffer_id id, size_t n, size_t *got)
{
	struct lkst_log_buffer b = { .cpu = here(), .read_size = n * sizeof(rec[0]), .id = id,
				     .buffer = rec };
	int err = lkst_buffer_read(&b);

	*got = err ? 0 : b.result_read_size / sizeof(rec[0]);
	if (!err) {
		CHECK(b.tsc && b.cpu_freq && b.xtime.tv_sec);
		CHECK_EQ(b.buf_ver, LKST_BUF_VER);
		CHECK(*b.arch);
	}
	return err;
}

static void test_buffers(void)
{
	struct lkst_entry_args a = { 0x100, 1, 2, 3, 4 };
	lkst_maskset_id id;
	size_t n, before;
	int other;

	pin();
	CHECK_EQ(write_one(LKST_MASKSET_ID_VOID, "quiet", 0x100, &id), 0);
	CHECK_EQ(lkst_maskset_set(id), 0);
	tool_open();
	errno = EDOM;
	LKST_HOOK(TEST_ONE, 0, 0, 0, 0);	/* a plain lane begins with its first */
	other = lkst_buffer_create(LKST_BUFFER_ID_VOID, 65536, 0);
	CHECK(other > 0);
	CHECK_EQ(lkst_buffer_create(other, 65536, 0), -EINVAL);
	CHECK_EQ(lkst_buffer_create(LKST_BUFFER_MAX, 65536, 0), -EINVAL);
	CHECK_EQ(lkst_buffer_create(7, 100, 0), -EINVAL);
	CHECK_EQ(lkst_buffer_create(7, 65536, 7), -EINVAL);
	CHECK_EQ(lkst_buffer_shift(), -EINVAL);		/* 0 links to none */
	CHECK_EQ(lkst_buffer_jump(9), -EINVAL);
	CHECK_EQ(lkst_buffer_jump(other), 0);
	CHECK_EQ(lkst_buffer_delete(other), -EBUSY);
	CHECK_EQ(lkst_entry_log(&a), 0);
	a.event_type = 0x300;
	CHECK_EQ(lkst_entry_log(&a), -EINVAL);
	a.event_type = -1;
	CHECK_EQ(lkst_entry_log(&a), -EINVAL);
	a.event_type = 0x1000;
	CHECK_EQ(lkst_entry_log(&a), -EINVAL);
	CHECK_EQ(lkst_entry_log(NULL), -EINVAL);
	LKST_HOOK(TEST_ONE, 5, 6, 7, 8);
	CHECK_EQ(read_buffer(other, 512, &n), 0);
	CHECK_EQ(n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct posix_log_entry *e = &rec[i].posix;

		CHECK_EQ(rec[i].log_arg1, 4 * i + 1);
		CHECK_EQ(rec[i].log_arg4, 4 * i + 4);
		CHECK_EQ(e->log_magic, LKST_MAGIC);
		CHECK_EQ(e->log_recid, i);
		CHECK_EQ(e->log_size, 32);
		CHECK_EQ(e->log_event_type, 0x100);
		CHECK_EQ(e->log_uid, geteuid());
		CHECK_EQ(e->log_pid, getpid());
		CHECK_EQ(e->log_pgrp, getpgrp());
		CHECK_EQ(e->log_thread, gettid());
#ifndef TACHO_RSEQ_PLAIN	/* else whichever CPU it was */
		CHECK_EQ(e->log_processor, here());
#endif
	}
	CHECK_EQ(lkst_buffer_shift(), 0);		/* to 0 */
	CHECK_EQ(read_buffer(0, 512, &before), 0);
	LKST_HOOK(TEST_ONE, 9, 9, 9, 9);
	CHECK_EQ(read_buffer(0, 512, &n), 0);
	if (before < 512)
		CHECK_EQ(n, before + 1);
	CHECK_EQ(read_buffer(other, 512, &n), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(read_buffer(other, 0, &n), -EINVAL);
	CHECK_EQ(read_buffer(9, 1, &n), -EINVAL);
	CHECK_EQ(lkst_buffer_read(NULL), -EINVAL);
	CHECK_EQ(lkst_buffer_delete(0), -EINVAL);
	CHECK_EQ(lkst_buffer_delete(9), -EINVAL);
	CHECK_EQ(lkst_buffer_delete(other), 0);
	CHECK_EQ(read_buffer(other, 1, &n), -EINVAL);
	CHECK_EQ(errno, EDOM);
	tacho_lkst_close(&tool);
}

/* ---- who may ---- */

static struct hook no_hook = { lkst_hook_off, NULL };
static struct lkst_etype_info info = { 0x130, &no_hook, { 0 }, "PERM", "", { "" } };

static void never(void *hr, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)hr, (void)etype, (void)a, (void)b, (void)c, (void)d;
}

/* As somebody else, with arguments that are right. */
static int nobody(void *arg)
{
	static struct lkst_maskset_body body = { .name = "x" };
	static struct lkst_eh_device dev = { "dev", 0, never, NULL, NULL, NULL, { 0 } };
	struct lkst_maskset_listent m[4];
	struct lkst_evhandler_listent h[4];
	struct lkst_maskset_param mp = { 5, sizeof(body), &body };
	struct lkst_maskset_listparam ml = { 0, sizeof(m), m };
	struct lkst_evhandler_listparam hl = { sizeof(h), h };
	struct lkst_evhandler_ctrl_param hc = { .id = 0x020 };
	struct lkst_log_buffer lb = { .read_size = sizeof(rec[0]), .buffer = rec };
	struct lkst_entry_args a = { .event_type = 0x100 };
	struct lkst_trc_status s;

	(void)arg;
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 2;
	CHECK_EQ(lkst_trc_status(&s), -EPERM);
	CHECK_EQ(lkst_trc_start(), -EPERM);
	CHECK_EQ(lkst_trc_stop(), -EPERM);
	CHECK_EQ(lkst_entry_log(&a), -EPERM);
	CHECK_EQ(lkst_maskset_read(&mp), -EPERM);
	CHECK_EQ(lkst_maskset_write(&mp), -EPERM);
	CHECK_EQ(lkst_maskset_set(LKST_MASKSET_ID_RALL), -EPERM);
	CHECK_EQ(lkst_maskset_list(&ml), -EPERM);
	CHECK_EQ(lkst_maskset_delete(5), -EPERM);
	CHECK_EQ(lkst_maskset_get_id("RALL"), -EPERM);
	CHECK_EQ(lkst_evhandler_list(&hl), -EPERM);
	CHECK_EQ(lkst_evhandler_ctrl(&hc), -EPERM);
	CHECK_EQ(lkst_evhandler_register(0, "x", never, NULL), -EPERM);
	CHECK_EQ(lkst_evhandler_unregister(0x020), -EPERM);
	CHECK_EQ(lkst_evhandler_get_id("LOG"), -EPERM);
	CHECK_EQ(lkst_eh_device_register(&dev), -EPERM);
	CHECK_EQ(lkst_buffer_read(&lb), -EPERM);
	CHECK_EQ(lkst_buffer_create(5, 65536, 0), -EPERM);
	CHECK_EQ(lkst_buffer_jump(0), -EPERM);
	CHECK_EQ(lkst_buffer_shift(), -EPERM);
	CHECK_EQ(lkst_buffer_delete(5), -EPERM);
	CHECK_EQ(lkst_hook_etype_register(&info), -EPERM);
	LKST_HOOK(TEST_ONE, 1, 1, 1, 1);	/* a hook of before is not touched by it */
	return test_failed ? 1 : 0;
}

/* A program that begins as somebody else, in our directory. */
static int stranger(void)
{
	struct lkst_trc_status s;

	CHECK_EQ(lkst_trc_status(&s), -EPERM);
	CHECK_EQ(lkst_hook_etype_register(&info), -EPERM);
	CHECK_EQ(lkst_evhandler_register(0, "x", never, NULL), -EPERM);
	LKST_HOOK(TEST_ONE, 1, 1, 1, 1);
	return test_failed ? 1 : 0;
}

static int exec_stranger(void *self)
{
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 2;
	execl(self, self, "stranger", NULL);
	return 77;	/* the build tree is not for others to look into */
}

static void test_permission(const char *self)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int status;

	(void)self;
	if (geteuid()) {
		printf("# not root: EPERM is not provoked\n");
		return;
	}
	CHECK_EQ(in_child(nobody, NULL), 0);
	path[n > 0 ? n : 0] = '\0';
	status = in_child(exec_stranger, path);
	if (status == 77)
		printf("# others may not run this program\n");
	else
		CHECK_EQ(status, 0);
}

/* ---- threads and forks ---- */

static void *call_many(void *arg)
{
	struct lkst_entry_args a = { 0x100, 1, 2, 3, 4 };
	struct lkst_trc_status s;
	intptr_t wrong = 0;

	(void)arg;
	for (int i = 0; i < 200; i++)
		wrong += lkst_entry_log(&a) || lkst_trc_status(&s) ||
			 lkst_evhandler_get_id("LOG") != LKST_EVHANDLER_ID_LOG;
	return (void *)wrong;
}

static int call_child(void *arg)
{
	return call_many(arg) != NULL;
}

/* The handle is the process's: children have their own, and the lock with it. */
static void test_together(void)
{
	pthread_t t[3];
	void *wrong;

	for (int i = 0; i < 3; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, call_many, NULL), 0);
	CHECK_EQ(in_child(call_child, NULL), 0);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &wrong);
		CHECK(!wrong);
	}
}

/* LKST ends, by a tool, and is set up again by the next call. */
static void test_ended(void)
{
	struct lkst_trc_status s;

	tool_open();
	CHECK_EQ(lkst_trc_stop(), 0);
	tool_destroy();
	CHECK_EQ(lkst_trc_status(&s), 0);
	CHECK_EQ(s.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
	CHECK_EQ(s.maskset_num, 3);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "stranger"))
		return stranger();
	test_args(argc, argv);
	errno = EDOM;
	TEST(test_status());
	TEST(test_masksets());
	CHECK_EQ(errno, EDOM);
	TEST(test_buffers());
	TEST(test_permission(argv[0]));
	TEST(test_together());
	TEST(test_ended());
	tool_open();
	return prog_done();
}
