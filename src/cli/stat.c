// SPDX-License-Identifier: MIT
/* tacho stat: how many of which event, how fast, and what was lost. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/trace.h"
#include "event/type.h"
#include "fmt/ctf/packets.h"

enum { OPT_SORT = CLI_OPT_FIRST };

enum sort { SORT_COUNT, SORT_NAME, SORT_BYTES };

struct stat_run {
	struct app_trace trace;
	struct tacho_stream_info info;
	struct tacho_type_count *list;
	size_t nr;
	uint64_t events, bytes;		/* of the list */
	enum sort sort;
	bool json;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
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
	"  -q, --quiet          print no notes on stderr\n"
	"      --json           print one JSON object\n"
	"  -h, --help           print this help\n";

/* ---- order ----------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct tacho_type_count *x = a, *y = b;
	int d = strcmp(x->type->system, y->type->system);

	if (!d)
		d = strcmp(x->type->name, y->type->name);
	return d ? d : (int)x->stream_id - (int)y->stream_id;
}

static int by_count(const void *a, const void *b)
{
	const struct tacho_type_count *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return by_name(a, b);
}

static int by_bytes(const void *a, const void *b)
{
	const struct tacho_type_count *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_name(a, b);
}

/* The parts of a rotated trace count the same events: one line for each. */
static void add_up(struct stat_run *s)
{
	size_t n = 0;

	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), by_name);
	for (size_t i = 0; i < s->nr; i++) {
		s->events += s->list[i].events;
		s->bytes += s->list[i].bytes;
		if (n && !by_name(&s->list[n - 1], &s->list[i])) {
			s->list[n - 1].events += s->list[i].events;
			s->list[n - 1].bytes += s->list[i].bytes;
		} else {
			s->list[n++] = s->list[i];
		}
	}
	s->nr = n;
	if (n && s->sort != SORT_NAME)
		qsort(s->list, n, sizeof(*s->list),
		      s->sort == SORT_COUNT ? by_count : by_bytes);
}

/* Another system's trace: what its packets do not tell, its records do. */
static int read_span(struct stat_run *s)
{
	struct tacho_record r;
	struct app_trace t;
	int status, ret = cli_trace_open(&t, s->trace.path,
					 TACHO_STREAM_UNORDERED);

	if (ret != CLI_OK)
		return ret;
	while ((status = tacho_stream_next(t.stream, &r)) == TACHO_STREAM_RECORD) {
		if (!s->info.begin || r.time < s->info.begin)
			s->info.begin = r.time;
		if (r.time > s->info.end)
			s->info.end = r.time;
		s->info.discarded += r.lost;
	}
	if (status == TACHO_STREAM_ERROR)
		ret = cli_fail("%s", tacho_stream_error(t.stream)->text);
	app_trace_close(&t);
	return ret;
}

static int collect(struct stat_run *s)
{
	struct tacho_stream *stream = s->trace.stream;
	int err = tacho_stream_count(stream, &s->list, &s->nr);

	if (!err)
		err = tacho_stream_get_info(stream, &s->info);
	if (err && tacho_stream_error(stream)->err)
		return cli_stream_failed(stream, err);
	if (err)
		return cli_fail("cannot read '%s': %s", s->trace.path,
				strerror(-err));
	add_up(s);
	return s->events && !s->info.begin ? read_span(s) : CLI_OK;
}

/* ---- loss by part ---------------------------------------------------------- */

/* Calls fn for each file of a trace of ours whose writers lost records. */
static void each_loss(const struct stat_run *s,
		      void (*fn)(void *arg, const char *part, uint64_t lost),
		      void *arg)
{
	const struct tacho_source *source;
	bool chunks = tacho_stream_source(s->trace.stream, 1);

	for (uint32_t i = 0; (source = tacho_stream_source(s->trace.stream, i)); i++) {
		if (source->ops->live || strcmp(source->ops->format, "tacho"))
			continue;
		for (uint32_t j = 0; j < source->nr_parts; j++) {
			const struct tacho_ctf_part *p =
				(const struct tacho_ctf_part *)source->part[j];
			char name[96];

			if (!p->totals.discarded)
				continue;
			if (chunks)
				(void)snprintf(name, sizeof(name), "%s in chunk %u",
					       p->name, i + 1);
			else
				(void)snprintf(name, sizeof(name), "%s", p->name);
			fn(arg, name, p->totals.discarded);
		}
	}
}

static void loss_text(void *arg, const char *part, uint64_t lost)
{
	struct tacho_buf *b = arg;

	tacho_buf_printf(b, "           %" PRIu64 " of %s\n", lost, part);
}

static void loss_json(void *arg, const char *part, uint64_t lost)
{
	struct tacho_json *j = arg;

	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "part", part);
	tacho_json_pair_u64(j, "events", lost);
	tacho_json_close(j, '}');
}

/* ---- text ------------------------------------------------------------------ */

static double span_seconds(const struct stat_run *s)
{
	return s->info.end > s->info.begin ?
	       (double)(s->info.end - s->info.begin) / 1e9 : 0;
}

static double per_second(const struct stat_run *s, uint64_t n)
{
	double span = span_seconds(s);

	return span > 0 ? (double)n / span : 0;
}

static double share(const struct stat_run *s, uint64_t n)
{
	return s->events ? 100.0 * (double)n / (double)s->events : 0;
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
			 s->info.format ? s->info.format : "empty");
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
			 s->info.clock_freq);
	put_moment(b, "begin", s->info.begin);
	put_moment(b, "end", s->info.end);
	tacho_buf_printf(b, "%-10s %.9f s\n", "span", span_seconds(s));
}

