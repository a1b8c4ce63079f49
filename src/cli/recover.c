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
"Makes a readable trace of what was left behind:\n"
"  by a recorder that was killed: DIR is the trace it was writing; what programs\n"
"      recorded and it did not write is added, as one more part of DIR\n"
"  by a machine that crashed: DIR is a session's directory on disk\n"
"      ('tacho create --dir DIR'); -o says where the trace goes\n"
"  by programs: NAME is a session without a recorder\n"
"\n"
"  -o, --output DIR  where a session's trace goes (default: tacho-trace)\n"
"      --keep        leave the session as it is (else it is destroyed)\n"
"      --json        what was recovered, as JSON\n"
"  -h, --help        this text\n";

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
	.summary = "make a trace of what a crash left behind",
	.usage = usage,
	.run = recover_run,
};
