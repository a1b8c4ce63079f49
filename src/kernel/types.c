// SPDX-License-Identifier: MIT
/* The types of an instance's events, read from tracefs. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "kernel/instance.h"
#include "kernel/ktype.h"

#define FORMAT_MAX	TACHO_KTYPE_FORMAT_MAX

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
