/* SPDX-License-Identifier: MIT */
/*
 * table.h - from 64-bit keys to numbers that are not 0, with removal.
 *
 * Open addressing with linear probing, at most 5/8 full; removal moves the entries behind
 * back, so there are no tombstones and look-ups stay short however long the table lives.
 * Zeroed memory is an empty table.
 */
#ifndef TACHO_MODEL_TABLE_H
#define TACHO_MODEL_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct model_table_slot {
	uint64_t key;
	uint32_t value;		/* 0: free */
};

struct model_table {
	struct model_table_slot *slot;
	uint32_t nr, room;	/* room: 0 or a power of two */
};

static inline uint32_t model_table_home(const struct model_table *t, uint64_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->room - 1);
}

/* The slot of a key, or the free one where it belongs.  room is not 0. */
static inline uint32_t model_table_slot(const struct model_table *t, uint64_t key)
{
	uint32_t at = model_table_home(t, key);

	while (t->slot[at].value && t->slot[at].key != key)
		at = (at + 1) & (t->room - 1);
	return at;
}

/* The key's value; 0: it has none. */
static inline uint32_t model_table_get(const struct model_table *t, uint64_t key)
{
	return t->room ? t->slot[model_table_slot(t, key)].value : 0;
}

static inline bool model_table_grow(struct model_table *t)
{
	struct model_table bigger = { .room = t->room ? 2 * t->room : 64, .nr = t->nr };

	if (!bigger.room)
		return false;
	bigger.slot = calloc(bigger.room, sizeof(*bigger.slot));
	if (!bigger.slot)
		return false;
	for (uint32_t i = 0; i < t->room; i++)
		if (t->slot[i].value)
			bigger.slot[model_table_slot(&bigger, t->slot[i].key)] = t->slot[i];
	free(t->slot);
	*t = bigger;
	return true;
}

/* Sets a key's value, not 0.  False: no memory. */
static inline bool model_table_set(struct model_table *t, uint64_t key, uint32_t value)
{
	uint32_t at;

	if ((uint64_t)t->nr * 8 >= (uint64_t)t->room * 5 && !model_table_grow(t))
		return false;
	at = model_table_slot(t, key);
	t->nr += !t->slot[at].value;
	t->slot[at] = (struct model_table_slot){ key, value };
	return true;
}

/* Removes a key, if it is there. */
static inline void model_table_remove(struct model_table *t, uint64_t key)
{
	uint32_t hole, at, mask = t->room - 1;

	if (!t->room)
		return;
	hole = model_table_slot(t, key);
	if (!t->slot[hole].value)
		return;
	t->nr--;
	for (at = (hole + 1) & mask; t->slot[at].value; at = (at + 1) & mask) {
		uint32_t home = model_table_home(t, t->slot[at].key);

		/* stays if its home lies behind the hole */
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		t->slot[hole] = t->slot[at];
		hole = at;
	}
	t->slot[hole].value = 0;
}

#endif
