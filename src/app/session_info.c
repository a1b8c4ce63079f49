// SPDX-License-Identifier: MIT
#include "app/session_info.h"

#include <stdio.h>

#include "base/atomic.h"
#include "base/diag.h"
#include "ring/read.h"
#include "sys/clock.h"

static enum app_session_state state_of(const struct tacho_control *c)
{
	switch (tacho_load_acquire(&c->state)) {
	case TACHO_STATE_RECORDING:
		return APP_SESSION_RECORDING;
	case TACHO_STATE_STOPPED:
		return APP_SESSION_STOPPED;
	default:
		return APP_SESSION_DEAD;
	}
}

void app_session_info(const struct tacho_session *s, struct app_session_info *info)
{
	const struct tacho_control *c = s->view.ctl;

	*info = (struct app_session_info){
		.state = state_of(c),
		.overwrite = c->flags & TACHO_SESSION_OVERWRITE,
		.nr_lanes = tacho_ring_nr_lanes(&s->view.ring),
		.subbuf_size = UINT64_C(1) << s->view.ring.sub_shift,
		.clock_freq = c->clock_freq, .clock = tacho_clock_name(c->clock),
		.recorder = c->owner,
		.recorder_runs = c->owner && tacho_session_owned(s->path),
	};
	(void)snprintf(info->kernel_instance, sizeof(info->kernel_instance), "%.*s",
		       (int)sizeof(info->kernel_instance) - 1, c->kernel_instance);
	(void)snprintf(info->output, sizeof(info->output), "%.*s", (int)sizeof(c->output),
		       c->output);
}

int app_session_lane(struct tacho_session *s, uint32_t nr, struct app_lane_info *info)
{
	struct tacho_ring *r = &s->view.ring;
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	struct app_counts *to = &info->counts;
	int err = 0;

	*info = (struct app_lane_info){ .cpu = tacho_ring_cpu(r, nr) };
	to->full = tacho_load_relaxed(&lane->lost_full);
	to->large = tacho_load_relaxed(&lane->lost_big);
	to->busy = tacho_load_relaxed(&lane->lost_busy);
	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		int why = 0;

		if (!tacho_ring_map_why(r, nr, id, &why) && tacho_no_room_here(why))
			err = why;
		if (tacho_ring_in_use(r, nr, id))
			info->memory += (uint64_t)tacho_lane_buffer(lane, id)->nr_subs
					<< r->sub_shift;
		to->written += tacho_ring_written(r, nr, id);
		to->overwritten += tacho_ring_overwritten(r, nr, id);
		to->read += tacho_ring_released(r, nr, id);
	}
	return err;
}

int app_session_sums(struct tacho_session *s, struct app_lane_info *sums)
{
	uint32_t n = tacho_ring_nr_lanes(&s->view.ring);
	struct app_counts *to = &sums->counts;
	int err = 0;

	*sums = (struct app_lane_info){ 0 };
	for (uint32_t nr = 0; nr < n; nr++) {
		struct app_lane_info lane;
		int one = app_session_lane(s, nr, &lane);

		err = err ? err : one;
		sums->memory += lane.memory;
		to->written += lane.counts.written;
		to->overwritten += lane.counts.overwritten;
		to->read += lane.counts.read;
		to->full += lane.counts.full;
		to->large += lane.counts.large;
		to->busy += lane.counts.busy;
	}
	return err;
}
