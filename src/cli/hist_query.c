// SPDX-License-Identifier: MIT
#include "cli/hist_query.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "app/convert.h"
#include "app/query_session.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "cli/trace.h"
#include "tacho/stream.h"

#define OUT_MAX		((size_t)1 << 30)
#define PATH_TEXT_MAX	((size_t)1 << 16)

struct run {
	struct cli_hist_query *options;
	struct app_trace trace;
	struct app_recipe_plan plan;
	const struct app_question *question;	/* the plan's, or the options' */
	struct app_query *query;
	struct app_session_query *session;	/* or this one */
	const char *event;			/* of the session, or NULL */
	uint32_t nr;				/* histograms of the session */
	int shown;		/* what the last refresh came to, an exit status */
};

/* ---- Ctrl-C ---------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* From now on Ctrl-C ends the reading, not the tool. */
static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
}

static bool is_cancelled(void *arg)
{
	(void)arg;
	return interrupted;
}

static void say_note(void *arg, const char *text)
{
	(void)arg;
	cli_note("%s", text);
}

static const struct tacho_observer observer = { .note = say_note, .cancelled = is_cancelled };

/* ---- output ---------------------------------------------------------------------- */

static int put(struct run *r, struct tacho_buf *out, struct tacho_diag *d)
{
	r->options->form.width = cli_screen_width();
	if (r->session)
		return app_session_query_put(r->session, r->event, &r->options->form, out,
					     &r->nr, d);
	return app_query_put(r->query, &r->options->form, out, d);
}

/* last: in full, below what was on the terminal before. */
static int print(struct run *r, bool last)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf out;
	int ret;

	tacho_buf_init(&out, OUT_MAX);
	if (put(r, &out, &d))
		ret = cli_fail_diag(&d);
	else
		ret = last ? cli_screen_last(&out) : cli_screen_show(&out);
	tacho_buf_release(&out);
	return ret;
}

static int refresh(void *arg, struct tacho_diag *d)
{
	struct run *r = arg;

	(void)d;
	r->shown = print(r, false);
	return r->shown == CLI_OK ? 0 : -EIO;
}

static bool resized(void *arg)
{
	(void)arg;
	return cli_screen_resized();
}

static struct app_watch watch_of(struct run *r)
{
	return (struct app_watch){
		.every_ns = r->options->watch_ns, .duration_ns = r->options->duration_ns,
		.due = resized, .refresh = refresh, .arg = r,
	};
}

/* What a run came to: Ctrl-C is how one of a live source ends. */
static int run_status(const struct run *r, int err, const struct tacho_diag *d)
{
	if (r->shown != CLI_OK)
		return r->shown;
	if (!err || err == -ECANCELED)
		return CLI_OK;
	return cli_fail_at(d, app_query_wrong(r->query));
}

/* ---- snapshots --------------------------------------------------------------------- */

static int write_snapshot(struct run *r)
{
	struct tacho_diag d = { 0 };
	struct tacho_stream *s;
	struct tacho_sink_written written = { 0 };
	int err = app_query_snapshot(r->query, &s, &d);

	if (err == -ENOENT) {
		cli_note("no snapshot was taken: '%s' is not written",
			 r->options->snapshot);
		return CLI_OK;
	}
	if (err)
		return cli_fail_diag(&d);
	err = app_convert_stream(s, r->options->snapshot, &cli_observer, &written, &d);
	tacho_stream_close(s);
	if (err)
		return cli_fail_diag(&d);
	if (strcmp(r->options->snapshot, "-"))
		cli_note("snapshot: %" PRIu64 " events in '%s', the last of %" PRIu64
			 " taken", written.events, r->options->snapshot,
			 app_query_snapshots(r->query));
	return CLI_OK;
}

static int finish_snapshot(struct run *r)
{
	uint64_t taken = app_query_snapshots(r->query);

	if (r->options->snapshot)
		return write_snapshot(r);
	if (taken)
		cli_note("snapshots: %" PRIu64 " taken; --snapshot OUT writes the last",
			 taken);
	return CLI_OK;
}

/* Before anything is read. */
static int check_snapshot(const struct run *r)
{
	const char *out = r->options->snapshot;
	struct tacho_diag d = { 0 };

	if (!out)
		return CLI_OK;
	if (!app_query_takes_snapshots(r->query))
		return cli_usage("--snapshot: no TRIGGER takes one; 'snapshot' and "
				 "onmax($v).snapshot() do");
	return app_convert_ready(out, &d) ? cli_fail_diag(&d) : CLI_OK;
}

/* ---- a trace ------------------------------------------------------------------------- */

/* Whether a trace has what the recipe needs; query NULL: before it is read. */
static int check_recipe(const struct run *r, const struct app_query *query)
{
	const struct app_recipe *recipe = r->options->recipe;
	struct tacho_diag d = { 0 };

	if (!recipe)
		return CLI_OK;
	return app_recipe_check(recipe, r->trace.stream, query, &d) ? cli_fail_diag(&d) : CLI_OK;
}

