// SPDX-License-Identifier: MIT
#include "fmt/tracedat/view.h"

#include <errno.h>
#include <stdlib.h>

#include "fmt/tracedat/layout.h"

/* A span has at least so much, and a part about so many at most. */
#ifdef TACHO_TINY
#define SPAN_MIN	((uint64_t)4 << 10)
#define CHUNKS_MIN	((uint64_t)4 << 10)
#else
#define SPAN_MIN	((uint64_t)256 << 10)
#define CHUNKS_MIN	((uint64_t)512 << 10)	/* each costs a chunk's decompression */
#endif
#define SPANS_MAX	1024u

/* So many pages are looked at for one that has events. */
#define PAGES_TRIED	16u

static struct tacho_dat_source *source_of(struct tacho_source *source)
{
	return (struct tacho_dat_source *)source;	/* first member */
}

static struct tacho_dat_part *part_of(struct tacho_part *part)
{
	return (struct tacho_dat_part *)part;		/* first member */
}

/* ---- marks ----------------------------------------------------------------------- */

struct walk {
	struct tacho_dat_source *s;
	struct tacho_dat_part *p;
	unsigned char *bytes;		/* a chunk's pages */
	size_t room;
	uint64_t at, raw;
	uint32_t chunks;		/* from `at` on */
	uint32_t packed, len;		/* of the chunk at `at` */
};

/* Whether there is a whole chunk at w->at. */
static bool look(struct walk *w)
{
	const struct tacho_dat_file *f = &w->s->file;
	unsigned char head[TACHO_DAT_CHUNK_LEN];
	uint64_t end = w->p->end < f->size ? w->p->end : f->size;

	if (!w->chunks || w->at > end || end - w->at < sizeof(head) ||
	    tacho_dat_file_read(f, w->at, head, sizeof(head)))
		return false;
	w->packed = tacho_dat_u32(f, head);
	w->len = tacho_dat_u32(f, head + 4);
	return w->packed <= TACHO_DAT_CHUNK_MAX && w->len <= TACHO_DAT_CHUNK_MAX &&
	       w->packed <= end - w->at - sizeof(head);
}

/* The time of the first page of n bytes that has events. */
static bool first_time(struct walk *w, size_t n, struct tacho_dat_mark *m)
{
	const struct tacho_dat_source *s = w->s;
	const struct tacho_kpage_layout *l = &s->meta.layout;
	size_t size = w->p->buffer->page_size;

	for (size_t at = 0; at < n && n - at >= l->data_off; at += size)
		if (tacho_dat_head_time(s, w->bytes + at, &m->time)) {
			m->page = (uint32_t)at;
			return true;
		}
	return false;
}

/* Finds the time of the mark at w->at; it stays 0 where it cannot be known.  0 or -ENOMEM. */
static int time_mark(struct walk *w, struct tacho_dat_mark *m)
{
	struct tacho_dat_source *s = w->s;
	char *in;
	long n;

	if (w->room < w->len + 1u) {
		free(w->bytes);
		w->room = w->len + 1u;
		w->bytes = malloc(w->room);
	}
	tacho_buf_reset(&s->packed);
	in = tacho_buf_reserve(&s->packed, w->packed + 1u);
	if (!in || !w->bytes)
		return -ENOMEM;
	if (tacho_dat_file_read(&s->file, w->at + TACHO_DAT_CHUNK_LEN, in, w->packed))
		return 0;
	n = tacho_dat_decode(s->file.codec, in, w->packed, w->bytes, w->len);
	if (n > 0 && !first_time(w, (size_t)n, m))
		m->time = 0;
	return n == -ENOMEM ? -ENOMEM : 0;
}

