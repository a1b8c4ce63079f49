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

static void clear_pages(struct tallies *t)
{
	for (uint32_t i = 0; i < TACHO_NR_STREAM_IDS * TALLY_PAGES; i++)
		free(t->page[i / TALLY_PAGES][i % TALLY_PAGES]);
	memset(t, 0, sizeof(*t));
}

static void tallies_free(struct tallies *tallies)
{
	if (tallies)
		clear_pages(tallies);
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

/* What one worker counted of one type of one source. */
struct entry {
	uint32_t source, stream_id, id;
	struct tally tally;
};

struct entries {
	struct entry *list;
	size_t nr, room;
};

struct counting {
	struct tacho_stream *stream;
	struct entries found;		/* of the workers that have ended */
};

/* A worker gets the pieces of a source, then those of a later one. */
struct counter {
	struct tallies tallies;		/* of this source */
	uint32_t source;
	struct entries found;		/* of those before */
};

static int add_entry(struct entries *to, const struct entry *e)
{
	if (to->nr == to->room) {
		size_t room = to->room ? 2 * to->room : 64;
		struct entry *list = reallocarray(to->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		to->list = list;
		to->room = room;
	}
	to->list[to->nr++] = *e;
	return 0;
}

static int note_tally(void *arg, uint32_t stream_id, uint32_t id, const struct tally *t)
{
	struct counter *c = arg;
	const struct entry e = { c->source, stream_id, id, *t };

	return add_entry(&c->found, &e);
}

/* The source that was counted becomes entries. */
static int note_source(struct counter *c)
{
	int err = each_tally(&c->tallies, note_tally, c);

	clear_pages(&c->tallies);
	return err;
}

static void *begin_count(void *arg, struct tacho_stream *view)
{
	(void)arg;
	(void)view;
	return calloc(1, sizeof(struct counter));
}

static int count_piece(void *arg, void *own, struct tacho_stream *view,
		       const struct tacho_piece *piece, void *unit)
{
	struct counter *c = own;
	int err = 0;

	(void)arg;
	(void)unit;
	if (c->source != piece->source)
		err = note_source(c);
	c->source = piece->source;
	return err ? err : count_part(view->slot[0].part, &c->tallies);
}

static int end_count(void *arg, void *own)
{
	struct counting *n = arg;
	struct counter *c = own;
	int err = note_source(c);

	for (size_t i = 0; i < c->found.nr && !err; i++)
		err = add_entry(&n->found, &c->found.list[i]);
	free(c->found.list);
	free(c);
	return err;
}

static int by_source(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->source < y->source ? -1 : x->source > y->source;
}

/* The entries of one source, from the i-th on, become those of the result.  0 or an error. */
static int sum_source(struct counting *n, size_t *i, struct collect *c)
{
	uint32_t source = n->found.list[*i].source;
	int err = 0;

	c->source = n->stream->source[source];
	c->tallies = calloc(1, sizeof(*c->tallies));
	if (!c->tallies)
		return -ENOMEM;
	for (; !err && *i < n->found.nr && n->found.list[*i].source == source; ++*i) {
		const struct entry *e = &n->found.list[*i];
		struct tally *sum = tally_page(c->tallies, e->stream_id, e->id);

		if (!sum) {
			err = -ENOMEM;
			break;
		}
		sum[e->id % TALLY_PAGE].events += e->tally.events;
		sum[e->id % TALLY_PAGE].bytes += e->tally.bytes;
	}
	if (!err)
		return finish_source(c);
	tallies_free(c->tallies);
	return err;
}

static int sum_up(struct counting *n, struct collect *c)
{
	int err = 0;

	if (n->found.nr)
		qsort(n->found.list, n->found.nr, sizeof(*n->found.list), by_source);
	for (size_t i = 0; i < n->found.nr && !err; )
		err = sum_source(n, &i, c);
	return err;
}

/* 1: c has the list; 0: one thread has to begin again. */
static int count_parallel(struct tacho_stream *s, struct collect *c)
{
	struct counting n = { .stream = s };
	const struct tacho_parallel p = {
		.arg = &n, .begin = begin_count, .end = end_count, .work = count_piece,
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
	if (ret != 1 || sum_up(&n, c)) {
		ret = 0;
		free(c->list);
		*c = (struct collect){ .nr = 0 };
		for (uint32_t i = 0; i < s->nr_sources; i++)
			s->source[i]->damaged = damaged[i];
	}
	free(n.found.list);
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
