// SPDX-License-Identifier: MIT
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "base/digits.h"
#include "base/text.h"
#include "ring/write.h"
#include "sys/clock.h"
#include "sys/mapping.h"

void tacho_ring_file(char *to, size_t size, uint32_t lane, uint32_t id)
{
	if (size < 32) {
		*to = '\0';
		return;
	}
	memcpy(to, "buf.", 4);
	to = tacho_digits(to + 4, lane);
	*to++ = '.';
	to = tacho_digits(to, id);
	*to = '\0';
}

static size_t buf_table_size(const struct tacho_ring *r)
{
	return (size_t)tacho_ring_nr_lanes(r) * TACHO_BUFFERS_MAX *
	       sizeof(struct tacho_ring_buf);
}

static size_t tables_size(const struct tacho_ring *r)
{
	return buf_table_size(r) +
	       (size_t)r->nr_cpus * sizeof(struct tacho_ring_fast);
}

static bool is_power_of_two(uint32_t v)
{
	return v && !(v & (v - 1));
}

static uint64_t buffer_bytes(const struct tacho_ring *r, uint32_t nr_subs)
{
	return TACHO_ABI_PAGE_UP((uint64_t)nr_subs << r->sub_shift);
}

int tacho_ring_attach(struct tacho_ring *r, struct tacho_control *ctl,
		      const char *path, bool populate)
{
	size_t len = strnlen(path, sizeof(r->path));

	*r = (struct tacho_ring){
		.ctl = ctl,
		.lanes = (unsigned char *)ctl + TACHO_CONTROL_LANES_OFF,
		.nr_cpus = tacho_load_relaxed(&ctl->nr_cpus),
		.nr_fallback = tacho_load_relaxed(&ctl->nr_fallback),
		.nr_late = tacho_load_relaxed(&ctl->nr_late),
		.sub_shift = tacho_load_relaxed(&ctl->sub_shift),
		.clock = tacho_load_relaxed(&ctl->clock),
		.stream_id = TACHO_STREAM_PROGRAM,
	};
	if (len == sizeof(r->path) || r->sub_shift < TACHO_SUB_SHIFT_MIN ||
	    r->sub_shift > TACHO_SUB_SHIFT_MAX ||
	    r->nr_cpus > TACHO_LANES_MAX || r->nr_fallback > TACHO_LANES_MAX ||
	    r->nr_late > r->nr_cpus ||
	    !tacho_ring_nr_lanes(r) ||
	    tacho_ring_nr_lanes(r) > TACHO_LANES_MAX)
		return -EINVAL;
	memcpy(r->path, path, len);
	memcpy(r->uuid, ctl->uuid, sizeof(r->uuid));
	r->sub_words = 1u << (r->sub_shift - 3);
	r->fast_cpus = r->clock == TACHO_CLOCK_TSC ? r->nr_cpus : 0;
	r->seq_down = TACHO_CURSOR_SEQ_SHIFT - r->sub_shift;
	r->rseq_offset = tacho_rseq_offset();
	r->buf = tacho_shm_private(tables_size(r));
	if (!r->buf)
		return -ENOMEM;
	r->fast = (struct tacho_ring_fast *)(void *)
		  ((unsigned char *)r->buf + buf_table_size(r));
	for (uint32_t lane = 0; populate && lane < r->nr_cpus; lane++) {
		uint64_t c = tacho_load_relaxed(&tacho_ring_lane(r, lane)->cursor);

		(void)tacho_ring_map(r, lane, tacho_cursor_id(c));
	}
	return 0;
}

/* Calls fn for each mapped buffer. */
static void for_each_mapped(struct tacho_ring *r,
			    void (*fn)(void *map, uint64_t size))
{
	uint32_t n = tacho_ring_nr_lanes(r) * TACHO_BUFFERS_MAX;

	for (uint32_t i = 0; i < n; i++) {
		struct tacho_ring_buf *b = &r->buf[i];

		if (b->words)
			fn(b->base, buffer_bytes(r, (b->mask >> r->sub_shift) + 1));
	}
}

void tacho_ring_detach(struct tacho_ring *r)
{
	if (!r->buf)
		return;
	for_each_mapped(r, tacho_shm_unmap);
	tacho_shm_unmap(r->buf, tables_size(r));
	r->buf = NULL;
}

void tacho_ring_retire(struct tacho_ring *r)
{
	for_each_mapped(r, tacho_shm_retire);
}

