// SPDX-License-Identifier: MIT
/* The files of a trace, and where its index lies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/index_priv.h"
#include "base/text.h"

/* A trace has few directories in each other: pieces of a rotated one, programs and kernel. */
#define DEPTH_MAX	8u
#define FILES_MAX	1000000u

/* ---- files ---- */

static int add_file(struct app_index_files *f, const char *name, uint64_t size, int fd)
{
	struct index_file *file;

	if (f->nr == FILES_MAX)
		return -EFBIG;
	if (f->nr == f->room) {
		uint32_t room = f->room ? 2 * f->room : 16;
		struct index_file *list = reallocarray(f->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		f->list = list;
		f->room = room;
	}
	file = &f->list[f->nr];
	*file = (struct index_file){ .name = strdup(name), .size = size };
	if (!file->name)
		return -ENOMEM;
	f->nr++;
	return index_hash_fd(fd, size, &file->hash);
}

static int add_dir(struct app_index_files *f, int fd, const char *prefix, unsigned int depth);

/* One name of a directory.  What begins with a dot, as an index, is not of the trace. */
static int add_entry(struct app_index_files *f, int dirfd, const char *prefix, const char *name,
		     unsigned int depth)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, err = 0;

	if (name[0] == '.')
		return 0;
	if (snprintf(path, sizeof(path), "%s%s", prefix, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISREG(st.st_mode))
		err = add_file(f, path, (uint64_t)st.st_size, fd);
	else if (S_ISDIR(st.st_mode))
		return add_dir(f, fd, path, depth + 1);		/* closes fd */
	close(fd);
	return err;
}

/* Takes fd over. */
static int add_dir(struct app_index_files *f, int fd, const char *prefix, unsigned int depth)
{
	DIR *dir = depth < DEPTH_MAX ? fdopendir(fd) : NULL;
	char path[PATH_MAX];
	struct dirent *e;
	int err = 0;

	if (!dir) {
		err = depth < DEPTH_MAX ? -errno : -ELOOP;
		close(fd);
		return err;
	}
	if (snprintf(path, sizeof(path), "%s%s", prefix, *prefix ? "/" : "") >= (int)sizeof(path))
		err = -ENAMETOOLONG;
	while (!err) {
		errno = 0;
		e = readdir(dir);
		if (!e) {
			err = -errno;
			break;
		}
		err = add_entry(f, fd, path, e->d_name, depth);
	}
	closedir(dir);
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct index_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int app_index_files(struct app_index_files *f, const char *trace, struct tacho_diag *d)
{
	struct stat st;
	int fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	*f = (struct app_index_files){ .nr = 0 };
	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return tacho_diag(d, err, 0, "cannot read %s: %s", trace, strerror(-err));
	}
	if (S_ISDIR(st.st_mode)) {
		err = add_dir(f, fd, "", 0);
	} else {
		err = add_file(f, "", (uint64_t)st.st_size, fd);
		close(fd);
	}
	if (err) {
		app_index_files_release(f);
		return err == -ENOMEM ? tacho_no_memory(d) :
		       tacho_diag(d, err, 0, "cannot read the files of %s: %s", trace,
				  strerror(-err));
	}
	if (f->nr)
		qsort(f->list, f->nr, sizeof(*f->list), by_name);
	return 0;
}

void app_index_files_release(struct app_index_files *f)
{
	for (uint32_t i = 0; i < f->nr; i++)
		free((char *)(uintptr_t)f->list[i].name);
	free(f->list);
	*f = (struct app_index_files){ .nr = 0 };
}

int app_index_hash(const char *trace, const struct index_file *file, uint64_t size,
		   uint32_t *hash)
{
	int dirfd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int fd = dirfd, err;

	if (dirfd >= 0 && file->name[0])
		fd = openat(dirfd, file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	err = fd < 0 ? -errno : index_hash_fd(fd, size, hash);
	if (fd >= 0)
		close(fd);
	if (dirfd >= 0 && dirfd != fd)
		close(dirfd);
	return err;
}

/* ---- places ---- */

/* "/x/y/shop.trace/" is the directory "/x/y/shop.trace". */
static size_t length_of(const char *trace)
{
	size_t len = strlen(trace);

	while (len > 1 && trace[len - 1] == '/')
		len--;
	return len;
}

int app_index_beside(const char *trace, struct tacho_buf *path)
{
	int len = (int)length_of(trace);
	struct stat st;

	if (stat(trace, &st))
		return -errno;
	tacho_buf_reset(path);
	tacho_buf_printf(path, S_ISDIR(st.st_mode) ? "%.*s/.tacho-index" : "%.*s.tacho-index",
			 len, trace);
	(void)tacho_buf_str(path);
	return tacho_buf_error(path) ? -ENOMEM : 0;
}

/* FNV-1a: which of a user's traces it is, no more. */
static uint64_t hash_of(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	while (*s)
		h = (h ^ (unsigned char)*s++) * UINT64_C(0x100000001b3);
	return h;
}

int app_index_cached(const char *trace, struct tacho_buf *path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *real;

	if (!(cache && cache[0] == '/') && !(home && home[0] == '/'))
		return -ENOENT;
	real = realpath(trace, NULL);
	if (!real)
		return -errno;
	tacho_buf_reset(path);
	if (cache && cache[0] == '/')
		tacho_buf_printf(path, "%s/tacho/", cache);
	else
		tacho_buf_printf(path, "%s/.cache/tacho/", home);
	tacho_buf_put_hex(path, hash_of(real), 16);
	tacho_buf_puts(path, ".tacho-index");
	free(real);
	(void)tacho_buf_str(path);
	return tacho_buf_error(path) ? -ENOMEM : 0;
}

/* Makes the directories of a path under the user's cache directory. */
static int make_dirs(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0700) && errno != EEXIST) {
			*p = '/';
			return -errno;
		}
		*p = '/';
	}
	return 0;
}

/* Whether a file can be made, or written if it is there. */
static bool can_write(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!access(path, F_OK))
		return !access(path, R_OK | W_OK);
	if (!slash)
		return !access(".", W_OK | X_OK);
	if ((size_t)(slash - path) + 2 > sizeof(dir))
		return false;
	memcpy(dir, path, (size_t)(slash - path) + 1);
	dir[slash - path + 1] = '\0';
	return !access(dir, W_OK | X_OK);
}

int app_index_for_writing(const char *trace, struct tacho_buf *path, struct tacho_diag *d)
{
	int err = app_index_beside(trace, path);

	if (!err && can_write(path->data))
		return 0;
	if (!err)
		err = app_index_cached(trace, path);
	if (!err)
		err = make_dirs(path->data);
	if (err == -ENOMEM)
		return tacho_no_memory(d);
	if (err == -ENOENT)
		return tacho_diag(d, err, 0, "cannot write an index beside %s, and there is no "
				  "XDG_CACHE_HOME or HOME to write it to", trace);
	return err ? tacho_diag(d, err, 0, "cannot write an index of %s: %s", trace,
				strerror(-err)) : 0;
}
