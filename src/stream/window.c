// SPDX-License-Identifier: MIT
#include "stream/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define NONE	SIZE_MAX

struct entry {
	uint32_t size;		/* with the record, a multiple of 8 */
	uint32_t cpu;
	uint32_t stream_id;
	uint32_t spare;
	uint64_t ticks, time;
	uint64_t lost;
	const struct tacho_type *type;
	struct tacho_source *source;
};

struct ring {
	unsigned char *data;
	size_t size;
	size_t head;		/* the oldest entry */
	size_t tail;		/* the place of the next entry */
	size_t end;		/* wrapped: after the last entry before the start */
	bool wrapped;		/* tail has gone to the start, head has not */
	size_t last;		/* the entry that undo removes, or NONE */
	uint64_t nr;
	uint64_t used;		/* bytes of its entries */
	uint64_t added;		/* bytes of all entries ever added */
};

struct tacho_window {
	struct ring ring;	/* twice the size of a snapshot */
	struct ring frozen;	/* the snapshot, unless it is still in the ring */
	bool in_ring;
	bool taken;
	uint64_t mark;		/* ring.added when it was taken */
};

/* ---- the ring ---------------------------------------------------------------- */

static void ring_clear(struct ring *r)
{
	r->head = r->tail = r->end = 0;
	r->wrapped = false;
	r->last = NONE;
	r->nr = r->used = 0;
}

static int ring_init(struct ring *r, size_t size)
{
	*r = (struct ring){ .size = size & ~(size_t)7 };
	r->data = malloc(r->size);
	ring_clear(r);
	return r->data ? 0 : -ENOMEM;
}

static struct entry *entry_at(const struct ring *r, size_t pos)
{
	return (struct entry *)(void *)(r->data + pos);
}

/* The place of the entry after the one at pos. */
static size_t after(const struct ring *r, size_t pos)
{
	pos += entry_at(r, pos)->size;
	return r->wrapped && pos == r->end ? 0 : pos;
}

static void drop_oldest(struct ring *r)
{
	if (r->nr == 1) {
		ring_clear(r);
		return;
	}
	r->nr--;
	r->used -= entry_at(r, r->head)->size;
	r->head = after(r, r->head);
	if (r->wrapped && !r->head)
		r->wrapped = false;
}

/* Whether there are `need` bytes at tail; moves tail to the start if that may help. */
static bool has_room(struct ring *r, size_t need)
{
	if (r->wrapped)
		return r->head - r->tail >= need;
	if (r->size - r->tail >= need)
		return true;
	r->end = r->tail;
	r->tail = 0;
	r->wrapped = true;
	return r->head >= need;
}

/* The entry that a new one is written to; there is room. */
static struct entry *ring_add(struct ring *r, size_t size)
{
	r->last = r->tail;
	r->tail += size;
	r->nr++;
	r->used += size;
	r->added += size;
	return entry_at(r, r->last);
}

/* ---- the window -------------------------------------------------------------- */

int tacho_window_new(struct tacho_window **window, size_t size)
{
	struct tacho_window *w;

	if (size < TACHO_WINDOW_MIN)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	if (ring_init(&w->ring, 2 * size) || ring_init(&w->frozen, size)) {
		tacho_window_free(w);
		return -ENOMEM;
	}
	*window = w;
	return 0;
}

void tacho_window_free(struct tacho_window *w)
{
	if (!w)
		return;
	free(w->ring.data);
	free(w->frozen.data);
	free(w);
}

/* Copies the snapshot out of the ring: the newest records before the mark. */
static void freeze(struct tacho_window *w)
{
	struct ring *r = &w->ring, *to = &w->frozen;
	uint64_t before = w->mark - (r->added - r->used);
	size_t pos = r->head;

	w->in_ring = false;
	ring_clear(to);
	while (before) {
		struct entry *e = entry_at(r, pos);
		uint32_t size = e->size;

		while (!has_room(to, size))
			drop_oldest(to);
		memcpy(ring_add(to, size), e, size);
		before -= size;
		pos = after(r, pos);
	}
}

