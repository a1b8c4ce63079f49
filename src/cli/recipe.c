// SPDX-License-Identifier: MIT
/* tacho recipe: questions that are asked often, ready made. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/hist_query.h"
#include "cli/model.h"
#include "cli/trace.h"

enum { OPT_DURATION = CLI_OPT_FIRST };

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_JOBS_OPTIONS,
	CLI_MODEL_OPTIONS,
	{ "kernel", no_argument, NULL, 'k' },
	{ "watch", optional_argument, NULL, 'w' },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho recipe list\n"
	"       tacho recipe show NAME [TRACE]\n"
	"       tacho recipe run [OPTIONS] NAME [TRACE]\n\n"
	"Ready-made queries in the language of 'tacho hist'.  Of a trace most of them ask\n"
	"the model (tacho model), so they answer for any trace that has what they need,\n"
	"whichever system made it; of the running kernel or a session they are\n"
	"histograms of its events.  'show' prints the command that 'run' runs on TRACE,\n"
	"or on a trace that has all events, and the one of events.  TRACE is of any\n"
	"format that tacho reads, session:NAME or 'kernel'; the default for 'run' is the\n"
	"newest tacho-trace in this directory.\n"
	"\n"
	"  -k, --kernel         read the running kernel, as TRACE 'kernel'\n"
	"      --duration TIME  live: stop after 10s, 5m (default: at Ctrl-C)\n"
	"  -w, --watch[=TIME]   live: print every second, or every TIME\n"
	CLI_MODEL_HELP
	CLI_TRACE_HELP
	CLI_JOBS_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           run: print one JSON object per histogram; list: an array\n"
	"  -h, --help           print this help\n";

static const struct app_recipe *find(const char *name)
{
	const struct app_recipe *r = app_recipe_find(name);

	if (!r)
		(void)cli_fail("there is no recipe '%s'; 'tacho recipe list' names them", name);
	return r;
}

static int list(bool json)
{
	const struct app_recipe *r;
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, 1u << 20);
	if (json)
		tacho_buf_putc(&b, '[');
	for (uint32_t i = 0; (r = app_recipe_at(i)); i++) {
		if (json)
			tacho_buf_printf(&b, "%s{\"name\":\"%s\",\"summary\":\"%s\"}",
					 i ? "," : "", app_recipe_name(r),
					 app_recipe_summary(r));
		else
			tacho_buf_printf(&b, "%-24s %s\n", app_recipe_name(r),
					 app_recipe_summary(r));
	}
	if (json)
		tacho_buf_puts(&b, "]\n");
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

/* ---- show ---- */

/* The options of a form, as 'tacho hist' has them. */
static void put_form(const struct app_hist_form *form, struct tacho_buf *b)
{
	for (uint32_t i = 0; i < form->quantiles.nr; i++)
		tacho_buf_printf(b, "%s%u", i ? "," : " --quantiles ",
				 form->quantiles.q[i] / 1000);
	if (form->by)
		tacho_buf_printf(b, " --by %s", form->by);
	if (form->shape == APP_HIST_CHART)
		tacho_buf_puts(b, " --chart");
}

static void put_command(const struct app_recipe_plan *p, struct tacho_buf *b)
{
	const struct app_question *a = &p->question;

	tacho_buf_puts(b, "tacho hist");
	put_form(&p->form, b);
	for (uint32_t i = 0; i < a->nr_synths; i++)
		tacho_buf_printf(b, " --synth '%s'", a->synth[i]);
	for (uint32_t i = 0; i < a->nr_commands; i++)
		tacho_buf_printf(b, " \\\n  -e %s '%s'", a->command[i].event,
				 a->command[i].text + strlen("hist:"));
	tacho_buf_putc(b, '\n');
}

/* One way of a recipe; before: what its meaning is introduced with. */
static int put_way(const struct app_recipe *r, enum app_recipe_way way, const char *before,
		   const struct tacho_stream *s, struct tacho_buf *b)
{
	struct tacho_diag d = { 0 };
	struct app_recipe_plan p;
	int ret = CLI_OK;

	if (app_recipe_plan(&p, r, way, s, &d)) {
		ret = cli_fail_diag(&d);
	} else {
		tacho_buf_printf(b, "# %s%s\n", before, p.meaning);
		put_command(&p, b);
	}
	app_recipe_plan_release(&p);
	return ret;
}

