// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* Whether the directory is there and holds anything; -errno: it cannot be looked at. */
static int occupied(const char *path)
{
	DIR *list = opendir(path);
	const struct dirent *e;
	bool any = false;

	if (!list && tacho_no_room_here(-errno))
		return -errno;
	if (!list)
		return errno != ENOENT;
	while (!any && (e = readdir(list)))
		any = strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(list);
	return any;
}

/* Whether it is a trace of ours, or rotated ones: nothing else is touched. */
static bool is_trace(const char *path)
{
	static const char *const marks[] = { "tacho/info", "0001/tacho/info" };
	char file[4200];

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(marks); i++) {
		(void)snprintf(file, sizeof(file), "%.4096s/%s", path, marks[i]);
		if (!access(file, F_OK))
			return true;
	}
	return false;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int cannot_look(const char *path, int err)
{
	return cli_fail("cannot open '%s': %s", path, strerror(-err));
}

int cli_output_ready(const char *path, bool given)
{
	char old[4200];
	int is = occupied(path);

	if (!is)
		return CLI_OK;
	if (is < 0)
		return cannot_look(path, is);
	if (given || !is_trace(path))
		return cli_fail("'%s' exists and is not empty; name another directory",
				path);
	(void)snprintf(old, sizeof(old), "%.4096s.old", path);
	if (is_trace(old) && nftw(old, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
		return cli_fail("cannot remove '%s': %s", old, strerror(errno));
	if (rename(path, old) < 0)
		return cli_fail("cannot rename '%s' to '%s': %s", path, old,
				strerror(errno));
	return CLI_OK;
}

int cli_output_ready_file(const char *path)
{
	struct stat st;

	if (!stat(path, &st) &&
	    (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size)))
		return cli_fail("'%s' exists and is not %s; remove it or choose "
				"another name", path,
				S_ISDIR(st.st_mode) ? "a file" : "empty");
	return CLI_OK;
}

int cli_output_ready_native(const char *path, const char *native)
{
	int is = occupied(native);

	if (!is)
		return CLI_OK;
	if (is < 0)
		return cannot_look(native, is);
	return cli_fail("'%s' is what a recording of '%s' left that was killed; "
			"finish it ('tacho recover %s', 'tacho convert %s -o %s') "
			"or remove it", native, path, native, native, path);
}

int cli_output_remove(const char *path)
{
	if (is_trace(path) && nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
		return cli_fail("cannot remove '%s': %s", path, strerror(errno));
	return CLI_OK;
}
