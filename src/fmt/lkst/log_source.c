// SPDX-License-Identifier: MIT
/* LKST's events out of whatever tacho reads. */
#include "fmt/lkst/log_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "event/type.h"
#include "fmt/lkst/record.h"
#include "fmt/lkst/types.h"
#include "stream/crash.h"

/* A record is brought before at most so many others. */
#define FAR	4096u

/* What stands in a batch of a source. */
struct look {
	const struct tacho_type *type;	/* NULL: not known, counted as damaged */
	const unsigned char *raw;
	uint32_t len;
	uint64_t ticks;
};

/* The record at p->pos, which is stepped over.  False: there is no whole one. */
static bool take(struct tacho_part *p, struct look *l, bool *bad)
{
	size_t left = (size_t)(p->end - p->pos);
	uint64_t word;
	uint32_t size;

	*bad = false;
	if (left < TACHO_RECORD_HEAD)
		return false;
	word = tacho_load_u64(p->pos);
	size = tacho_record_size(word);
	*bad = size < TACHO_RECORD_HEAD || size % 8;
	if (*bad || size > left)
		return false;
	l->ticks = tacho_record_time(word, p->last);
	if (l->ticks > p->limit)
		l->ticks = p->last;
	l->type = tacho_source_type(p->source, p->stream_id, tacho_load_u16(p->pos + 8));
	l->raw = p->pos + 8;
	l->len = size - 8;
	p->last = l->ticks;
	p->pos += size;
	return true;
}

/* Whether it is of LKST; last: what was asked for last. */
struct memory {
	const struct tacho_type *type;
	bool is;
};

static bool is_lkst(const struct look *l, struct memory *last)
{
	if (l->type == last->type)
		return last->is;
	*last = (struct memory){ l->type, l->type && lkst_record_is(l->type) };
	return last->is;
}

/* ---- batches ---- */

/* The source whose clock all records are handed out by: LKST's own, or the first. */
static const struct tacho_source *main_source(const struct lkst_log *log)
{
	return tacho_stream_source(log->stream[0], log->core_source);
}

static uint64_t common_ticks(const struct lkst_log *log, const struct tacho_source *s,
			     uint64_t ticks)
{
	const struct tacho_clock_map *first = &main_source(log)->clock;

	if (s->clock.freq == first->freq && s->clock.base == first->base)
		return ticks;
	return tacho_clock_ticks(first, tacho_clock_ns(&s->clock, ticks));
}

/* By insertion: nearly always they are.  What is far from it stays where it is. */
static void put_in_order(struct lkst_entry *e, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct lkst_entry moved = e[i];
		uint32_t k = i;

		for (; k && e[k - 1].record.ticks > moved.record.ticks && i - k < FAR; k--)
			e[k] = e[k - 1];
		e[k] = moved;
	}
}

/* The buffer that a record was in.  False: LKST has it in none any more. */
static bool buffer_of(const struct lkst_log *log, const struct lkst_cursor *c,
		      const struct look *l, struct lkst_core_place *place)
{
	const char *name = c->part->buffer;
	uint64_t v;

	if (log->core)
		return lkst_core_has(log->core, c->part, c->counted - 1, place);
	*place = (struct lkst_core_place){ .id = lkst_record_buffer(l->raw, l->len) };
	if (l->len < 8 * LKST_RAW_LOG && name && *name && !tacho_parse_u64(name, 0, INT16_MAX, &v))
		place->id = (int32_t)v;
	return true;
}

/*
 * Where records have no number of their own it is that in their buffer, of all records there;
 * if the source does not say it, counted from the first that is there.
 */
static int add_entry(struct lkst_log *log, struct lkst_cursor *c, const struct look *l,
		     uint32_t *nr)
{
	struct lkst_entry *e = (struct lkst_entry *)(void *)c->room;
	struct lkst_core_place place;
	struct lkst_record r;

	if (!lkst_record_unpack(&r, l->raw, l->len, l->ticks) ||
	    !buffer_of(log, c, l, &place))
		return 0;
	if (l->len < 8 * LKST_RAW_LOG)
		r.recid = (uint32_t)(c->counted - 1) & INT32_MAX;
	if (c->kernel != !!(r.flags & LKST_FLAG_KERNEL))
		return 0;
	if (*nr == c->entries) {
		c->entries = c->entries ? 2 * c->entries : 256;
		e = reallocarray(e, c->entries, sizeof(*e));
		if (!e)
			return tacho_no_memory(&log->why);
		c->room = (struct lkst_record *)(void *)e;
	}
	r.ticks = common_ticks(log, c->part->source, r.ticks);
	e[(*nr)++] = (struct lkst_entry){ r, place };
	return 0;
}