/* live: there are only events. */
static int put_recipe(const struct app_recipe *r, bool live, const struct tacho_stream *s)
{
	bool asks = !live && app_recipe_has(r, APP_RECIPE_MODEL);
	struct tacho_buf b;
	int ret = CLI_OK;

	tacho_buf_init(&b, 1u << 20);
	tacho_buf_printf(&b, "# %s\n", app_recipe_summary(r));
	if (asks)
		ret = put_way(r, APP_RECIPE_MODEL, "", s, &b);
	if (ret == CLI_OK)
		ret = put_way(r, APP_RECIPE_EVENTS,
			      asks ? "of the running kernel or a session: " : "", s, &b);
	if (ret == CLI_OK)
		ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

static int show(const struct cli_hist_query *a)
{
	struct app_trace t = { .stream = NULL };
	bool live = a->trace && !strcmp(a->trace, "kernel");
	int ret = CLI_OK;

	if (a->trace && !live)
		ret = cli_trace_open(&t, a->trace, 0);
	if (ret != CLI_OK)
		return ret;
	if (t.stream)
		live = app_recipe_has(a->recipe, APP_RECIPE_MODEL) &&
		       app_recipe_way(a->recipe, t.stream) == APP_RECIPE_EVENTS;
	ret = put_recipe(a->recipe, live, t.stream);
	if (t.stream)
		app_trace_close(&t);
	return ret;
}

/* ---- run ---- */

static int take(struct cli_hist_query *a, int opt)
{
	switch (opt) {
	case 'k':
		a->trace = "kernel";
		return CLI_OK;
	case 'w':
		a->watch_ns = 1000000000;
		if (!optarg)
			return CLI_OK;
		if (tacho_parse_time(optarg, &a->watch_ns) || !a->watch_ns)
			return cli_usage("--watch: invalid time '%s' (examples: 10s, 500ms)", optarg);
		return CLI_OK;
	case OPT_DURATION:
		if (tacho_parse_time(optarg, &a->duration_ns) || !a->duration_ns)
			return cli_usage("--duration: invalid time '%s' (examples: 10s, 500ms)", optarg);
		return CLI_OK;
	default:
		return -1;
	}
}

/* An option.  -1: go on; else an exit status. */
static int option(struct cli_hist_query *a, struct model_rules *rules, int opt)
{
	int ret = take(a, opt);

	if (ret < 0)
		ret = cli_model_option(rules, opt, optarg);
	if (ret < 0)
		ret = cli_trace_option(opt, optarg);
	return ret < 0 ? cli_common(opt, &a->json) : ret == CLI_OK ? -1 : ret;
}

static int do_recipe(struct cli_hist_query *a, int n, char **argv)
{
	if (n == 1 && !strcmp(argv[0], "list"))
		return list(a->json);
	if (n < 2 || n > 3 || (strcmp(argv[0], "show") && strcmp(argv[0], "run")))
		return cli_usage("give 'list', 'show NAME [TRACE]' or 'run NAME [TRACE]'");
	a->recipe = find(argv[1]);
	if (!a->recipe)
		return CLI_FAILED;
	if (n == 3)
		a->trace = argv[2];
	return !strcmp(argv[0], "show") ? show(a) : cli_hist_query(a);
}

static int recipe_main(int argc, char **argv)
{
	struct cli_hist_query a = { 0 };
	struct tacho_diag d = { 0 };
	struct model_rules *rules;
	int opt, ret = -1;

	if (model_rules_new(&rules, &d))
		return cli_fail_diag(&d);
	a.question.rules = rules;
	while (ret < 0 &&
	       (opt = getopt_long(argc, argv, "hqkw::" CLI_JOBS_LETTERS, options, NULL)) != -1)
		ret = option(&a, rules, opt);
	if (ret < 0)
		ret = do_recipe(&a, argc - optind, argv + optind);
	model_rules_free(rules);
	return ret;
}

const struct cli_verb cli_recipe = {
	.name = "recipe",
	.summary = "run ready-made queries: latencies, queues, allocations",
	.usage = usage,
	.run = recipe_main,
};
