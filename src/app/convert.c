// SPDX-License-Identifier: MIT
#include "app/convert.h"

#include <errno.h>
#include <string.h>

#include "app/ahead.h"
#include "app/find.h"

/* The observer is asked, and told, once in so many records: a power of two. */
#define LOOK_EVERY	4096u

struct walk {
	const struct app_convert *c;
	struct tacho_sink *sink;
	struct tacho_diag *d;
	struct app_ahead *ahead;	/* while threads read */
	uint64_t read, total;	/* records; total 0: not known */
};

static int sink_failed(const struct walk *w)
{
	return tacho_diag(w->d, w->sink->diag.err, w->sink->diag.offset, "%s",
			  w->sink->diag.text);
}

/* How many records there are is one read per packet: only for who wants to know. */
static void count_all(struct walk *w)
{
	struct tacho_stream_info info;

	if (w->c->observer && w->c->observer->progress &&
	    !tacho_stream_get_info(w->c->stream, &info))
		w->total = info.events;
}

static TACHO_COLD int look_up(const struct walk *w)
{
	tacho_observer_progress(w->c->observer, w->read,
				w->total > w->read ? w->total : 0);
	return tacho_observer_cancelled(w->c->observer) ?
	       tacho_diag(w->d, -ECANCELED, 0, "'%s' is not written: cancelled", w->c->out) : 0;
}

/* ---- what several threads can do ---------------------------------------------------- */

static int put_text(void *arg, const char *text, size_t len, uint64_t events)
{
	struct walk *w = arg;

	return tacho_sink_text_of(w->sink, text, len, events) || w->sink->closed ? -EIO : 0;
}

static int put_record(void *arg, const struct tacho_record *r, bool pass)
{
	struct walk *w = arg;
	int err = r->lost ? tacho_sink_lost(w->sink, r) : 0;

	if (!err && pass)
		err = tacho_sink_record(w->sink, r);
	return err || w->sink->closed ? -EIO : 0;
}

static int tick(void *arg)
{
	struct walk *w = arg;

	w->read = w->ahead->read;
	return look_up(w);
}

/* *left: records that are still wanted.  0, or a negative errno: w->d or the sink says why. */
static int copy_ahead(struct walk *w, uint64_t *left)
{
	struct app_ahead a = {
		.stream = w->c->stream, .select = w->c->select, .left = *left, .arg = w,
		.text = put_text, .record = put_record, .tick = tick,
	};
	struct tacho_line_config lines;
	int err;

	w->ahead = &a;
	if (w->sink->format->line) {
		a.line = w->sink->format->line(w->sink, &lines);
		a.lines = &lines;
		err = app_ahead_lines(&a);
	} else {
		err = app_ahead_records(&a);
	}
	*left = a.left;
	w->read = a.read;
	if (err)
		return app_stream_failed(w->c->stream, err, w->d);
	if (w->d->err || !a.status || w->sink->closed)
		return w->d->err;
	return sink_failed(w);
}

/* ---- all of it ------------------------------------------------------------------------ */

/* Records until the selection's end (*whole false), or the input's. */
static int copy_records(struct walk *w, bool *whole)
{
	struct app_select *select = w->c->select;
	uint64_t left = select && select->max ? select->max : UINT64_MAX;
	int err = copy_ahead(w, &left), status = TACHO_STREAM_END;
	struct tacho_record r;

	*whole = false;
	if (err)
		return err;
	while (left && !err && !w->sink->closed &&
	       (status = tacho_stream_next(w->c->stream, &r)) == TACHO_STREAM_RECORD) {
		enum app_verdict v = select ? app_select_look(select, &r) : APP_PASS;

		if (v == APP_STOP)
			return 0;
		if (tacho_unlikely(!(++w->read & (LOOK_EVERY - 1))) && look_up(w))
			return w->d->err;
		if (tacho_unlikely(r.lost) && v != APP_DROP)
			err = tacho_sink_lost(w->sink, &r);
		if (v != APP_PASS || err)
			continue;
		err = tacho_sink_record(w->sink, &r);
		left--;
	}
	if (err)
		return sink_failed(w);
	if (status == TACHO_STREAM_ERROR)
		return app_stream_failed(w->c->stream, 0, w->d);
	*whole = left && !w->sink->closed;
	return 0;
}

static int fill(struct walk *w)
{
	bool whole;
	int err;

	count_all(w);
	err = copy_records(w, &whole);
	if (!err && whole && tacho_sink_last_losses(w->sink))
		err = sink_failed(w);
	if (!err)
		tacho_observer_progress(w->c->observer, w->read, w->read);
	return err;
}

int app_convert_format(const char *name, const char *out, const struct tacho_sink_format **format,
		       struct tacho_diag *d)
{
	*format = name ? tacho_sink_format_named(name, d) : tacho_sink_format_of(out);
	return *format ? 0 : -EINVAL;
}

bool app_convert_is_native(const struct tacho_sink_format *format)
{
	return format == &tacho_sink_ctf;
}

int app_convert(struct app_convert *c, struct tacho_diag *d)
{
	struct tacho_sink_config config = {
		.stream = c->stream, .path = c->out, .lines = c->lines,
		.first = c->select ? c->select->first : 0,
		.all = !c->select || app_select_is_all(c->select),
		.observer = c->observer,
	};
	struct tacho_diag why = { 0 };
	struct walk w = { .c = c, .d = &why };
	int err, end_err;

	c->written = (struct tacho_sink_written){ 0 };
	err = tacho_sink_begin(&w.sink, c->format, &config, d);
	if (err)
		return err;
	err = fill(&w);
	end_err = tacho_sink_end(w.sink, !err, &c->written, &why);
	if (err || end_err)
		tacho_diag(d, why.err, why.offset, "%s", why.text);
	return err ? err : end_err;
}

static int convert_all(struct tacho_stream *stream, const char *out,
		       const struct tacho_sink_format *format,
		       const struct tacho_observer *observer,
		       struct tacho_sink_written *written, struct tacho_diag *d)
{
	struct app_convert c = {
		.stream = stream, .out = out, .format = format, .observer = observer,
	};
	int err = app_convert(&c, d);

	if (written)
		*written = c.written;
	return err;
}

int app_convert_trace(const char *trace, unsigned int flags, const char *out,
		      const struct tacho_sink_format *format,
		      const struct tacho_observer *observer,
		      struct tacho_sink_written *written, struct tacho_diag *d)
{
	struct app_trace t;
	int err = app_trace_open(&t, trace, flags, d);

	if (err)
		return err;
	err = convert_all(t.stream, out, format, observer, written, d);
	app_trace_close(&t);
	return err;
}

int app_convert_ready(const char *out, struct tacho_diag *d)
{
	return strcmp(out, "-") ? tacho_sink_ready(tacho_sink_format_of(out), out, d) : 0;
}

int app_convert_stream(struct tacho_stream *stream, const char *out,
		       const struct tacho_observer *observer,
		       struct tacho_sink_written *written, struct tacho_diag *d)
{
	return convert_all(stream, out,
			   strcmp(out, "-") ? tacho_sink_format_of(out) : &tacho_sink_text,
			   observer, written, d);
}
