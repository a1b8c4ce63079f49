// SPDX-License-Identifier: MIT
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/<pid>/stat, as proc(5) numbers them. */
enum {
	STATE = 3, PARENT = 4, THREADS = 20, START = 22,
};

struct stat_line {
	char text[1024];
};

/* Returns 0, -ESRCH: no such process, or the error of reading. */
static int read_stat(int32_t pid, struct stat_line *line)
{
	char path[32];
	ssize_t n;
	int fd, err;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, line->text, sizeof(line->text) - 1);
	err = n < 0 ? -errno : n ? 0 : -ESRCH;
	close(fd);
	line->text[n > 0 ? n : 0] = '\0';
	return err;
}

/* Field nr, 3 and up; NULL if the line has fewer. */
static const char *field(const struct stat_line *line, int nr)
{
	/* the command may contain anything: fields count from its last ')' */
	const char *s = strrchr(line->text, ')');

	for (int at = 2; s && at < nr; at++)
		s = strchr(s + 1, ' ');
	return s ? s + 1 : NULL;
}

static uint64_t number(const struct stat_line *line, int nr)
{
	const char *s = field(line, nr);

	return s ? strtoull(s, NULL, 10) : 0;
}

/* Whether its last thread has ended; the entry remains until the parent has waited. */
static bool has_ended(const struct stat_line *line)
{
	const char *state = field(line, STATE);

	return state && (*state == 'X' ||
			 (*state == 'Z' && number(line, THREADS) <= 1));
}

int tacho_process_start(int32_t pid, uint64_t *start)
{
	struct stat_line line;
	int saved = errno;
	int err = read_stat(pid, &line);

	if (!err && has_ended(&line))
		err = -ESRCH;
	*start = err ? 0 : number(&line, START);
	errno = saved;
	return err ? err : *start ? 0 : -EBADMSG;
}

uint64_t tacho_start_time(int32_t pid)
{
	uint64_t start;

	(void)tacho_process_start(pid, &start);
	return start;
}

int32_t tacho_parent_pid(int32_t pid)
{
	struct stat_line line;
	int saved = errno;
	int err = read_stat(pid, &line);

	errno = saved;
	return err ? 0 : (int32_t)number(&line, PARENT);
}

bool tacho_process_runs(int32_t pid)
{
	struct stat_line line;
	int saved = errno;
	bool runs = !kill(pid, 0) || errno != ESRCH;

	/* without /proc, or if it hides other users' processes, this is the only source */
	if (runs && !read_stat(pid, &line))
		runs = !has_ended(&line);
	errno = saved;
	return runs;
}

bool tacho_process_is(int32_t pid, uint64_t start)
{
	uint64_t began;

	if (pid <= 0 || !tacho_process_runs(pid))
		return false;
	return !(uint32_t)start || tacho_process_start(pid, &began) ||
	       (uint32_t)began == (uint32_t)start;
}
