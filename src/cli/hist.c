// SPDX-License-Identifier: MIT
/* tacho hist: histograms over a trace, a session or the running kernel. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/hist_query.h"
#include "cli/model.h"
#include "cli/trace.h"

#define SNAPSHOT_MAX	((uint64_t)1 << 30)

enum {
	OPT_SYNTH = CLI_OPT_FIRST,
	OPT_ALL,
	OPT_CHART,
	OPT_ASCII,
	OPT_QUANTILES,
	OPT_BY,
	OPT_DURATION,
	OPT_SNAPSHOT,
	OPT_SNAPSHOT_SIZE,
};

struct hist_options {
	struct cli_hist_query query;
	struct model_rules *rules;
	const char *session;	/* its own histograms, or NULL */
	const char *only;	/* of these events, or NULL */
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_JOBS_OPTIONS,
	CLI_MODEL_OPTIONS,
	{ "event", required_argument, NULL, 'e' },
	{ "kernel", no_argument, NULL, 'k' },
	{ "session", required_argument, NULL, 's' },
	{ "watch", optional_argument, NULL, 'w' },
	{ "synth", required_argument, NULL, OPT_SYNTH },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "chart", no_argument, NULL, OPT_CHART },
	{ "ascii", no_argument, NULL, OPT_ASCII },
	{ "quantiles", required_argument, NULL, OPT_QUANTILES },
	{ "by", required_argument, NULL, OPT_BY },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "snapshot", required_argument, NULL, OPT_SNAPSHOT },
	{ "snapshot-size", required_argument, NULL, OPT_SNAPSHOT_SIZE },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho hist [OPTIONS] [TRACE] -e EVENT TRIGGER [-e EVENT TRIGGER]...\n"
	"       tacho hist [OPTIONS] -s NAME [-k] [EVENT]\n\n"
	"Counts events and sums their fields by keys, in the kernel's language of\n"
	"histogram triggers, over a recorded trace, a session, or the running kernel:\n\n"
	"  tacho hist -e sched:sched_switch 'keys=next_comm:sort=hitcount.descending'\n\n"
	"TRACE is of any format that tacho reads, session:NAME, or 'kernel' (default:\n"
	"the newest tacho-trace in this directory).  TRIGGER is the text for a trigger\n"
	"file; 'hist:' can be omitted.  Several triggers can be connected by variables\n"
	"and synthetic events; the histogram of the last one is printed.\n"
	"\n"
	"Of a recorded trace, EVENT can also be model:slice, model:state, model:flow or\n"
	"model:instant: what 'tacho model' makes of it.\n"
	"\n"
	"With -s, prints the histograms that 'tacho trigger' set on events of a session:\n"
	"those that its programs maintain, and those of the kernel in its instance.\n"
	"\n"
	"  -s, --session NAME   print the histograms of this session's triggers\n"
	"  -e, --event EVENT    SYSTEM:EVENT or a glob, for the TRIGGER that follows it\n"
	"      --synth TEXT     define a synthetic event: 'latency u64 lat; pid_t pid'\n"
	"  -k, --kernel         read the running kernel, as TRACE 'kernel'; with -s,\n"
	"                       print only the kernel's histograms\n"
	"      --duration TIME  live: stop after 10s, 5m (default: at Ctrl-C)\n"
	"  -w, --watch[=TIME]   live: print every second, or every TIME\n"
	"      --all            print the histograms of all triggers\n"
	"      --chart          print bars\n"
	"      --ascii          print bars of ASCII characters\n"
	"      --quantiles LIST also print quantiles of a numeric key: 50,99,99.9,100\n"
	"      --by KEYS        print a table of the quantiles of the remaining key for\n"
	"                       each value of these keys: 'keys=comm,lat' --by comm\n"
	"      --snapshot OUT   write the last snapshot that a TRIGGER took; OUT as for\n"
	"                       tacho convert, or '-' for text on stdout\n"
	"      --snapshot-size SIZE  size of a snapshot (default: 4M)\n"
	CLI_MODEL_HELP
	CLI_TRACE_HELP
	CLI_JOBS_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print one JSON object per histogram\n"
	"  -h, --help           print this help\n";

/* "50,99.9,100" in thousandths of a percent. */
static int quantiles(struct tacho_quantiles *q, const char *arg)
{
	const char *s = arg;

	do {
		char *end;
		double v = strtod(s, &end), n = v * 1000;

		if (end == s || !(v >= 0 && v <= 100) || (*end && *end != ','))
			return cli_usage("--quantiles: '%s' is no list of percentages like 50,99",
					 arg);
		if (q->nr == TACHO_QUANTILES_MAX)
			return cli_usage("--quantiles: more than %d", TACHO_QUANTILES_MAX);
		/* what is below 100 is not the maximum, however near it is */
		q->q[q->nr++] = v < 100 && n > TACHO_QUANTILE_ALL - 1 ?
				TACHO_QUANTILE_ALL - 1 : (uint32_t)(n + 0.5);
		s = end + (*end == ',');
	} while (*s);
	return CLI_OK;
}

static int time_arg(const char *what, const char *arg, uint64_t *ns)
{
	if (tacho_parse_time(arg, ns) || !*ns)
		return cli_usage("%s: invalid time '%s' (examples: 10s, 500ms)", what, arg);
	return CLI_OK;
}

