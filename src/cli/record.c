// SPDX-License-Identifier: MIT
/* record: run or attach, pump, finish. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/record.h"
#include "session/remark.h"
#include "sys/clock.h"

#define STEP_MS		100
#define PROGRESS_NS	UINT64_C(250000000)

enum {
	OPT_FLIGHT = CLI_OPT_FIRST, OPT_CLOCK, OPT_ROTATE, OPT_KEEP,
	OPT_BEFORE, OPT_AFTER, OPT_ON, OPT_ON_KERNEL, OPT_DUMPS, OPT_DURATION,
	OPT_SUBBUF, OPT_KERNEL_BUFFER, OPT_NO_KALLSYMS, OPT_ONLY, OPT_FOLLOW,
	OPT_FILTER, OPT_TRIGGER, OPT_SYNTH, OPT_TO, OPT_STACK,
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "events", required_argument, NULL, 'e' },
	{ "kernel", required_argument, NULL, 'k' },
	{ "pid", required_argument, NULL, 'p' },
	{ "session", required_argument, NULL, 's' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "subbuf", required_argument, NULL, OPT_SUBBUF },
	{ "kernel-buffer", required_argument, NULL, OPT_KERNEL_BUFFER },
	{ "flight", no_argument, NULL, OPT_FLIGHT },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "to", required_argument, NULL, OPT_TO },
	{ "rotate", required_argument, NULL, OPT_ROTATE },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "keep-before", required_argument, NULL, OPT_BEFORE },
	{ "keep-after", required_argument, NULL, OPT_AFTER },
	{ "on", required_argument, NULL, OPT_ON },
	{ "on-kernel", required_argument, NULL, OPT_ON_KERNEL },
	{ "dumps", required_argument, NULL, OPT_DUMPS },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "no-kallsyms", no_argument, NULL, OPT_NO_KALLSYMS },
	{ "only", no_argument, NULL, OPT_ONLY },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "trigger", required_argument, NULL, OPT_TRIGGER },
	{ "synth", required_argument, NULL, OPT_SYNTH },
	{ "stack", no_argument, NULL, OPT_STACK },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
"usage: tacho record [OPTIONS] [-- COMMAND [ARGS]]\n"
"\n"
"Records events of programs and of the running kernel into a trace directory,\n"
"until COMMAND ends, Ctrl-C, or --duration.\n"
"\n"
"What\n"
"  -e, --events SYS:EV,...  events of programs; globs; !SYS:EV takes some away\n"
"  -k, --kernel SYS:EV,...  events of the kernel (root, or a readable tracefs)\n"
"                           without -e and -k: all events of programs\n"
"  -p, --pid PID,...        these processes only\n"
"      --follow             and the children they fork\n"
"      --only               kernel events of COMMAND and its children only\n"
"      --filter EXPR        only events whose fields say so: 'id > 5', or of some\n"
"                           events only: 'shop:*/id > 5'\n"
"      --trigger TEXT       do something at each hit: 'EVENT/TRIGGER', see\n"
"                           tacho trigger --help\n"
"      --synth TEXT         define a synthetic event for triggers\n"
"      --stack              the call stack behind each event\n"
"\n"
"Where to\n"
"  -o, --output DIR         the trace (default: tacho-trace; an older one becomes\n"
"                           tacho-trace.old); x.dat: a trace.dat, for trace-cmd;\n"
"                           x.kev, x.txt, x.json, ...: what 'tacho convert' makes\n"
"                           of it\n"
"      --to FORMAT          'ctf' (the directory), 'dat' (trace.dat version 6),\n"
"                           'dat7' (version 7, compressed), 'kev', 'lkst', 'ltt',\n"
"                           'ltt32', 'lttswap', 'ltt32swap', 'lttfull' (the Linux\n"
"                           Trace Toolkit's), 'text' or 'json'\n"
"      --rotate SIZE|TIME   a new trace in DIR every 100M, 10m, ...\n"
"      --keep N             with --rotate: only the last N stay\n"
"\n"
"Flight recorder: nothing is written until the end\n"
"      --flight             keep the newest in memory; write it at the end, at\n"
"                           SIGUSR1 and at 'tacho snapshot'\n"
"      --on SYS:EV          write what is around each such event of a program\n"
"      --on-kernel SYS:EV   ... of the kernel\n"
"      --keep-before TIME   how much before it (default: all that no dump has)\n"
"      --keep-after TIME    how much after it (default: 0)\n"
"      --dumps N            end after N of them\n"
"\n"
"How\n"
"  -s, --session NAME       name of the session (default: record-<pid>)\n"
"  -b, --buffer SIZE        memory per CPU for programs (default: 16M)\n"
"      --subbuf SIZE        sub-buffers of it (default: 256K)\n"
"      --kernel-buffer SIZE memory per CPU for the kernel (default: 4M)\n"
"      --clock NAME         x86-tsc, mono or boot\n"
"      --duration TIME      end after 10s, 5m, ...\n"
"      --no-kallsyms        leave the kernel's symbols out of the trace\n"
"      --json               the summary as JSON on stdout\n"
"  -q, --quiet              no progress, no remarks\n"
"  -h, --help               this text\n";

