// SPDX-License-Identifier: MIT
#include "app/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/ahead.h"
#include "app/model.h"
#include "app/model_events.h"
#include "app/suggest.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/text.h"
#include "resolve/resolve.h"
#include "stream/parallel.h"
#include "stream/window.h"
#include "sys/clock.h"

_Static_assert(APP_SNAPSHOT_MIN == TACHO_WINDOW_MIN, "what a window needs");

#define REST_NS		2000000		/* a record in the making is there by then */
#define LOOK_EVERY	1024u		/* records between looks at clock and observer */
#define TEXTS_MAX	((size_t)64 << 20)

struct app_query {
	struct tacho_stream *stream;
	const struct app_question *question;
	const struct tacho_observer *observer;
	struct tacho_query *query;
	struct app_model_events *model;		/* NULL: no command needs it */
	struct tacho_arena texts;
	const char *text[APP_QUESTION_MAX];	/* commands with their "hist:" */
	const char *wrong;
	bool live;
	struct app_watch_state watch;
	uint64_t read, total;		/* records */
	uint64_t told;			/* the most that the observer was told */
};

static int no_memory(struct tacho_diag *d)
{
	return tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
}

static int stream_failed(const struct app_query *q, struct tacho_diag *d)
{
	const struct tacho_error *error = tacho_stream_error(q->stream);

	return tacho_diag(d, error->err, APP_NO_PLACE, "%s", error->text);
}

/* ---- Q1: commands ----------------------------------------------------------- */

/* What a trigger may begin with; anything else is a histogram's clauses. */
static bool is_command(const char *text)
{
	static const char *const words[] = {
		"hist:", "traceon", "traceoff", "snapshot", "stacktrace",
		"enable_event:", "disable_event:", "enable_hist:",
		"disable_hist:",
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(words); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

static int full_texts(struct app_query *q, struct tacho_diag *d)
{
	static const char hist[] = "hist:";

	for (uint32_t i = 0; i < q->question->nr_commands; i++) {
		const char *text = q->question->command[i].text;
		size_t len = strlen(text);
		char *full;

		q->text[i] = text;
		if (is_command(text))
			continue;
		full = tacho_arena_alloc(&q->texts, sizeof(hist) + len);
		if (!full)
			return no_memory(d);
		memcpy(full, hist, sizeof(hist) - 1);
		memcpy(full + sizeof(hist) - 1, text, len + 1);
		q->text[i] = full;
	}
	return 0;
}

static bool is_synthetic(const char *event)
{
	return !strncmp(event, "synthetic:", strlen("synthetic:"));
}

int app_question_kernel_path(const struct app_question *question, struct tacho_buf *out)
{
	const char *comma = "";

	tacho_buf_puts(out, "kernel:");
	for (uint32_t i = 0; i < question->nr_commands; i++) {
		const char *event = question->command[i].event;

		if (tacho_query_is_run_queue(event))
			event = TACHO_RUN_QUEUE_NEEDS;
		else if (is_synthetic(event))
			continue;
		tacho_buf_printf(out, "%s%s", comma, event);
		comma = ",";
	}
	return tacho_buf_error(out);
}

static bool has_event(struct tacho_stream *stream, const char *event)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(stream, i)); i++)
		if (tacho_event_glob(event, type->system, type->name))
			return true;
	return false;
}

int app_question_live(const struct app_question *question, struct tacho_stream *stream,
		      struct tacho_diag *d)
{
	for (uint32_t i = 0; i < question->nr_commands; i++) {
		const char *event = question->command[i].event;

		if (app_model_events_match(event) && !(stream && has_event(stream, event)))
			return tacho_diag(d, -EOPNOTSUPP, APP_NO_PLACE, "'%s' is made of a "
					  "recorded trace, not of what goes on: record it first",
					  event);
	}
	return 0;
}

