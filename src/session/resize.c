// SPDX-License-Identifier: MIT
/* Other buffers for a session that is being written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "ring/write.h"
#include "session/session.h"

/* The first id of the next pair that was never used; the two of a pair take turns in snapshots. */
static uint32_t next_pair(struct tacho_lane *lane)
{
	uint32_t id = TACHO_BUFFERS_MAX;

	while (id && !(tacho_load_acquire(&tacho_lane_buffer(lane, id - 1)->flags) &
		       TACHO_BUFFER_MADE))
		id--;
	return (id + 1) & ~1u;
}

/* Gives the memory of a buffer back: whoever still reads it finds nothing. */
static void free_buffer(struct tacho_session *s, uint32_t lane, uint32_t id)
{
	char name[64], path[TACHO_PATH_MAX + 64];
	off_t size;
	int fd;

	tacho_ring_file(name, sizeof(name), lane, id);
	(void)snprintf(path, sizeof(path), "%s/%s", s->path, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	size = lseek(fd, 0, SEEK_END);
	if (size > 0)
		(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size);
	close(fd);
}

static int resize_lane(struct tacho_session *s, uint32_t nr, uint32_t nr_subs,
		       uint32_t flags)
{
	struct tacho_ring *r = &s->view.ring;
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	uint64_t c = tacho_load_acquire(&lane->cursor);
	uint32_t id = tacho_cursor_id(c), fresh = next_pair(lane);
	struct tacho_buffer *b = tacho_lane_buffer(lane, id);
	int err;

	if (!c || c == TACHO_CURSOR_DEAD)
		return 0;
	if (b->nr_subs == nr_subs &&
	    (tacho_load_relaxed(&b->flags) & TACHO_BUFFER_OVERWRITE) == flags)
		return 0;
	if (fresh >= TACHO_BUFFERS_MAX)
		return -ENOSPC;
	err = tacho_ring_add_buffer(r, nr, fresh, nr_subs, flags);
	if (err)
		return err;
	err = tacho_ring_shift(r, nr, fresh);
	if (err < 0)
		return err;
	free_buffer(s, nr, id);
	if (tacho_load_relaxed(&tacho_lane_buffer(lane, id ^ 1)->flags) & TACHO_BUFFER_MADE) {
		(void)tacho_and_seq_cst(&tacho_lane_buffer(lane, id ^ 1)->flags,
					~(uint32_t)TACHO_BUFFER_FROZEN);
		free_buffer(s, nr, id ^ 1);
	}
	return 0;
}

/* Sub-buffers that hold `bytes`: a power of two. */
static uint32_t subs_for(const struct tacho_ring *r, uint64_t bytes)
{
	uint32_t n = 2;

	while (n < TACHO_SUBS_MAX && (uint64_t)n << r->sub_shift < bytes)
		n *= 2;
	return n;
}

int tacho_session_resize(struct tacho_session *s, int32_t lane, uint64_t bytes,
			 bool overwrite, struct tacho_diag *d)
{
	struct tacho_ring *r = &s->view.ring;
	int err;

	if (s->view.ctl->flags & TACHO_SESSION_LINKED)
		return tacho_diag(d, -EBUSY, 0, "the buffers of session '%s' are LKST's: "
				  "'lkstbuf create' makes others", s->name);
	err = tacho_dir_lock(s->dir);
	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", s->dir->path,
				  strerror(-err));
	for (uint32_t i = 0; !err && i < tacho_ring_nr_lanes(r); i++)
		if (lane < 0 || i == (uint32_t)lane)
			err = resize_lane(s, i, subs_for(r, bytes),
					  overwrite ? TACHO_BUFFER_OVERWRITE : 0);
	tacho_dir_unlock(s->dir);
	return err ? tacho_diag(d, err, 0, "cannot change the buffers of session '%s': %s",
				s->name, strerror(-err)) : 0;
}
