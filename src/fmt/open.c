// SPDX-License-Identifier: MIT
/* tacho_stream_open(): which format is it, and of how many traces. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt/bt2/bt2.h"
#include "fmt/ctf/read.h"
#include "fmt/fmt.h"
#include "fmt/kev/read.h"
#include "fmt/lkst/source.h"
#include "fmt/ltt/read.h"
#include "fmt/others.h"
#include "fmt/tracedat/read.h"
#include "stream/crash.h"
#include "stream/image.h"
#include "stream/live.h"
#include "stream/live_kernel.h"
#include "stream/stream.h"

/* Traces below one directory; each costs three descriptors. */
#define CHUNKS_MAX	4096u

/* "session:NAME": a session that lives. */
#define SESSION_PREFIX "session:"

static bool live_sniff(const struct tacho_sniff *p)
{
	return !strncmp(p->path, SESSION_PREFIX, strlen(SESSION_PREFIX));
}

static int live_open(struct tacho_source **source, const char *path,
		     unsigned int flags, struct tacho_diag *d)
{
	return tacho_live_open(source, path + strlen(SESSION_PREFIX), flags, d);
}

/* "kernel:EVENT,EVENT": the running kernel. */
#define KERNEL_PREFIX "kernel:"

static bool kernel_sniff(const struct tacho_sniff *p)
{
	return !strncmp(p->path, KERNEL_PREFIX, strlen(KERNEL_PREFIX));
}

static int kernel_open(struct tacho_source **source, const char *path,
		       unsigned int flags, struct tacho_diag *d)
{
	return tacho_live_kernel_open_list(source, path + strlen(KERNEL_PREFIX),
					   flags, d);
}

/* A core dump of a traced program. */
static bool core_sniff(const struct tacho_sniff *p)
{
	return tacho_image_is_core(p->head, p->len);
}

/*
 * Other memory has no head: what nothing else is, and has a page at least, is looked
 * through last.
 */
static bool image_sniff(const struct tacho_sniff *p)
{
	return p->type == S_IFREG && p->len == TACHO_SNIFF_HEAD;
}

/* Those that are sure first: "ctf" is any directory with something called metadata. */
static const struct tacho_format formats[] = {
	{ .name = "kernel", .sniff = kernel_sniff, .open = kernel_open },
	{ .name = "session", .sniff = live_sniff, .open = live_open },
	{ .name = "tacho", .sniff = tacho_ctf_sniff, .open = tacho_ctf_open,
	  .rotates = true },
	{ .name = "trace.dat", .sniff = tacho_dat_sniff, .open = tacho_dat_open },
	{ .name = "lkst", .sniff = lkst_source_sniff, .open = lkst_source_open },
	{ .name = "ltt", .sniff = tacho_ltt_sniff, .open = tacho_ltt_open },
	{ .name = "kev", .sniff = tacho_kev_sniff, .open = tacho_kev_open },
	{ .name = "perf.data", .sniff = tacho_perf_sniff, .open = tacho_perf_refuse },
	{ .name = "lttng-0", .sniff = tacho_lttng0_sniff, .open = tacho_lttng0_refuse },
	{ .name = "core", .sniff = core_sniff, .open_all = tacho_crash_open },
	{ .name = "ctf2", .sniff = tacho_ctf2_sniff, .open = tacho_ctf2_open },
	{ .name = "ctf", .sniff = tacho_bt2_sniff, .open = tacho_bt2_open },
	{ .name = "image", .sniff = image_sniff, .open_all = tacho_crash_open },
};

/* 0, or -errno: nothing can be said of it. */
static int look_at(struct tacho_sniff *p, const char *path)
{
	struct stat st;
	int fd = -1, err = 0;

	p->path = path;
	p->type = stat(path, &st) ? 0 : st.st_mode & S_IFMT;
	p->len = 0;
	if (p->type == S_IFREG)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return p->type == S_IFREG && tacho_no_room_here(-errno) ? -errno : 0;
	while (p->len < sizeof(p->head)) {
		ssize_t n = read(fd, p->head + p->len, sizeof(p->head) - p->len);

		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		p->len += (size_t)n;
	}
	close(fd);
	return err;
}

/* *f: NULL: none.  0, or -errno: it could not be found out. */
static int find_format(const struct tacho_sniff *p, bool rotates,
		       const struct tacho_format **f)
{
	*f = NULL;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(formats) && !*f; i++) {
		errno = 0;
		if ((!rotates || formats[i].rotates) && formats[i].sniff(p))
			*f = &formats[i];
		else if (tacho_no_room_here(-errno))
			return -errno;
	}
	return 0;
}

static int add(struct tacho_stream *s, const struct tacho_format *f,
	       const char *path, unsigned int flags, struct tacho_diag *d)
{
	struct tacho_source *source;
	int err;

	if (f->open_all)
		return f->open_all(s, path, flags, d);
	err = f->open(&source, path, flags, d);
	if (!err && tacho_stream_add_take(s, source))
		err = tacho_no_memory(d);
	return err;
}

static int may_be_directory(const struct dirent *e)
{
	return e->d_name[0] != '.' && e->d_type != DT_REG;
}

/*
 * The traces in a directory, by name: the parts of a rotated one.  *found says
 * how many there are.
 */
static int add_chunks(struct tacho_stream *s, const char *dir,
		      unsigned int flags, uint32_t *found, struct tacho_diag *d)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, may_be_directory, versionsort), err = 0;

	*found = 0;
	if (n < 0 && tacho_no_room_here(-errno))
		return -errno;
	for (int i = 0; i < n; i++) {
		const struct tacho_format *f;
		struct tacho_sniff p;
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		free(list[i]);
		if (err)
			continue;
		err = look_at(&p, path);
		if (!err)
			err = find_format(&p, true, &f);
		if (err || !f)
			continue;
		err = ++*found > CHUNKS_MAX ?
		      tacho_diag(d, -EMFILE, 0, "'%s' holds more than %u traces; read "
				 "some of them at a time", dir, CHUNKS_MAX) :
		      add(s, f, path, flags, d);
	}
	free(list);
	return err;
}

static int open_path(struct tacho_stream *s, const char *path,
		     unsigned int flags, struct tacho_diag *d)
{
	const struct tacho_format *f;
	struct tacho_sniff p;
	uint32_t found;
	int err;

	err = look_at(&p, path);
	if (!err)
		err = find_format(&p, false, &f);
	if (err)
		return err;
	/* a rotated trace is also a directory with metadata below it */
	if (f && f->rotates)
		return add(s, f, path, flags, d);
	if (p.type == S_IFDIR) {
		err = add_chunks(s, path, flags, &found, d);
		if (err || found)
			return err;
	}
	if (f)
		return add(s, f, path, flags, d);
	if (access(path, R_OK))
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", path,
				  strerror(errno));
	return tacho_diag(d, -EINVAL, 0, "'%s' is not a trace", path);
}

int tacho_stream_open(struct tacho_stream **stream, const char *path,
		      unsigned int flags, struct tacho_error *error)
{
	struct tacho_stream *s = tacho_stream_new(flags);
	struct tacho_diag d = { 0 };
	int err;

	*stream = NULL;
	if (!s)
		err = tacho_no_memory(&d);
	else
		err = open_path(s, path, flags, &d);
	if (err) {
		tacho_stream_close(s);
		if (!d.err)
			tacho_diag(&d, err, 0, "cannot open '%s': %s", path,
				   strerror(-err));
		tacho_error_from(error, &d);
		return err;
	}
	*stream = s;
	return 0;
}
