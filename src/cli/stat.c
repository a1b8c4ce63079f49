// SPDX-License-Identifier: MIT
/* tacho stat: how many of which event, how fast, and what was lost. */
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "app/stat.h"
#include "cli/cli.h"
#include "cli/trace.h"
#include "tacho/stream.h"

enum { OPT_SORT = CLI_OPT_FIRST };

#define OUTPUT_MAX	((size_t)64 << 20)

struct stat_run {
	struct app_trace trace;
	struct app_stat st;
	enum app_stat_sort sort;
	bool json;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_JOBS_OPTIONS,
	{ "sort", required_argument, NULL, OPT_SORT },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho stat [OPTIONS] [TRACE]\n\n"
	"Counts the events of a trace by name, and prints the environment of the\n"
	"recording and its losses.  TRACE is a directory, a trace.dat, a .kev, or\n"
	"session:NAME for the contents of a session.  The default is the newest\n"
	"tacho-trace in this directory.\n\n"
	"      --sort KEY       'count' or 'bytes' (largest first), or 'name'\n"
	CLI_TRACE_HELP
	CLI_JOBS_HELP
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print one JSON object\n"
	"  -h, --help           print this help\n";

/* ---- text ------------------------------------------------------------------ */

static double span_seconds(const struct stat_run *s)
{
	return s->st.info.end > s->st.info.begin ?
	       (double)(s->st.info.end - s->st.info.begin) / 1e9 : 0;
}

static double per_second(const struct stat_run *s, uint64_t n)
{
	double span = span_seconds(s);

	return span > 0 ? (double)n / span : 0;
}

static double share(const struct stat_run *s, uint64_t n)
{
	return s->st.events ? 100.0 * (double)n / (double)s->st.events : 0;
}

static void put_fact(const struct stat_run *s, struct tacho_buf *b,
		     const char *label, const char *name)
{
	const char *v = tacho_stream_env(s->trace.stream, name);

	if (v && *v)
		tacho_buf_printf(b, "%-10s %s\n", label, v);
}

static void put_moment(struct tacho_buf *b, const char *label, uint64_t ns)
{
	time_t t = (time_t)(ns / TACHO_NS_PER_S);
	struct tm tm;
	char text[40];

	if (!ns || !gmtime_r(&t, &tm))
		return;
	(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	tacho_buf_printf(b, "%-10s %s.%09u UTC\n", label, text,
			 (unsigned int)(ns % TACHO_NS_PER_S));
}

static void put_recording(const struct stat_run *s, struct tacho_buf *b)
{
	const struct tacho_stream *t = s->trace.stream;
	const char *host = tacho_stream_env(t, "hostname");
	const char *clock = tacho_stream_env(t, "clock");
	const char *tracer = tacho_stream_env(t, "tracer_name");
	const char *names[] = { "sysname", "release", "machine" };

	tacho_buf_printf(b, "%-10s %s (%s)\n", "trace", s->trace.path,
			 s->st.info.format ? s->st.info.format : "empty");
	if (host)
		tacho_buf_printf(b, "%-10s %s,", "host", host);
	for (size_t i = 0; host && i < TACHO_ARRAY_SIZE(names); i++)
		if (tacho_stream_env(t, names[i]))
			tacho_buf_printf(b, " %s", tacho_stream_env(t, names[i]));
	if (host)
		tacho_buf_putc(b, '\n');
	put_fact(s, b, "command", "command");
	put_fact(s, b, tracer ? tracer : "tacho", "tracer_version");
	tacho_buf_printf(b, "%-10s %s%s%" PRIu64 " ticks a second\n", "clock",
			 clock ? clock : "", clock ? ", " : "",
			 s->st.info.clock_freq);
	put_moment(b, "begin", s->st.info.begin);
	put_moment(b, "end", s->st.info.end);
	tacho_buf_printf(b, "%-10s %.9f s\n", "span", span_seconds(s));
}

static void put_totals(const struct stat_run *s, struct tacho_buf *b)
{
	tacho_buf_printf(b, "%-10s %" PRIu64 ", %.1f a second, %.1f bytes each\n",
			 "events", s->st.events, per_second(s, s->st.events),
			 s->st.events ? (double)s->st.bytes / (double)s->st.events : 0);
	tacho_buf_printf(b, "%-10s %" PRIu64 " bytes, %" PRIu64 " packets, %u parts\n",
			 "size", s->st.info.bytes, s->st.info.packets, s->st.info.parts);
	if (s->st.info.discarded) {
		tacho_buf_printf(b, "%-10s %" PRIu64 " events, %.3f %% of all\n",
				 "LOST", s->st.info.discarded,
				 100.0 * (double)s->st.info.discarded /
				 ((double)s->st.info.discarded + (double)s->st.events));
		for (size_t i = 0; i < s->st.nr_losses; i++)
			tacho_buf_printf(b, "           %" PRIu64 " of %s\n",
					 s->st.loss[i].events, s->st.loss[i].part);
	} else {
		tacho_buf_printf(b, "%-10s none\n", "lost");
	}
	if (s->st.info.overwritten)
		tacho_buf_printf(b, "%-10s %" PRIu64 " older events were overwritten\n",
				 "flight", s->st.info.overwritten);
	if (s->st.info.damaged)
		tacho_buf_printf(b, "%-10s %" PRIu64 " places; 'tacho check %s' says where\n",
				 "DAMAGED", s->st.info.damaged, s->trace.path);
}

static void put_text(const struct stat_run *s, struct tacho_buf *b)
{
	put_recording(s, b);
	put_totals(s, b);
	if (s->st.nr_events)
		tacho_buf_puts(b, "\n      events       rate/s        bytes   share  event\n");
	for (size_t i = 0; i < s->st.nr_events; i++) {
		const struct app_stat_event *c = &s->st.event[i];

		tacho_buf_printf(b, "%12" PRIu64 " %12.1f %12" PRIu64 " %6.2f%%  %s:%s\n",
				 c->events, per_second(s, c->events), c->bytes,
				 share(s, c->events), c->system,
				 c->name);
	}
}

/* ---- JSON ------------------------------------------------------------------ */

static void json_fact(const struct stat_run *s, struct tacho_json *j,
		      const char *key, const char *name)
{
	tacho_json_pair_str(j, key, tacho_stream_env(s->trace.stream, name));
}

static void json_head(const struct stat_run *s, struct tacho_json *j)
{
	tacho_json_pair_str(j, "trace", s->trace.path);
	tacho_json_pair_str(j, "format", s->st.info.format);
	json_fact(s, j, "hostname", "hostname");
	json_fact(s, j, "sysname", "sysname");
	json_fact(s, j, "release", "release");
	json_fact(s, j, "machine", "machine");
	json_fact(s, j, "command", "command");
	json_fact(s, j, "tracer_version", "tracer_version");
	json_fact(s, j, "clock", "clock");
	tacho_json_pair_u64(j, "clock_frequency", s->st.info.clock_freq);
	tacho_json_pair_u64(j, "begin", s->st.info.begin);
	tacho_json_pair_u64(j, "end", s->st.info.end);
	tacho_json_key(j, "span");
	tacho_json_double(j, span_seconds(s));
	tacho_json_pair_u64(j, "events", s->st.events);
	tacho_json_pair_u64(j, "record_bytes", s->st.bytes);
	tacho_json_pair_u64(j, "bytes", s->st.info.bytes);
	tacho_json_pair_u64(j, "packets", s->st.info.packets);
	tacho_json_pair_u64(j, "parts", s->st.info.parts);
	tacho_json_pair_u64(j, "types", s->st.info.types);
	tacho_json_pair_u64(j, "lost", s->st.info.discarded);
	tacho_json_pair_u64(j, "overwritten", s->st.info.overwritten);
	tacho_json_pair_u64(j, "damaged", s->st.info.damaged);
}

static void json_event(const struct stat_run *s, struct tacho_json *j,
		       const struct app_stat_event *c)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "system", c->system);
	tacho_json_pair_str(j, "event", c->name);
	tacho_json_pair_str(j, "source", c->kernel ? "kernel" : "program");
	tacho_json_pair_u64(j, "events", c->events);
	tacho_json_key(j, "rate");
	tacho_json_double(j, per_second(s, c->events));
	tacho_json_pair_u64(j, "bytes", c->bytes);
	tacho_json_key(j, "share");
	tacho_json_double(j, share(s, c->events) / 100);
	tacho_json_close(j, '}');
}

