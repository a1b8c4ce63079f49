// SPDX-License-Identifier: MIT
#include "cli/lines.h"

#include <errno.h>

#include "cli/cli.h"

static const struct {
	int opt;
	enum app_lines_flag flag;
} flags[] = {
	{ 'R', APP_LINES_RAW },
	{ CLI_OPT_RELATIVE, APP_LINES_RELATIVE },
	{ CLI_OPT_UTC, APP_LINES_UTC },
	{ CLI_OPT_TICKS, APP_LINES_TICKS },
	{ CLI_OPT_NS, APP_LINES_NS },
	{ CLI_OPT_DELTA, APP_LINES_DELTA },
};

static int add_fields(struct app_lines *l, const char *arg)
{
	struct tacho_diag d = { 0 };
	int err = app_lines_fields(l, arg, &d);

	if (err == -EINVAL)
		return cli_usage("--fields: %s", d.text);
	return err ? cli_fail_diag(&d) : CLI_OK;
}

int cli_lines_option(struct app_lines *l, int opt, const char *arg)
{
	if (opt == CLI_OPT_FIELDS)
		return add_fields(l, arg);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(flags); i++)
		if (flags[i].opt == opt) {
			app_lines_set(l, flags[i].flag);
			return CLI_OK;
		}
	return -1;
}

int cli_lines_format(struct app_lines *l, const char *name)
{
	struct tacho_diag d = { 0 };

	return app_lines_format(l, name, &d) ? cli_usage("--format: %s", d.text) : CLI_OK;
}
