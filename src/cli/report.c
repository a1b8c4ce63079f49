// SPDX-License-Identifier: MIT
/* tacho report: the records of a trace as text. */
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include "app/report.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/lines.h"
#include "cli/out.h"
#include "cli/term.h"
#include "cli/trace.h"
#include "tacho/stream.h"

enum {
	OPT_NO_PAGER = CLI_OPT_FIRST,
	OPT_COLOUR,
	OPT_FOLLOW,
	OPT_CONSUME,
	OPT_HEADER,
};

struct report {
	struct app_lines lines;
	struct app_select filter;
	enum cli_colour colour;
	bool no_pager, follow, consume, header, json;
	struct app_trace trace;
	struct cli_out out;
	int failed;			/* to write, an exit status */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_JOBS_OPTIONS,
	CLI_FILTER_OPTIONS,
	CLI_LINES_OPTIONS,
	{ "format", required_argument, NULL, 'F' },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "consume", no_argument, NULL, OPT_CONSUME },
	{ "header", no_argument, NULL, OPT_HEADER },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "color", optional_argument, NULL, OPT_COLOUR },
	{ "colour", optional_argument, NULL, OPT_COLOUR },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho report [OPTIONS] [TRACE]\n\n"
	"Prints the events of a trace in order of time.  TRACE is a directory, a\n"
	"trace.dat or .kev, session:NAME for an existing session, or kernel:EVENT,EVENT\n"
	"for the running kernel (with --follow).  The default is the newest tacho-trace\n"
	"in this directory.\n\n"
	CLI_FILTER_HELP
	"Output format:\n"
	"  -F, --format FORMAT  'ftrace' (the kernel's trace file), 'babeltrace', 'json'\n"
	CLI_LINES_HELP
	"      --header         print the kernel's comment lines first (ftrace)\n"
	"      --follow         for a session: wait for more events, until Ctrl-C\n"
	"      --consume        for a session: release the sub-buffers that were read\n"
	"      --color=WHEN     'auto' (on a terminal), 'always', 'never'\n"
	"      --no-pager       do not start a pager on a terminal\n"
	CLI_TRACE_HELP
	CLI_JOBS_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           the same as --format json\n"
	"  -h, --help           print this help\n";

static int take_option(struct report *r, int opt)
{
	int ret = cli_filter_option(&r->filter, opt, optarg);

	if (ret < 0)
		ret = cli_lines_option(&r->lines, opt, optarg);
	if (ret < 0)
		ret = cli_trace_option(opt, optarg);
	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'F':
		return cli_lines_format(&r->lines, optarg);
	case OPT_FOLLOW:
		r->follow = true;
		return CLI_OK;
	case OPT_CONSUME:
		r->consume = true;
		return CLI_OK;
	case OPT_HEADER:
		r->header = true;
		return CLI_OK;
	case OPT_NO_PAGER:
		r->no_pager = true;
		return CLI_OK;
	case OPT_COLOUR:
		if (!cli_colour_parse(optarg ? optarg : "always", &r->colour))
			return cli_usage("--color: '%s' is not one of auto, always, never",
					 optarg);
		return CLI_OK;
	default:
		return -1;
	}
}

/* -1: go on; else the exit status. */
static int parse(struct report *r, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv,
				  "hqF:" CLI_FILTER_LETTERS CLI_LINES_LETTERS CLI_JOBS_LETTERS,
				  options, NULL)) != -1) {
		ret = take_option(r, opt);
		if (ret < 0)
			ret = cli_common(opt, &r->json);
		else if (ret == CLI_OK)
			ret = -1;
		if (ret >= 0)
			return ret;
	}
	if (argc - optind > 1)
		return cli_usage("unexpected argument '%s': give one trace",
				 argv[optind + 1]);
	if (r->json)
		app_lines_set(&r->lines, APP_LINES_JSON);
	return -1;
}

/* Not 0: nothing more is wanted. */
static int put(void *arg)
{
	struct report *r = arg;

	r->failed = cli_out_flush(&r->out);
	return r->failed || r->out.closed;
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return interrupted;
}

static int print(struct report *r)
{
	const struct tacho_observer observer = { .cancelled = is_interrupted };
	const struct app_report_config config = {
		.stream = r->trace.stream, .select = &r->filter, .lines = &r->lines,
		.header = r->header, .follow = r->follow, .out = &r->out.buf, .put = put,
		.arg = r, .observer = r->follow ? &observer : NULL,
	};
	struct tacho_diag d = { 0 };
	int ret;

	cli_out_init(&r->out, STDOUT_FILENO, "stdout");
	ret = app_report(&config, &d) ? cli_fail_diag(&d) : r->failed;
	if (cli_out_flush(&r->out) != CLI_OK)
		ret = CLI_FAILED;
	cli_out_release(&r->out);
	return ret;
}

static int run(struct report *r, const char *path)
{
	int ret = cli_trace_open(&r->trace, path,
				 r->consume ? TACHO_STREAM_CONSUME : 0);

	if (ret != CLI_OK)
		return ret;
	r->filter.growing = r->follow && app_report_is_live(r->trace.stream);
	ret = cli_filter_open(&r->filter, r->trace.stream);
	if (ret == CLI_OK) {
		if (cli_colour_wanted(r->colour))
			app_lines_set(&r->lines, APP_LINES_COLOUR);
		if (isatty(STDOUT_FILENO))
			app_lines_set(&r->lines, APP_LINES_TAME);
		if (!r->no_pager && !r->follow)
			cli_pager_begin();
		ret = print(r);
		cli_pager_end();
	}
	if (ret == CLI_OK)
		ret = cli_trace_remarks(&r->trace);
	app_trace_close(&r->trace);
	return ret;
}

static int report_main(int argc, char **argv)
{
	struct report r = { .colour = CLI_COLOUR_AUTO };
	int ret;

	app_select_init(&r.filter);
	app_lines_init(&r.lines);
	ret = parse(&r, argc, argv);
	if (ret < 0) {
		if (r.follow) {
			struct sigaction sa = { .sa_handler = on_signal };

			(void)sigaction(SIGINT, &sa, NULL);
			(void)sigaction(SIGTERM, &sa, NULL);
		}
		ret = run(&r, argv[optind]);
	}
	app_select_release(&r.filter);
	app_lines_release(&r.lines);
	return ret;
}

const struct cli_verb cli_report = {
	.name = "report",
	.summary = "print the events of a trace",
	.usage = usage,
	.run = report_main,
};
