/* SPDX-License-Identifier: MIT */
/*
 * hashmap.h - from 64-bit keys to pointers: for what a tool knows about each event type (key: the
 * type's address) or about each text (key: its hash).
 *
 * Open addressing, at most half full; entries are never removed.  Zeroed memory is an empty map.
 * To visit all entries, visit slot[0] to slot[room - 1] and skip those without a value.
 */
#ifndef TACHO_BASE_HASHMAP_H
#define TACHO_BASE_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

struct tacho_hashmap_slot {
	uint64_t key;
	void *value;		/* NULL: a free slot */
};

struct tacho_hashmap {
	struct tacho_hashmap_slot *slot;
	uint32_t nr, room;	/* room: 0 or a power of two */
};

/* Frees the slots, not what the values point to; leaves an empty map. */
void tacho_hashmap_release(struct tacho_hashmap *m);

/*
 * Sets the value (not NULL) of a key.  Returns 0, or -ENOMEM: the map is unchanged.  The map
 * holds at most 2^31 keys.
 */
int tacho_hashmap_set(struct tacho_hashmap *m, uint64_t key, void *value);

static inline uint32_t tacho_hashmap_home(const struct tacho_hashmap *m, uint64_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->room - 1);
}

/* The key's value; NULL when it was not set. */
static inline void *tacho_hashmap_get(const struct tacho_hashmap *m, uint64_t key)
{
	if (!m->room)
		return NULL;
	for (uint32_t at = tacho_hashmap_home(m, key); m->slot[at].value;
	     at = (at + 1) & (m->room - 1))
		if (m->slot[at].key == key)
			return m->slot[at].value;
	return NULL;
}

/* An address as a key. */
static inline uint64_t tacho_hashmap_key(const void *p)
{
	return (uintptr_t)p;
}

#endif
