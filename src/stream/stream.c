// SPDX-License-Identifier: MIT
#include "stream/stream_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/sized.h"
#include "base/text.h"
#include "kdata/syscalls.h"
#include "stream/parallel.h"

/* No text of one event is longer: 64 KiB of data, each byte escaped. */
#define TEXT_MAX	((size_t)1 << 20)
#define SYSCALLS_MAX	((size_t)16 << 20)

struct tacho_stream *tacho_stream_new(unsigned int flags)
{
	struct tacho_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->flags = flags;
	s->threads = 1;
	s->until = UINT64_MAX;
	tacho_buf_init(&s->text, TEXT_MAX);
	tacho_arena_init(&s->arena, SYSCALLS_MAX);
	s->types = calloc(1, sizeof(*s->types));
	if (!s->types) {
		free(s);
		return NULL;
	}
	return s;
}

int tacho_stream_add_take(struct tacho_stream *s, struct tacho_source *source)
{
	struct tacho_source **p;
	struct slot *slot;
	uint32_t nr = s->nr_parts + source->nr_parts;

	p = reallocarray(s->source, (size_t)s->nr_sources + 1, sizeof(*p));
	if (p)
		s->source = p;
	slot = reallocarray(s->slot, (size_t)nr + 1, sizeof(*slot));
	if (slot)
		s->slot = slot;
	if (!p || !slot) {
		source->ops->close(source);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < source->nr_parts; i++)
		source->part[i]->index = s->nr_parts++;
	p[s->nr_sources++] = source;
	return 0;
}

void tacho_stream_close(struct tacho_stream *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_sources; i++)
		s->source[i]->ops->close(s->source[i]);
	free(s->source);
	free(s->slot);
	free(s->types->type);
	free(s->types);
	tacho_buf_release(&s->text);
	tacho_arena_release(&s->arena);
	free(s);
}

int tacho_error_from(struct tacho_error *error, const struct tacho_diag *d)
{
	if (error) {
		size_t len = strnlen(d->text, sizeof(error->text) - 1);

		error->err = d->err;
		error->offset = d->offset;
		memcpy(error->text, d->text, len);
		error->text[len] = '\0';
	}
	return d->err;
}

/* ---- one part ---------------------------------------------------------- */

/* The slow half of part_peek(): a type that is not in the table. */
static TACHO_COLD int part_type(struct tacho_part *p, uint32_t id)
{
	p->type = tacho_source_type(p->source, p->stream_id, id);
	if (p->type)
		return TACHO_STREAM_RECORD;
	return tacho_source_damage(p->source, p->source->ops->format, 0,
				   "a record has an unknown type");
}

static TACHO_COLD int part_late(struct tacho_part *p)
{
	p->ticks = p->last;
	return tacho_source_damage(p->source, p->source->ops->format, 0,
				   "a record lies outside its packet's time");
}

/*
 * Checks the record at pos.  RECORD: type, ticks and size are filled in.  AGAIN:
 * no complete record.  ERROR: strict.  *bad: the bytes are not a record.
 */
static TACHO_ALWAYS_INLINE int part_look(struct tacho_part *p, bool *bad)
{
	size_t left;

	*bad = false;
	while ((left = (size_t)(p->end - p->pos)) >= TACHO_RECORD_HEAD) {
		const struct tacho_type_table *t;
		uint64_t word = tacho_load_u64(p->pos);
		uint32_t size = tacho_record_size(word);
		uint32_t id = tacho_load_u16(p->pos + 8);

		*bad = size < TACHO_RECORD_HEAD || size % 8;
		if (tacho_unlikely(*bad || size > left))
			return TACHO_STREAM_AGAIN;
		t = &p->source->table[p->stream_id];
		p->size = size;
		p->ticks = tacho_record_time(word, p->last);
		if (tacho_unlikely(p->ticks > p->limit) &&
		    part_late(p) != TACHO_STREAM_RECORD)
			return TACHO_STREAM_ERROR;
		p->type = id < t->nr ? t->type[id] : NULL;
		if (tacho_unlikely(!p->type) &&
		    part_type(p, id) != TACHO_STREAM_RECORD)
			return TACHO_STREAM_ERROR;
		if (tacho_likely(p->type != NULL))
			return TACHO_STREAM_RECORD;
		p->last = p->ticks;
		p->pos += size;
	}
	return TACHO_STREAM_AGAIN;
}

