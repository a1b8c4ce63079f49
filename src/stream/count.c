// SPDX-License-Identifier: MIT
/* How many records of each type a stream has: part by part, or its packets by several threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "stream/parallel.h"
#include "stream/stream_priv.h"

struct tally {
	uint64_t events, bytes;
};

/* Pages of 256 ids, made when the first record of one comes: traces have few types. */
#define TALLY_PAGE	256u
#define TALLY_PAGES	(65536u / TALLY_PAGE)

struct tallies {
	struct tally *page[TACHO_NR_STREAM_IDS][TALLY_PAGES];
};

static struct tally *tally_page(struct tallies *tallies, uint32_t stream_id, uint32_t id)
{
	struct tally **page = &tallies->page[stream_id][id / TALLY_PAGE];

	if (!*page)
		*page = calloc(TALLY_PAGE, sizeof(**page));
	return *page;
}

static void tallies_free(struct tallies *tallies)
{
	for (uint32_t i = 0; tallies && i < TACHO_NR_STREAM_IDS * TALLY_PAGES; i++)
		free(tallies->page[i / TALLY_PAGES][i % TALLY_PAGES]);
	free(tallies);
}

/* Counts the whole records at hand.  1; 0: what is at pos is no record; -ENOMEM. */
static int count_batch(struct tacho_part *p, struct tallies *tallies)
{
	struct tally *const *page = tallies->page[p->stream_id];
	unsigned char *pos = p->pos, *end = p->end;
	uint64_t last = p->last;
	int good = 1;

	while ((size_t)(end - pos) >= TACHO_RECORD_HEAD) {
		uint64_t word = tacho_load_u64(pos);
		uint32_t size = tacho_record_size(word), id = tacho_load_u16(pos + 8);
		struct tally *t = page[id / TALLY_PAGE];

		good = size >= TACHO_RECORD_HEAD && !(size % 8);
		if (tacho_unlikely(!good || size > (size_t)(end - pos)))
			break;
		if (tacho_unlikely(!t)) {
			t = tally_page(tallies, p->stream_id, id);
			if (!t) {
				good = -ENOMEM;
				break;
			}
		}
		t[id % TALLY_PAGE].events++;
		t[id % TALLY_PAGE].bytes += size;
		last = tacho_record_time(word, last);
		pos += size;
	}
	p->last = last;
	p->pos = pos;
	return good;
}

static int count_part(struct tacho_part *p, struct tallies *tallies)
{
	struct tacho_source *source = p->source;
	int status;

	do {
		int good = 1;

		/* fill() may change the stream id: look at it every time */
		if (p->end != p->pos)
			good = count_batch(p, tallies);
		if (good < 0)
			return tacho_diag(&source->diag, good, 0, "out of memory");
		status = source->ops->fill(source, p, !good);
	} while (status == TACHO_STREAM_RECORD);
	return status == TACHO_STREAM_ERROR ? source->diag.err : 0;
}

/* Calls fn for each id that was counted, until it is not 0. */
static int each_tally(struct tallies *tallies,
		      int (*fn)(void *arg, uint32_t stream_id, uint32_t id,
				const struct tally *t), void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < TACHO_NR_STREAM_IDS * TALLY_PAGES; i++) {
		const struct tally *page = tallies->page[i / TALLY_PAGES][i % TALLY_PAGES];

		for (uint32_t j = 0; !err && page && j < TALLY_PAGE; j++)
			if (page[j].events)
				err = fn(arg, i / TALLY_PAGES, i % TALLY_PAGES * TALLY_PAGE + j,
					 &page[j]);
	}
	return err;
}

struct collect {
	struct tacho_source *source;
	struct tallies *tallies;
	struct tacho_type_count *list;
	size_t nr, room;
};

/* Substitute ids count for the type that they stand for. */
static int move_substitute(void *arg, uint32_t stream_id, uint32_t id, const struct tally *t)
{
	struct collect *c = arg;
	const struct tacho_type *type = tacho_source_type(c->source, stream_id, id);
	struct tally *own;

	if (!type && tacho_source_check(c->source))
		return c->source->diag.err;
	if (!type) {
		c->source->damaged += t->events;
		return 0;
	}
	if (type->id == id || type->id >= 65536)
		return 0;
	own = tally_page(c->tallies, stream_id, type->id);
	if (!own)
		return -ENOMEM;
	own[type->id % TALLY_PAGE].bytes += t->bytes;
	own[type->id % TALLY_PAGE].events += t->events;
	return 0;
}

static int list_tally(void *arg, uint32_t stream_id, uint32_t id, const struct tally *t)
{
	struct collect *c = arg;
	const struct tacho_type *type = tacho_source_type(c->source, stream_id, id);

	if (!type || type->id != id)
		return 0;
	if (c->nr == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		struct tacho_type_count *p = reallocarray(c->list, room, sizeof(*p));

		if (!p)
			return -ENOMEM;
		c->list = p;
		c->room = room;
	}
	c->list[c->nr++] = (struct tacho_type_count){
		.type = type, .stream_id = stream_id, .events = t->events, .bytes = t->bytes };
	return 0;
}