static int failed(struct lkst_log *log, const struct tacho_source *s)
{
	log->why = s->diag;
	return s->diag.err ? s->diag.err : -EIO;
}

/* The static buffer, once. */
static int static_load(struct lkst_log *log, struct lkst_cursor *c)
{
	struct lkst_record r[LKST_STATIC_RECORDS];
	uint64_t from = 0;
	size_t n = c->room ? 0 : lkst_layout_static(lkst_core_state(log->core), &from, r,
						    LKST_STATIC_RECORDS);
	struct lkst_entry *e = n ? calloc(n, sizeof(*e)) : NULL;

	if (n && !e)
		return tacho_no_memory(&log->why);
	for (size_t i = 0; i < n; i++)
		e[i] = (struct lkst_entry){ r[i], { .id = LKST_BUFFER_ID_VOID } };
	put_in_order(e, (uint32_t)n);
	free(c->room);
	c->room = (struct lkst_record *)(void *)e;
	c->at = (unsigned char *)e;
	c->left = (uint32_t)n;
	return n > 0;
}

static int source_load(struct lkst_log *log, struct lkst_cursor *c)
{
	struct tacho_part *p = c->part;
	struct memory last = { NULL, false };
	struct tacho_source *s;
	uint32_t nr = 0;
	struct look l;
	int status;
	bool bad;

	if (!p)
		return static_load(log, c);
	s = p->source;
	do {
		for (; take(p, &l, &bad); c->counted++) {
			int err = is_lkst(&l, &last) ? add_entry(log, c, &l, &nr) : 0;

			if (err)
				return err;
		}
		if (nr)
			break;
		p->number = 0;
		status = s->ops->fill(s, p, bad);
		if (p->number)
			c->counted = p->number;
		/* of these two cursors one tells */
		log->lost += c->kernel ? 0 : p->lost;
		p->lost = 0;
		if (status == TACHO_STREAM_ERROR)
			return failed(log, s);
	} while (status == TACHO_STREAM_RECORD);
	log->damaged = 0;
	for (uint32_t i = 0; (s = tacho_stream_source(log->stream[0], i)); i++)
		log->damaged += s->damaged;
	put_in_order((struct lkst_entry *)(void *)c->room, nr);
	c->at = (unsigned char *)c->room;
	c->left = nr;
	return nr > 0;
}

/* ---- types ---- */

/*
 * The numbers of types are in their records only: a walk until `left`, the types whose number
 * is not known, is 0.
 */
static int scan_part(struct tacho_part *p, struct lkst_types *types, uint32_t *left)
{
	struct memory last = { NULL, false };
	const struct tacho_type *known = NULL;
	int status, got = 0;
	struct lkst_record r;
	struct look l;
	bool bad;

	do {
		while (got >= 0 && *left && take(p, &l, &bad)) {
			if (!is_lkst(&l, &last) || l.type == known ||
			    !lkst_record_unpack(&r, l.raw, l.len, 0))
				continue;
			known = l.type;
			got = lkst_types_add_type(types, l.type, r.etype);
			*left -= got > 0;
		}
		status = got < 0 || !*left ? TACHO_STREAM_END :
			 p->source->ops->fill(p->source, p, bad);
	} while (status == TACHO_STREAM_RECORD);
	return got < 0 ? got : 0;
}

static int scan(const char *path, struct lkst_types *types)
{
	const struct tacho_type *type;
	struct tacho_stream *stream;
	struct tacho_source *s;
	uint32_t left = 0;
	int err = tacho_stream_open(&stream, path, 0, NULL);

	if (err)
		return err;
	for (uint32_t i = 0; (type = tacho_stream_type(stream, i)); i++)
		left += lkst_record_is(type) && !lkst_types_is_unknown(type->name);
	for (uint32_t i = 0; !err && (s = tacho_stream_source(stream, i)); i++)
		for (uint32_t j = 0; j < s->nr_parts && !err; j++)
			err = scan_part(s->part[j], types, &left);
	tacho_stream_close(stream);
	return err;
}

