// SPDX-License-Identifier: MIT
/* tracelogger - QNX's trace into a .kev file, with the options of the historic program. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output.h"
#include "base/compiler.h"
#include "base/text.h"
#include "cli/stdout.h"
#include "compat/qnx/logger.h"

#define OUTPUT		"/dev/shm/tracebuffer.kev"
#define BUFFERS		32
#define NUMBER_MAX	(UINT64_C(1) << 40)
#define SIZE_MIN	8192u		/* the header has a part of it */

static const char usage[] =
"usage: tracelogger [OPTIONS]\n"
"\n"
"Logs events of programs with TraceEvent() and of the running kernel as a .kev file\n"
"of QNX.\n"
"\n"
"Limits\n"
"  -n NUM          stop after NUM buffers of 16 KiB (default: 32; 0: no limit)\n"
"  -c              no limit: until Ctrl-C, or TraceEvent(_NTO_TRACE_STOP)\n"
"  -s SEC          stop after SEC seconds\n"
"  -S SIZE[k|M]    limit the size of the file\n"
"                  -n's default applies only without -c, -s, -S, -r and -d1\n"
"  -r              ring: keep the newest events; write them at Ctrl-C or at STOP\n"
"  -d1             daemon: create the buffers; wait for START, log until STOP\n"
"\n"
"Events\n"
"  -F NUM          exclude 1 kernel calls, 2 interrupts, 3 processes, 4 threads,\n"
"                  5 virtual threads, 6 communication, 7 system; can be repeated\n"
"  -a              include security events\n"
"  -E              with -d1: enable all classes (default: the program selects)\n"
"  -w              record wide events\n"
"\n"
"Output\n"
"  -f FILE         write to FILE (default: " OUTPUT "); '-': stdout; a FIFO\n"
"  -A KEY=VALUE    add an attribute to the header; can be repeated\n"
"\n"
"Buffers\n"
"  -k NUM          number of buffers per CPU (default: 32)\n"
"  -D SEC          flush every SEC seconds\n"
"  -P              keep the buffers at the end\n"
"  -R              take over existing buffers\n"
"  -b NUM          the logger's own buffers: accepted and ignored\n"
"  -M              map the output (needs -S): accepted and ignored\n"
"  -p ADDR         address of the buffers: accepted and ignored\n"
"  -v              print more messages\n"
"  -h, --help      print this help\n";

/* Set by signal handlers. */
static volatile sig_atomic_t stop_requested;

