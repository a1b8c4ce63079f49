/* SPDX-License-Identifier: MIT */
/*
 * api.h - what the tests of TraceEvent() share: a run-time directory of their own, and what the
 * session holds, as text.
 */
#ifndef TACHO_TESTS_QNX_API_H
#define TACHO_TESTS_QNX_API_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/neutrino.h>
#include <sys/stat.h>
#include <sys/trace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tacho/stream.h"
#include "unit/test.h"

static char test_dir[64], test_session[64];

/* Runs the test anew in a directory of its own: the library looks at it when it is loaded. */
static void test_begin(int argc, char **argv)
{
	const char *dir = getenv("QNX_TEST_DIR");

	if (!dir) {
		char path[] = "/tmp/qnx-test.XXXXXX", name[32];

		if (!mkdtemp(path))
			SKIP("no temporary directory");
		(void)snprintf(name, sizeof(name), "qnxtest%d", (int)getpid());
		setenv("QNX_TEST_DIR", path, 1);
		setenv("TACHO_DIR", path, 1);
		setenv("QNX_SESSION", name, 1);
		execv("/proc/self/exe", argv);
		SKIP("cannot run again");
	}
	test_args(argc, argv);
	(void)snprintf(test_dir, sizeof(test_dir), "%s", dir);
	(void)snprintf(test_session, sizeof(test_session), "session:%s", getenv("QNX_SESSION"));
}

static int test_end(void)
{
	char cmd[96];

	(void)TraceEvent(_NTO_TRACE_STOP);
	(void)TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
	(void)snprintf(cmd, sizeof(cmd), "rm -rf '%s'", test_dir);
	if (system(cmd))
		printf("# %s stays\n", test_dir);
	return test_done();
}

/* "system:name what it says;" for each record of the session, in order; static. */
__attribute__((unused)) static const char *test_text(void)
{
	static char all[1 << 16];
	struct tacho_stream *s;
	struct tacho_record r;
	size_t n = 0;

	all[0] = '\0';
	if (tacho_stream_open(&s, test_session, 0, NULL))
		return "(no session)";
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		char line[2048];

		(void)tacho_record_text(s, &r, line, sizeof(line));
		n += (size_t)snprintf(all + n, n < sizeof(all) ? sizeof(all) - n : 0,
				      "%s:%s %s;", tacho_type_system(r.type),
				      tacho_type_name(r.type), line);
	}
	tacho_stream_close(s);
	return all;
}

/* The session with these buffers, running; what it held is gone. */
__attribute__((unused)) static void test_anew(int buffers)
{
	(void)TraceEvent(_NTO_TRACE_STOP);
	(void)TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ALLOCBUFFER, buffers, NULL), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELALLCLASSES), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_START), 0);
}

#define CHECK_ERR(call, err) do {		\
	errno = 0;				\
	CHECK_EQ(call, -1);			\
	CHECK_EQ(errno, err);			\
} while (0)

#endif