static void put_totals(const struct stat_run *s, struct tacho_buf *b)
{
	tacho_buf_printf(b, "%-10s %" PRIu64 ", %.1f a second, %.1f bytes each\n",
			 "events", s->events, per_second(s, s->events),
			 s->events ? (double)s->bytes / (double)s->events : 0);
	tacho_buf_printf(b, "%-10s %" PRIu64 " bytes, %" PRIu64 " packets, %u parts\n",
			 "size", s->info.bytes, s->info.packets, s->info.parts);
	if (s->info.discarded) {
		tacho_buf_printf(b, "%-10s %" PRIu64 " events, %.3f %% of all\n",
				 "LOST", s->info.discarded,
				 100.0 * (double)s->info.discarded /
				 ((double)s->info.discarded + (double)s->events));
		each_loss(s, loss_text, b);
	} else {
		tacho_buf_printf(b, "%-10s none\n", "lost");
	}
	if (s->info.overwritten)
		tacho_buf_printf(b, "%-10s %" PRIu64 " older events were overwritten\n",
				 "flight", s->info.overwritten);
	if (s->info.damaged)
		tacho_buf_printf(b, "%-10s %" PRIu64 " places; 'tacho check %s' says where\n",
				 "DAMAGED", s->info.damaged, s->trace.path);
}

static void put_text(const struct stat_run *s, struct tacho_buf *b)
{
	put_recording(s, b);
	put_totals(s, b);
	if (s->nr)
		tacho_buf_puts(b, "\n      events       rate/s        bytes   share  event\n");
	for (size_t i = 0; i < s->nr; i++) {
		const struct tacho_type_count *c = &s->list[i];

		tacho_buf_printf(b, "%12" PRIu64 " %12.1f %12" PRIu64 " %6.2f%%  %s:%s\n",
				 c->events, per_second(s, c->events), c->bytes,
				 share(s, c->events), c->type->system,
				 c->type->name);
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
	tacho_json_pair_str(j, "format", s->info.format);
	json_fact(s, j, "hostname", "hostname");
	json_fact(s, j, "sysname", "sysname");
	json_fact(s, j, "release", "release");
	json_fact(s, j, "machine", "machine");
	json_fact(s, j, "command", "command");
	json_fact(s, j, "tracer_version", "tracer_version");
	json_fact(s, j, "clock", "clock");
	tacho_json_pair_u64(j, "clock_frequency", s->info.clock_freq);
	tacho_json_pair_u64(j, "begin", s->info.begin);
	tacho_json_pair_u64(j, "end", s->info.end);
	tacho_json_key(j, "span");
	tacho_json_double(j, span_seconds(s));
	tacho_json_pair_u64(j, "events", s->events);
	tacho_json_pair_u64(j, "record_bytes", s->bytes);
	tacho_json_pair_u64(j, "bytes", s->info.bytes);
	tacho_json_pair_u64(j, "packets", s->info.packets);
	tacho_json_pair_u64(j, "parts", s->info.parts);
	tacho_json_pair_u64(j, "types", s->info.types);
	tacho_json_pair_u64(j, "lost", s->info.discarded);
	tacho_json_pair_u64(j, "overwritten", s->info.overwritten);
	tacho_json_pair_u64(j, "damaged", s->info.damaged);
}

static void json_event(const struct stat_run *s, struct tacho_json *j,
		       const struct tacho_type_count *c)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "system", c->type->system);
	tacho_json_pair_str(j, "event", c->type->name);
	tacho_json_pair_str(j, "source", c->stream_id == TACHO_STREAM_KERNEL ?
					 "kernel" : "program");
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
	each_loss(s, loss_json, &j);
	tacho_json_close(&j, ']');
	tacho_json_key(&j, "by_event");
	tacho_json_open(&j, '[');
	for (size_t i = 0; i < s->nr; i++)
		json_event(s, &j, &s->list[i]);
	tacho_json_close(&j, ']');
	tacho_json_close(&j, '}');
}

/* ---- the verb -------------------------------------------------------------- */

static int parse_sort(struct stat_run *s, const char *arg)
{
	if (!strcmp(arg, "count"))
		s->sort = SORT_COUNT;
	else if (!strcmp(arg, "name"))
		s->sort = SORT_NAME;
	else if (!strcmp(arg, "bytes"))
		s->sort = SORT_BYTES;
	else
		return cli_usage("--sort: '%s' is not one of count, bytes, name", arg);
	return CLI_OK;
}

static int parse(struct stat_run *s, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
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

static int stat_main(int argc, char **argv)
{
	struct stat_run s = { .sort = SORT_COUNT };
	struct tacho_buf b;
	int ret = parse(&s, argc, argv);

	if (ret >= 0)
		return ret;
	ret = cli_trace_open(&s.trace, argv[optind], TACHO_STREAM_UNORDERED);
	if (ret != CLI_OK)
		return ret;
	tacho_buf_init(&b, (size_t)64 << 20);
	ret = collect(&s);
	if (ret == CLI_OK && s.json) {
		put_json(&s, &b);
		ret = cli_write_json(&b);
	} else if (ret == CLI_OK) {
		put_text(&s, &b);
		ret = tacho_buf_error(&b) ? cli_fail("out of memory") :
					    cli_write(&b);
	}
	tacho_buf_release(&b);
	free(s.list);
	app_trace_close(&s.trace);
	return ret;
}

const struct cli_verb cli_stat = {
	.name = "stat",
	.summary = "count the events of a trace; print its span and its losses",
	.usage = usage,
	.run = stat_main,
};
