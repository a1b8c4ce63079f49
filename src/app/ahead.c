// SPDX-License-Identifier: MIT
#include "app/ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/resolve.h"
#include "stream/parallel.h"

/* The text of one piece, or its records, have room for some MiB; stacks are long as text. */
#define UNIT_MAX	((size_t)64 << 20)

/* A worker's own. */
struct hand {
	struct app_select select;
	bool selects;
	bool (*wants)(void *own, const struct tacho_record *r);
	void *own;			/* of wants() */
	struct tacho_line *line;
	struct tacho_resolver *resolver;
	struct tacho_stream *view;
};

/* What became of one piece. */
struct unit {
	struct tacho_buf out;		/* text, or struct kept and bytes, again and again */
	bool begun;
	uint64_t read, passed;
	struct tacho_line_seam seam;
	uint64_t last;			/* time of the last line; 0: there is none */
};

/* A record that waits for the caller, and its bytes behind it, to a multiple of 8. */
struct kept {
	uint64_t time, ticks, lost;
	const struct tacho_type *type;
	const struct tacho_part *part;
	uint32_t len, cpu;
	int32_t pid;
	uint16_t source;
	bool pass;
};

_Static_assert(sizeof(struct kept) % 8 == 0, "the next one is aligned");

static int end(void *arg, void *own)
{
	const struct app_ahead *a = arg;
	struct hand *h = own;

	if (h->own)
		a->close(h->own);
	if (h->selects)
		app_select_view_release(&h->select);
	tacho_line_free(h->line);
	tacho_stream_set_frames(h->view, NULL);
	tacho_resolver_free(h->resolver);
	free(h);
	return 0;
}

bool app_ahead_can_name(const struct tacho_stream *stream)
{
	return !tacho_stream_frames(stream) || tacho_resolver_of(stream);
}

bool app_ahead_resolver(struct tacho_resolver **r, const struct tacho_stream *of,
			struct tacho_stream *view)
{
	if (!tacho_stream_frames(of))
		return true;
	*r = tacho_resolver_new(NULL);
	return *r && !tacho_resolver_stream(*r, view);
}

static bool hand_init(struct hand *h, const struct app_ahead *a)
{
	if (!app_ahead_resolver(&h->resolver, a->stream, h->view))
		return false;
	if (a->select) {
		h->selects = !app_select_view(&h->select, a->select, h->view);
		if (!h->selects)
			return false;
	}
	if (a->open) {
		h->wants = a->wants;
		h->own = a->open(a->arg, h->view);
		return h->own;
	}
	if (!a->lines)
		return true;
	h->line = tacho_line_new(h->view, a->lines);
	if (h->line && a->select && a->select->first)
		tacho_line_zero(h->line, a->select->first);
	return h->line;
}

static void *begin(void *arg, struct tacho_stream *view)
{
	struct hand *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->view = view;
	if (hand_init(h, arg))
		return h;
	(void)end(arg, h);
	return NULL;
}

static void unit_reset(struct unit *u)
{
	if (!u->begun)
		tacho_buf_init(&u->out, UNIT_MAX);
	tacho_buf_reset(&u->out);
	u->begun = true;
	u->read = u->passed = 0;
	u->last = 0;
	u->seam.len = 0;
}

static void clear(void *arg, void *unit)
{
	struct unit *u = unit;

	(void)arg;
	if (u->begun)
		tacho_buf_release(&u->out);
}

/* ---- lines --------------------------------------------------------------------------- */

static enum app_verdict look(struct hand *h, const struct tacho_record *r)
{
	if (h->wants)
		return h->wants(h->own, r) ? APP_PASS : APP_DROP;
	return h->selects ? app_select_look(&h->select, r) : APP_PASS;
}

static int work_lines(void *arg, void *own, struct tacho_stream *view,
		      const struct tacho_piece *piece, void *unit)
{
	struct unit *u = unit;
	struct hand *h = own;
	struct tacho_record r;
	int status;

	(void)arg;
	(void)piece;
	unit_reset(u);
	tacho_line_piece(h->line);
	while ((status = tacho_stream_next(view, &r)) == TACHO_STREAM_RECORD) {
		enum app_verdict v = look(h, &r);

		/* no piece begins after the end */
		if (v == APP_STOP)
			return -EDOM;
		u->read++;
		if (tacho_unlikely(r.lost) && v != APP_DROP)
			tacho_line_lost(h->line, &r, &u->out);
		if (v != APP_PASS)
			continue;
		tacho_line_put(h->line, &r, &u->out);
		u->passed++;
		if (tacho_unlikely(u->out.err))
			return u->out.err;
	}
	u->last = tacho_line_last(h->line);
	tacho_line_seam(h->line, &u->seam);
	return status == TACHO_STREAM_END ? tacho_buf_error(&u->out) : -EIO;
}

static int put(struct app_ahead *a, const char *text, size_t len, uint64_t events)
{
	if (!a->status && (len || events))
		a->status = a->text(a->arg, text, len, events);
	return a->status;
}

