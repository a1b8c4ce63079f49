// SPDX-License-Identifier: MIT
#include "cli/ask.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/command.h"
#include "app/suggest.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/screen.h"
#include "cli/trace.h"
#include "engine/hist_print.h"
#include "query/query.h"
#include "sys/clock.h"

#define OUT_MAX		((size_t)1 << 30)
#define PAUSE_NS	20000000	/* between looks at a live source that has nothing */
#define REST_NS		2000000		/* a record in the making is there by then */

struct run {
	struct cli_ask *ask;
	struct app_trace trace;
	struct tacho_query *query;
	char *kernel;		/* "kernel:..." made of the events */
	char *text[CLI_ASK_MAX];	/* commands with their "hist:" */
	bool live;
	uint64_t end_ns, next_ns;	/* monotonic */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

bool cli_ask_interrupted(void)
{
	static bool watching;

	if (!watching) {
		struct sigaction sa = { .sa_handler = on_signal };

		(void)sigaction(SIGINT, &sa, NULL);
		(void)sigaction(SIGTERM, &sa, NULL);
		watching = true;
	}
	return interrupted;
}

static int fail_command(const struct tacho_cmd_error *e, const char *command)
{
	struct tacho_diag d = { 0 };

	(void)app_command_diag(&d, e);
	return cli_fail_at(&d, command);
}

/* ---- commands ------------------------------------------------------------- */

/* What a trigger may begin with; anything else is a histogram's clauses. */
static bool is_command(const char *text)
{
	static const char *const words[] = {
		"hist:", "traceon", "traceoff", "snapshot", "stacktrace",
		"enable_event:", "disable_event:", "enable_hist:",
		"disable_hist:",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

static int full_text(struct run *r, uint32_t i)
{
	const char *text = r->ask->command[i].text;

	if (asprintf(&r->text[i], "%s%s", is_command(text) ? "" : "hist:",
		     text) < 0) {
		r->text[i] = NULL;
		return cli_fail("out of memory");
	}
	return CLI_OK;
}

static bool is_synthetic(const char *event)
{
	return !strncmp(event, "synthetic:", strlen("synthetic:"));
}

/* "kernel:a:b,c:d": the events that are asked about. */
static int kernel_path(struct run *r)
{
	struct tacho_buf b;
	int ret = CLI_OK;

	tacho_buf_init(&b, 1u << 16);
	tacho_buf_puts(&b, "kernel:");
	for (uint32_t i = 0; i < r->ask->nr_commands; i++) {
		const char *event = r->ask->command[i].event;

		if (tacho_query_is_run_queue(event))
			event = TACHO_RUN_QUEUE_NEEDS;
		else if (is_synthetic(event))
			continue;
		if (b.len > strlen("kernel:"))
			tacho_buf_putc(&b, ',');
		tacho_buf_puts(&b, event);
	}
	r->kernel = tacho_buf_error(&b) ? NULL : strdup(tacho_buf_str(&b));
	tacho_buf_release(&b);
	if (!r->kernel)
		ret = cli_fail("out of memory");
	return ret;
}

static int no_event(struct run *r, const char *event)
{
	struct tacho_diag d = { 0 };

	if (is_synthetic(event))
		return cli_fail("there is no synthetic event '%s'; define it with --synth",
				event + strlen("synthetic:"));
	(void)app_suggest_no_event(r->trace.stream, event, &d);
	return cli_fail_diag(&d);
}

/* A live source: an event that none of its types matches by now is nobody's. */
static int check_events(struct run *r)
{
	for (uint32_t i = 0; r->live && i < r->ask->nr_commands; i++) {
		const char *event = r->ask->command[i].event;
		const struct tacho_type *type;
		bool found = is_synthetic(event);

		for (uint32_t k = 0; !found && (type = tacho_stream_type(r->trace.stream, k)); k++)
			found = tacho_event_glob(event, type->system, type->name);
		if (!found)
			return no_event(r, event);
	}
	return CLI_OK;
}

static int set_commands(struct run *r)
{
	for (uint32_t i = 0; i < r->ask->nr_synths; i++) {
		struct tacho_cmd_error e = { 0 };

		if (tacho_query_synth(r->query, r->ask->synth[i], &e))
			return fail_command(&e, r->ask->synth[i]);
	}
	for (uint32_t i = 0; i < r->ask->nr_commands; i++) {
		struct tacho_cmd_error e = { 0 };
		int err = tacho_query_trigger(r->query, r->ask->command[i].event,
					      r->text[i], &e);

		if (err == -ENOENT && !e.err)
			return no_event(r, r->ask->command[i].event);
		if (err)
			return fail_command(&e, r->text[i]);
	}
	(void)tacho_query_hand_over(r->query);
	return CLI_OK;
}

/* ---- output --------------------------------------------------------------- */

/* "p50=19 max=35980"; nothing of an empty one. */
static void put_quantiles(const struct tacho_quantiles *q, const struct tacho_hist *h,
			  struct tacho_buf *out)
{
	const struct tacho_hist_column *c = tacho_hist_key(h, q->of);
	bool is_signed = c->is_signed && !(hist_view_mods(c) & TACHO_MOD_LOG2);

	for (uint32_t i = 0; i < q->nr; i++) {
		uint64_t v;

		if (!tacho_hist_quantile(h, q->q[i], &v))
			return;
		tacho_quantile_name(q->q[i], out);
		tacho_buf_putc(out, '=');
		hist_view_put_number(v, is_signed, out);
		tacho_buf_putc(out, i + 1 < q->nr ? ' ' : '\n');
	}
}

bool cli_ask_fits(const struct cli_ask *a, const struct tacho_hist *h,
		  struct tacho_diag *d)
{
	struct tacho_quantiles q = a->quantiles;

	return !q.nr || !tacho_quantiles_by(&q, h, a->by, d);
}

static int put_text(const struct cli_ask *a, const struct tacho_hist *h,
		    const struct tacho_names *names, const struct tacho_quantiles *q,
		    struct tacho_buf *out)
{
	const struct tacho_type *type = tacho_hist_type_of(h);
	int err;

	tacho_buf_printf(out, "%s# event: %s:%s\n", out->len ? "\n" : "",
			 type->system, type->name);
	if (q && q->nr_by)
		return tacho_hist_print_quantiles(h, names, q, a->ascii, out);
	if (a->form == CLI_ASK_CHART)
		err = tacho_hist_print_chart(h, names, cli_screen_width(), a->ascii,
					     out);
	else
		err = tacho_hist_print(h, names, out);
	if (q)
		put_quantiles(q, h, out);
	return err;
}

int cli_ask_put(const struct cli_ask *a, const struct tacho_hist *h,
		const struct tacho_names *names, struct tacho_buf *out)
{
	struct tacho_quantiles keys = a->quantiles;
	const struct tacho_quantiles *q =
		keys.nr && !tacho_quantiles_by(&keys, h, a->by, NULL) ? &keys : NULL;
	int err;

	if (a->form != CLI_ASK_JSON)
		return put_text(a, h, names, q, out);
	err = tacho_hist_print_json_quantiles(h, names, q, out);
	tacho_buf_putc(out, '\n');
	return err;
}

/* Whether histogram text of an event is one that is to be printed. */
static bool is_asked(const struct run *r, const struct tacho_hist *h)
{
	const char *last = r->text[r->ask->nr_commands - 1];

	return r->ask->all || !strcmp(tacho_hist_spec_of(h)->text, last);
}

/* Calls fn for each histogram that is to be printed, until it is not 0. */
static int each_hist(struct run *r, int (*fn)(struct run *r, const struct tacho_hist *h,
					      void *arg), void *arg)
{
	struct tacho_engine *engine = tacho_query_engine(r->query);
	const struct tacho_engine_event *event;
	int err = 0;

	for (uint32_t i = 0; !err && (event = tacho_engine_at(engine, i)); i++) {
		const struct tacho_hist *h;

		for (uint32_t j = 0; !err && (h = tacho_engine_hist(engine, event, j)); j++)
			if (is_asked(r, h))
				err = fn(r, h, arg);
	}
	return err;
}

static int put_one(struct run *r, const struct tacho_hist *h, void *out)
{
	return cli_ask_put(r->ask, h, tacho_query_names(r->query), out);
}

/* How many histograms there are, and of how many there can be quantiles. */
struct fitting {
	uint32_t nr, fit;
	struct tacho_diag d;
};

static int count_fitting(struct run *r, const struct tacho_hist *h, void *arg)
{
	struct fitting *f = arg;

	f->nr++;
	f->fit += cli_ask_fits(r->ask, h, &f->d);
	return 0;
}

/*
 * Says so when quantiles cannot be what is wanted: before anything is read, if the
 * events are known by then.
 */
static int check_quantiles(struct run *r)
{
	struct fitting f = { .nr = 0 };

	(void)each_hist(r, count_fitting, &f);
	return f.nr && !f.fit ? cli_fail_diag(&f.d) : CLI_OK;
}

/* last: in full, below what was on the terminal before. */
static int print(struct run *r, bool last)
{
	struct tacho_buf out;
	int ret = check_quantiles(r);

	if (ret != CLI_OK)
		return ret;
	tacho_buf_init(&out, OUT_MAX);
	if (each_hist(r, put_one, &out) || tacho_buf_error(&out))
		ret = cli_fail("out of memory");
	else
		ret = last ? cli_screen_last(&out) : cli_screen_show(&out);
	tacho_buf_release(&out);
	return ret;
}

/* ---- reading -------------------------------------------------------------- */

/* What was wrong with a command was found when its event came. */
static int late_error(const struct run *r)
{
	struct tacho_cmd_error e;
	const char *text = tacho_query_late(r->query, &e);

	return text ? fail_command(&e, text) : CLI_OK;
}

/* A look at the clock, of a live source.  False: that was all. */
static bool go_on(struct run *r, int *ret)
{
	uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);

	if (interrupted || (r->end_ns && now >= r->end_ns))
		return false;
	*ret = late_error(r);
	if (*ret != CLI_OK)
		return false;
	if (!r->ask->watch_ns || (now < r->next_ns && !cli_screen_resized()))
		return true;
	r->next_ns = now + r->ask->watch_ns;
	*ret = print(r, false);
	return *ret == CLI_OK;
}

/* Nothing now.  False: that was all. */
static bool wait_for_more(struct run *r, int *ret)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (!r->live || !go_on(r, ret))
		return false;
	(void)nanosleep(&pause, NULL);
	return !interrupted;
}

/* Live, at the end: what happened until now and is on its way. */
static int read_rest(struct run *r)
{
	const struct timespec pause = { .tv_nsec = REST_NS };
	uint64_t until = tacho_now_ns(CLOCK_REALTIME);
	struct tacho_stream *s = r->trace.stream;
	struct tacho_record rec;
	int status;

	(void)nanosleep(&pause, NULL);
	while ((status = tacho_stream_next(s, &rec)) == TACHO_STREAM_RECORD &&
	       rec.time <= until)
		(void)tacho_query_hit(r->query, &rec);
	return status == TACHO_STREAM_ERROR ?
	       cli_fail("%s", tacho_stream_error(s)->text) : CLI_OK;
}

static int read_all(struct run *r)
{
	struct tacho_stream *s = r->trace.stream;
	struct tacho_record rec;
	uint32_t n = 0;
	int ret = CLI_OK;

	while (!interrupted) {
		int status = tacho_stream_next(s, &rec);

		if (status == TACHO_STREAM_ERROR)
			return cli_fail("%s", tacho_stream_error(s)->text);
		if (status == TACHO_STREAM_END)
			break;
		if (status == TACHO_STREAM_AGAIN) {
			if (!wait_for_more(r, &ret))
				break;
			continue;
		}
		(void)tacho_query_hit(r->query, &rec);
		/* a live source may never have nothing */
		if (r->live && !(++n & 0xfff) && !go_on(r, &ret))
			break;
	}
	return r->live && ret == CLI_OK ? read_rest(r) : ret;
}

/* ---- what came of it -------------------------------------------------------- */

/* Events that were counted without the stack that they were to have. */
static void stack_remark(const struct run *r)
{
	struct tacho_query_stacks s = tacho_query_stacks(r->query);

	if (!s.missing)
		return;
	if (!s.found && !r->live)
		cli_note("no call stack was recorded behind the events, which count "
			 "with an empty one; 'tacho record --stack' records them");
	else
		cli_note("%" PRIu64 " of %" PRIu64 " events have no call stack behind "
			 "them, and count with an empty one", s.missing,
			 s.missing + s.found);
}

static int write_snapshot(struct run *r)
{
	struct tacho_stream *s;
	uint64_t events = 0;
	int err = tacho_query_snapshot(r->query, &s), ret;

	if (err == -ENOENT) {
		cli_note("no snapshot was taken: '%s' is not written",
			 r->ask->snapshot);
		return CLI_OK;
	}
	if (err)
		return cli_fail("out of memory");
	ret = cli_convert_stream(s, r->ask->snapshot, &events);
	tacho_stream_close(s);
	if (ret == CLI_OK && strcmp(r->ask->snapshot, "-"))
		cli_note("snapshot: %" PRIu64 " events in '%s', the last of %" PRIu64
			 " taken", events, r->ask->snapshot,
			 tacho_query_snapshots(r->query));
	return ret;
}

static int finish_snapshot(struct run *r)
{
	uint64_t taken = tacho_query_snapshots(r->query);

	if (r->ask->snapshot)
		return write_snapshot(r);
	if (taken)
		cli_note("snapshots: %" PRIu64 " taken; --snapshot OUT writes the last",
			 taken);
	return CLI_OK;
}

/* Before anything is read. */
static int check_snapshot(const struct run *r)
{
	const char *out = r->ask->snapshot;

	if (!out)
		return CLI_OK;
	if (!tacho_query_has_snapshot(r->query))
		return cli_usage("--snapshot: no TRIGGER takes one; 'snapshot' and "
				 "onmax($v).snapshot() do");
	return cli_convert_ready(out);
}

static int begin_live(struct run *r)
{
	const struct tacho_source *source = tacho_stream_source(r->trace.stream, 0);
	uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);

