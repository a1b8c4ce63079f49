// SPDX-License-Identifier: MIT
/* recover: what a dead recorder, program or machine left, made into a trace (app/recover.h). */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "app/output.h"
#include "app/recover.h"
#include "cli/cli.h"

static const char usage[] =
"usage: tacho recover [OPTIONS] DIR|NAME\n"
"\n"
"Writes a trace from the remaining records\n"
"  after a recorder was killed: DIR is the trace that it was writing; the program\n"
"      records that it did not write are added to DIR as another trace\n"
"  after the machine crashed: DIR is a session's directory on disk\n"
"      ('tacho create --dir DIR'); -o sets the trace\n"
"  of a session without a recorder: NAME is the session\n"
"\n"
"  -o, --output DIR  write a session's trace to DIR (default: tacho-trace)\n"
"      --keep        do not destroy the session\n"
"      --json        print the result as JSON\n"
"  -h, --help        print this help\n";

static int show(const struct app_recover_result *result, bool json)
{
	cli_note("%" PRIu64 " events recovered, %" PRIu64 " lost", result->events, result->lost);
	if (json)
		printf("{\"events\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n", result->events,
		       result->lost);
	return CLI_OK;
}

static int recover_run(int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ "output", required_argument, NULL, 'o' },
		{ "keep", no_argument, NULL, CLI_OPT_FIRST },
		{ NULL, 0, NULL, 0 },
	};
	struct app_recover_config c = { .output = APP_DEFAULT_TRACE, .replace = true };
	struct app_recover_result result;
	struct tacho_diag d = { 0 };
	bool json = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqo:", options, NULL)) != -1) {
		ret = -1;
		if (opt == 'o') {
			c.output = optarg;
			c.replace = false;
		} else if (opt == CLI_OPT_FIRST) {
			c.keep = true;
		} else {
			ret = cli_common(opt, &json);
		}
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 != argc)
		return cli_usage("name one directory or session");
	c.what = argv[optind];
	if (app_recover(&c, &cli_observer, &result, &d))
		return cli_fail_diag(&d);
	return show(&result, json);
}

const struct cli_verb cli_recover = {
	.name = "recover",
	.summary = "write a trace from what killed recorders and crashes left",
	.usage = usage,
	.run = recover_run,
};
