// SPDX-License-Identifier: MIT
/* Masksets, and what follows when another one is selected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/pump.h"
#include "sys/clock.h"

#define USER_TYPES	(LKST_ETYPE_USER_LAST - LKST_ETYPE_USER_FIRST + 1)

static struct lkst_slot *slot_of(const struct tacho_lkst *l, uint32_t id)
{
	uint32_t at = id < 256 ? l->state->of_id[id] : 0;

	return at && at <= LKST_SLOTS ? &l->state->slot[at - 1] : NULL;
}

static uint32_t current_id(const struct tacho_lkst *l)
{
	return lkst_current_id(tacho_load_acquire(&l->state->current));	/* [current] */
}

/* ---- what follows: S1, S2, S4 ---- */

/*
 * Rules for the events of programs.  Types that somebody has told of are named; a type that
 * is wanted and unknown so far makes it all of them, but for the known ones that are not wanted.
 */
struct rules {
	char name[USER_TYPES + 1][8 + LKST_MNEMONIC_LEN];
	const char *glob[USER_TYPES + 1];
	bool enable[USER_TYPES + 1];
	uint32_t nr;
};

static void add_rule(struct rules *r, const char *mnemonic, bool enable)
{
	(void)snprintf(r->name[r->nr], sizeof(r->name[0]), LKST_SYSTEM ":%.31s", mnemonic);
	r->glob[r->nr] = r->name[r->nr];
	r->enable[r->nr++] = enable;
}

static bool is_wanted(const struct lkst_state *s, uint64_t a, uint64_t b, uint32_t etype)
{
	return (a && lkst_state_handler(s, a, etype) != LKST_EVHANDLER_ID_VOID) ||
	       (b && lkst_state_handler(s, b, etype) != LKST_EVHANDLER_ID_VOID);
}

static int set_rules(struct tacho_lkst *l, uint64_t a, uint64_t b)
{
	const struct lkst_state *s = l->state;
	struct rules *r = calloc(1, sizeof(*r));
	bool unknown = false;
	int err;

	if (!r)
		return -ENOMEM;
	for (uint32_t t = LKST_ETYPE_USER_FIRST; t <= LKST_ETYPE_USER_LAST; t++)
		unknown |= !tacho_load_acquire(&s->etype[t].ready) && is_wanted(s, a, b, t);
	if (unknown)
		add_rule(r, "*", true);
	for (uint32_t t = LKST_ETYPE_USER_FIRST; t <= LKST_ETYPE_USER_LAST; t++)
		if (tacho_load_acquire(&s->etype[t].ready) &&	/* [described] */
		    is_wanted(s, a, b, t) != unknown)
			add_rule(r, s->etype[t].mnemonic, !unknown);
	err = tacho_session_rules(&l->session, LKST_SYSTEM ":", r->glob, r->enable, r->nr,
				  NULL);
	free(r);
	return err;
}

int lkst_follow(struct tacho_lkst *l, uint64_t current, uint64_t or_current)
{
	int err = set_rules(l, current, or_current);

	if (err)
		return err;
	err = tacho_lkst_kernel_set(l, current, or_current, NULL);
	/* a machine whose kernel we may not trace has the events of programs */
	return tacho_no_room_here(err) ? err : 0;
}

/* ---- switching ---- */

static uint64_t word_of(const struct tacho_lkst *l, uint32_t id)
{
	uint64_t count = (tacho_load_relaxed(&l->state->current) >> 32) + 1;

	return count << 32 | (uint64_t)(l->state->of_id[id] - 1) << 16 | id;
}

/* S3.  The moment is noted first: a pump that sees the new word finds it. */
static void store_current(struct lkst_state *s, uint64_t next)
{
	uint64_t n = s->nr_switches;
	struct lkst_switch *w = &s->switched[n % LKST_SWITCHES];

	w->current = tacho_load_relaxed(&s->current);
	w->ticks = tacho_clock_read_ordered(tacho_clock_default());
	tacho_store_release(&s->nr_switches, n + 1);	/* [switches] */
	tacho_store_release(&s->current, next);	/* [current] */
}

int lkst_switch(struct tacho_lkst *l, uint32_t id)
{
	uint64_t old = tacho_load_relaxed(&l->state->current);
	uint64_t next = word_of(l, id);
	struct lkst_record r = {
		.etype = LKST_ETYPE_LKST_MASKSET_SET,
		.arg = { lkst_current_id(old), id },
	};
	int err = lkst_follow(l, old, next);

	if (err)
		return err;
	/* told by whichever of the two wants to know */
	if (lkst_state_handler(l->state, old, r.etype) != LKST_EVHANDLER_ID_VOID)
		(void)tacho_lkst_entry(l, &r);
	store_current(l->state, next);
	if (lkst_state_handler(l->state, old, r.etype) == LKST_EVHANDLER_ID_VOID)
		(void)tacho_lkst_entry(l, &r);
	return lkst_follow(l, next, 0);
}

