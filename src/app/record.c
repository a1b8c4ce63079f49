// SPDX-License-Identifier: MIT
#include "app/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/flight.h"
#include "app/record_priv.h"
#include "base/atomic.h"
#include "sys/clock.h"

/* ---- whether, and how long ------------------------------------------------- */

void app_record_stop(struct app_record *r)
{
	tacho_store_relaxed(&r->stop, 1);
}

void app_record_snapshot(struct app_record *r)
{
	(void)tacho_add_relaxed(&r->snapshots, 1);
}

void app_record_rotate(struct app_record *r)
{
	(void)tacho_add_relaxed(&r->rotations, 1);
}

const char *app_record_name(const struct app_record *r)
{
	return r->name;
}

bool record_is_stopped(struct app_record *r)
{
	if (tacho_observer_cancelled(r->observer))
		app_record_stop(r);
	return tacho_load_relaxed(&r->stop);
}

bool record_runs(struct app_record *r)
{
	const struct app_record_config *c = &r->config;

	if (c->command && record_child_ended(r))
		return false;
	if (c->duration_ns && tacho_now_ns(CLOCK_MONOTONIC) - r->began >= c->duration_ns)
		return false;
	return !record_is_stopped(r);
}

uint64_t record_ticks(const struct app_record *r, uint64_t ns)
{
	return (uint64_t)((double)ns * ((double)r->clock_freq / 1e9));
}

uint64_t app_record_duration(const struct app_record *r)
{
	if (!r->began)
		return 0;
	return (r->ended ? r->ended : tacho_now_ns(CLOCK_MONOTONIC)) - r->began;
}

bool app_record_command_ended(const struct app_record *r, int *status)
{
	*status = r->child_status;
	return r->child_ran && !r->child;
}

const char *app_record_malformed(const struct app_record *r)
{
	return r->malformed;
}

void app_record_stats(const struct app_record *r, struct tacho_recorder_stats *s)
{
	if (r->recorder)
		tacho_recorder_stats(r->recorder, s);
	else
		*s = (struct tacho_recorder_stats){ 0 };
}

void record_recorder_config(const struct app_record *r, const char *dir,
			    struct tacho_recorder_config *cfg)
{
	const struct app_record_config *c = &r->config;

	*cfg = (struct tacho_recorder_config){
		.dir = dir,
		.session = r->has_session ?
			   (struct tacho_session *)(uintptr_t)&r->session : NULL,
		.kernel = r->kernel,
		.clock = r->clock,
		.clock_freq = r->clock_freq,
		.start = r->start,
		.uuid = r->has_session ? r->session.view.ctl->uuid : NULL,
		.command = r->command_line[0] ? r->command_line : NULL,
		.rotate = c->rotate,
		.rotate_bytes = c->rotate_bytes,
		.rotate_ns = c->rotate_ns,
		.keep = c->rotate_keep,
		.no_kallsyms = c->no_kallsyms,
	};
}

/* ---- new, prepare ---------------------------------------------------------- */

static void describe_command(struct app_record *r)
{
	size_t at = 0, size = sizeof(r->command_line);

	for (char **a = r->config.command; a && *a; a++) {
		int n = snprintf(r->command_line + at, size - at, "%s%s", at ? " " : "", *a);

		if (n < 0 || (size_t)n >= size - at)
			return;
		at += (size_t)n;
	}
}

int app_record_new(struct app_record **r, const struct app_record_config *config,
		   const struct tacho_observer *observer, struct tacho_diag *d)
{
	struct app_record *n = calloc(1, sizeof(*n));

	*r = n;
	if (!n)
		return tacho_diag(d, -ENOMEM, 0, "out of memory");
	n->config = *config;
	n->observer = observer;
	n->gate = -1;
	tacho_session_uuid(n->watch_uuid);
	describe_command(n);
	return 0;
}

int app_record_prepare(struct app_record *r, struct tacho_diag *d)
{
	int err = record_name_trace(r, d);

	if (!err)
		err = record_output_ready(r, d);
	if (!err)
		err = record_make(r, d);
	if (!err && r->config.command)
		err = record_fork(r, d);
	if (!err)
		err = record_select(r, d);
	if (!err)
		err = record_set_controls(r, d);
	return err;
}

/* ---- go -------------------------------------------------------------------- */

int record_open(struct app_record *r, struct tacho_diag *d)
{
	int err = r->has_session ? tacho_session_run(&r->session, true) : 0;

	if (err)
		return tacho_diag(d, err, 0, "cannot start session '%s': %s", r->name,
				  strerror(-err));
	r->began = tacho_now_ns(CLOCK_MONOTONIC);
	return r->config.command ? record_execute(r, d) : 0;
}

int app_record_go(struct app_record *r, struct tacho_diag *d)
{
	struct tacho_recorder_config cfg;
	int err;

	if (record_is_flight(r)) {
		err = app_flight_begin(&r->flight, r, d);
	} else {
		record_recorder_config(r, r->trace, &cfg);
		err = tacho_recorder_new(&r->recorder, &cfg, d);
		if (err)
			r->recorder = NULL;
		else
			err = record_open(r, d);
	}
	r->failed = err;
	return err;
}

