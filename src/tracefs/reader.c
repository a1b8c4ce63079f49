/* SPDX-License-Identifier: MIT */
#include "tracefs/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/scan.h"

/* linux/trace_mmap.h, which most systems' headers lack. */
struct tacho_kreader_map {
	uint32_t meta_page_size;
	uint32_t meta_struct_len;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
	struct {
		uint64_t lost_events;
		uint32_t id;
		uint32_t read;
	} reader;
	uint64_t flags;
	uint64_t entries;
	uint64_t overrun;
	uint64_t read;
	uint64_t reserved[2];
};

#define GET_READER	_IO('R', 0x20)

/*
 * Maps the control words first, because they have the length of the whole mapping.  Returns false
 * without kernel support; then read() is used.
 */
static bool map_open(struct tacho_kreader *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct tacho_kreader_map *m;
	uint32_t meta, nr;
	void *p;

	p = mmap(NULL, page, PROT_READ, MAP_SHARED, r->fd, 0);
	if (p == MAP_FAILED)
		return false;
	m = p;
	meta = m->meta_page_size;
	nr = m->nr_subbufs;
	if (!meta || meta % page || meta > r->subbuf_size ||
	    m->meta_struct_len < sizeof(*m) - 16 ||
	    m->subbuf_size != r->subbuf_size || !nr || nr > 1u << 24)
		goto fail;
	r->subs_len = (size_t)nr * r->subbuf_size;
	r->subs = mmap(NULL, r->subs_len, PROT_READ, MAP_SHARED, r->fd,
		       (off_t)meta);
	if (r->subs == MAP_FAILED)
		goto fail;
	r->map = m;
	r->map_len = page;
	r->nr_subs = nr;
	r->id = UINT32_MAX;
	return true;
fail:
	munmap(p, page);
	r->subs = NULL;
	return false;
}

static int open_reader(struct tacho_kreader *r, const struct tacho_kernel *k,
		       uint32_t cpu, unsigned int flags, unsigned char *memory,
		       struct tacho_diag *d)
{
	const struct tacho_kernel_info *info = tacho_kernel_info(k);
	char path[64];
	int err;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->stats_fd = -1;
	r->cpu = cpu;
	r->subbuf_size = info->subbuf_size;
	r->layout = info->layout;
	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	r->fd = openat(tacho_kernel_dirfd(k), path,
		       O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->fd < 0)
		goto fail;
	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	r->stats_fd = openat(tacho_kernel_dirfd(k), path, O_RDONLY | O_CLOEXEC);
	if (r->stats_fd < 0)
		goto fail;
	if ((flags & TACHO_KREADER_MAP) && map_open(r))
		return 0;
	r->borrowed = memory;
	r->copy = memory ? memory : malloc(r->subbuf_size + TACHO_KREADER_SLACK);
	if (r->copy)
		return 0;
	errno = ENOMEM;
fail:
	err = errno;
	tacho_kreader_close(r);
	return tacho_diag(d, -err, 0, "cannot open '%s' of a tracefs instance: %s",
			  path, strerror(err));
}

int tacho_kreader_open(struct tacho_kreader *r, const struct tacho_kernel *k,
		       uint32_t cpu, unsigned int flags, struct tacho_diag *d)
{
	return open_reader(r, k, cpu, flags, NULL, d);
}

int tacho_kreader_open_into(struct tacho_kreader *r, const struct tacho_kernel *k,
			    uint32_t cpu, unsigned char *memory, struct tacho_diag *d)
{
	return open_reader(r, k, cpu, 0, memory, d);
}

/* munmap() wants what mmap() gave; the cast drops const, nothing else. */
static void unmap(const void *p, size_t len)
{
	if (p)
		munmap((void *)(uintptr_t)p, len);
}

void tacho_kreader_close(struct tacho_kreader *r)
{
	unmap(r->subs, r->subs_len);
	unmap(r->map, r->map_len);
	if (r->fd >= 0)
		close(r->fd);
	if (r->stats_fd >= 0)
		close(r->stats_fd);
	if (!r->borrowed)
		free(r->copy);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->stats_fd = -1;
}

static int next_read(struct tacho_kreader *r)
{
	ssize_t n;

	do
		n = read(r->fd, r->copy, r->subbuf_size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (!n)
		return 0;
	r->fresh = true;
	r->limit = r->copy + r->subbuf_size + TACHO_KREADER_SLACK;
	return tacho_kpage_open(&r->page, &r->layout, r->copy, (size_t)n) < 0 ?
	       -EBADMSG : 1;
}

/*
 * The kernel also returns the sub-buffer that it is still filling: then the same id is returned
 * again with more bytes.  It continues with another one only after all of this one was returned.
 */
static int next_map(struct tacho_kreader *r)
{
	const unsigned char *sub;
	uint32_t id, upto;

	while (ioctl(r->fd, GET_READER) < 0)
		if (errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
	id = tacho_load_acquire(&r->map->reader.id);
	upto = tacho_load_relaxed(&r->map->reader.read);
	if (id >= r->nr_subs || upto > r->subbuf_size - r->layout.data_off)
		return -EIO;
	if (!upto || (id == r->id && upto == r->upto))
		return 0;
	sub = r->subs + (size_t)id * r->subbuf_size;
	r->fresh = id != r->id || upto < r->upto;
	r->id = id;
	r->upto = upto;
	r->limit = sub + r->subbuf_size;
	if (r->fresh)
		return tacho_kpage_open_part(&r->page, &r->layout, sub,
					     r->subbuf_size, upto) < 0 ?
		       -EBADMSG : 1;
	return tacho_kpage_extend(&r->page, &r->layout, sub, r->subbuf_size,
				  upto) < 0 ? -EBADMSG : 1;
}

int tacho_kreader_next(struct tacho_kreader *r)
{
	return r->map ? next_map(r) : next_read(r);
}

static uint64_t stat_value(const char *text, const char *key)
{
	uint64_t v = 0;

	(void)tacho_scan_after(text, NULL, key, UINT64_MAX, &v);
	return v;
}

int tacho_kreader_stats(const struct tacho_kreader *r,
			struct tacho_kreader_stats *s)
{
	char text[512];
	ssize_t n;

	n = pread(r->stats_fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	s->entries = stat_value(text, "entries: ");
	/* "commit overrun: " comes second, so the first match is this one. */
	s->overrun = stat_value(text, "overrun: ");
	s->commit_overrun = stat_value(text, "commit overrun: ");
	s->dropped = stat_value(text, "dropped events: ");
	s->read = stat_value(text, "read events: ");
	return 0;
}
