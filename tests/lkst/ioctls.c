// SPDX-License-Identifier: MIT
/*
 * One step with the device, again and again.
 *
 *	ioctls status|entry|list|read|create DEVICE TIMES
 *	ioctls switch DEVICE TIMES MASKSET MASKSET
 *	ioctls hold DEVICE CPU		owns the queue, reads a record, waits for its end
 *	ioctls wait DEVICE CPU		reads until it fails
 *	ioctls others DEVICE USER	all requests as that user
 *	ioctls follow DEVICE CPU COUNT	prints the first argument of COUNT events 0x100
 *
 * Nothing of tacho is linked or included.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/lkst.h>
#include <linux/lkst_buffer.h>
#include <linux/lkst_maskset.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd;

static int fail(const char *what)
{
	fprintf(stderr, "cannot %s: %s\n", what, strerror(errno));
	return 1;
}

static int do_status(void)
{
	struct lkst_trc_status st;

	return ioctl(fd, LKST_IOC_TRC_STATUS, &st) ? fail("get the status") : 0;
}

static int do_entry(void)
{
	struct lkst_entry_args e = { 0x100, 1, 2, 3, 4 };

	return ioctl(fd, LKST_IOC_ENTRY_LOG, &e) ? fail("tell of an event") : 0;
}

static int do_list(void)
{
	struct lkst_maskset_listent m[LKST_MASKSET_MAX];
	struct lkst_maskset_listparam p = { 0, sizeof(m), m };
	struct lkst_buffer_listent e[LKST_BUFFER_MAX];
	struct lkst_buffer_listparam b = { .cpu = 0, .listent_num = LKST_BUFFER_MAX,
					   .listent = e };

	if (ioctl(fd, LKST_IOC_MASKSET_LIST, &p) || strcmp(m[2].name, "RDEFAULT"))
		return fail("list the masksets");
	return ioctl(fd, LKST_IOC_BUFFER_LIST, &b) || b.buffer_num < 1 ?
	       fail("list the buffers") : 0;
}

/* A buffer that is deleted meanwhile is no error. */
static int do_read(void)
{
	static struct lkst_log_record r[1000];
	struct lkst_log_buffer b = { .cpu = 0, .id = 1, .read_size = sizeof(r), .buffer = r };

	if (ioctl(fd, LKST_IOC_BUFFER_READ, &b))
		return errno == EINVAL ? 0 : fail("read a buffer");
	for (size_t i = 0; i < b.result_read_size / sizeof(r[0]); i++)
		if (r[i].posix.log_magic != LKST_MAGIC || r[i].posix.log_processor)
			return fail("find records of the CPU");
	return 0;
}

static int do_create(void)
{
	struct lkst_buffer_param p = { .id = LKST_BUFFER_ID_VOID, .cpu = 0, .size = 65536,
				       .next = LKST_BUFFER_ID_VOID };
	struct lkst_buffer_delparam d = { .cpu = 0 };

	if (ioctl(fd, LKST_IOC_BUFFER_CREATE, &p))
		return fail("create a buffer");
	d.id = p.id;
	return ioctl(fd, LKST_IOC_BUFFER_DELETE, &d) ? fail("delete it") : 0;
}

static int switch_between(int times, const char *one, const char *other)
{
	int id[2] = { atoi(one), atoi(other) };

	for (int i = 0; i < times; i++)
		if (ioctl(fd, LKST_IOC_MASKSET_SET, id[i % 2]))
			return fail("select a maskset");
	return 0;
}

/* ---- read() ---- */

static int own(int cpu)
{
	struct lkst_buffer_srmodparam p = { .cpu = cpu, .mode = LKST_READ_MODE_STD };

	return ioctl(fd, LKST_IOC_BUFFER_SETRMOD, &p) ? fail("own the queue") : 0;
}

static int hold(int cpu)
{
	struct lkst_log_record r;

	if (own(cpu))
		return 1;
	do
		if (read(fd, &r, sizeof(r)) != sizeof(r))
			return fail("read");
	while (r.posix.log_event_type != 0x100);
	for (;;)
		(void)pause();
}

static int wait_for_end(int cpu)
{
	static struct lkst_log_record r[1000];

	if (own(cpu))
		return 1;
	while (read(fd, r, sizeof(r)) > 0)
		;
	return fail("read");
}

static int follow(int cpu, int count)
{
	static struct lkst_log_record r[100];
	ssize_t n;

	if (own(cpu))
		return 1;
	while (count > 0) {
		n = read(fd, r, sizeof(r));
		if (n <= 0)
			return fail("read");
		for (size_t i = 0; i < (size_t)n / sizeof(r[0]); i++)
			if (r[i].posix.log_event_type == 0x100 && count-- > 0)
				printf("%llu\n", (unsigned long long)r[i].log_arg1);
	}
	return 0;
}

/* Opened by who may, used by who may not. */
static int do_others(unsigned int user)
{
	static const unsigned long requests[] = {
		LKST_IOC_TRC_STATUS, LKST_IOC_TRC_START, LKST_IOC_TRC_STOP, LKST_IOC_MASKSET_READ,
		LKST_IOC_MASKSET_WRITE, LKST_IOC_MASKSET_SET, LKST_IOC_MASKSET_LIST,
		LKST_IOC_MASKSET_DELETE, LKST_IOC_EVHANDLER_LIST, LKST_IOC_EVHANDLER_CTRL,
		LKST_IOC_BUFFER_READ, LKST_IOC_BUFFER_CREATE, LKST_IOC_BUFFER_SHIFT,
		LKST_IOC_BUFFER_JUMP, LKST_IOC_BUFFER_LINK, LKST_IOC_BUFFER_DELETE,
		LKST_IOC_BUFFER_LIST, LKST_IOC_BUFFER_RING, LKST_IOC_BUFFER_SETRMOD,
		LKST_IOC_ENTRY_LOG,
	};
	const int nr = sizeof(requests) / sizeof(requests[0]);
	static char area[65536];
	int refused = 0;

	if (setresgid(user, user, user) || setresuid(user, user, user))
		return fail("become another user");
	for (int i = 0; i < nr; i++)
		refused += ioctl(fd, requests[i], area) == -1 && errno == EPERM;
	printf("%d of %d and read: %s\n", refused, nr,
	       read(fd, area, sizeof(area)) == -1 && errno == EPERM ? "EPERM" : "not");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(void);
	} steps[] = {
		{ "status", do_status }, { "entry", do_entry }, { "list", do_list },
		{ "read", do_read }, { "create", do_create },
	};
	int ret = 0, number;

	if (argc < 4)
		return 2;
	number = atoi(argv[3]);
	fd = open(argv[2], O_RDWR);
	if (fd < 0)
		return fail("open the device");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(argv[1], steps[i].name)) {
			for (int n = 0; !ret && n < number; n++)
				ret = steps[i].fn();
			return ret;
		}
	if (!strcmp(argv[1], "others"))
		return do_others((unsigned int)number);
	if (!strcmp(argv[1], "hold"))
		return hold(number);
	if (!strcmp(argv[1], "wait"))
		return wait_for_end(number);
	if (!strcmp(argv[1], "follow") && argc == 5)
		return follow(number, atoi(argv[4]));
	if (!strcmp(argv[1], "switch") && argc == 6)
		return switch_between(number, argv[4], argv[5]);
	return 2;
}
