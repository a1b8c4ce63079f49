// SPDX-License-Identifier: MIT
#include "cli/lines.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static int add_fields(struct cli_lines *l, const char *arg)
{
	do {
		size_t len = strcspn(arg, ",");
		char **p;

		if (!len)
			return cli_usage("--fields: an empty name in '%s'", arg);
		p = reallocarray(l->field, l->nr_fields + 1, sizeof(*p));
		if (!p)
			return cli_fail("out of memory");
		l->field = p;
		p[l->nr_fields] = strndup(arg, len);
		if (!p[l->nr_fields])
			return cli_fail("out of memory");
		l->nr_fields++;
		l->config.field = (const char *const *)l->field;
		l->config.nr_fields = l->nr_fields;
		arg += len + (arg[len] == ',');
	} while (*arg);
	return CLI_OK;
}

int cli_lines_option(struct cli_lines *l, int opt, const char *arg)
{
	switch (opt) {
	case 'R':
		l->config.raw = true;
		return CLI_OK;
	case CLI_OPT_FIELDS:
		return add_fields(l, arg);
	case CLI_OPT_RELATIVE:
		l->config.time = TACHO_LINE_RELATIVE;
		return CLI_OK;
	case CLI_OPT_UTC:
		l->config.time = TACHO_LINE_UTC;
		return CLI_OK;
	case CLI_OPT_TICKS:
		l->config.time = TACHO_LINE_TICKS;
		return CLI_OK;
	case CLI_OPT_NS:
		l->config.ns = true;
		return CLI_OK;
	case CLI_OPT_DELTA:
		l->config.delta = true;
		return CLI_OK;
	default:
		return -1;
	}
}

int cli_lines_format(struct cli_lines *l, const char *name)
{
	if (!strcmp(name, "ftrace"))
		l->config.format = TACHO_LINE_FTRACE;
	else if (!strcmp(name, "babeltrace"))
		l->config.format = TACHO_LINE_BABELTRACE;
	else if (!strcmp(name, "json"))
		l->config.format = TACHO_LINE_JSON;
	else
		return cli_usage("--format: '%s' is not one of ftrace, babeltrace, json",
				 name);
	return CLI_OK;
}

int cli_lines_check(struct cli_lines *l, struct tacho_stream *s,
		    bool growing)
{
	struct tacho_diag d = { 0 };

	if (growing || !tacho_line_check(&l->config, s, &d))
		return CLI_OK;
	return cli_fail_diag(&d);
}

void cli_lines_release(struct cli_lines *l)
{
	for (size_t i = 0; i < l->nr_fields; i++)
		free(l->field[i]);
	free(l->field);
}