	r->live = source && source->ops->live;
	if (!r->live && r->ask->watch_ns)
		return cli_fail("--watch is for what goes on: the running kernel (-k) or "
				"a session (session:NAME); this trace is complete");
	if (!r->live)
		return CLI_OK;
	(void)cli_ask_interrupted();
	if (r->ask->duration_ns)
		r->end_ns = now + r->ask->duration_ns;
	r->next_ns = now + r->ask->watch_ns;
	if (!r->ask->duration_ns && isatty(STDERR_FILENO))
		cli_note("reading; Ctrl-C ends it");
	if (r->ask->watch_ns)
		cli_screen_begin();
	return CLI_OK;
}

/* Of the running kernel the path is made of the commands; of a trace they may depend on it. */
static int choose(struct run *r, const struct tacho_stream *s)
{
	int ret = r->ask->choose ? r->ask->choose(r->ask, s) : CLI_OK;

	for (uint32_t i = 0; ret == CLI_OK && i < r->ask->nr_commands; i++)
		ret = full_text(r, i);
	return ret;
}

static int open_source(struct run *r)
{
	bool kernel = r->ask->trace && !strcmp(r->ask->trace, "kernel");
	int ret = kernel ? choose(r, NULL) : CLI_OK;

	if (ret == CLI_OK && kernel)
		ret = kernel_path(r);
	if (ret == CLI_OK)
		ret = cli_trace_open(&r->trace, kernel ? r->kernel : r->ask->trace, 0);
	if (ret != CLI_OK || kernel)
		return ret;
	ret = choose(r, r->trace.stream);
	if (ret != CLI_OK)
		app_trace_close(&r->trace);
	return ret;
}

