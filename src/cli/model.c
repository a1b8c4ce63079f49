// SPDX-License-Identifier: MIT
/* tacho model: what happened, as intervals. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/index.h"
#include "app/model.h"
#include "app/select.h"
#include "base/scan.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/trace.h"

enum {
	OPT_ITEMS = CLI_OPT_FIRST, OPT_RULES, OPT_SUGGEST, OPT_TOP, OPT_TIME,
};

struct model_args {
	struct model_rules *rules;
	unsigned int items;
	bool lines, print_rules, suggest, json;
	uint32_t top;
	const char *trace, *time;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	{ "items", optional_argument, NULL, OPT_ITEMS },
	CLI_MODEL_OPTIONS,
	{ "rules", no_argument, NULL, OPT_RULES },
	{ "suggest", no_argument, NULL, OPT_SUGGEST },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "top", required_argument, NULL, OPT_TOP },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho model [OPTIONS] [TRACE]\n"
	"       tacho model --rules [OPTIONS]\n\n"
	"Turns the events of a trace into intervals: which thread ran where, what it\n"
	"waited for, system calls, interrupts, block requests, spans.  Prints a summary,\n"
	"or the intervals themselves.  TRACE is of any format that tacho reads, or\n"
	"session:NAME; the default is the newest tacho-trace in this directory.\n"
	"\n"
	"      --items[=LIST]   print items, one per line: tracks, slices, states,\n"
	"                       counters, flows, losses, instants (default: all)\n"
	"      --top N          summary: print so many threads and names (default: 20)\n"
	"      --time A,B       from A until B: seconds since the first event, @SECONDS\n"
	"                       since 1970, =SECONDS of its clock, or empty; an index of\n"
	"                       the trace ('tacho index') finds it at once\n"
	CLI_MODEL_HELP
	"      --rules          print the rules\n"
	"      --suggest        print spans that the names of events suggest\n"
	CLI_TRACE_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print JSON: the summary as an object, an item per line\n"
	"  -h, --help           print this help\n";

static int take_items(struct model_args *a, const char *list)
{
	static const char *const names[] = { "tracks", "slices", "states", "counters", "flows",
					     "losses", "instants" };
	const size_t nr = sizeof(names) / sizeof(names[0]);

	a->lines = true;
	while (list && *list) {
		size_t len = strcspn(list, ","), i;

		for (i = 0; i < nr; i++)
			if (strlen(names[i]) == len && !strncmp(list, names[i], len))
				break;
		if (i == nr)
			return cli_usage("--items: there are no '%.*s' (tracks, slices, states, "
					 "counters, flows, losses, instants)", (int)len, list);
		a->items |= 1u << i;
		list += len + (list[len] == ',');
	}
	return -1;
}

int cli_model_option(struct model_rules *rules, int opt, const char *arg)
{
	struct tacho_diag d = { 0 };
	const char *text = arg;
	int err;

	if (opt == CLI_OPT_SPAN) {
		err = app_model_add_span(rules, arg, &d);
	} else if (opt == CLI_OPT_COUNTER) {
		err = app_model_add_counter(rules, arg, &d);
	} else if (opt == CLI_OPT_RULE) {
		err = model_rules_add(rules, arg, strlen(arg), &d);
	} else if (opt == CLI_OPT_RULES_FILE) {
		err = app_model_add_file(rules, arg, &d);
		text = NULL;
	} else {
		return -1;
	}
	return err ? cli_fail_at(&d, text) : CLI_OK;
}

static int take(struct model_args *a, int opt)
{
	uint64_t v;
	int ret;

	switch (opt) {
	case OPT_ITEMS:
		return take_items(a, optarg);
	case OPT_RULES:
		a->print_rules = true;
		return -1;
	case OPT_SUGGEST:
		a->suggest = true;
		return -1;
	case OPT_TIME:
		a->time = optarg;
		return -1;
	case OPT_TOP:
		if (!tacho_scan_whole(optarg, strlen(optarg), 0, &v) || !v || v > 1000000)
			return cli_usage("--top: not a number from 1 to 1000000: '%s'", optarg);
		a->top = (uint32_t)v;
		return -1;
	default:
		ret = cli_model_option(a->rules, opt, optarg);
		if (ret < 0)
			ret = cli_trace_option(opt, optarg);
		return ret == CLI_OK ? -1 : ret < 0 ? cli_common(opt, &a->json) : ret;
	}
}

static int write_piece(void *arg, struct tacho_buf *text)
{
	int ret = cli_write(text);

	(void)arg;
	tacho_buf_reset(text);
	return ret == CLI_OK ? 0 : -EPIPE;
}

static int print_rules(const struct model_args *a)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, (size_t)64 << 20);
	model_rules_text(a->rules, &b);
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

/* From when until when: the trace's first record says what the seconds are counted from. */
static int place(const struct model_args *a, struct app_model_range *range, struct tacho_diag *d)
{
	struct app_select select;
	struct app_trace t;
	int ret, err;

	app_select_init(&select);
	if (app_select_time(&select, a->time, d)) {
		app_select_release(&select);
		return cli_usage("--time: %s", d->text);
	}
	ret = cli_trace_open(&t, a->trace, 0);
	if (ret == CLI_OK) {
		err = app_select_open(&select, t.stream, d);
		ret = err ? cli_fail_diag(d) : CLI_OK;
		*range = (struct app_model_range){ .from = select.from, .to = select.to };
		if (ret == CLI_OK && !select.placed)
			ret = cli_fail("--time is for recorded traces: what goes on has no end "
				       "yet");
		app_trace_close(&t);
	}
	app_select_release(&select);
	return ret;
}

