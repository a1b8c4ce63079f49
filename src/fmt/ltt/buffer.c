// SPDX-License-Identifier: MIT
/* The buffers of a file: where their records are, and what time it is in them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmt/ltt/part.h"
#include "fmt/ltt/size22.h"

#define US_PER_S	UINT64_C(1000000)

int tacho_ltt_damage(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		     uint64_t at, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return tacho_source_damage(&s->source, p->file.path, at, what);
}

static int no_memory(struct tacho_ltt_source *s)
{
	(void)tacho_no_memory(&s->source.diag);
	return TACHO_STREAM_ERROR;
}

/* ---- the window -------------------------------------------------------------------- */

static int load(struct tacho_ltt_source *s, struct tacho_ltt_part *p)
{
	uint64_t left = p->file.size - p->next;
	size_t room = s->window_room / p->file.buffer_size * p->file.buffer_size;

	p->window_len = 0;
	if (p->next >= p->file.size)
		return TACHO_STREAM_END;
	if (room < p->file.buffer_size)
		room = p->file.buffer_size;
	if (left > room)
		left = room;
	if (left > p->window_room) {
		/* what is written after the end is never looked at */
		unsigned char *w = realloc(p->window, (size_t)left + 64);

		if (!w)
			return no_memory(s);
		p->window = w;
		p->window_room = (size_t)left;
	}
	p->window_at = p->next;
	p->next += left;
	if (tacho_ltt_file_read(&p->file, p->window_at, p->window, (size_t)left)) {
		p->next = p->file.size;
		return tacho_ltt_damage(s, p, p->window_at, "it cannot be read");
	}
	p->window_len = (size_t)left;
	return TACHO_STREAM_RECORD;
}

/* ---- the ends of a buffer ---------------------------------------------------------- */

/* What BUFFER_START and BUFFER_END say. */
struct stamp {
	uint32_t word;		/* time of the header word */
	uint64_t us;		/* 0: not told */
	uint32_t tsc;
};

static size_t head_len(const struct tacho_ltt_part *p)
{
	return tacho_ltt_is_22(p->file.layout) ? LTT_22_HEAD : LTT_HEAD;
}

/* Of a record that holds at least `need` bytes of struct at p->buf + at. */
static bool stamp_at(const struct tacho_ltt_part *p, size_t at, size_t left,
		     uint32_t id, struct stamp *stamp)
{
	const struct tacho_ltt_file *f = &p->file;
	bool is_22 = tacho_ltt_is_22(f->layout);
	const unsigned char *r = p->buf + at;
	size_t need = head_len(p) + 12;

	/* BUFFER_END of 2.2 has its CPU where the others have, BUFFER_START has not */
	if (is_22 && f->log_cpu && id == TRACE_BUFFER_END) {
		r++;
		need++;
	}
	if (left < need || r[is_22 ? 0 : 4] != id)
		return false;
	stamp->word = tacho_ltt_u32(f, r + (is_22 ? 1 : 0));
	r += head_len(p);
	stamp->us = tacho_ltt_u32(f, r) * US_PER_S + tacho_ltt_u32(f, r + 4);
	stamp->tsc = tacho_ltt_u32(f, r + 8);
	return true;
}

/* Where the records end, by the lost size; SIZE_MAX: it makes no sense. */
static size_t find_end(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		       struct stamp *stamp, int *status)
{
	size_t size = p->file.buffer_size, first = head_len(p) + 16, at;
	uint32_t lost = tacho_ltt_u32(&p->file, p->buf + size - 4);

	if (lost > size - first || lost < head_len(p) + 12 + 4) {
		*status = tacho_ltt_damage(s, p, p->buf_at + size - 4, lost > size ?
			"a lost size of %u bytes is larger than the buffer of %zu" :
			"a lost size of %u bytes cannot be in a buffer of %zu", lost,
			size);
		return SIZE_MAX;
	}
	at = size - lost;
	if (!stamp_at(p, at, lost - 4, TRACE_BUFFER_END, stamp)) {
		*status = tacho_ltt_damage(s, p, p->buf_at + at,
					   "no BUFFER_END where the lost size says");
		return SIZE_MAX;
	}
	return at;
}

/* ---- the clock --------------------------------------------------------------------- */

static bool is_ns(const struct stamp *stamp)
{
	return stamp->tsc - (uint32_t)(stamp->us * 1000) < 1000;
}