static int ask(struct run *r)
{
	int ret = open_source(r);

	if (ret != CLI_OK)
		return ret;
	if (tacho_query_new(&r->query, r->trace.stream)) {
		app_trace_close(&r->trace);
		return cli_fail("out of memory");
	}
	if (r->ask->snapshot_size)
		tacho_query_snapshot_size(r->query, r->ask->snapshot_size);
	ret = set_commands(r);
	if (ret == CLI_OK)
		ret = check_snapshot(r);
	if (ret == CLI_OK)
		ret = check_quantiles(r);
	if (ret == CLI_OK)
		ret = begin_live(r);
	if (ret == CLI_OK)
		ret = read_all(r);
	tacho_query_end(r->query);
	cli_screen_end();
	if (ret == CLI_OK)
		ret = print(r, true);
	if (ret == CLI_OK)
		ret = check_events(r);
	if (ret == CLI_OK)
		ret = finish_snapshot(r);
	if (ret == CLI_OK) {
		stack_remark(r);
		ret = cli_trace_remarks(&r->trace);
	}
	tacho_query_free(r->query);
	app_trace_close(&r->trace);
	return ret;
}

int cli_ask_run(struct cli_ask *a)
{
	struct run r = { .ask = a };
	int ret = ask(&r);

	for (uint32_t i = 0; i < CLI_ASK_MAX; i++)
		free(r.text[i]);
	free(r.kernel);
	return ret;
}
