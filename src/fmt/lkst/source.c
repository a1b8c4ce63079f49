// SPDX-License-Identifier: MIT
#include "fmt/lkst/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "event/type.h"
#include "fmt/lkst/blocks.h"
#include "fmt/lkst/record.h"
#include "fmt/lkst/types.h"

#define RAW		(8u * LKST_RAW_LOG)
#define SIZE		(RAW + 8u)	/* of a record of ours */
#define TYPES_MAX	((size_t)256 << 20)
#define SPAN_BLOCKS	8u
/* Times of a batch span less, or they could not be rebuilt. */
#define BATCH_TICKS	(UINT64_C(1) << (TACHO_TIME_BITS - 1))

struct run_part {
	struct tacho_part part;
	uint32_t run;
	uint32_t next, to;		/* block; and which is not read any more */
	uint32_t from;			/* where seek() began */
	enum { READS_ALL, READS_RANGE, READS_SLICE } how;
	uint32_t damaged;		/* of those of the source, since it was at the start */
	struct lkst_record *room;	/* from the first fill() to the end */
	struct lkst_record *record;	/* those of the block that are not handed out */
	uint32_t nr;
	unsigned char *batch;
};

struct log_source {
	struct tacho_source source;
	struct lkst_blocks blocks;
	struct lkst_types types;
	struct tacho_arena arena;
	struct run_part *run;
	bool scanned;		/* for types that are not described */
};

static struct log_source *log_of(struct tacho_source *source)
{
	return (struct log_source *)(void *)source;	/* first member */
}

static void part_free(struct run_part *p)
{
	free(p->room);
	free(p->batch);
	p->room = NULL;
	p->batch = NULL;
	p->nr = 0;
}

static void log_close(struct tacho_source *source)
{
	struct log_source *s = log_of(source);

	for (uint32_t i = 0; i < source->nr_parts; i++)
		part_free(&s->run[i]);
	free(s->run);
	lkst_types_release(&s->types);
	tacho_arena_release(&s->arena);
	lkst_blocks_close(&s->blocks);
	tacho_source_release(source);
	free(s);
}

/* ---- types ---- */

static const struct tacho_type *log_type(struct tacho_source *source, uint32_t stream_id,
					 uint32_t id)
{
	struct log_source *s = log_of(source);
	const struct lkst_type_text *t = lkst_types_get(&s->types, id - 1);
	const struct tacho_type *type;
	struct lkst_type_text unknown;
	char name[LKST_UNKNOWN_LEN];
	struct tacho_buf text;

	if (!id || stream_id != TACHO_STREAM_PROGRAM)
		return NULL;
	if (!t) {
		lkst_types_unknown(&unknown, id - 1, name);
		t = &unknown;
	}
	tacho_buf_init(&text, (size_t)1 << 16);
	lkst_record_format_text(&text, t->name, t->arg, LKST_OF_LOG);
	type = tacho_buf_error(&text) ? NULL :
	       tacho_type_parse(&s->arena, LKST_SYSTEM, t->mnemonic, id, text.data, text.len,
				NULL);
	if (tacho_buf_error(&text) == -ENOMEM)
		s->arena.no_memory = true;
	tacho_buf_release(&text);
	if (!type || tacho_source_set_type(source, stream_id, id, type))
		return NULL;
	return type;
}

/* Those of a block, if it is whole. */
static void load_types_of(struct log_source *s, uint32_t block, struct lkst_record *room)
{
	struct lkst_record *r;
	int n = lkst_blocks_read(&s->blocks, block, room, &r);

	for (int k = 0; k < n; k++)
		/* there is no room for the id of the last */
		if (r[k].etype != UINT16_MAX)
			(void)tacho_source_type(&s->source, TACHO_STREAM_PROGRAM,
						r[k].etype + 1u);
}

/*
 * Types that the file does not describe are in its records only.  Most blocks have none: whether
 * a block is whole matters only for one that has.
 */
static void load_undescribed(struct log_source *s)
{
	const struct tacho_type_table *t = &s->source.table[TACHO_STREAM_PROGRAM];
	struct lkst_record *room = lkst_blocks_room(&s->blocks);
	uint32_t max = s->blocks.head.block_size / sizeof(*room);
	uint16_t *etype = calloc(max, sizeof(*etype));

	for (uint32_t i = 0; room && etype && i < s->blocks.nr_blocks; i++) {
		int n = lkst_blocks_etypes(&s->blocks, i, room, etype, max);
		bool known = true;

		for (int k = 0; k < n; k++)
			known &= etype[k] + 1u < t->nr && t->type[etype[k] + 1];
		if (!known)
			load_types_of(s, i, room);
	}
	if (!room || !etype)
		(void)tacho_source_failed(&s->source, -ENOMEM, "");
	free(room);
	free(etype);
}

