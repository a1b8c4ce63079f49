// SPDX-License-Identifier: MIT
/* From the kernel's sub-buffers to LKST's handlers: T1..T5 and P1..P4 of pump_priv.h. */
#include <errno.h>
#include <linux/lkst_etypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "event/type.h"
#include "compat/lkst/late.h"
#include "compat/lkst/pump_priv.h"
#include "compat/lkst/priv.h"
#include "fmt/lkst/record.h"
#include "ring/read.h"
#include "ring/write.h"
#include "sys/clock.h"

#define ARENA_MAX	(1u << 20)
#define FORMAT_MAX	(64u << 10)
#define LIST_MAX	(1u << 20)
#define EVENT_MIN	12	/* bytes of an event in a sub-buffer at least */
#define LOOK_BACK	4096	/* records of a lane among which one is looked for */
#define JUDGE_TRIES	10000
#define LOCK_TRIES	10000	/* only one pumps: then it is a dead one's */

/* common_flags: in a hard or soft interrupt, or in an NMI */
#define FLAGS_INTERRUPT	0x58

/* ---- plans ---- */

/* Learns one tracepoint; what it is not able to do, the event's id will tell. */
static void load_point(struct tacho_lkst_pump *p, const struct lkst_kmap *m, const char *point)
{
	struct tacho_arena arena;
	const struct tacho_type *type;
	struct tacho_buf text;

	tacho_arena_init(&arena, ARENA_MAX);
	tacho_buf_init(&text, FORMAT_MAX);
	if (!lkst_kernel_format(tacho_kernel_dirfd(p->k), point, &text)) {
		type = tacho_type_parse_fields(&arena, "", NULL, 0, text.data, text.len, NULL);
		if (type && type->id <= UINT16_MAX && !p->plan_of[type->id])
			p->plan_of[type->id] =
				lkst_kplan_make(&p->plan[m->etype], m, type, NULL) ?
				LKST_NO_PLAN : (uint16_t)(m->etype + 1);
	}
	tacho_buf_release(&text);
	tacho_arena_release(&arena);
}

/* Learns those that are on, or all: an event may have been switched off since. */
static void load_events(struct tacho_lkst_pump *p, bool all)
{
	char point[LKST_KMAP_POINT_LEN];
	struct tacho_buf list;

	tacho_buf_init(&list, LIST_MAX);
	(void)tacho_tracefs_read(tacho_kernel_dirfd(p->k), "set_event", &list, NULL);
	for (uint32_t i = 0; i < LKST_ETYPE_USER_FIRST; i++) {
		const struct lkst_kmap *m = lkst_kmap_at(i);

		if (m && !p->plan[i].map && lkst_kernel_point(tacho_kernel_dirfd(p->k), m, point) &&
		    (all || lkst_kernel_is_listed(tacho_buf_str(&list), point)))
			load_point(p, m, point);
	}
	tacho_buf_release(&list);
}

static const struct lkst_kplan *plan_of(struct tacho_lkst_pump *p, uint16_t id)
{
	if (tacho_unlikely(!p->plan_of[id])) {
		load_events(p, false);
		if (!p->plan_of[id] && !p->scanned) {
			load_events(p, true);
			p->scanned = true;
		}
		if (!p->plan_of[id])
			p->plan_of[id] = LKST_NO_PLAN;
	}
	return p->plan_of[id] == LKST_NO_PLAN ? NULL : &p->plan[p->plan_of[id] - 1];
}

/* ---- judging ---- */

/*
 * [switches] `current` first, then the switches: one that is there although `current` is what was
 * before it is on its way, or its tool died there, and then it never happened.
 */
static bool copy_switches(struct lkst_pump_judge *j, const struct lkst_state *s, bool patient)
{
	uint64_t n, from;

	j->current = tacho_load_acquire(&s->current);	/* [current] */
	n = tacho_load_acquire(&s->nr_switches);	/* [switches] */
	from = n > LKST_SWITCHES ? n - LKST_SWITCHES : 0;
	j->nr = 0;
	for (uint64_t i = n; i > from; i--) {
		const struct lkst_switch *w = &s->switched[(i - 1) % LKST_SWITCHES];
		struct lkst_switch was = { tacho_load_relaxed(&w->ticks),
					   tacho_load_relaxed(&w->current) };

		if (i == n && was.current == j->current) {
			if (patient)
				return false;
			continue;
		}
		j->was[j->nr++] = was;
	}
	tacho_fence_acquire();	/* [switches] */
	j->ticks = j->nr ? j->was[0].ticks : 0;
	return tacho_load_relaxed(&s->nr_switches) == n &&
	       tacho_load_relaxed(&s->current) == j->current;
}

