// SPDX-License-Identifier: MIT
#include "cli/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/out.h"

enum {
	OPT_TO = CLI_OPT_FIRST,
	OPT_FORMAT,
};

enum target { TO_UNKNOWN, TO_CTF, TO_TEXT, TO_JSON };

struct convert_run {
	struct cli_convert c;
	struct cli_lines lines;
	enum target to;
	bool json;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_FILTER_OPTIONS,
	CLI_LINES_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "to", required_argument, NULL, OPT_TO },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho convert TRACE -o OUT [OPTIONS]\n\n"
	"Writes a trace anew: as one tacho trace (a CTF directory), as text or as JSON\n"
	"lines.  The chunks of a rotated trace become one; a trace of another system\n"
	"becomes a tacho trace; the options below cut a piece out.  TRACE may be\n"
	"session:NAME.  OUT must not exist, or be empty.\n\n"
	"  -o, --output OUT     where to\n"
	"      --to FORMAT      'ctf', 'text' or 'json'; without it by OUT's extension:\n"
	"                       .txt .text .log, .json .jsonl .ndjson, else ctf\n"
	CLI_FILTER_HELP
	"How text looks:\n"
	"      --format FORMAT  'ftrace' or 'babeltrace'\n"
	CLI_LINES_HELP
	"  -q, --quiet          no remarks on stderr\n"
	"      --json           say what was written as a JSON object\n"
	"  -h, --help           this text\n";

static int parse_target(struct convert_run *r, const char *arg)
{
	if (!strcmp(arg, "ctf"))
		r->to = TO_CTF;
	else if (!strcmp(arg, "text"))
		r->to = TO_TEXT;
	else if (!strcmp(arg, "json"))
		r->to = TO_JSON;
	else
		return cli_usage("--to: '%s' is none of ctf, text, json", arg);
	return CLI_OK;
}

static enum target by_extension(const char *out)
{
	static const struct {
		const char *ext;
		enum target to;
	} known[] = {
		{ ".txt", TO_TEXT }, { ".text", TO_TEXT }, { ".log", TO_TEXT },
		{ ".json", TO_JSON }, { ".jsonl", TO_JSON },
		{ ".ndjson", TO_JSON },
	};
	size_t len = strlen(out);

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(known); i++) {
		size_t n = strlen(known[i].ext);

		if (len > n && !strcmp(out + len - n, known[i].ext))
			return known[i].to;
	}
	return TO_CTF;
}

static int take_option(struct convert_run *r, int opt)
{
	int ret = cli_filter_option(&r->c.filter, opt, optarg);

	if (ret < 0)
		ret = cli_lines_option(&r->lines, opt, optarg);
	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'o':
		r->c.out = optarg;
		return CLI_OK;
	case OPT_TO:
		return parse_target(r, optarg);
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
				  "hqo:" CLI_FILTER_LETTERS CLI_LINES_LETTERS,
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
		return cli_usage(argc == optind ? "which trace?" :
				 "one trace at a time");
	if (!r->c.out || !*r->c.out)
		return cli_usage("where to? name it with -o");
	if (r->to == TO_UNKNOWN)
		r->to = by_extension(r->c.out);
	return -1;
}

/* ---- text -------------------------------------------------------------------- */

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct stat st;

	if (fd < 0) {
		cli_fail("cannot write '%s': %s", path, strerror(errno));
		return -1;
	}
	if (!fstat(fd, &st) && (!S_ISREG(st.st_mode) || !st.st_size))
		return fd;
	close(fd);
	cli_fail("'%s' exists and is not empty; remove it or choose another name",
		 path);
	return -1;
}

static int copy_lines(struct convert_run *r, struct tacho_line *line,
		      struct cli_out *out)
{
	struct tacho_stream *s = r->c.trace.stream;
	uint64_t left = r->c.filter.max ? r->c.filter.max : UINT64_MAX;
	struct tacho_record rec;
	int ret = CLI_OK, status = TACHO_STREAM_END;

