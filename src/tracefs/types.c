// SPDX-License-Identifier: MIT
/* The types of an instance's events, read from tracefs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/scan.h"
#include "tracefs/instance.h"
#include "kdata/types.h"

#define FORMAT_MAX	TACHO_KTYPE_FORMAT_MAX
#define LIST_MAX	((size_t)16 << 20)	/* bytes of all names */

static int load_one(struct tacho_ktypes *t, int root, const char *system,
		    const char *name, struct tacho_buf *text,
		    struct tacho_diag *d)
{
	char path[320];
	int ret;

	snprintf(path, sizeof(path), "events/%.140s/%.140s/format", system,
		 name);
	tacho_buf_reset(text);
	ret = tacho_tracefs_read(root, path, text, d);
	return ret < 0 ? ret : tacho_ktypes_add(t, system, text->data,
						text->len, d);
}

/* The list differs between kernels. */
void tacho_tracefs_load_own_types(struct tacho_ktypes *t, int root)
{
	struct tacho_buf text;
	struct dirent *e;
	DIR *dir;
	int fd;

	fd = openat(root, "events/ftrace", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	tacho_buf_init(&text, FORMAT_MAX);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && e->d_type != DT_REG)
			load_one(t, root, "ftrace", e->d_name, &text, NULL);
	tacho_buf_release(&text);
	closedir(dir);
}

int tacho_kernel_load_types(const struct tacho_kernel *k, struct tacho_ktypes *t,
			    struct tacho_diag *d)
{
	int root = tacho_kernel_tracefs(k)->dirfd;
	const struct tacho_kernel_event *ev;
	struct tacho_buf text;
	int ret = 0;
	size_t i;

	tacho_tracefs_load_own_types(t, root);
	tacho_buf_init(&text, FORMAT_MAX);
	for (i = 0; !ret && (ev = tacho_kernel_enabled(k, i)); i++)
		ret = load_one(t, root, ev->system, ev->name, &text, d);
	tacho_buf_release(&text);
	return ret;
}

/* Whether the event's `id` file has that number. */
static bool has_id(int root, const struct tacho_kernel_event *ev, uint32_t id)
{
	char path[320], text[16];
	const char *digits = text;
	uint64_t v;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "events/%.140s/%.140s/id", ev->system, ev->name);
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return !tacho_scan_digits(&digits, NULL, 10, UINT32_MAX, &v) && v == id;
}

int tacho_kernel_load_type(const struct tacho_kernel *k, struct tacho_ktypes *t, uint32_t id)
{
	const struct tacho_tracefs *fs = tacho_kernel_tracefs(k);
	struct tacho_kernel_event *list;
	struct tacho_arena arena;
	struct tacho_buf text;
	size_t nr, i;
	int ret;

	tacho_arena_init(&arena, LIST_MAX);
	tacho_buf_init(&text, FORMAT_MAX);
	ret = tacho_tracefs_events(fs, &arena, &list, &nr, NULL);
	for (i = 0; !ret && i < nr && !has_id(fs->dirfd, &list[i], id); i++)
		;
	if (!ret && i == nr)
		ret = -ENOENT;
	if (!ret)
		ret = load_one(t, fs->dirfd, list[i].system, list[i].name, &text, NULL);
	tacho_buf_release(&text);
	tacho_arena_release(&arena);
	return ret;
}