/* ---- a narrowed stream ------------------------------------------------------ */

static TACHO_COLD bool type_asked(struct tacho_part *p, unsigned char *wanted)
{
	const struct tacho_scope *scope = p->source->scope;

	*wanted = scope->wants(scope->arg, p->type, p->stream_id) ? 1 : 2;
	return *wanted == 1;
}

/* Whether the type of the record at pos is wanted. */
static bool type_wanted(struct tacho_part *p)
{
	unsigned char *wanted = p->source->wanted[p->stream_id];

	if (!wanted || p->type->id >= 65536)
		return true;
	wanted += p->type->id;
	return *wanted ? *wanted == 1 : type_asked(p, wanted);
}

/* part_look() for what is wanted; END: nothing of the part is any more. */
static int part_look_wanted(struct tacho_part *p, bool *bad)
{
	for (;;) {
		int status = part_look(p, bad);

		if (status != TACHO_STREAM_RECORD)
			return status;
		if (p->ticks > p->source->scope_to)
			return TACHO_STREAM_END;
		if (type_wanted(p))
			return status;
		p->last = p->ticks;
		p->pos += p->size;
		p->lost = 0;
	}
}

static TACHO_COLD int part_peek_wanted(struct tacho_part *p)
{
	for (;;) {
		struct tacho_source *source = p->source;
		const struct tacho_scope *scope = source->scope;
		bool bad;
		int status = part_look_wanted(p, &bad);

		if (status != TACHO_STREAM_AGAIN)
			return status;
		status = source->ops->fill(source, p, bad);
		if (status != TACHO_STREAM_RECORD)
			return status;
		if (scope->pulse &&
		    !scope->pulse(scope->arg, tacho_clock_ns(&source->clock, p->last)))
			return TACHO_STREAM_AGAIN;
	}
}

/* Moves the next record to pos, calling fill() as often as necessary. */
static TACHO_ALWAYS_INLINE int part_peek(struct tacho_part *p)
{
	if (tacho_unlikely(p->source->scope != NULL))
		return part_peek_wanted(p);
	for (;;) {
		struct tacho_source *source = p->source;
		bool bad;
		int status = part_look(p, &bad);

		if (tacho_likely(status == TACHO_STREAM_RECORD))
			return status;
		if (status == TACHO_STREAM_ERROR)
			return status;
		status = source->ops->fill(source, p, bad);
		if (status != TACHO_STREAM_RECORD)
			return status;
	}
}

static void part_step(struct tacho_part *p)
{
	p->last = p->ticks;
	p->pos += p->size;
	p->lost = 0;
}

/*
 * Goes on to the first record at hand that is not before `ticks`, and no further than to one
 * that is not as it should be.
 */
static void part_pass(struct tacho_part *p, uint64_t ticks)
{
	const struct tacho_type_table *t = &p->source->table[p->stream_id];
	size_t left;

	while ((left = (size_t)(p->end - p->pos)) >= TACHO_RECORD_HEAD) {
		uint64_t word = tacho_load_u64(p->pos);
		uint32_t size = tacho_record_size(word), id = tacho_load_u16(p->pos + 8);
		uint64_t time = tacho_record_time(word, p->last);

		if (size < TACHO_RECORD_HEAD || size % 8 || size > left || time >= ticks ||
		    time > p->limit || id >= t->nr || !t->type[id])
			return;
		p->last = time;
		p->pos += size;
		p->lost = 0;
	}
}

static uint64_t part_time(const struct tacho_part *p, uint64_t ticks)
{
	return tacho_clock_ns(&p->source->clock, ticks);
}

static void part_record(struct tacho_part *p, uint64_t time,
			struct tacho_record *r)
{
	/* a record written with a substitute id shows its type's own id */
	if (tacho_load_u16(p->pos + 8) != p->type->id)
		tacho_put_u16(p->pos + 8, (uint16_t)p->type->id);
	if (tacho_unlikely(p->prepare != NULL))
		p->prepare(p);
	r->time = time;
	r->ticks = p->ticks;
	r->type = p->type;
	r->raw = p->pos + 8;
	r->len = p->size - 8;
	r->cpu = p->cpu;
	r->pid = (int32_t)tacho_load_u32(p->pos + 12);
	r->source = p->stream_id;
	r->lost = p->lost;
}

