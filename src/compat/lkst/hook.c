// SPDX-License-Identifier: MIT
/* A hit of LKST_HOOK(): K1 .. K4 of hook.h. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/run.h"
#include "ring/write.h"

#define TRIES	8	/* looks at a maskset while it is being switched */

/* A cpu in its place in word 8 of a record. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPU_WORD(cpu)	((uint64_t)((cpu) & 0xffff) << 16)
#else
#define CPU_WORD(cpu)	((uint64_t)((cpu) & 0xffff) << 32)
#endif

/* ---- K4 ---- */

static void look_at_lane(struct lkst_state *s, struct lkst_link *k, uint32_t lane)
{
	uint64_t c = tacho_load_acquire(&tacho_ring_lane(&k->view.ring, lane)->cursor);

	if (!lkst_is_over(tacho_load_relaxed(&s->cpu[lane].limit), c))
		return;
	lkst_overrun(s, &k->view, lane, c, false);
	lkst_link_late(k, s, lane);
}

/* Where there are no sequences the record may be in any of the plain lanes. */
static void look_at_plain(struct lkst_state *s, struct lkst_link *k)
{
	uint32_t n = k->view.ring.nr_cpus + k->view.ring.nr_fallback;

	for (uint32_t lane = k->view.ring.nr_cpus; lane < n && lane < lkst_run.nr_cpus; lane++)
		if (tacho_load_relaxed(&tacho_ring_lane(&k->view.ring, lane)->cursor))
			look_at_lane(s, k, lane);
}

static void look_at_limit(struct lkst_state *s, struct lkst_link *k)
{
	uint32_t lane = lkst_lane_here(k);

	if (lane < k->nr_cpus)
		look_at_lane(s, k, lane);
	else
		look_at_plain(s, k);
}

/* ---- the record ---- */

static TACHO_ALWAYS_INLINE void fill(uint64_t raw[LKST_RAW_PROGRAM], uint64_t word,
				     uint64_t cpu, uint64_t a, uint64_t b, uint64_t c,
				     uint64_t d)
{
	raw[1] = a;
	raw[2] = b;
	raw[3] = c;
	raw[4] = d;
	raw[5] = lkst_self.ids;
	raw[6] = lkst_self.who;
	raw[7] = word | CPU_WORD(cpu);
}

static uint32_t cpu_here(const struct lkst_link *k)
{
	uint32_t lane = lkst_lane_here(k);
	int cpu = lane == UINT32_MAX ? sched_getcpu() : (int)lane;

	return cpu < 0 ? 0 : (uint32_t)cpu;
}

/* In LKST's session, and in no other. */
static void write_own(struct lkst_type *t, struct lkst_state *s, struct lkst_link *k,
		      const uint64_t arg[4])
{
	uint64_t raw[LKST_RAW_PROGRAM];

	fill(raw, t->word, cpu_here(k), arg[0], arg[1], arg[2], arg[3]);
	t->event.ops->write_mask(&t->event, raw, sizeof(raw), k->mask);
	look_at_limit(s, k);
}

/* ---- records of handlers, of any type ---- */

/* Writes this thread's name to the session. */
static void introduce(struct lkst_link *k)
{
	char comm[16] = "";

	(void)prctl(PR_GET_NAME, comm);
	tacho_tasks_put(k->view.ctl, gettid(), getpid(), comm);
	lkst_self.introduced = k->serial;
}

/* The type's text, from what LKST knows of it.  b has memory that is not the heap's. */
static void known_text(struct tacho_buf *b, const struct lkst_state *s, uint32_t etype)
{
	static const char *const plain[4] = { "arg1", "arg2", "arg3", "arg4" };
	struct lkst_etype_entry e;
	char number[] = "EVENT_0x000";

	e = s->etype[lkst_etype_index(etype)];
	if (tacho_load_acquire(&e.ready)) {	/* [described] */
		const char *const arg[4] = { e.arg[0], e.arg[1], e.arg[2], e.arg[3] };

		e.mnemonic[sizeof(e.mnemonic) - 1] = e.name[sizeof(e.name) - 1] = '\0';
		for (int i = 0; i < 4; i++)
			e.arg[i][sizeof(e.arg[i]) - 1] = '\0';
		lkst_record_type_text(b, e.mnemonic, e.name, arg, LKST_OF_PROGRAM);
		return;
	}
	for (int i = 0; i < 3; i++)
		number[8 + i] = "0123456789abcdef"[etype >> (8 - 4 * i) & 15];
	lkst_record_type_text(b, number, number, plain, LKST_OF_PROGRAM);
}