/* ---- options ---- */

/* A size or a time for --rotate: what it is shows in its unit. */
static int parse_rotate(struct job_options *o, const char *text)
{
	size_t n = strlen(text);

	if (n && strchr("kKmMgGB", text[n - 1]) && (text[n - 1] != 'm') &&
	    !tacho_parse_size(text, &o->rotate_bytes) && o->rotate_bytes)
		return 0;
	if (!tacho_parse_time(text, &o->rotate_ns) && o->rotate_ns)
		return 0;
	return cli_usage("'%s' is neither a size (100M) nor a time (10m)", text);
}

static int parse_size(const char *what, const char *text, uint64_t *v)
{
	if (tacho_parse_size(text, v) || !*v)
		return cli_usage("'%s' is not a size for %s (64K, 16M, ...)", text,
				 what);
	return 0;
}

static int parse_time(const char *what, const char *text, uint64_t *v)
{
	if (tacho_parse_time(text, v))
		return cli_usage("'%s' is not a time for %s (10s, 200ms, 5m, ...)",
				 text, what);
	return 0;
}

static int parse_count(const char *what, const char *text, uint64_t *v)
{
	if (tacho_parse_u64(text, 1, UINT32_MAX, v))
		return cli_usage("'%s' is not a count for %s", text, what);
	return 0;
}

static int parse_list(const char *what, char *text, struct cli_list *l)
{
	if (cli_list_add(l, text))
		return cli_usage("%s takes at most %d items", what, CLI_LIST_MAX);
	return 0;
}

static int parse_text(const char *what, const char *text, const char **list,
		      uint32_t *nr)
{
	if (*nr == JOB_COMMANDS_MAX)
		return cli_usage("%s may be given %d times", what, JOB_COMMANDS_MAX);
	list[(*nr)++] = text;
	return 0;
}

static int parse_clock(struct job_options *o, const char *text)
{
	enum tacho_clock clock;

	if (tacho_clock_by_name(text, &clock))
		return cli_usage("there is no clock '%s' (x86-tsc, mono, boot)", text);
	if (clock == TACHO_CLOCK_TSC && tacho_clock_default() != TACHO_CLOCK_TSC)
		return cli_fail("the time-stamp counter cannot be trusted on this "
				"machine; use --clock mono");
	o->clock = (int)clock;
	return 0;
}

static int parse_one(struct job_options *o, int opt, char *arg)
{
	uint64_t v = 0;
	int ret;

	switch (opt) {
	case 'o':
		o->output = arg;
		o->output_given = true;
		return 0;
	case 'e': return parse_list("--events", arg, &o->events);
	case 'k': return parse_list("--kernel", arg, &o->kernel);
	case 'p': return parse_list("--pid", arg, &o->pids);
	case 's': o->session = arg; return 0;
	case OPT_TO: o->to = arg; return 0;
	case 'b': return parse_size("--buffer", arg, &o->lane_size);
	case OPT_SUBBUF: return parse_size("--subbuf", arg, &o->sub_size);
	case OPT_KERNEL_BUFFER:
		return parse_size("--kernel-buffer", arg, &o->kernel_size);
	case OPT_FLIGHT: o->flight = true; return 0;
	case OPT_CLOCK: return parse_clock(o, arg);
	case OPT_ROTATE: return parse_rotate(o, arg);
	case OPT_KEEP:
		ret = parse_count("--keep", arg, &v);
		o->keep = (uint32_t)v;
		return ret;
	case OPT_BEFORE: return parse_time("--keep-before", arg, &o->before);
	case OPT_AFTER: return parse_time("--keep-after", arg, &o->after);
	case OPT_ON: o->on = arg; return 0;
	case OPT_ON_KERNEL: o->on_kernel = arg; return 0;
	case OPT_DUMPS: return parse_count("--dumps", arg, &o->dumps);
	case OPT_DURATION: return parse_time("--duration", arg, &o->duration);
	case OPT_NO_KALLSYMS: o->no_kallsyms = true; return 0;
	case OPT_STACK: o->stack = true; return 0;
	case OPT_ONLY: o->command_only = true; return 0;
	case OPT_FILTER:
		return parse_text("--filter", arg, o->filter, &o->nr_filters);
	case OPT_TRIGGER:
		return parse_text("--trigger", arg, o->trigger, &o->nr_triggers);
	case OPT_SYNTH:
		return parse_text("--synth", arg, o->synth, &o->nr_synths);
	default: o->follow = true; return 0;
	}
}

