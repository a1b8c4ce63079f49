// SPDX-License-Identifier: MIT
/* tacho index: what the model finds in a trace, kept in a file beside it. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/index.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/trace.h"

enum {
	OPT_AGAIN = CLI_OPT_FIRST, OPT_REMOVE, OPT_SHOW,
};

struct index_args {
	struct model_rules *rules;
	bool again, remove, show, json;
	const char *trace;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_MODEL_OPTIONS,
	CLI_JOBS_OPTIONS,
	{ "again", no_argument, NULL, OPT_AGAIN },
	{ "remove", no_argument, NULL, OPT_REMOVE },
	{ "show", no_argument, NULL, OPT_SHOW },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho index [OPTIONS] [TRACE]\n\n"
	"Reads a trace once and keeps what 'tacho model' finds in it in a file: then any\n"
	"range of it is found at once, by 'tacho model --time', 'tacho sql' and others.\n"
	"The file is TRACE/.tacho-index or TRACE.tacho-index; where that cannot be\n"
	"written, it is in ~/.cache/tacho.  An index that was not finished, or whose\n"
	"trace has grown, is continued.\n"
	"\n"
	"      --again          make it again, whatever there is\n"
	"      --remove         remove it\n"
	"      --show           print what is known of it, make nothing\n"
	CLI_MODEL_HELP
	CLI_TRACE_HELP
	CLI_JOBS_HELP
	"  -q, --quiet          print nothing when it was made\n"
	"      --json           print what is known of it as JSON\n"
	"  -h, --help           print this help\n";

static double percent(const struct index_info *info)
{
	return info->trace_bytes ? 100.0 * (double)info->bytes / (double)info->trace_bytes : 0;
}

static void put_text(struct tacho_buf *b, const char *path, const struct index_info *info)
{
	tacho_buf_printf(b, "index       %s\n", path);
	tacho_buf_printf(b, "complete    %s\n", info->finished ? "yes" : "no");
	tacho_buf_printf(b, "events      %" PRIu64 "\n", info->stats.records);
	tacho_buf_printf(b, "items       %" PRIu64 ", %" PRIu64 " of them in the index\n",
			 info->items, info->packed);
	tacho_buf_printf(b, "tracks      %" PRIu32 "\n", info->nr_tracks);
	tacho_buf_printf(b, "checkpoints %" PRIu32 "\n", info->nr_checkpoints);
	tacho_buf_printf(b, "size        %" PRIu64 " bytes, %.1f%% of the trace\n", info->bytes,
			 percent(info));
}

static void put_json(struct tacho_buf *b, const char *path, const struct index_info *info)
{
	struct tacho_json j;

	tacho_json_init(&j, b);
	tacho_json_open(&j, '{');
	tacho_json_key(&j, "path");
	tacho_json_str(&j, path);
	tacho_json_key(&j, "complete");
	tacho_json_bool(&j, info->finished);
	tacho_json_key(&j, "events");
	tacho_json_u64(&j, info->stats.records);
	tacho_json_key(&j, "items");
	tacho_json_u64(&j, info->items);
	tacho_json_key(&j, "packed");
	tacho_json_u64(&j, info->packed);
	tacho_json_key(&j, "tracks");
	tacho_json_u64(&j, info->nr_tracks);
	tacho_json_key(&j, "checkpoints");
	tacho_json_u64(&j, info->nr_checkpoints);
	tacho_json_key(&j, "bytes");
	tacho_json_u64(&j, info->bytes);
	tacho_json_key(&j, "trace_bytes");
	tacho_json_u64(&j, info->trace_bytes);
	tacho_json_close(&j, '}');
}

/* What is known of the index that is there. */
static int show(const struct index_args *a, const char *trace, struct tacho_buf *where)
{
	struct tacho_diag d = { 0 };
	struct index *index;
	struct index_info info;
	struct tacho_buf b;
	int ret;

	if (app_index_open(&index, trace, a->rules, where, &d))
		return cli_fail_diag(&d);
	index_info(index, &info);
	tacho_buf_init(&b, (size_t)1 << 20);
	if (a->json)
		put_json(&b, where->data, &info);
	else
		put_text(&b, where->data, &info);
	ret = a->json ? cli_write_json(&b) : cli_write(&b);
	tacho_buf_release(&b);
	index_close(index);
	return ret;
}

