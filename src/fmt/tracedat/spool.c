// SPDX-License-Identifier: MIT
#include "fmt/tracedat/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

/* Runs of all lanes together take about this much memory. */
#define RUNS_BYTES	((size_t)16 << 20)
#define RUN_MAX		((size_t)64 << 10)

int tacho_dat_open_nameless(const char *path, unsigned int mode)
{
	const char *slash = strrchr(path, '/');
	char name[4200];

	(void)snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		       slash ? path : ".");
	return open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

/* The same on any file system. */
static int open_spool(const char *path)
{
	int fd = tacho_dat_open_nameless(path, 0600);
	char name[4200];

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	(void)snprintf(name, sizeof(name), "%.4096s.XXXXXX", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(name);
	return fd;
}

int tacho_dat_spool_open(struct tacho_dat_spool *s, const char *path)
{
	*s = (struct tacho_dat_spool){
		.fd = open_spool(path), .page_size = TACHO_DAT_PAGE_MIN,
		.long_size = sizeof(uint64_t),
	};
	return s->fd < 0 ? -errno : 0;
}

void tacho_dat_spool_release(struct tacho_dat_spool *s)
{
	for (size_t i = 0; i < s->nr_lanes; i++) {
		free(s->lane[i].bytes);
		free(s->lane[i].run);
	}
	free(s->lane);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct tacho_dat_spool){ .fd = -1 };
}

struct tacho_dat_lane *tacho_dat_spool_lane(struct tacho_dat_spool *s,
					    uint32_t cpu)
{
	struct tacho_dat_lane *l;

	if (tacho_likely(s->last_lane < s->nr_lanes) &&
	    s->lane[s->last_lane].cpu == cpu)
		return &s->lane[s->last_lane];
	for (size_t i = 0; i < s->nr_lanes; i++)
		if (s->lane[i].cpu == cpu) {
			s->last_lane = i;
			return &s->lane[i];
		}
	l = reallocarray(s->lane, s->nr_lanes + 1, sizeof(*l));
	if (!l)
		return NULL;
	s->lane = l;
	s->last_lane = s->nr_lanes;
	l = &l[s->nr_lanes++];
	*l = (struct tacho_dat_lane){ .cpu = cpu };
	return l;
}

/* ---- writing ----------------------------------------------------------------- */

static int write_at(int fd, const void *p, size_t len, uint64_t offset)
{
	const char *from = p;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int flush_run(struct tacho_dat_spool *s, struct tacho_dat_lane *l)
{
	int err;

	if (!l->len)
		return 0;
	if (l->nr_runs == l->room_runs) {
		size_t room = l->room_runs ? l->room_runs * 2 : 16;
		struct tacho_dat_run *run = reallocarray(l->run, room, sizeof(*run));

		if (!run)
			return -ENOMEM;
		l->run = run;
		l->room_runs = room;
	}
	err = write_at(s->fd, l->bytes, l->len, s->size);
	if (err)
		return err;
	l->run[l->nr_runs++] = (struct tacho_dat_run){ s->size, l->len };
	s->size += l->len;
	l->size += l->len;
	l->len = 0;
	return 0;
}

static void end_page(struct tacho_dat_lane *l)
{
	if (!l->open)
		return;
	l->len += TACHO_ALIGN_UP(tacho_dat_page_end(&l->page),
				 TACHO_DAT_PAGE_MIN);
	l->open = false;
}

/* A page for an event of len bytes. */
static int begin_page(struct tacho_dat_spool *s, struct tacho_dat_lane *l,
		      uint64_t time, size_t len)
{
	size_t size = TACHO_ALIGN_UP(len + 4 + TACHO_DAT_PAGE_EXTRA,
				     TACHO_DAT_PAGE_MIN);
	size_t room = RUNS_BYTES / s->nr_lanes / TACHO_DAT_PAGE_MIN *
		      TACHO_DAT_PAGE_MIN;
	int err;

	end_page(l);
	if (l->len + size > l->room) {
		err = flush_run(s, l);
		if (err)
			return err;
	}
	if (size > l->room) {
		if (room > RUN_MAX)
			room = RUN_MAX;
		if (room < size)
			room = size;
		free(l->bytes);
		l->bytes = malloc(room);
		l->room = l->bytes ? room : 0;
		if (!l->bytes)
			return -ENOMEM;
	}
	while (s->page_size < size)
		s->page_size *= 2;
	tacho_dat_page_begin(&l->page, l->bytes + l->len, size, s->long_size, time,
			     l->lost_next);
	l->lost_next = 0;
	l->open = true;
	return 0;
}

unsigned char *tacho_dat_spool_add(struct tacho_dat_spool *s,
				   struct tacho_dat_lane *l, uint64_t time,
				   size_t len, int *err)
{
	unsigned char *to = NULL;

	if (tacho_likely(l->open && !l->lost_next))
		to = tacho_dat_page_add(&l->page, time, len);
	if (tacho_unlikely(!to)) {
		*err = begin_page(s, l, time, len);
		if (*err)
			return NULL;
		to = tacho_dat_page_add(&l->page, time, len);
	}
	if (!l->events++)
		l->first = time;
	l->last = time;
	return to;
}

int tacho_dat_spool_finish(struct tacho_dat_spool *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_lanes && !err; i++) {
		struct tacho_dat_lane *l = &s->lane[i];

		/* what was lost after the last event: a page without any */
		if (l->lost_next)
			err = begin_page(s, l, l->last, 0);
		if (err)
			break;
		end_page(l);
		err = flush_run(s, l);
	}
	return err;
}

