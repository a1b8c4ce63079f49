// SPDX-License-Identifier: MIT
/* Status, start, stop. */
#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "compat/lkst/priv.h"
#include "sys/cpu.h"

uint32_t lkst_nr_cpus(const struct tacho_lkst *l)
{
	const struct tacho_ring *r = &l->session.view.ring;
	uint32_t n = r->nr_cpus + r->nr_fallback;

	return n < l->state->nr_cpus ? n : l->state->nr_cpus;
}

bool lkst_cpu_is(const struct tacho_lkst *l, int cpu)
{
	uint64_t c;

	if (cpu < 0 || (uint32_t)cpu >= lkst_nr_cpus(l))
		return false;
	c = tacho_load_acquire(&tacho_ring_lane(&l->session.view.ring, (uint32_t)cpu)->cursor);
	return c && c != TACHO_CURSOR_DEAD;
}

int tacho_lkst_status(struct tacho_lkst *l, struct lkst_trc_status *status)
{
	const struct lkst_state *s = l->state;
	uint32_t nr_cpus = l->session.view.ctl->nr_cpus;

	if (!status)
		return -EINVAL;
	memset(status, 0, sizeof(*status));
	status->current_maskset_id =
		(lkst_maskset_id)lkst_current_id(tacho_load_acquire(&s->current));
	for (uint32_t c = 0; c < LKST_CPU_MAX; c++) {
		status->write_buf[c] = status->read_buf[c] = LKST_BUFFER_ID_VOID;
		if (c < nr_cpus && c < 8 * sizeof(status->online_cpu) && tacho_cpu_online(c))
			status->online_cpu |= 1ul << c;
		if (!lkst_cpu_is(l, (int)c))
			continue;
		status->write_buf[c] = lkst_write_buf(l, c);
		if (lkst_owner_lives(&s->cpu[c].reader))
			status->read_buf[c] = s->cpu[c].read_buf;
	}
	for (uint32_t id = 0; id < 256; id++)
		status->maskset_num += s->of_id[id] != 0;
	for (uint32_t id = 0; id < LKST_NR_HANDLERS; id++)
		status->evhandler_num += tacho_load_acquire(&s->handler[id].ready) &&
					 lkst_owner_lives(&s->handler[id].owner);
	status->static_buffer_recid = (int)tacho_load_relaxed(&s->nr_static);
	status->static_buffer_size = sizeof(s->fixed);
	return 0;
}

int tacho_lkst_start(struct tacho_lkst *l)
{
	struct lkst_state *s = l->state;
	int err = tacho_lkst_lock(l);
	uint32_t id;

	if (err)
		return err;
	if (s->stopped) {
		id = (uint32_t)s->saved & 0xff;
		err = lkst_switch(l, s->of_id[id] ? id : LKST_MASKSET_ID_RDEFAULT);
		if (!err)
			s->stopped = 0;
	}
	tacho_lkst_unlock(l);
	return err;
}

int tacho_lkst_stop(struct tacho_lkst *l)
{
	struct lkst_state *s = l->state;
	int err = tacho_lkst_lock(l);

	if (err)
		return err;
	if (!s->stopped) {
		s->saved = lkst_current_id(tacho_load_relaxed(&s->current));
		err = lkst_switch(l, LKST_MASKSET_ID_RNOTHING);
		if (!err)
			s->stopped = 1;
	}
	tacho_lkst_unlock(l);
	return err;
}