static void log_load_types(struct tacho_source *source)
{
	struct log_source *s = log_of(source);

	for (uint32_t i = 0; i < LKST_TYPES_NR; i++)
		if (s->types.of[i])
			(void)tacho_source_type(source, TACHO_STREAM_PROGRAM, i + 1);
	if (!s->scanned)
		load_undescribed(s);
	s->scanned = true;
}

/* ---- records ---- */

/* Of a view: whether the block that was read can be in this place; else one thread reads. */
static bool fits(const struct log_source *s, const struct run_part *p, uint32_t block)
{
	const struct tacho_clock_map *clock = &s->source.clock;
	uint64_t first = s->blocks.block[block].first;

	if (p->how == READS_ALL || !p->nr)
		return true;
	/* the head has the time of the record that was written first */
	if (p->how == READS_RANGE && block == p->from && p->record->ticks < first)
		return false;
	return first >= p->part.last &&
	       tacho_clock_ascends(clock, p->part.last, p->record->ticks) &&
	       tacho_clock_ascends(clock, p->record->ticks, p->record[p->nr - 1].ticks);
}

static int disorder(struct log_source *s)
{
	(void)tacho_diag(&s->source.diag, -EUCLEAN, 0, "'%s': times go back", s->blocks.path);
	return TACHO_STREAM_ERROR;
}

/* The next block; its records are in p->record.  A status, or 0: end. */
static int next_block(struct log_source *s, struct run_part *p)
{
	const struct lkst_blocks *b = &s->blocks;
	uint32_t i = p->next++;
	int n;

	if (b->damaged && s->source.flags & TACHO_STREAM_STRICT)
		return tacho_source_damage(&s->source, b->path, b->first_damage,
					   "there is no whole block");
	if (i == p->to) {
		part_free(p);
		p->next = i;
		/* a range: what comes next has to know nothing of this */
		return p->how == READS_RANGE && i < b->run[p->run].to &&
		       b->block[i].first < p->part.last ? disorder(s) : TACHO_STREAM_END;
	}
	if (!p->room)
		p->room = lkst_blocks_room(b);
	if (!p->batch)
		p->batch = malloc(b->head.block_size / sizeof(*p->record) * SIZE);
	if (!p->room || !p->batch) {
		tacho_no_memory(&s->source.diag);
		return TACHO_STREAM_ERROR;
	}
	n = lkst_blocks_read(b, i, p->room, &p->record);
	if (n < 0 && p->how == READS_RANGE && i == p->from)
		return disorder(s);
	if (n < 0) {
		p->damaged++;
		return tacho_source_damage(&s->source, b->path, lkst_blocks_offset(b, i),
					   "a block is torn or has a wrong sum");
	}
	p->part.lost += b->block[i].lost;
	p->nr = (uint32_t)n;
	return fits(s, p, i) ? TACHO_STREAM_RECORD : disorder(s);
}

static int log_fill(struct tacho_source *source, struct tacho_part *part, bool bad)
{
	struct log_source *s = log_of(source);
	struct run_part *p = (struct run_part *)(void *)part;
	unsigned char *to;
	const int32_t buffer = s->blocks.run[p->run].buffer;
	uint64_t from, last = part->last;
	uint32_t i = 0;

	(void)bad;	/* what is in the batch was made here */
	if (!p->nr) {
		int status = next_block(s, p);

		part->pos = part->end = NULL;
		if (status != TACHO_STREAM_RECORD || !p->nr)
			return status;
	}
	from = p->record->ticks > last ? p->record->ticks : last;
	last = from;
	to = p->batch;
	for (; i < p->nr; i++, to += SIZE) {
		const struct lkst_record *r = &p->record[i];

		if (r->ticks > last)
			last = r->ticks;
		if (last - from >= BATCH_TICKS)
			break;
		tacho_put_u64(to, tacho_record_word(last, SIZE));
		lkst_record_pack_log(to + 8, r, (uint16_t)(r->etype + 1u), buffer);
	}
	p->record += i;
	p->nr -= i;
	part->pos = p->batch;
	part->end = to;
	part->last = from;
	return TACHO_STREAM_RECORD;
}

/*
 * Where seek() begins: one earlier than the last block that begins before.  Blocks may be short,
 * so there is no step to the right one; their times are known.  A record is not earlier than the
 * ones of the block before, so that one is read as well.
 */
static uint32_t landing(const struct lkst_blocks *b, const struct lkst_block_run *run,
			uint64_t ticks)
{
	uint32_t i = run->from;

	while (i + 2 < run->to && b->block[i + 1].nr && b->block[i + 2].nr &&
	       b->block[i + 2].first < ticks)
		i++;
	return i;
}

