// SPDX-License-Identifier: MIT
#include "cli/filter.h"

#include <errno.h>

#include "cli/cli.h"

static const struct {
	int opt;
	const char *name;
	int (*take)(struct app_select *s, const char *arg, struct tacho_diag *d);
} filters[] = {
	{ 'e', "--events", app_select_events },
	{ 'p', "--pid", app_select_pids },
	{ 'm', "--max", app_select_max },
	{ CLI_OPT_CPU, "--cpu", app_select_cpus },
	{ CLI_OPT_COMM, "--comm", app_select_comms },
	{ CLI_OPT_SOURCE, "--source", app_select_source },
	{ CLI_OPT_TIME, "--time", app_select_time },
	{ CLI_OPT_FILTER, "--filter", app_select_filter },
};

int cli_filter_option(struct app_select *s, int opt, const char *arg)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(filters); i++) {
		struct tacho_diag d = { 0 };
		int err;

		if (filters[i].opt != opt)
			continue;
		err = filters[i].take(s, arg, &d);
		if (err == -ENOMEM)
			return cli_fail_diag(&d);
		return err ? cli_usage("%s: %s", filters[i].name, d.text) : CLI_OK;
	}
	return -1;
}

int cli_filter_open(struct app_select *s, struct tacho_stream *stream)
{
	struct tacho_diag d = { 0 };
	int err = app_select_open(s, stream, &d);

	if (err && s->bad_expr)
		return cli_fail_at(&d, s->bad_expr);
	if (err == -ENOENT && s->nr_exprs && s->query)
		return cli_fail("--filter: %s", d.text);
	return err ? cli_fail_diag(&d) : CLI_OK;
}
