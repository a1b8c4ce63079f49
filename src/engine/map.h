/* SPDX-License-Identifier: MIT */
/*
 * map.h - the table of a histogram.
 *
 * 1. The picture
 *
 *	head | slots: uint64_t [2 * n]	      | elements: [n]
 *	     | hash << 32 | element number + 1 | key, hitcount, sums, variables, text
 *
 *	One piece of memory of fixed size and without pointers: it may be private,
 *	or a file that the processes of a session share and tools read while it is
 *	written.  n is a power of two; slots are searched linearly from the hash.
 *	At most half of the slots are ever in use, so searches are short; one that
 *	has seen TACHO_MAP_PROBES slots gives up, whatever the memory holds.
 *
 * 2. Inserting a key: no lock, and safe against a kill at any instruction
 *
 *	I1  slots are looked at from the hash on: an equal hash and an equal key
 *	    is the answer; an empty slot ends the search
 *	I2  an element is taken: the spare one by compare-and-swap with 0, else the next
 *	    number by fetch-and-add; none left: the hit is dropped and counted
 *	I3  the key is written into the element, which nobody else knows
 *	I4  the slot goes from 0 to (hash, number) by compare-and-swap, release.  Whoever
 *	    loses looks at the slot again: the same key, and the element becomes the
 *	    spare one (a second spare is forgotten until the next clear); another
 *	    key, and the search goes on with the element in hand
 *
 *	A slot once filled never changes until the map is cleared; a key is
 *	never seen half written.  Whoever is killed between I2 and I4 costs
 *	one element.  Two writers may insert the same key only at the same slot, so a
 *	key has one element.
 *
 * 3. Updating: each word by itself, relaxed.  hitcount and sums by fetch-and-add; a
 *    variable's value by a store and its bit in `set` by an or, so that
 *    whoever sees the bit sees the value.  Text (saved strings) is copied without a
 *    lock: a reader may see it half written, never outside its room.
 *
 * 4. The kernel's total of hits counts what found or made an element to count in.
 *    Each such hit is in its element's hitcount already, so the head has no
 *    counter for it, and tacho_map_hits() adds them up: a hit touches no word that
 *    all writers share.  Look-ups of variables are no hits (checked against 6.12).
 *
 * 5. Reading while it is written: slots in order, each element's words as they are.
 *    Sums of one element need not belong to one moment.
 *
 * 6. Clearing
 *
 *	C1  the map gets a new generation and is full, so that nobody takes elements:
 *	    by one swap, which tells how many were taken
 *	C2  slots, then elements are zeroed, then drops
 *	C3  its elements are free again
 *
 *	Hits that run meanwhile may be lost or counted in the cleared map, for the
 *	key that has their element then; who wants none pauses the writers
 *	first.  Generations keep an element that was taken before a clear from being
 *	the spare one after it.  A slot that was filled by a writer who slept through a
 *	clear may have another key's element: it matches no key, and tacho_map_next()
 *	passes over it.  Whoever is killed between C1 and C3 leaves a full map; the next
 *	clear repairs it.
 *
 * A shared map is foreign input: geometry is copied and checked when a view is
 * made, every element number when it is used.  Whatever its bytes are, the calls
 * below stay inside it and come to an end.
 */
#ifndef TACHO_ENGINE_MAP_H
#define TACHO_ENGINE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define TACHO_MAP_KEY_MAX	384	/* bytes; as the kernel's: a string and a stack */
#define TACHO_MAP_TEXT		256	/* room of one saved string */
#define TACHO_MAP_PROBES	2048	/* slots that one search looks at */

struct tacho_map_geometry {
	uint32_t entries;	/* n: a power of two, 2..131072 */
	uint32_t key_size;	/* bytes, a multiple of 8, 8..TACHO_MAP_KEY_MAX */
	uint32_t nr_sums;	/* besides hitcount; 0..16 */
	uint32_t nr_vars;	/* 0..64 */
	uint32_t nr_texts;	/* 0..64, TACHO_MAP_TEXT bytes each */
};

struct tacho_map_head {
	uint64_t magic;
	struct tacho_map_geometry g;
	uint32_t paused;	/* 1: hits do nothing */
	uint64_t pad[4];
	/* A line of its own: written when keys are new. */
	uint64_t next;		/* generation << 32 | elements handed out */
	uint64_t spare;		/* generation << 32 | element number + 1; or 0 */
	uint64_t drops;		/* hits that found no room */
	uint64_t high;		/* elements that were ever handed out before a clear */
	uint64_t pad2[4];
};

