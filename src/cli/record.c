// SPDX-License-Identifier: MIT
/* record: its options, its signals, and what it shows of a recording (app/record.h). */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/command.h"
#include "app/convert.h"
#include "app/output.h"
#include "app/record.h"
#include "app/session.h"
#include "base/atomic.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/list_arg.h"

/* Of the command line. */
struct record_options {
	struct app_record_config config;
	struct cli_list events, kernel, pids;
	int32_t pid[CLI_LIST_MAX];
	char filter_event[APP_RECORD_CONTROLS_MAX][APP_EVENT_MAX];
	char trigger_event[APP_RECORD_CONTROLS_MAX][APP_EVENT_MAX];
	const char *to;			/* format, as the user says it; or NULL */
	bool output_given;
	bool json;
};

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
"until COMMAND ends, until Ctrl-C, or for --duration.\n"
"\n"
"Events\n"
"  -e, --events SYS:EV,...  record program events; globs; !SYS:EV excludes\n"
"  -k, --kernel SYS:EV,...  record kernel events (root, or a readable tracefs);\n"
"                           without -e and -k: all program events\n"
"  -p, --pid PID,...        record these processes only\n"
"      --follow             with -p: also the children that they fork\n"
"      --only               kernel events of COMMAND and its children only\n"
"      --filter EXPR        record only events whose fields match: 'id > 5', or\n"
"                           for some events only: 'shop:*/id > 5'\n"
"      --trigger TEXT       run an action at each hit: 'EVENT/TRIGGER', see\n"
"                           tacho trigger --help\n"
"      --synth TEXT         define a synthetic event for triggers\n"
"      --stack              record the call stack after each event\n"
"\n"
"Output\n"
"  -o, --output DIR         write to DIR (default: tacho-trace; an older one is\n"
"                           renamed to tacho-trace.old); x.dat: a trace.dat, for\n"
"                           trace-cmd; x.kev, x.txt, x.json, ...: other formats\n"
"                           of 'tacho convert'\n"
"      --to FORMAT          'ctf' (the directory), 'dat' (trace.dat version 6),\n"
"                           'dat7' (version 7, compressed), 'kev', 'lkst', 'ltt',\n"
"                           'ltt32', 'lttswap', 'ltt32swap', 'lttfull' (the Linux\n"
"                           Trace Toolkit's), 'text' or 'json'\n"
"      --rotate SIZE|TIME   start a new trace in DIR every 100M, 10m, ...\n"
"      --keep N             with --rotate: keep only the last N\n"
"\n"
"Flight recorder: overwrites old records, writes on request or at an event\n"
"      --flight             write the newest records at the end, at SIGUSR1 and\n"
"                           by 'tacho snapshot'\n"
"      --on SYS:EV          write the records around each such program event\n"
"      --on-kernel SYS:EV   ... around each such kernel event\n"
"      --keep-before TIME   include this time before it (default: all records\n"
"                           that are in no earlier dump)\n"
"      --keep-after TIME    record this time after it before writing (default: 0)\n"
"      --dumps N            stop after N dumps\n"
"\n"
"Session and buffers\n"
"  -s, --session NAME       set the name of the session (default: record-<pid>)\n"
"  -b, --buffer SIZE        buffer size per CPU for programs (default: 16M)\n"
"      --subbuf SIZE        sub-buffer size (default: 256K)\n"
"      --kernel-buffer SIZE buffer size per CPU for the kernel (default: 4M)\n"
"      --clock NAME         x86-tsc, mono or boot\n"
"      --duration TIME      stop after 10s, 5m, ...\n"
"      --no-kallsyms        omit the kernel's symbols from the trace\n"
"      --json               print the summary as JSON\n"
"  -q, --quiet              print no progress and no notes\n"
"  -h, --help               print this help\n";

/* ---- options ---- */

