// SPDX-License-Identifier: MIT
/* check: is a trace what docs/trace-format.md says (app/check.h). */
#include <getopt.h>
#include <inttypes.h>

#include "app/check.h"
#include "cli/cli.h"
#include "cli/trace.h"

#define LOG_MAX		((size_t)256 << 20)

struct log {
	bool as_json;
	struct tacho_buf text;		/* lines, or JSON objects */
	struct tacho_json json;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho check [OPTIONS] [TRACE]\n\n"
	"Reads every byte of a trace and reports each problem with its place.  TRACE is\n"
	"a directory, or session:NAME (default: the newest tacho-trace in this\n"
	"directory).  Exit status: 0 if there is no problem, 1 if there are problems.\n\n"
	CLI_TRACE_HELP
	"  -q, --quiet          print problems only, no remarks\n"
	"      --json           print one JSON object\n"
	"  -h, --help           print this help\n";

static void found_json(struct tacho_json *j, const struct app_check_found *f)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "kind", f->problem ? "problem" : "remark");
	tacho_json_pair_str(j, "file", f->path);
	tacho_json_key(j, "byte");
	if (f->byte == APP_CHECK_NO_BYTE)
		tacho_json_null(j);
	else
		tacho_json_u64(j, f->byte);
	tacho_json_pair_str(j, "text", f->text);
	tacho_json_close(j, '}');
}

static void found(void *arg, const struct app_check_found *f)
{
	struct log *log = arg;

	if (!f->problem && cli_quiet)
		return;
	if (log->as_json) {
		found_json(&log->json, f);
		return;
	}
	tacho_buf_puts(&log->text, f->path);
	if (f->byte != APP_CHECK_NO_BYTE)
		tacho_buf_printf(&log->text, ": byte %" PRIu64, f->byte);
	tacho_buf_printf(&log->text, ": %s%s\n", f->problem ? "" : "remark: ", f->text);
}

static void sum_json(struct tacho_json *j, const char *path, const struct app_check_result *sum)
{
	tacho_json_close(j, ']');
	tacho_json_pair_str(j, "trace", path);
	tacho_json_pair_bool(j, "good", !sum->problems);
	tacho_json_pair_u64(j, "problems", sum->problems);
	tacho_json_pair_u64(j, "remarks", sum->remarks);
	tacho_json_pair_u64(j, "traces", sum->traces);
	tacho_json_pair_u64(j, "files", sum->files);
	tacho_json_pair_u64(j, "packets", sum->packets);
	tacho_json_pair_u64(j, "events", sum->events);
	tacho_json_pair_u64(j, "lost", sum->lost);
	tacho_json_close(j, '}');
}

static void sum_text(struct tacho_buf *b, const char *path, const struct app_check_result *sum)
{
	if (sum->problems)
		tacho_buf_printf(b, "%s: %" PRIu64 " problem%s", path, sum->problems,
				 sum->problems == 1 ? "" : "s");
	else
		tacho_buf_printf(b, "%s: good", path);
	tacho_buf_printf(b, "; %" PRIu64 " events in %" PRIu64 " packets of %" PRIu64
			 " files, %" PRIu64 " lost\n", sum->events, sum->packets, sum->files,
			 sum->lost);
}

static int say(struct log *log, const char *path, const struct app_check_result *sum)
{
	int ret;

	if (log->as_json) {
		sum_json(&log->json, path, sum);
		ret = cli_write_json(&log->text);
	} else {
		sum_text(&log->text, path, sum);
		ret = tacho_buf_error(&log->text) ? cli_fail("out of memory") :
						    cli_write(&log->text);
	}
	return ret != CLI_OK || sum->problems ? CLI_FAILED : CLI_OK;
}

static int parse(struct log *log, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
		ret = cli_trace_option(opt, optarg);
		if (ret == CLI_OK)
			continue;
		if (ret < 0)
			ret = cli_common(opt, &log->as_json);
		if (ret >= 0)
			return ret;
	}
	if (argc - optind > 1)
		return cli_usage("unexpected argument '%s': give one trace",
				 argv[optind + 1]);
	return -1;
}

static int check(struct log *log, const char *path)
{
	const struct app_check_config config = {
		.found = found, .arg = log, .flags = cli_trace_flags(),
	};
	struct app_check_result result;
	struct tacho_diag d = { 0 };

	if (log->as_json) {
		tacho_json_open(&log->json, '{');
		tacho_json_key(&log->json, "found");
		tacho_json_open(&log->json, '[');
	}
	return app_check(path, &config, &result, &d) ? cli_fail_diag(&d) :
						       say(log, path, &result);
}

static int check_main(int argc, char **argv)
{
	struct log log = { .as_json = false };
	struct app_trace which;
	int ret = parse(&log, argc, argv);

	if (ret >= 0)
		return ret;
	ret = cli_trace_find(&which, argv[optind]);
	if (ret != CLI_OK)
		return ret;
	tacho_buf_init(&log.text, LOG_MAX);
	tacho_json_init(&log.json, &log.text);
	ret = check(&log, which.path);
	tacho_buf_release(&log.text);
	return ret;
}

const struct cli_verb cli_check = {
	.name = "check",
	.summary = "verify a trace and report its problems",
	.usage = usage,
	.run = check_main,
};
