// SPDX-License-Identifier: MIT
/* The records of one buffer. */
#include <string.h>

#include "base/bytes.h"
#include "fmt/ltt/part.h"

/* Copied at once for every record; the longest that is copied at all is 24. */
#define COPY	32u

static TACHO_ALWAYS_INLINE uint32_t word_of(const unsigned char *p, bool swap)
{
	return swap ? __builtin_bswap32(tacho_load_u32(p)) : tacho_load_u32(p);
}

static TACHO_ALWAYS_INLINE uint16_t half_of(const unsigned char *p, bool swap)
{
	return swap ? __builtin_bswap16(tacho_load_u16(p)) : tacho_load_u16(p);
}

static TACHO_ALWAYS_INLINE void turn(const struct tacho_ltt_plan *plan,
				     unsigned char *body)
{
	for (uint32_t i = 0; i < plan->nr_turn; i++) {
		unsigned char *p = body + plan->turn[i].at;

		if (plan->turn[i].size == 4)
			tacho_put_u32(p, __builtin_bswap32(tacho_load_u32(p)));
		else if (plan->turn[i].size == 8)
			tacho_put_u64(p, __builtin_bswap64(tacho_load_u64(p)));
		else
			tacho_put_u16(p, __builtin_bswap16(tacho_load_u16(p)));
	}
}

/*
 * Records that need nothing but a copy, one after the other; ends before the first one that
 * needs more.  All that changes is kept in registers meanwhile.
 */
static TACHO_ALWAYS_INLINE void walk_copied(const struct tacho_ltt_source *s,
					    struct tacho_ltt_part *p,
					    struct tacho_ltt_batch *b, bool swap)
{
	struct tacho_ltt_clock clock = p->clock;
	const unsigned char *in = p->buf + p->pos;
	const unsigned char *stop = p->buf + (p->data_end < p->end ? p->data_end :
								     p->end);
	unsigned char *out = b->out + b->len;
	unsigned char *full = b->out + LTT_OUT_ROOM - LTT_OUT_MORE;
	uint64_t last = b->last;
	int32_t pid = p->pid;

	while ((size_t)(stop - in) >= LTT_HEAD && out < full) {
		uint32_t time = word_of(in, swap), delta = time - clock.last;
		uint32_t id = in[4], sub = in[5];
		const struct tacho_ltt_plan *plan = &s->plan[(id & 31) << 4 | (sub & 15)];
		uint64_t ns;

		if (tacho_unlikely(plan->size != half_of(in + 6, swap) ||
				   plan->size > (size_t)(stop - in) ||
				   (id | sub << 1) > 31 || delta > INT32_MAX ||
				   delta > clock.limit - clock.now))
			break;
		clock.now += delta;
		ns = tacho_ltt_ns(&clock);
		if (tacho_unlikely(ns - last >= (uint64_t)1 << 47)) {
			clock.now -= delta;
			break;
		}
		clock.last = time;
		last = ns;
		tacho_put_u64(out, tacho_record_word(ns, plan->out));
		tacho_put_u64(out + 8, tacho_common_word(plan->type, pid));
		memcpy(out + 16, in + LTT_HEAD, COPY);
		if (swap)
			turn(plan, out + 16);
		if (plan->sched)
			pid = (int32_t)tacho_load_u32(out + 16 + 4);
		in += plan->size;
		out += plan->out;
	}
	p->clock = clock;
	p->pos = (size_t)(in - p->buf);
	p->pid = pid;
	b->len = (size_t)(out - b->out);
	b->last = last;
}

/* What stands at p->pos is no record: on to BUFFER_END, or to the end. */
static int skip(struct tacho_ltt_source *s, struct tacho_ltt_part *p, size_t size)
{
	int status = tacho_ltt_damage(s, p, p->buf_at + p->pos, size < LTT_HEAD ?
		"a record of %zu bytes is shorter than its header; the rest of the buffer "
		"is skipped" :
		"a record of %zu bytes goes beyond its buffer; the rest of the buffer is "
		"skipped", size);

	p->pos = p->data_end != SIZE_MAX && p->pos < p->data_end ? p->data_end : p->end;
	return status;
}

static bool only_zeros(const unsigned char *p, size_t len)
{
	return !len || (!*p && !memcmp(p, p + 1, len - 1));
}

/* Copies the record at p->pos.  AGAIN: nothing was done; END: no record. */
static int look_23(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   struct tacho_ltt_record *r, uint32_t *time)
{
	const unsigned char *in = p->buf + p->pos;
	size_t end = p->pos < p->data_end && p->data_end < p->end ? p->data_end : p->end;
	size_t left = end - p->pos, size;

	if (!left)
		return TACHO_STREAM_END;
	/* no BUFFER_END was written, or what there is of it is only its room */
	if (p->data_end == SIZE_MAX && only_zeros(in, left))
		return TACHO_STREAM_END;
	size = left < LTT_HEAD ? left : tacho_ltt_u16(&p->file, in + 6);
	if (size < LTT_HEAD || size > left) {
		int status = skip(s, p, size);

		return status == TACHO_STREAM_RECORD ? TACHO_STREAM_AGAIN : status;
	}
	*time = tacho_ltt_u32(&p->file, in);
	*r = (struct tacho_ltt_record){ .id = in[4], .sub = in[5], .size = size,
		.body = in + LTT_HEAD, .len = size - LTT_HEAD,
		.at = p->buf_at + p->pos };
	return TACHO_STREAM_RECORD;
}

