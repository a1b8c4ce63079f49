// SPDX-License-Identifier: MIT
/* A buffer that is full, and going to the next one (state.h, 3); in hooks and in the pump. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/hook.h"
#include "compat/lkst/late.h"
#include "fmt/lkst/record.h"
#include "ring/write.h"
#include "sys/futex.h"

#define TRIES		8
#define WORDS		(LKST_SIZEOF_LKST_EVENT_RECORD / 8)	/* of the smallest record */

static lkst_evhandler_func local_handler[LKST_NR_HANDLERS];

lkst_evhandler_func lkst_local_handler(uint32_t id)
{
	/* [local-handler] */
	return id < LKST_NR_HANDLERS ? tacho_load_acquire(&local_handler[id]) : NULL;
}

void lkst_local_handler_set(uint32_t id, lkst_evhandler_func fn)
{
	if (id < LKST_NR_HANDLERS)
		tacho_store_release(&local_handler[id], fn);	/* [local-handler] */
}

/* Handlers that run now. */
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));

bool lkst_handler_call(lkst_evhandler_func fn, struct lkst_hookrec *rec, uint32_t etype,
		       const uint64_t arg[4])
{
	uint32_t before = depth;

	if (before >= LKST_DEPTH_MAX)
		return false;
	depth = before + 1;
	tacho_signal_fence();
	fn(rec, (int)etype, arg[0], arg[1], arg[2], arg[3]);
	tacho_signal_fence();
	depth = before;
	return true;
}

/* LKST's buffer that a ring's buffer of this CPU holds, or NULL; and its id. */
static struct lkst_buffer *of_ring(struct lkst_cpu *cpu, uint32_t ring, int32_t *id)
{
	uint32_t at = tacho_load_relaxed(&cpu->of_ring[ring]);

	*id = (int32_t)at - 1;
	return at && at <= TACHO_BUFFERS_MAX ? &cpu->buffer[at - 1] : NULL;
}

/* ---- shifting: H1, H2 ---- */

/* Where the buffer that is written links to, as a ring's buffer; or -EINVAL. */
static int next_of(struct lkst_cpu *cpu, uint64_t c)
{
	int32_t id, next;
	const struct lkst_buffer *b = of_ring(cpu, tacho_cursor_id(c), &id);

	next = b ? tacho_load_relaxed(&b->next) : LKST_BUFFER_ID_VOID;
	if (next < 0 || next >= TACHO_BUFFERS_MAX)
		return -EINVAL;
	b = &cpu->buffer[next];
	if (tacho_load_acquire(&b->state) != LKST_BUFFER_THERE)	/* [lkst-buffer] */
		return -EINVAL;
	return (int)(tacho_load_relaxed(&b->ring) % TACHO_BUFFERS_MAX);
}

int lkst_shift_here(struct lkst_state *s, struct tacho_view *v, uint32_t lane, bool wake,
		    bool late)
{
	struct tacho_lane *l = tacho_ring_lane(&v->ring, lane);
	int err = -EAGAIN;

	if (lane >= s->nr_cpus)
		return -EINVAL;
	for (int i = 0; err == -EAGAIN && i < TRIES; i++) {
		uint64_t c = tacho_load_acquire(&l->cursor);
		int ring = next_of(&s->cpu[lane], c);

		if (ring < 0)
			return ring;
		err = tacho_ring_shift_from(&v->ring, lane, c, (uint32_t)ring);
	}
	if (!err && late)
		lkst_late_leave(s, v, lane);
	if (!err && wake) {
		(void)tacho_add_seq_cst(&s->wake, 1);
		tacho_futex_wake(&s->wake);
	}
	return err;
}

/* ---- the overrun event ---- */

/* The type's text, made where memory may be had. */
static char overflow_text[2048];
static uint32_t overflow_len;

void lkst_overrun_prepare(void)
{
	static const char *const arg[4] = { "cpu", "buffer id", "next buffer id", "records" };
	struct tacho_buf b;

	if (tacho_load_acquire(&overflow_len))	/* [overflow] */
		return;
	tacho_buf_init(&b, sizeof(overflow_text));
	lkst_record_type_text(&b, "LKST_BUFF_OVFLOW", "lkst_buffer_overflow", arg,
			      LKST_OF_PROGRAM);
	if (!b.err && b.len <= sizeof(overflow_text)) {
		memcpy(overflow_text, b.data, b.len);
		tacho_store_release(&overflow_len, (uint32_t)b.len);	/* [overflow] */
	}
	tacho_buf_release(&b);
}

/* arg: the first is the lane. */
static void record_overflow(struct tacho_view *v, const uint64_t arg[4])
{
	const struct lkst_record r = {
		.arg = { arg[0], arg[1], arg[2], arg[3] }, .thread = gettid(), .uid = geteuid(),
		.gid = getegid(), .pid = getpid(), .pgrp = getpgrp(),
		.etype = LKST_ETYPE_LKST_BUFF_OVFLOW, .cpu = (uint16_t)arg[0],
	};
	uint64_t raw[LKST_RAW_KERNEL];
	uint32_t len = tacho_load_acquire(&overflow_len);	/* [overflow] */
	int id = len ? tacho_types_add(v, overflow_text, len) : -ENOENT;

	if (id > 0)
		(void)tacho_ring_write(&v->ring, raw,
				       lkst_record_pack(raw, &r, (uint16_t)id,
							LKST_OF_PROGRAM));
}

