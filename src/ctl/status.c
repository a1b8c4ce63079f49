// SPDX-License-Identifier: MIT
/* The status of a session: settings, contents and losses. */
#include <errno.h>
#include <stdio.h>

#include "app/session_kernel.h"
#include "base/atomic.h"
#include "base/sized.h"
#include "ctl/ctl.h"
#include "ctl/kernel.h"
#include "ring/read.h"
#include "sys/clock.h"

/* The last members of version 1.0 end here. */
#define STATUS_SIZE_1_0 \
	(offsetof(struct tacho_ctl_status, recorder_runs) + sizeof(uint32_t))
#define BUFFER_SIZE_1_0 \
	(offsetof(struct tacho_ctl_buffer, counts) + sizeof(struct tacho_ctl_counts))

/* ---- programs -------------------------------------------------------------- */

/* Adds the counts of a lane; returns 0, or the error of mapping one of its buffers. */
static int count_lane(struct tacho_ring *r, uint32_t nr, struct tacho_ctl_counts *to)
{
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	int err = 0;

	to->discarded_full += tacho_load_relaxed(&lane->lost_full);
	to->discarded_large += tacho_load_relaxed(&lane->lost_big);
	to->discarded_busy += tacho_load_relaxed(&lane->lost_busy);
	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		int why = 0;

		if (!tacho_ring_map_why(r, nr, id, &why) && tacho_no_room_here(why))
			err = why;
		to->written += tacho_ring_written(r, nr, id);
		to->overwritten += tacho_ring_overwritten(r, nr, id);
		to->read += tacho_ring_released(r, nr, id);
	}
	to->discarded = to->discarded_full + to->discarded_large + to->discarded_busy;
	to->attempted = to->written + to->discarded;
	return err;
}

static uint64_t memory_of(const struct tacho_ring *r, uint32_t nr)
{
	uint64_t bytes = 0;

	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++)
		if (tacho_ring_in_use(r, nr, id))
			bytes += (uint64_t)tacho_lane_buffer(tacho_ring_lane(r, nr), id)->nr_subs
				 << r->sub_shift;
	return bytes;
}

/* ---- kernel ---------------------------------------------------------------- */

/* The sums over its CPUs; a session without a kernel's part has none. */
static int count_kernel(struct tacho_ctl *ctl, struct tacho_ctl_counts *to, struct tacho_diag *d)
{
	int err;

	if (!app_session_has_kernel(&ctl->session))
		return 0;
	err = tacho_ctl_kernel(ctl, false, d);
	for (uint32_t cpu = 0; !err; cpu++)
		err = tacho_ctl_kernel_count(ctl, cpu, to, d);
	/* after the last CPU, or it is gone */
	return err == -ENOENT ? 0 : err;
}

/* ---- both ------------------------------------------------------------------ */

static uint32_t state_of(const struct tacho_control *c)
{
	switch (tacho_load_acquire(&c->state)) {
	case TACHO_STATE_RECORDING:
		return TACHO_CTL_RECORDING;
	case TACHO_STATE_STOPPED:
		return TACHO_CTL_NOT_RECORDING;
	default:
		return TACHO_CTL_DEAD;
	}
}

static void describe(struct tacho_ctl *ctl, struct tacho_ctl_status *s)
{
	const struct tacho_control *c = ctl->session.view.ctl;

	(void)snprintf(ctl->instance, sizeof(ctl->instance), "%.*s",
		       (int)sizeof(ctl->instance) - 1, c->kernel_instance);
	(void)snprintf(ctl->output, sizeof(ctl->output), "%.*s", (int)sizeof(c->output),
		       c->output);
	*s = (struct tacho_ctl_status){
		.state = state_of(c),
		.flags = c->flags & TACHO_SESSION_OVERWRITE ? TACHO_CTL_OVERWRITE : 0,
		.nr_buffers = tacho_ring_nr_lanes(&ctl->session.view.ring),
		.subbuf_size = UINT64_C(1) << ctl->session.view.ring.sub_shift,
		.clock_freq = c->clock_freq, .clock = tacho_clock_name(c->clock),
		.kernel_instance = ctl->instance, .output = ctl->output,
		.recorder = c->owner,
		.recorder_runs = c->owner && tacho_session_owned(ctl->session.path),
	};
}

TACHO_EXPORT int tacho_ctl_fill_status(struct tacho_ctl *ctl, struct tacho_ctl_status *status)
{
	uint32_t size = status->struct_size;
	struct tacho_diag d = { 0 };
	struct tacho_ctl_status own;
	int err = 0;

	if (size < STATUS_SIZE_1_0)
		return tacho_ctl_done(ctl, -EINVAL, NULL, "describe");
	describe(ctl, &own);
	for (uint32_t nr = 0; own.state != TACHO_CTL_DEAD && nr < own.nr_buffers; nr++) {
		int one = count_lane(&ctl->session.view.ring, nr, &own.programs);

		err = err ? err : one;
		own.memory += memory_of(&ctl->session.view.ring, nr);
	}
	if (!err && own.state != TACHO_CTL_DEAD)
		err = count_kernel(ctl, &own.kernel, &d);
	tacho_sized_put(status, size, &own, sizeof(own));
	return tacho_ctl_done(ctl, err, &d, "count the records of");
}

TACHO_EXPORT int tacho_ctl_fill_buffer(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				       uint32_t index, struct tacho_ctl_buffer *buffer)
{
	struct tacho_ring *r = &ctl->session.view.ring;
	uint32_t size = buffer->struct_size;
	struct tacho_ctl_buffer own = { .cpu = index };
	struct tacho_diag d = { 0 };
	int err;

	if (size < BUFFER_SIZE_1_0)
		return tacho_ctl_done(ctl, -EINVAL, NULL, "describe a buffer of");
	if (side == TACHO_CTL_KERNEL) {
		err = tacho_ctl_kernel(ctl, false, &d);
		if (!err)
			err = tacho_ctl_kernel_count(ctl, index, &own.counts, &d);
	} else if (index >= tacho_ring_nr_lanes(r) || tacho_ctl_is_dead(ctl)) {
		err = -ENOENT;
	} else {
		own.cpu = tacho_ring_cpu(r, index);
		err = count_lane(r, index, &own.counts);
	}
	if (!err)
		tacho_sized_put(buffer, size, &own, sizeof(own));
	return tacho_ctl_done(ctl, err, &d, "count the records of a buffer of");
}