/* Opens the session's directory; a descriptor or -errno. */
static int open_dir(const struct tacho_ring *r)
{
	int fd;

	if (r->may_open && !r->may_open())
		return -EPERM;
	fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Makes the buffer's file under a temporary name and links it to the real
 * one, so that no process sees a file that is not complete.  dirfd is the session's.
 */
static int make_file(int dirfd, const char *name, uint64_t size)
{
	char temp[64];
	char *end;
	int fd, err;

	memcpy(temp, "tmp.", 4);
	end = tacho_digits(temp + 4, (uint32_t)gettid());
	*end++ = '.';
	*end = '\0';
	memcpy(end, name, strlen(name) + 1);
	(void)unlinkat(dirfd, temp, 0);
	fd = tacho_shm_create(dirfd, temp, size);
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, size);
	TACHO_INJECT(ring_buffer_allocated);
	if (!err && linkat(dirfd, temp, dirfd, name, 0) < 0 && errno != EEXIST)
		err = -errno;
	(void)unlinkat(dirfd, temp, 0);
	close(fd);
	return err;
}

/* Allocates the memory of a retired buffer's file again. */
static int fill_file(int dirfd, const char *name, uint64_t size)
{
	int fd = tacho_shm_open(dirfd, name), err;

	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, size);
	close(fd);
	return err;
}

int tacho_ring_add_buffer(struct tacho_ring *r, uint32_t lane, uint32_t id,
			  uint32_t nr_subs, uint32_t flags)
{
	struct tacho_buffer *b;
	char name[32];
	int saved = errno;
	int dirfd, err;

	if (lane >= tacho_ring_nr_lanes(r) || id >= TACHO_BUFFERS_MAX ||
	    !is_power_of_two(nr_subs) || nr_subs < 2 || nr_subs > TACHO_SUBS_MAX)
		return -EINVAL;
	b = tacho_lane_buffer(tacho_ring_lane(r, lane), id);
	if (tacho_load_acquire(&b->flags) & TACHO_BUFFER_MADE)	/* [made] */
		return 0;
	/* processes may have it mapped: its size never changes */
	if (tacho_load_relaxed(&b->nr_subs) && tacho_load_relaxed(&b->nr_subs) != nr_subs)
		return -EINVAL;
	dirfd = open_dir(r);
	if (dirfd < 0)
		return dirfd;
	tacho_ring_file(name, sizeof(name), lane, id);
	err = fill_file(dirfd, name, buffer_bytes(r, nr_subs));
	if (err == -ENOENT)
		err = make_file(dirfd, name, buffer_bytes(r, nr_subs));
	close(dirfd);
	errno = saved;
	if (err)
		return err;
	tacho_store_relaxed(&b->nr_subs, nr_subs);
	tacho_store_relaxed(&b->next, id);
	/* [made] the file is there, and nr_subs is its size */
	tacho_store_release(&b->flags, flags | TACHO_BUFFER_MADE);
	return 0;
}

struct tacho_ring_buf *tacho_ring_map_why(struct tacho_ring *r, uint32_t lane,
					  uint32_t id, int *why)
{
	struct tacho_ring_buf *entry;
	struct tacho_buffer *b;
	unsigned char *none = NULL;
	char name[32];
	uint32_t nr_subs, mask, none_mask = 0;
	int saved = errno;
	int dirfd, fd, err;
	void *map;

	*why = -ENOENT;
	if (lane >= tacho_ring_nr_lanes(r) || id >= TACHO_BUFFERS_MAX)
		return NULL;
	entry = &r->buf[lane << 6 | id];
	if (tacho_load_acquire(&entry->words))			/* [mapped] */
		return entry;
	b = tacho_lane_buffer(tacho_ring_lane(r, lane), id);
	if (!(tacho_load_acquire(&b->flags) & TACHO_BUFFER_MADE)) /* [made] */
		return NULL;
	nr_subs = tacho_load_relaxed(&b->nr_subs);
	if (!is_power_of_two(nr_subs) || nr_subs < 2 || nr_subs > TACHO_SUBS_MAX)
		return NULL;
	/*
	 * Threads may map at the same time, and a broken process may change nr_subs between
	 * them.  All must map the same size, as only one base stays.
	 */
	mask = (nr_subs - 1) << r->sub_shift;
	if (!tacho_cas_acq_rel(&entry->mask, &none_mask, mask) &&
	    none_mask != mask)
		return NULL;
	dirfd = open_dir(r);
	if (dirfd < 0) {
		*why = dirfd;
		errno = saved;
		return NULL;
	}
	tacho_ring_file(name, sizeof(name), lane, id);
	fd = tacho_shm_open(dirfd, name);
	close(dirfd);
	if (fd < 0) {
		*why = fd;
		errno = saved;
		return NULL;
	}
	err = tacho_shm_map(fd, buffer_bytes(r, nr_subs), true, true, &map);
	close(fd);
	errno = saved;
	if (err) {
		*why = err;
		return NULL;
	}
	if (!tacho_cas_acq_rel(&entry->base, &none, (unsigned char *)map))
		tacho_shm_unmap(map, buffer_bytes(r, nr_subs));
	tacho_store_release(&entry->words, r->sub_words);	/* [mapped] */
	return entry;
}

