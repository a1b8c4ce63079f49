// SPDX-License-Identifier: MIT
#include "app/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/record_priv.h"
#include "base/atomic.h"
#include "base/bytes.h"
#include "tracefs/pump.h"
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
	struct tacho_ring_reader reader[TACHO_LANES_MAX];
	bool open[TACHO_LANES_MAX];
	struct tacho_kernel *kernel;
	struct tacho_ktypes types;
	struct tacho_kernel_pump *pump;
	uint64_t looked;		/* records up to here were looked for */
	bool hit;			/* there is one after it */
	bool ever;
	uint64_t written;		/* events up to here are in a snapshot */
};

struct app_flight {
	struct app_record *r;
	struct watch *watch;		/* NULL: no event is waited for */
	struct tacho_history *history;
	uint32_t nr_written;		/* snapshots, so far */
	uint32_t by_triggers;		/* that triggers requested, and got */
	uint32_t by_callers;		/* that app_record_snapshot() requested, and got */
	bool over;			/* nothing is recorded any more */
};

/* ---- snapshots ------------------------------------------------------------- */

static void snapshot_path(const struct app_flight *f, char *path, size_t size)
{
	const char *dir = f->r->trace;

	/* the only one, at the end, is the trace itself; several lie below it */
	if (f->over && !f->watch && !f->nr_written)
		(void)snprintf(path, size, "%s", dir);
	else
		(void)snprintf(path, size, "%s/%04u", dir, f->nr_written + 1);
}

static int make_parent(const char *dir, const char *path, struct tacho_diag *d)
{
	if (!strcmp(path, dir) || !mkdir(dir, 0777) || errno == EEXIST)
		return 0;
	return tacho_diag(d, -errno, 0, "cannot make '%s': %s", dir, strerror(errno));
}

static void announce(struct app_flight *f, const char *path, const struct tacho_recorder_stats *s)
{
	struct app_record *r = f->r;

	if (r->config.snapshot_done)
		r->config.snapshot_done(r->config.arg, path, s);
	f->nr_written++;
	if (r->has_session)
		tacho_store_seq_cst(&r->session.view.ctl->dumps, f->nr_written);
}

/* Writes a window of the history; NULL: what is in memory. */
static int write_window(struct app_flight *f, const struct tacho_history_window *window,
			struct tacho_diag *d)
{
	struct app_record *r = f->r;
	struct tacho_recorder_config cfg;
	struct tacho_recorder_stats s;
	struct tacho_recorder *rec;
	char path[sizeof(r->trace) + 16];
	int err;

	snapshot_path(f, path, sizeof(path));
	err = make_parent(r->trace, path, d);
	if (err)
		return err;
	record_recorder_config(r, path, &cfg);
	cfg.flight = true;
	if (window) {
		cfg.history = f->history;
		cfg.window = *window;
	}
	r->unread = r->has_session;
	err = tacho_recorder_new(&rec, &cfg, d);
	if (!err)
		err = tacho_recorder_finish(rec, &s, d);
	if (err)
		return err;
	r->unread = false;
	announce(f, path, &s);
	return 0;
}

/* Takes what memory holds to the history. */
static int collect(struct app_flight *f, struct tacho_diag *d)
{
	int err;

	f->r->unread = f->r->has_session;
	err = tacho_history_collect(f->history, d);
	if (!err)
		f->r->unread = false;
	return err;
}

/* What no later window reaches goes. */
static void trim(struct app_flight *f)
{
	uint64_t written = f->watch ? f->watch->written : 0;
	uint64_t before = record_ticks(f->r, f->r->config.before_ns);

	tacho_history_trim(f->history, written > before ? written - before : 0);
}

/* All that no snapshot has yet. */
static int write_rest(struct app_flight *f, struct tacho_diag *d)
{
	const struct tacho_history_window all = { .to = UINT64_MAX, .fresh = true };
	int err = collect(f, d);

	if (!err)
		err = write_window(f, &all, d);
	trim(f);
	return err;
}

/* ---- the event that is waited for ------------------------------------------ */

/* Whether any record was not looked for yet. */
static void watch_records(struct watch *w, const unsigned char *p, uint32_t len, uint64_t time)
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

static int watch_kernel(struct watch *w, const struct app_record *r, struct tacho_diag *d)
{
	struct tacho_kernel_pump_config c = { .sink = watch_sink, .arg = w };
	char name[TACHO_NAME_MAX + 8];
	struct tacho_kernel_config cfg = { .name = name, .buffer_size = WATCH_SIZE };
	int err;

	(void)snprintf(name, sizeof(name), "%.50s.watch", r->name);
	tacho_ktypes_init(&w->types);
	err = tacho_kernel_create(&w->kernel, &cfg, d);
	if (err) {
		w->kernel = NULL;
		return err;
	}
	err = tacho_kernel_enable(w->kernel, &r->config.snapshot_kernel_event, 1, d);
	if (!err)
		err = tacho_kernel_load_types(w->kernel, &w->types, d);
	if (!err)
		err = tacho_kernel_pump_new(&w->pump, w->kernel, &w->types, &c, d);
	if (!err)
		err = record_restrict(r, NULL, w->kernel, d);
	return err ? err : tacho_kernel_start(w->kernel, d);
}