/* ---- the heap ------------------------------------------------------------ */

static bool slot_before(const struct slot *a, const struct slot *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->known != b->known)
		return b->known;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks;
	return a->part->index < b->part->index;
}

static void heap_down(struct tacho_stream *s, uint32_t i)
{
	struct slot moved = s->slot[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= s->nr_slots)
			break;
		if (child + 1 < s->nr_slots &&
		    slot_before(&s->slot[child + 1], &s->slot[child]))
			child++;
		if (!slot_before(&s->slot[child], &moved))
			break;
		s->slot[i] = s->slot[child];
		i = child;
	}
	s->slot[i] = moved;
}

/* Puts every part into the heap, none of them known. */
void stream_begin(struct tacho_stream *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nr_sources; i++)
		for (uint32_t j = 0; j < s->source[i]->nr_parts; j++) {
			struct tacho_part *p = s->source[i]->part[j];

			s->slot[n++] = (struct slot){ .part = p,
				.time = part_time(p, p->horizon) };
		}
	s->nr_slots = n;
	s->turn = 0;
	s->held = NULL;
	s->begun = true;
	if (!(s->flags & TACHO_STREAM_UNORDERED))
		while (n--)
			heap_down(s, n);
}

static int stream_failed(struct tacho_stream *s, struct tacho_part *p)
{
	tacho_error_from(&s->error, &p->source->diag);
	return TACHO_STREAM_ERROR;
}

/* The first record of a part is at hand: goes on to the one that it begins with. */
static TACHO_COLD int part_start(struct tacho_part *p, int status)
{
	uint64_t ticks = tacho_clock_ticks(&p->source->clock, p->start);

	while (status == TACHO_STREAM_RECORD && part_time(p, p->ticks) < p->start) {
		part_step(p);
		part_pass(p, ticks);
		status = part_peek(p);
	}
	if (status == TACHO_STREAM_RECORD)
		p->start = 0;
	return status;
}

/*
 * Updates the part on top of the heap and moves it to its place.  RECORD: continue with the new
 * top.  AGAIN: the part has no record; it has moved as far down as its horizon allows (*stuck:
 * not at all).
 */
static int heap_refresh(struct tacho_stream *s, bool *stuck)
{
	struct slot *top = &s->slot[0];
	struct tacho_part *p = top->part;
	int status = part_peek(p);
	uint64_t bound;

	*stuck = false;
	if (tacho_unlikely(!top->known && p->start))
		status = part_start(p, status);
	switch (status) {
	case TACHO_STREAM_RECORD:
		top->time = part_time(p, p->ticks);
		top->ticks = p->ticks;
		top->known = true;
		break;
	case TACHO_STREAM_AGAIN:
		bound = part_time(p, p->horizon);
		*stuck = !top->known && bound <= top->time;
		top->known = false;
		top->ticks = 0;
		if (bound > top->time)
			top->time = bound;
		break;
	case TACHO_STREAM_END:
		*top = s->slot[--s->nr_slots];
		if (!s->nr_slots)
			return TACHO_STREAM_RECORD;
		break;
	default:
		return stream_failed(s, p);
	}
	heap_down(s, 0);
	return status == TACHO_STREAM_AGAIN ? status : TACHO_STREAM_RECORD;
}

static int next_merged(struct tacho_stream *s, struct tacho_record *r)
{
	uint32_t idle = 0;
	bool stuck, step = s->held != NULL;

	s->held = NULL;
	while (s->nr_slots) {
		struct slot *top = &s->slot[0];
		int status;

		/* a bound that is as late will do, too */
		if (!step && tacho_unlikely(top->time >= s->until))
			return TACHO_STREAM_END;
		if (!step && top->known && top->time >= s->from) {
			part_record(top->part, top->time, r);
			s->held = top->part;
			return TACHO_STREAM_RECORD;
		}
		/* the record returned last, or one before `from` */
		if (top->known) {
			part_step(top->part);
			if (tacho_unlikely(top->time < s->from))
				part_pass(top->part, tacho_clock_ticks(
						&top->part->source->clock, s->from));
		}
		step = false;
		status = heap_refresh(s, &stuck);
		if (status == TACHO_STREAM_ERROR)
			return status;
		/*
		 * The horizon of a live part moves with the clock, so idle
		 * parts could be polled forever: one round is enough.
		 */
		if (status == TACHO_STREAM_RECORD)
			idle = 0;
		else if (stuck || ++idle > s->nr_slots)
			return TACHO_STREAM_AGAIN;
	}
	return TACHO_STREAM_END;
}

