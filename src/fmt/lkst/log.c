// SPDX-License-Identifier: MIT
/* Records merged by time. */
#include "fmt/lkst/log_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/compiler.h"

/* ---- a log file ---- */

static int file_load(struct lkst_log *log, struct lkst_cursor *c)
{
	const struct lkst_blocks *b = &log->blocks;

	while (c->next < b->run[c->run].to) {
		uint32_t i = c->next++;
		struct lkst_record *first;
		int n;

		if (!c->room)
			c->room = lkst_blocks_room(b);
		if (!c->room)
			return tacho_no_memory(&log->why);
		n = lkst_blocks_read(b, i, c->room, &first);
		if (n == -EINVAL)
			log->damaged++;
		else if (n < 0)
			return tacho_diag(&log->why, n, lkst_blocks_offset(b, i),
					  "cannot read '%s': %s", b->path, strerror(-n));
		if (n < 0)
			continue;
		log->lost += b->block[i].lost;
		c->at = (unsigned char *)first;
		c->left = (uint32_t)n;
		if (n)
			return 1;
	}
	free(c->room);
	c->room = NULL;
	return 0;
}

static int file_cursors(struct lkst_log *log)
{
	const struct lkst_blocks *b = &log->blocks;

	log->load = file_load;
	log->damaged = b->damaged;
	log->cursor = calloc(b->nr_runs ? b->nr_runs : 1, sizeof(*log->cursor));
	if (!log->cursor)
		return -ENOMEM;
	log->nr = b->nr_runs;
	for (uint32_t i = 0; i < log->nr; i++) {
		struct lkst_cursor *c = &log->cursor[i];
		const struct lkst_block_at *first = &b->block[b->run[i].from];

		c->run = i;
		c->next = b->run[i].from;
		c->buffer = b->run[i].buffer;
		c->ticks = first->nr ? first->first : 0;
	}
	return 0;
}

/* ---- the heap ---- */

static bool before(const struct lkst_cursor *a, const struct lkst_cursor *b)
{
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks;
	/* it may have one of that time, and a lower index */
	if (a->known != b->known)
		return b->known;
	return a->index < b->index;
}

static void sink(struct lkst_log *log, uint32_t i)
{
	struct lkst_cursor *moved = log->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= log->nr_heap)
			break;
		if (child + 1 < log->nr_heap && before(log->heap[child + 1], log->heap[child]))
			child++;
		if (!before(log->heap[child], moved))
			break;
		log->heap[i] = log->heap[child];
		i = child;
	}
	log->heap[i] = moved;
}

/* The top sinks to its place; then how far the one that is there now may go. */
static void settle(struct lkst_log *log)
{
	const struct lkst_cursor *next;

	if (log->nr_heap)
		sink(log, 0);
	log->bound = UINT64_MAX;
	if (log->nr_heap > 1) {
		next = log->heap[1];
		if (log->nr_heap > 2 && before(log->heap[2], next))
			next = log->heap[2];
		/* at equal times the order has to be looked at */
		log->bound = next->ticks;
	}
}

static int make_heap(struct lkst_log *log)
{
	log->heap = calloc(log->nr ? log->nr : 1, sizeof(struct lkst_cursor *));
	if (!log->heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < log->nr; i++) {
		log->cursor[i].index = i;
		log->heap[i] = &log->cursor[i];
	}
	log->nr_heap = log->nr;
	for (uint32_t i = log->nr; i-- > 1;)
		sink(log, i);
	settle(log);
	return 0;
}

/* The top has no batch: it gets one, or leaves.  0 or -errno. */
static TACHO_COLD int refill(struct lkst_log *log)
{
	struct lkst_cursor *c = log->heap[0];
	int got = log->load(log, c);

	if (got < 0)
		return got;
	if (got) {
		c->known = true;
		c->ticks = tacho_load_u64(c->at);
	} else {
		log->heap[0] = log->heap[--log->nr_heap];
	}
	settle(log);
	return 0;
}

