// SPDX-License-Identifier: MIT
/* tacho explain: why was this slow. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain.h"
#include "base/scan.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/trace.h"

enum {
	OPT_WORST = CLI_OPT_FIRST, OPT_ALL, OPT_SLICE, OPT_THREAD, OPT_FROM, OPT_TO, OPT_TIMELINE,
};

struct explain_args {
	struct model_rules *rules;
	struct app_explain_query query;
	const char *from, *to;		/* seconds since the first record */
	bool json, timeline;
	char *own_name;			/* what query.span points to, or NULL */
	const char *trace;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_MODEL_OPTIONS,
	{ "worst", required_argument, NULL, OPT_WORST },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "thread", required_argument, NULL, OPT_THREAD },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "timeline", no_argument, NULL, OPT_TIMELINE },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho explain [OPTIONS] --span NAME [--thread THREAD] [TRACE]\n"
	"       tacho explain [OPTIONS] --slice RECORD [TRACE]\n"
	"       tacho explain [OPTIONS] --thread THREAD [--from S] [--to S] [TRACE]\n\n"
	"Shows where the time of an interval went, along its critical path: running,\n"
	"waiting for a CPU (and who had it), blocked (and on whom, and what that one\n"
	"did).  Needs the kernel's scheduler events: tacho record -k 'sched:*'.\n"
	"\n"
	"      --span NAME      slices with this name (a glob): spans, system calls, ...\n"
	"      --span SPAN      define the span 'NAME: EVENT -> EVENT [by FIELDS]', too\n"
	"      --worst N        the N longest of them (default: 1)\n"
	"      --all            compare the slowest 1 % with those around the median\n"
	"      --slice RECORD   the slice that begins with this record\n"
	"      --thread THREAD  a thread, by number or name (a glob); with --span, only\n"
	"                       slices of such threads\n"
	"      --from S         with --thread: from so many seconds after the first\n"
	"                       record (default: 0); with --span, too: slices that\n"
	"                       begin from then on\n"
	"      --to S           until so many (default: the end of the trace)\n"
	"      --timeline       print the path in order of time, too\n"
	"      --rule RULE      add a rule, 'EVENT VERB ...' (see 'tacho model --help')\n"
	"      --rules-file FILE  add the rules in FILE\n"
	"      --counter COUNTER  add a counter\n"
	CLI_TRACE_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print one JSON object\n"
	"  -h, --help           print this help\n";

/* A name; or a span that is defined here, whose name it is. */
static int take_span(struct explain_args *a, const char *text)
{
	const char *colon = strchr(text, ':');
	int ret;

	if (a->query.span)
		return cli_usage("give --span once");
	if (!colon || !strstr(text, "->")) {
		a->query.span = text;
		return -1;
	}
	ret = cli_model_option(a->rules, CLI_OPT_SPAN, text);
	if (ret != CLI_OK)
		return ret;
	a->own_name = strndup(text, (size_t)(colon - text));
	a->query.span = a->own_name;
	return a->own_name ? -1 : cli_fail("out of memory");
}

static int take(struct explain_args *a, int opt)
{
	struct app_explain_query *q = &a->query;
	uint64_t v;
	int ret;

	switch (opt) {
	case CLI_OPT_SPAN:
		return take_span(a, optarg);
	case OPT_WORST:
		if (!tacho_scan_whole(optarg, strlen(optarg), 0, &v) || !v ||
		    v > APP_EXPLAIN_SUBJECTS)
			return cli_usage("--worst: not a number from 1 to %u: '%s'",
					 APP_EXPLAIN_SUBJECTS, optarg);
		q->worst = (uint32_t)v;
		return -1;
	case OPT_ALL:
		q->all = true;
		return -1;
	case OPT_SLICE:
		if (!tacho_scan_whole(optarg, strlen(optarg), 0, &q->record))
			return cli_usage("--slice: not the number of a record: '%s'", optarg);
		return -1;
	case OPT_THREAD:
		q->thread = optarg;
		return -1;
	case OPT_FROM:
		a->from = optarg;
		return -1;
	case OPT_TO:
		a->to = optarg;
		return -1;
	case OPT_TIMELINE:
		a->timeline = true;
		return -1;
	default:
		ret = cli_model_option(a->rules, opt, optarg);
		if (ret < 0)
			ret = cli_trace_option(opt, optarg);
		return ret == CLI_OK ? -1 : ret < 0 ? cli_common(opt, &a->json) : ret;
	}
}

