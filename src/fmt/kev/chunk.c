// SPDX-License-Identifier: MIT
/* A window of the file becomes a chunk of records. */
#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/kev/read_priv.h"
#include "fmt/kev/record.h"

/* Records of a chunk take at most so much for each slot, but for what was begun before. */
#define SLOT_ROOM	32u

#define RUNNING		TACHO_KEV_MAKE(TACHO_KEV_PR_TH, TACHO_KEV_TH_RUNNING)
#define CREATE_NAME	TACHO_KEV_MAKE(TACHO_KEV_PR_TH, \
				       TACHO_KEV_PROC_CREATE_NAME * TACHO_KEV_PROCESS)
#define THREAD_NAME	TACHO_KEV_MAKE(TACHO_KEV_PR_TH, \
				       TACHO_KEV_PROC_THREAD_NAME * TACHO_KEV_PROCESS)

static TACHO_COLD int damage(struct tacho_kev_source *s, uint64_t at,
			     const char *what)
{
	return tacho_source_damage(&s->source, s->file.path, at, what);
}

static TACHO_COLD int no_memory(struct tacho_kev_source *s)
{
	(void)tacho_source_failed(&s->source, -ENOMEM, "");
	return TACHO_STREAM_ERROR;
}

static uint32_t word(const struct tacho_kev_source *s, const unsigned char *p)
{
	uint32_t v = tacho_load_u32(p);

	return s->file.swap ? bswap_32(v) : v;
}

/* ---- names --------------------------------------------------------------------- */