/* O2: what the maskset has for an overrun.  -EAGAIN: to be tried again. */
static int raise_overrun(struct lkst_state *s, struct tacho_view *v, uint32_t lane,
			 int32_t id, uint64_t n, bool late)
{
	uint64_t current = tacho_load_acquire(&s->current);	/* [current] */
	uint32_t handler = lkst_state_handler(s, current, LKST_ETYPE_LKST_BUFF_OVFLOW);
	const uint64_t arg[4] = {
		lane, (uint64_t)id,
		(uint64_t)(int64_t)tacho_load_relaxed(&s->cpu[lane].buffer[id].next), n,
	};
	lkst_evhandler_func fn;

	(void)tacho_add_relaxed(&s->cpu[lane].overruns, 1);
	switch (handler) {
	case LKST_EVHANDLER_ID_VOID:
		return 0;
	case LKST_EVHANDLER_ID_BUFFER_SHIFT:
	case LKST_EVHANDLER_ID_BUFFER_SHIFT_DW:
		record_overflow(v, arg);
		return lkst_shift_here(s, v, lane,
				       handler == LKST_EVHANDLER_ID_BUFFER_SHIFT_DW, late);
	default:
		fn = lkst_local_handler(handler);
		if (!fn || !lkst_handler_call(fn, NULL, LKST_ETYPE_LKST_BUFF_OVFLOW, arg))
			record_overflow(v, arg);
		return 0;
	}
}

/* ---- counting: O1, O3 ---- */

/* Number of the record that is written next. */
static bool records_at(struct tacho_ring *r, uint32_t lane, uint64_t c, uint64_t *total)
{
	const struct tacho_ring_buf *b = tacho_ring_map(r, lane, tacho_cursor_id(c));

	if (!b)
		return false;
	*total = tacho_ring_sub(r, b, c)->event_first + tacho_cursor_events(c);
	return true;
}

/*
 * Number of the first record since the buffer was shifted in; 0 when its packet is gone:
 * then the lap is of this turn.  l: LKST's buffer there, or NULL.
 */
static uint64_t first_at(struct tacho_ring *r, uint32_t lane, uint64_t c,
			 const struct lkst_buffer *l)
{
	const struct tacho_ring_buf *b = tacho_ring_map(r, lane, tacho_cursor_id(c));
	const struct tacho_buffer *buf =
		tacho_lane_buffer(tacho_ring_lane(r, lane), tacho_cursor_id(c));
	uint64_t begins = tacho_load_relaxed(&buf->begins);
	const struct tacho_packet *p;

	p = tacho_ring_sub(r, b, tacho_cursor_make(0, begins, 0, 0));
	return p->packet_seq_num == begins ? p->event_first + lkst_late_first(l, begins) : 0;
}

/* The first cursor at which `left` more records may have been written. */
static uint64_t limit_after(const struct tacho_ring *r, uint64_t c, uint64_t left)
{
	uint64_t here = (r->sub_words - tacho_cursor_words(c)) / WORDS;
	uint64_t each = (r->sub_words - TACHO_PACKET_WORDS) / WORDS;

	if (left <= here)
		return c + left * tacho_cursor_step(WORDS);
	left -= here;
	return tacho_cursor_make(tacho_cursor_id(c), tacho_cursor_seq(c) + 1 + (left - 1) / each,
				 0, (uint32_t)(TACHO_PACKET_WORDS +
					       ((left - 1) % each + 1) * WORDS));
}

/* O1: the lap of the buffer that c is in. */
static uint64_t lap_of(struct lkst_cpu *cpu, struct tacho_ring *r, uint32_t lane, uint64_t c,
		       const struct lkst_buffer *b)
{
	uint64_t ring = tacho_cursor_id(c), first = first_at(r, lane, c, b);
	uint64_t lap = tacho_load_relaxed(&cpu->lap);

	while (lap >> LKST_LAP_SHIFT != ring || (lap & LKST_LAP_MASK) < first) {
		uint64_t now = ring << LKST_LAP_SHIFT | first;

		if (tacho_cas_acq_rel(&cpu->lap, &lap, now))
			return now;
	}
	return lap;
}

void lkst_overrun(struct lkst_state *s, struct tacho_view *v, uint32_t lane, uint64_t c, bool late)
{
	struct lkst_cpu *cpu = lane < s->nr_cpus ? &s->cpu[lane] : NULL;
	struct tacho_ring *r = &v->ring;
	uint64_t lap, moved, total, room, n;
	const struct lkst_buffer *b;
	int32_t id;

	if (!cpu || !c || c == TACHO_CURSOR_DEAD || !records_at(r, lane, c, &total))
		return;
	b = of_ring(cpu, tacho_cursor_id(c), &id);
	room = b ? tacho_load_relaxed(&b->size) / LKST_SIZEOF_LKST_EVENT_RECORD : 0;
	total += b ? tacho_load_acquire(&b->late_end) : 0;	/* [late-end] */
	lap = lap_of(cpu, r, lane, c, b);
	n = total - (lap & LKST_LAP_MASK);
	/* total is of a packet that writers may have come round to meanwhile: nonsense then */
	if (!room || total < (lap & LKST_LAP_MASK) ||
	    tacho_load_relaxed(&tacho_ring_lane(r, lane)->cursor) >> LKST_LAP_SHIFT !=
	    c >> LKST_LAP_SHIFT)
		return;
	if (n < room) {
		tacho_store_relaxed(&cpu->limit, limit_after(r, c, room - n));
		return;
	}
	moved = lap + n / room * room;
	if (!tacho_cas_acq_rel(&cpu->lap, &lap, moved))
		return;
	tacho_store_relaxed(&cpu->limit, limit_after(r, c, room - n % room));
	if (raise_overrun(s, v, lane, id, n, late) == -EAGAIN) {
		(void)tacho_cas_acq_rel(&cpu->lap, &moved, lap);
		tacho_store_relaxed(&cpu->limit, c);
	}
}