int tacho_lkst_maskset_set(struct tacho_lkst *l, uint32_t id)
{
	int err = tacho_lkst_lock(l);

	if (err)
		return err;
	if (id == LKST_MASKSET_ID_VOID || !slot_of(l, id))
		err = -EINVAL;
	else if (l->state->stopped)
		err = -EBUSY;
	else
		err = lkst_switch(l, id);
	tacho_lkst_unlock(l);
	return err;
}

/* ---- reading and listing ---- */

static size_t nr_entries(const struct lkst_slot *slot)
{
	size_t n = 0;

	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++)
		n += (slot->entry[i] & 0xffff) != LKST_EVHANDLER_ID_VOID;
	return n;
}

int tacho_lkst_maskset_read(struct tacho_lkst *l, struct lkst_maskset_param *p)
{
	const struct lkst_slot *slot;
	size_t n = 0;
	uint32_t id;
	int err;

	if (!p || !p->maskset)
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	id = p->id == LKST_MASKSET_ID_VOID ? current_id(l) : p->id;
	slot = slot_of(l, id);
	if (slot && p->maskset_size < LKST_MASKSET_SIZE(nr_entries(slot)))
		slot = NULL;
	if (slot) {
		memcpy(p->maskset->name, slot->name, sizeof(p->maskset->name));
		for (uint32_t i = 0; i < LKST_NR_ETYPES; i++) {
			uint32_t handler = slot->entry[i] & 0xffff;

			if (handler != LKST_EVHANDLER_ID_VOID)
				p->maskset->entry[n++] = (struct lkst_maskset_entry){
					(int)lkst_etype_at(i), (lkst_evhandler_id)handler };
		}
		p->maskset->len = (lkst_maskset_table_len)n;
		p->id = (lkst_maskset_id)id;
	}
	tacho_lkst_unlock(l);
	return slot ? 0 : -EINVAL;
}

int tacho_lkst_maskset_list(struct tacho_lkst *l, struct lkst_maskset_listparam *p)
{
	size_t room, n = 0;
	int err;

	if (!p || !p->listent || p->listent_size < sizeof(*p->listent))
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	room = p->listent_size / sizeof(*p->listent);
	for (uint32_t id = 0; id < LKST_MASKSET_MAX && n < room; id++) {
		const struct lkst_slot *slot = slot_of(l, id);

		if (!slot)
			continue;
		p->listent[n].id = (lkst_maskset_id)id;
		p->listent[n].len = slot->len;
		memcpy(p->listent[n++].name, slot->name, sizeof(slot->name));
	}
	p->current_id = (lkst_maskset_id)current_id(l);
	tacho_lkst_unlock(l);
	return 0;
}

static int find_name(const struct tacho_lkst *l, const char *name)
{
	for (uint32_t id = 0; id < LKST_MASKSET_MAX; id++) {
		const struct lkst_slot *slot = slot_of(l, id);

		if (slot && !strcmp(slot->name, name))
			return (int)id;
	}
	return LKST_MASKSET_ID_VOID;
}

static bool is_name(const char *name)
{
	return *name && strnlen(name, LKST_MASKSET_NAME_LEN) < LKST_MASKSET_NAME_LEN;
}

int tacho_lkst_maskset_get_id(struct tacho_lkst *l, const char *name)
{
	int err;

	if (!name || !is_name(name))
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	err = find_name(l, name);
	tacho_lkst_unlock(l);
	return err;
}

/* ---- writing and deleting ---- */

/* Whether the entries are what a maskset can have. */
static int check_entries(const struct tacho_lkst *l, const struct lkst_maskset_body *b)
{
	bool locks = false, wakes = false;

	for (int i = 0; i < b->len; i++) {
		int etype = b->entry[i].event_type;
		lkst_evhandler_id id = b->entry[i].id;

		if (etype < 0 || lkst_etype_index((uint32_t)etype) < 0 || id < 0 ||
		    id > LKST_EVHANDLER_ID_MAX)
			return -EINVAL;
		if (id == LKST_EVHANDLER_ID_VOID)
			continue;
		if (!tacho_load_acquire(&l->state->handler[id].ready) ||	/* [described] */
		    !lkst_owner_lives(&l->state->handler[id].owner))
			return -EINVAL;
		locks |= etype >= LKST_ETYPE_LOCK_FIRST && etype <= LKST_ETYPE_LOCK_LAST;
		wakes |= etype == LKST_ETYPE_LKST_BUFF_OVFLOW &&
			 id == LKST_EVHANDLER_ID_BUFFER_SHIFT_DW;
	}
	return locks && wakes ? -EINVAL : 0;
}

/*
 * A slot that no maskset has, and that is not the one that was left last: a hook may
 * still be about to look into it.
 */