static int log_seek(struct tacho_source *source, struct tacho_part *part, uint64_t ticks)
{
	struct run_part *p = (struct run_part *)(void *)part;
	const struct lkst_blocks *b = &log_of(source)->blocks;
	const struct lkst_block_run *run = &b->run[p->run];

	part_free(p);
	/* what is read again is counted again */
	source->damaged -= p->damaged;
	p->damaged = 0;
	part->last = 0;
	p->next = p->from = landing(b, run, ticks);
	p->to = run->to;
	p->how = source->of ? READS_SLICE : READS_ALL;
	part->horizon = b->block[p->next].nr ? b->block[p->next].first : 0;
	return 0;
}

/* ---- what is known without reading ---- */

static int log_info(struct tacho_source *source, struct tacho_stream_info *info)
{
	struct log_source *s = log_of(source);
	const struct lkst_blocks *b = &s->blocks;

	for (uint32_t i = 0; i < b->nr_blocks; i++) {
		info->events += b->block[i].nr;
		info->discarded += b->block[i].lost;
	}
	for (uint32_t i = 0; i < b->nr_runs; i++) {
		uint64_t first = b->block[b->run[i].from].first;
		uint64_t last = lkst_blocks_last(b, &b->run[i]);

		if (!last)
			continue;
		first = tacho_clock_ns(&source->clock, first);
		last = tacho_clock_ns(&source->clock, last);
		if (!info->begin || first < info->begin)
			info->begin = first;
		if (last > info->end)
			info->end = last;
	}
	info->packets += b->nr_blocks;
	info->bytes += b->size;
	return 0;
}

static int log_text(struct tacho_source *source, const char *name, struct tacho_buf *out)
{
	if (strcmp(name, LKST_ETYPES_TEXT))
		return -ENOENT;
	lkst_types_text(&log_of(source)->types, out);
	return tacho_buf_error(out);
}

/* ---- several readers: stream/parallel.h ---- */

/* Whether a block of a run has a time, which is not before those of all before it. */
static bool is_orderly(const struct lkst_blocks *b, const struct lkst_block_run *run, uint32_t i)
{
	return b->block[i].nr && (i == run->from || b->block[i].first >= b->block[i - 1].first);
}

static int run_spans(struct log_source *s, uint32_t index,
		     int (*fn)(void *arg, const struct tacho_span *span), void *arg)
{
	const struct lkst_blocks *b = &s->blocks;
	const struct lkst_block_run *run = &b->run[index];
	const uint64_t size = b->head.block_size;
	struct tacho_span span = { .part = index, .orderly = true };
	uint32_t to;
	int err = 0;

	for (uint32_t i = run->from; i < run->to && !err; i = to) {
		to = run->to - i > SPAN_BLOCKS ? i + SPAN_BLOCKS : run->to;
		span.offset = (i - run->from) * size;
		span.end = (to - run->from) * size;
		span.first = b->block[i].first;
		for (uint32_t k = i; k < to; k++)
			span.orderly = span.orderly && is_orderly(b, run, k);
		span.last = to < run->to ? b->block[to].first : b->block[to - 1].first;
		span.orderly = span.orderly && span.first <= span.last;
		err = fn(arg, &span);
	}
	return err;
}

static int log_spans(struct tacho_source *source, bool timed,
		     int (*fn)(void *arg, const struct tacho_span *span), void *arg)
{
	int err = 0;

	(void)timed;	/* the heads of all blocks are known */
	for (uint32_t i = 0; i < source->nr_parts && !err; i++)
		err = run_spans(log_of(source), i, fn, arg);
	return err;
}

static void log_only(struct tacho_source *view, struct tacho_part *part,
		     const struct tacho_span *first, const struct tacho_span *last)
{
	struct run_part *p = (struct run_part *)(void *)part;
	const struct lkst_blocks *b = &log_of(view)->blocks;
	const uint32_t from = b->run[p->run].from;

	part_free(p);
	p->damaged = 0;
	p->next = p->from = from + (uint32_t)(first->offset / b->head.block_size);
	p->to = from + (uint32_t)(last->end / b->head.block_size);
	p->how = READS_RANGE;
	part->last = part->lost = part->horizon = 0;
}

/* The block where the next slice begins was read, and was in its place. */
static bool log_through(struct tacho_source *view, struct tacho_part *part, uint64_t ticks,
			uint64_t *lost)
{
	const struct run_part *p = (struct run_part *)(void *)part;
	const struct lkst_blocks *b = &log_of(view)->blocks;
	uint32_t to = landing(b, &b->run[p->run], ticks);

	(void)lost;	/* heads tell that */
	return to <= p->from || to < p->next;
}

static void view_close(struct tacho_source *source)
{
	struct log_source *v = log_of(source);

	for (uint32_t i = 0; i < source->nr_parts; i++)
		part_free(&v->run[i]);
	free(v->run);
	memset(source->table, 0, sizeof(source->table));
	tacho_source_release(source);
	free(v);
}

