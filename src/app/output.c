// SPDX-License-Identifier: MIT
#include "app/output.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/sink.h"

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

/* Removes a trace of ours. */
static int remove_trace(const char *path, struct tacho_diag *d)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
		return tacho_diag(d, -errno, 0, "cannot remove '%s': %s", path,
				  strerror(errno));
	return 0;
}

int app_output_ready(const char *path, bool given, struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	char old[4200];
	int err = tacho_sink_ready(&tacho_sink_ctf, path, &why);

	if (!err)
		return 0;
	if (err != -EEXIST || given || !is_trace(path))
		return tacho_diag(d, err, 0, "%s", why.text);
	(void)snprintf(old, sizeof(old), "%.4096s.old", path);
	err = is_trace(old) ? remove_trace(old, d) : 0;
	if (!err && rename(path, old) < 0)
		err = tacho_diag(d, -errno, 0, "cannot rename '%s' to '%s': %s", path, old,
				 strerror(errno));
	return err;
}

int app_output_ready_native(const char *path, const char *native, struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	int err = tacho_sink_ready(&tacho_sink_ctf, native, &why);

	if (err == -EEXIST)
		return tacho_diag(d, err, 0, "'%s' is what a recording of '%s' left that was "
				  "killed; finish it ('tacho recover %s', 'tacho convert %s "
				  "-o %s') or remove it", native, path, native, native, path);
	return err ? tacho_diag(d, err, 0, "%s", why.text) : 0;
}

int app_output_remove(const char *path, struct tacho_diag *d)
{
	return is_trace(path) ? remove_trace(path, d) : 0;
}