static int find_types(struct lkst_log *log, const char *path)
{
	struct lkst_types *types = malloc(sizeof(*types));
	int err, got;

	if (!types)
		return -ENOMEM;
	lkst_types_init(types);
	tacho_buf_init(&log->types, LKST_TYPES_TEXT_MAX);
	got = log->core ? lkst_layout_etypes(lkst_core_state(log->core), &log->types) :
			  tacho_stream_text(log->stream[0], LKST_ETYPES_TEXT, &log->types);
	if (!got && log->types.len)
		err = lkst_types_parse(types, log->types.data, log->types.len, false, NULL);
	else
		err = scan(path, types);
	tacho_buf_reset(&log->types);
	lkst_types_text(types, &log->types);
	lkst_types_release(types);
	free(types);
	return err ? err : tacho_buf_error(&log->types);
}

/* ---- opening ---- */

static int find_core(struct lkst_log *log)
{
	const struct tacho_source *s;
	int err = 0;

	for (uint32_t i = 0; !err && !log->core && (s = tacho_stream_source(log->stream[0], i));
	     i++) {
		err = lkst_core_find(&log->core, s);
		log->core_source = log->core ? i : 0;
	}
	return err;
}

/*
 * A core has all sessions of a program, and more than one may have recorded LKST's events: if
 * LKST's own is there, the others are passed over.
 */
static bool is_wanted(const struct lkst_log *log, const struct tacho_source *s, uint32_t index)
{
	const struct tacho_source *other;
	const char *name = tacho_facts_get(&s->facts, "session");

	if (log->core)
		return index == log->core_source;
	if (!name || !strcmp(name, LKST_SYSTEM))
		return true;
	for (uint32_t i = 0; (other = tacho_stream_source(log->stream[0], i)); i++) {
		name = tacho_facts_get(&other->facts, "session");
		if (name && !strcmp(name, LKST_SYSTEM))
			return false;
	}
	return true;
}

static int add_cursors(struct lkst_log *log)
{
	const struct tacho_source *s;
	uint32_t nr = 0;

	for (uint32_t i = 0; (s = tacho_stream_source(log->stream[0], i)); i++)
		nr += s->nr_parts;
	log->cursor = calloc(2 * (size_t)nr + 1, sizeof(*log->cursor));
	if (!log->cursor)
		return -ENOMEM;
	for (int kernel = 0; kernel < 2; kernel++)
		for (uint32_t i = 0; (s = tacho_stream_source(log->stream[kernel], i)); i++)
			for (uint32_t j = 0; j < s->nr_parts && is_wanted(log, s, i); j++)
				/* how early the kernel's own times are is not known */
				log->cursor[log->nr++] = (struct lkst_cursor){
					.part = s->part[j], .kernel = kernel,
					.own_buffer = true, .counted = 1,
				};
	if (log->core)
		log->cursor[log->nr++].own_buffer = true;
	return 0;
}

static void set_info(struct lkst_log *log)
{
	const struct tacho_source *s = main_source(log);
	const struct tacho_control *ctl = tacho_crash_control(s);
	const char *machine = tacho_stream_env(log->stream[0], "machine");
	struct lkst_log_info *info = &log->info;

	info->freq = s->clock.freq;
	/* the pair that live buffers are shown by: what is rounded is the same */
	info->tsc = ctl ? ctl->start.ticks : 0;
	info->realtime = ctl ? ctl->start.realtime : s->clock.base;
	if (machine)
		strncat(info->arch, machine, sizeof(info->arch) - 1);
	info->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	info->types = log->types.data;
	info->types_len = log->types.len;
}

int lkst_log_open_source(struct lkst_log *log, const char *path, struct tacho_diag *d)
{
	struct tacho_error error = { 0 };
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		err = tacho_stream_open(&log->stream[i], path, 0, &error);
	if (err)
		return tacho_diag(d, err, error.offset, "%s", error.text);
	log->load = source_load;
	err = find_core(log);
	if (!err)
		err = find_types(log, path);
	if (!err)
		err = add_cursors(log);
	if (err)
		return tacho_diag(d, err, 0, err == -ENOMEM ? "out of memory" :
				  "cannot read the event types of '%s'", path);
	set_info(log);
	return 0;
}

void lkst_log_free_source(struct lkst_log *log)
{
	for (int i = 0; i < 2; i++)
		if (log->stream[i])
			tacho_stream_close(log->stream[i]);
	lkst_core_free(log->core);
	tacho_buf_release(&log->types);
}