/* Whether the record at `at` of the buffer of 2.2 begins with its CPU. */
static bool has_cpu(const struct tacho_ltt_part *p, size_t at)
{
	return p->file.log_cpu && at &&
	       (p->buf_at || at != LTT_22_MAGIC_AT - LTT_22_HEAD);
}

/* The record after `at`; its time, unless it is START, which has none. */
static size_t next_word(const struct tacho_ltt_part *p, size_t at, uint32_t *nr,
			uint32_t *time)
{
	const struct tacho_ltt_file *f = &p->file;
	const unsigned char *r = p->buf + at;

	if (tacho_ltt_is_22(f->layout)) {
		bool cpu = has_cpu(p, at);

		if (r[cpu] != TRACE_START || cpu)
			*time = tacho_ltt_u32(f, r + 1 + cpu);
		return ++*nr < p->nr_index ? p->index[*nr] : SIZE_MAX;
	}
	if (p->data_end - at < LTT_HEAD)
		return SIZE_MAX;
	if (r[4] != TRACE_START)
		*time = tacho_ltt_u32(f, r);
	return tacho_ltt_u16(f, r + 6) < LTT_HEAD ? SIZE_MAX :
	       at + tacho_ltt_u16(f, r + 6);
}

/* How often the counter's 32 bits went round between BUFFER_START and BUFFER_END. */
static uint64_t count_wraps(const struct tacho_ltt_part *p, uint32_t from,
			    uint32_t to)
{
	uint32_t last = from, time = from, nr = 0;
	uint64_t wraps = 0;
	size_t at = 0;

	while (at < p->data_end) {
		at = next_word(p, at, &nr, &time);
		wraps += time < last;
		last = time;
	}
	return wraps + (to < last);
}

static void start_cycles(struct tacho_ltt_part *p, const struct stamp *start,
			 const struct stamp *end)
{
	struct tacho_ltt_clock *c = &p->clock;
	__extension__ typedef unsigned __int128 u128;
	uint64_t total, ns;

	c->unit = LTT_UNIT_CYCLE;
	c->zero = c->now = start->tsc;
	c->zero_ns = start->us * 1000;
	c->limit = UINT64_MAX;
	if (!c->mult)
		c->mult = (uint64_t)1 << 32;
	if (!end->us || end->us < start->us)
		return;		/* the last rate goes on */
	total = (count_wraps(p, start->tsc, end->tsc) << 32) + end->tsc - start->tsc;
	if (end->us > start->us) {
		ns = (end->us - start->us) * 1000;
		if (total)
			c->mult = (uint64_t)(((u128)ns << 32) / total);
	}
	c->limit = c->now + total;
}

static void start_clock(struct tacho_ltt_part *p, const struct stamp *start,
			const struct stamp *end)
{
	struct tacho_ltt_clock *c = &p->clock;

	c->last = start->word;
	c->limit = UINT64_MAX;
	if (!p->file.use_tsc) {
		c->unit = LTT_UNIT_US;
		c->now = start->us;
		if (end->us >= start->us && end->us)
			c->limit = end->us;
	} else if (is_ns(start) && (!end->us || is_ns(end))) {
		c->unit = LTT_UNIT_NS;
		c->now = start->us * 1000 + (uint32_t)(start->tsc -
						       (uint32_t)(start->us * 1000));
		if (end->us >= start->us && end->us)
			c->limit = end->us * 1000 +
				(uint32_t)(end->tsc - (uint32_t)(end->us * 1000));
	} else {
		start_cycles(p, start, end);
	}
	if (c->limit < c->now)
		c->limit = c->now;
}

int tacho_ltt_advance(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		      uint32_t time, uint32_t id)
{
	struct tacho_ltt_clock *c = &p->clock;
	uint32_t delta = time - c->last, back = c->last - time;
	bool known = c->limit != UINT64_MAX;

	if (delta <= c->limit - c->now &&
	    (delta <= INT32_MAX || known || id == TRACE_HEARTBEAT)) {
		c->now += delta;
		c->last = time;
		return TACHO_STREAM_RECORD;
	}
	if (back <= INT32_MAX && back <= c->now) {
		c->now -= back;
		c->last = time;
		return tacho_ltt_damage(s, p, p->buf_at + p->pos,
					"time goes back by %u", back);
	}
	return tacho_ltt_damage(s, p, p->buf_at + p->pos,
				"the time is after the end of its buffer");
}

