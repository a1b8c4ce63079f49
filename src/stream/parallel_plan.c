// SPDX-License-Identifier: MIT
#include "stream/parallel_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_MIN	((uint64_t)512 << 10)
#define PIECE_MAX	((uint64_t)4 << 20)
#define RANGE_MIN	((uint64_t)2 << 20)	/* what is not merged has no packets to pass */
#define PIECE_SMALL	((uint64_t)64 << 10)	/* of a trace that is small itself */
#define PIECES_MAX	65536u
#define POINTS_PER_PIECE	8u
#define POINTS_PER_SPAN		256u

/* ---- size ------------------------------------------------------------------------ */

struct size {
	uint64_t bytes, spans, parts;
};

static int add_size(void *arg, const struct tacho_span *span)
{
	struct size *s = arg;

	s->bytes += span->end - span->offset;
	s->spans++;
	s->parts += !span->offset;
	return 0;
}

static int each_span(struct tacho_stream *stream, uint32_t source, bool timed,
		     int (*fn)(void *arg, const struct tacho_span *span), void *arg)
{
	struct tacho_source *s = tacho_stream_source(stream, source);

	return s->ops->spans(s, timed, fn, arg);
}

/*
 * Bytes of a piece; 0: the trace is too small for two.  A slice reads a part's packet from
 * its start, so it should be longer than a packet of each part.
 */
static int piece_bytes(struct tacho_stream *stream, uint64_t min, uint64_t *bytes)
{
	uint64_t threads = tacho_stream_threads(stream), piece, share;
	struct size size = { 0 };
	int err = 0;

	for (uint32_t i = 0; !err && tacho_stream_source(stream, i); i++)
		err = each_span(stream, i, false, add_size, &size);
	*bytes = 0;
	if (err || !size.spans)
		return err;
	piece = 2 * size.parts * (size.bytes / size.spans);
	piece = piece < min ? min : piece > PIECE_MAX ? PIECE_MAX : piece;
	share = size.bytes / (8 * threads);
	if (piece > share)
		piece = share > PIECE_SMALL ? share : PIECE_SMALL;
	if (piece < size.bytes / PIECES_MAX)
		piece = size.bytes / PIECES_MAX;
	*bytes = size.bytes >= 4 * PIECE_SMALL ? piece : 0;
	return 0;
}

/* ---- ranges ---------------------------------------------------------------------- */

struct ranges {
	struct plan *plan;
	uint32_t source, room;
	uint64_t piece;
	bool open;		/* the last range may take in more */
};

static int add_range(void *arg, const struct tacho_span *span)
{
	struct ranges *r = arg;
	struct plan *plan = r->plan;
	struct plan_range *last = plan->nr ? &plan->range[plan->nr - 1] : NULL;

	if (span->offset && r->open) {
		last->end = span->end;
		r->open = last->end - last->offset < r->piece;
		return 0;
	}
	if (plan->nr == r->room) {
		uint32_t room = r->room ? 2 * r->room : 256;
		struct plan_range *list = reallocarray(plan->range, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		plan->range = list;
		r->room = room;
	}
	plan->range[plan->nr++] = (struct plan_range){
		.source = r->source, .part = span->part, .offset = span->offset,
		.end = span->end, .discarded = span->discarded,
	};
	r->open = span->end - span->offset < r->piece;
	return 0;
}

int plan_ranges(struct plan *plan, struct tacho_stream *stream)
{
	struct ranges r = { .plan = plan };
	int err;

	*plan = (struct plan){ .nr = 0 };
	err = piece_bytes(stream, RANGE_MIN, &r.piece);
	if (err || !r.piece)
		return err;
	for (; !err && tacho_stream_source(stream, r.source); r.source++)
		err = each_span(stream, r.source, false, add_range, &r);
	return err;
}

/* ---- slices ---------------------------------------------------------------------- */

/* So many bytes of the trace begin at this time. */
struct point {
	uint64_t time, bytes;
	bool is_start;		/* of a span: nothing of this part's packet is passed over */
};

struct points {
	struct point *list;
	size_t nr, room;
	const struct tacho_clock_map *clock;
	uint64_t piece;
	uint64_t orderly;	/* ns: earlier records are where the headers say */
	/* of the part that is looked at */
	uint64_t last;		/* ns: the end of the span before; 0: it is the first */
	bool over;		/* something in it was not orderly */
};

static int add_point(struct points *p, uint64_t time, uint64_t bytes, bool is_start)
{
	if (p->nr == p->room) {
		size_t room = p->room ? 2 * p->room : 1024;
		struct point *list = reallocarray(p->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->list = list;
		p->room = room;
	}
	p->list[p->nr++] = (struct point){ time, bytes, is_start };
	return 0;
}

static int add_points(void *arg, const struct tacho_span *span)
{
	struct points *p = arg;
	uint64_t first = tacho_clock_ns(p->clock, span->first);
	uint64_t last = tacho_clock_ns(p->clock, span->last);
	uint64_t bytes = span->end - span->offset;
	uint64_t n = 1 + bytes * POINTS_PER_PIECE / p->piece;
	int err = 0;

	if (!span->offset) {
		p->last = 0;
		p->over = false;
	}
	/* a clock that overflows has no order */
	if (!p->over && (!span->orderly || first < p->last || last < first)) {
		p->over = true;
		if (p->orderly > p->last)
			p->orderly = p->last;
	}
	if (p->over)
		return 0;
	if (n > POINTS_PER_SPAN)
		n = POINTS_PER_SPAN;
	for (uint64_t i = 0; i < n && !err; i++)
		err = add_point(p, first + (last - first) / n * i, bytes / n, !i);
	p->last = last;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* A slice ends where it has enough, if it can at the start of a packet. */
static int cut(struct plan *plan, struct points *p, uint64_t from, uint64_t to)
{
	uint64_t bytes = 0, before = from;
	uint32_t n = 0;

	plan->time = calloc(p->nr + 1, sizeof(*plan->time));
	if (!plan->time)
		return -ENOMEM;
	if (p->nr)
		qsort(p->list, p->nr, sizeof(*p->list), by_time);
	plan->time[n++] = from;
	for (size_t i = 0; i < p->nr && p->list[i].time <= to; i++) {
		uint64_t time = p->list[i].time;

		if (time > p->orderly)
			break;
		if (bytes >= (p->list[i].is_start ? p->piece : 2 * p->piece) && time > before) {
			plan->time[n++] = before = time;
			bytes = 0;
		}
		if (time >= from)
			bytes += p->list[i].bytes;
	}
	plan->nr = n - 1;
	return 0;
}

int plan_slices(struct plan *plan, struct tacho_stream *stream, uint64_t from, uint64_t to)
{
	struct points points = { .orderly = UINT64_MAX };
	struct tacho_source *s;
	int err;

	*plan = (struct plan){ .nr = 0 };
	err = piece_bytes(stream, PIECE_MIN, &points.piece);
	if (err || !points.piece)
		return err;
	for (uint32_t i = 0; !err && (s = tacho_stream_source(stream, i)); i++) {
		points.clock = &s->clock;
		err = each_span(stream, i, true, add_points, &points);
	}
	if (!err)
		err = cut(plan, &points, from, to);
	free(points.list);
	return err;
}

void plan_release(struct plan *plan)
{
	free(plan->range);
	free(plan->time);
}