static int size_arg(const char *arg, uint64_t *size)
{
	if (tacho_parse_size(arg, size) || *size < APP_SNAPSHOT_MIN ||
	    *size > SNAPSHOT_MAX)
		return cli_usage("--snapshot-size: '%s' is no size from 128K to 1G", arg);
	return CLI_OK;
}

/* What is no option: a trigger behind its event, or the trace. */
static int plain_arg(struct hist_options *o, const char *event, const char *arg)
{
	struct app_question *a = &o->query.question;

	if (o->session && !event) {
		if (o->only)
			return cli_usage("unexpected argument '%s': give one EVENT", arg);
		o->only = arg;
		return CLI_OK;
	}
	if (!event) {
		if (o->query.trace)
			return cli_usage("'%s': a TRIGGER must follow -e EVENT", arg);
		o->query.trace = arg;
		return CLI_OK;
	}
	if (a->nr_commands == APP_QUESTION_MAX)
		return cli_usage("more than %d triggers", APP_QUESTION_MAX);
	a->command[a->nr_commands++] =
		(struct app_question_command){ .event = event, .text = arg };
	return CLI_OK;
}

static int take(struct hist_options *o, int opt)
{
	struct cli_hist_query *a = &o->query;

	switch (opt) {
	case 'k':
		a->trace = "kernel";
		return CLI_OK;
	case 's':
		o->session = optarg;
		return CLI_OK;
	case 'w':
		a->watch_ns = 1000000000;
		return optarg ? time_arg("--watch", optarg, &a->watch_ns) : CLI_OK;
	case OPT_SYNTH:
		if (a->question.nr_synths == APP_QUESTION_SYNTHS)
			return cli_usage("more than %d synthetic events",
					 APP_QUESTION_SYNTHS);
		a->question.synth[a->question.nr_synths++] = optarg;
		return CLI_OK;
	case OPT_ALL:
		a->question.all = true;
		return CLI_OK;
	case OPT_CHART:
		a->form.shape = APP_HIST_CHART;
		return CLI_OK;
	case OPT_ASCII:
		a->form.shape = APP_HIST_CHART;
		a->form.ascii = true;
		return CLI_OK;
	case OPT_QUANTILES:
		return quantiles(&a->form.quantiles, optarg);
	case OPT_BY:
		a->form.by = optarg;
		return CLI_OK;
	case OPT_SNAPSHOT:
		a->snapshot = optarg;
		return *optarg ? CLI_OK : cli_usage("--snapshot: where to?");
	case OPT_SNAPSHOT_SIZE:
		return size_arg(optarg, &a->question.snapshot_size);
	case OPT_DURATION:
		return time_arg("--duration", optarg, &a->duration_ns);
	default:
		return -1;
	}
}

/* What does not go together.  -1: nothing; else the exit status. */
static int check(const struct hist_options *o, bool json)
{
	const struct cli_hist_query *a = &o->query;

	if (o->session && (a->question.nr_commands || (a->trace && strcmp(a->trace, "kernel"))))
		return cli_usage("-s NAME takes neither a TRACE nor -e");
	if (!a->question.nr_commands && !o->session)
		return cli_usage("nothing to count: give -e EVENT TRIGGER");
	if (a->form.by && !a->form.quantiles.nr)
		return cli_usage("--by is for quantiles: --quantiles LIST is missing");
	if (a->form.by && a->form.shape == APP_HIST_CHART && !a->form.ascii)
		return cli_usage("--by makes a table, --chart makes bars");
	if (o->session && a->snapshot)
		return cli_usage("-s NAME: the session has snapshots of its own; see "
				 "tacho snapshot");
	if (json && a->snapshot && !strcmp(a->snapshot, "-"))
		return cli_usage("--snapshot - is text, and does not go with --json");
	return -1;
}

/* -1: go on; else the exit status. */
static int parse(struct hist_options *o, int argc, char **argv)
{
	const char *event = NULL;
	bool json = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "-hqke:s:w::" CLI_JOBS_LETTERS, options,
				  NULL)) != -1) {
		if (opt == 1) {
			ret = plain_arg(o, event, optarg);
			event = NULL;
		} else if (opt == 'e' && event) {
			ret = cli_usage("-e %s is not followed by a TRIGGER", event);
		} else if (opt == 'e') {
			event = optarg;
			ret = CLI_OK;
		} else {
			ret = take(o, opt);
		}
		if (ret < 0)
			ret = cli_model_option(o->rules, opt, optarg);
		if (ret < 0)
			ret = cli_trace_option(opt, optarg);
		if (ret < 0)
			ret = cli_common(opt, &json);
		else if (ret == CLI_OK)
			ret = -1;
		if (ret >= 0)
			return ret;
	}
	if (event)
		return cli_usage("-e %s is not followed by a TRIGGER", event);
	ret = check(o, json);
	if (json)
		o->query.form.shape = APP_HIST_JSON;
	return ret;
}

static int hist_main(int argc, char **argv)
{
	struct hist_options o = { 0 };
	struct tacho_diag d = { 0 };
	int ret;

	if (model_rules_new(&o.rules, &d))
		return cli_fail_diag(&d);
	o.query.question.rules = o.rules;
	ret = parse(&o, argc, argv);
	if (ret < 0)
		ret = o.session ? cli_hist_session(&o.query, o.session, o.only) :
				  cli_hist_query(&o.query);
	model_rules_free(o.rules);
	return ret;
}

const struct cli_verb cli_hist = {
	.name = "hist",
	.summary = "print histograms of events: by keys, sums, latencies",
	.usage = usage,
	.run = hist_main,
};