static uint16_t id_of(struct lkst_link *k, const struct lkst_state *s, uint32_t etype)
{
	int at = lkst_etype_index(etype);
	const struct lkst_type *t = lkst_type_of((uint32_t)at);
	uint16_t id = tacho_load_relaxed(&k->id[at]);
	char text[LKST_TYPE_TEXT];
	struct tacho_buf b = { .data = text, .room = sizeof(text), .cap = sizeof(text) };
	int got;

	if (id)
		return id;
	if (t)
		got = tacho_types_add(&k->view, t->text, t->text_len);
	else {
		known_text(&b, s, etype);
		got = b.err ? b.err : tacho_types_add(&k->view, b.data, (uint32_t)b.len);
	}
	if (got > 0 && tacho_load_relaxed(&s->etype[at].ready))
		tacho_store_relaxed(&k->id[at], (uint16_t)got);
	return got > 0 ? (uint16_t)got : 0;
}

/* Whether the session wants it or not, and of any program that defined the type. */
static void record_any(uint32_t etype, const uint64_t arg[4])
{
	struct lkst_state *s = tacho_load_acquire(&lkst_run.state);	/* [lkst-state] */
	struct lkst_link *k = s && lkst_etype_index(etype) >= 0 ? lkst_link_get(s) : NULL;
	uint64_t raw[LKST_RAW_PROGRAM];
	uint16_t id;

	if (!k)
		return;
	if (lkst_self.introduced != k->serial)
		introduce(k);
	lkst_self_refresh(tacho_load_relaxed(&s->current));
	id = id_of(k, s, etype);
	if (!id) {
		tacho_ring_lose(&k->view.ring, TACHO_LOSS_BUSY);
		return;
	}
	raw[0] = tacho_common_word(id, gettid());
	fill(raw, TACHO_COMMON_TYPE(etype), cpu_here(k), arg[0], arg[1], arg[2], arg[3]);
	(void)tacho_ring_write(&k->view.ring, raw, LKST_RAW_PROGRAM);
	look_at_limit(s, k);
	if (lkst_lane_here(k) < k->nr_cpus)
		lkst_link_dump(k, lkst_lane_here(k));
}

TACHO_EXPORT void lkst_evhandlerprim_entry_log(void *phookrec, int event_type, lkst_arg_t log_arg1,
					       lkst_arg_t log_arg2, lkst_arg_t log_arg3,
					       lkst_arg_t log_arg4)
{
	const uint64_t arg[4] = { log_arg1, log_arg2, log_arg3, log_arg4 };
	struct lkst_hookrec *rec = phookrec;
	int saved = errno;

	if (rec)
		rec->record(rec, (uint32_t)event_type, arg);
	else
		record_any((uint32_t)event_type, arg);
	errno = saved;
}

/* ---- K3 ---- */

/* What a handler of users has as its phookrec. */
struct hit {
	struct lkst_hookrec rec;
	struct lkst_type *type;
	struct lkst_state *state;
	struct lkst_link *link;
};

static void record_of_hit(struct lkst_hookrec *rec, uint32_t etype, const uint64_t arg[4])
{
	struct hit *h = (struct hit *)(void *)rec;

	if (lkst_etype_index(etype) == (int)h->type->index &&
	    tacho_load_relaxed(&h->type->event.state[0]) & h->link->mask)
		write_own(h->type, h->state, h->link, arg);
	else
		record_any(etype, arg);
}

static uint32_t lane_to_shift(const struct lkst_link *k)
{
	uint32_t lane = lkst_lane_here(k);
	const struct tacho_ring *r = &k->view.ring;

	if (lane != UINT32_MAX)
		return lane;
	return r->nr_fallback ? r->nr_cpus + (uint32_t)gettid() % r->nr_fallback : 0;
}

/* In LKST's session, by a handler that is not LOG. */
static void handle(struct lkst_type *t, struct lkst_state *s, struct lkst_link *k,
		   uint32_t handler, const uint64_t arg[4])
{
	struct hit h = { { record_of_hit }, t, s, k };
	lkst_evhandler_func fn = NULL;

	if (handler == LKST_EVHANDLER_ID_VOID)
		return;
	if (handler >= LKST_EVHANDLER_ID_USER)
		fn = lkst_local_handler(handler);
	if (fn && lkst_handler_call(fn, &h.rec, lkst_etype_at(t->index), arg))
		return;
	write_own(t, s, k, arg);
	if (handler == LKST_EVHANDLER_ID_BUFFER_SHIFT ||
	    handler == LKST_EVHANDLER_ID_BUFFER_SHIFT_DW)
		(void)lkst_shift_here(s, &k->view, lane_to_shift(k),
				      handler == LKST_EVHANDLER_ID_BUFFER_SHIFT_DW, false);
}

/* Whatever is not one record in one buffer. */
static void hit_rare(struct lkst_type *t, struct lkst_state *s, struct lkst_link *k,
		     uint32_t handler, const uint64_t arg[4])
{
	uint64_t own = k ? k->mask : 0, wanted = tacho_load_relaxed(&t->event.state[0]);
	uint64_t raw[LKST_RAW_PROGRAM];

	if (wanted & ~own) {
		fill(raw, t->word, k ? cpu_here(k) : (uint32_t)sched_getcpu(), arg[0], arg[1],
		     arg[2], arg[3]);
		t->event.ops->write_mask(&t->event, raw, sizeof(raw), ~own);
	}
	if (wanted & own)
		handle(t, s, k, handler, arg);
}