void stream_let_go(struct tacho_stream *s)
{
	if (s->held)
		part_step(s->held);
	s->held = NULL;
}

/* Parts one after the other; live ones in turn. */
static int next_unordered(struct tacho_stream *s, struct tacho_record *r)
{
	uint32_t idle = 0;

	stream_let_go(s);
	while (s->nr_slots && idle < s->nr_slots) {
		struct tacho_part *p;
		uint64_t time;
		int status;

		if (s->turn >= s->nr_slots)
			s->turn = 0;
		p = s->slot[s->turn].part;
		status = part_peek(p);
		if (status == TACHO_STREAM_ERROR)
			return stream_failed(s, p);
		if (status == TACHO_STREAM_END) {
			s->slot[s->turn] = s->slot[--s->nr_slots];
			continue;
		}
		if (status == TACHO_STREAM_AGAIN) {
			s->turn++;
			idle++;
			continue;
		}
		idle = 0;
		time = part_time(p, p->ticks);
		if (time < s->from) {
			part_step(p);
			continue;
		}
		part_record(p, time, r);
		s->held = p;
		return TACHO_STREAM_RECORD;
	}
	return s->nr_slots ? TACHO_STREAM_AGAIN : TACHO_STREAM_END;
}

int tacho_stream_check(struct tacho_stream *s)
{
	for (uint32_t i = 0; i < s->nr_sources && !s->error.err; i++)
		if (tacho_source_check(s->source[i]))
			tacho_error_from(&s->error, &s->source[i]->diag);
	if (s->types->no_memory && !s->error.err) {
		struct tacho_diag d = { 0 };

		tacho_no_memory(&d);
		tacho_error_from(&s->error, &d);
	}
	return s->error.err;
}

/* ---- structs of other versions ------------------------------------------- */

/* The last members of version 1.0 end here. */
#define RECORD_SIZE_1_0	(offsetof(struct tacho_record, lost) + sizeof(uint64_t))
#define INFO_SIZE_1_0	(offsetof(struct tacho_stream_info, reserved) + sizeof(uint32_t))

TACHO_COLD
static int next_other_size(struct tacho_stream *s, struct tacho_record *r)
{
	uint32_t size = r->struct_size;
	struct tacho_record own;
	int status;

	if (size < RECORD_SIZE_1_0) {
		struct tacho_diag d = { 0 };

		tacho_diag(&d, -EINVAL, 0, "struct_size %u is too small for a struct "
			   "tacho_record", size);
		tacho_error_from(&s->error, &d);
		return TACHO_STREAM_ERROR;
	}
	status = tacho_stream_next(s, &own);
	if (status == TACHO_STREAM_RECORD)
		tacho_sized_put(r, size, &own, sizeof(own));
	return status;
}

int tacho_stream_next_record(struct tacho_stream *s, struct tacho_record *r)
{
	int status;

	if (tacho_unlikely(r->struct_size != sizeof(*r)))
		return next_other_size(s, r);
	if (s->error.err)
		return TACHO_STREAM_ERROR;
	if (!s->begun)
		stream_begin(s);
	status = s->flags & TACHO_STREAM_UNORDERED ? next_unordered(s, r) :
						     next_merged(s, r);
	if (tacho_unlikely(status != TACHO_STREAM_RECORD) && tacho_stream_check(s))
		return TACHO_STREAM_ERROR;
	return status;
}

/* ---- runs ------------------------------------------------------------------ */