static int watch_programs(struct watch *w, struct app_record *r, struct tacho_diag *d)
{
	char name[TACHO_NAME_MAX];
	struct tacho_session_config cfg = {
		.name = name, .clock = (int)r->clock, .lane_size = WATCH_SIZE,
		.sub_size = WATCH_SIZE / 4, .owner = getpid(),
		.min_bit = r->session.bit + 1,		/* F1 */
		.uuid = r->watch_uuid,
	};
	int err;

	(void)snprintf(name, sizeof(name), "%.50s.watch", r->name);
	err = tacho_session_create(&w->session, &r->dir, &cfg, d);
	if (err)
		return err;
	w->has_session = true;
	err = record_restrict(r, &w->session, NULL, d);
	return err ? err : tacho_session_rule(&w->session, true, r->config.snapshot_event,
					      NULL, d);
}

static void watch_free(struct watch *w)
{
	if (!w)
		return;
	tacho_kernel_pump_free(w->pump);
	if (w->kernel)
		tacho_ktypes_release(&w->types);
	(void)tacho_kernel_destroy(w->kernel);
	for (uint32_t i = 0; w->has_session && i < TACHO_LANES_MAX; i++)
		if (w->open[i])
			tacho_ring_reader_release(&w->reader[i]);
	if (w->has_session)
		(void)tacho_session_destroy(&w->session, NULL);
	free(w);
}

