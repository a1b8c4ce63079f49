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
#include "cli/output.h"

enum {
	OPT_TO = CLI_OPT_FIRST,
	OPT_FORMAT,
};

enum target { TO_UNKNOWN, TO_CTF, TO_TEXT, TO_JSON, TO_DAT6, TO_DAT7 };

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
	"Writes a trace anew: as one tacho trace (a CTF directory), as a trace.dat that\n"
	"trace-cmd and KernelShark read, as text or as JSON lines.  The chunks of a\n"
	"rotated trace become one; a trace of another system becomes a tacho trace; the\n"
	"options below cut a piece out.  TRACE may be session:NAME.  OUT must not exist,\n"
	"or be empty.\n\n"
	"  -o, --output OUT     where to\n"
	"      --to FORMAT      'ctf', 'dat' (trace.dat version 6), 'dat7' (version 7,\n"
	"                       compressed), 'text' or 'json'; without it by OUT's\n"
	"                       extension: .dat, .txt .text .log, .json .jsonl .ndjson,\n"
	"                       else ctf\n"
	CLI_FILTER_HELP
	"How text looks:\n"
	"      --format FORMAT  'ftrace' or 'babeltrace'\n"
	CLI_LINES_HELP
	"  -q, --quiet          no remarks on stderr\n"
	"      --json           say what was written as a JSON object\n"
	"  -h, --help           this text\n";

/* By enum target. */
static const char *const target_name[] = {
	[TO_CTF] = "ctf", [TO_TEXT] = "text", [TO_JSON] = "json",
	[TO_DAT6] = "dat", [TO_DAT7] = "dat7",
};

static int parse_target(struct convert_run *r, const char *arg)
{
	for (int i = TO_CTF; i <= TO_DAT7; i++)
		if (!strcmp(arg, target_name[i])) {
			r->to = (enum target)i;
			return CLI_OK;
		}
	return cli_usage("--to: '%s' is none of ctf, dat, dat7, text, json", arg);
}

static enum target by_extension(const char *out)
{
	static const struct {
		const char *ext;
		enum target to;
	} known[] = {
		{ ".txt", TO_TEXT }, { ".text", TO_TEXT }, { ".log", TO_TEXT },
		{ ".json", TO_JSON }, { ".jsonl", TO_JSON },
		{ ".ndjson", TO_JSON }, { ".dat", TO_DAT6 },
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

/* "-" is stdout. */
static int open_file(const char *path)
{
	int fd = strcmp(path, "-") ?
		 open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) :
		 fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	struct stat st;

	if (fd < 0) {
		cli_fail("cannot write '%s': %s", path, strerror(errno));
		return -1;
	}
	if (!strcmp(path, "-") ||
	    (!fstat(fd, &st) && (!S_ISREG(st.st_mode) || !st.st_size)))
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

/* ---- of several sources ---------------------------------------------------------- */

bool cli_convert_same_clock(const struct tacho_stream *s)
{
	const struct tacho_source *first = tacho_stream_source(s, 0), *next;

	for (uint32_t i = 1; (next = tacho_stream_source(s, i)); i++)
		if (next->clock.freq != first->clock.freq ||
		    next->clock.base != first->clock.base)
			return false;
	return first;
}

int cli_convert_tasks(const struct tacho_stream *s, struct tacho_facts *all)
{
	const struct tacho_source *source;
	int err = 0;

	for (uint32_t i = 0; !err && (source = tacho_stream_source(s, i)); i++) {
		const struct tacho_facts *f = &source->facts;

		for (size_t k = 0; k < f->nr_tasks && !err; k++)
			err = tacho_facts_add_task(all, f->task[k].pid,
						   f->task[k].tgid,
						   f->task[k].comm, 16);
	}
	/* a look-up brings them in order and drops what is outdated */
	(void)tacho_facts_comm(all, 0, NULL);
	return err;
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
	tacho_json_pair_str(&j, "format", target_name[r->to]);
	tacho_json_pair_u64(&j, "events", r->c.events);
	tacho_json_pair_u64(&j, "bytes", r->c.bytes);
	tacho_json_close(&j, '}');
	ret = cli_write_json(&b);
	tacho_buf_release(&b);
	return ret;
}

static int write_target(struct convert_run *r)
{
	switch (r->to) {
	case TO_DAT6: return cli_convert_dat(&r->c, 6);
	case TO_DAT7: return cli_convert_dat(&r->c, 7);
	case TO_TEXT:
	case TO_JSON: return to_lines(r);
	case TO_UNKNOWN:
	case TO_CTF: break;
	}
	return cli_convert_ctf(&r->c);
}

static int run(struct convert_run *r, const char *path)
{
	int ret = cli_trace_open(&r->c.trace, path, 0);

	if (ret != CLI_OK)
		return ret;
	ret = cli_filter_open(&r->c.filter, r->c.trace.stream);
	if (ret == CLI_OK)
		ret = write_target(r);
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

/* ---- for other verbs ------------------------------------------------------------ */

int cli_convert_ready(const char *out)
{
	struct stat st;

	if (strcmp(out, "-") && by_extension(out) == TO_CTF)
		return cli_output_ready(out, true);
	if (strcmp(out, "-") && !stat(out, &st) && S_ISREG(st.st_mode) && st.st_size)
		return cli_fail("'%s' exists and is not empty; remove it or choose "
				"another name", out);
	return CLI_OK;
}

int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events)
{
	struct convert_run r = { .c = { .out = out } };
	int ret;

	r.to = strcmp(out, "-") ? by_extension(out) : TO_TEXT;
	r.c.trace.stream = stream;
	r.c.trace.path = out;
	cli_filter_init(&r.c.filter);
	ret = cli_filter_open(&r.c.filter, stream);
	if (ret == CLI_OK)
		ret = write_target(&r);
	cli_filter_release(&r.c.filter);
	cli_lines_release(&r.lines);
	*events = r.c.events;
	return ret;
}