	while (left && ret == CLI_OK &&
	       (status = tacho_stream_next(s, &rec)) == TACHO_STREAM_RECORD) {
		enum cli_filter_verdict v = cli_filter_look(&r->c.filter, &rec);
		size_t before = out->buf.len;

		if (v == CLI_FILTER_STOP)
			break;
		if (tacho_unlikely(rec.lost) && v != CLI_FILTER_DROP)
			tacho_line_lost(line, &rec, &out->buf);
		if (v == CLI_FILTER_PASS) {
			tacho_line_put(line, &rec, &out->buf);
			r->c.events++;
			left--;
		}
		r->c.bytes += out->buf.len - before;
		ret = cli_out_more(out);
	}
	if (status == TACHO_STREAM_ERROR)
		ret = cli_fail("%s", tacho_stream_error(s)->text);
	if (cli_out_flush(out) != CLI_OK)
		ret = CLI_FAILED;
	return ret;
}

static int to_lines(struct convert_run *r)
{
	struct tacho_line *line;
	struct cli_out out;
	int ret = cli_lines_check(&r->lines, r->c.trace.stream, false);
	int fd;

	if (ret != CLI_OK)
		return ret;
	if (r->to == TO_JSON)
		r->lines.config.format = TACHO_LINE_JSON;
	line = tacho_line_new(r->c.trace.stream, &r->lines.config);
	if (!line)
		return cli_fail("out of memory");
	if (r->c.filter.first)
		tacho_line_zero(line, r->c.filter.first);
	fd = open_file(r->c.out);
	if (fd < 0) {
		tacho_line_free(line);
		return CLI_FAILED;
	}
	cli_out_init(&out, fd, r->c.out);
	ret = copy_lines(r, line, &out);
	cli_out_release(&out);
	if (close(fd) && ret == CLI_OK)
		ret = cli_fail("cannot write '%s': %s", r->c.out, strerror(errno));
	tacho_line_free(line);
	return ret;
}

/* ---- the verb ------------------------------------------------------------------ */

static int say_what(const struct convert_run *r)
{
	struct tacho_json j;
	struct tacho_buf b;
	int ret;

	if (!r->json) {
		cli_note("%" PRIu64 " events, %" PRIu64 " bytes: '%s'",
			 r->c.events, r->c.bytes, r->c.out);
		return CLI_OK;
	}
	tacho_buf_init(&b, (size_t)1 << 20);
	tacho_json_init(&j, &b);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "output", r->c.out);
	tacho_json_pair_str(&j, "format", r->to == TO_CTF ? "ctf" :
					  r->to == TO_TEXT ? "text" : "json");
	tacho_json_pair_u64(&j, "events", r->c.events);
	tacho_json_pair_u64(&j, "bytes", r->c.bytes);
	tacho_json_close(&j, '}');
	ret = cli_write_json(&b);
	tacho_buf_release(&b);
	return ret;
}

static int run(struct convert_run *r, const char *path)
{
	int ret = cli_trace_open(&r->c.trace, path, 0);

	if (ret != CLI_OK)
		return ret;
	ret = cli_filter_open(&r->c.filter, r->c.trace.stream);
	if (ret == CLI_OK)
		ret = r->to == TO_CTF ? cli_convert_ctf(&r->c) : to_lines(r);
	if (ret == CLI_OK) {
		cli_trace_remarks(&r->c.trace);
		ret = say_what(r);
	}
	cli_trace_close(&r->c.trace);
	return ret;
}

static int convert_main(int argc, char **argv)
{
	struct convert_run r = { .to = TO_UNKNOWN };
	int ret;

	cli_filter_init(&r.c.filter);
	ret = parse(&r, argc, argv);
	if (ret < 0)
		ret = run(&r, argv[optind]);
	cli_filter_release(&r.c.filter);
	cli_lines_release(&r.lines);
	return ret;
}

const struct cli_verb cli_convert = {
	.name = "convert",
	.summary = "write a trace anew: one trace, a piece of it, text or JSON",
	.usage = usage,
	.run = convert_main,
};
