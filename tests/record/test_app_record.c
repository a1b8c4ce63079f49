// SPDX-License-Identifier: MIT
/*
 * Recordings through src/app, in one process: two at once, one of them cancelled; stopped,
 * converted, malformed, without a command that can be executed, flight recorders, snapshots,
 * recovery.
 *
 * $TRACED is the program that is traced (traced.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "app/record.h"
#include "app/recover.h"
#include "app/session.h"
#include "app/snapshot.h"
#include "base/atomic.h"
#include "stream/stream.h"
#include "stream/tmpdir.h"
#include "unit/test.h"

static char *traced;

/* ---- what is in a trace ---- */

struct found {
	uint64_t hits, others;
};

/* Of a trace's events that are the traced program's. */
static struct found read_back(const char *trace)
{
	struct found f = { 0, 0 };
	struct tacho_error error;
	struct tacho_stream *s;
	struct tacho_record r;
	int status;

	if (!CHECK(!tacho_stream_open(&s, trace, 0, &error)))
		return f;
	while ((status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD) {
		CHECK_EQ(r.lost, 0);
		if (strcmp(r.type->system, "rec") != 0)
			continue;
		f.hits += !strcmp(r.type->name, "hit");
		f.others += !strcmp(r.type->name, "other");
	}
	CHECK_EQ(status, TACHO_STREAM_END);
	tacho_stream_close(s);
	return f;
}

static int count_session(const char *name, const char *path, void *arg)
{
	(void)name;
	(void)path;
	++*(int *)arg;
	return 0;
}

static int nr_sessions(void)
{
	struct tacho_dir dir;
	int n = 0;

	if (tacho_dir_open(&dir, false, NULL))
		return 0;
	(void)tacho_sessions_each(&dir, count_session, &n);
	tacho_dir_close(&dir);
	return n;
}

/* ---- who watches a recording ---- */

struct watcher {
	struct tacho_observer observer;
	uint32_t cancel;
	char notes[2048];
	uint64_t progress;
};

static void keep_note(void *arg, const char *text)
{
	struct watcher *w = arg;
	size_t len = strlen(w->notes);

	(void)snprintf(w->notes + len, sizeof(w->notes) - len, "%s\n", text);
}

static void keep_progress(void *arg, uint64_t done, uint64_t total)
{
	struct watcher *w = arg;

	CHECK(done >= w->progress && !total);
	w->progress = done;
}

static bool is_cancelled(void *arg)
{
	struct watcher *w = arg;

	return tacho_load_relaxed(&w->cancel);
}

static void watch(struct watcher *w)
{
	*w = (struct watcher){ .observer = { keep_note, keep_progress, is_cancelled, w } };
}

/* A recording that has begun; NULL: it was said that it cannot. */
static struct app_record *begin(const struct app_record_config *c, const struct watcher *w)
{
	struct app_record *r;
	struct tacho_diag d = { 0 };

	if (CHECK(!app_record_new(&r, c, w ? &w->observer : NULL, &d)) &&
	    CHECK(!app_record_prepare(r, &d)) && CHECK(!app_record_go(r, &d)))
		return r;
	printf("# %s\n", d.text);
	(void)app_record_end(r, &d);
	return NULL;
}

static void finish(struct app_record *r, const char *trace, uint64_t events)
{
	struct app_record_result result;
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_record_finish(r, &result, &d), 0);
	CHECK_STR(result.trace ? result.trace : "", trace);
	CHECK_EQ(result.stats.events, events);
	CHECK_EQ(result.stats.lost, 0);
}

static void end(struct app_record *r)
{
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_record_end(r, &d), 0);
	CHECK_EQ(d.err, 0);
}

/* Runs the program to its end. */
static void run_traced(const char *what)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		execl(traced, traced, what, (char *)NULL);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static void *run_in_thread(void *arg)
{
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_record_run(arg, &d), 0);
	return NULL;
}

#define CONFIG(out, ...) { .output = (out), .clock = -1, .buffer_size = 1 << 18, \
	.subbuf_size = 1 << 14, __VA_ARGS__ }

/* ---- the tests ---- */

