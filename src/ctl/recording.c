// SPDX-License-Identifier: MIT
/* Continuous recordings: a face for app/record.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/record.h"
#include "base/arena.h"
#include "base/sized.h"
#include "ctl/ctl.h"

#define ARENA_MAX	((size_t)4 << 20)
#define FLAGS \
	(uint32_t)(TACHO_CTL_RECORDING_FOLLOW | TACHO_CTL_RECORDING_REPLACE | \
		   TACHO_CTL_RECORDING_ROTATE | TACHO_CTL_RECORDING_STACKS | \
		   TACHO_CTL_RECORDING_NO_KALLSYMS)

/* The last members of version 1.1 end here. */
#define CONFIG_SIZE_1_1 \
	(offsetof(struct tacho_ctl_recording_config, arg) + sizeof(void *))
#define STATUS_SIZE_1_1 \
	(offsetof(struct tacho_ctl_recording_status, traces) + sizeof(uint32_t))

struct tacho_ctl_recording {
	struct app_record *record;
	struct tacho_observer observer;
	struct app_record_config config;	/* its texts are in arena */
	struct tacho_arena arena;
	uint32_t state;			/* enum tacho_ctl_recording_state */
	bool rotates;
	struct app_record_result result;	/* once it is finished */
	struct tacho_error error;	/* of the last call that failed */
};

/* Ends a call: keeps d's message if err is negative.  Returns err. */
static int done(struct tacho_ctl_recording *rec, int err, const struct tacho_diag *d)
{
	return err < 0 ? tacho_ctl_give_error(&rec->error, d) : err;
}

/* ---- the configuration, copied --------------------------------------------- */

static const char *copy(struct tacho_ctl_recording *rec, const char *text, bool *failed)
{
	const char *own;

	if (!text)
		return NULL;
	own = tacho_arena_strndup(&rec->arena, text, strlen(text));
	*failed |= !own;
	return own;
}

static const char *const *copy_list(struct tacho_ctl_recording *rec, const char *const *list,
				    uint32_t nr, bool *failed)
{
	const char **own = nr ? tacho_arena_array(&rec->arena, nr, sizeof(*own)) : NULL;

	*failed |= nr && !own;
	for (uint32_t i = 0; own && i < nr; i++)
		own[i] = copy(rec, list[i], failed);
	return own;
}

static const int32_t *copy_pids(struct tacho_ctl_recording *rec, const int32_t *pids,
				uint32_t nr, bool *failed)
{
	int32_t *own = nr ? tacho_arena_array(&rec->arena, nr, sizeof(*own)) : NULL;

	*failed |= nr && !own;
	if (own)
		memcpy(own, pids, nr * sizeof(*own));
	return own;
}

static void copy_controls(struct tacho_ctl_recording *rec, struct app_record_control *to,
			  const struct tacho_ctl_recording_control *from, uint32_t nr,
			  bool *failed)
{
	for (uint32_t i = 0; i < nr; i++)
		to[i] = (struct app_record_control){ copy(rec, from[i].events, failed),
						     copy(rec, from[i].text, failed) };
}

static int copy_config(struct tacho_ctl_recording *rec,
		       const struct tacho_ctl_recording_config *c, struct tacho_diag *d)
{
	bool failed = false;

	rec->config = (struct app_record_config){
		.output = copy(rec, c->output, &failed), .name = copy(rec, c->name, &failed),
		.replace = c->flags & TACHO_CTL_RECORDING_REPLACE,
		.events = copy_list(rec, c->events, c->nr_events, &failed),
		.nr_events = c->nr_events,
		.kernel_events = copy_list(rec, c->kernel_events, c->nr_kernel_events, &failed),
		.nr_kernel_events = c->nr_kernel_events,
		.pids = copy_pids(rec, c->pids, c->nr_pids, &failed), .nr_pids = c->nr_pids,
		.follow = c->flags & TACHO_CTL_RECORDING_FOLLOW,
		.nr_filters = c->nr_filters, .nr_triggers = c->nr_triggers,
		.stacks = c->flags & TACHO_CTL_RECORDING_STACKS, .clock = -1,
		.buffer_size = c->buffer_size, .subbuf_size = c->subbuf_size,
		.kernel_buffer_size = c->kernel_buffer_size, .duration_ns = c->duration_ns,
		.no_kallsyms = c->flags & TACHO_CTL_RECORDING_NO_KALLSYMS,
		.rotate = c->flags & TACHO_CTL_RECORDING_ROTATE,
		.rotate_bytes = c->rotate_bytes, .rotate_ns = c->rotate_ns,
		.rotate_keep = c->rotate_keep,
	};
	copy_controls(rec, rec->config.filter, c->filters, c->nr_filters, &failed);
	copy_controls(rec, rec->config.trigger, c->triggers, c->nr_triggers, &failed);
	rec->rotates = rec->config.rotate || c->rotate_bytes || c->rotate_ns || c->rotate_keep;
	rec->observer = (struct tacho_observer){ .note = c->note, .arg = c->arg };
	return failed ? tacho_no_memory(d) : tacho_ctl_clock(c->clock, &rec->config.clock, d);
}