/* ---- run ------------------------------------------------------------------- */

/*
 * The trace cannot be written.  What programs record from here on is in memory, or is counted
 * there when that is full: so until the recording's end.
 */
static int step_in_memory(struct app_record *r)
{
	if (!r->has_session || !record_runs(r))
		return 0;
	if (!r->noted_memory)
		tacho_observer_note(r->observer, "what programs record is kept in memory until "
				    "the end, as long as there is room");
	r->noted_memory = true;
	usleep(APP_STEP_MS * 1000);
	return 1;
}

/* Begins the next trace if that was requested. */
static int rotate_if_requested(struct app_record *r, struct tacho_diag *d)
{
	uint32_t requested = tacho_load_relaxed(&r->rotations);

	if (requested == r->rotated)
		return 0;
	r->rotated = requested;
	return tacho_recorder_rotate(r->recorder, d);
}

static int step_recorder(struct app_record *r, struct tacho_diag *d)
{
	struct tacho_recorder_stats s;
	int err;

	if (!record_runs(r))
		return 0;
	err = tacho_recorder_step(r->recorder, APP_STEP_MS, d);
	if (err >= 0)
		err = rotate_if_requested(r, d);
	if (err < 0)
		return err;
	if (r->observer && r->observer->progress) {
		tacho_recorder_stats(r->recorder, &s);
		tacho_observer_progress(r->observer, s.events, 0);
	}
	return 1;
}

int app_record_step(struct app_record *r, struct tacho_diag *d)
{
	int ret;

	if (r->failed)
		return r->write_failed ? step_in_memory(r) : 0;
	ret = r->flight ? app_flight_step(r->flight, d) : step_recorder(r, d);
	r->failed = ret < 0;
	r->write_failed = ret < 0 && r->recorder;
	return ret;
}

int app_record_run(struct app_record *r, struct tacho_diag *d)
{
	int ret;

	do
		ret = app_record_step(r, d);
	while (ret > 0);
	return ret;
}

/* ---- finish ---------------------------------------------------------------- */

static int finish_recorder(struct app_record *r, struct app_record_result *result,
			   struct tacho_diag *d)
{
	struct tacho_diag last = { 0 };
	int err;

	if (r->has_session)
		(void)tacho_session_end(&r->session);
	err = tacho_recorder_finish(r->recorder, &result->stats, &last);
	r->recorder = NULL;
	r->ended = tacho_now_ns(CLOCK_MONOTONIC);
	result->trace = r->trace;
	r->unread = r->write_failed || err;
	record_note_effects(r);
	if (!err || r->write_failed)
		return 0;
	return tacho_diag(d, err, last.offset, "%s", last.text[0] ? last.text : strerror(-err));
}

static int finish_flight(struct app_record *r, struct tacho_diag *d)
{
	int err = r->failed ? 0 : app_flight_finish(r->flight, d);

	if (!err && !r->failed)
		record_note_effects(r);
	app_flight_free(r->flight);
	r->flight = NULL;
	return err;
}

int app_record_finish(struct app_record *r, struct app_record_result *result,
		      struct tacho_diag *d)
{
	*result = (struct app_record_result){ .trace = NULL };
	if (r->flight)
		return finish_flight(r, d);
	return r->recorder ? finish_recorder(r, result, d) : 0;
}

/* ---- end ------------------------------------------------------------------- */

static void note_unread(const struct app_record *r)
{
	const char *output = r->trace;

	if (record_is_flight(r))
		tacho_observer_note(r->observer, "what is not written is still in session '%s': "
				    "tacho recover -o %s.rest %s", r->name, output, r->name);
	else
		tacho_observer_note(r->observer, "what is not in the trace is still in session "
				    "'%s': tacho recover %s", r->name, output);
}

int app_record_release(struct app_record *r, struct tacho_diag *d)
{
	struct app_record_result unused;
	int err = 0;

	if (r->recorder)
		(void)finish_recorder(r, &unused, NULL);
	app_flight_free(r->flight);
	r->flight = NULL;
	record_child_release(r);
	if (r->kernel && tacho_kernel_destroy(r->kernel))
		tacho_observer_note(r->observer, "the kernel's instance is busy; the next "
				    "recording removes it");
	r->kernel = NULL;
	if (!r->has_session)
		return 0;
	if (r->unread) {
		note_unread(r);
		tacho_session_close(&r->session);
	} else {
		err = tacho_session_destroy(&r->session, d);
	}
	tacho_dir_close(&r->dir);
	r->has_session = false;
	return err;
}

int app_record_end(struct app_record *r, struct tacho_diag *d)
{
	int err;

	if (!r)
		return 0;
	err = app_record_release(r, d);
	free(r->environment);
	free(r);
	return err;
}