static void on_signal(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

/* Says it; 1. */
TACHO_PRINTF(1, 2)
static int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("tracelogger: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static int wrong(const char *what, const char *text)
{
	(void)fail("'%s' is not %s; see 'tracelogger --help'", text, what);
	return 2;
}

/* What getopt_long() has no place for: opt is '?' or ':'. */
static int unknown(int opt, const char *text)
{
	char letter[] = { '-', (char)optopt, '\0' };

	if (opt == ':')
		(void)fail("'%s' needs an argument; see 'tracelogger --help'", letter);
	else
		(void)fail("there is no option '%s'; see 'tracelogger --help'",
				  optopt ? letter : text);
	return 2;
}

static int number(char opt, const char *text, uint64_t min, uint64_t *v)
{
	char what[48];

	if (!tacho_parse_u64(text, min, NUMBER_MAX, v))
		return 0;
	(void)snprintf(what, sizeof(what), "a number for -%c", opt);
	return wrong(what, text);
}

static int parse_attr(struct qnx_logger_options *o, char *text)
{
	const char *value = strchr(text, '=');

	if (!value || value == text || strstr(text, "TRACE_") || strstr(text, "::") ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") !=
	    (size_t)(value - text) || value - text > 30)
		return wrong("KEY=VALUE, without '::' and 'TRACE_'", text);
	if (o->nr_attrs == QNX_LOGGER_ATTRS_MAX)
		return wrong("one of the first 32 of -A", text);
	o->attr[o->nr_attrs++] = text;
	return 0;
}

static int parse_disable(struct qnx_logger_options *o, const char *text)
{
	uint64_t v;

	if (number('F', text, 1, &v))
		return 2;
	if (v == 11)
		(void)fail("-F 11: Linux has no events of ring 0");
	else if (v > 7)
		return wrong("a class that can be left out: 1 to 7", text);
	o->disable |= 1u << v;
	return 0;
}

static int parse_size(struct qnx_logger_options *o, const char *text)
{
	if (tacho_parse_size(text, &o->max_bytes) || o->max_bytes < SIZE_MIN)
		return wrong("a size for -S, from 8k on (512k, 8M)", text);
	return 0;
}

/* What is said once, and then goes on. */
static int remark(char opt, const char *why)
{
	(void)fail("-%c: %s", opt, why);
	return 0;
}

static int parse_other(struct qnx_logger_options *o, int opt, char *arg)
{
	uint64_t v;

	switch (opt) {
	case 'A': return parse_attr(o, arg);
	case 'F': return parse_disable(o, arg);
	case 'S': return parse_size(o, arg);
	case 's': return number('s', arg, 1, &o->seconds);
	case 'D': return number('D', arg, 1, &o->flush_seconds);
	case 'b': return number('b', arg, 1, &v);
	case 'p': return remark('p', "where buffers lie is Linux's to decide");
	case 'd':
		if (strcmp(arg, "0") && strcmp(arg, "1"))
			return wrong("0 or 1 for -d", arg);
		o->daemon = *arg == '1';
		return 0;
	case 'k':
		if (number('k', arg, 1, &v))
			return 2;
		o->kernel_buffers = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
		return 0;
	default:
		return unknown(opt, arg);
	}
}

struct seen {
	bool limit, map;
};

static int parse_one(struct qnx_logger_options *o, int opt, char *arg, struct seen *seen)
{
	switch (opt) {
	case 'n': seen->limit = true; return number('n', arg, 0, &o->iterations);
	case 'c': seen->limit = true; o->iterations = 0; return 0;
	case 'f': o->output = arg; return 0;
	case 'a': o->security = true; return 0;
	case 'E': o->enable = true; return 0;
	case 'M': seen->map = true; return 0;
	case 'P': o->persist = true; return 0;
	case 'R': o->reuse = true; return 0;
	case 'r': o->ring = true; return 0;
	case 'v': o->verbose = true; return 0;
	case 'w': o->wide = true; return 0;
	default: return parse_other(o, opt, arg);
	}
}

/* The command line, as an attribute. */
static const char *command_line(int argc, char **argv)
{
	static char text[1024] = "TRACELOGGER_ARGS=tracelogger";
	size_t n = strlen(text);

	for (int i = 1; i < argc && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", argv[i]);
	return text;
}

static int parse(struct qnx_logger_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	struct seen seen = { .limit = false };
	int opt, ret;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":A:aD:b:cd:EF:f:hk:Mn:Pp:RrS:s:vw", options,
				  NULL)) != -1) {
		if (opt == 'h') {
			(void)fputs(usage, stdout);
			return 0;
		}
		ret = parse_one(o, opt, opt == '?' ? argv[optind - 1] : optarg, &seen);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return wrong("an option", argv[optind]);
	if (seen.map && !o->max_bytes) {
		(void)fail("-M needs -S: how large the file is to be");
		return 2;
	}
	if (!seen.limit && (o->seconds || o->max_bytes || o->ring || o->daemon))
		o->iterations = 0;
	o->attr[o->nr_attrs++] = command_line(argc, argv);
	o->args = o->attr[o->nr_attrs - 1] + strlen("TRACELOGGER_ARGS=");
	return -1;
}

static void say(void *arg, const char *text)
{
	(void)arg;
	(void)fail("%s", text);
}

static bool is_stopped(void *arg)
{
	(void)arg;
	return stop_requested;
}

static int run(const struct qnx_logger_options *o)
{
	static const struct tacho_observer observer = { .note = say, .cancelled = is_stopped };
	struct qnx_logger_result result;
	struct tacho_diag d = { 0 };

	catch_signals();
	if (!qnx_logger_run(o, &observer, &result, &d) &&
	    (!result.trace[0] || !app_output_remove(result.trace, &d)))
		return 0;
	(void)fail("%s", d.text[0] ? d.text : strerror(-d.err));
	return result.not_written ?
	       fail("all that was recorded is in '%s', a trace of tacho", result.trace) : 1;
}

int main(int argc, char **argv)
{
	struct qnx_logger_options o = {
		.output = OUTPUT, .kernel_buffers = BUFFERS, .iterations = BUFFERS,
	};
	int ret = parse(&o, argc, argv);
	const char *why;

	if (ret < 0)
		ret = run(&o);
	why = cli_stdout_end();
	return why ? fail("cannot write to stdout: %s", why) : ret;
}