static int check_config(const struct tacho_ctl_recording_config *c, struct tacho_diag *d)
{
	if (!c->output || !*c->output)
		return tacho_diag(d, -EINVAL, 0, "the configuration names no output");
	if (c->flags & ~FLAGS)
		return tacho_diag(d, -EINVAL, 0, "unknown flags 0x%x of recording '%s'",
				  c->flags, c->output);
	if (!c->nr_events && !c->nr_kernel_events)
		return tacho_diag(d, -EINVAL, 0, "recording '%s' has no events", c->output);
	if (c->nr_pids > APP_RECORD_PIDS_MAX)
		return tacho_diag(d, -E2BIG, 0, "at most %u process ids can be listed",
				  APP_RECORD_PIDS_MAX);
	if (c->nr_filters > APP_RECORD_CONTROLS_MAX || c->nr_triggers > APP_RECORD_CONTROLS_MAX)
		return tacho_diag(d, -E2BIG, 0, "a recording has at most %u filters and %u "
				  "triggers", APP_RECORD_CONTROLS_MAX, APP_RECORD_CONTROLS_MAX);
	return 0;
}

static int read_config(struct tacho_ctl_recording *rec,
		       const struct tacho_ctl_recording_config *config, struct tacho_diag *d)
{
	struct tacho_ctl_recording_config own;
	int err = tacho_sized_get(&own, sizeof(own), config, CONFIG_SIZE_1_1);

	if (err == -E2BIG)
		return tacho_diag(d, err, 0, "the configuration has members that this version "
				  "of libtacho-session does not know");
	if (err)
		return tacho_diag(d, err, 0, "struct_size %u is too small for a struct "
				  "tacho_ctl_recording_config", config->struct_size);
	err = check_config(&own, d);
	return err ? err : copy_config(rec, &own, d);
}

/* ---- open, close ----------------------------------------------------------- */

static int prepare(struct tacho_ctl_recording *rec,
		   const struct tacho_ctl_recording_config *config, struct tacho_diag *d)
{
	int err = read_config(rec, config, d);

	if (!err)
		err = app_record_new(&rec->record, &rec->config, &rec->observer, d);
	return err ? err : app_record_prepare(rec->record, d);
}

static void release(struct tacho_ctl_recording *rec)
{
	tacho_arena_release(&rec->arena);
	free(rec);
}

TACHO_EXPORT int tacho_ctl_recording_open(struct tacho_ctl_recording **to,
					  const struct tacho_ctl_recording_config *config,
					  struct tacho_error *error)
{
	struct tacho_ctl_recording *rec = calloc(1, sizeof(*rec));
	struct tacho_diag d = { 0 };
	int err;

	*to = NULL;
	if (!rec) {
		tacho_no_memory(&d);
		return tacho_ctl_give_error(error, &d);
	}
	tacho_arena_init(&rec->arena, ARENA_MAX);
	err = prepare(rec, config, &d);
	if (err) {
		(void)app_record_end(rec->record, NULL);
		release(rec);
		return tacho_ctl_give_error(error, &d);
	}
	rec->state = TACHO_CTL_RECORDING_READY;
	*to = rec;
	return 0;
}

TACHO_EXPORT int tacho_ctl_recording_close(struct tacho_ctl_recording *rec,
					   struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	int err;

	if (!rec)
		return 0;
	err = app_record_end(rec->record, &d);
	if (err)
		(void)tacho_ctl_give_error(error, &d);
	release(rec);
	return err;
}