_Static_assert(offsetof(struct lkst_record, ticks) == 0, "ticks come first");
_Static_assert(offsetof(struct lkst_entry, record) == 0, "likewise");

static TACHO_ALWAYS_INLINE void step(struct lkst_log *log, struct lkst_cursor *c)
{
	c->at += c->own_buffer ? sizeof(struct lkst_entry) : sizeof(struct lkst_record);
	if (tacho_unlikely(!--c->left)) {
		c->known = false;	/* the next batch may begin at this time */
		return;
	}
	c->ticks = tacho_load_u64(c->at);
	if (c->ticks >= log->bound)
		settle(log);
}

int lkst_log_next(struct lkst_log *log, struct lkst_record *r, int32_t *buffer)
{
	while (log->nr_heap) {
		struct lkst_cursor *c = log->heap[0];
		int err;

		if (tacho_likely(c->known)) {
			struct lkst_core_place place = { .id = c->buffer };

			memcpy(r, c->at, sizeof(*r));
			if (c->own_buffer)
				place = ((const struct lkst_entry *)(void *)c->at)->place;
			step(log, c);
			if (tacho_unlikely(log->core) && !lkst_core_shows(log->core, &place, r))
				continue;
			if (buffer)
				*buffer = place.id;
			return 1;
		}
		err = refill(log);
		if (tacho_unlikely(err))
			return err;
	}
	return 0;
}

/* ---- all ---- */

/*
 * Whether the beginning of a file is that of a log; false for an unreadable file. -errno: no
 * descriptor.
 */
static int is_log(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char head[8];
	bool is = fd >= 0 && pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
		  lkst_blocks_sniff(head, sizeof(head));

	if (fd < 0 && tacho_no_room_here(-errno))
		return -errno;
	if (fd >= 0)
		close(fd);
	return is;
}

static int open_any(struct lkst_log *log, const char *path, struct tacho_diag *d)
{
	int err;

	if (!log->is_file)
		err = lkst_log_open_source(log, path, d);
	else
		err = lkst_blocks_open(&log->blocks, path, d);
	if (!err && log->is_file)
		err = file_cursors(log);
	if (!err)
		err = make_heap(log);
	return err == -ENOMEM ? tacho_diag(d, err, 0, "out of memory") : err;
}

int lkst_log_open(struct lkst_log **out, const char *path, struct tacho_diag *d)
{
	struct lkst_log *log = calloc(1, sizeof(*log));
	int err;

	*out = NULL;
	if (!log)
		return tacho_no_memory(d);
	log->blocks.fd = -1;
	err = is_log(path);
	log->is_file = err > 0;
	err = err < 0 ? tacho_diag(d, err, 0, "cannot open '%s': %s", path, strerror(-err)) :
	      open_any(log, path, d);
	if (err)
		lkst_log_free(log);
	else
		*out = log;
	return err;
}

void lkst_log_free(struct lkst_log *log)
{
	if (!log)
		return;
	for (uint32_t i = 0; i < log->nr; i++)
		free(log->cursor[i].room);
	free(log->cursor);
	free(log->heap);
	if (log->is_file)
		lkst_blocks_close(&log->blocks);
	else
		lkst_log_free_source(log);
	free(log);
}

void lkst_log_info(const struct lkst_log *log, struct lkst_log_info *info)
{
	const struct lkst_log_file *h = &log->blocks.head;

	*info = log->info;
	if (log->is_file) {
		info->freq = h->freq;
		info->tsc = h->tsc;
		info->realtime = h->realtime;
		memcpy(info->arch, h->arch, sizeof(h->arch));
		info->big_endian = h->endian_big;
		info->types = log->blocks.types.data;
		info->types_len = log->blocks.types.len;
	}
	info->damaged = log->damaged;
	info->lost = log->lost;
}

const struct tacho_diag *lkst_log_why(const struct lkst_log *log)
{
	return &log->why;
}
