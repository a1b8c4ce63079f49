// SPDX-License-Identifier: MIT
/* tracevisualizer - a trace of LTT as text, in the lines of LTT's own tool. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/write.h"
#include "cli/stdout.h"
#include "compat/ltt/visualize.h"

static const char usage[] =
	"usage: tracevisualizer [OPTIONS] TRACE [PROCFILE [OUTPUT]]\n\n"
	"Prints a trace of the Linux Trace Toolkit: the number of events of each kind, then\n"
	"one line per event.  TRACE is a file, or a directory with a file per CPU.  PROCFILE\n"
	"has the names of processes (default: NAME.proc next to the trace).  The default for\n"
	"OUTPUT is stdout.\n\n"
	"  -s, --summarize      print only the counts, no events\n"
	"  -a, --account        also print system calls and the time of each process\n"
	"  -e, --event NAME     print only events of this name: SCHED, FS, ..., CORE; repeatable\n"
	"  -x, --omit NAME      exclude events of this name; repeatable\n"
	"  -c, --cpu N          print only events of this CPU\n"
	"  -p, --pid N          print only events of this process\n"
	"      --no-cpu         omit the CPU\n"
	"      --no-time        ... the time\n"
	"      --no-pid         ... the process\n"
	"      --no-length      ... the length of the record\n"
	"      --no-description ... the event's description\n"
	"      --layout LAYOUT  struct layout: '64', '32', 'text' (default: detected)\n"
	"  -V, --version        print the version\n"
	"  -h, --help           print this help\n";

enum { OPT_NO_CPU = 0x100, OPT_NO_TIME, OPT_NO_PID, OPT_NO_LENGTH, OPT_NO_TEXT,
       OPT_LAYOUT };

static const struct option options[] = {
	{ "summarize", no_argument, NULL, 's' },
	{ "account", no_argument, NULL, 'a' },
	{ "event", required_argument, NULL, 'e' },
	{ "omit", required_argument, NULL, 'x' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "pid", required_argument, NULL, 'p' },
	{ "no-cpu", no_argument, NULL, OPT_NO_CPU },
	{ "no-time", no_argument, NULL, OPT_NO_TIME },
	{ "no-pid", no_argument, NULL, OPT_NO_PID },
	{ "no-length", no_argument, NULL, OPT_NO_LENGTH },
	{ "no-description", no_argument, NULL, OPT_NO_TEXT },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct visual {
	struct ltt_visual_config config;
	const char *output;		/* NULL: stdout */
	int fd;				/* -1: output is not open yet */
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "tracevisualizer: %s%s%s\n", what, why ? ": " : "",
		why ? why : "");
	return 1;
}

/* ---- options ----------------------------------------------------------------------- */

static int take_name(trace_event_mask *mask, const char *name)
{
	trace_event_mask bits;

	if (ltt_mask_of(name, &bits)) {
		fprintf(stderr, "tracevisualizer: there is no event '%s' (SCHED, FS, "
			"SYS_ENTRY, ..., CORE)\n", name);
		return 2;
	}
	*mask |= bits;
	return 0;
}

static int take_number(int64_t *to, const char *text)
{
	uint64_t v;

	if (tacho_parse_u64(text, 0, INT32_MAX, &v)) {
		fprintf(stderr, "tracevisualizer: '%s' is not a number\n", text);
		return 2;
	}
	*to = (int64_t)v;
	return 0;
}

static int take_layout(struct visual *v, const char *text)
{
	v->config.flags = ltt_layout_flag(text);
	if (v->config.flags)
		return 0;
	fprintf(stderr, "tracevisualizer: --layout: '%s' is not one of 64, 32, text\n", text);
	return 2;
}

static int take_option(struct visual *v, int opt)
{
	switch (opt) {
	case 's': v->config.summarize = true; return 0;
	case 'a': v->config.account = true; return 0;
	case 'e': return take_name(&v->config.only, optarg);
	case 'x': return take_name(&v->config.omit, optarg);
	case 'c': return take_number(&v->config.cpu, optarg);
	case 'p': return take_number(&v->config.pid, optarg);
	case OPT_NO_CPU: v->config.no_cpu = true; return 0;
	case OPT_NO_TIME: v->config.no_time = true; return 0;
	case OPT_NO_PID: v->config.no_pid = true; return 0;
	case OPT_NO_LENGTH: v->config.no_length = true; return 0;
	case OPT_NO_TEXT: v->config.no_text = true; return 0;
	case OPT_LAYOUT: return take_layout(v, optarg);
	default: return 2;
	}
}

/* -1: go on. */
static int parse(struct visual *v, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "sae:x:c:p:Vh", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage, stdout) < 0;
		if (opt == 'V')
			return puts("tracevisualizer of tacho " TACHO_VERSION) < 0;
		ret = take_option(v, opt);
		if (ret)
			return ret;
	}
	if (argc - optind < 1 || argc - optind > 3) {
		fputs("usage: tracevisualizer [OPTIONS] TRACE [PROCFILE [OUTPUT]]\n",
		      stderr);
		return 2;
	}
	v->config.trace = argv[optind];
	v->config.proc = optind + 1 < argc ? argv[optind + 1] : NULL;
	v->output = optind + 2 < argc ? argv[optind + 2] : NULL;
	return -1;
}

/* ---- the program ------------------------------------------------------------------- */

static int put(void *arg, const struct tacho_buf *text)
{
	struct visual *v = arg;

	if (v->fd < 0)
		v->fd = open(v->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return v->fd < 0 ? -errno : tacho_write_all(v->fd, text->data, text->len);
}

static int run(struct visual *v)
{
	struct tacho_diag d = { 0 };
	bool damaged;
	int err;

	v->config.put = put;
	v->config.arg = v;
	err = ltt_visualize(&v->config, &damaged, &d);
	if (d.err)
		return fail(d.text, NULL);
	if (err && err != -EPIPE)
		return fail(v->output ? v->output : "stdout", strerror(-err));
	if (damaged)
		fprintf(stderr, "tracevisualizer: skipped damaged places; 'tacho "
			"check %s' lists them\n", v->config.trace);
	return err != 0;
}

static int run_tool(int argc, char **argv)
{
	struct visual v = { .config = { .cpu = -1, .pid = -1 }, .fd = -1 };
	int ret = parse(&v, argc, argv);

	if (ret >= 0)
		return ret;
	if (!v.output)
		v.fd = STDOUT_FILENO;
	ret = run(&v);
	if (v.output && v.fd >= 0 && close(v.fd) && !ret)
		ret = fail(v.output, strerror(errno));
	return ret;
}

int main(int argc, char **argv)
{
	int ret = run_tool(argc, argv);
	const char *why = cli_stdout_end();

	return why ? fail("stdout", why) : ret;
}