/* This process's view: trusted geometry, places computed from it. */
struct tacho_map {
	struct tacho_map_head *head;
	uint64_t *slot;
	unsigned char *elt;
	struct tacho_map_geometry g;
	uint32_t slot_mask;
	uint32_t elt_size;
	uint32_t sums, set, vars, texts;	/* offsets in an element */
};

/* One element.  key first, then hitcount, ... by the view's offsets. */
struct tacho_map_elt;

/* Bytes of a map, or 0 for a geometry out of bounds. */
size_t tacho_map_bytes(const struct tacho_map_geometry *g);

/* Makes an empty map in zeroed memory of that size, 64-aligned. */
void tacho_map_init(void *mem, const struct tacho_map_geometry *g);

/*
 * Views a map of size bytes.  0, or -EINVAL for what is no map, or not of the
 * geometry want (NULL: any).
 */
int tacho_map_view(struct tacho_map *map, void *mem, size_t size,
		   const struct tacho_map_geometry *want);

/*
 * The element of a key of g.key_size bytes, 8-aligned, made if need be; NULL
 * when there is no room (counted in drops).  Whoever gets one counts the hit in
 * tacho_map_hitcount().
 * Context: any thread, any signal handler.
 */
struct tacho_map_elt *tacho_map_insert(const struct tacho_map *map,
				       const void *key);

/* The element of a key, or NULL.  Changes nothing.  Any context. */
struct tacho_map_elt *tacho_map_find(const struct tacho_map *map,
				     const void *key);

/* As the kernel's Totals: Hits.  Walks the whole map. */
uint64_t tacho_map_hits(const struct tacho_map *map);

static inline uint64_t *tacho_map_word(struct tacho_map_elt *e, uint32_t offset)
{
	return (uint64_t *)(void *)((unsigned char *)(void *)e + offset);
}

static inline const void *tacho_map_key(const struct tacho_map_elt *e)
{
	return e;
}

static inline uint64_t *tacho_map_hitcount(const struct tacho_map *map,
					   struct tacho_map_elt *e)
{
	return tacho_map_word(e, map->g.key_size);
}

static inline uint64_t *tacho_map_sum(const struct tacho_map *map,
				      struct tacho_map_elt *e, uint32_t i)
{
	return tacho_map_word(e, map->sums + i * 8);
}

/* A variable's value, set or not. */
static inline uint64_t *tacho_map_var(const struct tacho_map *map,
				      struct tacho_map_elt *e, uint32_t i)
{
	return tacho_map_word(e, map->vars + i * 8);
}

static inline char *tacho_map_text(const struct tacho_map *map,
				   struct tacho_map_elt *e, uint32_t i)
{
	return (char *)(void *)e + map->texts + (size_t)i * TACHO_MAP_TEXT;
}

/* Variables: set, look, and look and unset in one step.  False: not set. */
void tacho_map_var_set(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t value);
void tacho_map_var_mark(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i);	/* its value is set already */
bool tacho_map_var_get(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t *value);
bool tacho_map_var_take(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i, uint64_t *value);

/*
 * Elements in slot order: *pos is 0 at first; NULL behind the last.  Not more than
 * 2 * entries, and not more than entries unless somebody meddled with the map.
 */
struct tacho_map_elt *tacho_map_next(const struct tacho_map *map, uint32_t *pos);

/* Empties the map.  Whoever calls it keeps others from calling it at once. */
void tacho_map_clear(const struct tacho_map *map);

/* ---- the common case: a key that is one word ---- */

#define TACHO_MAP_SEED	0x9e3779b97f4a7c15u
#define TACHO_MAP_STEP	0xd6e8feb86659fd93u

/* One word more into a hash: both halves of a product of 64 by 64 bits. */
static inline uint64_t tacho_map_mix(uint64_t h, uint64_t word)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)(h ^ word) * TACHO_MAP_STEP;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint32_t tacho_map_hash_u64(uint64_t key)
{
	return (uint32_t)tacho_map_mix(TACHO_MAP_SEED, key);
}

/* tacho_map_insert() for a map whose key_size is 8. */
static TACHO_ALWAYS_INLINE struct tacho_map_elt *
tacho_map_insert_u64(const struct tacho_map *map, uint64_t key)
{
	uint32_t hash = tacho_map_hash_u64(key);
	uint64_t slot = tacho_load_acquire(&map->slot[hash & map->slot_mask]);
	uint32_t number = (uint32_t)slot - 1;
	unsigned char *e = map->elt + (size_t)number * map->elt_size;

	/* [I4] pairs with this acquire */
	if (tacho_likely(slot >> 32 == hash && number < map->g.entries &&
			 tacho_load_relaxed((uint64_t *)(void *)e) == key))
		return (struct tacho_map_elt *)(void *)e;
	return tacho_map_insert(map, &key);
}

#endif