static void prepare_judge(struct tacho_lkst_pump *p)
{
	for (int i = 0; !copy_switches(&p->judge, p->l->state, i < JUDGE_TRIES); i++)
		(void)sched_yield();
}

/* The handler that the maskset of that time has. */
static uint32_t judge(const struct tacho_lkst_pump *p, uint64_t ticks, uint32_t etype)
{
	const struct lkst_pump_judge *j = &p->judge;
	uint64_t current = j->current;

	if (tacho_unlikely(ticks < j->ticks))
		for (uint32_t i = 0; i < j->nr && ticks < j->was[i].ticks; i++)
			current = j->was[i].current;
	return lkst_state_handler(p->l->state, current, etype);
}

/* ---- T2 ---- */

static bool tells_ids(uint32_t etype)
{
	return etype == LKST_ETYPE_PROCESS_CLONE || etype == LKST_ETYPE_PROCESS_EXEC ||
	       etype == LKST_ETYPE_PROCESS_EXIT || etype == LKST_ETYPE_SYSTEM_CALL_EXIT;
}

/* Takes the record that is at the end of the staged ones, if it is needed. */
static void stage(struct tacho_lkst_pump *p, struct lkst_pump_cpu *c, uint32_t number)
{
	struct lkst_staged *s = &c->staged[c->nr];

	s->handler = judge(p, s->r.ticks, s->r.etype);
	s->number = number;
	if (s->handler != LKST_EVHANDLER_ID_VOID || tells_ids(s->r.etype))
		c->nr++;
}

/* What the pump does itself. */
static bool is_own(const struct tacho_lkst_pump *p, struct lkst_pump_cpu *c,
		   const struct lkst_record *r)
{
	if (tacho_likely(r->thread != p->tid && r->thread != tacho_load_relaxed(&c->tid)))
		return false;
	switch (r->etype) {
	case LKST_ETYPE_PROCESS_CONTEXTSWITCH:
	case LKST_ETYPE_PROCESS_WAKEUP:
	case LKST_ETYPE_PROCESS_WAKING:
	case LKST_ETYPE_PROCESS_MIGRATE:
		return false;
	default:
		return r->thread && !(r->flags & LKST_LOG_INTERRUPT);
	}
}

static void stage_event(struct tacho_lkst_pump *p, struct lkst_pump_cpu *c,
			const struct tacho_kevent *ev, uint32_t number)
{
	struct lkst_record *r = &c->staged[c->nr].r;
	const struct lkst_kplan *plan;

	/* an instance that was left by an earlier session still has its events */
	if (ev->len < sizeof(struct tacho_common) ||
	    ev->time < p->l->session.view.ctl->start.ticks)
		return;
	plan = plan_of(p, tacho_load_u16(ev->raw));
	if (!plan || !lkst_kplan_args(plan, ev->raw, ev->len, r->arg))
		return;
	r->ticks = ev->time;
	r->recid = 0;
	r->thread = (int32_t)tacho_load_u32(ev->raw + 4);
	r->etype = plan->map->etype;
	r->cpu = (uint16_t)c->reader.cpu;
	r->flags = LKST_LOG_KERNEL | (ev->raw[2] & FLAGS_INTERRUPT ? LKST_LOG_INTERRUPT : 0);
	if (tacho_likely(!is_own(p, c, r)))
		stage(p, c, number);
}

/*
 * What the kernel overwrote before a sub-buffer.  Where it does not say how much that was, its
 * count of all that it ever overwrote does.
 */
static uint64_t count_lost(struct lkst_pump_cpu *c, int64_t lost)
{
	struct tacho_kreader_stats s;
	uint64_t n;

	if (lost > 0) {
		c->slot->overwritten += (uint64_t)lost;
		return (uint64_t)lost;
	}
	if (tacho_kreader_stats(&c->reader, &s) || s.overrun <= c->slot->overwritten)
		return 0;
	n = s.overrun - c->slot->overwritten;
	c->slot->overwritten = s.overrun;
	return n;
}

/*
 * At the time of the last event before the gap, not of the first after it: a reader who has all
 * events until now is to know that some of them are missing.
 */