/* s: the trace, or NULL for the running kernel. */
static int make_question(struct run *r, const struct tacho_stream *s)
{
	const struct app_recipe *recipe = r->options->recipe;
	struct tacho_diag d = { 0 };

	r->question = &r->options->question;
	if (!recipe)
		return CLI_OK;
	r->question = &r->plan.question;
	if (app_recipe_plan(&r->plan, recipe, app_recipe_way(recipe, s), s, &d))
		return cli_fail_diag(&d);
	r->plan.question.rules = r->options->question.rules;
	r->options->form = r->plan.form;
	if (r->options->json)
		r->options->form.shape = APP_HIST_JSON;
	else
		cli_note("%s", r->plan.meaning);
	return CLI_OK;
}

/* Of the running kernel the path is made of the question. */
static int open_kernel(struct run *r)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf path;
	int ret = make_question(r, NULL);

	tacho_buf_init(&path, PATH_TEXT_MAX);
	if (ret == CLI_OK && app_question_live(r->question, NULL, &d))
		ret = cli_fail_diag(&d);
	if (ret == CLI_OK && app_question_kernel_path(r->question, &path))
		ret = cli_fail("out of memory");
	if (ret == CLI_OK)
		ret = cli_trace_open(&r->trace, tacho_buf_str(&path), 0);
	tacho_buf_release(&path);
	return ret;
}

/* Of a trace the question may depend on it. */
static int open_source(struct run *r)
{
	int ret;

	if (r->options->trace && !strcmp(r->options->trace, "kernel"))
		return open_kernel(r);
	ret = cli_trace_open(&r->trace, r->options->trace, 0);
	if (ret == CLI_OK)
		ret = check_recipe(r, NULL);
	return ret == CLI_OK ? make_question(r, r->trace.stream) : ret;
}

static int begin(struct run *r)
{
	struct tacho_diag d = { 0 };
	int ret;

	if (app_query_open(&r->query, r->trace.stream, r->question, &observer, &d))
		return cli_fail_at(&d, app_query_wrong(r->query));
	ret = check_snapshot(r);
	if (ret == CLI_OK && app_query_check_form(r->query, &r->options->form, &d))
		ret = cli_fail_diag(&d);
	if (ret != CLI_OK)
		return ret;
	if (!app_query_is_live(r->query))
		return !r->options->watch_ns ? CLI_OK :
		       cli_fail("--watch is for what goes on: the running kernel (-k) or "
				"a session (session:NAME); this trace is complete");
	catch_signals();
	if (!r->options->duration_ns && isatty(STDERR_FILENO))
		cli_note("reading; Ctrl-C ends it");
	if (r->options->watch_ns)
		cli_screen_begin();
	return CLI_OK;
}

static int read_and_print(struct run *r)
{
	struct app_watch watch = watch_of(r);
	struct tacho_diag d = { 0 };
	int ret = run_status(r, app_query_run(r->query, &watch, &d), &d);

	cli_screen_end();
	if (ret == CLI_OK)
		ret = check_recipe(r, r->query);
	if (ret == CLI_OK)
		ret = print(r, true);
	if (ret == CLI_OK && app_query_check_events(r->query, &d))
		ret = cli_fail_diag(&d);
	if (ret == CLI_OK)
		ret = finish_snapshot(r);
	if (ret != CLI_OK)
		return ret;
	app_query_remarks(r->query);
	return cli_trace_remarks(&r->trace);
}

int cli_hist_query(struct cli_hist_query *a)
{
	struct run r = { .options = a };
	int ret = open_source(&r);

	if (ret == CLI_OK)
		ret = begin(&r);
	if (ret == CLI_OK)
		ret = read_and_print(&r);
	app_query_close(r.query);
	if (r.trace.stream)
		app_trace_close(&r.trace);
	if (a->recipe)
		app_recipe_plan_release(&r.plan);
	return ret;
}

/* ---- a session's own ------------------------------------------------------------------ */

static int watch_session(struct run *r)
{
	struct app_watch watch = watch_of(r);
	struct tacho_diag d = { 0 };
	int err;

	/* what is wrong is said where it stays */
	catch_signals();
	cli_screen_begin();
	err = app_watch_run(&watch, &observer, &d);
	cli_screen_end();
	return run_status(r, err, &d);
}

int cli_hist_session(struct cli_hist_query *a, const char *session, const char *event)
{
	struct run r = { .options = a, .event = event };
	struct tacho_diag d = { 0 };
	int ret = CLI_OK;

	if (app_session_query_open(&r.session, session, a->trace != NULL, &d))
		return cli_fail_diag(&d);
	if (a->watch_ns)
		ret = watch_session(&r);
	if (ret == CLI_OK)
		ret = print(&r, true);
	if (ret == CLI_OK && !r.nr)
		cli_note("nothing of session '%s' has counted anything; 'tacho "
			 "trigger -s %s' lists what is set", session, session);
	app_session_query_close(r.session);
	return ret;
}