/* One records a command, the other what any program does, until it is cancelled. */
static void test_two_at_once(void)
{
	static const char *all = "rec:*", *hits = "rec:hit";
	char hit[] = "hit 1000", other[] = "other 5";
	char *command[] = { traced, hit, other, NULL };
	const char *one = tmpdir_path("one"), *two = tmpdir_path("two");
	const struct app_record_config a = CONFIG(one, .events = &all, .nr_events = 1,
						  .command = command);
	const struct app_record_config b = CONFIG(two, .events = &hits, .nr_events = 1);
	struct watcher wa, wb;
	struct app_record *ra, *rb;
	struct tacho_diag d = { 0 };
	pthread_t thread;
	int status = -1;

	watch(&wa);
	watch(&wb);
	rb = begin(&b, &wb);
	if (!rb)
		return;
	CHECK(!pthread_create(&thread, NULL, run_in_thread, rb));
	ra = begin(&a, &wa);
	CHECK_EQ(nr_sessions(), 2);
	if (ra) {
		CHECK_EQ(app_record_run(ra, &d), 0);
		finish(ra, one, 1005);
		CHECK(app_record_command_ended(ra, &status) && !status);
		end(ra);
	}
	tacho_store_relaxed(&wb.cancel, 1);
	CHECK(!pthread_join(thread, NULL));
	finish(rb, two, 1000);
	CHECK(!app_record_command_ended(rb, &status));
	end(rb);
	CHECK_EQ(read_back(one).hits, 1000);
	CHECK_EQ(read_back(one).others, 5);
	CHECK_EQ(read_back(two).hits, 1000);
	CHECK_EQ(read_back(two).others, 0);
	CHECK_STR(wa.notes, "");
	CHECK_STR(wb.notes, "");
	CHECK(wb.progress <= 1000);
	CHECK_EQ(nr_sessions(), 0);
}

/* What no program had is said; stop, from another thread, ends it. */
static void test_stopped(void)
{
	static const char *globs[] = { "rec:hit", "rec:hut" };
	const char *out = tmpdir_path("stopped");
	const struct app_record_config c = CONFIG(out, .events = globs, .nr_events = 2,
						  .name = "stopped");
	struct app_record *r;
	struct watcher w;
	pthread_t thread;

	watch(&w);
	r = begin(&c, &w);
	if (!r)
		return;
	CHECK(!pthread_create(&thread, NULL, run_in_thread, r));
	run_traced("hit 10");
	app_record_stop(r);
	CHECK(!pthread_join(thread, NULL));
	CHECK(app_record_duration(r) > 0);
	finish(r, out, 10);
	CHECK_STR(w.notes, "no program had an event 'rec:hut'; near it are: rec:hit\n");
	/* nothing of it is left, but the result */
	CHECK_EQ(app_record_release(r, NULL), 0);
	CHECK_EQ(nr_sessions(), 0);
	end(r);
	CHECK_EQ(read_back(out).hits, 10);
}

/* The time is up; step by step. */
static void test_steps(void)
{
	static const char *glob = "rec:*";
	const struct app_record_config c = CONFIG(tmpdir_path("steps"), .events = &glob,
						  .nr_events = 1, .duration_ns = 250000000);
	struct app_record *r = begin(&c, NULL);
	struct tacho_recorder_stats s;
	struct tacho_diag d = { 0 };
	int n = 0;

	if (!r)
		return;
	while (app_record_step(r, &d) == 1)
		n++;
	CHECK(n > 0);
	app_record_stats(r, &s);
	CHECK_EQ(s.events, 0);
	CHECK(app_record_duration(r) >= 250000000);
	finish(r, c.output, 0);
	end(r);
}

/* Into another format: the directory is gone then; flight recorders have none. */
static void test_converted(void)
{
	static const char *glob = "rec:*";
	const char *out = tmpdir_path("x.dat");
	char hit[] = "hit 30";
	char *command[] = { traced, hit, NULL };
	struct app_record_config c = CONFIG(out, .events = &glob, .nr_events = 1,
					    .command = command, .format = &tacho_sink_dat);
	struct app_record *r = begin(&c, NULL);
	struct app_record_result result;
	struct tacho_diag d = { 0 };
	struct stat st;

	if (!r)
		return;
	CHECK_EQ(app_record_run(r, &d), 0);
	CHECK_EQ(app_record_finish(r, &result, &d), 0);
	CHECK_STR(result.trace ? result.trace : "", tmpdir_path("x.dat.tacho"));
	CHECK_EQ(app_record_release(r, &d), 0);
	CHECK_EQ(app_record_convert(r, NULL, &result, &d), 0);
	CHECK(result.trace && !strcmp(result.trace, out));
	CHECK(!stat(out, &st) && (uint64_t)st.st_size == result.stats.bytes);
	CHECK(access(tmpdir_path("x.dat.tacho"), F_OK) < 0);
	end(r);
	CHECK_EQ(read_back(out).hits, 30);
	/* not again in its place, and no snapshots */
	CHECK(!app_record_new(&r, &c, NULL, &d));
	CHECK_EQ(app_record_prepare(r, &d), -EEXIST);
	d = (struct tacho_diag){ 0 };
	end(r);
	c.flight = true;
	CHECK(!app_record_new(&r, &c, NULL, &d));
	CHECK_EQ(app_record_prepare(r, &d), -EINVAL);
	d = (struct tacho_diag){ 0 };
	end(r);
}

