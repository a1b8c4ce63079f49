// SPDX-License-Identifier: MIT
/*
 * The flight recorder: writers go round in memory; what is there is written at
 * the end, when another process asks (SIGUSR1), when a snapshot trigger of a traced
 * program does (a count in the session's control block), or around an event (--on).
 *
 * The event that is waited for is recorded a second time, alone, in a small
 * session (or kernel instance) of its own: watching that costs nothing while
 * it does not happen.  Its copy there wakes the recorder and says no more: it has
 * another time than the one in the trace.  What a dump has follows from the records:
 *
 *	F1  the watching session's bit is above the session's (and its instance is
 *	    younger), so a copy there is written after the record here
 *	F2  the copy is seen: the history collects (record/history.h), so that
 *	    what was before the event is safe, however long --keep-after is
 *	F3  the event is found in the history, which says its time; one that is
 *	    not there is not recorded (the session is stopped, say): no dump
 *	F4  when --keep-after has passed, the history collects again
 *	F5  the window is written: from --keep-before before the event to
 *	    --keep-after behind it, or to that behind the last event whose window
 *	    overlaps and is over by then
 *	F6  the next event is the first one behind the window
 *
 * So the number of dumps is bounded by the time that one takes, and events that come
 * faster than that share one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "cli/cli.h"
#include "cli/record.h"
#include "kernel/pump.h"
#include "record/history.h"
#include "ring/read.h"
#include "sys/clock.h"
#include "sys/futex.h"

#define IDLE_MS		50
#define LOOK_MS		5
#define COMMIT_TRIES	10	/* for the kernel, a millisecond each */
#define WATCH_SIZE	(UINT64_C(64) << 10)
#define TIMES_MAX	((size_t)1 << 30)

struct watch {
	struct tacho_session session;
	bool has_session;
	struct tacho_ring_reader rd[TACHO_LANES_MAX];
	bool open[TACHO_LANES_MAX];
	struct tacho_kernel *kernel;
	struct tacho_ktypes types;
	struct tacho_kernel_pump *pump;
	uint64_t looked;		/* records up to here were looked for */
	bool hit;			/* there is one after it */
	bool ever;
	uint64_t done;			/* events up to here are in a dump */
};

struct flight {
	struct job *job;
	struct watch *watch;		/* NULL: nothing is waited for */
	struct tacho_history *history;
	uint32_t dumps;			/* written so far */
	uint32_t asked;			/* snapshots that triggers asked for, and got */
	bool over;			/* nothing is recorded any more */
};

/* ---- dumps ---- */

static void dump_path(const struct flight *f, char *path, size_t size)
{
	const char *dir = f->job->opt->output;

	/* the only one, at the end, is the trace itself; several lie below it */
	if (f->over && !f->watch && !f->dumps)
		(void)snprintf(path, size, "%s", dir);
	else
		(void)snprintf(path, size, "%s/%04u", dir, f->dumps + 1);
}

/* Writes a window of the history; NULL: what is in memory. */
static int dump(struct flight *f, const struct tacho_history_window *window)
{
	struct job *job = f->job;
	struct tacho_recorder_config cfg;
	struct tacho_recorder_stats s;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };
	char path[4096];
	int err;

	dump_path(f, path, sizeof(path));
	if (strcmp(path, job->opt->output) && mkdir(job->opt->output, 0777) < 0 &&
	    errno != EEXIST)
		return cli_fail("cannot make '%s': %s", job->opt->output,
				strerror(errno));
	job_recorder_config(job, path, &cfg);
	cfg.flight = true;
	if (window) {
		cfg.history = f->history;
		cfg.window = *window;
	}
	job->unread = job->has_session;
	if (tacho_recorder_new(&rec, &cfg, &d))
		return cli_fail_diag(&d);
	err = tacho_recorder_finish(rec, &s, &d);
	if (err)
		return cli_fail_diag(&d);
	job->unread = false;
	record_summary(job, path, &s);
	f->dumps++;
	if (job->has_session)
		tacho_store_seq_cst(&job->session.view.ctl->dumps, f->dumps);
	return CLI_OK;
}

