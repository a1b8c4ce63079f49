// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <inttypes.h>

#include "app/convert.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/lines.h"
#include "cli/trace.h"

enum {
	OPT_TO = CLI_OPT_FIRST,
	OPT_FORMAT,
};

struct convert_run {
	struct app_convert c;
	struct app_trace trace;
	struct app_select select;
	struct app_lines lines;
	bool json;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_JOBS_OPTIONS,
	CLI_FILTER_OPTIONS,
	CLI_LINES_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "to", required_argument, NULL, OPT_TO },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho convert TRACE -o OUT [OPTIONS]\n\n"
	"Reads a trace and writes it as one tacho trace (a CTF directory), as a trace.dat\n"
	"for trace-cmd and KernelShark, as a .kev of QNX, as a log file of LKST, as files\n"
	"of the Linux Trace Toolkit (LTT), as text or as JSON lines.  The traces of a\n"
	"rotated trace are merged; a trace of another system is converted to a tacho\n"
	"trace; the options below select a part.  TRACE can be session:NAME.  OUT must\n"
	"not exist, or must be empty.\n"
	"\n"
	"  -o, --output OUT     write to OUT; for text and JSON, '-' is stdout\n"
	"      --to FORMAT      'ctf', 'dat' (trace.dat version 6), 'dat7' (version 7,\n"
	"                       compressed), 'kev', 'lkst', 'ltt' (a directory of LTT\n"
	"                       2.3, a file per CPU), 'ltt32' (32-bit pointers),\n"
	"                       'lttswap' and 'ltt32swap' (opposite byte order),\n"
	"                       'lttfull' (all fields, after LTT's), 'text' or 'json';\n"
	"                       by default OUT's extension decides: .dat, .kev, .lkst,\n"
	"                       .ltt, .txt .text .log, .json .jsonl .ndjson, others ctf\n"
	CLI_FILTER_HELP
	"Text format:\n"
	"      --format FORMAT  'ftrace' or 'babeltrace'\n"
	CLI_LINES_HELP
	CLI_TRACE_HELP
	CLI_JOBS_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print a summary as a JSON object\n"
	"  -h, --help           print this help\n";

static int take_option(struct convert_run *r, int opt)
{
	int ret = cli_filter_option(&r->select, opt, optarg);
	struct tacho_diag d = { 0 };

	if (ret < 0)
		ret = cli_lines_option(&r->lines, opt, optarg);
	if (ret < 0)
		ret = cli_trace_option(opt, optarg);
	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'o':
		r->c.out = optarg;
		return CLI_OK;
	case OPT_TO:
		if (app_convert_format(optarg, NULL, &r->c.format, &d))
			return cli_usage("--to: %s", d.text);
		return CLI_OK;
	case OPT_FORMAT:
		return cli_lines_format(&r->lines, optarg);
	default:
		return -1;
	}
}

static int parse(struct convert_run *r, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv,
				  "hqo:" CLI_FILTER_LETTERS CLI_LINES_LETTERS CLI_JOBS_LETTERS,
				  options, NULL)) != -1) {
		ret = take_option(r, opt);
		if (ret < 0)
			ret = cli_common(opt, &r->json);
		else if (ret == CLI_OK)
			ret = -1;
		if (ret >= 0)
			return ret;
	}
	if (argc - optind != 1)
		return cli_usage(argc == optind ? "missing trace: tacho convert TRACE -o OUT" :
				 "more than one trace: tacho convert TRACE -o OUT");
	if (!r->c.out || !*r->c.out)
		return cli_usage("where to? name it with -o");
	if (!r->c.format)
		(void)app_convert_format(NULL, r->c.out, &r->c.format, NULL);
	return -1;
}

/* ---- the verb ------------------------------------------------------------------ */

static int say_what(const struct convert_run *r)
{
	struct tacho_json j;
	struct tacho_buf b;
	int ret;

	if (!r->json) {
		cli_note("%" PRIu64 " events, %" PRIu64 " bytes: '%s'",
			 r->c.written.events, r->c.written.bytes, r->c.out);
		return CLI_OK;
	}
	tacho_buf_init(&b, (size_t)1 << 20);
	tacho_json_init(&j, &b);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "output", r->c.out);
	tacho_json_pair_str(&j, "format", r->c.format->name);
	tacho_json_pair_u64(&j, "events", r->c.written.events);
	tacho_json_pair_u64(&j, "bytes", r->c.written.bytes);
	tacho_json_close(&j, '}');
	ret = cli_write_json(&b);
	tacho_buf_release(&b);
	return ret;
}

static int write_out(struct convert_run *r)
{
	struct tacho_diag d = { 0 };

	r->c.stream = r->trace.stream;
	r->c.select = &r->select;
	r->c.lines = &r->lines.config;
	r->c.observer = &cli_observer;
	return app_convert(&r->c, &d) ? cli_fail_diag(&d) : CLI_OK;
}

static int run(struct convert_run *r, const char *path)
{
	int ret = cli_trace_open(&r->trace, path, 0);

	if (ret != CLI_OK)
		return ret;
	ret = cli_filter_open(&r->select, r->trace.stream);
	if (ret == CLI_OK)
		ret = write_out(r);
	if (ret == CLI_OK)
		ret = cli_trace_remarks(&r->trace);
	if (ret == CLI_OK)
		ret = say_what(r);
	app_trace_close(&r->trace);
	return ret;
}

static int convert_main(int argc, char **argv)
{
	struct convert_run r = { 0 };
	int ret;

	app_select_init(&r.select);
	app_lines_init(&r.lines);
	ret = parse(&r, argc, argv);
	if (ret < 0)
		ret = run(&r, argv[optind]);
	app_select_release(&r.select);
	app_lines_release(&r.lines);
	return ret;
}

const struct cli_verb cli_convert = {
	.name = "convert",
	.summary = "copy, merge, cut or convert a trace",
	.usage = usage,
	.run = convert_main,
};
