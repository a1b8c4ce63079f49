// SPDX-License-Identifier: MIT
#include "cli/trace.h"

#include "cli/cli.h"
#include "fmt/ltt/read.h"

/* enum tacho_stream_flag, as the options say. */
static unsigned int option_flags;

int cli_trace_option(int opt, const char *arg)
{
	if (opt != CLI_OPT_LAYOUT)
		return -1;
	option_flags = tacho_ltt_layout_flag(arg);
	return option_flags ? CLI_OK :
	       cli_usage("--layout: '%s' is not one of 64, 32, text", arg);
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

	return app_trace_open(t, path, flags | option_flags, &d) ? cli_fail_diag(&d) : CLI_OK;
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
