// SPDX-License-Identifier: MIT
/* tacho diff: what differs between two traces. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "app/diff.h"
#include "base/scan.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/trace.h"

enum {
	OPT_TIME_A = CLI_OPT_FIRST, OPT_TIME_B, OPT_TOP, OPT_ALL,
};

struct diff_args {
	struct model_rules *rules;
	struct app_diff_query query;
	uint32_t top;
	bool json, all;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_MODEL_OPTIONS,
	{ "events", required_argument, NULL, 'e' },
	{ "time-a", required_argument, NULL, OPT_TIME_A },
	{ "time-b", required_argument, NULL, OPT_TIME_B },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "all", no_argument, NULL, OPT_ALL },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho diff [OPTIONS] A B\n"
	"       tacho diff [OPTIONS] --time-a FROM,TO --time-b FROM,TO [TRACE]\n\n"
	"Compares two traces, or two ranges of one: how often each event, span, system\n"
	"call, lock, device request and state of a thread occurs, how long it takes, and\n"
	"where the time of spans goes.  Prints which differences are more than noise, by\n"
	"the size of the effect (docs/diff.md).\n"
	"\n"
	"  -e, --events LIST    compare only these event types: globs, '!GLOB' excludes\n"
	"      --time-a FROM,TO  of A (or TRACE), only this range: seconds since its\n"
	"                       first record, @SECONDS since 1970, =SECONDS of its\n"
	"                       clock, or empty\n"
	"      --time-b FROM,TO  the same of B (or TRACE)\n"
	"      --top N          print so many rows of each kind (default: 10)\n"
	"      --all            print rows that do not differ, too\n"
	CLI_MODEL_HELP
	CLI_TRACE_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print one JSON object, with all rows\n"
	"  -h, --help           print this help\n";

static int take(struct diff_args *a, int opt)
{
	uint64_t v;
	int ret;

	switch (opt) {
	case 'e':
		a->query.events = optarg;
		return -1;
	case OPT_TIME_A:
		a->query.input[0].time = optarg;
		return -1;
	case OPT_TIME_B:
		a->query.input[1].time = optarg;
		return -1;
	case OPT_TOP:
		if (!tacho_scan_whole(optarg, strlen(optarg), 0, &v) || !v || v > 1000000)
			return cli_usage("--top: not a number from 1 to 1000000: '%s'", optarg);
		a->top = (uint32_t)v;
		return -1;
	case OPT_ALL:
		a->all = true;
		return -1;
	default:
		ret = cli_model_option(a->rules, opt, optarg);
		if (ret < 0)
			ret = cli_trace_option(opt, optarg);
		return ret == CLI_OK ? -1 : ret < 0 ? cli_common(opt, &a->json) : ret;
	}
}

static int run(struct diff_args *a)
{
	struct tacho_diag d = { 0 };
	struct app_diff *diff;
	struct tacho_buf b;
	int ret;

	a->query.rules = a->rules;
	a->query.flags = cli_trace_flags();
	if (app_diff_open(&diff, &a->query, &cli_observer, &d))
		return cli_fail_diag(&d);
	tacho_buf_init(&b, (size_t)256 << 20);
	if (a->json)
		app_diff_json(diff, &b);
	else
		app_diff_text(diff, a->top, a->all, &b);
	ret = tacho_buf_error(&b) ? cli_fail("out of memory") : cli_write(&b);
	tacho_buf_release(&b);
	app_diff_close(diff);
	return ret;
}

/* Which two: A and B; or one trace, or the newest, in two ranges. */
static int take_traces(struct diff_args *a, int nr, char **traces, struct app_trace *newest)
{
	struct app_diff_input *in = a->query.input;
	int ret;

	if (nr > 2)
		return cli_usage("unexpected argument '%s': give two traces", traces[2]);
	if (nr < 2 && (!in[0].time || !in[1].time))
		return cli_usage("give two traces, or --time-a and --time-b");
	if (nr < 2) {
		ret = cli_trace_find(newest, nr ? traces[0] : NULL);
		if (ret != CLI_OK)
			return ret;
		in[0].path = in[1].path = newest->path;
	} else {
		in[0].path = traces[0];
		in[1].path = traces[1];
	}
	return CLI_OK;
}

static int diff_main(int argc, char **argv)
{
	struct diff_args a = { .top = 10 };
	struct app_trace newest = { 0 };
	struct tacho_diag d = { 0 };
	int opt, ret = -1;

	if (model_rules_new(&a.rules, &d))
		return cli_fail_diag(&d);
	while (ret < 0 && (opt = getopt_long(argc, argv, "hqe:", options, NULL)) != -1)
		ret = take(&a, opt);
	if (ret < 0)
		ret = take_traces(&a, argc - optind, argv + optind, &newest);
	else
		goto end;
	if (ret == CLI_OK)
		ret = run(&a);
end:
	model_rules_free(a.rules);
	return ret;
}

const struct cli_verb cli_diff = {
	.name = "diff",
	.summary = "compare two traces, or two ranges of one",
	.usage = usage,
	.run = diff_main,
};
