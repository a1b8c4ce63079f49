// SPDX-License-Identifier: MIT
#include "fmt/tracedat/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/tracedat/own.h"
#include "fmt/tracedat/write_priv.h"

#define TABLE_MAX	((size_t)1 << 30)
#define TASKS_TEXT_MAX	((size_t)16 << 20)	/* options are read whole */
#define CPU_MAX		8191u		/* what Linux can be built for */

static int fail(struct tacho_dat_writer *w, int err, struct tacho_diag *d)
{
	return err == -ENOMEM ? tacho_diag(d, err, 0, "out of memory") :
	       tacho_diag(d, err, 0, "cannot write '%s': %s", w->path,
			  strerror(-err));
}

/* ---- begin and end --------------------------------------------------------------- */

static int check_path(const char *path, struct tacho_diag *d)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? 0 :
		       tacho_diag(d, -errno, 0, "cannot write '%s': %s", path,
				  strerror(errno));
	if (!S_ISREG(st.st_mode))
		return tacho_diag(d, -EINVAL, 0, "'%s' is not a file; a trace.dat cannot be written to anything else",
				  path);
	if (st.st_size)
		return tacho_diag(d, -EEXIST, 0, "'%s' exists and is not empty; remove it or choose another name",
				  path);
	return 0;
}

static void writer_free(struct tacho_dat_writer *w)
{
	tacho_dat_catalog_release(&w->catalog);
	tacho_dat_spool_release(&w->spool);
	tacho_buf_release(&w->kallsyms);
	tacho_buf_release(&w->cmdlines);
	tacho_buf_release(&w->printk);
	tacho_buf_release(&w->tasks);
	free(w->path);
	free(w->temp);
	free(w->uname);
	free(w);
}

static int writer_init(struct tacho_dat_writer *w, const char *path,
		       const struct tacho_dat_config *c)
{
	w->version = c->version;
	w->map = c->map;
	w->trace_id = c->trace_id;
	(void)snprintf(w->clock, sizeof(w->clock), "%s", c->clock);
	tacho_buf_init(&w->kallsyms, TABLE_MAX);
	tacho_buf_init(&w->cmdlines, TABLE_MAX);
	tacho_buf_init(&w->printk, TABLE_MAX);
	tacho_buf_init(&w->tasks, TASKS_TEXT_MAX);
	w->spool.fd = -1;
	if (c->uname)
		w->uname = strdup(c->uname);
	w->path = strdup(path);
	if (!w->path || (c->uname && !w->uname) ||
	    asprintf(&w->temp, "%s.%d.part", path, (int)getpid()) < 0) {
		w->temp = NULL;
		return -ENOMEM;
	}
	return tacho_dat_catalog_init(&w->catalog);
}

int tacho_dat_writer_new(struct tacho_dat_writer **writer, const char *path,
			 const struct tacho_dat_config *config,
			 struct tacho_diag *d)
{
	struct tacho_dat_writer *w;
	int err = check_path(path, d);

	*writer = NULL;
	if (err)
		return err;
	w = calloc(1, sizeof(*w));
	if (!w)
		return tacho_no_memory(d);
	err = writer_init(w, path, config);
	if (err) {
		tacho_diag(d, err, 0, "out of memory");
	} else {
		err = tacho_dat_spool_open(&w->spool, path);
		if (err)
			(void)fail(w, err, d);
	}
	if (err) {
		writer_free(w);
		return err;
	}
	*writer = w;
	return 0;
}

/*
 * A file that has no name until it is whole, so that a kill leaves nothing
 * after; where the file system has no such files, one named w->temp.
 */
static int open_temp(struct tacho_dat_writer *w, bool *named)
{
	int fd = -1;

	*named = false;
	if (!access("/proc/self/fd", X_OK))
		fd = tacho_dat_open_nameless(w->path, 0666);
	if (fd >= 0)
		return fd;
	*named = true;
	return open(w->temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static int name_file(struct tacho_dat_writer *w, int fd)
{
	char self[40];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, w->temp, AT_SYMLINK_FOLLOW) ?
	       -errno : 0;
}

static int write_file(struct tacho_dat_writer *w, uint64_t *bytes)
{
	bool named;
	int fd = open_temp(w, &named);
	int err;

	if (fd < 0)
		return -errno;
	err = tacho_dat_assemble(w, fd, bytes);
	if (!err && !named) {
		err = name_file(w, fd);
		named = !err;
	}
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(w->temp, w->path))
		err = -errno;
	if (err && named)
		(void)unlink(w->temp);
	return err;
}