static void add_last(struct cli_list *l, const char *glob)
{
	if (l->nr == CLI_LIST_MAX)
		l->nr--;
	l->item[l->nr++] = glob;
}

/* What does not go together. */
static int check_options(struct job_options *o)
{
	static char all[] = "*:*";
	bool around = o->on || o->on_kernel;

	if (!o->events.nr && !o->kernel.nr)
		(void)cli_list_add(&o->events, all);
	if (o->keep && !o->rotate_bytes && !o->rotate_ns)
		return cli_usage("--keep needs --rotate");
	if ((o->flight || around) && (o->rotate_bytes || o->rotate_ns))
		return cli_usage("a flight recorder writes at its end: --rotate does "
				 "not go with --flight and --on");
	if ((o->before || o->after || o->dumps) && !around)
		return cli_usage("--keep-before, --keep-after and --dumps need --on or "
				 "--on-kernel");
	if (o->on && o->on_kernel)
		return cli_usage("--on and --on-kernel do not go together");
	if (o->command_only && (!o->command || !o->kernel.nr))
		return cli_usage("--only needs -k and a command");
	/* what is waited for is recorded, whatever else is */
	if (o->on)
		add_last(&o->events, o->on);
	if (o->on_kernel)
		add_last(&o->kernel, o->on_kernel);
	return record_target(o, o->to);
}

static int parse_options(struct job_options *o, int argc, char **argv)
{
	int opt, ret;

	*o = (struct job_options){ .output = APP_DEFAULT_TRACE, .clock = -1 };
	/* '+': the command's own options are its own */
	while ((opt = getopt_long(argc, argv, "+hqo:e:k:p:s:b:", options,
				  NULL)) != -1) {
		if (opt == 'h' || opt == 'q' || opt == '?' || opt == CLI_OPT_JSON)
			ret = cli_common(opt, &o->json);
		else
			ret = parse_one(o, opt, optarg) ? CLI_USAGE : -1;
		if (ret >= 0)
			return ret;
	}
	if (optind < argc)
		o->command = argv + optind;
	return check_options(o) ? CLI_USAGE : -1;
}

/* ---- talking ---- */

/* "12,345,678" */
static const char *grouped(char *to, size_t size, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%ju", (uintmax_t)v);
	size_t at = 0;

	for (int i = 0; i < n && at + 2 < size; i++) {
		to[at++] = digits[i];
		if ((n - i) % 3 == 1 && i + 1 < n)
			to[at++] = ',';
	}
	to[at] = '\0';
	return to;
}

static void show_progress(const struct job *job, const struct tacho_recorder *rec)
{
	static uint64_t last_time, last_events;
	uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);
	struct tacho_recorder_stats s;
	char events[32], rate[32], lost[32];

	if (cli_quiet || !isatty(STDERR_FILENO) || now - last_time < PROGRESS_NS)
		return;
	tacho_recorder_stats(rec, &s);
	fprintf(stderr, "\r%7.1f s  %s events  %s/s  %.1f MiB  %s lost\033[K",
		(double)(now - job->began) / 1e9,
		grouped(events, sizeof(events), s.events),
		grouped(rate, sizeof(rate), last_time ? (uint64_t)
			((double)(s.events - last_events) * 1e9 /
			 (double)(now - last_time)) : 0),
		(double)s.bytes / (1 << 20), grouped(lost, sizeof(lost), s.lost));
	last_time = now;
	last_events = s.events;
}

static void summary_json(const struct job *job, const char *dir,
			 const struct tacho_recorder_stats *s)
{
	struct tacho_buf b;
	struct tacho_json j;

	tacho_buf_init(&b, 1 << 20);
	tacho_json_init(&j, &b);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "trace", dir);
	tacho_json_pair_u64(&j, "events", s->events);
	tacho_json_pair_u64(&j, "kernel_events", s->kernel_events);
	tacho_json_pair_u64(&j, "bytes", s->bytes);
	tacho_json_pair_u64(&j, "lost", s->lost);
	tacho_json_pair_u64(&j, "unread", s->unread);
	tacho_json_pair_u64(&j, "chunks", s->chunks);
	tacho_json_key(&j, "seconds");
	tacho_json_double(&j, (double)((job->ended ? job->ended :
				tacho_now_ns(CLOCK_MONOTONIC)) - job->began) / 1e9);
	tacho_json_close(&j, '}');
	(void)cli_write_json(&b);
	tacho_buf_release(&b);
}