/* Takes what memory holds to the history. */
static int collect(struct flight *f)
{
	struct tacho_diag d = { 0 };

	f->job->unread = f->job->has_session;
	if (tacho_history_collect(f->history, &d))
		return cli_fail_diag(&d);
	f->job->unread = false;
	return CLI_OK;
}

/* What no later window reaches goes. */
static void trim(struct flight *f)
{
	uint64_t done = f->watch ? f->watch->done : 0;
	uint64_t before = job_ticks(f->job, f->job->opt->before);

	tacho_history_trim(f->history, done > before ? done - before : 0);
}

/* All that no dump has yet. */
static int dump_rest(struct flight *f)
{
	const struct tacho_history_window all = { .to = UINT64_MAX, .fresh = true };
	int ret = collect(f);

	if (!ret)
		ret = dump(f, &all);
	trim(f);
	return ret;
}

/* ---- the event that is waited for ---- */

/* Whether any record was not looked for yet. */
static void watch_records(struct watch *w, const unsigned char *p, uint32_t len,
			  uint64_t time)
{
	const unsigned char *end = p + len;

	w->ever = true;
	while (p < end && !w->hit) {
		uint64_t word = tacho_load_u64(p);

		time = tacho_record_time(word, time);
		w->hit = time > w->looked;
		p += tacho_record_size(word);
	}
}

static int watch_sink(void *arg, const struct tacho_kernel_batch *b)
{
	watch_records(arg, b->records, b->len, b->time_begin);
	return 0;
}

static int watch_kernel(struct watch *w, const struct job *job)
{
	struct tacho_kernel_pump_config c = { .sink = watch_sink, .arg = w };
	char name[TACHO_NAME_MAX + 8];
	struct tacho_kernel_config cfg = { .name = name, .buffer_size = WATCH_SIZE };
	struct tacho_diag d = { 0 };
	int err;

	(void)snprintf(name, sizeof(name), "%.50s.watch", job->name);
	err = tacho_kernel_create(&w->kernel, &cfg, &d);
	if (!err)
		err = tacho_kernel_enable(w->kernel, &job->opt->on_kernel, 1, &d);
	tacho_ktypes_init(&w->types);
	if (!err)
		err = tacho_kernel_load_types(w->kernel, &w->types, &d);
	if (!err)
		err = tacho_kernel_pump_new(&w->pump, w->kernel, &w->types, &c, &d);
	if (err)
		return cli_fail_diag(&d);
	err = job_restrict(job, NULL, w->kernel);
	if (err)
		return err;
	return tacho_kernel_start(w->kernel, &d) ? cli_fail_diag(&d) : CLI_OK;
}

static int watch_programs(struct watch *w, struct job *job)
{
	char name[TACHO_NAME_MAX];
	struct tacho_session_config cfg = {
		.name = name, .clock = (int)job->clock, .lane_size = WATCH_SIZE,
		.sub_size = WATCH_SIZE / 4, .owner = getpid(),
		.min_bit = job->session.bit + 1,		/* F1 */
		.uuid = job->watch_uuid,
	};
	struct tacho_diag d = { 0 };
	int ret;

	(void)snprintf(name, sizeof(name), "%.50s.watch", job->name);
	if (tacho_session_create(&w->session, &job->dir, &cfg, &d))
		return cli_fail_diag(&d);
	w->has_session = true;
	ret = job_restrict(job, &w->session, NULL);
	if (ret)
		return ret;
	if (tacho_session_rule(&w->session, true, job->opt->on, NULL, &d))
		return cli_fail_diag(&d);
	return CLI_OK;
}

static void watch_end(struct watch *w)
{
	tacho_kernel_pump_free(w->pump);
	if (w->kernel)
		tacho_ktypes_release(&w->types);
	(void)tacho_kernel_destroy(w->kernel);
	for (uint32_t i = 0; w->has_session && i < TACHO_LANES_MAX; i++)
		if (w->open[i])
			tacho_ring_reader_release(&w->rd[i]);
	if (w->has_session)
		(void)tacho_session_destroy(&w->session, NULL);
}