static int add_mark(struct tacho_dat_part *p, const struct tacho_dat_mark *m)
{
	if (!(p->nr_marks & (p->nr_marks - 1))) {
		uint32_t room = p->nr_marks ? 2 * p->nr_marks : 1;
		struct tacho_dat_mark *list = reallocarray(p->mark, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->mark = list;
	}
	p->mark[p->nr_marks++] = *m;
	return 0;
}

/* All marks without their times. */
static int walk_chunks(struct walk *w)
{
	uint64_t next = 0, step;
	int err = 0;

	for (; !err && look(w); w->chunks--) {
		if (w->raw >= next) {
			const struct tacho_dat_mark m = {
				.offset = w->at, .raw = w->raw, .chunks = w->chunks };

			err = add_mark(w->p, &m);
			step = (uint64_t)w->chunks * w->len / SPANS_MAX;
			next = w->raw + (step > CHUNKS_MIN ? step : CHUNKS_MIN);
		}
		w->raw += w->len;
		w->at += TACHO_DAT_CHUNK_LEN + w->packed;
	}
	w->p->raw_end = w->raw;
	return err;
}

static int find_marks(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	struct walk w = { .s = s, .p = p };
	int err;

	tacho_dat_part_rewind(s, p);
	w.at = p->next;
	w.chunks = p->chunks;
	err = walk_chunks(&w);
	p->marked = !err;
	if (err) {
		free(p->mark);
		p->mark = NULL;
		p->nr_marks = 0;
	}
	return err;
}

int tacho_dat_find_marks(struct tacho_dat_source *s, struct tacho_dat_part *p, bool timed)
{
	struct walk w = { .s = s, .p = p };
	int err = 0;

	if (!p->buffer->compressed)
		return 0;
	if (!p->marked)
		err = find_marks(s, p);
	for (uint32_t i = 0; !err && timed && !p->timed && i < p->nr_marks; i++) {
		w.at = p->mark[i].offset;
		w.chunks = p->mark[i].chunks;
		if (look(&w))
			err = time_mark(&w, &p->mark[i]);
	}
	free(w.bytes);
	p->timed = p->timed || (timed && !err);
	return err;
}

/* ---- where to begin ---------------------------------------------------------------- */

/*
 * Pages have one size and follow each other in time, so the last one that
 * begins before `ticks` is found by halves.  An empty page tells no time: the
 * search goes on before it, which is never too late.
 */
static uint64_t landing_page(struct tacho_dat_source *s, const struct tacho_dat_part *p,
			     uint64_t ticks)
{
	uint64_t low = 0, size = p->buffer->page_size, high = (p->end - p->begin) / size, time;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (tacho_dat_page_time(s, p->begin + mid * size, &time) && time < ticks)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 1 ? low - 1 : 0;
}

/* The same of marks; NULL: the start. */
static const struct tacho_dat_mark *landing_mark(const struct tacho_dat_part *p, uint64_t ticks)
{
	uint32_t low = 0, high = p->nr_marks;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->mark[mid].time && p->mark[mid].time < ticks)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 1 ? &p->mark[low - 1] : NULL;
}

/* Where seek(ticks) begins to read, and how many chunks there are from there on. */
static struct tacho_dat_place landing(struct tacho_dat_source *s, const struct tacho_dat_part *p,
				      uint64_t ticks, uint32_t *chunks)
{
	struct tacho_dat_place place = { .at = p->begin };
	const struct tacho_dat_mark *m;

	*chunks = 0;
	if (!ticks || s->meta.shift.nr_cpus)
		return place;
	if (!p->buffer->compressed) {
		place.at += landing_page(s, p, ticks) * p->buffer->page_size;
		return place;
	}
	m = landing_mark(p, ticks);
	if (m) {
		place = (struct tacho_dat_place){ .at = m->offset, .in = m->page };
		*chunks = m->chunks;
	}
	return place;
}

int tacho_dat_seek(struct tacho_source *source, struct tacho_part *part, uint64_t ticks)
{
	struct tacho_dat_source *s = source_of(source);
	struct tacho_dat_part *p = part_of(part);
	bool shifted = s->meta.shift.nr_cpus;
	int err = ticks && !source->of && !shifted ? tacho_dat_find_marks(s, p, true) : 0;
	uint32_t chunks;

	tacho_dat_part_rewind(s, p);
	p->checks = source->of;
	p->from = landing(s, p, ticks, &chunks);
	if (p->from.at != p->begin) {
		p->next = p->from.at;
		p->chunks = chunks;
		p->partial = true;
	}
	return err;
}

