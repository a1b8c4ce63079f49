// SPDX-License-Identifier: MIT
#include "cli/trace.h"

#include "base/text.h"
#include "cli/cli.h"

/* enum tacho_stream_flag, as the options say. */
static unsigned int option_flags;
static uint64_t option_jobs;	/* 0: as many as there are CPUs */

static int take_jobs(const char *arg)
{
	return !tacho_parse_u64(arg, 1, APP_JOBS_MAX, &option_jobs) ? CLI_OK :
	       cli_usage("--jobs: '%s' is not a number from 1 to %u", arg, APP_JOBS_MAX);
}

int cli_trace_option(int opt, const char *arg)
{
	struct tacho_diag d = { 0 };

	if (opt == 'j')
		return take_jobs(arg);
	if (opt != CLI_OPT_LAYOUT)
		return -1;
	return app_trace_layout(arg, &option_flags, &d) ? cli_usage("--layout: %s", d.text) :
							  CLI_OK;
}

unsigned int cli_trace_flags(void)
{
	return option_flags;
}

int cli_trace_find(struct app_trace *t, const char *path)
{
	struct tacho_diag d = { 0 };

	return app_trace_find(t, path, &d) ? cli_fail_diag(&d) : CLI_OK;
}

int cli_trace_open(struct app_trace *t, const char *path, unsigned int flags)
{
	struct tacho_diag d = { 0 };

	if (app_trace_open(t, path, flags | option_flags, &d))
		return cli_fail_diag(&d);
	app_trace_set_jobs(t, (uint32_t)option_jobs);
	return CLI_OK;
}

int cli_trace_remarks(struct app_trace *t)
{
	struct tacho_diag d = { 0 };

	return app_trace_remarks(t, &cli_observer, &d) ? cli_fail_diag(&d) : CLI_OK;
}

int cli_stream_failed(const struct tacho_stream *s, int err)
{
	struct tacho_diag d = { 0 };

	(void)app_stream_failed(s, err, &d);
	return cli_fail_diag(&d);
}
