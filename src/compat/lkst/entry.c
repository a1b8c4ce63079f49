// SPDX-License-Identifier: MIT
/* Events recorded on request of the device, commands and the pump. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "compat/lkst/hook.h"
#include "compat/lkst/late.h"
#include "compat/lkst/priv.h"
#include "fmt/lkst/types.h"
#include "ring/write.h"
#include "sys/clock.h"

#define TYPE_MAX	4096

/* The id of an event type in the session, or a negative errno. */
static int type_id(struct tacho_lkst *l, uint32_t etype, bool kernel)
{
	int at = lkst_etype_index(etype);
	uint16_t id = tacho_load_relaxed(&l->type[kernel][at]);
	const struct lkst_etype_entry *e = &l->state->etype[at];
	const char *const arg[4] = { e->arg[0], e->arg[1], e->arg[2], e->arg[3] };
	struct tacho_buf text;
	struct lkst_type_text unknown;
	char number[LKST_UNKNOWN_LEN];
	int got;

	if (id)
		return id;
	tacho_buf_init(&text, TYPE_MAX);
	if (tacho_load_acquire(&e->ready)) {	/* [described] */
		lkst_record_type_text(&text, e->mnemonic, e->name, arg,
				      kernel ? LKST_OF_KERNEL : LKST_OF_PROGRAM);
	} else {
		lkst_types_unknown(&unknown, etype, number);
		lkst_record_type_text(&text, unknown.mnemonic, unknown.name, unknown.arg,
				      kernel ? LKST_OF_KERNEL : LKST_OF_PROGRAM);
	}
	got = text.err ? text.err : tacho_types_add(&l->session.view, text.data,
						     (uint32_t)text.len);
	tacho_buf_release(&text);
	/* a type that is defined later gets its texts then */
	if (got > 0 && tacho_load_relaxed(&e->ready))
		tacho_store_relaxed(&l->type[kernel][at], (uint16_t)got);
	return got ? got : -ENOSPC;
}

static void look_at_lane(struct tacho_lkst *l, uint32_t lane, bool late)
{
	uint64_t c = tacho_load_acquire(&tacho_ring_lane(&l->session.view.ring, lane)->cursor);

	if (c && (late || lkst_is_over(tacho_load_relaxed(&l->state->cpu[lane].limit), c)))
		lkst_overrun(l->state, &l->session.view, lane, c, late);
}

/* The buffer may be full by it: the cursor, which did not move, does not tell. */
static void write_late(struct tacho_lkst *l, const struct lkst_record *r, const uint64_t *raw,
		       uint32_t words)
{
	struct tacho_view *v = &l->session.view;
	uint32_t cpu = lkst_late_cpu(l->state, &v->ring, r->cpu);
	bool full;

	/* without restartable sequences: nothing was recorded there so far */
	if (!lkst_cpu_is(l, (int)cpu))
		(void)tacho_ring_prepare(&v->ring, cpu);
	if (!lkst_late_write(l->state, v, cpu, raw, words, r->ticks, &full) && full)
		look_at_lane(l, cpu, true);
}

/* 0, or a negative errno: it is counted as lost. */
static int write_record(struct tacho_lkst *l, const struct lkst_record *r, bool kernel)
{
	struct tacho_view *v = &l->session.view;
	int type = type_id(l, r->etype, kernel);
	uint64_t raw[LKST_RAW_KERNEL];
	uint32_t words;

	if (type < 0) {
		tacho_ring_lose(&v->ring, TACHO_LOSS_BUSY);
		return type;
	}
	words = lkst_record_pack(raw, r, (uint16_t)type, kernel ? LKST_OF_KERNEL : LKST_OF_PROGRAM);
	if (kernel)
		write_late(l, r, raw, words);
	else
		return tacho_ring_write(&v->ring, raw, words);
	return 0;
}

/* The lane that this thread writes to now. */
static uint32_t lane_here(const struct tacho_lkst *l)
{
	int cpu = sched_getcpu();

	return cpu >= 0 && lkst_cpu_is(l, cpu) ? (uint32_t)cpu : l->session.view.ring.nr_cpus;
}

/* After a record: it went to this CPU's lane, or to any plain one. */
static void look_at_limit(struct tacho_lkst *l)
{
	uint32_t lane = lane_here(l);

	if (lane < l->session.view.ring.nr_cpus) {
		look_at_lane(l, lane, false);
		return;
	}
	for (; lane < lkst_nr_cpus(l); lane++)
		look_at_lane(l, lane, false);
}

/* What a handler of users has as its phookrec: the event, for lkst_evhandlerprim_entry_log(). */
struct told {
	struct lkst_hookrec rec;
	struct tacho_lkst *l;
	const struct lkst_record *event;
	bool kernel;
};

static void record_of_announced(struct lkst_hookrec *rec, uint32_t etype, const uint64_t arg[4])
{
	struct told *t = (struct told *)(void *)rec;
	struct lkst_record r = *t->event;

	if (lkst_etype_index(etype) < 0)
		return;
	r.etype = (uint16_t)etype;
	memcpy(r.arg, arg, sizeof(r.arg));
	(void)write_record(t->l, &r, t->kernel);
}

int tacho_lkst_handle(struct tacho_lkst *l, uint32_t handler, const struct lkst_record *r,
		       bool kernel)
{
	struct told told = { { record_of_announced }, l, r, kernel };
	lkst_evhandler_func fn;
	int err = 0;

	switch (handler) {
	case LKST_EVHANDLER_ID_VOID:
		return 0;
	case LKST_EVHANDLER_ID_LOG:
		err = write_record(l, r, kernel);
		break;
	case LKST_EVHANDLER_ID_BUFFER_SHIFT:
	case LKST_EVHANDLER_ID_BUFFER_SHIFT_DW:
		err = write_record(l, r, kernel);
		(void)lkst_shift_here(l->state, &l->session.view,
				      kernel ? lkst_late_cpu(l->state, &l->session.view.ring,
							     r->cpu) :
				      lane_here(l), handler == LKST_EVHANDLER_ID_BUFFER_SHIFT_DW,
				      kernel);
		return err;
	default:
		fn = lkst_local_handler(handler);
		if (!fn || !lkst_handler_call(fn, &told.rec, r->etype, r->arg))
			err = write_record(l, r, kernel);
	}
	if (!kernel)
		look_at_limit(l);
	return err;
}

static void fill_in_self(struct lkst_record *r)
{
	r->pid = getpid();
	r->thread = gettid();
	r->uid = geteuid();
	r->gid = getegid();
	r->pgrp = getpgrp();
}

int tacho_lkst_entry(struct tacho_lkst *l, const struct lkst_record *given)
{
	struct lkst_record r = *given;
	uint32_t handler;
	int err;

	if (lkst_etype_index(r.etype) < 0)
		return -EINVAL;
	/* [current] */
	handler = lkst_state_handler(l->state, tacho_load_acquire(&l->state->current), r.etype);
	if (handler == LKST_EVHANDLER_ID_VOID)
		return 0;
	if (!r.pid)
		fill_in_self(&r);
	r.cpu = (uint16_t)(sched_getcpu() < 0 ? 0 : sched_getcpu());
	err = tacho_lkst_handle(l, handler, &r, false);
	return err == -ESHUTDOWN ? 0 : err;	/* it was stopped meanwhile: none is wanted */
}