/* ---- spans ------------------------------------------------------------------------- */

/* Spans are told when the next one is known. */
struct telling {
	int (*fn)(void *arg, const struct tacho_span *span);
	void *arg;
	struct tacho_span span;
	uint64_t behind;	/* ticks, more than seek() may err by */
	bool any;
};

/*
 * A span begins at an offset; timed: at a time.  Whoever seeks just behind that begins at the
 * span, not at the one before: so that is what is told.
 */
static int tell(struct telling *t, uint64_t offset, bool timed, uint64_t time)
{
	bool orderly = timed && time <= UINT64_MAX - t->behind &&
		       (!t->any || (t->span.orderly && time + t->behind >= t->span.first));
	int err = 0;

	if (t->any) {
		t->span.end = offset;
		t->span.last = orderly ? time + t->behind : t->span.first;
		err = t->fn(t->arg, &t->span);
	}
	t->any = true;
	t->span.offset = offset;
	t->span.orderly = orderly;
	t->span.first = time + t->behind;
	return err;
}

static int tell_last(struct telling *t, uint64_t end, uint64_t last)
{
	t->span.end = end;
	t->span.last = last > t->span.first ? last : t->span.first;
	return t->fn(t->arg, &t->span);
}

/* Bytes of an uncompressed part that are in the file. */
static uint64_t bytes_of(const struct tacho_dat_source *s, const struct tacho_dat_part *p)
{
	uint64_t end = p->end < s->file.size ? p->end : s->file.size;

	return end > p->begin ? end - p->begin : 0;
}

static int tell_pages(struct tacho_dat_source *s, struct tacho_dat_part *p, bool timed,
		      struct telling *t)
{
	uint64_t size = p->buffer->page_size, bytes = bytes_of(s, p);
	uint64_t step = bytes / SPANS_MAX > SPAN_MIN ? bytes / SPANS_MAX : SPAN_MIN, last = 0;
	int err = 0;

	step = (step + size - 1) / size * size;
	for (uint64_t at = 0; !err && (at < bytes || !at); at += step) {
		bool has = false;
		uint64_t time = 0;

		for (uint64_t i = 0; timed && !has && i < PAGES_TRIED && i * size < step; i++)
			has = tacho_dat_page_time(s, p->begin + at + i * size, &time);
		err = tell(t, at, has, time);
	}
	for (uint64_t n = bytes / size, i = 0; timed && n && !last && i < PAGES_TRIED; i++)
		if (!tacho_dat_page_time(s, p->begin + --n * size, &last))
			last = 0;
	return err ? err : tell_last(t, bytes, last);
}

static int tell_marks(struct tacho_dat_source *s, struct tacho_dat_part *p, bool timed,
		      struct telling *t)
{
	int err = tacho_dat_find_marks(s, p, timed);

	for (uint32_t i = 0; !err && i < p->nr_marks; i++)
		err = tell(t, p->mark[i].raw, timed && p->mark[i].time, p->mark[i].time);
	if (!err && !p->nr_marks)
		err = tell(t, 0, false, 0);
	return err ? err : tell_last(t, p->raw_end, 0);
}

int tacho_dat_spans(struct tacho_source *source, bool timed,
		    int (*fn)(void *arg, const struct tacho_span *span), void *arg)
{
	struct tacho_dat_source *s = source_of(source);
	int err = 0;

	timed = timed && !s->meta.shift.nr_cpus;
	for (uint32_t i = 0; !err && i < source->nr_parts; i++) {
		struct tacho_dat_part *p = part_of(source->part[i]);
		struct telling t = {
			.fn = fn, .arg = arg, .span.part = i,
			.behind = 8 + 2 * (source->clock.freq / TACHO_NS_PER_S),
		};

		err = p->buffer->compressed ? tell_marks(s, p, timed, &t) :
					      tell_pages(s, p, timed, &t);
	}
	return err;
}