/* ---- K1, K2 ---- */

/*
 * What the maskset that is selected has for a type.  A maskset that is selected does not change:
 * if `current`, which has a count, is the same before and after, the entry was its own.
 */
static uint32_t judge(const struct lkst_state *s, uint32_t index, uint64_t *current)
{
	uint32_t entry = LKST_EVHANDLER_ID_VOID;

	for (int i = 0; i < TRIES; i++) {
		uint64_t now = tacho_load_acquire(&s->current);	/* [current] */
		uint32_t slot = lkst_current_slot(now);

		*current = now;
		if (slot >= LKST_SLOTS)
			continue;
		entry = tacho_load_acquire(&s->slot[slot].entry[index]);
		if (tacho_load_relaxed(&s->current) == now)
			return entry & 0xffff;
	}
	*current = UINT64_MAX;
	return entry & 0xffff;
}

/* The limit may have been reached. */
static TACHO_NOINLINE void limit_slow(struct lkst_type *t)
{
	int saved = errno;
	struct lkst_link *k = lkst_link_get(lkst_run.state);

	/* of the link that was written to: else the cursor was another session's */
	if (k && k == tacho_load_relaxed(&t->link))
		look_at_limit(lkst_run.state, k);
	errno = saved;
}

/* All of K1 .. K4, whatever comes; and what the next hit may take for granted. */
static TACHO_NOINLINE void hit_slow(struct lkst_type *t, const uint64_t arg[4])
{
	struct lkst_state *s = lkst_run.state;
	int saved = errno;
	struct lkst_link *k = lkst_link_get(s);			/* K1 */
	uint64_t wanted = tacho_load_relaxed(&t->event.state[0]), current;
	uint64_t own = k ? k->mask : 0, raw[LKST_RAW_PROGRAM];
	uint32_t handler = judge(s, t->index, &current);	/* K2 */

	lkst_self_refresh(current);
	if (k && handler == LKST_EVHANDLER_ID_LOG && wanted & own) {
		fill(raw, t->word, cpu_here(k), arg[0], arg[1], arg[2], arg[3]);
		t->event.ops->write(&t->event, raw, sizeof(raw));	/* K3 */
		look_at_limit(s, k);				/* K4 */
		tacho_store_relaxed(&t->link, k);
		tacho_store_release(&t->logs, current);	/* [logs] */
	} else {
		hit_rare(t, s, k, handler, arg);
	}
	errno = saved;
}

/*
 * The fast way is for an event that the maskset just records.  t->logs is the word `current`
 * for which the type is known to be so, in the session t->link: the word counts, so it never
 * stands for another maskset, nor for another session of LKST.
 *
 * What there is to load in it is ordered by latency: libtacho begins with the clock, which
 * waits for all that precedes it and overlaps with what follows (ring/write-x86_64.h).  So
 * nothing before that waits for more than two other loads; and the cursor comes afterwards, by
 * libtacho's mapping, as what was just stored by one mapping of a page is not handed to a
 * load by another (measured: 15 ns).
 */
static TACHO_ALWAYS_INLINE bool hit_fast(struct lkst_type *t, uint64_t a, uint64_t b, uint64_t c,
					 uint64_t d)
{
	const struct lkst_fast *f = &lkst_run.fast;
	/* the link is of that word, or a later one */
	uint64_t logs = tacho_load_acquire(&t->logs);	/* [logs] */
	uint32_t cpu = lkst_cpu_here();
	uint64_t raw[LKST_RAW_PROGRAM];
	const struct tacho_lane *l;
	const struct lkst_link *k;

	if (tacho_unlikely(tacho_load_relaxed(f->current) != logs ||
			   tacho_load_relaxed(&lkst_self.seen) != logs || cpu >= f->nr_cpus))
		return false;
	fill(raw, t->word, cpu, a, b, c, d);
	/* K3, in the sessions whose bits are set now: ours may not be one of them */
	f->write(&t->event, raw, sizeof(raw));
	/* K4, if this is the same CPU still; else the next one there will see it */
	k = tacho_load_relaxed(&t->link);
	l = (const void *)(k->lanes + (size_t)cpu * TACHO_LANE_STRIDE);
	if (tacho_unlikely(lkst_is_over(tacho_load_relaxed(&lkst_run.state->cpu[cpu].limit),
					tacho_load_relaxed(&l->cursor))))
		limit_slow(t);
	return true;
}

TACHO_EXPORT void lkst_hook_hit(const struct lkst_etype_info *einfo, lkst_arg_t arg1,
				lkst_arg_t arg2, lkst_arg_t arg3, lkst_arg_t arg4)
{
	struct lkst_type *t;

	/* [hook-state] the site has read the state, so the type is there */
	tacho_fence_acquire();
	t = tacho_load_acquire(&einfo->hook_rec.reserved);	/* [hook-type] */

	if (tacho_unlikely(!hit_fast(t, arg1, arg2, arg3, arg4)))
		hit_slow(t, (const uint64_t[4]){ arg1, arg2, arg3, arg4 });
}