static void stage_lost(struct tacho_lkst_pump *p, struct lkst_pump_cpu *c, uint64_t behind,
		       uint64_t lost)
{
	uint64_t ticks = c->upto && c->upto < behind ? c->upto : behind;

	c->staged[c->nr].r = (struct lkst_record){
		.ticks = ticks, .arg = { c->reader.cpu, lost }, .uid = 0, .gid = 0,
		.etype = LKST_ETYPE_LKST_LOST, .cpu = (uint16_t)c->reader.cpu,
		.flags = LKST_LOG_KERNEL,
	};
	stage(p, c, 0);
}

/* The events of a sub-buffer from number `from` on.  Returns the time of the last one. */
static uint64_t stage_page(struct tacho_lkst_pump *p, struct lkst_pump_cpu *c,
			   struct tacho_kpage page, uint32_t from)
{
	int64_t lost = from ? 0 : page.lost;
	struct tacho_kevent ev = { 0 };
	uint32_t number = 0;

	c->nr = c->next = c->handed = 0;
	while (tacho_kpage_next(&page, &ev) > 0 && c->nr + 2 < c->room) {
		if (!number && lost)
			stage_lost(p, c, ev.time, count_lost(c, lost));
		if (number++ >= from)
			stage_event(p, c, &ev, number);
	}
	return ev.time;
}

/* ---- T1, P1, P2 ---- */

static unsigned char *page_of(const struct tacho_lkst_pump *p, uint32_t cpu)
{
	return lkst_pump_page(&p->file, cpu);
}

static void empty_page(struct tacho_lkst_pump *p, uint32_t cpu)
{
	memset(page_of(p, cpu), 0, p->cpu[cpu].reader.layout.data_off);
	tacho_signal_fence();
}

static bool stage_room(struct lkst_pump_cpu *c)
{
	if (c->staged)
		return true;
	c->room = c->reader.subbuf_size / EVENT_MIN + 4;
	c->staged = calloc(c->room, sizeof(*c->staged));
	return c->staged != NULL;
}

static void empty_slot(struct tacho_lkst_pump *p, uint32_t cpu)		/* P4 */
{
	empty_page(p, cpu);
	tacho_store_release(&p->cpu[cpu].slot->len, 0);
}

int lkst_pump_take(struct tacho_lkst_pump *p, uint32_t cpu)
{
	uint64_t now = tacho_clock_read(p->l->session.view.ctl->clock);
	struct lkst_pump_cpu *c = &p->cpu[cpu];
	int ret;

	if (!stage_room(c))
		return -ENOMEM;
	empty_page(p, cpu);
	tacho_store_relaxed(&c->slot->done, 0);
	tacho_store_release(&c->slot->len, c->reader.subbuf_size);	/* P1 */
	ret = tacho_kreader_next(&c->reader);				/* P2 */
	if (ret > 0) {
		prepare_judge(p);
		c->upto = stage_page(p, c, c->reader.page, 0);
	} else if (!ret) {
		c->upto = now;
	}
	if (!c->nr)
		empty_slot(p, cpu);
	/* a sub-buffer that contradicts itself has no events; the next may have */
	return ret == -EBADMSG || ret > 0 ? 0 : ret;
}

void lkst_pump_find(struct tacho_lkst_pump *p, uint32_t cpu)
{
	const uint8_t *uuid = p->l->session.view.ctl->uuid;
	struct lkst_pump_cpu *c = &p->cpu[cpu];
	uint32_t len = c->slot->len;
	struct tacho_kpage page;

	lkst_late_settle(p->l->state, &p->l->session.view,
			 lkst_late_cpu(p->l->state, &p->l->session.view.ring, cpu));
	if (memcmp(c->slot->uuid, uuid, sizeof(c->slot->uuid)) != 0) {
		tacho_store_release(&c->slot->len, 0);
		memcpy(c->slot->uuid, uuid, sizeof(c->slot->uuid));
		c->slot->overwritten = 0;
		return;
	}
	if (!len || len > LKST_PUMP_PAGE || !stage_room(c) ||
	    tacho_kpage_open(&page, &c->reader.layout, page_of(p, cpu), len))
		return;
	prepare_judge(p);
	c->upto = stage_page(p, c, page, c->slot->done);
	c->found = true;
}

/* ---- T3 ---- */

/* The CPU whose next record is the oldest; `limit`: the second oldest of all, or what it was. */
static struct lkst_pump_cpu *oldest(struct tacho_lkst_pump *p, uint64_t *limit)
{
	struct lkst_pump_cpu *best = NULL;
	uint64_t first = *limit;

	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		struct lkst_pump_cpu *c = &p->cpu[i];
		uint64_t ticks;

