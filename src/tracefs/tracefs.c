/* SPDX-License-Identifier: MIT */
#include "tracefs/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TRACEFS_TYPE	0x74726163	/* statfs() f_type */
#define LIST_MAX	((size_t)16 << 20)

static const char standard_path[] = "/sys/kernel/tracing";

/* 0 and t open when path is the root of a tracefs. */
static int open_at(struct tacho_tracefs *t, const char *path)
{
	struct statfs fs;
	int fd;

	if (strlen(path) >= sizeof(t->path))
		return -ENAMETOOLONG;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) < 0 || (uint64_t)fs.f_type != TRACEFS_TYPE) {
		close(fd);
		return -ENOENT;
	}
	t->dirfd = fd;
	memcpy(t->path, path, strlen(path) + 1);
	return 0;
}

/* /proc/self/mounts writes blanks in a path as \040 and the like. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
		    s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

static int open_mounted(struct tacho_tracefs *t)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char *line = NULL, *at, *path, *type;
	int ret = -ENOENT;
	size_t room = 0;

	if (!f)
		return -errno;
	while (ret < 0 && getline(&line, &room, f) > 0) {
		at = line;
		strsep(&at, " ");
		path = strsep(&at, " ");
		type = strsep(&at, " ");
		if (!type || strcmp(type, "tracefs") != 0)
			continue;
		unescape(path);
		ret = open_at(t, path);
	}
	/* getline() also ends early for lack of memory */
	if (ret < 0 && !feof(f))
		ret = -errno;
	free(line);
	fclose(f);
	return ret;
}

static int find(struct tacho_tracefs *t)
{
	int ret;

	ret = open_at(t, standard_path);
	if (!ret || tacho_no_room_here(ret))
		return ret;
	ret = open_at(t, "/sys/kernel/debug/tracing");
	if (!ret || tacho_no_room_here(ret))
		return ret;
	return open_mounted(t);
}

static int not_mounted(struct tacho_diag *d)
{
	if (access(standard_path, F_OK) < 0)
		return tacho_diag(d, -ENODEV, 0,
			"this kernel has no tracing: '%s' does not exist "
			"(CONFIG_TRACING)", standard_path);
	return tacho_diag(d, -ENOENT, 0,
		"tracefs is not mounted: as root, run "
		"'mount -t tracefs nodev %s'", standard_path);
}

int tacho_tracefs_open(struct tacho_tracefs *t, unsigned int flags,
		       struct tacho_diag *d)
{
	int ret, err;

	t->dirfd = -1;
	ret = find(t);
	if (tacho_no_room_here(ret))
		return tacho_diag(d, ret, 0, "cannot find tracefs: %s", strerror(-ret));
	if (ret < 0 && (flags & TACHO_TRACEFS_MOUNT) && !geteuid() &&
	    !mount("nodev", standard_path, "tracefs", 0, NULL))
		ret = find(t);
	if (ret < 0)
		return not_mounted(d);
	if (!faccessat(t->dirfd, "events", R_OK | X_OK, AT_EACCESS))
		return 0;
	err = errno;
	tacho_tracefs_close(t);
	if (err == EACCES || err == EPERM)
		return tacho_diag(d, -EACCES, 0,
			"no permission for '%s': run as root (to list events "
			"only, ask root for 'mount -o remount,gid=GROUP %s')",
			t->path, t->path);
	return tacho_diag(d, -err, 0, "cannot open '%s/events': %s", t->path,
			  strerror(err));
}

void tacho_tracefs_close(struct tacho_tracefs *t)
{
	if (t->dirfd >= 0)
		close(t->dirfd);
	t->dirfd = -1;
}

static int cannot(struct tacho_diag *d, int ret, const char *verb,
		  const char *path)
{
	if (ret == -EACCES || ret == -EPERM)
		return tacho_diag(d, ret, 0,
				  "cannot %s '%s' in tracefs: run as root",
				  verb, path);
	return tacho_diag(d, ret, 0, "cannot %s '%s' in tracefs: %s", verb,
			  path, strerror(-ret));
}

int tacho_tracefs_read(int dirfd, const char *path, struct tacho_buf *out,
		       struct tacho_diag *d)
{
	int ret = tacho_buf_read_fileat(out, dirfd, path);

	return ret < 0 ? cannot(d, ret, "read", path) : 0;
}

int tacho_tracefs_write(int dirfd, const char *path, const char *text,
			bool append, struct tacho_diag *d)
{
	size_t left = strlen(text);
	ssize_t n;
	int fd, err;

	fd = openat(dirfd, path,
		    O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
	if (fd < 0)
		return cannot(d, -errno, "open", path);
	while (left) {
		n = write(fd, text, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = n < 0 ? errno : EIO;
			close(fd);
			return tacho_diag(d, -err, 0,
				"the kernel refuses '%.*s' in '%s': %s",
				(int)strcspn(text, "\n"), text, path,
				strerror(err));
		}
		text += n;
		left -= (size_t)n;
	}
	close(fd);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct tacho_kernel_event *x = a, *y = b;
	int c = strcmp(x->system, y->system);

	return c ? c : strcmp(x->name, y->name);
}

/* "system:event" lines to a list. */
static int split_events(const struct tacho_buf *text, struct tacho_arena *arena,
			struct tacho_kernel_event **list, size_t *nr)
{
	const char *at = text->data, *end = at + text->len, *nl, *colon;
	struct tacho_kernel_event *ev;
	size_t lines = 0, n = 0;

	for (; at < end; at = nl + 1, lines++) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			break;
	}
	ev = tacho_arena_array(arena, lines + 1, sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	for (at = text->data; n < lines; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			break;
		colon = memchr(at, ':', (size_t)(nl - at));
		if (!colon) {
			lines--;
			continue;
		}
		ev[n].system = tacho_arena_strndup(arena, at,
						   (size_t)(colon - at));
		ev[n].name = tacho_arena_strndup(arena, colon + 1,
						 (size_t)(nl - colon - 1));
		if (!ev[n].system || !ev[n].name)
			return -ENOMEM;
		n++;
	}
	qsort(ev, n, sizeof(*ev), by_name);
	*list = ev;
	*nr = n;
	return 0;
}

int tacho_tracefs_events(const struct tacho_tracefs *t,
			 struct tacho_arena *arena,
			 struct tacho_kernel_event **list, size_t *nr,
			 struct tacho_diag *d)
{
	struct tacho_buf text;
	int ret;

	*list = NULL;
	*nr = 0;
	tacho_buf_init(&text, LIST_MAX);
	ret = tacho_tracefs_read(t->dirfd, "available_events", &text, d);
	if (!ret && text.len) {
		ret = split_events(&text, arena, list, nr);
		if (ret < 0)
			tacho_diag(d, ret, 0, "no memory for the event list");
	}
	tacho_buf_release(&text);
	return ret;
}
