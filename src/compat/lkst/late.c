// SPDX-License-Identifier: MIT
#include "compat/lkst/late.h"

#include <errno.h>

#include "compat/lkst/hook.h"
#include "ring/read.h"
#include "ring/write.h"

uint32_t lkst_late_lane(const struct lkst_state *s, const struct tacho_ring *r, uint32_t cpu)
{
	uint32_t n = cpu - tacho_load_relaxed(&s->late_cpu);

	return n < r->nr_late ? r->nr_cpus + r->nr_fallback + n : UINT32_MAX;
}

uint32_t lkst_late_cpu(const struct lkst_state *s, const struct tacho_ring *r, uint32_t cpu)
{
	uint32_t first = tacho_load_relaxed(&s->late_cpu);

	return first && r->nr_fallback ? first + cpu % r->nr_fallback : cpu;
}

uint64_t lkst_ring_end(const struct tacho_ring *r, uint32_t lane, uint32_t ring, bool *open)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);
	uint64_t c = tacho_load_acquire(&l->cursor);

	*open = c && tacho_cursor_id(c) == ring;
	return *open ? c : tacho_load_acquire(&tacho_lane_buffer(l, ring)->saved);
}

bool lkst_turn_now(struct tacho_view *v, uint32_t cpu, const struct lkst_buffer *b,
		   struct lkst_turn_now *t)
{
	const uint32_t ring = tacho_load_relaxed(&b->ring) % TACHO_BUFFERS_MAX;
	const struct tacho_buffer *buf = tacho_lane_buffer(tacho_ring_lane(&v->ring, cpu), ring);
	const struct tacho_ring_buf *map;
	const struct tacho_packet *p;
	bool open;

	*t = (struct lkst_turn_now){ .end = lkst_ring_end(&v->ring, cpu, ring, &open) };
	map = t->end ? tacho_ring_map(&v->ring, cpu, ring) : NULL;
	if (!map)
		return false;
	p = tacho_ring_sub(&v->ring, map, t->end);
	t->begins = open ? tacho_load_relaxed(&buf->begins) : tacho_load_relaxed(&buf->began);
	t->left = open ? 0 : tacho_load_relaxed(&p->timestamp_end);
	t->last_sub = tacho_load_relaxed(&p->packet_seq_num);
	t->records = tacho_load_relaxed(&p->event_first) + tacho_cursor_events(t->end);
	return t->last_sub >= b->since;
}

/* ---- where an event goes: L1, L2 ---- */

static struct lkst_buffer *of_ring(struct lkst_cpu *c, uint32_t ring)
{
	uint32_t at = ring < TACHO_BUFFERS_MAX ? tacho_load_relaxed(&c->of_ring[ring]) : 0;
	struct lkst_buffer *b = at && at <= TACHO_BUFFERS_MAX ? &c->buffer[at - 1] : NULL;

	/* [lkst-buffer] */
	return b && tacho_load_acquire(&b->state) != LKST_BUFFER_NONE ? b : NULL;
}

/* A reader has it: what comes now goes to the next one, or it would not be read. */
static bool was_taken(const struct lkst_buffer *b, const struct lkst_turn_now *t)
{
	return t->left && tacho_load_acquire(&b->taken) == t->begins + 1;	/* [taken] */
}

/* The buffer of the last event, if the turn that it was in is there. */
static struct lkst_buffer *last_place(struct tacho_view *v, uint32_t cpu, struct lkst_cpu *c,
				      struct lkst_turn_now *t)
{
	uint32_t ring = tacho_load_relaxed(&c->late_ring);
	struct lkst_buffer *b = ring ? of_ring(c, ring - 1) : NULL;

	return b && lkst_turn_now(v, cpu, b, t) && t->begins + 1 == b->late_turn &&
	       !was_taken(b, t) ? b : NULL;
}

/* Of the turns that were not left at `ticks` yet the first one. */
static struct lkst_buffer *find_place(struct tacho_view *v, uint32_t cpu, struct lkst_cpu *c,
				      uint64_t ticks, struct lkst_turn_now *found)
{
	struct lkst_buffer *best = NULL;
	struct lkst_turn_now t;

	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		struct lkst_buffer *b = &c->buffer[id];

		if (tacho_load_acquire(&b->state) == LKST_BUFFER_NONE ||	/* [lkst-buffer] */
		    !lkst_turn_now(v, cpu, b, &t) || (t.left && t.left <= ticks) ||
		    was_taken(b, &t))
			continue;
		if (!best || (t.left && (!found->left || t.left < found->left))) {
			best = b;
			*found = t;
		}
	}
	return best;
}