/* ---- making ---- */

#define PROGRESS_NS	UINT64_C(100000000)

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static bool is_cancelled(void *arg)
{
	(void)arg;
	return interrupted;
}

struct progress {
	uint64_t next;		/* when it is shown again */
	bool shown;
};

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;
	struct timespec t;
	uint64_t now;

	if (!total || cli_quiet || !isatty(STDERR_FILENO))
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (now < p->next)
		return;
	p->next = now + PROGRESS_NS;
	p->shown = true;
	fprintf(stderr, "\rtacho: %3.0f%% of %" PRIu64 " events ",
		100.0 * (double)done / (double)total, total);
}

static void say_note(void *arg, const char *text)
{
	(void)arg;
	cli_note("%s", text);
}

/* Ctrl-C ends it, and what was read until then is kept. */
static int make_it(struct app_trace *t, const struct index_args *a, struct tacho_buf *where,
		   struct tacho_diag *d)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct progress progress = { .shown = false };
	const struct tacho_observer observer = { .note = say_note, .progress = show_progress,
		.cancelled = is_cancelled, .arg = &progress };
	int err;

	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	err = app_index_make(t, a->rules, a->again, &observer, where, d);
	if (progress.shown)
		fputs("\r\033[K", stderr);
	return err;
}

static int make(const struct index_args *a, struct tacho_buf *where)
{
	struct tacho_diag d = { 0 };
	struct app_trace t;
	int ret = cli_trace_open(&t, a->trace, 0), err;

	if (ret != CLI_OK)
		return ret;
	err = make_it(&t, a, where, &d);
	if (err == -ECANCELED)
		ret = cli_fail("stopped; what was read is kept, and 'tacho index' goes on from "
			       "there");
	else
		ret = err ? cli_fail_diag(&d) : cli_trace_remarks(&t);
	app_trace_close(&t);
	if (ret == CLI_OK && !cli_quiet)
		ret = show(a, t.path, where);
	return ret;
}

static int run(const struct index_args *a)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf where;
	struct app_trace t;
	int ret;

	tacho_buf_init(&where, (size_t)1 << 16);
	if (a->remove || a->show) {
		ret = cli_trace_find(&t, a->trace);
		if (ret == CLI_OK && a->show)
			ret = show(a, t.path, &where);
		else if (ret == CLI_OK && app_index_remove(t.path, &where, &d))
			ret = cli_fail_diag(&d);
	} else {
		ret = make(a, &where);
	}
	tacho_buf_release(&where);
	return ret;
}

static int take(struct index_args *a, int opt)
{
	int ret;

	switch (opt) {
	case OPT_AGAIN:
		a->again = true;
		return -1;
	case OPT_REMOVE:
		a->remove = true;
		return -1;
	case OPT_SHOW:
		a->show = true;
		return -1;
	default:
		ret = cli_model_option(a->rules, opt, optarg);
		if (ret < 0)
			ret = cli_trace_option(opt, optarg);
		return ret == CLI_OK ? -1 : ret < 0 ? cli_common(opt, &a->json) : ret;
	}
}

static int index_main(int argc, char **argv)
{
	struct index_args a = { .trace = NULL };
	struct tacho_diag d = { 0 };
	int opt, ret = -1;

	if (model_rules_new(&a.rules, &d))
		return cli_fail_diag(&d);
	while (ret < 0 && (opt = getopt_long(argc, argv, "hq" CLI_JOBS_LETTERS, options, NULL)) != -1)
		ret = take(&a, opt);
	if (ret < 0 && argc - optind > 1)
		ret = cli_usage("give one trace");
	if (ret < 0 && a.again + a.remove + a.show > 1)
		ret = cli_usage("give one of --again, --remove and --show");
	if (ret < 0) {
		a.trace = argv[optind];
		ret = run(&a);
	}
	model_rules_free(a.rules);
	return ret;
}

const struct cli_verb cli_index = {
	.name = "index",
	.summary = "keep the intervals of a trace in a file, to find any range at once",
	.usage = usage,
	.run = index_main,
};
