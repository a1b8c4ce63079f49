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
 *
 * 2. Inserting a key: no lock, and safe against a kill at any instruction
 *
 *	I1  slots are looked at from the hash on: an equal hash and an equal key
 *	    is the answer; an empty slot ends the search
 *	I2  an element is taken: the spare one by exchange with 0, else the next
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
 *    variable's value by a store and its bit in `set` by an or, release, so that
 *    whoever sees the bit sees the value.  Text (saved strings) is copied without a
 *    lock: a reader may see it half written, never outside its room.
 *
 * 4. Reading while it is written: slots in order, each element's words as they are.
 *    Sums of one element need not belong to one moment.
 *
 * 5. Clearing: slots, then elements are zeroed.  Hits that run meanwhile may be
 *    lost or counted in the cleared map; who wants none pauses the writers first.
 *
 * A shared map is foreign input: geometry is copied and checked when a view is
 * made, every element number when it is used.
 */
#ifndef TACHO_ENGINE_MAP_H
#define TACHO_ENGINE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TACHO_MAP_KEY_MAX	384	/* bytes; as the kernel's: a string and a stack */
#define TACHO_MAP_TEXT		256	/* room of one saved string */

struct tacho_map_geometry {
	uint32_t entries;	/* n: a power of two, 2..131072 */
	uint32_t key_size;	/* bytes, a multiple of 8, 8..TACHO_MAP_KEY_MAX */
	uint32_t nr_sums;	/* besides hitcount; 0..16 */
	uint32_t nr_vars;	/* 0..64 */
	uint32_t nr_texts;	/* 0..16, TACHO_MAP_TEXT bytes each */
};

struct tacho_map_head {
	uint64_t magic;
	struct tacho_map_geometry g;
	uint32_t paused;	/* 1: hits do nothing */
	uint64_t next;		/* elements handed out */
	uint64_t spare;		/* element number + 1, or 0 */
	uint64_t hits;		/* as the kernel's Totals: Hits counts all that found or made an entry */
	uint64_t drops;		/* hits that found no room */
	uint64_t pad[6];
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
 * when there is no room (counted in drops).  Counts the hit in head->hits.
 * Context: any thread, any signal handler.
 */
struct tacho_map_elt *tacho_map_insert(const struct tacho_map *map,
				       const void *key);

/* The element of a key, or NULL.  Changes nothing.  Any context. */
struct tacho_map_elt *tacho_map_find(const struct tacho_map *map,
				     const void *key);

const void *tacho_map_key(const struct tacho_map_elt *e);
uint64_t *tacho_map_hitcount(const struct tacho_map *map, struct tacho_map_elt *e);
uint64_t *tacho_map_sum(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i);
char *tacho_map_text(const struct tacho_map *map, struct tacho_map_elt *e,
		     uint32_t i);

/* Variables: set, look, and look and unset in one step.  False: not set. */
void tacho_map_var_set(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t value);
bool tacho_map_var_get(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t *value);
bool tacho_map_var_take(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i, uint64_t *value);

/* Elements in slot order: *pos is 0 at first; NULL behind the last. */
struct tacho_map_elt *tacho_map_next(const struct tacho_map *map, uint32_t *pos);

void tacho_map_clear(const struct tacho_map *map);

#endif
