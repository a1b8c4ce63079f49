// SPDX-License-Identifier: MIT
/* Changes the buffers of a session while it is written. */
#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "session/session.h"

/* The number of sub-buffers that hold `bytes`: a power of two. */
static uint32_t subs_for(const struct tacho_ring *r, uint64_t bytes)
{
	uint32_t n = 2;

	while (n < TACHO_SUBS_MAX && (uint64_t)n << r->sub_shift < bytes)
		n *= 2;
	return n;
}

/* Sets the buffers of lanes that have not begun. */
static void set_default(struct tacho_control *ctl, uint32_t nr_subs, bool overwrite)
{
	tacho_store_relaxed(&ctl->nr_subs, nr_subs);
	if (overwrite)
		(void)tacho_or_seq_cst(&ctl->flags, TACHO_SESSION_OVERWRITE);
	else
		(void)tacho_and_seq_cst(&ctl->flags, ~(uint32_t)TACHO_SESSION_OVERWRITE);
}

int tacho_session_resize(struct tacho_session *s, int32_t lane, uint64_t bytes,
			 bool overwrite, struct tacho_diag *d)
{
	struct tacho_ring *r = &s->view.ring;
	int err;

	if (s->view.ctl->flags & TACHO_SESSION_LINKED)
		return tacho_diag(d, -EBUSY, 0, "session '%s' has linked buffers, whose "
				  "sizes do not change", s->name);
	err = tacho_dir_lock(s->dir);
	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", s->dir->path,
				  strerror(-err));
	for (uint32_t i = 0; !err && i < tacho_ring_nr_lanes(r); i++) {
		struct tacho_lane *l = tacho_ring_lane(r, i);
		uint64_t c = tacho_load_acquire(&l->cursor);

		if ((lane < 0 || i == (uint32_t)lane) && c && c != TACHO_CURSOR_DEAD)
			err = tacho_ring_move(r, i, bytes ? subs_for(r, bytes) :
					      tacho_lane_buffer(l, tacho_cursor_id(c))->nr_subs,
					      overwrite ? TACHO_BUFFER_OVERWRITE : 0);
	}
	if (!err && lane < 0)
		set_default(s->view.ctl, bytes ? subs_for(r, bytes) : s->view.ctl->nr_subs,
			    overwrite);
	tacho_dir_unlock(s->dir);
	return err ? tacho_diag(d, err, 0, "cannot change the buffers of session '%s': %s",
				s->name, strerror(-err)) : 0;
}
