// SPDX-License-Identifier: MIT
/*
 * renamer - what files.sh cannot do by itself.
 *
 *	renamer			a traced program: "VALUE NAME" on stdin is an event, and
 *				answered by "ok"; events are those of rename_trace.h
 *	renamer reread FILE	reads FILE, again from its beginning, and again behind
 *				it: "same", or how it differed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "rename_trace.h"

static int serve(void)
{
	char line[64], from[16] = "", to[16];
	int value;

	(void)prctl(PR_GET_NAME, from);
	printf("ok\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		memset(to, 0, sizeof(to));
		if (sscanf(line, "%d %15s", &value, to) != 2)
			return 2;
		(void)prctl(PR_SET_NAME, to);
		trace_task_rename(getpid(), from, to, (short)value);
		memcpy(from, to, sizeof(from));
		printf("ok\n");
		fflush(stdout);
	}
	return 0;
}

/* All that can be read, by parts of `part` bytes. */
static size_t take(int fd, char *to, size_t size, size_t part)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = read(fd, to + at, part < size - at ? part : size - at);

		if (n < 0) {
			printf("%s\n", strerror(errno));
			exit(0);
		}
		if (!n)
			break;
		at += (size_t)n;
	}
	return at;
}

static int reread(const char *path)
{
	static char first[1 << 20], second[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n, m;

	if (fd < 0) {
		printf("%s\n", strerror(errno));
		return 0;
	}
	n = take(fd, first, 7, 7);
	n += take(fd, first + n, sizeof(first) - n, 4096);
	if (lseek(fd, 0, SEEK_SET))
		printf("lseek: %s\n", strerror(errno));
	m = take(fd, second, sizeof(second), 61);
	if (n == m && !memcmp(first, second, n))
		printf("same\n");
	else
		printf("%zu bytes, then %zu\n", n, m);
	m = take(fd, second, sizeof(second), 100);
	printf("%zu bytes behind the end\n", m);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "reread"))
		return reread(argv[2]);
	if (argc == 1)
		return serve();
	fprintf(stderr, "usage: renamer [reread FILE]\n");
	return 2;
}