int tacho_dat_writer_close(struct tacho_dat_writer *w, bool keep,
			   uint64_t *bytes, struct tacho_diag *d)
{
	uint64_t size = 0;
	int err = 0;

	if (keep)
		err = tacho_dat_spool_finish(&w->spool);
	if (keep && !err)
		err = write_file(w, &size);
	if (err)
		err = fail(w, err, d);
	if (bytes)
		*bytes = size;
	writer_free(w);
	return err;
}

/* ---- records ----------------------------------------------------------------------- */

/*
 * The arguments of trace_printk() and the addresses of a stack are longs of the kernel that
 * recorded them; the file is one of such a kernel.
 */
static void note_long(struct tacho_dat_writer *w, const struct tacho_type *type)
{
	static const char *const names[] = { "print", "bprint", "bputs", "function" };
	const struct tacho_field *ip = tacho_type_field(type, "ip");

	if (w->any || strcmp(type->system, "ftrace") || !ip || ip->size != 4)
		return;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++)
		if (!strcmp(type->name, names[i]))
			w->spool.long_size = 4;
}

int tacho_dat_writer_type(struct tacho_dat_writer *w,
			  const struct tacho_type *type, uint32_t stream_id,
			  struct tacho_diag *d)
{
	if (stream_id == TACHO_STREAM_KERNEL)
		note_long(w, type);
	return tacho_dat_catalog_get(&w->catalog, type, stream_id, d) ? 0 : d->err;
}

static struct tacho_dat_lane *lane_of(struct tacho_dat_writer *w, uint32_t cpu)
{
	return tacho_dat_spool_lane(&w->spool, cpu > CPU_MAX ? UINT32_MAX : cpu);
}

static int put_flat(struct tacho_dat_writer *w, struct tacho_dat_lane *l,
		    const struct tacho_dat_known *k,
		    const struct tacho_record *r, uint64_t ticks)
{
	size_t len = tacho_dat_flat_len(&k->flat, r->raw, r->len);
	unsigned char *to;
	int err;

	to = tacho_dat_spool_add(&w->spool, l, ticks, len, &err);
	if (!to)
		return err;
	tacho_dat_flat_put(&k->flat, r->raw, r->len, to);
	tacho_put_u16(to, (uint16_t)k->id);
	return 0;
}

static int put(struct tacho_dat_writer *w, struct tacho_dat_lane *l,
	       const struct tacho_dat_known *k, const struct tacho_record *r,
	       uint64_t ticks)
{
	unsigned char *to;
	int err;

	if (tacho_unlikely(k->flat.rest))
		return put_flat(w, l, k, r, ticks);
	to = tacho_dat_spool_add(&w->spool, l, ticks, r->len, &err);
	if (!to)
		return err;
	memcpy(to, r->raw, r->len);
	tacho_put_u16(to, (uint16_t)k->id);
	return 0;
}

int tacho_dat_writer_record(struct tacho_dat_writer *w,
			    const struct tacho_record *r, uint64_t ticks,
			    struct tacho_diag *d)
{
	struct tacho_dat_lane *l = lane_of(w, r->cpu);
	const struct tacho_dat_known *k;
	int err;

	k = tacho_dat_catalog_get(&w->catalog, r->type, r->source, d);
	if (!k)
		return d->err;
	if (!l)
		return fail(w, -ENOMEM, d);
	if (tacho_unlikely(!w->any)) {
		w->any = true;
		w->first = ticks;
	}
	err = put(w, l, k, r, ticks);
	return err ? fail(w, err, d) : 0;
}

int tacho_dat_writer_lost(struct tacho_dat_writer *w, uint32_t cpu,
			  uint64_t lost, struct tacho_diag *d)
{
	struct tacho_dat_lane *l = lane_of(w, cpu);

	if (!l)
		return fail(w, -ENOMEM, d);
	l->lost_next += lost;
	l->lost += lost;
	return 0;
}

int tacho_dat_writer_text(struct tacho_dat_writer *w, const char *name,
			  const char *text, size_t len, struct tacho_diag *d)
{
	struct tacho_buf *b = !strcmp(name, "kallsyms") ? &w->kallsyms :
			      !strcmp(name, "cmdlines") ? &w->cmdlines :
							  &w->printk;

	tacho_buf_reset(b);
	tacho_buf_put(b, text, len);
	return tacho_buf_error(b) ? fail(w, tacho_buf_error(b), d) : 0;
}

int tacho_dat_writer_task(struct tacho_dat_writer *w, int32_t tid, int32_t pid,
			  struct tacho_diag *d)
{
	tacho_dat_own_put_task(tid, pid, &w->tasks);
	return tacho_buf_error(&w->tasks) == -ENOMEM ? fail(w, -ENOMEM, d) : 0;
}

size_t tacho_dat_writer_renamed(const struct tacho_dat_writer *w, size_t max,
				struct tacho_buf *out)
{
	return tacho_dat_catalog_renamed(&w->catalog, max, out);
}
