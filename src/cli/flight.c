// SPDX-License-Identifier: MIT
/*
 * The flight recorder: writers go round in memory; what is there is written at
 * the end, when another process asks (SIGUSR1), when a snapshot trigger of a traced
 * program does (a count in the session's control block), or around an event (--on).
 *
 * The event that is waited for is recorded a second time, alone, in a small
 * session (or kernel instance) of its own: watching that costs nothing while
 * it does not happen, and its record's time says what to keep.
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
#include "ring/read.h"
#include "sys/clock.h"
#include "sys/futex.h"

#define IDLE_MS		50
#define LOOK_MS		5
#define WATCH_SIZE	(UINT64_C(64) << 10)

struct watch {
	struct tacho_session session;
	bool has_session;
	struct tacho_ring_reader rd[TACHO_LANES_MAX];
	bool open[TACHO_LANES_MAX];
	struct tacho_kernel *kernel;
	struct tacho_ktypes types;
	struct tacho_kernel_pump *pump;
	uint64_t done;			/* hits up to here are in a dump */
	uint64_t hit;			/* ticks of the first hit after it; 0: none */
};

struct flight {
	struct job *job;
	struct watch *watch;		/* NULL: nothing is waited for */
	uint32_t dumps;			/* written so far */
	uint32_t asked;			/* snapshots that triggers asked for, and got */
};

/* ---- dumps ---- */

static void dump_path(const struct flight *f, bool last, char *path, size_t size)
{
	const char *dir = f->job->opt->output;

	/* one dump at the end is the trace itself; several lie below it */
	if (last && !f->dumps)
		(void)snprintf(path, size, "%s", dir);
	else
		(void)snprintf(path, size, "%s/%04u", dir, f->dumps + 1);
}

/* Writes what is there, between from and to (ticks; 0: all). */
static int dump(struct flight *f, bool last, uint64_t from, uint64_t to)
{
	struct job *job = f->job;
	struct tacho_recorder_config cfg;
	struct tacho_recorder_stats s;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };
	char path[4096];
	int err;

	dump_path(f, last, path, sizeof(path));
	if ((!last || f->dumps) && mkdir(job->opt->output, 0777) < 0 &&
	    errno != EEXIST)
		return cli_fail("cannot make '%s': %s", job->opt->output,
				strerror(errno));
	job_recorder_config(job, path, &cfg);
	cfg.flight = true;
	cfg.snapshot = !last;
	cfg.from = from;
	cfg.to = to;
	job->unread = job->has_session;
	if (!last && job->has_session &&
	    tacho_session_snapshot(&job->session, &d) < 0)
		return cli_fail_diag(&d);
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
	if (!last && job->kernel && tacho_kernel_start(job->kernel, &d))
		return cli_fail_diag(&d);
	return CLI_OK;
}

/* ---- the event that is waited for ---- */

/* Looks through records for the first one that no dump has yet. */
static void watch_records(struct watch *w, const unsigned char *p, uint32_t len,
			  uint64_t time)
{
	const unsigned char *end = p + len;

	while (p < end) {
		uint64_t word = tacho_load_u64(p);

		time = tacho_record_time(word, time);
		if (time > w->done && (!w->hit || time < w->hit))
			w->hit = time;
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
		err = tacho_ktypes_load(&w->types, w->kernel, &d);
	if (!err)
		err = tacho_kernel_pump_new(&w->pump, w->kernel, &w->types, &c, &d);
	if (!err)
		err = tacho_kernel_start(w->kernel, &d);
	return err ? cli_fail_diag(&d) : CLI_OK;
}

static int watch_programs(struct watch *w, struct job *job)
{
	char name[TACHO_NAME_MAX];
	struct tacho_session_config cfg = {
		.name = name, .clock = (int)job->clock, .lane_size = WATCH_SIZE,
		.sub_size = WATCH_SIZE / 4, .owner = getpid(),
	};
	struct tacho_diag d = { 0 };

	(void)snprintf(name, sizeof(name), "%.50s.watch", job->name);
	if (!job->dir.reg && tacho_dir_open(&job->dir, true, &d))
		return cli_fail_diag(&d);
	if (tacho_session_create(&w->session, &job->dir, &cfg, &d))
		return cli_fail_diag(&d);
	w->has_session = true;
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

/* The event happened: waits for what comes after it, and dumps. */
static int around(struct flight *f)
{
	const struct job_options *o = f->job->opt;
	double tick = (double)f->job->clock_freq / 1e9;
	uint64_t from = 0, to, hit = f->watch->hit;
	int ret;

	to = hit + (uint64_t)((double)o->after * tick);
	if (o->before)
		from = hit - (uint64_t)((double)o->before * tick);
	while (tacho_clock_read(f->job->clock) < to && job_runs(f->job))
		usleep(LOOK_MS * 1000);
	ret = dump(f, false, from, to);
	/* hits up to `to` are in this dump; a later one makes the next */
	f->watch->done = to;
	f->watch->hit = 0;
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

static int wait_and_dump(struct flight *f)
{
	const struct job_options *o = f->job->opt;
	int ret = CLI_OK;

	while (!ret && job_runs(f->job)) {
		if (wants_snapshot(f))
			ret = dump(f, false, 0, 0);
		else if (!f->watch)
			idle(f);
		else if (watch_look(f->watch))
			ret = around(f);
		if (o->dumps && f->dumps >= o->dumps)
			return ret;
	}
	/* the last look: it may be the event that ended the command */
	if (!ret && f->watch && watch_look(f->watch))
		ret = around(f);
	return ret;
}

int flight_run(struct job *job)
{
	static struct watch watch;
	struct flight f = { .job = job };
	struct tacho_diag d = { 0 };
	int ret = CLI_OK;

	if (job->opt->on || job->opt->on_kernel) {
		f.watch = &watch;
		ret = job->opt->on ? watch_programs(&watch, job)
				   : watch_kernel(&watch, job);
	}
	if (!ret && job->kernel && tacho_kernel_start(job->kernel, &d))
		ret = cli_fail_diag(&d);
	if (!ret)
		ret = job_go(job);
	if (!ret)
		ret = wait_and_dump(&f);
	if (!ret && !f.watch) {
		if (job->has_session)
			(void)tacho_session_end(&job->session);
		ret = dump(&f, true, 0, 0);
	} else if (!ret && !f.dumps) {
		cli_note("the event never happened; nothing was written");
	}
	if (f.watch)
		watch_end(&watch);
	record_child_note(job);
	return ret;
}