/* Takes what the watched event left in one lane. */
static void watch_lane(struct watch *w, uint32_t nr)
{
	struct tacho_chunk chunk;

	if (!w->open[nr])
		w->open[nr] = !tacho_ring_reader_init(&w->reader[nr], &w->session.view.ring, nr,
						      0, true, 0);
	while (w->open[nr] && tacho_ring_read(&w->reader[nr], &chunk) == 1)
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
static int find(const struct app_flight *f, struct tacho_buf *times, struct tacho_diag *d)
{
	const struct app_record_config *c = &f->r->config;
	const char *event = c->snapshot_event;

	tacho_buf_reset(times);
	if (tacho_history_find(f->history, event ? TACHO_STREAM_PROGRAM : TACHO_STREAM_KERNEL,
			       event ? event : c->snapshot_kernel_event, f->watch->written, times))
		return tacho_diag(d, -ENOMEM, 0, "no memory for the times of the event");
	return 0;
}

/*
 * An event of the kernel that interrupted the writing of another can be read when
 * that one is whole.
 */
static int find_late(struct app_flight *f, struct tacho_buf *times, struct tacho_diag *d)
{
	int err = find(f, times, d);

	for (int i = 0; !err && !times->len && f->watch->pump && i < COMMIT_TRIES; i++) {
		usleep(1000);
		err = tacho_history_collect_kernel(f->history, d);
		if (!err)
			err = find(f, times, d);
	}
	return err;
}

/* F5: where the window ends that begins with the first of these. */
static uint64_t window_end(const struct app_flight *f, const struct tacho_buf *times,
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
static int collect_after(struct app_flight *f, uint64_t to, struct tacho_buf *times,
			 struct tacho_diag *d)
{
	int err;

	while (!f->over && tacho_clock_read(f->r->clock) < to && record_runs(f->r))
		usleep(LOOK_MS * 1000);
	f->watch->looked = tacho_clock_read(f->r->clock);
	err = collect(f, d);
	return err ? err : find(f, times, d);
}

/* The event happened: F2 to F6. */
static int write_around_times(struct app_flight *f, struct tacho_buf *times, struct tacho_diag *d)
{
	uint64_t before = record_ticks(f->r, f->r->config.before_ns);
	uint64_t after = record_ticks(f->r, f->r->config.after_ns);
	struct tacho_history_window window = { .fresh = !before };
	struct watch *w = f->watch;
	uint64_t first, last;
	int err;

	w->hit = false;
	w->looked = tacho_clock_read(f->r->clock);
	err = collect(f, d);
	if (!err)
		err = find_late(f, times, d);
	if (err || !times->len)
		return err;
	memcpy(&first, times->data, sizeof(first));
	if (after)
		err = collect_after(f, first + after, times, d);
	if (err)
		return err;
	window.from = before && first > before ? first - before : 0;
	window.to = window_end(f, times, before, after, w->looked);
	err = write_window(f, &window, d);
	w->written = window.to;
	memcpy(&last, times->data + times->len - sizeof(last), sizeof(last));
	w->hit = last > w->written;
	return err;
}

static int write_around(struct app_flight *f, struct tacho_diag *d)
{
	struct tacho_buf times;
	int err;

	tacho_buf_init(&times, TIMES_MAX);
	err = write_around_times(f, &times, d);
	trim(f);
	tacho_buf_release(&times);
	return err;
}

/* ---- the wait -------------------------------------------------------------- */

/* How many snapshots triggers have requested; those that come at once are one. */
static uint32_t *trigger_word(const struct app_flight *f)
{
	return f->r->has_session ? &f->r->session.view.ctl->requested : NULL;
}

static bool is_requested(struct app_flight *f)
{
	uint32_t *word = trigger_word(f);
	uint32_t triggers = word ? tacho_load_seq_cst(word) : f->by_triggers;
	uint32_t callers = tacho_load_relaxed(&f->r->snapshots);
	bool yes = triggers != f->by_triggers || callers != f->by_callers;

	f->by_triggers = triggers;
	f->by_callers = callers;
	return yes;
}

/* All requests that is_requested() has seen are in a snapshot that is complete. */
static void answer(struct app_flight *f)
{
	if (f->r->has_session)
		tacho_store_seq_cst(&f->r->session.view.ctl->served, f->by_triggers);
}

/* Until a trigger requests one, a signal comes, or some time has gone. */
static void idle(const struct app_flight *f)
{
	uint32_t *word = trigger_word(f);

	if (word)
		(void)tacho_futex_wait(word, f->by_triggers, IDLE_MS * UINT64_C(1000000));
	else
		usleep(IDLE_MS * 1000);
}

static bool had_enough(const struct app_flight *f)
{
	uint64_t max = f->r->config.max_snapshots;

	return max && f->nr_written >= max;
}

int app_flight_step(struct app_flight *f, struct tacho_diag *d)
{
	int err = 0;

	if (had_enough(f) || !record_runs(f->r))
		return 0;
	if (is_requested(f)) {
		err = write_rest(f, d);
		if (!err)
			answer(f);
	} else if (!f->watch) {
		idle(f);
	} else if (f->watch->hit || watch_look(f->watch)) {
		err = write_around(f, d);
	}
	return err ? err : 1;
}

/* ---- begin, finish --------------------------------------------------------- */

/* Nothing more is recorded, so the events that are waited for have an end, too. */
static int end_recording(struct app_flight *f, struct tacho_diag *d)
{
	struct app_record *r = f->r;
	struct watch *w = f->watch;
	int err = 0;

	f->over = true;
	if (r->has_session)
		(void)tacho_session_end(&r->session);
	if (w && w->has_session)
		(void)tacho_session_end(&w->session);
	if (r->kernel)
		err = tacho_kernel_stop(r->kernel, d);
	if (!err && w && w->kernel)
		err = tacho_kernel_stop(w->kernel, d);
	return err;
}

/* The last: what is there, or what the event that ended the command left. */
static int write_last(struct app_flight *f, struct tacho_diag *d)
{
	int err = 0;

	/* the first snapshot needs no second buffers, for which there may be no room */
	if (!f->watch)
		return f->nr_written ? write_rest(f, d) : write_window(f, NULL, d);
	while (!err && !had_enough(f) && (f->watch->hit || watch_look(f->watch)))
		err = write_around(f, d);
	if (!err && !f->nr_written)
		tacho_observer_note(f->r->observer, f->watch->ever ?
				    "the event happened, but was not recorded; nothing was written" :
				    "the event never happened; nothing was written");
	return err;
}

int app_flight_finish(struct app_flight *f, struct tacho_diag *d)
{
	int err;

	/* the events that were waited for have happened: the rest is not wanted */
	if (f->watch && had_enough(f))
		return 0;
	err = end_recording(f, d);
	(void)is_requested(f);
	if (!err)
		err = write_last(f, d);
	if (!err)
		answer(f);
	return err;
}

static int begin_watch(struct app_flight *f, struct tacho_diag *d)
{
	const struct app_record_config *c = &f->r->config;

	if (!c->snapshot_event && !c->snapshot_kernel_event)
		return 0;
	f->watch = calloc(1, sizeof(*f->watch));
	if (!f->watch)
		return tacho_diag(d, -ENOMEM, 0, "out of memory");
	return c->snapshot_event ? watch_programs(f->watch, f->r, d)
				 : watch_kernel(f->watch, f->r, d);
}

int app_flight_begin(struct app_flight **to, struct app_record *r, struct tacho_diag *d)
{
	struct app_flight *f = calloc(1, sizeof(*f));
	int err;

	*to = f;
	if (!f)
		return tacho_diag(d, -ENOMEM, 0, "out of memory");
	f->r = r;
	err = tacho_history_new(&f->history, r->has_session ? &r->session : NULL, r->kernel,
				r->config.before_ns != 0, d);
	if (err) {
		f->history = NULL;
		return err;
	}
	err = begin_watch(f, d);
	if (!err && r->kernel)
		err = tacho_kernel_start(r->kernel, d);
	return err ? err : record_open(r, d);
}

void app_flight_free(struct app_flight *f)
{
	if (!f)
		return;
	watch_free(f->watch);
	tacho_history_free(f->history);
	free(f);
}