/* The same by the index. */
static int look_22(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   struct tacho_ltt_record *r, uint32_t *time)
{
	const unsigned char *in, *body;
	size_t end, head = LTT_22_HEAD;

	if (p->at_index >= p->nr_index)
		return TACHO_STREAM_END;
	p->pos = p->index[p->at_index];
	in = body = p->buf + p->pos;
	end = p->at_index + 1 < p->nr_index ? p->index[p->at_index + 1] :
	      p->pos + head + 12 + LTT_22_TAIL + p->file.log_cpu;
	if (p->file.log_cpu && p->pos &&
	    (p->buf_at || p->pos != LTT_22_MAGIC_AT - LTT_22_HEAD)) {
		p->cpu = in[0];
		body++;
		head++;
	}
	if (end > p->end || end - p->pos < head + LTT_22_TAIL) {
		p->at_index = p->nr_index;
		return skip(s, p, end - p->pos) == TACHO_STREAM_ERROR ?
		       TACHO_STREAM_ERROR : TACHO_STREAM_END;
	}
	*time = tacho_ltt_u32(&p->file, body + 1);
	*r = (struct tacho_ltt_record){ .id = body[0], .size = end - p->pos,
		.body = p->buf + p->pos + head,
		.len = end - p->pos - head - LTT_22_TAIL, .at = p->buf_at + p->pos };
	if (r->id <= TRACE_MAX && s->shape[r->id].nr && s->shape[r->id].elem[0].hole)
		r->sub = r->len ? r->body[0] : 0;
	return TACHO_STREAM_RECORD;
}

static int next_record(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		       struct tacho_ltt_record *r, uint32_t *time)
{
	return tacho_ltt_is_22(s->layout) ? look_22(s, p, r, time) :
					    look_23(s, p, r, time);
}

/* BUFFER_END's own word is not the time in every version; its struct's is. */
static int set_time(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		    const struct tacho_ltt_record *r, uint32_t time)
{
	struct tacho_ltt_clock *c = &p->clock;

	if (r->id == TRACE_START || (r->id == TRACE_BUFFER_START && !p->pos))
		return TACHO_STREAM_RECORD;
	if (r->id != TRACE_BUFFER_END)
		return tacho_ltt_advance(s, p, time, r->id);
	if (c->limit != UINT64_MAX && c->limit > c->now)
		c->now = c->limit;
	return TACHO_STREAM_RECORD;
}

/* Converts one record that is not copied directly.  END: no record. */
static int walk_one(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		    struct tacho_ltt_batch *b)
{
	struct tacho_ltt_record r;
	uint32_t time, cpu = p->cpu;
	int status = next_record(s, p, &r, &time);

	if (status == TACHO_STREAM_AGAIN)
		return TACHO_STREAM_RECORD;
	if (status != TACHO_STREAM_RECORD)
		return status;
	if (b->len && (tacho_ltt_room(b) < r.len + LTT_OUT_MORE || p->cpu != b->cpu)) {
		p->cpu = cpu;
		return TACHO_STREAM_AGAIN;
	}
	b->cpu = p->cpu;
	if (!p->timed)
		status = set_time(s, p, &r, time);
	p->timed = false;
	if (status == TACHO_STREAM_RECORD)
		status = tacho_ltt_emit(s, p, b, &r);
	if (status == TACHO_STREAM_AGAIN) {
		p->timed = true;
		return status;
	}
	p->pos += r.size;
	p->at_index++;
	if (r.id == TRACE_BUFFER_END) {
		p->pos = p->end;
		p->at_index = p->nr_index;
	}
	return status;
}

int tacho_ltt_walk(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   struct tacho_ltt_batch *b)
{
	int status;

	do {
		/* it needs a record before it to compare with */
		if (b->len && b->stream_id == TACHO_STREAM_KERNEL &&
		    !tacho_ltt_is_22(s->layout)) {
			if (s->swap)
				walk_copied(s, p, b, true);
			else
				walk_copied(s, p, b, false);
		}
		status = walk_one(s, p, b);
	} while (status == TACHO_STREAM_RECORD);
	return status == TACHO_STREAM_END ? TACHO_STREAM_RECORD : status;
}

int tacho_ltt_walk_types(struct tacho_ltt_source *s, struct tacho_ltt_part *p)
{
	struct tacho_ltt_record r;
	uint32_t time;
	int status;

	while ((status = next_record(s, p, &r, &time)) != TACHO_STREAM_END) {
		if (status == TACHO_STREAM_AGAIN)
			continue;
		if (status == TACHO_STREAM_RECORD &&
		    (r.id == TRACE_NEW_EVENT || r.id == TRACE_CUSTOM))
			status = tacho_ltt_load_type(s, p, &r);
		if (status == TACHO_STREAM_ERROR)
			return status;
		p->pos = r.id == TRACE_BUFFER_END ? p->end : p->pos + r.size;
		p->at_index = r.id == TRACE_BUFFER_END ? p->nr_index : p->at_index + 1;
	}
	return TACHO_STREAM_RECORD;
}
