// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/bt2/bt2.h"

#define DEPTH_MAX	8	/* LTTng's deepest is ust/uid/0/64-bit in a chunk */
#define PATH_ROOM	4096

static int not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static bool has_metadata(const char *dir)
{
	char path[PATH_ROOM];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/metadata", dir);

	return n > 0 && n < PATH_ROOM && !stat(path, &st) &&
	       S_ISREG(st.st_mode);
}

static int find(const char *dir, int depth,
		int (*fn)(void *arg, const char *dir), void *arg)
{
	struct dirent **list = NULL;
	int n, err = 0;

	if (has_metadata(dir))
		return fn(arg, dir);
	if (!depth)
		return 0;
	n = scandir(dir, &list, not_hidden, versionsort);
	for (int i = 0; i < n; i++) {
		char path[PATH_ROOM];
		struct stat st;
		int len = snprintf(path, sizeof(path), "%s/%s", dir,
				   list[i]->d_name);

		free(list[i]);
		if (err || len < 0 || len >= PATH_ROOM || lstat(path, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		err = find(path, depth - 1, fn, arg);
	}
	free(list);
	return err;
}

int tacho_bt2_find(const char *dir, int (*fn)(void *arg, const char *dir),
		   void *arg)
{
	return find(dir, DEPTH_MAX, fn, arg);
}

static int found(void *arg, const char *dir)
{
	(void)dir;
	*(bool *)arg = true;
	return 1;
}

bool tacho_bt2_sniff(const struct tacho_sniff *p)
{
	bool yes = false;

	if (p->type == S_IFDIR)
		(void)tacho_bt2_find(p->path, found, &yes);
	return yes;
}