static void put_json(const struct stat_run *s, struct tacho_buf *b)
{
	struct tacho_json j;

	tacho_json_init(&j, b);
	tacho_json_open(&j, '{');
	json_head(s, &j);
	tacho_json_key(&j, "loss");
	tacho_json_open(&j, '[');
	for (size_t i = 0; i < s->st.nr_losses; i++) {
		tacho_json_open(&j, '{');
		tacho_json_pair_str(&j, "part", s->st.loss[i].part);
		tacho_json_pair_u64(&j, "events", s->st.loss[i].events);
		tacho_json_close(&j, '}');
	}
	tacho_json_close(&j, ']');
	tacho_json_key(&j, "by_event");
	tacho_json_open(&j, '[');
	for (size_t i = 0; i < s->st.nr_events; i++)
		json_event(s, &j, &s->st.event[i]);
	tacho_json_close(&j, ']');
	tacho_json_close(&j, '}');
}

/* ---- the verb -------------------------------------------------------------- */

static int parse_sort(struct stat_run *s, const char *arg)
{
	if (!strcmp(arg, "count"))
		s->sort = APP_STAT_COUNT;
	else if (!strcmp(arg, "name"))
		s->sort = APP_STAT_NAME;
	else if (!strcmp(arg, "bytes"))
		s->sort = APP_STAT_BYTES;
	else
		return cli_usage("--sort: '%s' is not one of count, bytes, name", arg);
	return CLI_OK;
}