/* What is wrong is said with its place, and the command never runs. */
static void test_malformed(void)
{
	static const char *glob = "rec:*";
	const char *ran = tmpdir_path("ran");
	char *command[] = { (char[]){ "touch" }, strdup(ran), NULL };
	struct app_record_config c = CONFIG(tmpdir_path("malformed"), .events = &glob,
					    .nr_events = 1, .command = command);
	struct app_record *r;
	struct tacho_diag d = { 0 };

	c.filter[0] = (struct app_record_control){ "rec:hit", "n > 5 &&& slot" };
	c.nr_filters = 1;
	CHECK(!app_record_new(&r, &c, NULL, &d));
	CHECK_EQ(app_record_prepare(r, &d), -EINVAL);
	CHECK(d.text[0] && d.offset > 5 && d.offset < strlen(c.filter[0].text));
	CHECK(app_record_malformed(r) == c.filter[0].text);
	d = (struct tacho_diag){ 0 };
	end(r);
	CHECK(access(ran, F_OK) < 0);
	CHECK_EQ(nr_sessions(), 0);
	free(command[1]);
}

static void test_no_such_command(void)
{
	static const char *glob = "rec:*";
	char *command[] = { (char[]){ "/nonexistent/x" }, NULL };
	const struct app_record_config c = CONFIG(tmpdir_path("none"), .events = &glob,
						  .nr_events = 1, .command = command);
	struct app_record *r;
	struct tacho_diag d = { 0 };
	int status;

	CHECK(!app_record_new(&r, &c, NULL, &d));
	CHECK_EQ(app_record_prepare(r, &d), 0);
	CHECK_EQ(app_record_go(r, &d), -ENOENT);
	CHECK_STR(d.text, "cannot run '/nonexistent/x': No such file or directory");
	CHECK_EQ(app_record_step(r, &d), 0);
	finish(r, c.output, 0);
	CHECK(!app_record_command_ended(r, &status));
	end(r);
	CHECK(wait(NULL) < 0 && errno == ECHILD);
}

/* What is prepared and never goes, or goes and is not finished, leaves nothing. */
static void test_given_up(void)
{
	static const char *glob = "rec:*";
	const char *ran = tmpdir_path("ran");
	char *command[] = { (char[]){ "touch" }, strdup(ran), NULL };
	struct app_record_config c = CONFIG(tmpdir_path("given up"), .events = &glob,
					    .nr_events = 1, .command = command);
	struct app_record *r;
	struct tacho_diag d = { 0 };

	CHECK(!app_record_new(&r, &c, NULL, &d));
	end(r);
	CHECK(!app_record_new(&r, &c, NULL, &d));
	CHECK_EQ(app_record_prepare(r, &d), 0);
	CHECK_EQ(nr_sessions(), 1);
	end(r);
	CHECK(access(ran, F_OK) < 0);
	c.command = NULL;
	r = begin(&c, NULL);
	if (r)
		end(r);
	c.output = tmpdir_path("flight given up");
	c.flight = true;
	r = begin(&c, NULL);
	if (r)
		end(r);
	CHECK_EQ(nr_sessions(), 0);
	free(command[1]);
}

struct snapshots {
	uint32_t nr;
	char last[400];
	uint64_t events;
};

static void keep_snapshot(void *arg, const char *trace, const struct tacho_recorder_stats *s)
{
	struct snapshots *all = arg;

	(void)snprintf(all->last, sizeof(all->last), "%s", trace);
	all->events += s->events;
	tacho_store_release(&all->nr, all->nr + 1);
}

/* Waits for the n-th, a minute at most. */
static void wait_for(const struct snapshots *all, uint32_t n)
{
	for (int i = 0; i < 6000 && tacho_load_acquire(&all->nr) < n; i++)
		usleep(10000);
	CHECK_EQ(tacho_load_acquire(&all->nr), n);
}

