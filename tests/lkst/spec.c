// SPDX-License-Identifier: MIT
/*
 * A program written from the specification alone: headers, ioctls, read loop.
 *
 *	spec DEVICE
 *
 * Nothing of tacho is linked or included.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/lkst.h>
#include <linux/lkst_buffer.h>
#include <linux/lkst_evhandler.h>
#include <linux/lkst_maskset.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"

static int fd;
static const char *device;

/* 0, or the errno */
#define DO(...)	(ioctl(fd, __VA_ARGS__) < 0 ? errno : 0)

static void entry(int type, uint64_t a, uint64_t b)
{
	struct lkst_entry_args e = { type, a, b, 3, 4 };

	CHECK_EQ(DO(LKST_IOC_ENTRY_LOG, &e), 0);
}

/* 4.3: only open, close, ioctl and read. */
static void test_device(void)
{
	char c;

	CHECK_EQ(write(fd, "x", 1), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), -1);
	CHECK_EQ(read(fd, &c, 1), -1);		/* no SETRMOD */
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(DO(_IO(LKST_IOC_MAGIC, 99)), ENOTTY);
	CHECK_EQ(DO(LKST_IOC_BUFFER_RING), EINVAL);
}

static void test_status(void)
{
	struct lkst_trc_status st;

	CHECK_EQ(DO(LKST_IOC_TRC_STATUS, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
	CHECK(st.maskset_num >= 3 && st.evhandler_num >= 3);
	CHECK_EQ(st.write_buf[0], 0);
	CHECK(st.static_buffer_size > 0);
	CHECK_EQ(DO(LKST_IOC_TRC_STOP), 0);
	CHECK_EQ(DO(LKST_IOC_TRC_STATUS, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RNOTHING);
	CHECK_EQ(DO(LKST_IOC_MASKSET_SET, LKST_MASKSET_ID_RALL), EBUSY);
	CHECK_EQ(DO(LKST_IOC_TRC_START), 0);
	CHECK_EQ(DO(LKST_IOC_TRC_STATUS, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
}

static int own_maskset(void)
{
	static struct lkst_maskset_body body = { "of the specification", 2, {
		{ 0x100, LKST_EVHANDLER_ID_LOG },
		{ LKST_ETYPE_LKST_BUFF_OVFLOW, LKST_EVHANDLER_ID_BUFFER_SHIFT_DW } } };
	static struct lkst_maskset_body back;
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, LKST_MASKSET_SIZE(2), &body };
	struct lkst_maskset_listent list[8];
	struct lkst_maskset_listparam lp = { 0, LKST_MASKSET_LISTENT_SIZE(8), list };
	int id;

	CHECK_EQ(DO(LKST_IOC_MASKSET_WRITE, &p), 0);
	id = p.id;
	CHECK(id > 2 && id != LKST_MASKSET_ID_VOID);
	CHECK(p.maskset == &body);
	p.maskset = &back;
	p.maskset_size = sizeof(back);
	CHECK_EQ(DO(LKST_IOC_MASKSET_READ, &p), 0);
	CHECK_STR(back.name, body.name);
	CHECK_EQ(back.len, 2);
	CHECK_EQ(memcmp(back.entry, body.entry, 2 * sizeof(body.entry[0])), 0);
	p.maskset_size = LKST_MASKSET_SIZE(1);		/* one of two */
	CHECK_EQ(DO(LKST_IOC_MASKSET_READ, &p), EINVAL);
	p.maskset_size = sizeof(back);
	p.maskset = (struct lkst_maskset_body *)8;	/* no memory there */
	CHECK_EQ(DO(LKST_IOC_MASKSET_READ, &p), EINVAL);
	CHECK_EQ(DO(LKST_IOC_MASKSET_WRITE, &p), EINVAL);
	p.maskset = &back;
	p.id = 99;
	CHECK_EQ(DO(LKST_IOC_MASKSET_READ, &p), EINVAL);
	CHECK_EQ(DO(LKST_IOC_MASKSET_LIST, &lp), 0);
	CHECK_EQ(lp.current_id, LKST_MASKSET_ID_RDEFAULT);
	CHECK_STR(list[2].name, "RDEFAULT");
	CHECK_EQ(list[id].id, id);
	CHECK_EQ(list[id].len, 2);
	lp.listent = NULL;
	CHECK_EQ(DO(LKST_IOC_MASKSET_LIST, &lp), EINVAL);
	CHECK_EQ(DO(LKST_IOC_MASKSET_SET, 99), EINVAL);
	CHECK_EQ(DO(LKST_IOC_MASKSET_SET, 70000), EINVAL);
	CHECK_EQ(DO(LKST_IOC_MASKSET_SET, id), 0);
	CHECK_EQ(DO(LKST_IOC_MASKSET_DELETE, id), EBUSY);
	CHECK_EQ(DO(LKST_IOC_MASKSET_DELETE, 1), EINVAL);
	return id;
}

static void test_handlers(void)
{
	struct lkst_evhandler_listent e[8];
	struct lkst_evhandler_listparam p = { LKST_EVHANDLER_LISTENT_SIZE(8), e };
	struct lkst_evhandler_ctrl_param c = { 0x20, NULL, 0, 0 };

	CHECK_EQ(DO(LKST_IOC_EVHANDLER_LIST, &p), 0);
	CHECK_EQ(e[0].id, LKST_EVHANDLER_ID_LOG);
	CHECK_EQ(e[2].id, LKST_EVHANDLER_ID_BUFFER_SHIFT_DW);
	CHECK_STR(e[2].name, "BUFFER_SHIFT_DW");
	p.listent = NULL;
	CHECK_EQ(DO(LKST_IOC_EVHANDLER_LIST, &p), EINVAL);
	CHECK_EQ(DO(LKST_IOC_EVHANDLER_CTRL, &c), EINVAL);	/* there is none */
	c.id = LKST_EVHANDLER_ID_LOG;				/* has no such function */
	CHECK_EQ(DO(LKST_IOC_EVHANDLER_CTRL, &c), EINVAL);
	c.bufsize = 99;
	CHECK_EQ(DO(LKST_IOC_EVHANDLER_CTRL, &c), EINVAL);
}

/* A ring of two for CPU 0, by forward reference. */
static void make_ring(void)
{
	struct lkst_buffer_param p = { .id = 11, .next = 12, .cpu = 0, .size = 8192 + 100 };
	struct lkst_buffer_linkparam link = { 0, 12, 12 };
	struct lkst_buffer_jumpparam jump = { 0, 13 };
	struct lkst_buffer_delparam del = { 0, 0 };

	CHECK_EQ(DO(LKST_IOC_BUFFER_CREATE, &p), 0);
	CHECK_EQ(p.result_size, 8192);
	CHECK_EQ(DO(LKST_IOC_BUFFER_CREATE, &p), EINVAL);
	p.id = 12;
	p.next = LKST_BUFFER_ID_VOID;
	p.size = 100;
	CHECK_EQ(DO(LKST_IOC_BUFFER_CREATE, &p), EINVAL);
	p.size = 8192;
	CHECK_EQ(DO(LKST_IOC_BUFFER_CREATE, &p), 0);
	CHECK_EQ(DO(LKST_IOC_BUFFER_LINK, &link), EINVAL);
	link.next = 11;
	CHECK_EQ(DO(LKST_IOC_BUFFER_LINK, &link), 0);
	CHECK_EQ(DO(LKST_IOC_BUFFER_JUMP, &jump), EINVAL);
	CHECK_EQ(DO(LKST_IOC_BUFFER_SHIFT, 4711), EINVAL);
	CHECK_EQ(DO(LKST_IOC_BUFFER_DELETE, &del), EINVAL);
	jump.dest = 11;
	CHECK_EQ(DO(LKST_IOC_BUFFER_JUMP, &jump), 0);
	del.id = 11;
	CHECK_EQ(DO(LKST_IOC_BUFFER_DELETE, &del), EBUSY);
}

static void test_read_buffer(void)
{
	static struct lkst_log_record r[200];
	struct lkst_log_buffer b = { .cpu = 0, .id = 11, .read_size = sizeof(r), .buffer = r };

	for (int i = 0; i < 10; i++)
		entry(0x100, 100 + (uint64_t)i, 2);
	entry(0x101, 0, 0);		/* masked */
	CHECK_EQ(DO(LKST_IOC_BUFFER_READ, &b), 0);
	CHECK_EQ(b.result_read_size, 10 * sizeof(r[0]));
	CHECK_EQ(b.endian_big, 0);
	CHECK_EQ(b.buf_ver, LKST_BUF_VER);
	CHECK(b.cpu_freq > 0 && *b.arch);
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(r[i].log_arg1, 100 + i);
		CHECK_EQ(r[i].log_arg4, 4);
		CHECK_EQ(r[i].posix.log_event_type, 0x100);
		CHECK_EQ(r[i].posix.log_pid, getpid());
		CHECK_EQ(r[i].posix.log_uid, geteuid());
	}
	b.buffer = (struct lkst_log_record *)8;
	CHECK_EQ(DO(LKST_IOC_BUFFER_READ, &b), EINVAL);
	b.buffer = r;
	b.id = 44;
	CHECK_EQ(DO(LKST_IOC_BUFFER_READ, &b), EINVAL);
	b.cpu = -1;
	b.id = LKST_BUFFER_ID_VOID;
	CHECK_EQ(DO(LKST_IOC_BUFFER_READ, &b), 0);
	CHECK(b.result_read_size > 0);
}

static void *shift_later(void *arg)
{
	(void)arg;
	(void)usleep(200000);
	entry(0x100, 777, 2);
	CHECK_EQ(DO(LKST_IOC_BUFFER_SHIFT, 0), 0);
	return NULL;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* 4.7.1.5.1: the queue, waiting, O_NONBLOCK, a signal. */
static void test_read_queue(void)
{
	static struct lkst_log_record r[400];
	struct lkst_buffer_srmodparam sp = { .cpu = 0, .mode = LKST_READ_MODE_STD };
	const struct sigaction sa = { .sa_handler = on_alarm };
	const struct itimerval often = { { 0, 200000 }, { 0, 200000 } }, never = { 0 };
	struct lkst_buffer_listent e[64];
	struct lkst_buffer_listparam lp = { .cpu = 0, .listent_num = 64, .listent = e };
	struct pollfd pfd = { fd, POLLIN, 0 };
	pthread_t t;
	ssize_t n;
	int status;

	CHECK_EQ(read(fd, r, sizeof(r)), -1);
	CHECK_EQ(errno, EBUSY);
	sp.mode = 7;
	CHECK_EQ(DO(LKST_IOC_BUFFER_SETRMOD, &sp), EINVAL);
	sp.mode = LKST_READ_MODE_STD;
	CHECK_EQ(DO(LKST_IOC_BUFFER_SETRMOD, &sp), 0);
	CHECK(sp.cpu_freq > 0 && sp.tsc && sp.buf_ver == LKST_BUF_VER);
	if (!fork()) {		/* another process */
		fd = open(device, O_RDONLY);
		_exit(DO(LKST_IOC_BUFFER_SETRMOD, &sp) != EBUSY);
	}
	CHECK_EQ((wait(&status), status), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (read(fd, r, sizeof(r)) > 0)	/* buffer 0, from before the jump */
		;
	CHECK_EQ(errno, EAGAIN);
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, 0), 0);

	CHECK_EQ(pthread_create(&t, NULL, shift_later, NULL), 0);
	n = read(fd, r, sizeof(r));		/* waits for the shift */
	CHECK_EQ(pthread_join(t, NULL), 0);
	CHECK(n >= (ssize_t)(11 * sizeof(r[0])));
	n /= (ssize_t)sizeof(r[0]);
	while (n && r[n - 1].posix.log_event_type != 0x100)
		n--;
	CHECK(n && r[n - 1].log_arg1 == 777);

	(void)sigaction(SIGALRM, &sa, NULL);
	/* again and again: the first one may come before read() */
	(void)setitimer(ITIMER_REAL, &often, NULL);
	CHECK_EQ(read(fd, r, sizeof(r)), -1);
	CHECK_EQ(errno, EINTR);
	(void)setitimer(ITIMER_REAL, &never, NULL);

	/* full buffers shift by themselves, and the queue has them in their order */
	for (int i = 0; i < 2 * 8192 / 72; i++)
		entry(0x100, (uint64_t)i, 2);
	CHECK_EQ(DO(LKST_IOC_BUFFER_LIST, &lp), 0);
	CHECK_EQ(lp.owner, getpid());
	CHECK(lp.rq_head == 11 || lp.rq_head == 12);
	CHECK_EQ(lp.buffer_num, 3);
	CHECK_EQ(poll(&pfd, 1, 60000), 1);
	n = read(fd, r, 3 * sizeof(r[0]) + 50);
	CHECK_EQ(n, 3 * sizeof(r[0]));
	CHECK_EQ(r[0].log_arg1 + 1, r[1].log_arg1);
}

/* A reader that dies gives its queue back. */
static void test_dead_owner(void)
{
	struct lkst_buffer_srmodparam sp = { .cpu = 0, .mode = LKST_READ_MODE_STD };
	int status, pid;

	close(fd);
	pid = fork();
	if (!pid) {
		fd = open(device, O_RDONLY);
		if (DO(LKST_IOC_BUFFER_SETRMOD, &sp))
			_exit(1);
		(void)raise(SIGKILL);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	fd = open(device, O_RDWR);
	CHECK(fd >= 0);
	CHECK_EQ(DO(LKST_IOC_BUFFER_SETRMOD, &sp), 0);
}

static void clean_up(int maskset)
{
	struct lkst_buffer_jumpparam jump = { 0, 0 };
	struct lkst_buffer_delparam del = { 0, 11 };

	CHECK_EQ(DO(LKST_IOC_BUFFER_JUMP, &jump), 0);
	CHECK_EQ(DO(LKST_IOC_BUFFER_DELETE, &del), 0);
	CHECK_EQ(DO(LKST_IOC_BUFFER_DELETE, &del), EINVAL);
	del.id = 12;
	CHECK_EQ(DO(LKST_IOC_BUFFER_DELETE, &del), 0);
	CHECK_EQ(DO(LKST_IOC_MASKSET_SET, LKST_MASKSET_ID_RDEFAULT), 0);
	CHECK_EQ(DO(LKST_IOC_MASKSET_DELETE, maskset), 0);
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	int maskset;

	device = argc > 1 ? argv[1] : "/dev/lkst";
	test_args(argc - (argc > 1), argv + (argc > 1));
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	fd = open(device, O_RDWR);
	if (fd < 0) {
		printf("1..0 # SKIP cannot open %s: %s\n", device, strerror(errno));
		return 0;
	}
	(void)sched_setaffinity(0, sizeof(set), &set);
	TEST(test_device());
	TEST(test_status());
	maskset = own_maskset();
	TEST(test_handlers());
	make_ring();
	TEST(test_read_buffer());
	TEST(test_read_queue());
	TEST(test_dead_owner());
	clean_up(maskset);
	return test_done();
}
