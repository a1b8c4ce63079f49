/* SPDX-License-Identifier: MIT */
/* tmpdir.h - a directory of the test's own, and its removal. */
#ifndef TACHO_TESTS_STREAM_TMPDIR_H
#define TACHO_TESTS_STREAM_TMPDIR_H

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char tmpdir[200];

__attribute__((unused))
static int tmpdir_remove_one(const char *path, const struct stat *st, int flag,
			     struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void tmpdir_remove(const char *path)
{
	(void)nftw(path, tmpdir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void tmpdir_at_exit(void)
{
	if (tmpdir[0])
		tmpdir_remove(tmpdir);
}

static inline void tmpdir_make(void)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(tmpdir, sizeof(tmpdir), "%s/tacho-stream-XXXXXX",
		       base ? base : "/tmp");
	if (!mkdtemp(tmpdir)) {
		perror(tmpdir);
		exit(1);
	}
	if (!getenv("KEEP")) atexit(tmpdir_at_exit);
}

/* tmpdir/name, in one of a few buffers that are used in turn. */
static inline const char *tmpdir_path(const char *name)
{
	static char path[8][400];
	static unsigned int turn;
	char *p = path[turn++ % 8];

	(void)snprintf(p, sizeof(path[0]), "%s/%s", tmpdir, name);
	return p;
}

/* A random number generator whose numbers are the same on every run. */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
