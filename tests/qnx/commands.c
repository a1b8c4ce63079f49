// SPDX-License-Identifier: MIT
/* The commands of TraceEvent(): what each answers, and when each is refused. */
#include "qnx/api.h"

static void test_without_buffers(void)
{
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYSUPPORT), _NTO_TRACE_SUPPINSTR);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYVERSION), 101);
	CHECK_ERR(TraceEvent(_NTO_TRACE_START), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_STARTNOSTATE), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_STOP), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_SKIPBUFFER), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_OVERWRITEBUFFER), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_FLUSHBUFFER), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_QUERYEVENTS), EFAULT);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETRINGMODE), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETLINEARMODE), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELALLCLASSES), 0);
	/* who inserts what nobody wants is told nothing */
	CHECK_EQ(trace_logi(1, 2, 3), 0);
}

static void test_buffers(void)
{
	void *paddr = &paddr;

	CHECK_ERR(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 0, &paddr), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ALLOCBUFFER, INT_MAX, &paddr), ENOMEM);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 4, &paddr), 0);
	CHECK(!paddr);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 4, &paddr), EEXIST);
	CHECK_EQ(TraceEvent(_NTO_TRACE_STOP), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_START), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_START), 0);
	CHECK_ERR(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_SETRINGMODE), ECANCELED);
	CHECK_ERR(TraceEvent(_NTO_TRACE_SETLINEARMODE), ECANCELED);
	CHECK_EQ(TraceEvent(_NTO_TRACE_STOP), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), 0);
	CHECK_ERR(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), ECANCELED);
}

/* The other mode keeps what was recorded, and its count. */
static void test_mode(void)
{
	CHECK_EQ(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 4, NULL), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_START), 0);
	for (unsigned i = 0; i < 10; i++)
		CHECK_EQ(trace_logi(1, i, i), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_STOP), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETLINEARMODE), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 10);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETRINGMODE), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 10);
	CHECK_EQ(TraceEvent(_NTO_TRACE_START), 0);
	CHECK_EQ(trace_logi(1, 2, 3), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 1);
	CHECK_EQ(TraceEvent(_NTO_TRACE_STOP), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* What programs ask for before they add handlers. */
static void test_thread_ctl(void)
{
	CHECK_EQ(ThreadCtl(_NTO_TCTL_IO, NULL), EOK);
	CHECK_EQ(ThreadCtl(_NTO_TCTL_IO_PRIV, NULL), EOK);
	CHECK_ERR(ThreadCtl(2, NULL), ENOTSUP);
}

static void test_bad(void)
{
	CHECK_ERR(TraceEvent(_NTO_TRACE_ADDCLASS, 21), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_EMPTY), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_USER, 1024), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_PROCESS, 0), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 1, NULL), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 1, NULL, 3), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, 12, 1, 2, 3), EFAULT);
	CHECK_ERR(TraceEvent(_NTO_TRACE_INSERTEVENT, 0x1f << 10, 0, 0, 0), EFAULT);
	CHECK_ERR(TraceEvent(0), EFAULT);
	CHECK_ERR(TraceEvent(999), EFAULT);
	/* 6.6's and 8.0's, whose arguments nobody knows */
	for (int n = 44; n <= 49; n++)
		CHECK_ERR(TraceEvent(1 << 28 | n, 0, 0), ENOTSUP);
}

/* Only some classes can be told apart by who. */
static void test_who_errors(void)
{
	static const int may[] = { _NTO_TRACE_KERCALL, _NTO_TRACE_KERCALLENTER,
		_NTO_TRACE_KERCALLEXIT, _NTO_TRACE_KERCALLINT, _NTO_TRACE_THREAD,
		_NTO_TRACE_VTHREAD, _NTO_TRACE_SYSTEM, _NTO_TRACE_COMM };
	static const int may_not[] = { _NTO_TRACE_CONTROL, _NTO_TRACE_INT, _NTO_TRACE_INTENTER,
		_NTO_TRACE_PROCESS, _NTO_TRACE_USER, _NTO_TRACE_QUIP };

	for (size_t i = 0; i < sizeof(may) / sizeof(*may); i++) {
		CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSPID, may[i], 1), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSTID, may[i], 1, 1), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_SETEVENTPID, may[i], 1, 1), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_SETEVENTTID, may[i], 1, 1, 1), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_CLRCLASSTID, may[i]), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_CLRCLASSPID, may[i]), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_CLREVENTTID, may[i], 1), 0);
		CHECK_EQ(TraceEvent(_NTO_TRACE_CLREVENTPID, may[i], 1), 0);
	}
	for (size_t i = 0; i < sizeof(may_not) / sizeof(*may_not); i++) {
		CHECK_ERR(TraceEvent(_NTO_TRACE_SETCLASSPID, may_not[i], 1), ENOTSUP);
		CHECK_ERR(TraceEvent(_NTO_TRACE_SETCLASSTID, may_not[i], 1, 1), ENOTSUP);
		CHECK_ERR(TraceEvent(_NTO_TRACE_SETEVENTPID, may_not[i], 1, 1), ENOTSUP);
		CHECK_ERR(TraceEvent(_NTO_TRACE_SETEVENTTID, may_not[i], 1, 1, 1), ENOTSUP);
		CHECK_ERR(TraceEvent(_NTO_TRACE_CLRCLASSPID, may_not[i]), ENOTSUP);
		CHECK_ERR(TraceEvent(_NTO_TRACE_CLREVENTTID, may_not[i], 1), ENOTSUP);
	}
}

/* A file that somebody else's tacho made is not touched. */
static void test_not_ours(void)
{
	char path[96], aside[96];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/qnx", test_dir);
	(void)snprintf(aside, sizeof(aside), "%s/aside", test_dir);
	CHECK_EQ(rename(path, aside), 0);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
	CHECK_ERR(TraceEvent(_NTO_TRACE_START), ENOTSUP);
	CHECK_EQ(rename(aside, path), 0);
	CHECK_ERR(TraceEvent(_NTO_TRACE_START), ECANCELED);
}

/* Another's directory. */
static void test_permission(void)
{
	pid_t child;
	int status = -1;

	if (geteuid())
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		if (setegid(65534) || seteuid(65534))
			_exit(2);
		errno = 0;
		_exit(TraceEvent(_NTO_TRACE_ADDALLCLASSES) != -1 || errno != EPERM);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
}

int main(int argc, char **argv)
{
	test_begin(argc, argv);
	TEST(test_without_buffers());
	TEST(test_buffers());
	TEST(test_mode());
	TEST(test_thread_ctl());
	TEST(test_bad());
	TEST(test_who_errors());
	TEST(test_not_ours());
	TEST(test_permission());
	return test_end();
}