/* The record after the one at pos, if it is whole and nothing is wrong with it. */
static TACHO_ALWAYS_INLINE bool part_follows(const struct tacho_part *p, struct tacho_part *next)
{
	const struct tacho_type_table *t = &p->source->table[p->stream_id];
	unsigned char *pos = p->pos + p->size;
	size_t left = (size_t)(p->end - pos);
	uint64_t word;
	uint32_t id;

	/* in a scope, a caller that reads one by one looks whether a record is wanted */
	if (left < TACHO_RECORD_HEAD || p->source->scope)
		return false;
	word = tacho_load_u64(pos);
	id = tacho_load_u16(pos + 8);
	next->size = tacho_record_size(word);
	next->ticks = tacho_record_time(word, p->ticks);
	next->type = id < t->nr ? t->type[id] : NULL;
	return next->size >= TACHO_RECORD_HEAD && !(next->size % 8) && next->size <= left &&
	       next->ticks <= p->limit && next->type;
}

/* The slot that comes before the one on top if that becomes `after`; NULL: none does. */
static inline const struct slot *heap_next(const struct tacho_stream *s, const struct slot *after)
{
	const struct slot *next = after;

	for (uint32_t i = 1; i < 3 && i < s->nr_slots; i++)
		if (slot_before(&s->slot[i], next))
			next = &s->slot[i];
	return next == after ? NULL : next;
}

/*
 * Goes to the next record, if it is at hand: neither fill() nor a record of another source comes
 * before it.  Else nothing has changed.
 */
static TACHO_ALWAYS_INLINE bool run_step(struct tacho_stream *s, struct slot *at, bool merged)
{
	struct tacho_part *p = s->held, next;
	const struct slot *other;
	struct slot after;

	if (!part_follows(p, &next))
		return false;
	after = (struct slot){ .time = part_time(p, next.ticks), .ticks = next.ticks, .part = p,
			       .known = true };
	other = merged ? heap_next(s, &after) : NULL;
	if (after.time < s->from || after.time >= s->until ||
	    (other && !(other->known && other->part->source == p->source)))
		return false;
	part_step(p);
	p->type = next.type;
	p->size = next.size;
	p->ticks = next.ticks;
	*at = after;
	if (other)
		heap_down(s, 0);
	s->held = at->part;
	return true;
}

int tacho_stream_next_run(struct tacho_stream *s, struct tacho_record *r, uint32_t max,
			  uint32_t *nr)
{
	bool merged = !(s->flags & TACHO_STREAM_UNORDERED);
	int status = tacho_stream_next(s, r);
	struct slot *at, own;

	*nr = status == TACHO_STREAM_RECORD;
	if (!*nr)
		return status;
	at = merged ? &s->slot[0] : &own;
	while (*nr < max && run_step(s, at, merged))
		part_record(s->held, at->time, &r[(*nr)++]);
	return status;
}

bool tacho_stream_is_ordered(const struct tacho_stream *s)
{
	return !(s->flags & TACHO_STREAM_UNORDERED);
}

enum tacho_seeking tacho_stream_seeking(const struct tacho_stream *s)
{
	enum tacho_seeking how = TACHO_SEEKS_BY_TIME;

	for (uint32_t i = 0; i < s->nr_sources; i++) {
		if (!s->source[i]->ops->seek)
			return TACHO_SEEKS_NEVER;
		if (s->source[i]->seeks_by_reading)
			how = TACHO_SEEKS_BY_READING;
	}
	return how;
}

int tacho_stream_seek(struct tacho_stream *s, uint64_t time)
{
	for (uint32_t i = 0; i < s->nr_sources; i++)
		if (!s->source[i]->ops->seek)
			return -ESPIPE;
	for (uint32_t i = 0; i < s->nr_sources; i++)
		if (tacho_source_check(s->source[i]))
			return s->source[i]->diag.err;
	s->error = (struct tacho_error){ 0 };
	if (time)
		tacho_parallel_scan(s);
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		struct tacho_source *source = s->source[i];
		uint64_t ticks = time ? tacho_clock_ticks(&source->clock, time) : 0;

		source->diag = (struct tacho_diag){ 0 };
		source->truncated = 0;
		for (uint32_t j = 0; j < source->nr_parts; j++) {
			struct tacho_part *p = source->part[j];
			int err;

			p->pos = p->end = NULL;
			p->lost = 0;
			p->horizon = 0;
			p->start = 0;
			err = source->ops->seek(source, p, ticks);
			if (err)
				return err;
		}
	}
	s->from = time;
	s->lost_ahead = 0;
	stream_begin(s);
	return 0;
}