static int no_event(const struct app_query *q, const char *event, struct tacho_diag *d)
{
	bool is_sql = q->question->is_sql;

	if (!q->live && app_model_events_system(event))
		return tacho_diag(d, -ENOENT, APP_NO_PLACE, "the model has no event '%s'; it has "
				  "model:state, model:slice, model:flow, model:instant", event);
	if (is_synthetic(event))
		return tacho_diag(d, -ENOENT, APP_NO_PLACE,
				  "there is no synthetic event '%s'; define it with %s",
				  event + strlen("synthetic:"),
				  is_sql ? "the event 'synth'" : "--synth");
	return app_suggest_no_event(q->stream, event, is_sql ? "the table type" : NULL, d);
}

static int wrong(struct app_query *q, const char *text, const struct tacho_cmd_error *e,
		 struct tacho_diag *d)
{
	q->wrong = text;
	return app_command_diag(d, e);
}

static int set_commands(struct app_query *q, struct tacho_diag *d)
{
	const struct app_question *a = q->question;

	for (uint32_t i = 0; i < a->nr_synths; i++) {
		struct tacho_cmd_error e = { 0 };

		if (tacho_query_synth(q->query, a->synth[i], &e))
			return wrong(q, a->synth[i], &e, d);
	}
	for (uint32_t i = 0; i < a->nr_commands; i++) {
		struct tacho_cmd_error e = { 0 };
		int err = tacho_query_trigger(q->query, a->command[i].event, q->text[i], &e);

		if (err == -ENOENT && !e.err)
			return no_event(q, a->command[i].event, d);
		if (err)
			return wrong(q, q->text[i], &e, d);
	}
	(void)tacho_query_offload(q->query);
	return q->model ? app_model_events_begin(q->model, d) : 0;
}

/* Before the commands, when one of them asks the model. */
static int add_model(struct app_query *q, struct tacho_diag *d)
{
	if (q->live)
		return app_question_live(q->question, q->stream, d);
	for (uint32_t i = 0; i < q->question->nr_commands; i++)
		if (app_model_events_match(q->question->command[i].event))
			return app_model_events_new(&q->model, q->query, q->stream,
						    q->question->rules, d);
	return 0;
}

int app_query_open(struct app_query **query, struct tacho_stream *stream,
		   const struct app_question *question, const struct tacho_observer *observer,
		   struct tacho_diag *d)
{
	struct app_query *q = calloc(1, sizeof(*q));
	const struct tacho_source *source = tacho_stream_source(stream, 0);
	int err;

	*query = q;
	if (!q)
		return no_memory(d);
	q->stream = stream;
	q->question = question;
	q->observer = observer;
	q->live = source && source->ops->live;
	tacho_arena_init(&q->texts, TEXTS_MAX);
	err = full_texts(q, d);
	if (err)
		return err;
	if (tacho_query_new(&q->query, stream))
		return no_memory(d);
	if (question->snapshot_size)
		tacho_query_snapshot_size(q->query, question->snapshot_size);
	err = add_model(q, d);
	return err ? err : set_commands(q, d);
}

void app_query_close(struct app_query *q)
{
	if (!q)
		return;
	app_model_events_free(q->model);
	tacho_query_free(q->query);
	tacho_arena_release(&q->texts);
	free(q);
}

const char *app_query_wrong(const struct app_query *q)
{
	return q ? q->wrong : NULL;
}

bool app_query_is_live(const struct app_query *q)
{
	return q->live;
}

/* ---- Q2: reading -------------------------------------------------------------- */

/* What was wrong with a command was found when its event came. */
static int late_error(struct app_query *q, struct tacho_diag *d)
{
	struct tacho_cmd_error e;
	const char *text = tacho_query_late(q->query, &e);

	return text ? wrong(q, text, &e, d) : 0;
}

/* Reading may begin again (read_parallel()); what the observer sees does not go back. */
static void tell_progress(struct app_query *q)
{
	uint64_t n = tacho_load_relaxed(&q->read);

	q->told = n > q->told ? n : q->told;
	tacho_observer_progress(q->observer, q->told, q->total);
}

/* A look at the observer and, of a live source, at the clock.  *end: that was all. */
static int look(struct app_query *q, const struct app_watch *watch, bool *end,
		struct tacho_diag *d)
{
	int err;