/* Seconds after the first record as ns since 1970. */
static int take_time(const char *option, const char *text, uint64_t first, uint64_t *ns)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= 0) || s > 1e9)
		return cli_usage("%s: not a number of seconds: '%s'", option, text);
	*ns = first + (uint64_t)(s * 1e9);
	return CLI_OK;
}

static int take_times(struct explain_args *a)
{
	struct tacho_record first;
	struct app_trace t;
	int ret = cli_trace_open(&t, a->trace, 0);
	int status;

	if (ret != CLI_OK)
		return ret;
	status = tacho_stream_next(t.stream, &first);
	if (status == TACHO_STREAM_ERROR)
		ret = cli_stream_failed(t.stream, -EIO);
	else if (status != TACHO_STREAM_RECORD)
		ret = cli_fail("the trace has no records");
	app_trace_close(&t);
	if (ret != CLI_OK)
		return ret;
	a->query.from = first.time;
	a->query.to = UINT64_MAX;
	if (a->from)
		ret = take_time("--from", a->from, first.time, &a->query.from);
	if (a->to && ret == CLI_OK)
		ret = take_time("--to", a->to, first.time, &a->query.to);
	if (ret == CLI_OK && a->query.to <= a->query.from)
		ret = cli_usage("--to must be after --from");
	return ret;
}

static int show(const struct explain_args *a, struct app_explain *e)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, (size_t)256 << 20);
	if (a->query.all)
		app_explain_compare(e, a->json, &b);
	else if (a->json)
		app_explain_json(e, &b);
	else
		app_explain_text(e, a->timeline, &b);
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

static int run(struct explain_args *a)
{
	struct tacho_diag d = { 0 };
	struct app_explain *e;
	struct app_trace t = { 0 };
	int ret = cli_trace_find(&t, a->trace);

	if (ret != CLI_OK)
		return ret;
	a->trace = t.path;
	if (a->query.thread)
		ret = take_times(a);
	if (ret != CLI_OK)
		return ret;
	if (app_explain_open(&e, a->trace, cli_trace_flags(), a->rules, &a->query, &cli_observer,
			     &d))
		return cli_fail_diag(&d);
	ret = show(a, e);
	app_explain_close(e);
	return ret;
}

static int explain_main(int argc, char **argv)
{
	struct explain_args a = { .query.record = MODEL_NO_RECORD };
	struct tacho_diag d = { 0 };
	int opt, ret = -1, ways;

	if (model_rules_new(&a.rules, &d))
		return cli_fail_diag(&d);
	while (ret < 0 && (opt = getopt_long(argc, argv, "hq", options, NULL)) != -1)
		ret = take(&a, opt);
	ways = (a.query.span != NULL) + (a.query.thread != NULL) +
	       (a.query.record != MODEL_NO_RECORD);
	if (a.query.span && a.query.thread)
		ways--;
	if (ret < 0 && (ways != 1 || argc - optind > 1))
		ret = cli_usage("give --span, --slice, --thread, or --span with --thread, and one "
				"trace");
	else if (ret < 0 && !a.query.thread && (a.from || a.to))
		ret = cli_usage("--from and --to belong to --thread");
	else if (ret < 0 && !a.query.span && (a.query.all || a.query.worst))
		ret = cli_usage("--all and --worst belong to --span");
	if (ret < 0) {
		a.trace = argv[optind];
		ret = run(&a);
	}
	model_rules_free(a.rules);
	free(a.own_name);
	return ret;
}

const struct cli_verb cli_explain = {
	.name = "explain",
	.summary = "show why an interval took so long",
	.usage = usage,
	.run = explain_main,
};