static int show(const struct model_args *a, struct app_trace *t, struct app_model_range *range,
		struct tacho_buf *b, struct tacho_diag *d)
{
	const struct app_model_form form = {
		.items = a->items ? a->items : APP_MODEL_ALL, .json = a->json,
		.write = write_piece,
	};
	int err;

	if (a->suggest)
		err = model_suggest(a->rules, t->stream, b) ? tacho_no_memory(d) : 0;
	else if (a->lines)
		return app_model_items(t->stream, a->rules, range, &form, &cli_observer, d);
	else
		err = app_model_summary(t->stream, a->rules, range, a->top, a->json, b,
					&cli_observer, d);
	return err ? err : write_piece(NULL, b);
}

static int run(const struct model_args *a)
{
	struct app_model_range range = { .to = UINT64_MAX };
	struct tacho_diag d = { 0 }, no_index = { 0 };
	struct app_trace t;
	struct tacho_buf b;
	int err, ret;

	if (a->print_rules)
		return print_rules(a);
	ret = a->time ? place(a, &range, &d) : CLI_OK;
	if (ret == CLI_OK)
		ret = cli_trace_open(&t, a->trace, 0);
	if (ret != CLI_OK)
		return ret;
	tacho_buf_init(&b, (size_t)64 << 20);
	if (range.from)
		(void)app_index_open(&range.index, t.path, a->rules, &b, &no_index);
	tacho_buf_reset(&b);
	err = show(a, &t, a->time ? &range : NULL, &b, &d);
	index_close(range.index);
	tacho_buf_release(&b);
	ret = !err ? cli_trace_remarks(&t) : d.err ? cli_fail_diag(&d) : CLI_FAILED;
	app_trace_close(&t);
	return ret;
}

static int model_main(int argc, char **argv)
{
	struct model_args a = { .top = 20 };
	struct tacho_diag d = { 0 };
	int opt, ret = -1;

	if (model_rules_new(&a.rules, &d))
		return cli_fail_diag(&d);
	while (ret < 0 && (opt = getopt_long(argc, argv, "hq", options, NULL)) != -1)
		ret = take(&a, opt);
	if (ret < 0 && argc - optind > 1)
		ret = cli_usage("give one trace");
	if (ret < 0 && a.time && (a.suggest || a.print_rules))
		ret = cli_usage("--time is for the summary and --items");
	if (ret < 0) {
		a.trace = argv[optind];
		ret = run(&a);
	}
	model_rules_free(a.rules);
	return ret;
}

const struct cli_verb cli_model = {
	.name = "model",
	.summary = "show what happened as intervals: states, calls, spans",
	.usage = usage,
	.run = model_main,
};