void record_remarks(const struct job *job)
{
	const struct tacho_registry *reg = job->dir.reg;
	uint64_t began = tacho_now_ns(CLOCK_REALTIME) -
			 (tacho_now_ns(CLOCK_MONOTONIC) - job->began);
	struct tacho_remark r;

	for (uint32_t i = 0; reg && i < TACHO_REMARKS_MAX; i++)
		if (tacho_remark_get(reg, i, &r) && r.last >= began)
			cli_note("program %s, %ju time%s, the last process %d: %s", r.comm,
				 (uintmax_t)r.times, r.times == 1 ? "" : "s", r.pid, r.text);
}

void record_summary(const struct job *job, const char *dir,
			const struct tacho_recorder_stats *s)
{
	char events[32], kernel[32], lost[32], unread[32];

	if (!cli_quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	cli_note("%s events (%s of the kernel), %.1f MiB in %s, %s lost%s%s",
		 grouped(events, sizeof(events), s->events),
		 grouped(kernel, sizeof(kernel), s->kernel_events),
		 (double)s->bytes / (1 << 20), dir,
		 grouped(lost, sizeof(lost), s->lost), s->unread ? ", still in memory: " : "",
		 s->unread ? grouped(unread, sizeof(unread), s->unread) : "");
	if (s->damaged)
		cli_note("%ju bytes in the buffers were no records (a broken "
			 "program?)", (uintmax_t)s->damaged);
	if (job->opt->json)
		summary_json(job, dir, s);
}

void record_child_note(const struct job *job)
{
	int st = job->child_status;

	if (job->child || !job->opt->command)
		return;
	if (WIFSIGNALED(st))
		cli_note("the command was killed by signal %d (%s)", WTERMSIG(st),
			 strsignal(WTERMSIG(st)));
	else if (WIFEXITED(st) && WEXITSTATUS(st))
		cli_note("the command ended with status %d", WEXITSTATUS(st));
}

/* ---- the plain recording ---- */

/* The session is not needed any more; a second Ctrl-C ends the converting. */
static int finish_target(struct job *job, struct tacho_recorder_stats *s, int ret)
{
	int made;

	job_end(job);
	job_default_signals();
	made = record_convert(job->opt, s);
	record_summary(job, made == CLI_OK ? job->opt->target : job->opt->output, s);
	record_child_note(job);
	return ret || made ? CLI_FAILED : CLI_OK;
}

/*
 * The trace cannot be written.  What programs record from here on is in memory, or is
 * counted there when that is full: so until the recording's end.
 */
static void go_on_in_memory(struct job *job, const struct tacho_diag *d)
{
	(void)cli_fail_diag(d);
	if (!job->has_session || !job_runs(job))
		return;
	cli_note("what programs record is kept in memory until the end, as long as "
		 "there is room");
	while (job_runs(job))
		usleep(STEP_MS * 1000);
}

static int pump(struct job *job)
{
	struct tacho_recorder_config cfg;
	struct tacho_recorder_stats s;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };
	int ret, err = 0;

	job_recorder_config(job, job->opt->output, &cfg);
	if (tacho_recorder_new(&rec, &cfg, &d))
		return cli_fail_diag(&d);
	ret = job_go(job);
	while (!ret && !err && job_runs(job)) {
		err = tacho_recorder_step(rec, STEP_MS, &d);
		err = err < 0 ? err : 0;
		show_progress(job, rec);
	}
	if (err)
		go_on_in_memory(job, &d);
	if (job->has_session)
		(void)tacho_session_end(&job->session);
	d = (struct tacho_diag){ 0 };
	if (tacho_recorder_finish(rec, &s, &d) && !err) {
		err = d.err;
		(void)cli_fail_diag(&d);
	}
	job->unread = err;
	job->ended = tacho_now_ns(CLOCK_MONOTONIC);
	job_say_unfit(job);
	record_remarks(job);
	if (job->opt->target && !err)
		return finish_target(job, &s, ret);
	record_summary(job, job->opt->output, &s);
	record_child_note(job);
	return ret || err ? CLI_FAILED : CLI_OK;
}

static int record_run(int argc, char **argv)
{
	struct job_options o;
	struct job job;
	int ret = parse_options(&o, argc, argv);

	if (ret >= 0)
		return ret;
	ret = record_ready(&o);
	if (!ret)
		ret = job_prepare(&job, &o);
	if (ret)
		return ret;
	if (o.flight || o.on || o.on_kernel)
		ret = flight_run(&job);
	else
		ret = pump(&job);
	job_end(&job);
	return ret;
}

const struct cli_verb cli_record = {
	.name = "record",
	.summary = "record programs and the kernel into a trace",
	.usage = usage,
	.run = record_run,
};