	if (tacho_observer_cancelled(q->observer))
		return -ECANCELED;
	tell_progress(q);
	if (!q->live)
		return 0;
	*end = app_watch_ended(&q->watch);
	if (*end)
		return 0;
	err = late_error(q, d);
	return err ? err : app_watch_step(watch, &q->watch, d);
}

static int read_all(struct app_query *q, const struct app_watch *watch, struct tacho_diag *d)
{
	struct tacho_record r;
	bool end = false;
	int err = 0;

	while (!err && !end) {
		int status = tacho_stream_next(q->stream, &r);

		if (status == TACHO_STREAM_ERROR)
			return stream_failed(q, d);
		if (status == TACHO_STREAM_END)
			break;
		if (status == TACHO_STREAM_RECORD) {
			(void)tacho_query_hit(q->query, &r);
			if (q->model)
				err = app_model_events_record(q->model, &r, d);
			/* a live source may never have nothing */
			if (!(++q->read % LOOK_EVERY) && !err)
				err = look(q, watch, &end, d);
			continue;
		}
		if (!q->live)
			break;
		err = look(q, watch, &end, d);
		if (!err && !end)
			app_watch_pause();
	}
	return err;
}

/* ---- by several threads -------------------------------------------------------- */

/* A worker's: the same question, put to its view. */
struct asker {
	struct app_query *query;
	struct tacho_resolver *resolver;
	struct tacho_stream *view;
};

static void asker_free(struct asker *a)
{
	app_query_close(a->query);
	tacho_stream_set_frames(a->view, NULL);
	tacho_resolver_free(a->resolver);
	free(a);
}

static void *begin_asker(void *arg, struct tacho_stream *view)
{
	const struct app_query *q = arg;
	struct asker *a = calloc(1, sizeof(*a));
	struct tacho_diag d = { 0 };

	if (!a)
		return NULL;
	a->view = view;
	if (app_ahead_resolver(&a->resolver, q->stream, view) &&
	    !app_query_open(&a->query, view, q->question, NULL, &d))
		return a;
	asker_free(a);
	return NULL;
}

/* What it has counted becomes the query's. */
static int end_asker(void *arg, void *own)
{
	const struct app_query *q = arg;
	struct asker *a = own;
	int err = tacho_engine_merge(tacho_query_engine(q->query),
				     tacho_query_engine(a->query->query));

	asker_free(a);
	return err;
}

static int ask_piece(void *arg, void *own, struct tacho_stream *view,
		     const struct tacho_piece *piece, void *unit)
{
	struct app_query *q = arg;
	struct asker *a = own;
	struct tacho_record r;
	uint64_t n = 0;
	int status;

	(void)piece;
	(void)unit;
	while ((status = tacho_stream_next(view, &r)) == TACHO_STREAM_RECORD) {
		(void)tacho_query_hit(a->query->query, &r);
		n++;
	}
	(void)tacho_add_relaxed(&q->read, n);
	return status == TACHO_STREAM_END ? 0 : -EIO;
}

static int tick(void *arg)
{
	struct app_query *q = arg;

	tell_progress(q);
	return tacho_observer_cancelled(q->observer) ? -ECANCELED : 0;
}

/* 1: all was read; 0: one thread has to read it; or -ECANCELED. */
static int read_parallel(struct app_query *q)
{
	const struct tacho_parallel p = {
		.arg = q, .begin = begin_asker, .end = end_asker, .work = ask_piece, .tick = tick,
	};
	int ret;

	if (q->live || q->model || !tacho_parallel_possible(q->stream) ||
	    !tacho_query_is_additive(q->query) || !app_ahead_can_name(q->stream))
		return 0;
	ret = tacho_parallel_ranges(q->stream, &p);
	if (!ret) {
		tacho_engine_clear(tacho_query_engine(q->query));
		q->read = 0;
	}
	return ret;
}

/* ---- in the order of time -------------------------------------------------------- */

/* Threads read ahead; what they hand over is counted here, as if all had been read here. */
struct reading {
	struct app_query *query;
	struct app_ahead ahead;
};