/* ---- version 2.2: records from the end ----------------------------------------------- */

static bool put_index(struct tacho_ltt_part *p, size_t at)
{
	if (p->nr_index == p->room_index) {
		uint32_t room = p->room_index ? p->room_index * 2 : 1024;
		uint32_t *q = reallocarray(p->index, room, sizeof(*q));

		if (!q)
			return false;
		p->index = q;
		p->room_index = room;
	}
	p->index[p->nr_index++] = (uint32_t)at;
	return true;
}

static bool index_backward(struct tacho_ltt_part *p)
{
	size_t at = p->data_end, least = LTT_22_HEAD + LTT_22_TAIL;

	while (at) {
		size_t size = at < least ? 0 :
			      tacho_ltt_u16(&p->file, p->buf + at - LTT_22_TAIL);

		if (size < least || size > at || !put_index(p, at - size))
			return false;
		at -= size;
	}
	for (uint32_t i = 0; i < p->nr_index / 2; i++) {
		uint32_t other = p->index[i];

		p->index[i] = p->index[p->nr_index - 1 - i];
		p->index[p->nr_index - 1 - i] = other;
	}
	return true;
}

/* As far as the records' sizes are as their events say. */
static int index_forward(struct tacho_ltt_source *s, struct tacho_ltt_part *p)
{
	size_t at = 0, end = p->data_end < p->end ? p->data_end : p->end, size;

	p->nr_index = 0;
	for (; at < end; at += size) {
		size = tacho_ltt_size_22(&p->file, p->buf + at, end - at, s->layout,
					 has_cpu(p, at));
		if (!size || size > end - at ||
		    tacho_ltt_u16(&p->file, p->buf + at + size - LTT_22_TAIL) != size)
			break;
		if (!put_index(p, at))
			return no_memory(s);
		if (p->data_end == SIZE_MAX &&
		    p->buf[at + has_cpu(p, at)] == TRACE_BUFFER_END)
			return TACHO_STREAM_RECORD;
	}
	if (at >= end)
		return TACHO_STREAM_RECORD;
	return tacho_ltt_damage(s, p, p->buf_at + at,
				"what stands here is no record; the rest of the buffer "
				"is skipped");
}

static int make_index(struct tacho_ltt_source *s, struct tacho_ltt_part *p)
{
	int status = TACHO_STREAM_RECORD;

	p->nr_index = p->at_index = 0;
	if (p->data_end == SIZE_MAX || !index_backward(p))
		status = index_forward(s, p);
	if (p->data_end != SIZE_MAX && !put_index(p, p->data_end))
		return no_memory(s);
	return status;
}

/* ---- opening ----------------------------------------------------------------------- */

int tacho_ltt_open_buffer(struct tacho_ltt_source *s, struct tacho_ltt_part *p)
{
	struct stamp start = { 0 }, end = { 0 };
	size_t at = p->buf ? (size_t)(p->buf_at - p->window_at) + p->file.buffer_size :
		    p->window_len, left;
	int status = TACHO_STREAM_RECORD;

	p->buf = NULL;
	if (at >= p->window_len) {
		status = load(s, p);
		at = 0;
		if (status != TACHO_STREAM_RECORD || !p->window_len)
			return status;
	}
	left = p->window_len - at;
	p->buf = p->window + at;
	p->buf_at = p->window_at + at;
	p->pos = 0;
	p->data_end = SIZE_MAX;
	p->end = left < p->file.buffer_size ? left : p->file.buffer_size;
	if (left < p->file.buffer_size)
		status = tacho_ltt_damage(s, p, p->file.size,
					  "the file ends inside its last buffer");
	else
		p->data_end = find_end(s, p, &end, &status);
	if (p->data_end == SIZE_MAX)
		end.us = 0;
	else
		p->end = p->file.buffer_size - 4;
	if (status == TACHO_STREAM_RECORD && tacho_ltt_is_22(p->file.layout))
		status = make_index(s, p);
	if (status != TACHO_STREAM_RECORD)
		return status;
	if (stamp_at(p, 0, p->end, TRACE_BUFFER_START, &start))
		start_clock(p, &start, &end);
	else
		status = tacho_ltt_damage(s, p, p->buf_at,
					  "a buffer does not begin with BUFFER_START");
	return status;
}