int stream_resume(struct tacho_stream *s, uint64_t from, uint64_t time)
{
	int err = tacho_stream_seek(s, time);

	if (err)
		return err;
	for (uint32_t i = 0; i < s->nr_slots; i++)
		s->slot[i].part->start = time;
	s->from = from;
	return 0;
}

/* One byte for each id of both stream ids, all of them "not asked yet". */
static int scope_prepare(struct tacho_source *source)
{
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++) {
		/* pages that are never looked at stay untouched */
		unsigned char *wanted = calloc(65536, 1);

		if (!wanted)
			return -ENOMEM;
		free(source->wanted[i]);
		source->wanted[i] = wanted;
	}
	return 0;
}

/* A tick after ns, and hardly after it; UINT64_MAX: none is found. */
static uint64_t ticks_after(const struct tacho_clock_map *clock, uint64_t ns)
{
	uint64_t ticks = tacho_clock_ticks(clock, ns), step = 1;

	for (; step < UINT64_C(1) << 40 && tacho_clock_ns(clock, ticks) <= ns; step *= 2) {
		if (ticks > UINT64_MAX - step)
			return UINT64_MAX;
		ticks += step;
	}
	return tacho_clock_ns(clock, ticks) > ns ? ticks : UINT64_MAX;
}

int tacho_stream_narrow(struct tacho_stream *s, const struct tacho_scope *scope)
{
	for (uint32_t i = 0; scope && scope->wants && i < s->nr_sources; i++)
		if (scope_prepare(s->source[i]))
			return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		struct tacho_source *source = s->source[i];
		uint64_t to = scope ? scope->to : UINT64_MAX;

		source->scope = scope;
		source->scope_to = to == UINT64_MAX ? to : ticks_after(&source->clock, to);
		for (int j = 0; !(scope && scope->wants) && j < TACHO_NR_STREAM_IDS; j++) {
			free(source->wanted[j]);
			source->wanted[j] = NULL;
		}
	}
	return 0;
}

uint64_t tacho_stream_packets_read(const struct tacho_stream *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nr_sources; i++)
		n += s->source[i]->packets_read;
	return n;
}

bool tacho_stream_place(const struct tacho_stream *s, uint64_t *place)
{
	const struct tacho_part *p = s->held;

	if (!p || !p->source->ops->place)
		return false;
	*place = (uint64_t)p->index << 43 | p->source->ops->place(p) >> 3;
	return true;
}

/* ---- threads ------------------------------------------------------------- */

void tacho_stream_set_threads(struct tacho_stream *s, uint32_t threads)
{
	s->threads = threads ? threads : 1;
}

uint32_t tacho_stream_threads(const struct tacho_stream *s)
{
	return s->threads;
}

const struct tacho_part *tacho_stream_shown(const struct tacho_stream *view)
{
	const struct tacho_source *source = view->held->source;

	return source->of->part[view->held->index - source->part[0]->index];
}

const struct tacho_part *tacho_stream_part(const struct tacho_stream *s)
{
	return stream_part(s);
}

void tacho_stream_lend(struct tacho_stream *s, const struct tacho_part *part)
{
	s->lent = part;
}

/* ---- facts --------------------------------------------------------------- */

const struct tacho_error *tacho_stream_error(const struct tacho_stream *s)
{
	return &s->error;
}

static int get_info(struct tacho_stream *s, struct tacho_stream_info *info)
{
	*info = (struct tacho_stream_info){ .struct_size = sizeof(*info), .parts = s->nr_parts };
	if (!s->nr_sources)
		return 0;
	tacho_parallel_scan(s);
	info->format = s->source[0]->ops->format;
	info->clock_freq = s->source[0]->clock.freq;
	info->discarded = s->lost_ahead;
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		struct tacho_source *source = s->source[i];
		int err = source->ops->info ? source->ops->info(source, info) : 0;

		if (err)
			return err;
		info->damaged += source->damaged;
		info->truncated += source->truncated;
	}
	(void)tacho_stream_type(s, 0);
	info->types = s->types->nr;
	return tacho_stream_check(s);
}