static void test_flight(void)
{
	static const char *glob = "rec:hit";
	const char *out = tmpdir_path("flight"), *first = tmpdir_path("flight/0001");
	struct snapshots all = { 0 };
	const struct app_record_config c = CONFIG(out, .events = &glob, .nr_events = 1,
		.flight = true, .snapshot_done = keep_snapshot, .arg = &all);
	struct app_record *r = begin(&c, NULL);
	struct app_record_result result;
	struct tacho_diag d = { 0 };
	pthread_t thread;

	if (!r)
		return;
	CHECK(!pthread_create(&thread, NULL, run_in_thread, r));
	run_traced("hit 20");
	app_record_snapshot(r);
	wait_for(&all, 1);
	CHECK_STR(all.last, first);
	CHECK_EQ(all.events, 20);
	run_traced("hit 7");
	app_record_stop(r);
	CHECK(!pthread_join(thread, NULL));
	CHECK_EQ(app_record_finish(r, &result, &d), 0);
	CHECK(!result.trace);
	end(r);
	CHECK_EQ(all.nr, 2);
	CHECK_EQ(read_back(first).hits, 20);
	CHECK_EQ(read_back(tmpdir_path("flight/0002")).hits, 7);
	CHECK_EQ(nr_sessions(), 0);
}

/* A signal handler asks, and ends it. */
static struct app_record *handled;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		app_record_snapshot(tacho_load_relaxed(&handled));
	else
		app_record_stop(tacho_load_relaxed(&handled));
}

static void test_signals(void)
{
	static const char *glob = "rec:hit";
	struct snapshots all = { 0 };
	const struct app_record_config c = CONFIG(tmpdir_path("signals"), .events = &glob,
		.nr_events = 1, .flight = true, .snapshot_done = keep_snapshot, .arg = &all);
	struct sigaction sa = { .sa_handler = on_signal };
	struct app_record *r = begin(&c, NULL);
	struct app_record_result result;
	struct tacho_diag d = { 0 };

	if (!r)
		return;
	tacho_store_relaxed(&handled, r);
	(void)sigaction(SIGUSR1, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)raise(SIGUSR1);
	(void)raise(SIGUSR1);
	CHECK_EQ(app_record_step(r, &d), 1);
	CHECK_EQ(all.nr, 1);
	CHECK_EQ(app_record_step(r, &d), 1);
	CHECK_EQ(all.nr, 1);
	(void)raise(SIGTERM);
	CHECK_EQ(app_record_run(r, &d), 0);
	CHECK_EQ(app_record_finish(r, &result, &d), 0);
	end(r);
}

/* Sessions without a recorder: a snapshot, and what remains. */
static void test_session(void)
{
	const struct tacho_session_config cfg = { .name = "held", .clock = -1,
		.lane_size = 1 << 18, .sub_size = 1 << 14 };
	const char *snap = tmpdir_path("snap"), *rest = tmpdir_path("rest");
	const struct app_recover_config c = { .what = "held", .output = rest };
	struct app_recover_result recovered;
	struct app_snapshot done;
	struct tacho_diag d = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;

	if (!CHECK(!tacho_dir_open(&dir, true, &d)) ||
	    !CHECK(!tacho_session_create(&s, &dir, &cfg, &d)))
		return;
	CHECK_EQ(tacho_session_rule(&s, true, "rec:*", NULL, &d), 0);
	run_traced("hit 3");
	CHECK_EQ(app_snapshot(&s, snap, true, NULL, &done, &d), 0);
	CHECK(!done.by_recorder && done.events == 3);
	CHECK_EQ(app_snapshot(&s, snap, true, NULL, &done, &d), -EEXIST);
	d = (struct tacho_diag){ 0 };
	run_traced("hit 4");
	app_session_close(&dir, &s);
	CHECK_EQ(app_recover(&c, NULL, &recovered, &d), 0);
	CHECK_EQ(recovered.events, 7);
	CHECK_EQ(recovered.lost, 0);
	CHECK_EQ(read_back(snap).hits, 3);
	CHECK_EQ(read_back(rest).hits, 7);
	CHECK_EQ(app_recover(&c, NULL, &recovered, &d), -ENOENT);
	CHECK_STR(d.text, "'held' is neither a directory nor a session");
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	traced = getenv("TRACED");
	tmpdir_make();
	(void)setenv("TACHO_DIR", tmpdir_path("run"), 1);
	TEST(test_two_at_once());
	TEST(test_stopped());
	TEST(test_steps());
	TEST(test_converted());
	TEST(test_malformed());
	TEST(test_no_such_command());
	TEST(test_given_up());
	TEST(test_flight());
	TEST(test_signals());
	TEST(test_session());
	return test_done();
}