struct tacho_ring_buf *tacho_ring_map(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	int why;

	return tacho_ring_map_why(r, lane, id, &why);
}

int tacho_ring_start_at(struct tacho_ring *r, uint32_t lane, uint32_t id, uint64_t ticks)
{
	int why;
	struct tacho_ring_buf *b = tacho_ring_map_why(r, lane, id, &why);
	struct tacho_lane *l;
	struct tacho_packet *sub;

	if (!b)
		return why;
	l = tacho_ring_lane(r, lane);
	if (tacho_load_relaxed(&l->cursor))
		return 0;
	sub = (struct tacho_packet *)(void *)tacho_load_relaxed(&b->base);
	*sub = (struct tacho_packet){
		.magic = TACHO_PACKET_MAGIC,
		.stream_id = r->stream_id,
		.stream_instance_id = lane,
		.timestamp_begin = ticks,
		.packet_size = (uint64_t)r->sub_words * 64,
		.cpu_id = tacho_ring_cpu(r, lane),
	};
	memcpy(sub->uuid, r->uuid, sizeof(sub->uuid));
	tacho_store_relaxed(&tacho_lane_buffer(l, id)->open[0].begin, sub->timestamp_begin);
	/* [cursor] the first header is complete */
	tacho_store_release(&l->cursor,
			    tacho_cursor_make(id, 0, 0, TACHO_PACKET_WORDS));
	return 0;
}

int tacho_ring_start(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	return tacho_ring_start_at(r, lane, id, tacho_clock_read(r->clock));
}

/*
 * What `fast_until` becomes when a lane is started: the end of this epoch; or, if its
 * open packet began in another one (the stop was long, or the clock was reset),
 * the past, so that the first writer begins a new packet.
 */
static uint64_t fast_until_of(struct tacho_ring *r, uint32_t lane, uint64_t now)
{
	uint64_t c = tacho_load_acquire(&tacho_ring_lane(r, lane)->cursor);
	uint64_t begin = now;

	if (c && c != TACHO_CURSOR_DEAD) {
		struct tacho_buffer *b = tacho_lane_buffer(tacho_ring_lane(r, lane),
							   tacho_cursor_id(c));

		begin = tacho_load_relaxed(&tacho_buffer_open(b, c)->begin);
	}
	return tacho_epoch_end(begin) == tacho_epoch_end(now) ?
	       tacho_epoch_end(now) : 1;
}

static bool is_recording(const struct tacho_ring *r)
{
	return tacho_load_seq_cst(&r->ctl->state) == TACHO_STATE_RECORDING;
}

/* G1 and G2. */
static void let_go(struct tacho_ring *r, uint32_t lane, uint64_t now)
{
	uint64_t *until = &tacho_ring_lane(r, lane)->fast_until;
	uint64_t stopped = 0;

	if (!tacho_cas_seq_cst(until, &stopped, fast_until_of(r, lane, now)))
		return;
	TACHO_INJECT(ring_let_go);
	if (!is_recording(r))
		tacho_store_seq_cst(until, 0);
}

void tacho_ring_run(struct tacho_ring *r, bool recording)
{
	uint64_t now = tacho_clock_read(r->clock);

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++) {
		if (recording)
			let_go(r, lane, now);
		else
			tacho_store_seq_cst(&tacho_ring_lane(r, lane)->fast_until, 0);
	}
}

void tacho_ring_follow(struct tacho_ring *r, uint32_t lane)
{
	if (is_recording(r))
		let_go(r, lane, tacho_clock_read(r->clock));
	else
		tacho_store_seq_cst(&tacho_ring_lane(r, lane)->fast_until, 0);
}
