// SPDX-License-Identifier: MIT
/* The shared file of LKST: creating and mapping it. */
#include "compat/lkst/state.h"

#include <linux/lkst_hook.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "fmt/lkst/kmap.h"
#include "session/proc.h"
#include "session/shared.h"
#include "sys/clock.h"
#include "sys/cpu.h"
#include "sys/mapping.h"

static uint32_t nr_cpus_here(void)
{
	uint32_t n = tacho_cpu_possible();

	/* lanes of CPUs and plain ones: session.c has as many of these at most */
	return n < TACHO_LANES_MAX / 2 ? 2 * n : TACHO_LANES_MAX;
}

/* ---- what it begins with ---- */

static void set_handler(struct lkst_state *s, uint32_t id, const char *name)
{
	struct lkst_handler *h = &s->handler[id];

	h->owner.pid = LKST_OWNER_ITSELF;
	memcpy(h->name, name, strlen(name) + 1);
	tacho_store_release(&h->ready, 1);	/* [described] */
}

static void set_etype(struct lkst_state *s, uint32_t etype, const char *mnemonic,
		      const char *name, const char *const arg[4])
{
	struct lkst_etype_entry *e = &s->etype[lkst_etype_index(etype)];

	e->owner.pid = LKST_OWNER_ITSELF;
	(void)snprintf(e->mnemonic, sizeof(e->mnemonic), "%s", mnemonic);
	(void)snprintf(e->name, sizeof(e->name), "%s", name);
	for (int i = 0; i < 4; i++)
		(void)snprintf(e->arg[i], sizeof(e->arg[i]), "%s", arg[i]);
	tacho_store_release(&e->ready, 1);	/* [described] */
}

#define SET_ETYPE(number, mnemonic, name, a1, a2, a3, a4)		\
	do {								\
		const char *const arg_[4] = { a1, a2, a3, a4 };		\
									\
		set_etype(s, number, #mnemonic, name, arg_);		\
	} while (0);

static void set_etypes(struct lkst_state *s)
{
	LKST_ETYPES_LKST(SET_ETYPE)
	LKST_ETYPES_KERNEL(SET_ETYPE)
}

static struct lkst_slot *set_maskset(struct lkst_state *s, uint32_t id, const char *name)
{
	struct lkst_slot *slot = &s->slot[id];

	memset(slot, 0, sizeof(*slot));
	slot->turn = 1;
	slot->id = id;
	memcpy(slot->name, name, strlen(name) + 1);
	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++)
		slot->entry[i] = 1u << 16 | LKST_EVHANDLER_ID_VOID;
	s->of_id[id] = id + 1;
	return slot;
}

static void record_it(struct lkst_slot *slot, uint32_t etype, uint32_t handler)
{
	uint32_t *entry = &slot->entry[lkst_etype_index(etype)];

	slot->len += (*entry & 0xffff) == LKST_EVHANDLER_ID_VOID;
	*entry = slot->turn << 16 | handler;
}

/*
 * RALL records what is overrun as any event, and shifts without waking: lock events and a
 * daemon that is woken by them do not go together.
 */
static void set_masksets(struct lkst_state *s)
{
	struct lkst_slot *all, *some;

	(void)set_maskset(s, LKST_MASKSET_ID_RNOTHING, "RNOTHING");
	all = set_maskset(s, LKST_MASKSET_ID_RALL, "RALL");
	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++)
		record_it(all, lkst_etype_at(i), LKST_EVHANDLER_ID_LOG);
	record_it(all, LKST_ETYPE_LKST_BUFF_OVFLOW, LKST_EVHANDLER_ID_BUFFER_SHIFT);
	some = set_maskset(s, LKST_MASKSET_ID_RDEFAULT, "RDEFAULT");
	record_it(some, LKST_ETYPE_LKST_BUFF_OVFLOW, LKST_EVHANDLER_ID_BUFFER_SHIFT_DW);
	record_it(some, LKST_ETYPE_LKST_MASKSET_SET, LKST_EVHANDLER_ID_LOG);
	record_it(some, LKST_ETYPE_LKST_INIT, LKST_EVHANDLER_ID_LOG);
	record_it(some, LKST_ETYPE_LKST_LOST, LKST_EVHANDLER_ID_LOG);
	record_it(some, LKST_ETYPE_LKST_ERROR, LKST_EVHANDLER_ID_LOG);
	for (uint32_t i = 0; i < LKST_ETYPE_USER_FIRST; i++) {
		const struct lkst_kmap *m = lkst_kmap_at(i);

		if (m && m->by_default)
			record_it(some, i, LKST_EVHANDLER_ID_LOG);
	}
}