/* Takes what the watched event left in one lane. */
static void watch_lane(struct watch *w, uint32_t nr)
{
	struct tacho_chunk chunk;

	if (!w->open[nr])
		w->open[nr] = !tacho_ring_reader_init(&w->rd[nr],
						      &w->session.view.ring, nr,
						      0, true, 0);
	while (w->open[nr] && tacho_ring_read(&w->rd[nr], &chunk) == 1)
		watch_records(w, chunk.data, chunk.len, chunk.head.timestamp_begin);
}

/* Whether the event happened; waits a little. */
static bool watch_look(struct watch *w)
{
	if (w->pump)
		(void)tacho_kernel_pump_step(w->pump, LOOK_MS);
	else
		usleep(LOOK_MS * 1000);
	for (uint32_t nr = 0; w->has_session &&
	     nr < tacho_ring_nr_lanes(&w->session.view.ring); nr++)
		watch_lane(w, nr);
	return w->hit;
}

/* F3: when events happened, behind the last window; in order. */
static int find(const struct flight *f, struct tacho_buf *times)
{
	const struct job_options *o = f->job->opt;

	tacho_buf_reset(times);
	if (tacho_history_find(f->history, o->on ? TACHO_STREAM_PROGRAM :
			       TACHO_STREAM_KERNEL, o->on ? o->on : o->on_kernel,
			       f->watch->done, times))
		return cli_fail("no memory for the times of the event");
	return CLI_OK;
}

/*
 * An event of the kernel that interrupted the writing of another can be read when
 * that one is whole.
 */
static int find_late(struct flight *f, struct tacho_buf *times)
{
	struct tacho_diag d = { 0 };
	int ret = find(f, times);

	for (int i = 0; !ret && !times->len && f->watch->pump &&
	     i < COMMIT_TRIES; i++) {
		usleep(1000);
		if (tacho_history_collect_kernel(f->history, &d))
			return cli_fail_diag(&d);
		ret = find(f, times);
	}
	return ret;
}

/* F5: where the window ends that begins with the first of these. */
static uint64_t window_end(const struct flight *f, const struct tacho_buf *times,
			   uint64_t before, uint64_t after, uint64_t now)
{
	uint64_t time, to = 0;

	for (size_t at = 0; at < times->len; at += sizeof(time)) {
		memcpy(&time, times->data + at, sizeof(time));
		if (at && time > to && ((before && time - to > before) ||
					(!f->over && time + after > now)))
			break;
		if (!at || time > to)
			to = time + after;
	}
	return to;
}

/* F4: until `to`, or the end. */
static int collect_after(struct flight *f, uint64_t to, struct tacho_buf *times)
{
	int ret;

	while (!f->over && tacho_clock_read(f->job->clock) < to && job_runs(f->job))
		usleep(LOOK_MS * 1000);
	f->watch->looked = tacho_clock_read(f->job->clock);
	ret = collect(f);
	return ret ? ret : find(f, times);
}

/* The event happened: F2 to F6. */
static int around_with(struct flight *f, struct tacho_buf *times)
{
	const struct job_options *o = f->job->opt;
	uint64_t before = job_ticks(f->job, o->before);
	uint64_t after = job_ticks(f->job, o->after);
	struct watch *w = f->watch;
	struct tacho_history_window window = { .fresh = !before };
	uint64_t first;
	int ret;

	w->hit = false;
	w->looked = tacho_clock_read(f->job->clock);
	ret = collect(f);
	if (!ret)
		ret = find_late(f, times);
	if (ret || !times->len)
		return ret;
	memcpy(&first, times->data, sizeof(first));
	if (after)
		ret = collect_after(f, first + after, times);
	if (ret)
		return ret;
	window.from = before && first > before ? first - before : 0;
	window.to = window_end(f, times, before, after, w->looked);
	ret = dump(f, &window);
	w->done = window.to;
	memcpy(&first, times->data + times->len - sizeof(first), sizeof(first));
	w->hit = first > w->done;
	return ret;
}