static void *open_look(void *arg, struct tacho_stream *view)
{
	const struct reading *r = arg;
	struct app_query *own = NULL;
	struct tacho_diag d = { 0 };

	if (!app_query_open(&own, view, r->query->question, NULL, &d))
		return own;
	app_query_close(own);
	return NULL;
}

static bool wants(void *own, const struct tacho_record *r)
{
	const struct app_query *q = own;

	return tacho_query_needs(q->query, r);
}

static void close_look(void *own)
{
	app_query_close(own);
}

static int hit_ahead(void *arg, const struct tacho_record *record, bool pass)
{
	const struct reading *r = arg;

	(void)pass;
	(void)tacho_query_hit(r->query->query, record);
	return 0;
}

static int tick_ahead(void *arg)
{
	struct reading *r = arg;

	r->query->read = r->ahead.read;
	return tick(r->query);
}

/* Reads a beginning of the trace; 0, -ECANCELED or the stream's error. */
static int read_ahead(struct app_query *q, struct tacho_diag *d)
{
	struct reading r = {
		.query = q,
		.ahead = {
			.stream = q->stream, .left = UINT64_MAX, .arg = &r, .open = open_look,
			.wants = wants, .close = close_look, .record = hit_ahead,
			.tick = tick_ahead,
		},
	};
	int err;

	if (q->live || q->model || !tacho_query_is_sparse(q->query))
		return 0;
	err = app_ahead_records(&r.ahead);
	q->read = r.ahead.read;
	if (!err)
		return r.ahead.status;
	if (tacho_stream_error(q->stream)->err)
		return stream_failed(q, d);
	return tacho_diag(d, err, APP_NO_PLACE, "%s", strerror(-err));
}

/* ---- all of it ------------------------------------------------------------------ */

/* Of a live source, at the end: what happened until now and is on its way. */
static int read_rest(struct app_query *q, struct tacho_diag *d)
{
	const struct timespec pause = { .tv_nsec = REST_NS };
	uint64_t until = tacho_now_ns(CLOCK_REALTIME);
	struct tacho_record r;
	int status;

	(void)nanosleep(&pause, NULL);
	while ((status = tacho_stream_next(q->stream, &r)) == TACHO_STREAM_RECORD &&
	       r.time <= until)
		(void)tacho_query_hit(q->query, &r);
	return status == TACHO_STREAM_ERROR ? stream_failed(q, d) : 0;
}

int app_query_run(struct app_query *q, const struct app_watch *watch, struct tacho_diag *d)
{
	static const struct app_watch forever;
	struct tacho_stream_info info;
	int err, rest = 0;

	watch = watch ? watch : &forever;
	app_watch_begin(watch, &q->watch, true);
	q->read = q->total = q->told = 0;
	if (!q->live && q->observer && q->observer->progress &&
	    !tacho_stream_get_info(q->stream, &info))
		q->total = info.events;
	err = read_parallel(q);
	if (!err) {
		err = read_ahead(q, d);
		if (!err)
			err = read_all(q, watch, d);
	} else if (err > 0) {
		err = 0;
	}
	if (q->live && (!err || err == -ECANCELED))
		rest = read_rest(q, d);
	if (q->model && !err)
		rest = app_model_events_finish(q->model, d);
	if (q->model && !err && q->question->rules)
		app_model_note_unused(q->question->rules, q->stream, q->observer);
	tacho_query_end(q->query);
	return rest ? rest : err;
}

int app_query_check_events(const struct app_query *q, struct tacho_diag *d)
{
	for (uint32_t i = 0; q->live && i < q->question->nr_commands; i++) {
		const char *event = q->question->command[i].event;
		const struct tacho_type *type;
		bool found = is_synthetic(event);

		for (uint32_t k = 0; !found && (type = tacho_stream_type(q->stream, k)); k++)
			found = tacho_event_glob(event, type->system, type->name);
		if (!found)
			return no_event(q, event, d);
	}
	return 0;
}