/* The chunks from raw bytes on, to the end of the part. */
static uint32_t chunks_from(const struct tacho_dat_part *p, uint64_t raw, uint64_t *offset)
{
	uint32_t i = 0;

	while (i < p->nr_marks && p->mark[i].raw < raw)
		i++;
	*offset = i < p->nr_marks ? p->mark[i].offset : p->end;
	return i < p->nr_marks ? p->mark[i].chunks : 0;
}

void tacho_dat_only(struct tacho_source *view, struct tacho_part *part,
		    const struct tacho_span *first, const struct tacho_span *last)
{
	struct tacho_dat_source *s = source_of(view);
	struct tacho_dat_part *p = part_of(part);
	const struct tacho_dat_part *of = part_of(view->of->part[first->part]);
	uint64_t bytes = bytes_of(s, of), next;

	tacho_dat_part_begin(p);
	p->checks = false;
	if (!p->buffer->compressed) {
		p->next = of->begin + first->offset;
		p->end = last->end >= bytes ? of->end : of->begin + last->end;
	} else if (p->nr_marks) {
		p->chunks = chunks_from(p, first->offset, &p->next);
		/* what cannot be walked is the last one's */
		if (last->end < p->raw_end)
			p->chunks -= chunks_from(p, last->end, &next);
	} else {
		tacho_dat_part_rewind(s, p);
	}
}

void tacho_dat_fold(struct tacho_source *source, const struct tacho_source *view)
{
	for (uint32_t i = 0; i < source->nr_parts; i++) {
		struct tacho_dat_part *p = part_of(source->part[i]);
		const struct tacho_dat_part *v = part_of(view->part[i]);

		p->pages += v->pages;
		p->lost += v->lost;
		if (v->first && (!p->first || v->first < p->first))
			p->first = v->first;
		if (v->last > p->last)
			p->last = v->last;
		p->whole = true;
	}
}

/* ---- slices ------------------------------------------------------------------------ */

static bool before(struct tacho_dat_place a, struct tacho_dat_place b)
{
	return a.at < b.at || (a.at == b.at && a.in < b.in);
}

static bool note_loss(struct tacho_dat_part *p)
{
	if (!(p->nr_losses & (p->nr_losses - 1))) {
		size_t room = p->nr_losses ? 2 * (size_t)p->nr_losses : 1;
		struct tacho_dat_loss *list = reallocarray(p->loss, room, sizeof(*list));

		if (!list)
			return false;
		p->loss = list;
	}
	p->loss[p->nr_losses++] = (struct tacho_dat_loss){ p->opened, p->fresh_loss };
	return true;
}

bool tacho_dat_check_page(struct tacho_dat_part *p, bool any, uint64_t last)
{
	uint64_t time = p->page.time;

	/* events were lost before a page that has none */
	if ((!any && p->part.lost) || (p->fresh_loss && !note_loss(p)))
		return false;
	if (p->page.pos == p->page.end)
		return true;
	if (time < (any ? last : p->order))
		return false;
	if (!any)
		p->order = time;
	return true;
}

bool tacho_dat_check_batch(struct tacho_dat_part *p, uint64_t first, uint64_t last)
{
	const struct tacho_clock_map *clock = &p->part.source->clock;
	uint64_t order = p->order;

	p->order = last;
	return tacho_clock_ascends(clock, order, first) && tacho_clock_ascends(clock, first, last);
}

bool tacho_dat_through(struct tacho_source *view, struct tacho_part *part, uint64_t ticks,
		       uint64_t *lost)
{
	struct tacho_dat_part *p = part_of(part);
	uint32_t chunks;
	struct tacho_dat_place to = landing(source_of(view), p, ticks, &chunks);

	/* D3; an end that is before the beginning has nothing to pass */
	if (before(p->from, to) && (!p->pages || before(p->opened, to)))
		return false;
	for (uint32_t i = 0; i < p->nr_losses; i++)
		if (before(p->loss[i].at, to))
			*lost += p->loss[i].n;
	return true;
}