static int take_lines(void *arg, const struct tacho_piece *piece, void *unit)
{
	struct app_ahead *a = arg;
	struct unit *u = unit;
	size_t at = 0;

	(void)piece;
	/* the caller finds the place where the last one is */
	if (u->passed >= a->left)
		return -ENOSPC;
	if (u->seam.len) {
		char delta[TACHO_LINE_DELTA_MAX];
		size_t len = tacho_line_delta(a->line, u->seam.time, delta);

		at = u->seam.at + u->seam.len;
		(void)put(a, u->out.data, u->seam.at, 0);
		(void)put(a, delta, len, 0);
	}
	if (put(a, u->out.data + at, u->out.len - at, u->passed))
		return -ECANCELED;
	if (u->last)
		tacho_line_resume(a->line, u->last);
	a->left -= u->passed;
	a->read += u->read;
	return 0;
}

/* ---- records ------------------------------------------------------------------------- */

static int keep(struct unit *u, const struct tacho_stream *view, const struct tacho_record *r,
		bool pass)
{
	size_t size = sizeof(struct kept) + TACHO_ALIGN_UP((size_t)r->len, 8);
	struct kept *k = (void *)tacho_buf_reserve(&u->out, size);

	if (!k)
		return tacho_buf_error(&u->out);
	*k = (struct kept){
		.time = r->time, .ticks = r->ticks, .lost = r->lost, .type = r->type,
		.part = tacho_stream_shown(view), .len = r->len, .cpu = r->cpu, .pid = r->pid,
		.source = (uint16_t)r->source, .pass = pass,
	};
	memcpy(k + 1, r->raw, r->len);
	tacho_buf_commit(&u->out, size);
	return 0;
}

static int work_records(void *arg, void *own, struct tacho_stream *view,
			const struct tacho_piece *piece, void *unit)
{
	struct unit *u = unit;
	struct hand *h = own;
	struct tacho_record r;
	int status, err = 0;

	(void)arg;
	(void)piece;
	unit_reset(u);
	while (!err && (status = tacho_stream_next(view, &r)) == TACHO_STREAM_RECORD) {
		enum app_verdict v = look(h, &r);

		if (v == APP_STOP)
			return -EDOM;
		u->read++;
		u->passed += v == APP_PASS;
		if (v == APP_PASS || (r.lost && v != APP_DROP))
			err = keep(u, view, &r, v == APP_PASS);
	}
	return err ? err : status == TACHO_STREAM_END ? 0 : -EIO;
}

static int take_records(void *arg, const struct tacho_piece *piece, void *unit)
{
	struct app_ahead *a = arg;
	struct unit *u = unit;
	size_t at = 0;

	(void)piece;
	if (u->passed >= a->left)
		return -ENOSPC;
	while (at < u->out.len && !a->status) {
		const struct kept *k = (const void *)(u->out.data + at);
		const struct tacho_record r = {
			.struct_size = sizeof(r), .len = k->len, .time = k->time,
			.ticks = k->ticks, .type = k->type, .raw = k + 1, .cpu = k->cpu,
			.pid = k->pid, .source = k->source, .lost = k->lost,
		};

		tacho_stream_lend(a->stream, k->part);
		a->status = a->record(a->arg, &r, k->pass);
		at += sizeof(*k) + TACHO_ALIGN_UP((size_t)k->len, 8);
	}
	tacho_stream_lend(a->stream, NULL);
	if (a->status)
		return -ECANCELED;
	a->left -= u->passed;
	a->read += u->read;
	return 0;
}

/* ---- both ---------------------------------------------------------------------------- */

static int tick(void *arg)
{
	struct app_ahead *a = arg;

	if (!a->status && a->tick)
		a->status = a->tick(a->arg);
	return a->status ? -ECANCELED : 0;
}

static int ahead(struct app_ahead *a, struct tacho_parallel *p)
{
	int ret;

	a->status = 0;
	if (a->left < APP_AHEAD_MIN || (a->select && a->select->growing) ||
	    !app_ahead_can_name(a->stream))
		return 0;
	/* each report of losses has a delta there */
	if (a->lines && a->lines->format == TACHO_LINE_JSON && a->lines->delta)
		return 0;
	/* where the records begin was found out when the selection was opened */
	if (a->select && !a->select->placed)
		return 0;
	p->arg = a;
	p->begin = begin;
	p->end = end;
	p->unit_size = sizeof(struct unit);
	p->tick = tick;
	p->clear = clear;
	p->from = a->select ? a->select->from : 0;
	p->to = a->select ? a->select->to : UINT64_MAX;
	ret = tacho_parallel_slices(a->stream, p);
	return ret < 0 ? ret : 0;
}

int app_ahead_lines(struct app_ahead *a)
{
	struct tacho_parallel p = { .work = work_lines, .take = take_lines };

	return ahead(a, &p);
}

int app_ahead_records(struct app_ahead *a)
{
	struct tacho_parallel p = { .work = work_records, .take = take_records };

	a->status = 0;
	/* to copy a record costs as much as to read it */
	return a->open || (a->select && !a->select->any) ? ahead(a, &p) : 0;
}