/*
 * Removes the oldest entry.  If it is part of the snapshot, at least one snapshot's size was
 * added since the snapshot was taken: so a byte is copied once, however often snapshots are
 * taken.
 */
static void make_room(struct tacho_window *w, size_t need)
{
	struct ring *r = &w->ring;

	while (!has_room(r, need)) {
		if (w->in_ring && r->added - r->used + w->frozen.size >= w->mark)
			freeze(w);
		drop_oldest(r);
	}
}

void tacho_window_add(struct tacho_window *w, const struct tacho_record *r,
		      struct tacho_source *source)
{
	size_t size = TACHO_ALIGN_UP((size_t)r->len + 8, 8);
	struct entry *e;
	unsigned char *to;

	make_room(w, sizeof(*e) + size);
	e = ring_add(&w->ring, sizeof(*e) + size);
	*e = (struct entry){
		.size = (uint32_t)(sizeof(*e) + size), .cpu = r->cpu,
		.stream_id = r->source, .ticks = r->ticks, .time = r->time,
		.lost = r->lost, .type = r->type, .source = source,
	};
	to = (unsigned char *)(e + 1);
	tacho_put_u64(to, tacho_record_word(r->ticks, size));
	memset(to + size - 8, 0, 8);
	memcpy(to + 8, r->raw, r->len);
}

void tacho_window_undo(struct tacho_window *w)
{
	struct ring *r = &w->ring;
	uint32_t size;

	if (r->last == NONE)
		return;
	size = entry_at(r, r->last)->size;
	r->added -= size;
	if (r->nr == 1) {
		ring_clear(r);
		return;
	}
	r->tail = r->last;
	r->last = NONE;
	r->used -= size;
	r->nr--;
}

void tacho_window_take(struct tacho_window *w)
{
	w->mark = w->ring.added;
	w->ring.last = NONE;
	w->in_ring = w->taken = true;
}

/* ---- as a stream ----------------------------------------------------------- */

/* The records of one CPU and kind. */
struct part {
	struct tacho_part part;	/* first: the stream sees this */
	size_t pos;		/* the next entry to look at */
	uint64_t left;		/* entries from pos on */
};

/* One of the sources that the records came from. */
struct view {
	struct tacho_source source;	/* first: the stream sees this */
	const struct ring *ring;
	struct tacho_source *from;
};

static struct view *view_of(struct tacho_source *source)
{
	return (struct view *)(void *)source;
}

static struct part *part_of(struct tacho_part *part)
{
	return (struct part *)(void *)part;
}

static bool is_of(const struct entry *e, const struct view *v,
		  const struct tacho_part *p)
{
	return e->source == v->from && e->cpu == p->cpu &&
	       e->stream_id == p->stream_id;
}

/* Returns one record at a time, because records of other parts are between two of one part. */
static int fill(struct tacho_source *source, struct tacho_part *p, bool bad)
{
	struct view *v = view_of(source);
	struct part *part = part_of(p);

	if (bad) {
		p->pos = p->end;
		return tacho_source_damage(source, "snapshot", 0,
					   "a record is not one");
	}
	while (part->left) {
		struct entry *e = entry_at(v->ring, part->pos);

		part->pos = after(v->ring, part->pos);
		part->left--;
		if (!is_of(e, v, p))
			continue;
		p->pos = (unsigned char *)(e + 1);
		p->end = (unsigned char *)e + e->size;
		p->last = p->limit = e->ticks;
		p->lost += e->lost;
		return TACHO_STREAM_RECORD;
	}
	p->pos = p->end = NULL;
	return TACHO_STREAM_END;
}

/* Seeks to the start: the window is small. */
static int seek(struct tacho_source *source, struct tacho_part *p, uint64_t ticks)
{
	const struct ring *r = view_of(source)->ring;

	(void)ticks;
	part_of(p)->pos = r->head;
	part_of(p)->left = r->nr;
	return 0;
}