static uint32_t free_slot(struct lkst_state *s)
{
	uint64_t n = s->nr_switches;
	uint32_t left = n ? lkst_current_slot(s->switched[(n - 1) % LKST_SWITCHES].current) :
			    LKST_SLOTS;
	bool used[LKST_SLOTS] = { 0 };
	uint32_t best = LKST_SLOTS;

	for (uint32_t id = 0; id < 256; id++)
		if (s->of_id[id] && s->of_id[id] <= LKST_SLOTS)
			used[s->of_id[id] - 1] = true;
	for (uint32_t i = 0; i < LKST_SLOTS; i++)
		if (!used[i] && i != left &&
		    (best == LKST_SLOTS || s->slot[i].turn < s->slot[best].turn))
			best = i;
	return best;
}

/* The turn goes first, so that old entries are no longer valid while new ones are stored. */
static void fill_slot(struct lkst_slot *slot, uint32_t id, const char *name,
		      const struct lkst_maskset_body *b)
{
	uint32_t turn = (slot->turn + 1) & 0xffff;

	turn += !turn;
	tacho_store_relaxed(&slot->turn, turn);
	tacho_fence_release();	/* [slot-entry] */
	slot->id = id;
	slot->len = 0;
	memset(slot->name, 0, sizeof(slot->name));
	memcpy(slot->name, name, strlen(name));
	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++)
		/* [slot-entry] */
		tacho_store_release(&slot->entry[i], turn << 16 | LKST_EVHANDLER_ID_VOID);
	for (int i = 0; i < b->len; i++) {
		uint32_t *entry = &slot->entry[lkst_etype_index(
			(uint32_t)b->entry[i].event_type)];

		/* [slot-entry] */
		tacho_store_release(entry, turn << 16 | (uint32_t)b->entry[i].id);
	}
	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++)
		slot->len += (slot->entry[i] & 0xffff) != LKST_EVHANDLER_ID_VOID;
}

/* The name and id that a maskset is to have: 0 or what is wrong with them. */
static int choose(const struct tacho_lkst *l, const struct lkst_maskset_param *p,
		  char name[LKST_MASKSET_NAME_LEN], uint32_t *id)
{
	const char *given = p->maskset->name;
	const struct lkst_slot *old;
	int has;

	if (strnlen(given, LKST_MASKSET_NAME_LEN) == LKST_MASKSET_NAME_LEN)
		return -EINVAL;
	*id = p->id;
	if (*id == LKST_MASKSET_ID_VOID)
		for (*id = LKST_MASKSET_ID_RDEFAULT + 1;
		     *id < LKST_MASKSET_MAX && slot_of(l, *id); ++*id)
			;
	if (*id >= LKST_MASKSET_MAX)
		return p->id == LKST_MASKSET_ID_VOID ? -EBUSY : -EINVAL;
	if (*id == LKST_MASKSET_ID_RNOTHING || *id == LKST_MASKSET_ID_RALL)
		return -EINVAL;
	old = slot_of(l, *id);
	if (!*given && !old)
		return -EINVAL;
	memcpy(name, *given ? given : old->name, LKST_MASKSET_NAME_LEN);
	has = find_name(l, name);
	return has != LKST_MASKSET_ID_VOID && has != (int)*id ? -EINVAL : 0;
}

static int write_maskset(struct tacho_lkst *l, struct lkst_maskset_param *p)
{
	struct lkst_state *s = l->state;
	char name[LKST_MASKSET_NAME_LEN];
	uint32_t id, slot;
	int err = check_entries(l, p->maskset);

	if (!err)
		err = choose(l, p, name, &id);
	if (err)
		return err;
	slot = free_slot(s);
	if (slot == LKST_SLOTS)
		return -EBUSY;
	fill_slot(&s->slot[slot], id, name, p->maskset);
	s->of_id[id] = slot + 1;
	p->id = (lkst_maskset_id)id;
	return id == current_id(l) ? lkst_switch(l, id) : 0;
}

int tacho_lkst_maskset_write(struct tacho_lkst *l, struct lkst_maskset_param *p)
{
	int err;

	if (!p || !p->maskset || p->maskset_size < LKST_MASKSET_SIZE(0) ||
	    p->maskset->len < 0 || p->maskset->len > LKST_MASKSET_TABLE_LEN_MAX ||
	    p->maskset_size < LKST_MASKSET_SIZE(p->maskset->len))
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	err = write_maskset(l, p);
	tacho_lkst_unlock(l);
	return err;
}

int tacho_lkst_maskset_delete(struct tacho_lkst *l, uint32_t id)
{
	int err = tacho_lkst_lock(l);

	if (err)
		return err;
	if (id <= LKST_MASKSET_ID_RDEFAULT || id == LKST_MASKSET_ID_VOID || !slot_of(l, id))
		err = -EINVAL;
	else if (id == current_id(l))
		err = -EBUSY;
	else
		l->state->of_id[id] = 0;
	tacho_lkst_unlock(l);
	return err;
}
