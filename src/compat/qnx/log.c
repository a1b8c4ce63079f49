// SPDX-License-Identifier: MIT
#include "compat/qnx/log.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "fmt/kev/header.h"
#include "fmt/kev/map.h"
#include "stream/source.h"
#include "stream/stream.h"

#define HEADER_MAX	((size_t)64 << 10)
#define PAST_MAX	((size_t)1 << 30)

/* An event of the file. */
struct event {
	uint64_t ticks;
	uint64_t before;		/* bytes of the file */
};

struct past {
	struct tacho_buf events;
	uint32_t cpus;
};

struct writing {
	struct tacho_qnx_log *log;
	struct tacho_stream *stream;
	const struct tacho_source *source;
	struct tacho_kev_writer *w;
	struct tacho_kev_map *map;
	struct tacho_buf header;
	uint32_t cpus;
	uint64_t from;			/* ticks: what was earlier is left out */
	struct past *past;		/* NULL: not asked for */
	bool begun;
};

/* ---- which events ---- */

static bool is_skipped(const struct qnx_state *s, uint64_t ticks)
{
	uint32_t n = tacho_load_acquire(&s->nr_skips);	/* [skips] */

	for (uint32_t i = 0; i < n && i < QNX_SKIPS; i++)
		if (ticks >= s->skip[i].from && ticks < s->skip[i].to)
			return true;
	return false;
}

static bool fits(const struct writing *w, uint32_t nr, uint64_t max)
{
	return !max || tacho_kev_writer_size(w->w, nr ? nr : 1) <= max;
}

/* Whether the file has room.  The first event that finds none is the end. */
static bool has_room(struct writing *w, uint32_t nr)
{
	w->log->full |= !fits(w, nr, w->log->max_bytes);
	return !w->log->full;
}

static bool choose(void *arg, const struct tacho_kev_out *ev, const struct tacho_record *r,
		   int32_t pid, int32_t tid)
{
	struct writing *w = arg;
	uint32_t words[2] = { 0, 0 }, class_, event;

	memcpy(words, ev->words, ev->nr < 2 ? 4 * (size_t)ev->nr : sizeof(words));
	if (!qnx_number_of(ev->code, words, 2, &class_, &event) ||
	    (r && (r->ticks < w->from || is_skipped(w->log->state, r->ticks))))
		return false;
	/* an event of the kernel that is not one of QNX's was on for another's sake */
	if (class_ == QNX_USER && r && r->source == TACHO_STREAM_KERNEL)
		return false;
	/* these are of the thread that they are about */
	if (class_ == QNX_THREAD || class_ == QNX_VTHREAD) {
		pid = (int32_t)words[0];
		tid = (int32_t)words[1];
	}
	if (!qnx_state_wants(w->log->state, class_, event, pid, tid))
		return false;
	/* which processes there are: half of the file at most, the rest is for what they do */
	if (!r)
		return fits(w, ev->nr, w->log->max_bytes / 2);
	if (!has_room(w, ev->nr))
		return false;
	w->log->events++;
	if (w->past)
		tacho_buf_put(&w->past->events, &(struct event){ r->ticks,
			      tacho_kev_writer_size(w->w, 0) }, sizeof(struct event));
	return true;
}

static bool choose_wide(void *arg, uint32_t code)
{
	const struct writing *w = arg;
	uint32_t class_, event;

	return qnx_number_of(code, NULL, 0, &class_, &event) && event < QNX_EVENTS &&
	       qnx_bit(w->log->state->class_[class_].wide, event);
}

/* ---- the file ---- */

static int begin(struct writing *w, struct tacho_diag *d)
{
	const struct tacho_kev_about about = {
		.file_name = w->log->name, .release = TACHO_KEV_710,
		.sysname = tacho_stream_env(w->stream, "sysname"),
		.nodename = tacho_stream_env(w->stream, "hostname"),
		.version = tacho_stream_env(w->stream, "release"),
		.machine = tacho_stream_env(w->stream, "machine"),
		.freq = w->source->clock.freq, .realtime = w->source->clock.base,
		.now = (uint64_t)time(NULL), .cpus = w->cpus, .big = htobe32(1) == 1,
		.attr = w->log->attr, .nr_attrs = w->log->nr_attrs,
	};
	struct tacho_kev_config config = { .big = about.big };
	int err;

	tacho_kev_header_make(&w->header, &about);
	if (tacho_buf_error(&w->header))
		return tacho_no_memory(d);
	config.header = w->header.data;
	config.header_len = w->header.len;
	err = tacho_kev_writer_new(&w->w, w->log->out, &config, d);
	if (err)
		return err;
	w->map = tacho_kev_map_new(w->w, w->stream, about.release, false);
	if (!w->map)
		return tacho_no_memory(d);
	tacho_kev_map_choose(w->map, choose, w);
	tacho_kev_map_wide(w->map, choose_wide);
	return 0;
}