static int info(struct tacho_source *source, struct tacho_stream_info *i)
{
	const struct view *v = view_of(source);
	const struct ring *r = v->ring;
	size_t pos = r->head;

	for (uint64_t n = r->nr; n--; pos = after(r, pos)) {
		const struct entry *e = entry_at(r, pos);

		if (e->source != v->from)
			continue;
		i->events++;
		i->bytes += e->size - sizeof(*e);
		i->discarded += e->lost;
		if (!i->begin || e->time < i->begin)
			i->begin = e->time;
		if (e->time > i->end)
			i->end = e->time;
	}
	return 0;
}

static int text(struct tacho_source *source, const char *name,
		struct tacho_buf *out)
{
	struct tacho_source *from = view_of(source)->from;

	return from->ops->text ? from->ops->text(from, name, out) : -ENOENT;
}

static void close_view(struct tacho_source *source)
{
	for (uint32_t i = 0; i < source->nr_parts; i++)
		free(source->part[i]);
	tacho_source_release(source);
	free(source);
}

static const struct tacho_source_ops view_ops = {
	.format = "snapshot",
	.close = close_view,
	.fill = fill,
	.seek = seek,
	.info = info,
	.text = text,
};

static int copy_facts(struct tacho_facts *to, const struct tacho_facts *from)
{
	int err = 0;

	for (const struct tacho_fact *f = from->env; f && !err; f = f->next)
		err = tacho_facts_set(to, f->name, strlen(f->name), f->value,
				      strlen(f->value));
	for (size_t i = 0; i < from->nr_tasks && !err; i++)
		err = tacho_facts_add_task(to, from->task[i].pid,
					   from->task[i].tgid, from->task[i].comm,
					   strnlen(from->task[i].comm, 16));
	return err;
}

static int add_part(struct view *v, const struct entry *e)
{
	struct part *p;

	for (uint32_t i = 0; i < v->source.nr_parts; i++)
		if (is_of(e, v, v->source.part[i]))
			return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->part.cpu = e->cpu;
	p->part.stream_id = e->stream_id;
	p->pos = v->ring->head;
	p->left = v->ring->nr;
	if (!tacho_source_add_part(&v->source, &p->part))
		return 0;
	free(p);
	return -ENOMEM;
}

/* A part for each CPU, and the types that occur. */
static int add_entries(struct view *v)
{
	const struct ring *r = v->ring;
	size_t pos = r->head;
	int err = 0;

	for (uint64_t n = r->nr; n-- && !err; pos = after(r, pos)) {
		const struct entry *e = entry_at(r, pos);

		if (e->source != v->from)
			continue;
		err = add_part(v, e);
		if (!err)
			err = tacho_source_set_type(&v->source, e->stream_id,
						    e->type->id, e->type);
	}
	return err;
}

static int add_view(struct tacho_stream *s, const struct ring *ring,
		    struct tacho_source *from)
{
	struct view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	tacho_source_init(&v->source, &view_ops, 0);
	v->source.clock = from->clock;
	v->ring = ring;
	v->from = from;
	err = copy_facts(&v->source.facts, &from->facts);
	if (!err)
		err = add_entries(v);
	if (err) {
		close_view(&v->source);
		return err;
	}
	return tacho_stream_add_take(s, &v->source);
}

int tacho_window_open(struct tacho_window *w, struct tacho_stream *of,
		      struct tacho_stream **stream)
{
	struct tacho_stream *s;
	struct tacho_source *from;
	int err;

	if (!w->taken)
		return -ENOENT;
	if (w->in_ring)
		freeze(w);
	s = tacho_stream_new(0);
	err = s ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && (from = tacho_stream_source(of, i)); i++)
		err = add_view(s, &w->frozen, from);
	if (err)
		tacho_stream_close(s);
	else
		*stream = s;
	return err;
}