int tacho_stream_fill_info(struct tacho_stream *s, struct tacho_stream_info *info)
{
	struct tacho_stream_info own;
	int err;

	if (info->struct_size < INFO_SIZE_1_0)
		return -EINVAL;
	err = get_info(s, &own);
	tacho_sized_put(info, info->struct_size, &own, sizeof(own));
	return err;
}

uint32_t tacho_stream_version(void)
{
	return TACHO_STREAM_VERSION;
}

const char *tacho_stream_env(const struct tacho_stream *s, const char *name)
{
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		const char *v = tacho_facts_get(tacho_source_facts(s->source[i]), name);

		if (v)
			return v;
	}
	return NULL;
}

uint32_t tacho_stream_cpus(const struct tacho_stream *s)
{
	const char *text = tacho_stream_env(s, "cpus");
	uint64_t stated = 0;
	uint32_t n = 1;

	if (text && !tacho_parse_u64(text, 1, UINT32_MAX, &stated))
		n = (uint32_t)stated;
	/* a CPU that was offline at the beginning is not included */
	for (uint32_t i = 0; i < s->nr_sources; i++)
		for (uint32_t j = 0; j < s->source[i]->nr_parts; j++) {
			uint32_t cpu = s->source[i]->part[j]->cpu;

			if (cpu != UINT32_MAX && cpu >= n)
				n = cpu + 1;
		}
	return n;
}

/*
 * The parts of a rotated trace are in order of time, and the last name of a thread is used, as in
 * an unrotated trace.  Sources of other recordings are searched last.
 */
const char *tacho_stream_comm(const struct tacho_stream *s, int32_t pid,
			      int32_t *tgid)
{
	const struct tacho_part *part = stream_part(s);
	const struct tacho_source *held = part ? part->source : NULL;

	for (int other = 0; other < 2; other++) {
		for (uint32_t i = s->nr_sources; i--;) {
			struct tacho_source *source = s->source[i];
			bool same = !held || source == held ||
				    (held->recording && source->recording == held->recording);
			const char *v = NULL;

			if (same == !other)
				v = tacho_facts_comm(tacho_source_facts(source), pid, tgid);
			if (v)
				return v;
		}
	}
	if (tgid)
		*tgid = 0;
	return NULL;
}

static int type_list_add(struct type_list *l, const struct tacho_type_table *t)
{
	for (uint32_t id = 0; id < t->nr; id++) {
		const struct tacho_type **p;

		if (!t->type[id] || t->type[id]->id != id)
			continue;
		if (!(l->nr & (l->nr - 1))) {
			p = reallocarray(l->type, l->nr ? 2 * (size_t)l->nr : 1,
					 sizeof(*p));
			if (!p)
				return -ENOMEM;
			l->type = p;
		}
		l->type[l->nr++] = t->type[id];
	}
	return 0;
}

/* Index 0 collects the types again, because a live source gets new types. */
static void type_list_make(const struct tacho_stream *s)
{
	s->types->nr = 0;
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		struct tacho_source *source = s->source[i];

		if (source->ops->load_types)
			source->ops->load_types(source);
		for (int j = 0; j < TACHO_NR_STREAM_IDS; j++)
			if (type_list_add(s->types, &source->table[j])) {
				s->types->no_memory = true;
				return;
			}
	}
}

const char *tacho_stream_buffer(const struct tacho_stream *s)
{
	const struct tacho_part *part = stream_part(s);

	return part && part->buffer ? part->buffer : "";
}

const struct tacho_type *tacho_stream_type(const struct tacho_stream *s,
					   uint32_t index)
{
	if (!index || !s->types->nr)
		type_list_make(s);
	return index < s->types->nr ? s->types->type[index] : NULL;
}

int tacho_stream_text(struct tacho_stream *s, const char *name,
		      struct tacho_buf *out)
{
	for (uint32_t i = 0; i < s->nr_sources; i++)
		if (s->source[i]->ops->text &&
		    !s->source[i]->ops->text(s->source[i], name, out))
			return 0;
	return -ENOENT;
}