/* What was counted of a source becomes entries of the list. */
static int finish_source(struct collect *c)
{
	int err = each_tally(c->tallies, move_substitute, c);

	if (!err)
		err = each_tally(c->tallies, list_tally, c);
	tallies_free(c->tallies);
	c->tallies = NULL;
	return err ? tacho_diag(&c->source->diag, err, 0, "out of memory") : 0;
}

static int count_source(struct collect *c)
{
	struct tacho_source *source = c->source;
	int err = 0;

	c->tallies = calloc(1, sizeof(*c->tallies));
	if (!c->tallies)
		return tacho_no_memory(&source->diag);
	source->counting = true;
	for (uint32_t j = 0; j < source->nr_parts && !err; j++)
		err = count_part(source->part[j], c->tallies);
	if (!err)
		return finish_source(c);
	tallies_free(c->tallies);
	return err;
}

/* ---- by several threads ---------------------------------------------------------- */

struct counting {
	struct tacho_stream *stream;
	struct collect c;
};

/* A worker has no state but its view. */
static void *begin_count(void *arg, struct tacho_stream *view)
{
	(void)view;
	return arg;
}

static int end_count(void *arg, void *own)
{
	(void)arg;
	(void)own;
	return 0;
}

static int count_piece(void *arg, void *own, struct tacho_stream *view,
		       const struct tacho_piece *piece, void *unit)
{
	struct tallies *t = unit;

	(void)arg;
	(void)own;
	(void)piece;
	return count_part(view->slot[0].part, t);
}

static int add_tally(void *arg, uint32_t stream_id, uint32_t id, const struct tally *t)
{
	struct tally *sum = tally_page(arg, stream_id, id);

	if (!sum)
		return -ENOMEM;
	sum[id % TALLY_PAGE].events += t->events;
	sum[id % TALLY_PAGE].bytes += t->bytes;
	return 0;
}

static void clear_pages(void *arg, void *unit)
{
	struct tallies *t = unit;

	(void)arg;
	for (uint32_t i = 0; i < TACHO_NR_STREAM_IDS * TALLY_PAGES; i++)
		free(t->page[i / TALLY_PAGES][i % TALLY_PAGES]);
	memset(t, 0, sizeof(*t));
}

/* Pieces of a source follow each other. */
static int take_count(void *arg, const struct tacho_piece *piece, void *unit)
{
	struct counting *n = arg;
	struct tacho_source *source = n->stream->source[piece->source];
	int err = 0;

	if (n->c.source != source) {
		if (n->c.source)
			err = finish_source(&n->c);
		n->c.source = source;
		n->c.tallies = calloc(1, sizeof(*n->c.tallies));
	}
	if (!n->c.tallies)
		err = -ENOMEM;
	if (!err)
		err = each_tally(unit, add_tally, n->c.tallies);
	clear_pages(arg, unit);
	return err;
}

/* 1: c has the list; 0: one thread has to begin again. */
static int count_parallel(struct tacho_stream *s, struct collect *c)
{
	struct counting n = { .stream = s };
	const struct tacho_parallel p = {
		.arg = &n, .begin = begin_count, .end = end_count, .work = count_piece,
		.unit_size = sizeof(struct tallies), .take = take_count, .clear = clear_pages,
	};
	uint64_t *damaged = NULL;
	int ret = 0;

	if (!s->begun && tacho_parallel_possible(s))
		damaged = calloc(s->nr_sources, sizeof(*damaged));
	if (!damaged)
		return 0;
	for (uint32_t i = 0; i < s->nr_sources; i++)
		damaged[i] = s->source[i]->damaged;
	ret = tacho_parallel_ranges(s, &p);
	if (ret == 1 && (!n.c.source || !finish_source(&n.c))) {
		*c = n.c;
	} else {
		ret = 0;
		tallies_free(n.c.tallies);
		free(n.c.list);
		for (uint32_t i = 0; i < s->nr_sources; i++)
			s->source[i]->damaged = damaged[i];
	}
	free(damaged);
	return ret;
}

int tacho_stream_count(struct tacho_stream *s, struct tacho_type_count **list,
		       size_t *nr)
{
	struct collect c = { .nr = 0 };
	int err = 0, counted = count_parallel(s, &c);

	if (!s->begun)
		stream_begin(s);
	stream_let_go(s);
	for (uint32_t i = 0; i < s->nr_sources && !err && !counted; i++) {
		c.source = s->source[i];
		err = count_source(&c);
		if (err)
			tacho_error_from(&s->error, &c.source->diag);
	}
	s->nr_slots = 0;
	*list = c.list;
	*nr = c.nr;
	return err ? err : tacho_stream_check(s);
}
