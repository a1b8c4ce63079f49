/* SPDX-License-Identifier: MIT */
/* threads.h - the threads that this process has, and whether signals can reach them. */
#ifndef TACHO_TESTS_UNIT_THREADS_H
#define TACHO_TESTS_UNIT_THREADS_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct threads {
	uint32_t nr;
	uint32_t deaf;		/* that have every signal blocked that can be */
};

/*
 * Whether a thread has all signals blocked; -1: it is gone.  Some signals belong to the C library,
 * and two cannot be blocked.
 */
static inline int is_deaf(const char *task)
{
	char path[64], line[128];
	unsigned long long blocked = 0;
	bool found = false;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		found |= sscanf(line, "SigBlk: %llx", &blocked) == 1;
	if (f)
		(void)fclose(f);
	if (!found)
		return -1;
	for (int sig = 1; sig < 65; sig++)
		if (sig != SIGKILL && sig != SIGSTOP && (sig < 32 || sig >= SIGRTMIN) &&
		    !(blocked >> (sig - 1) & 1))
			return 0;
	return 1;
}

static inline struct threads look(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct threads t = { 0 };
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		int deaf = e->d_name[0] == '.' ? -1 : is_deaf(e->d_name);

		t.nr += deaf >= 0;
		t.deaf += deaf > 0;
	}
	if (dir)
		closedir(dir);
	return t;
}

/* A sanitizer may have threads of its own: what was there before does not count. */
static inline struct threads since(struct threads before)
{
	struct threads now = look();

	return (struct threads){ now.nr - before.nr, now.deaf - before.deaf };
}

/*
 * Whether all threads since then have ended.  One that was joined is still in /proc for as long as
 * the kernel takes to remove it.
 */
static inline bool gone(struct threads before)
{
	for (int i = 0; i < 2000 && since(before).nr; i++)
		(void)usleep(1000);
	return !since(before).nr;
}

#endif