static const struct tacho_source_ops view_ops = {
	.format = "lkst",
	.close = view_close,
	.fill = log_fill,
	.seek = log_seek,
	.only = log_only,
	.through = log_through,
	.text = log_text,
};

static int add_runs(struct log_source *s);

/* Blocks and types are the other source's. */
static struct tacho_source *log_view(struct tacho_source *source, uint32_t readers)
{
	struct log_source *s = log_of(source), *v = malloc(sizeof(*v));

	(void)readers;	/* each has a block of each run in memory, as one reader has */
	if (!v)
		return NULL;
	*v = *s;
	tacho_source_init(&v->source, &view_ops, source->flags);
	v->source.of = source;
	v->source.clock = source->clock;
	memcpy(v->source.table, source->table, sizeof(source->table));
	if (add_runs(v)) {
		view_close(&v->source);
		return NULL;
	}
	return &v->source;
}

static const struct tacho_source_ops log_ops = {
	.format = "lkst",
	.close = log_close,
	.fill = log_fill,
	.seek = log_seek,
	.type = log_type,
	.load_types = log_load_types,
	.info = log_info,
	.spans = log_spans,
	.view = log_view,
	.text = log_text,
};

/* ---- opening ---- */

static int set_fact(struct log_source *s, const char *name, const char *value)
{
	return *value ? tacho_facts_set(&s->source.facts, name, strlen(name), value,
					strlen(value)) : 0;
}

static int set_facts(struct log_source *s)
{
	const struct lkst_log_file *h = &s->blocks.head;
	char machine[sizeof(h->arch) + 1] = "", uuid[33], pair[48];
	int err;

	memcpy(machine, h->arch, sizeof(h->arch));
	for (int i = 0; i < 16; i++)
		(void)snprintf(uuid + 2 * i, 3, "%02x", h->uuid[i]);
	(void)snprintf(pair, sizeof(pair), "%" PRIu64 " %" PRIu64, h->tsc, h->realtime);
	err = set_fact(s, "machine", machine);
	if (!err)
		err = set_fact(s, "uuid", uuid);
	/* what stays when it becomes another format's */
	if (!err)
		err = set_fact(s, LKST_FACT_UUID, uuid);
	if (!err)
		err = set_fact(s, LKST_FACT_PAIR, pair);
	if (!err)
		err = set_fact(s, "byte_order", h->endian_big ? "be" : "le");
	return err;
}

static int add_runs(struct log_source *s)
{
	const struct lkst_blocks *b = &s->blocks;
	int err = 0;

	s->run = calloc(b->nr_runs ? b->nr_runs : 1, sizeof(*s->run));
	if (!s->run)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr_runs && !err; i++) {
		struct run_part *p = &s->run[i];

		p->run = i;
		p->part.cpu = b->run[i].cpu;
		p->part.stream_id = TACHO_STREAM_PROGRAM;
		p->part.limit = UINT64_MAX;
		(void)log_seek(&s->source, &p->part, 0);
		err = tacho_source_add_part(&s->source, &p->part);
	}
	return err;
}

/* The rest, when s->blocks is open. */
static int load(struct log_source *s, struct tacho_diag *d)
{
	const struct lkst_log_file *h = &s->blocks.head;
	int err = lkst_types_parse(&s->types, s->blocks.types.data, s->blocks.types.len, false,
				   d);

	tacho_clock_map_init(&s->source.clock, h->freq, h->tsc, h->realtime);
	s->source.damaged = s->blocks.damaged;
	if (!err)
		err = set_facts(s);
	if (!err)
		err = add_runs(s);
	if (err)
		return tacho_diag(d, err, 0, "out of memory");
	return 0;
}

static int open_any(struct tacho_source **source, const char *path, const void *data,
		    size_t len, unsigned int flags, struct tacho_diag *d)
{
	struct log_source *s = calloc(1, sizeof(*s));
	int err;

	*source = NULL;
	if (!s)
		return tacho_no_memory(d);
	tacho_source_init(&s->source, &log_ops, flags);
	s->source.arena = &s->arena;
	lkst_types_init(&s->types);
	tacho_arena_init(&s->arena, TYPES_MAX);
	err = path ? lkst_blocks_open(&s->blocks, path, d) :
	      lkst_blocks_open_memory(&s->blocks, data, len, d);
	if (!err)
		err = load(s, d);
	if (err) {
		log_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

int lkst_source_open(struct tacho_source **source, const char *path, unsigned int flags,
		     struct tacho_diag *d)
{
	return open_any(source, path, NULL, 0, flags, d);
}

int lkst_source_open_memory(struct tacho_source **source, const void *data, size_t len,
			    unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, NULL, data, len, flags, d);
}

bool lkst_source_sniff(const struct tacho_sniff *p)
{
	return lkst_blocks_sniff(p->head, p->len);
}
