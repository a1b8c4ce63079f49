// SPDX-License-Identifier: MIT
/* The status of a session: settings, contents and losses. */
#include <errno.h>

#include "app/session_kernel.h"
#include "base/sized.h"
#include "ctl/ctl.h"
#include "ctl/kernel.h"

/* The last members of version 1.0 end here. */
#define STATUS_SIZE_1_0 \
	(offsetof(struct tacho_ctl_status, recorder_runs) + sizeof(uint32_t))
#define BUFFER_SIZE_1_0 \
	(offsetof(struct tacho_ctl_buffer, counts) + sizeof(struct tacho_ctl_counts))

/* Adds counts to those of the interface. */
static void add_counts(struct tacho_ctl_counts *to, const struct app_counts *c)
{
	to->written += c->written;
	to->overwritten += c->overwritten;
	to->read += c->read;
	to->discarded_full += c->full;
	to->discarded_large += c->large;
	to->discarded_busy += c->busy;
	to->discarded += c->full + c->large + c->busy;
	to->attempted += c->written + c->full + c->large + c->busy;
}

/* ---- kernel ---------------------------------------------------------------- */

/* The sums over its CPUs; a session without a kernel's part has none. */
static int count_kernel(struct tacho_ctl *ctl, struct tacho_ctl_counts *to, struct tacho_diag *d)
{
	struct app_counts sums = { 0 };
	int err;

	if (!app_session_has_kernel(&ctl->session))
		return 0;
	err = tacho_ctl_kernel(ctl, false, d);
	for (uint32_t cpu = 0; !err; cpu++)
		err = app_session_kernel_count(ctl->kernel, cpu, &sums, d);
	add_counts(to, &sums);
	/* after the last CPU, or it is gone */
	return err == -ENOENT ? 0 : err;
}

/* ---- both ------------------------------------------------------------------ */

static void describe(struct tacho_ctl *ctl, struct tacho_ctl_status *s)
{
	static const uint32_t states[] = {
		[APP_SESSION_RECORDING] = TACHO_CTL_RECORDING,
		[APP_SESSION_STOPPED] = TACHO_CTL_NOT_RECORDING,
		[APP_SESSION_DEAD] = TACHO_CTL_DEAD,
	};
	struct app_session_info *info = &ctl->info;

	app_session_info(&ctl->session, info);
	*s = (struct tacho_ctl_status){
		.state = states[info->state],
		.flags = info->overwrite ? TACHO_CTL_OVERWRITE : 0,
		.nr_buffers = info->nr_lanes, .subbuf_size = info->subbuf_size,
		.clock_freq = info->clock_freq, .clock = info->clock,
		.kernel_instance = info->kernel_instance, .output = info->output,
		.recorder = info->recorder, .recorder_runs = info->recorder_runs,
	};
}

TACHO_EXPORT int tacho_ctl_fill_status(struct tacho_ctl *ctl, struct tacho_ctl_status *status)
{
	uint32_t size = status->struct_size;
	struct tacho_diag d = { 0 };
	struct tacho_ctl_status own;
	struct app_lane_info sums;
	int err = 0;

	if (size < STATUS_SIZE_1_0) {
		tacho_diag(&d, -EINVAL, 0, "struct_size %u is too small for a struct "
			   "tacho_ctl_status", size);
		return tacho_ctl_done(ctl, -EINVAL, &d, NULL);
	}
	describe(ctl, &own);
	if (own.state != TACHO_CTL_DEAD) {
		err = app_session_sums(&ctl->session, &sums);
		add_counts(&own.programs, &sums.counts);
		own.memory = sums.memory;
		if (!err)
			err = count_kernel(ctl, &own.kernel, &d);
	}
	tacho_sized_put(status, size, &own, sizeof(own));
	return tacho_ctl_done(ctl, err, &d, "count the records of");
}

TACHO_EXPORT int tacho_ctl_fill_buffer(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				       uint32_t index, struct tacho_ctl_buffer *buffer)
{
	struct tacho_ctl_buffer own = { .cpu = index };
	struct app_lane_info lane = { .cpu = index };
	struct app_session_info info;
	uint32_t size = buffer->struct_size;
	struct tacho_diag d = { 0 };
	int err;

	if (size < BUFFER_SIZE_1_0) {
		tacho_diag(&d, -EINVAL, 0, "struct_size %u is too small for a struct "
			   "tacho_ctl_buffer", size);
		return tacho_ctl_done(ctl, -EINVAL, &d, NULL);
	}
	app_session_info(&ctl->session, &info);
	if (side == TACHO_CTL_KERNEL) {
		err = tacho_ctl_kernel(ctl, false, &d);
		if (!err)
			err = app_session_kernel_count(ctl->kernel, index, &lane.counts, &d);
	} else if (index >= info.nr_lanes || tacho_ctl_is_dead(ctl)) {
		err = -ENOENT;
	} else {
		err = app_session_lane(&ctl->session, index, &lane);
	}
	own.cpu = lane.cpu;
	add_counts(&own.counts, &lane.counts);
	if (!err)
		tacho_sized_put(buffer, size, &own, sizeof(own));
	return tacho_ctl_done(ctl, err, &d, "count the records of a buffer of");
}