		if (c->next == c->nr)
			continue;
		ticks = c->staged[c->next].r.ticks;
		if (ticks <= first) {
			*limit = first;
			first = ticks;
			best = c;
		} else if (ticks < *limit) {
			*limit = ticks;
		}
	}
	return best;
}

void lkst_pump_complete(struct tacho_lkst_pump *p, uint64_t upto)
{
	struct lkst_pump_cpu *c;
	uint64_t limit = upto;

	for (; (c = oldest(p, &limit)); limit = upto)
		do {
			struct lkst_record *r = &c->staged[c->next++].r;

			lkst_ids_fill(&p->ids, r);
			lkst_ids_update(&p->ids, r);
		} while (c->next < c->nr && c->staged[c->next].r.ticks <= limit);
}

/* ---- T4, P3, P4 ---- */

static bool is_same(const struct lkst_record *a, const unsigned char *raw, uint32_t len)
{
	struct lkst_record b;

	return len == 8 * LKST_RAW_KERNEL && lkst_record_unpack(&b, raw, len, 0) &&
	       a->ticks == b.ticks && a->etype == b.etype && a->thread == b.thread &&
	       !memcmp(a->arg, b.arg, sizeof(b.arg));
}

/* Whether a buffer of the lane has a record, among its last ones. */
static bool buffer_has(struct tacho_ring *ring, uint32_t lane, uint32_t id,
		       const struct lkst_record *r)
{
	uint64_t total = tacho_ring_written(ring, lane, id);
	struct tacho_ring_reader rd;
	struct tacho_chunk chunk;
	bool has = false;

	if (tacho_ring_reader_init(&rd, ring, lane, id, false,
				   total > LOOK_BACK ? total - LOOK_BACK : 0))
		return false;
	while (!has && tacho_ring_read(&rd, &chunk) > 0)
		for (uint32_t at = 0; !has && at < chunk.len;) {
			const unsigned char *record = (const unsigned char *)chunk.data + at;
			uint32_t size = tacho_record_size(tacho_load_u64(record));

			has = is_same(r, record + 8, size - 8);
			at += size;
		}
	tacho_ring_reader_release(&rd);
	return has;
}

/* In any buffer: the event may have been the one at which the CPU went to another. */
static bool lane_has(struct tacho_lkst_pump *p, uint32_t cpu, const struct lkst_record *r)
{
	struct tacho_ring *ring = &p->l->session.view.ring;
	const struct lkst_state *s = p->l->state;
	uint32_t lane = lkst_late_lane(s, ring, lkst_late_cpu(s, ring, cpu));
	bool has = false;

	if (lane == UINT32_MAX)
		return false;
	for (uint32_t id = 0; !has && id < TACHO_BUFFERS_MAX; id++)
		if (tacho_load_acquire(&tacho_lane_buffer(tacho_ring_lane(ring, lane), id)->flags) &
		    TACHO_BUFFER_MADE)
			has = buffer_has(ring, lane, id, r);
	return has;
}

/*
 * A pump that was killed may not be quite dead.  False: it ends with the session, or there is none:
 * nothing is written then.
 */
static bool lock_lane(struct tacho_lkst_pump *p, uint32_t lane)
{
	struct tacho_view *v = &p->l->session.view;
	int err;

	for (int i = 0; (err = tacho_ring_lock_late(&v->ring, lane, i > LOCK_TRIES)) == -EAGAIN &&
	     tacho_load_relaxed(&v->ctl->state) != TACHO_STATE_DEAD; i++)
		(void)sched_yield();
	return !err;
}

void lkst_pump_hand(struct tacho_lkst_pump *p, uint32_t cpu)
{
	struct tacho_ring *ring = &p->l->session.view.ring;
	uint32_t lane = lkst_late_lane(p->l->state, ring,
				       lkst_late_cpu(p->l->state, ring, cpu));
	struct lkst_pump_cpu *c = &p->cpu[cpu];

	bool locked = lock_lane(p, lane);

	for (; c->handed < c->next; c->handed++) {
		const struct lkst_staged *s = &c->staged[c->handed];

		if (!c->handed && c->found && lane_has(p, cpu, &s->r))
			continue;
		(void)tacho_lkst_handle(p->l, s->handler, &s->r, true);
		tacho_store_release(&c->slot->done, s->number);			/* P3 */
	}
	if (locked)
		tacho_ring_unlock_late(ring, lane);
	if (c->handed < c->nr)
		return;
	c->nr = c->next = c->handed = 0;
	c->found = false;
	empty_slot(p, cpu);
}