const char *tacho_stream_syscall(struct tacho_stream *s, uint64_t nr)
{
	if (!s->syscalls_tried) {
		struct tacho_buf text;

		s->syscalls_tried = true;
		tacho_buf_init(&text, 1u << 20);
		if (!tacho_stream_text(s, "syscalls", &text))
			(void)tacho_syscalls_parse(&s->syscalls, &s->arena, text.data, text.len);
		tacho_buf_release(&text);
	}
	/* a recording without the table is of this machine's kind, most often */
	return s->syscalls.nr ? tacho_syscalls_find(&s->syscalls, nr) : tacho_syscall_name(nr);
}

struct tacho_source *tacho_stream_source(const struct tacho_stream *s,
					 uint32_t index)
{
	return index < s->nr_sources ? s->source[index] : NULL;
}

/* ---- text ---------------------------------------------------------------- */

#define KALLSYMS_MAX	((size_t)24 << 20)

static void load_symbols(struct tacho_source *source)
{
	struct tacho_buf text;

	tacho_buf_init(&text, KALLSYMS_MAX);
	if (tacho_source_table(source, "kallsyms", &text) &&
	    tacho_symbols_take(&source->facts.symbols, &text) == -ENOMEM)
		tacho_source_failed(source, -ENOMEM, "");
	tacho_buf_release(&text);
}

const struct tacho_symbols *tacho_source_symbols(struct tacho_source *source)
{
	if (!source->symbols_tried) {
		source->symbols_tried = true;
		if (source->of)
			tacho_source_share_table(source, tacho_source_symbols);
		else
			load_symbols(source);
	}
	return &tacho_source_facts(source)->symbols;
}

/* The state for a record's text. */
struct print {
	struct tacho_stream *stream;
	struct tacho_source *source;
	const struct tacho_record *record;
};

static const char *source_symbol(void *arg, uint64_t addr, uint64_t *start)
{
	const struct print *p = arg;

	return tacho_symbols_at(tacho_source_symbols(p->source), addr, start);
}

static bool program_frame(void *arg, uint64_t addr, struct tacho_buf *out)
{
	const struct print *p = arg;
	struct tacho_frame frame;

	tacho_stream_frame(p->stream, p->record, addr, &frame);
	tacho_frame_put(&frame, addr, out);
	return true;
}

void tacho_stream_set_frames(struct tacho_stream *s, const struct tacho_frames *f)
{
	s->frames = f;
}

const struct tacho_frames *tacho_stream_frames(const struct tacho_stream *s)
{
	return s->frames;
}

void tacho_stream_frame(struct tacho_stream *s, const struct tacho_record *r,
			uint64_t addr, struct tacho_frame *frame)
{
	*frame = (struct tacho_frame){ .function = NULL };
	if (s->frames && r->source == TACHO_STREAM_PROGRAM)
		(void)s->frames->frame(s->frames->arg, r, addr, frame);
}

static const char *source_string(void *arg, uint64_t addr)
{
	const struct print *p = arg;

	return tacho_source_string(p->source, addr);
}

struct tacho_source *tacho_stream_current(const struct tacho_stream *s)
{
	const struct tacho_part *part = stream_part(s);

	if (part)
		return part->source;
	return s->nr_sources ? s->source[0] : NULL;
}

void tacho_stream_print(struct tacho_stream *s, const struct tacho_record *r,
			struct tacho_buf *out)
{
	struct print p = { s, tacho_stream_current(s), r };
	struct tacho_print_env env = { .arg = &p, .symbol = source_symbol,
				       .string = source_string };

	if (r->source == TACHO_STREAM_PROGRAM)
		env.frame = program_frame;
	tacho_print_run(r->type, r->raw, r->len, p.source ? &env : NULL, out);
}

size_t tacho_record_text(struct tacho_stream *s, const struct tacho_record *r,
			 char *text, size_t size)
{
	tacho_buf_reset(&s->text);
	tacho_stream_print(s, r, &s->text);
	if (size) {
		size_t n = s->text.len < size ? s->text.len : size - 1;

		if (n)
			memcpy(text, s->text.data, n);
		text[n] = '\0';
	}
	return s->text.len;
}