/* Processes and threads that there were: not after STARTNOSTATE. */
static int put_tasks(struct writing *w, uint64_t ticks, struct tacho_diag *d)
{
	const struct tacho_facts *f = &w->source->facts;
	struct tacho_facts all;
	int err = 0;

	w->begun = true;
	if (w->log->state->no_state)
		return 0;
	tacho_facts_init(&all);
	for (size_t i = 0; i < f->nr_tasks && !err; i++)
		err = tacho_facts_add_task(&all, f->task[i].pid, f->task[i].tgid,
					   f->task[i].comm, sizeof(f->task[i].comm));
	/* a look-up brings them in order and drops what is outdated */
	(void)tacho_facts_comm(&all, 0, NULL);
	err = err ? tacho_diag(d, err, 0, "out of memory") :
		    tacho_kev_map_tasks(w->map, &all, ticks, d);
	tacho_facts_release(&all);
	return err;
}

static int put_records(struct writing *w, struct tacho_diag *d)
{
	struct tacho_record r;
	int status, err = 0;

	while (!w->log->full &&
	       (status = tacho_stream_next(w->stream, &r)) != TACHO_STREAM_END) {
		if (status == TACHO_STREAM_ERROR)
			return tacho_diag(d, -EIO, 0, "%s",
					  tacho_stream_error(w->stream)->text);
		if (!w->begun)
			err = put_tasks(w, r.ticks, d);
		if (!err && r.lost) {
			w->log->lost += r.lost;
			err = tacho_kev_writer_lost(w->w, r.lost, d);
		}
		if (!err)
			err = tacho_kev_map_record(w->map, &r, r.ticks, d);
		if (err)
			return err;
	}
	return 0;
}

static int write_all(struct writing *w, struct tacho_diag *d)
{
	struct tacho_diag close_d = { 0 };
	int err = begin(w, d), end = 0;

	if (!err)
		err = put_records(w, d);
	if (w->w)
		end = tacho_kev_writer_close(w->w, !err, &w->log->bytes, &close_d);
	tacho_kev_map_free(w->map);
	if (!err && end)
		*d = close_d;
	return err ? err : end;
}

/* from: ticks of the first event that is wanted; past may be NULL. */
static int write_from(struct tacho_qnx_log *log, uint64_t from, struct past *past,
		      struct tacho_diag *d)
{
	struct writing w = { .log = log, .from = from, .past = past };
	struct tacho_error e = { 0 };
	int err = tacho_stream_open(&w.stream, log->trace, 0, &e);

	if (err)
		return tacho_diag(d, err, 0, "%s", e.text);
	w.source = tacho_stream_source(w.stream, 0);
	w.cpus = tacho_stream_cpus(w.stream);
	if (past)
		past->cpus = w.cpus;
	tacho_buf_init(&w.header, HEADER_MAX);
	err = write_all(&w, d);
	tacho_buf_release(&w.header);
	tacho_stream_close(w.stream);
	return err;
}

/* ---- the newest events ---- */

/* The first event after which all have room, of those that a file of any size has. */
static uint64_t first_that_fits(const struct past *past, uint64_t bytes, uint64_t max)
{
	const struct event *e = (const void *)past->events.data;
	size_t nr = past->events.len / sizeof(*e), i;
	uint64_t before = nr ? e[0].before : 0;

	/* without a limit the names of processes have as much room as they want */
	before = before < max / 2 ? before : max / 2;
	/* and a buffer may begin elsewhere: with the time of each CPU, and what else there is */
	before += (past->cpus + 4) * TACHO_KEV_SLOT;
	if (!nr || bytes <= max)
		return 0;
	for (i = 0; i + 1 < nr && before + bytes - e[i].before > max; i++)
		;
	return e[i].ticks;
}

static int find_first(const struct tacho_qnx_log *log, uint64_t *from, struct tacho_diag *d)
{
	struct tacho_qnx_log all = *log;
	struct past past = { .cpus = 0 };
	int err;

	all.out = NULL;
	all.max_bytes = 0;
	tacho_buf_init(&past.events, PAST_MAX);
	err = write_from(&all, 0, &past, d);
	if (!err && tacho_buf_error(&past.events))
		err = tacho_no_memory(d);
	if (!err)
		*from = first_that_fits(&past, all.bytes, log->max_bytes);
	tacho_buf_release(&past.events);
	return err;
}

int tacho_qnx_log_write(struct tacho_qnx_log *log, struct tacho_diag *d)
{
	uint64_t from = 0;
	int err = log->newest && log->max_bytes ? find_first(log, &from, d) : 0;

	if (!err)
		err = write_from(log, from, NULL, d);
	log->full |= from != 0;
	return err;
}