static int around(struct flight *f)
{
	struct tacho_buf times;
	int ret;

	tacho_buf_init(&times, TIMES_MAX);
	ret = around_with(f, &times);
	trim(f);
	tacho_buf_release(&times);
	return ret;
}

/* ---- the wait ---- */

/* How many snapshots triggers have asked for; those that come at once are one. */
static uint32_t *asked_word(const struct flight *f)
{
	return f->job->has_session ? &f->job->session.view.ctl->asked : NULL;
}

static bool wants_snapshot(struct flight *f)
{
	uint32_t *word = asked_word(f);
	uint32_t now = word ? tacho_load_seq_cst(word) : f->asked;
	bool asked = now != f->asked;

	f->asked = now;
	return job_wants_snapshot() || asked;
}

/* Until a trigger asks, a signal comes, or some time has gone. */
static void idle(const struct flight *f)
{
	if (asked_word(f))
		(void)tacho_futex_wait(asked_word(f), f->asked,
				       IDLE_MS * UINT64_C(1000000));
	else
		usleep(IDLE_MS * 1000);
}

static bool had_enough(const struct flight *f)
{
	const struct job_options *o = f->job->opt;

	return o->dumps && f->dumps >= o->dumps;
}

static int wait_and_dump(struct flight *f)
{
	int ret = CLI_OK;

	while (!ret && !had_enough(f) && job_runs(f->job)) {
		if (wants_snapshot(f))
			ret = dump_rest(f);
		else if (!f->watch)
			idle(f);
		else if (f->watch->hit || watch_look(f->watch))
			ret = around(f);
	}
	return ret;
}

/* Nothing more is recorded, so the events that are waited for have an end, too. */
static int end_recording(struct flight *f)
{
	struct watch *w = f->watch;
	struct tacho_diag d = { 0 };

	f->over = true;
	if (f->job->has_session)
		(void)tacho_session_end(&f->job->session);
	if (w && w->has_session)
		(void)tacho_session_end(&w->session);
	if ((f->job->kernel && tacho_kernel_stop(f->job->kernel, &d)) ||
	    (w && w->kernel && tacho_kernel_stop(w->kernel, &d)))
		return cli_fail_diag(&d);
	return CLI_OK;
}

/* The last: what is there, or what the event that ended the command left. */
static int last_dumps(struct flight *f)
{
	int ret = CLI_OK;

	/* the first dump needs no second buffers, for which there may be no room */
	if (!f->watch)
		return f->dumps ? dump_rest(f) : dump(f, NULL);
	while (!ret && !had_enough(f) && (f->watch->hit || watch_look(f->watch)))
		ret = around(f);
	if (!ret && !f->dumps)
		cli_note(f->watch->ever ? "the event happened, but was not recorded; "
			 "nothing was written" :
			 "the event never happened; nothing was written");
	return ret;
}

static int begin_flight(struct flight *f, struct watch *watch)
{
	struct job *job = f->job;
	struct tacho_diag d = { 0 };
	int ret = CLI_OK;

	if (tacho_history_new(&f->history, job->has_session ? &job->session : NULL,
			      job->kernel, job->opt->before != 0, &d))
		return cli_fail_diag(&d);
	if (job->opt->on || job->opt->on_kernel) {
		f->watch = watch;
		ret = job->opt->on ? watch_programs(watch, job)
				   : watch_kernel(watch, job);
	}
	if (!ret && job->kernel && tacho_kernel_start(job->kernel, &d))
		ret = cli_fail_diag(&d);
	return ret ? ret : job_go(job);
}

int flight_run(struct job *job)
{
	static struct watch watch;
	struct flight f = { .job = job };
	int ret = begin_flight(&f, &watch);

	if (!ret)
		ret = wait_and_dump(&f);
	if (!ret && !(f.watch && had_enough(&f)))
		ret = end_recording(&f);
	if (!ret && !(f.watch && had_enough(&f)))
		ret = last_dumps(&f);
	if (!ret) {
		job_say_unfit(job);
		record_remarks(job);
	}
	if (f.watch)
		watch_end(&watch);
	tacho_history_free(f.history);
	record_child_note(job);
	return ret;
}