void app_query_remarks(const struct app_query *q)
{
	struct tacho_query_stacks s = tacho_query_stacks(q->query);

	if (!s.missing)
		return;
	if (!s.found && !q->live)
		tacho_observer_note(q->observer, "no call stack was recorded after the "
				    "events, which count with an empty one; 'tacho record "
				    "--stack' records them");
	else
		tacho_observer_note(q->observer, "%" PRIu64 " of %" PRIu64 " events have no "
				    "call stack, and count with an empty one",
				    s.missing, s.missing + s.found);
}

/* ---- Q3: the answer ------------------------------------------------------------ */

static bool is_wanted(const struct app_query *q, const struct tacho_hist *h)
{
	return q->question->all || !q->question->nr_commands ||
	       !strcmp(tacho_hist_spec_of(h)->text, q->text[q->question->nr_commands - 1]);
}

int app_query_each(const struct app_query *q,
		   int (*fn)(const struct tacho_hist *hist, const struct tacho_names *names,
			     void *arg),
		   void *arg)
{
	struct tacho_engine *engine = tacho_query_engine(q->query);
	const struct tacho_names *names = tacho_query_names(q->query);
	const struct tacho_engine_event *event;
	int ret = 0;

	for (uint32_t i = 0; !ret && (event = tacho_engine_at(engine, i)); i++) {
		const struct tacho_hist *h;

		for (uint32_t j = 0; !ret && (h = tacho_engine_hist(engine, event, j)); j++)
			if (is_wanted(q, h))
				ret = fn(h, names, arg);
	}
	return ret;
}

static int count_hit(const struct tacho_hist *h, const struct tacho_names *names, void *arg)
{
	(void)names;
	(void)arg;
	return tacho_map_hits(tacho_hist_map(h)) != 0;
}

bool app_query_was_hit(const struct app_query *q)
{
	return app_query_each(q, count_hit, NULL) != 0;
}

struct model *app_query_model(const struct app_query *q)
{
	return q->model ? app_model_events_model(q->model) : NULL;
}

/* How many histograms there are, and of how many there can be quantiles. */
struct fitting {
	const struct app_hist_form *form;
	uint32_t nr, fit;
	struct tacho_diag *d;
};

static int count_fitting(const struct tacho_hist *h, const struct tacho_names *names,
			 void *arg)
{
	struct fitting *f = arg;

	(void)names;
	f->nr++;
	f->fit += app_hist_fits(f->form, h, f->d);
	return 0;
}

int app_query_check_form(const struct app_query *q, const struct app_hist_form *form,
			 struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	struct fitting f = { .form = form, .d = &why };

	(void)app_query_each(q, count_fitting, &f);
	return f.nr && !f.fit ? tacho_diag(d, why.err, APP_NO_PLACE, "%s", why.text) : 0;
}

struct putting {
	const struct app_hist_form *form;
	struct tacho_buf *out;
};

static int put_one(const struct tacho_hist *h, const struct tacho_names *names, void *arg)
{
	const struct putting *p = arg;

	return app_hist_put(p->form, h, names, p->out);
}

int app_query_put(const struct app_query *q, const struct app_hist_form *form,
		  struct tacho_buf *out, struct tacho_diag *d)
{
	struct putting p = { .form = form, .out = out };
	int err = app_query_check_form(q, form, d);

	if (err)
		return err;
	if (app_query_each(q, put_one, &p) || tacho_buf_error(out))
		return no_memory(d);
	return 0;
}

bool app_query_takes_snapshots(const struct app_query *q)
{
	return tacho_query_has_snapshot(q->query);
}

uint64_t app_query_snapshots(const struct app_query *q)
{
	return tacho_query_snapshots(q->query);
}

int app_query_snapshot(struct app_query *q, struct tacho_stream **stream,
		       struct tacho_diag *d)
{
	int err = tacho_query_snapshot(q->query, stream);

	if (err == -ENOENT)
		return tacho_diag(d, err, APP_NO_PLACE, "no snapshot was taken");
	return err ? no_memory(d) : 0;
}