/* ---- reading ----------------------------------------------------------------- */

static int read_at(int fd, void *p, size_t len, uint64_t offset)
{
	char *to = p;

	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		to += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

struct repack {
	struct tacho_dat_page page;
	unsigned int long_size;
	unsigned char *bytes;
	size_t size;
	bool open;
	int (*put)(void *arg, const void *pages, size_t len);
	void *arg;
};

static int repack_end(struct repack *r)
{
	if (!r->open)
		return 0;
	r->open = false;
	(void)tacho_dat_page_end(&r->page);
	return r->put(r->arg, r->bytes, r->size);
}

static int repack_page(struct repack *r, const unsigned char *page,
		       size_t *used)
{
	struct tacho_dat_walk w;
	struct tacho_dat_event e;
	int err = 0;

	*used = tacho_dat_walk_begin(&w, page, r->long_size);
	if (!r->open || w.lost) {
		err = repack_end(r);
		tacho_dat_page_begin(&r->page, r->bytes, r->size, r->long_size,
				     w.time, w.lost);
		r->open = true;
	}
	while (!err && tacho_dat_walk_next(&w, &e)) {
		unsigned char *to = tacho_dat_page_add(&r->page, e.time, e.len);

		if (!to) {
			err = repack_end(r);
			tacho_dat_page_begin(&r->page, r->bytes, r->size,
					     r->long_size, e.time, 0);
			r->open = true;
			to = tacho_dat_page_add(&r->page, e.time, e.len);
		}
		if (to)
			memcpy(to, e.raw, e.len);
	}
	return err;
}

static int repack_run(struct repack *r, const unsigned char *bytes, size_t len)
{
	size_t used;
	int err = 0;

	for (size_t at = 0; at < len && !err;
	     at += TACHO_ALIGN_UP(used, TACHO_DAT_PAGE_MIN))
		err = repack_page(r, bytes + at, &used);
	return err;
}

/* Their place is not needed any more: the output grows by as much. */
static void give_back(int fd, const struct tacho_dat_run *run)
{
	(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)run->offset, (off_t)run->len);
}

int tacho_dat_spool_read(struct tacho_dat_spool *s, struct tacho_dat_lane *l,
			 int (*put)(void *arg, const void *pages, size_t len),
			 void *arg)
{
	struct repack r = { .long_size = s->long_size, .size = s->page_size,
			    .put = put, .arg = arg };
	bool repack = s->page_size > TACHO_DAT_PAGE_MIN;
	int err = 0;

	if (repack) {
		r.bytes = malloc(s->page_size);
		if (!r.bytes)
			return -ENOMEM;
	}
	/* the lane's own memory has room for each of its runs */
	for (size_t i = 0; i < l->nr_runs && !err; i++) {
		size_t len = (size_t)l->run[i].len;

		err = read_at(s->fd, l->bytes, len, l->run[i].offset);
		if (!err)
			err = repack ? repack_run(&r, l->bytes, len) :
				       put(arg, l->bytes, len);
		if (!err)
			give_back(s->fd, &l->run[i]);
	}
	if (!err && repack)
		err = repack_end(&r);
	free(r.bytes);
	return err;
}