/* ---- start, step, finish --------------------------------------------------- */

TACHO_EXPORT int tacho_ctl_recording_start(struct tacho_ctl_recording *rec)
{
	struct tacho_diag d = { 0 };
	int err;

	if (rec->state != TACHO_CTL_RECORDING_READY) {
		err = tacho_diag(&d, -EINVAL, 0, "recording '%s' was started already",
				 rec->config.output);
		return done(rec, err, &d);
	}
	err = app_record_go(rec->record, &d);
	rec->state = err ? TACHO_CTL_RECORDING_FAILED : TACHO_CTL_RECORDING_RUNNING;
	return done(rec, err, &d);
}

/* Whether it was started and is not finished. */
static int check_started(const struct tacho_ctl_recording *rec, struct tacho_diag *d)
{
	if (rec->state == TACHO_CTL_RECORDING_READY)
		return tacho_diag(d, -EINVAL, 0, "recording '%s' was not started",
				  rec->config.output);
	if (rec->state == TACHO_CTL_RECORDING_FINISHED)
		return tacho_diag(d, -EINVAL, 0, "recording '%s' is finished",
				  rec->config.output);
	return 0;
}

TACHO_EXPORT int tacho_ctl_recording_step(struct tacho_ctl_recording *rec)
{
	struct tacho_diag d = { 0 };
	int ret = check_started(rec, &d);

	if (ret)
		return done(rec, ret, &d);
	ret = app_record_step(rec->record, &d);
	if (ret < 0)
		rec->state = TACHO_CTL_RECORDING_FAILED;
	else if (!ret && rec->state == TACHO_CTL_RECORDING_RUNNING)
		rec->state = TACHO_CTL_RECORDING_OVER;
	return done(rec, ret, &d);
}

TACHO_EXPORT int tacho_ctl_recording_run(struct tacho_ctl_recording *rec)
{
	int ret;

	do
		ret = tacho_ctl_recording_step(rec);
	while (ret > 0);
	return ret;
}

TACHO_EXPORT int tacho_ctl_recording_finish(struct tacho_ctl_recording *rec)
{
	struct tacho_diag d = { 0 };
	int err = check_started(rec, &d);

	if (err)
		return done(rec, err, &d);
	err = app_record_finish(rec->record, &rec->result, &d);
	rec->state = TACHO_CTL_RECORDING_FINISHED;
	return done(rec, err, &d);
}

/* ---- any thread, signal handlers ------------------------------------------- */

TACHO_EXPORT void tacho_ctl_recording_stop(struct tacho_ctl_recording *rec)
{
	app_record_stop(rec->record);
}

TACHO_EXPORT int tacho_ctl_recording_rotate(struct tacho_ctl_recording *rec)
{
	if (!rec->rotates)
		return -EINVAL;
	app_record_rotate(rec->record);
	return 0;
}

/* ---- what there is --------------------------------------------------------- */

TACHO_EXPORT const struct tacho_error *tacho_ctl_recording_error(
	const struct tacho_ctl_recording *rec)
{
	return &rec->error;
}

TACHO_EXPORT const char *tacho_ctl_recording_name(const struct tacho_ctl_recording *rec)
{
	return app_record_name(rec->record);
}

TACHO_EXPORT int tacho_ctl_recording_fill_status(struct tacho_ctl_recording *rec,
						 struct tacho_ctl_recording_status *status)
{
	struct tacho_recorder_stats s = rec->result.stats;
	struct tacho_ctl_recording_status own;
	uint32_t size = status->struct_size;
	struct tacho_diag d = { 0 };

	if (size < STATUS_SIZE_1_1) {
		tacho_diag(&d, -EINVAL, 0, "struct_size %u is too small for a struct "
			   "tacho_ctl_recording_status", size);
		return done(rec, d.err, &d);
	}
	if (rec->state != TACHO_CTL_RECORDING_FINISHED)
		app_record_stats(rec->record, &s);
	own = (struct tacho_ctl_recording_status){
		.state = rec->state, .events = s.events, .kernel_events = s.kernel_events,
		.lost = s.lost, .unread = s.unread, .bytes = s.bytes,
		.duration_ns = app_record_duration(rec->record), .traces = s.chunks,
	};
	tacho_sized_put(status, size, &own, sizeof(own));
	return 0;
}