void lkst_state_reset(struct lkst_state *s)
{
	uint64_t count = tacho_load_relaxed(&s->current) >> 32;

	tacho_store_relaxed(&s->generation, 0);
	memset(s->of_id, 0, sizeof(s->of_id));
	set_masksets(s);
	tacho_store_relaxed(&s->stopped, 0);
	tacho_store_relaxed(&s->nr_static, 0);
	tacho_store_relaxed(&s->pumped, 0);
	tacho_store_release(&s->current, (count + 1) << 32 |	/* [current] */
			    LKST_MASKSET_ID_RDEFAULT << 16 | LKST_MASKSET_ID_RDEFAULT);
	for (uint32_t c = 0; c < s->nr_cpus; c++) {
		memset(&s->cpu[c], 0, sizeof(s->cpu[c]));
		s->cpu[c].read_buf = LKST_BUFFER_ID_VOID;
	}
}

/* ---- the file ---- */

static void fill(void *file, uint64_t size)
{
	struct lkst_state *s = file;

	s->nr_cpus = (uint32_t)((size - sizeof(*s)) / sizeof(s->cpu[0]));
	s->layout = LKST_STATE_LAYOUT(s->nr_cpus);
	set_handler(s, LKST_EVHANDLER_ID_LOG, "LOG");
	set_handler(s, LKST_EVHANDLER_ID_BUFFER_SHIFT, "BUFFER_SHIFT");
	set_handler(s, LKST_EVHANDLER_ID_BUFFER_SHIFT_DW, "BUFFER_SHIFT_DW");
	set_etypes(s);
	lkst_state_reset(s);
}

static bool fits(const void *file, uint64_t size)
{
	const struct lkst_state *s = file;

	return lkst_layout_fits(s, size) && size == LKST_STATE_SIZE(s->nr_cpus);
}

static const struct tacho_shared shared = {
	.name = "lkst", .magic = LKST_MAGIC_STATE, .min_size = sizeof(struct lkst_state),
	.fill = fill, .fits = fits,
};

int lkst_state_map(struct lkst_state **state, int *fd, bool create)
{
	void *file;
	int err = tacho_shared_map(&shared, create ? LKST_STATE_SIZE(nr_cpus_here()) : 0, &file,
				   fd);

	if (!err)
		*state = file;
	return err;
}

void lkst_state_unmap(struct lkst_state *state)
{
	if (state)
		tacho_shm_unmap(state, LKST_STATE_SIZE(state->nr_cpus));
}

/* ---- questions ---- */

uint32_t lkst_state_handler(const struct lkst_state *s, uint64_t current, uint32_t etype)
{
	uint32_t at = lkst_current_slot(current);
	const struct lkst_slot *slot;
	int i = lkst_etype_index(etype);

	if (i < 0 || at >= LKST_SLOTS)
		return LKST_EVHANDLER_ID_VOID;
	slot = &s->slot[at];
	/* a slot that is filled again has another turn */
	for (int tries = 0; tries < 8; tries++) {
		uint32_t turn = tacho_load_acquire(&slot->turn);	/* [slot-entry] */
		uint32_t entry = tacho_load_acquire(&slot->entry[i]);	/* [slot-entry] */

		if (entry >> 16 == turn && tacho_load_relaxed(&slot->turn) == turn)
			return entry & 0xffff;
	}
	return LKST_EVHANDLER_ID_VOID;
}

struct lkst_owner lkst_owner_of(int32_t pid)
{
	return (struct lkst_owner){ .pid = pid, .start = tacho_start_time(pid) };
}

bool lkst_owner_lives(const struct lkst_owner *o)
{
	return tacho_load_acquire(&o->pid) == LKST_OWNER_ITSELF ||	/* [lkst-owner] */
	       tacho_process_is(tacho_load_relaxed(&o->pid), tacho_load_relaxed(&o->start));
}

void lkst_state_note(struct lkst_state *s, uint32_t etype, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d)
{
	uint32_t n = tacho_add_relaxed(&s->nr_static, 1);
	struct lkst_record *r = &s->fixed[n % LKST_STATIC_RECORDS];
	int cpu = sched_getcpu();

	*r = (struct lkst_record){
		.ticks = tacho_clock_read(tacho_clock_default()),
		.arg = { a, b, c, d }, .recid = n, .thread = gettid(),
		.uid = geteuid(), .gid = getegid(), .pid = getpid(), .pgrp = getpgrp(),
		.etype = (uint16_t)etype, .cpu = (uint16_t)(cpu < 0 ? 0 : cpu),
	};
}