static int parse(struct stat_run *s, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq" CLI_JOBS_LETTERS, options, NULL)) != -1) {
		ret = opt == OPT_SORT ? parse_sort(s, optarg) :
					cli_trace_option(opt, optarg);
		if (ret == CLI_OK)
			continue;
		if (ret < 0)
			ret = cli_common(opt, &s->json);
		if (ret >= 0)
			return ret;
	}
	if (argc - optind > 1)
		return cli_usage("unexpected argument '%s': give one trace",
				 argv[optind + 1]);
	return -1;
}

static int print(const struct stat_run *s)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, OUTPUT_MAX);
	if (s->json) {
		put_json(s, &b);
		ret = cli_write_json(&b);
	} else {
		put_text(s, &b);
		ret = tacho_buf_error(&b) ? cli_fail("out of memory") :
					    cli_write(&b);
	}
	tacho_buf_release(&b);
	return ret;
}

static int stat_main(int argc, char **argv)
{
	struct stat_run s = { .sort = APP_STAT_COUNT };
	struct tacho_diag d = { 0 };
	int ret = parse(&s, argc, argv);

	if (ret >= 0)
		return ret;
	ret = cli_trace_open(&s.trace, argv[optind], TACHO_STREAM_UNORDERED);
	if (ret != CLI_OK)
		return ret;
	if (app_stat_get(&s.st, &s.trace, cli_trace_flags(), s.sort, &d)) {
		ret = cli_fail_diag(&d);
	} else {
		ret = print(&s);
		app_stat_release(&s.st);
	}
	app_trace_close(&s.trace);
	return ret;
}

const struct cli_verb cli_stat = {
	.name = "stat",
	.summary = "count the events of a trace; print its span and its losses",
	.usage = usage,
	.run = stat_main,
};