/* A size or a time for --rotate: what it is shows in its unit. */
static int parse_rotate(struct record_options *o, const char *text)
{
	size_t n = strlen(text);

	if (n && strchr("kKmMgGB", text[n - 1]) && (text[n - 1] != 'm') &&
	    !tacho_parse_size(text, &o->config.rotate_bytes) && o->config.rotate_bytes)
		return 0;
	if (!tacho_parse_time(text, &o->config.rotate_ns) && o->config.rotate_ns)
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

static int too_many(const char *what)
{
	return cli_usage("%s may be given %u times", what, APP_RECORD_CONTROLS_MAX);
}

/* "[EVENT/]EXPR" */
static int parse_filter(struct record_options *o, const char *text)
{
	uint32_t i = o->config.nr_filters;
	const char *expr;

	if (i == APP_RECORD_CONTROLS_MAX)
		return too_many("--filter");
	(void)snprintf(o->filter_event[i], APP_EVENT_MAX, "*:*");
	expr = app_split_event(text, o->filter_event[i]);
	o->config.filter[i] = (struct app_record_control){ o->filter_event[i],
							   expr ? expr : text };
	o->config.nr_filters++;
	return 0;
}

/* "EVENT/TRIGGER" */
static int parse_trigger(struct record_options *o, const char *text)
{
	uint32_t i = o->config.nr_triggers;
	const char *trigger;

	if (i == APP_RECORD_CONTROLS_MAX)
		return too_many("--trigger");
	trigger = app_split_event(text, o->trigger_event[i]);
	if (!trigger)
		return cli_usage("--trigger: '%s' is not EVENT/TRIGGER", text);
	o->config.trigger[i] = (struct app_record_control){ o->trigger_event[i], trigger };
	o->config.nr_triggers++;
	return 0;
}

static int parse_synth(struct record_options *o, const char *text)
{
	if (o->config.nr_synths == APP_RECORD_CONTROLS_MAX)
		return too_many("--synth");
	o->config.synth[o->config.nr_synths++] = text;
	return 0;
}

static int parse_clock(struct record_options *o, const char *text)
{
	int clock = app_clock_by_name(text);

	if (clock < 0)
		return cli_usage("there is no clock '%s' (x86-tsc, mono, boot)", text);
	if (!app_clock_usable(clock))
		return cli_fail("the time-stamp counter cannot be trusted on this "
				"machine; use --clock mono");
	o->config.clock = clock;
	return 0;
}

static int parse_flight(struct record_options *o, int opt, char *arg)
{
	struct app_record_config *c = &o->config;

	switch (opt) {
	case OPT_FLIGHT: c->flight = true; return 0;
	case OPT_BEFORE: return parse_time("--keep-before", arg, &c->before_ns);
	case OPT_AFTER: return parse_time("--keep-after", arg, &c->after_ns);
	case OPT_ON: c->snapshot_event = arg; return 0;
	case OPT_ON_KERNEL: c->snapshot_kernel_event = arg; return 0;
	default: return parse_count("--dumps", arg, &c->max_snapshots);
	}
}

static int parse_keep(struct record_options *o, const char *arg)
{
	uint64_t v = 0;
	int ret = parse_count("--keep", arg, &v);

	o->config.rotate_keep = (uint32_t)v;
	return ret;
}

static int parse_one(struct record_options *o, int opt, char *arg)
{
	struct app_record_config *c = &o->config;

	switch (opt) {
	case 'o':
		c->output = arg;
		o->output_given = true;
		return 0;
	case 'e': return parse_list("--events", arg, &o->events);
	case 'k': return parse_list("--kernel", arg, &o->kernel);
	case 'p': return parse_list("--pid", arg, &o->pids);
	case 's': c->name = arg; return 0;
	case OPT_TO: o->to = arg; return 0;
	case 'b': return parse_size("--buffer", arg, &c->buffer_size);
	case OPT_SUBBUF: return parse_size("--subbuf", arg, &c->subbuf_size);
	case OPT_KERNEL_BUFFER:
		return parse_size("--kernel-buffer", arg, &c->kernel_buffer_size);
	case OPT_CLOCK: return parse_clock(o, arg);
	case OPT_ROTATE: return parse_rotate(o, arg);
	case OPT_KEEP: return parse_keep(o, arg);
	case OPT_DURATION: return parse_time("--duration", arg, &c->duration_ns);
	case OPT_NO_KALLSYMS: c->no_kallsyms = true; return 0;
	case OPT_STACK: c->stacks = true; return 0;
	case OPT_ONLY: c->command_only = true; return 0;
	case OPT_FILTER: return parse_filter(o, arg);
	case OPT_TRIGGER: return parse_trigger(o, arg);
	case OPT_SYNTH: return parse_synth(o, arg);
	case OPT_FOLLOW: c->follow = true; return 0;
	default: return parse_flight(o, opt, arg);
	}
}

static void add_last(struct cli_list *l, const char *glob)
{
	if (l->nr == CLI_LIST_MAX)
		l->nr--;
	l->item[l->nr++] = glob;
}

/* What does not go together. */
static int check_options(const struct record_options *o)
{
	const struct app_record_config *c = &o->config;
	bool around = c->snapshot_event || c->snapshot_kernel_event;
	bool rotates = c->rotate_bytes || c->rotate_ns;

	if (c->rotate_keep && !rotates)
		return cli_usage("--keep needs --rotate");
	if ((c->flight || around) && rotates)
		return cli_usage("a flight recorder writes at its end: --rotate does "
				 "not go with --flight and --on");
	if ((c->before_ns || c->after_ns || c->max_snapshots) && !around)
		return cli_usage("--keep-before, --keep-after and --dumps need --on or "
				 "--on-kernel");
	if (c->snapshot_event && c->snapshot_kernel_event)
		return cli_usage("--on and --on-kernel do not go together");
	if (c->command_only && (!c->command || !o->kernel.nr))
		return cli_usage("--only needs -k and a command");
	return CLI_OK;
}

/* Which events and processes: the lists become the configuration's. */
static int set_lists(struct record_options *o)
{
	static char all[] = "*:*";
	struct app_record_config *c = &o->config;
	const char *bad;

	if (!o->events.nr && !o->kernel.nr)
		(void)cli_list_add(&o->events, all);
	/* what is waited for is recorded, whatever else is */
	if (c->snapshot_event)
		add_last(&o->events, c->snapshot_event);
	if (c->snapshot_kernel_event)
		add_last(&o->kernel, c->snapshot_kernel_event);
	if (c->nr_synths && !o->events.nr)
		return cli_usage("--synth: synthetic events of the kernel are for 'tacho hist -k'");
	if (cli_list_pids(&o->pids, o->pid, &bad))
		return cli_usage("'%s' is not a process id", bad);
	c->events = o->events.item;
	c->nr_events = (uint32_t)o->events.nr;
	c->kernel_events = o->kernel.item;
	c->nr_kernel_events = (uint32_t)o->kernel.nr;
	c->pids = o->pid;
	c->nr_pids = (uint32_t)o->pids.nr;
	return CLI_OK;
}

/* Chooses the format: by its name, or by the output's. */
static int set_format(struct record_options *o)
{
	struct app_record_config *c = &o->config;
	struct tacho_diag d = { 0 };
	bool ours;

	if (app_convert_format(o->to, c->output, &c->format, &d))
		return cli_usage("--to: %s", d.text);
	ours = app_convert_is_native(c->format);
	if (!ours && !o->output_given)
		return cli_usage("--to %s: name the file with -o", o->to);
	if (!ours && (c->flight || c->snapshot_event || c->snapshot_kernel_event ||
		      c->rotate_bytes || c->rotate_ns))
		return cli_usage("--flight, --on and --rotate write directories of ours; "
				 "'tacho convert' makes '%s' of one", c->output);
	c->replace = !o->output_given;
	return CLI_OK;
}

static int parse_options(struct record_options *o, int argc, char **argv)
{
	int opt, ret;

	*o = (struct record_options){ .config = { .output = APP_DEFAULT_TRACE, .clock = -1 } };
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
		o->config.command = argv + optind;
	return check_options(o) || set_lists(o) || set_format(o) ? CLI_USAGE : -1;
}

/* ---- what is shown ---- */

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

/* A recording that is shown, and how far that was. */
struct shown {
	const struct record_options *opt;
	struct app_record *recording;
	uint64_t last_time, last_events;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void show_progress(void *arg, uint64_t events, uint64_t total)
{
	struct shown *w = arg;
	uint64_t now = now_ns();
	struct tacho_recorder_stats s;
	char number[32], rate[32], lost[32];

	(void)total;
	if (!isatty(STDERR_FILENO) || now - w->last_time < PROGRESS_NS)
		return;
	app_record_stats(w->recording, &s);
	fprintf(stderr, "\r%7.1f s  %s events  %s/s  %.1f MiB  %s lost\033[K",
		(double)app_record_duration(w->recording) / 1e9,
		grouped(number, sizeof(number), events),
		grouped(rate, sizeof(rate), w->last_time ? (uint64_t)
			((double)(events - w->last_events) * 1e9 /
			 (double)(now - w->last_time)) : 0),
		(double)s.bytes / (1 << 20), grouped(lost, sizeof(lost), s.lost));
	w->last_time = now;
	w->last_events = events;
}

static void summary_json(const struct shown *w, const char *trace,
			 const struct tacho_recorder_stats *s)
{
	struct tacho_buf b;
	struct tacho_json j;

	tacho_buf_init(&b, 1 << 20);
	tacho_json_init(&j, &b);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "trace", trace);
	tacho_json_pair_u64(&j, "events", s->events);
	tacho_json_pair_u64(&j, "kernel_events", s->kernel_events);
	tacho_json_pair_u64(&j, "bytes", s->bytes);
	tacho_json_pair_u64(&j, "lost", s->lost);
	tacho_json_pair_u64(&j, "unread", s->unread);
	tacho_json_pair_u64(&j, "chunks", s->chunks);
	tacho_json_key(&j, "seconds");
	tacho_json_double(&j, (double)app_record_duration(w->recording) / 1e9);
	tacho_json_close(&j, '}');
	(void)cli_write_json(&b);
	tacho_buf_release(&b);
}

/* One line (or JSON) on what was written. */
static void show_summary(void *arg, const char *trace, const struct tacho_recorder_stats *s)
{
	const struct shown *w = arg;
	char events[32], kernel[32], lost[32], unread[32];

	if (!cli_quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	cli_note("%s events (%s of the kernel), %.1f MiB in %s, %s lost%s%s",
		 grouped(events, sizeof(events), s->events),
		 grouped(kernel, sizeof(kernel), s->kernel_events),
		 (double)s->bytes / (1 << 20), trace,
		 grouped(lost, sizeof(lost), s->lost), s->unread ? ", still in memory: " : "",
		 s->unread ? grouped(unread, sizeof(unread), s->unread) : "");
	if (s->damaged)
		cli_note("%ju bytes in the buffers were no records (a broken "
			 "program?)", (uintmax_t)s->damaged);
	if (w->opt->json)
		summary_json(w, trace, s);
}

/* How the command ended, when not well. */
static void show_command(const struct app_record *r)
{
	int st;

	if (!app_record_command_ended(r, &st))
		return;
	if (WIFSIGNALED(st))
		cli_note("the command was killed by signal %d (%s)", WTERMSIG(st),
			 strsignal(WTERMSIG(st)));
	else if (WIFEXITED(st) && WEXITSTATUS(st))
		cli_note("the command ended with status %d", WEXITSTATUS(st));
}

/* ---- signals ---- */

static struct app_record *recording;	/* what signals are for; NULL: none */

static void on_signal(int sig)
{
	struct app_record *r = tacho_load_relaxed(&recording);

	if (r && sig == SIGUSR1)
		app_record_snapshot(r);
	else if (r && sig != SIGCHLD)
		app_record_stop(r);
}

/* SIGCHLD is caught only so that it interrupts sleeps. */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD };

static void catch_signals(struct app_record *r)
{
	struct sigaction sa = { .sa_handler = on_signal };

	tacho_store_relaxed(&recording, r);
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
}

static void default_signals(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)signal(signals[i], SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
}

/* ---- the recording ---- */

/* The session is not needed any more; a second Ctrl-C ends the conversion. */
static int convert(const struct shown *w, struct app_record_result *result)
{
	const struct app_record_config *c = &w->opt->config;
	struct app_record *r = w->recording;
	struct tacho_diag d = { 0 };

	if (app_record_release(r, &d))
		(void)cli_fail_diag(&d);
	default_signals();
	d = (struct tacho_diag){ 0 };
	if (!app_record_convert(r, &cli_observer, result, &d))
		return CLI_OK;
	(void)cli_fail_diag(&d);
	if (strcmp(result->trace, c->output) != 0)
		cli_note("all that was recorded is in '%s'; with room for it, 'tacho convert "
			 "%s --to %s -o %s' goes on", result->trace, result->trace,
			 c->format->name, c->output);
	return CLI_FAILED;
}

/* Records, and says what goes wrong.  *written: all that was recorded is in the trace. */
static int run(struct app_record *r, struct app_record_result *result, bool *written)
{
	struct tacho_diag d = { 0 };
	int ret = CLI_OK;

	*written = true;
	if (app_record_go(r, &d)) {
		ret = cli_fail_diag(&d);
	} else if (app_record_run(r, &d)) {
		ret = cli_fail_diag(&d);
		*written = false;
		/* until the end in memory */
		(void)app_record_run(r, &d);
	}
	d = (struct tacho_diag){ 0 };
	if (app_record_finish(r, result, &d)) {
		ret = cli_fail_diag(&d);
		*written = false;
	}
	return ret;
}

static int record(struct shown *w)
{
	struct app_record *r = w->recording;
	struct app_record_result result;
	struct tacho_diag d = { 0 };
	bool written;
	int ret;

	if (app_record_prepare(r, &d))
		return cli_fail_at(&d, app_record_malformed(r));
	ret = run(r, &result, &written);
	if (result.trace && written && !app_convert_is_native(w->opt->config.format) &&
	    convert(w, &result))
		ret = CLI_FAILED;
	if (result.trace)
		show_summary(w, result.trace, &result.stats);
	show_command(r);
	return ret;
}

static int record_run(int argc, char **argv)
{
	struct record_options o;
	struct shown w = { .opt = &o };
	struct tacho_observer observer = { .arg = &w };
	struct tacho_diag d = { 0 };
	int ret = parse_options(&o, argc, argv);

	if (ret >= 0)
		return ret;
	if (!cli_quiet) {
		observer.note = cli_observer.note;
		observer.progress = show_progress;
	}
	o.config.snapshot_done = show_summary;
	o.config.arg = &w;
	if (app_record_new(&w.recording, &o.config, &observer, &d))
		return cli_fail_diag(&d);
	catch_signals(w.recording);
	ret = record(&w);
	tacho_store_relaxed(&recording, NULL);
	if (app_record_end(w.recording, &d))
		(void)cli_fail_diag(&d);
	return ret;
}

const struct cli_verb cli_record = {
	.name = "record",
	.summary = "record programs and the kernel into a trace",
	.usage = usage,
	.run = record_run,
};