void tacho_kev_take_name(struct tacho_kev_source *s, const struct tacho_kev_event *ev)
{
	uint32_t code = TACHO_KEV_CODE(ev->header), pid, hash;
	const char *name, *slash;
	size_t n, len;

	if (ev->words < 4 || code != (s->threads ? THREAD_NAME : CREATE_NAME))
		return;
	/* of a process: its parent, itself; of a thread: its process, itself */
	pid = word(s, ev->data + 4);
	name = (const char *)ev->data + 8;
	n = 4 * (size_t)ev->words - 8;
	len = strnlen(name, n);
	slash = s->threads ? NULL : memrchr(name, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	hash = pid * 0x9e3779b9u;
	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + (unsigned char)name[i];
	hash |= 1;
	if (!len || s->seen_name[pid % TACHO_ARRAY_SIZE(s->seen_name)] == hash ||
	    s->source.facts.nr_tasks >= 65536)
		return;
	s->seen_name[pid % TACHO_ARRAY_SIZE(s->seen_name)] = hash;
	(void)tacho_facts_add_task(&s->source.facts, (int32_t)pid,
				   (int32_t)(s->threads ? word(s, ev->data) : pid),
				   name, len);
}

/* ---- events ---------------------------------------------------------------------- */

static TACHO_COLD void buffer_event(struct tacho_kev_source *s,
				    struct tacho_kev_chunk *c,
				    const unsigned char *data)
{
	uint32_t sequence = word(s, data) & 0x7ff, gap;

	s->buffers++;
	/* each CPU of 8.0 has its own */
	if (s->sequence >= 0 && s->types.profile->release != TACHO_KEV_800) {
		gap = (sequence - (uint32_t)s->sequence - 1) & 0x7ff;
		/* the number of events in a missing buffer is unknown: at least one */
		if (gap < 0x400) {
			c->lost += gap;
			s->lost += gap;
		}
	}
	s->sequence = (int32_t)sequence;
}

/* What the reader itself learns from events. */
static inline void note_event(struct tacho_kev_source *s, struct tacho_kev_chunk *c,
			 uint32_t header, const unsigned char *data)
{
	uint32_t code = TACHO_KEV_CODE(header);

	if (code == RUNNING)
		s->running[TACHO_KEV_CPU(header)] =
			(int32_t)word(s, data + (s->threads ? 4 : 0));
	else if (tacho_unlikely(code == TACHO_KEV_BUFFER))
		buffer_event(s, c, data);
}

static inline void enter(struct tacho_kev_source *s, struct tacho_kev_chunk *c,
			 uint64_t time, uint32_t size)
{
	if (time < s->begin)
		s->begin = time;
	if (time > s->end)
		s->end = time;
	if (!s->source.counting) {
		c->sorted &= !c->nr || c->entry[c->nr - 1].time <= time;
		c->entry[c->nr] = (struct tacho_kev_entry){ time, (uint32_t)c->len, size };
	}
	c->nr++;
	c->len += size;
}

/* An event that is not just a simple one.  A stream status. */
static TACHO_NOINLINE int put_event(struct tacho_kev_source *s,
				    struct tacho_kev_chunk *c,
				    const struct tacho_kev_event *ev, size_t reserve)
{
	const struct tacho_kev_plan *plan = NULL;
	const struct tacho_kev_form *form = NULL;
	int status = TACHO_STREAM_RECORD;

	if (tacho_unlikely(ev->problem))
		status = damage(s, ev->problem_at, ev->problem);
	if (status == TACHO_STREAM_ERROR)
		return status;
	if (ev->kind == TACHO_KEV_WHOLE) {
		plan = tacho_kev_plan(&s->types, TACHO_KEV_CODE(ev->header));
		if (!plan)
			return no_memory(s);
		form = tacho_kev_form_of(plan, ev->data, ev->words, s->file.swap);
		note_event(s, c, ev->header, ev->data);
		tacho_kev_take_name(s, ev);
	}
	if (tacho_kev_chunk_grow(c, TACHO_KEV_RECORD_ROOM(ev->words) + reserve))
		return no_memory(s);
	enter(s, c, ev->time,
	      tacho_kev_record_put(c->bytes + c->len, form, ev, s->file.swap,
				   s->running[TACHO_KEV_CPU(ev->header)]));
	return status;
}

/*
 * A simple event whose record is its two words; false: it is not such a one.  This is
 * where nearly all of the time goes.
 */
static TACHO_ALWAYS_INLINE bool put_simple(struct tacho_kev_source *s,
					   struct tacho_kev_chunk *c,
					   const unsigned char *slot, bool swap)
{
	uint32_t header = tacho_load_u32(slot), stamp = tacho_load_u32(slot + 4);
	const struct tacho_kev_plan *plan;
	const struct tacho_kev_form *form;
	const char *problem = NULL;
	unsigned char *to;
	uint64_t time;

	if (swap) {
		header = bswap_32(header);
		stamp = bswap_32(stamp);
	}
	plan = s->types.plan[TACHO_KEV_CODE(header)];
	if (tacho_unlikely(TACHO_KEV_STRUCT(header) != TACHO_KEV_S || !plan))
		return false;
	form = plan->simple;
	if (tacho_unlikely(!form)) {
		form = plan->returned;
		if (!form || tacho_load_u32(slot + 8) == UINT32_MAX)
			return false;
	}
	if (tacho_unlikely(form->kind != TACHO_KEV_PLAIN || !form->id ||
			   form->fixed > 2))
		return false;
	if (tacho_unlikely(stamp < s->parser->cpu[TACHO_KEV_CPU(header)].low ||
			   TACHO_KEV_CLASS(header) == TACHO_KEV_CONTROL))
		return false;
	time = tacho_kev_time(s->parser, header, stamp, slot + 8, &problem);
	note_event(s, c, header, slot + 8);
	to = c->bytes + c->len;
	tacho_put_u64(to, tacho_record_word(time, 24));
	tacho_put_u64(to + 8, tacho_common_word(form->id,
			s->running[TACHO_KEV_CPU(header)]));
	to[11] = (unsigned char)TACHO_KEV_CPU(header);
	tacho_put_u64(to + 16, tacho_load_u64(slot + 8));
	if (swap)
		tacho_kev_swap(to + 16, slot + 8, 2, form->wide);
	enter(s, c, time, 24);
	return true;
}

static TACHO_ALWAYS_INLINE int put_slots(struct tacho_kev_source *s,
					 struct tacho_kev_chunk *c, uint32_t nr,
					 bool swap)
{
	for (uint32_t i = 0; i < nr; i++) {
		const unsigned char *slot = s->window + (size_t)i * TACHO_KEV_SLOT;
		struct tacho_kev_event ev;

		if (tacho_likely(put_simple(s, c, slot, swap)))
			continue;
		if (tacho_kev_parse(s->parser, slot, s->at + (uint64_t)i * TACHO_KEV_SLOT,
				    &ev) &&
		    put_event(s, c, &ev, (size_t)(nr - i) * SLOT_ROOM) ==
		    TACHO_STREAM_ERROR)
			return TACHO_STREAM_ERROR;
	}
	return s->parser->no_memory ? no_memory(s) : TACHO_STREAM_RECORD;
}

/* ---- the file -------------------------------------------------------------------- */

static bool reserve(struct tacho_kev_source *s, struct tacho_kev_chunk *c)
{
	const uint32_t slots = tacho_kev_chunk_slots(&s->file);
	size_t room = (size_t)slots * SLOT_ROOM + 64;

	if (!s->window)
		s->window = malloc((size_t)slots * TACHO_KEV_SLOT);
	if (c->room < room) {
		free(c->bytes);
		c->bytes = malloc(room);
		c->room = c->bytes ? room : 0;
	}
	/* one for each slot, and what the parser has open */
	if (c->room_entries < slots + TACHO_KEV_OPEN_MAX) {
		free(c->entry);
		c->room_entries = slots + TACHO_KEV_OPEN_MAX;
		c->entry = malloc(c->room_entries * sizeof(*c->entry));
		if (!c->entry)
			c->room_entries = 0;
	}
	return s->window && c->bytes && c->entry;
}

/* The end of the file: what is cut off there, and what was left open. */
static int finish(struct tacho_kev_source *s, struct tacho_kev_chunk *c, long rest)
{
	int status = TACHO_STREAM_RECORD;
	struct tacho_kev_event ev;

	if (s->ended)
		return TACHO_STREAM_END;
	s->ended = true;
	if (rest > 0)
		status = damage(s, s->at, "the file ends in the middle of a slot");
	while (status != TACHO_STREAM_ERROR && tacho_kev_parse_end(s->parser, &ev))
		status = put_event(s, c, &ev, SLOT_ROOM);
	s->whole = status != TACHO_STREAM_ERROR;
	return status == TACHO_STREAM_ERROR || c->nr ? status : TACHO_STREAM_END;
}

static TACHO_COLD int tell_problems(struct tacho_kev_source *s)
{
	int status = TACHO_STREAM_RECORD;

	while (s->told < s->file.nr_problems && status != TACHO_STREAM_ERROR) {
		const struct tacho_kev_problem *p = &s->file.problem[s->told++];

		status = damage(s, p->offset, p->text);
	}
	return status;
}

int tacho_kev_fill_chunk(struct tacho_kev_source *s, struct tacho_kev_chunk *c)
{
	uint32_t nr;
	long n;
	int status;

	c->len = 0;
	c->nr = 0;
	c->lost = 0;
	c->sorted = true;
	if (!reserve(s, c))
		return no_memory(s);
	if (tell_problems(s) == TACHO_STREAM_ERROR)
		return TACHO_STREAM_ERROR;
	n = tacho_kev_file_read(&s->file, s->at, s->window,
				(size_t)tacho_kev_chunk_slots(&s->file) * TACHO_KEV_SLOT);
	if (n < 0) {
		n = 0;
		if (!s->ended && damage(s, s->at, "the rest cannot be read") ==
		    TACHO_STREAM_ERROR)
			return TACHO_STREAM_ERROR;
	}
	nr = (uint32_t)((size_t)n / TACHO_KEV_SLOT);
	if (!nr)
		return finish(s, c, n);
	status = s->file.swap ? put_slots(s, c, nr, true) : put_slots(s, c, nr, false);
	s->at += (uint64_t)nr * TACHO_KEV_SLOT;
	s->slots += nr;
	return status;
}
