// SPDX-License-Identifier: MIT
/* A recording's session and kernel instance: made, and told what to record. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/record_priv.h"
#include "sys/clock.h"
#include "sys/process.h"

#define NAMES_MAX	64	/* recordings without a name in one process */

/* ---- the session ----------------------------------------------------------- */

/* Others look for the trace from other directories. */
static void publish_output(struct app_record *r)
{
	struct tacho_control *c = r->session.view.ctl;
	const char *output = r->trace;
	char cwd[TACHO_PATH_MAX];

	if (output[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	/* one that is too long is cut, and then the trace is not found by it */
	if (snprintf(c->output, sizeof(c->output), "%s%s%s", cwd, cwd[0] ? "/" : "",
		     output) < 0)
		c->output[0] = '\0';
}

static int make_session(struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	struct tacho_session_config cfg = {
		.name = r->name,
		.clock = (int)r->clock,
		.lane_size = c->buffer_size,
		.sub_size = c->subbuf_size,
		.flags = record_is_flight(r) ? TACHO_SESSION_OVERWRITE : 0,
		.owner = getpid(),
		.stopped = true,
	};
	int err = tacho_dir_open(&r->dir, true, d);

	if (err)
		return err;
	err = tacho_session_create(&r->session, &r->dir, &cfg, d);
	if (err) {
		tacho_dir_close(&r->dir);
		return err;
	}
	r->has_session = true;
	r->clock_freq = r->session.view.ctl->clock_freq;
	r->start = r->session.view.ctl->start;
	publish_output(r);
	return 0;
}

/* ---- the kernel's instance ------------------------------------------------- */

/* Not our own writing. */
static int exclude_self(const struct app_record *r, struct tacho_kernel *kernel,
			struct tacho_diag *d)
{
	int32_t self = getpid();

	if (!kernel || r->config.command_only || r->config.nr_pids)
		return 0;
	return tacho_kernel_set_not_pids(kernel, &self, 1, d);
}

static int make_kernel(struct app_record *r, struct tacho_diag *d)
{
	struct tacho_kernel_config cfg = {
		.name = r->name,
		.buffer_size = r->config.kernel_buffer_size,
		.overwrite = record_is_flight(r),
	};
	int err = tacho_kernel_create(&r->kernel, &cfg, d);

	if (err)
		r->kernel = NULL;
	return err;
}

static int set_up_kernel(struct app_record *r, struct tacho_diag *d)
{
	const struct tacho_kernel_info *info = tacho_kernel_info(r->kernel);
	const struct app_record_config *c = &r->config;
	int err;

	/* one clock for all; the kernel may not have the one of programs */
	r->clock = info->clock_is_tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;
	if (c->clock >= 0 && (uint32_t)c->clock != r->clock)
		return tacho_diag(d, -EINVAL, 0, "this kernel records with the clock '%s'; leave "
				  "--clock out", info->clock);
	err = tacho_kernel_enable(r->kernel, c->kernel_events, c->nr_kernel_events, d);
	if (!err && c->stacks)
		err = tacho_kernel_set_option(r->kernel, "stacktrace", true, d);
	return err ? err : exclude_self(r, r->kernel, d);
}

/* ---- both ------------------------------------------------------------------ */

static int make_named(struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	int err = 0;

	if (c->nr_kernel_events)
		err = make_kernel(r, d);
	if (!err && r->kernel)
		err = set_up_kernel(r, d);
	if (!err && c->nr_events)
		err = make_session(r, d);
	return err;
}

/*
 * Without a name of the caller's, the first that is free for both: there may be other recordings
 * in this process.
 */
static int make_both(struct app_record *r, struct tacho_diag *d)
{
	int err;

	for (unsigned int i = 1; ; i++) {
		struct tacho_diag why = { 0 };

		if (r->config.name)
			(void)snprintf(r->name, sizeof(r->name), "%s", r->config.name);
		else if (i == 1)
			(void)snprintf(r->name, sizeof(r->name), "record-%d", (int)getpid());
		else
			(void)snprintf(r->name, sizeof(r->name), "record-%d-%u", (int)getpid(), i);
		err = make_named(r, &why);
		if (err != -EEXIST || r->config.name || i == NAMES_MAX) {
			if (err)
				*d = why;
			return err;
		}
		(void)tacho_kernel_destroy(r->kernel);
		r->kernel = NULL;
	}
}

int record_make(struct app_record *r, struct tacho_diag *d)
{
	struct tacho_control *ctl;
	int err;

	r->clock = r->config.clock < 0 ? tacho_clock_default() : (uint32_t)r->config.clock;
	err = make_both(r, d);
	if (err)
		return err;
	if (!r->has_session) {
		r->clock_freq = tacho_clock_freq(r->clock);
		r->start = tacho_clock_pair(r->clock);
	}
	ctl = r->has_session && r->kernel ? r->session.view.ctl : NULL;
	if (ctl)
		(void)snprintf(ctl->kernel_instance, sizeof(ctl->kernel_instance), "%s",
			       tacho_kernel_info(r->kernel)->instance);
	return 0;
}

/* ---- what they record ------------------------------------------------------ */

/* The processes to trace: those listed and the command. */
static int set_pids(const struct app_record *r, struct tacho_session *session,
		    struct tacho_kernel *kernel, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	bool follow = c->follow || r->child > 0;
	int32_t pids[APP_RECORD_PIDS_MAX + 1];
	uint32_t n = c->nr_pids;
	int err = 0;

	if (n > APP_RECORD_PIDS_MAX)
		return tacho_diag(d, -E2BIG, 0, "more than %u processes are listed",
				  APP_RECORD_PIDS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		pids[i] = c->pids[i];
		if (!tacho_process_runs(pids[i]))
			return tacho_diag(d, -ESRCH, 0, "there is no process %d", pids[i]);
	}
	if (r->child > 0)
		pids[n++] = r->child;
	if (n && session)
		err = tacho_session_pids(session, pids, n, follow, d);
	/* the kernel's events of a command are everybody's unless asked */
	if (n && !err && kernel && (c->command_only || c->nr_pids))
		err = tacho_kernel_set_pids(kernel, pids, n, follow, d);
	return err;
}

static int set_rules(struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	int err = 0;

	/* what is only taken away from is everything */
	if (c->nr_events && c->events[0][0] == '!')
		err = tacho_session_rule(&r->session, true, "*:*", NULL, d);
	for (uint32_t i = 0; !err && i < c->nr_events; i++) {
		const char *glob = c->events[i];
		uint32_t matched = 0;

		err = tacho_session_rule(&r->session, glob[0] != '!', glob + (glob[0] == '!'),
					 &matched, d);
		if (!err && !matched && c->nr_pids)
			tacho_observer_note(r->observer, "no event of the running programs matches "
					    "'%s'; it waits for programs that start later", glob);
	}
	return err;
}

int record_select(struct app_record *r, struct tacho_diag *d)
{
	int err = set_pids(r, r->has_session ? &r->session : NULL, r->kernel, d);

	return !err && r->has_session ? set_rules(r, d) : err;
}

int record_restrict(const struct app_record *r, struct tacho_session *session,
		    struct tacho_kernel *kernel, struct tacho_diag *d)
{
	int err = set_pids(r, session, kernel, d);

	if (!err)
		err = exclude_self(r, kernel, d);
	if (!err)
		record_set_filters(r, session, kernel);
	return err;
}