/* A turn that has no kernel's records so far.  What it has is said last. */
static void begin_turn(struct lkst_buffer *b, uint64_t begins)
{
	uint64_t end = tacho_load_relaxed(&b->late_end);

	tacho_store_release(&b->late_turn, 0);	/* [late-turn] */
	/* [late-turn] each after the turn was 0 */
	tacho_store_release(&b->late_from, end);
	tacho_store_release(&b->late_early, end);	/* [late-turn] */
	tacho_store_release(&b->late_turn, begins + 1);	/* [late-turn] */
}

static struct lkst_buffer *place_of(struct tacho_view *v, uint32_t cpu, struct lkst_cpu *c,
				    uint64_t ticks, struct lkst_turn_now *t, bool *moved)
{
	struct lkst_buffer *b = last_place(v, cpu, c, t);

	*moved = !b || (t->left && t->left <= ticks);
	if (!*moved)
		return b;
	ticks = ticks > c->late_left ? ticks : c->late_left;
	tacho_store_release(&c->late_left, ticks);	/* [late-left] */
	b = find_place(v, cpu, c, ticks, t);
	if (!b)
		return NULL;
	if (b->late_turn != t->begins + 1)
		begin_turn(b, t->begins);
	tacho_store_release(&c->late_ring, b->ring + 1);
	return b;
}

/* ---- L3, L4 ---- */

/* Whether it may be full now, by the lap that programs count by. */
static bool is_full(const struct lkst_cpu *c, const struct lkst_buffer *b, uint64_t programs)
{
	uint64_t lap = tacho_load_relaxed(&c->lap), n = programs + b->late_end;

	return lap >> LKST_LAP_SHIFT != b->ring ||
	       n - (lap & LKST_LAP_MASK) >= b->size / LKST_SIZEOF_LKST_EVENT_RECORD;
}

int lkst_late_write(struct lkst_state *s, struct tacho_view *v, uint32_t cpu, const uint64_t *raw,
		    uint32_t words, uint64_t ticks, bool *full)
{
	struct lkst_cpu *c = cpu < s->nr_cpus ? &s->cpu[cpu] : NULL;
	uint32_t lane = lkst_late_lane(s, &v->ring, cpu);
	struct lkst_turn_now t = { 0 };
	struct lkst_buffer *b;
	bool moved;
	int err;

	*full = false;
	b = c && lane != UINT32_MAX ? place_of(v, cpu, c, ticks, &t, &moved) : NULL;
	if (!b) {
		tacho_ring_lose(&v->ring, TACHO_LOSS_BUSY);
		return -ENOENT;
	}
	if (ticks > c->late_last)
		tacho_store_release(&c->late_last, ticks);
	err = tacho_ring_write_late(&v->ring, lane, b->ring, raw, words, c->late_last);
	if (err)
		return err;
	if (!t.left)
		tacho_store_release(&b->late_early, b->late_end + 1);	/* [late-end] */
	tacho_store_release(&b->late_end, b->late_end + 1);	/* [late-end] */
	if (t.left)
		return 0;
	/* what is written next is to count again */
	tacho_store_relaxed(&c->limit, t.end);
	*full = moved || is_full(c, b, t.records);
	return 0;
}

/* ---- L5 ---- */

void lkst_late_leave(struct lkst_state *s, struct tacho_view *v, uint32_t cpu)
{
	struct lkst_cpu *c = &s->cpu[cpu];
	struct lkst_turn_now t;

	if (last_place(v, cpu, c, &t) && t.left > c->late_left)
		tacho_store_release(&c->late_left, t.left);	/* [late-left] */
	tacho_store_release(&c->late_ring, 0);
}

void lkst_late_settle(struct lkst_state *s, struct tacho_view *v, uint32_t cpu)
{
	uint32_t lane = cpu < s->nr_cpus ? lkst_late_lane(s, &v->ring, cpu) : UINT32_MAX;

	for (uint32_t id = 0; lane != UINT32_MAX && id < TACHO_BUFFERS_MAX; id++) {
		struct lkst_buffer *b = &s->cpu[cpu].buffer[id];
		/* [lkst-buffer] */
		uint64_t n = tacho_load_acquire(&b->state) == LKST_BUFFER_NONE ? 0 :
			     tacho_ring_written(&v->ring, lane, b->ring % TACHO_BUFFERS_MAX);

		if (n > b->late_end)
			tacho_store_release(&b->late_end, n);	/* [late-end] */
	}
}
