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
/* Times of a batch span less, or they could not be rebuilt. */
#define BATCH_TICKS	(UINT64_C(1) << (TACHO_TIME_BITS - 1))

struct run_part {
	struct tacho_part part;
	uint32_t run;
	uint32_t next;			/* block */
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

/* Types that the file does not describe are in its records only. */
static void load_undescribed(struct log_source *s)
{
	struct lkst_record *room = lkst_blocks_room(&s->blocks), *r;
	uint16_t last = UINT16_MAX;	/* whose id there is not room for */

	for (uint32_t i = 0; room && i < s->blocks.nr_blocks; i++) {
		int n = lkst_blocks_read(&s->blocks, i, room, &r);

		for (int k = 0; k < n; k++) {
			if (r[k].etype != last && r[k].etype != UINT16_MAX)
				(void)tacho_source_type(&s->source, TACHO_STREAM_PROGRAM,
							r[k].etype + 1u);
			last = r[k].etype;
		}
	}
	free(room);
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

/* The next block; its records are in p->record.  A status, or 0: end. */
static int next_block(struct log_source *s, struct run_part *p)
{
	const struct lkst_blocks *b = &s->blocks;
	uint32_t i = p->next++;
	int n;

	if (b->damaged && s->source.flags & TACHO_STREAM_STRICT)
		return tacho_source_damage(&s->source, b->path, b->first_damage,
					   "there is no whole block");
	if (i == b->run[p->run].to) {
		part_free(p);
		p->next = i;
		return TACHO_STREAM_END;
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
	if (n < 0) {
		p->damaged++;
		return tacho_source_damage(&s->source, b->path, lkst_blocks_offset(b, i),
					   "a block is torn or has a wrong sum");
	}
	p->part.lost += b->block[i].lost;
	p->nr = (uint32_t)n;
	return TACHO_STREAM_RECORD;
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

/* Blocks may be short, so there is no step to the right one; their times are known. */
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
	p->next = run->from;
	/* one earlier than the last that begins before */
	while (p->next + 1 < run->to && b->block[p->next + 1].nr &&
	       b->block[p->next + 1].first < ticks)
		p->next++;
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

static const struct tacho_source_ops log_ops = {
	.format = "lkst",
	.close = log_close,
	.fill = log_fill,
	.seek = log_seek,
	.type = log_type,
	.load_types = log_load_types,
	.info = log_info,
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
