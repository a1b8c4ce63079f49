/* SPDX-License-Identifier: MIT */
/*
 * map.h - the table of a histogram.
 *
 * 1. The picture
 *
 *	head | slots: uint64_t [2 * n]	      | elements: [n]
 *	     | hash << 32 | element number + 1 | key, counters, variables, text
 *
 *	     | counters of CPU 0: [n] | of CPU 1: [n] | ... as many as nr_cpus says
 *
 *	The counters of an element are its hitcount and its sums, next to each other.  An
 *	element has one copy of its counters for each CPU, and a shared copy inside the
 *	element; the value of a counter is the sum of all copies.  The counters of each CPU
 *	begin at a cache line, so two CPUs never write to the same line, and a search for a key
 *	reads lines that hits do not write to.  With nr_cpus 0 (the creator's choice, for one
 *	thread or a large map) there is only the shared copy.
 *
 *	A map is one block of memory of fixed size and without pointers: private memory, or a
 *	file that the processes of a session share and tools read while it is written.  n is a
 *	power of two; slots are searched linearly from the hash. At most half of the slots are
 *	ever in use, so searches are short; a search ends after TACHO_MAP_PROBES slots,
 *	whatever the memory contains.
 *
 * 2. Inserting a key: no lock, and safe against a kill at any instruction
 *
 *	I1  slots are compared from the hash on: an equal hash and an equal key is a match; an
 *	    empty slot ends the search
 *	I2  an element is taken: the spare one by compare-and-swap with 0, else the next
 *	    number by fetch-and-add; if none is left, the hit is dropped and counted
 *	I3  the key is written into the element, which no other thread can reach yet I4  the
 *	slot goes from 0 to (hash, number) by compare-and-swap, release.  A writer that loses
 *	    compares the slot again.  If it has the same key, the writer's element becomes the
 *	    spare one (a second spare is unused until the next clear).  If it has another key,
 *	    the search continues and keeps the element
 *
 *	A slot once filled never changes until the map is cleared; no reader sees a
 *	half-written key.  A kill between I2 and I4 costs one element.  Two writers may insert
 *	the same key only at the same slot, so a key has one element.
 *
 * 3. Updating: each word by itself
 *
 *	A1  the CPU is read: it has a copy, and that copy's word is the one
 *	A2  restartable sequence: still on that CPU?  word += value (the commit)
 *	A3  no copy, no sequences in this thread, or A2 did not commit: fetch-and-add
 *	    to the shared word
 *
 *	The commit is the addition itself: it is done or not done, wherever its thread is
 *	preempted, moved, signalled or killed, and exactly one of A2 and A3 happens.
 *	So a word of a CPU's copy has one writer at any time, needs no locked instruction
 *	(which took 6 ns and prevented overlap), and loses nothing.  Nothing is repeated: a
 *	writer whose sequence is aborted uses the shared word.  A kill between two counters of
 *	a hit leaves the first counted and the second not.
 *
 *	All words count modulo 2^64, as a single word would.  In a map with only one thread
 *	(`alone`) A3 is a plain addition.
 *
 *	A variable's value is stored then its bit in `set` is set by an or, so that a thread
 *	that sees the bit sees the value.  Text (saved strings) is copied without a lock: a
 *	reader may see it half written, but never reads outside its room.
 *
 * 4. The kernel's total of hits counts the hits that found or created an element. Each such hit
 *    is in its element's hitcount already, so the head has no counter for it, and
 *    tacho_map_hits() adds them up: a hit touches no word that all writers share.  Look-ups of
 *    variables are not hits (checked against 6.12).
 *
 * 5. Reading while it is written: slots in order, each element's words as they are; for a counter
 *    the shared word, then those of the CPUs.  Counters of one element may be from different
 *    times, and so may the copies in one sum; while no writer is active the sum is exact.
 *
 * 6. Clearing
 *
 *	C1  one swap gives the map a new generation and makes it full, so that no writer takes
 *	    elements; it returns how many were taken
 *	C2  slots, then elements, then drops are zeroed.  Of an element's counters only the
 *	    shared word is written: it becomes the negative sum of those of the CPUs
 *	C3  its elements are free again
 *
 *	Only a CPU itself may write to its counters: a concurrent addition would write the old
 *	count back.  So they keep their values, whatever key uses their element next, and the
 *	shared word makes the sum 0.  A reader that sees the new shared word sees CPUs' words
 *	no older than those it was computed from.
 *
 *	Hits during a clear may be lost or counted in the cleared map, for the key that then
 *	has their element; a caller that cannot accept this pauses the writers first.
 *	Generations keep an element that was taken before a clear from becoming the spare one
 *	after it.  A writer that sleeps during a clear may fill a slot with another key's
 *	element: the slot matches no key, and tacho_map_next() skips it.  A kill between C1 and
 *	C3 leaves a full map; the next clear computes the shared words again and so repairs it.
 *
 * A shared map is untrusted input: the geometry is copied and checked when a view is created,
 * every element number when it is used.  Whatever the map contains, the calls below stay inside
 * it and terminate.
 */
#ifndef TACHO_ENGINE_MAP_H
#define TACHO_ENGINE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/inject.h"
#include "sys/sequence.h"

#define TACHO_MAP_KEY_MAX	384	/* bytes; as the kernel's: a string and a stack */
#define TACHO_MAP_TEXT		256	/* room of one saved string */
#define TACHO_MAP_PROBES	2048	/* slots that one search looks at */
#define TACHO_MAP_CPUS_MAX	4096

struct tacho_map_geometry {
	uint32_t entries;	/* n: a power of two, 2..131072 */
	uint32_t key_size;	/* bytes, a multiple of 8, 8..TACHO_MAP_KEY_MAX */
	uint32_t nr_sums;	/* besides hitcount; 0..16 */
	uint32_t nr_vars;	/* 0..64 */
	uint32_t nr_texts;	/* 0..64, TACHO_MAP_TEXT bytes each */
	uint32_t nr_cpus;	/* copies of the counters; 0..TACHO_MAP_CPUS_MAX */
};

struct tacho_map_head {
	uint64_t magic;
	struct tacho_map_geometry g;
	uint32_t paused;	/* 1: hits do nothing */
	uint32_t pad0;
	uint64_t pad[3];
	/* A separate cache line: written for new keys. */
	uint64_t next;		/* generation << 32 | elements taken */
	uint64_t spare;		/* generation << 32 | element number + 1; or 0 */
	uint64_t drops;		/* hits that found no room */
	uint64_t high;		/* elements that were ever taken before a clear */
	uint64_t pad2[4];
};

/* This process's view: trusted geometry, places computed from it. */
struct tacho_map {
	struct tacho_map_head *head;
	uint64_t *slot;
	unsigned char *elt;
	unsigned char *cpus;		/* counters of CPU 0, then of CPU 1, ... */
	uint64_t cpu_stride;		/* bytes of the counters of one CPU */
	struct tacho_map_geometry g;
	uint32_t slot_mask;
	uint32_t elt_size;
	uint32_t elt_shift, elt_inverse;	/* see tacho_map_number() */
	uint32_t counters;		/* bytes of the counters of an element: hitcount and sums */
	uint32_t set, vars, texts;	/* offsets in an element */
	bool alone;	/* one thread at a time uses the map; false at first */
};

/* One element.  key first, then its own counters, ... by the view's offsets. */
struct tacho_map_elt;

/* The counters of one hit: A1. */
struct tacho_map_counters {
	uint64_t *shared;	/* hitcount, then sums; NULL: there is no element */
	uint64_t *own;		/* those of this CPU; NULL: A3 */
	uint32_t cpu;
	bool alone;
};

/* The size of a map in bytes, or 0 for a geometry out of bounds. */
size_t tacho_map_bytes(const struct tacho_map_geometry *g);

/* Makes an empty map in zeroed memory of that size, 64-aligned. */
void tacho_map_init(void *mem, const struct tacho_map_geometry *g);

/*
 * Creates a view of a map of size bytes.  Returns 0, or -EINVAL: not a map, or not of the
 * geometry want (NULL: any). nr_cpus is not compared, because the map's creator chose it.
 */
int tacho_map_view(struct tacho_map *map, void *mem, size_t size,
		   const struct tacho_map_geometry *want);

/*
 * Finds or creates the element of a key of g.key_size bytes, 8-aligned; NULL: there is no room
 * (counted in drops).  The caller then counts the hit with tacho_map_at() and tacho_map_add().
 * Context: any thread, any signal handler.
 */
struct tacho_map_elt *tacho_map_insert(const struct tacho_map *map,
				       const void *key);

/* Finds the element of a key, or NULL. Changes nothing.  Any context. */
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

/* ---- counters ---- */

/* An element's own word of counter i: 0 is the hitcount, 1 + i sum i. */
static inline uint64_t *tacho_map_shared(const struct tacho_map *map,
					 struct tacho_map_elt *e, uint32_t i)
{
	return tacho_map_word(e, map->g.key_size + i * 8);
}

/*
 * An element's number: its distance from the first element, divided by the size of one.  The
 * division has no remainder, so it is a shift by the size's power of two and, modulo 2^32, a
 * multiplication by the inverse of the odd factor.  (All elements together are smaller than 4
 * GiB.)
 */
static inline uint32_t tacho_map_number(const struct tacho_map *map,
					const struct tacho_map_elt *e)
{
	uint32_t at = (uint32_t)((const unsigned char *)(const void *)e - map->elt);

	return (at >> map->elt_shift) * map->elt_inverse;
}

/* The counters of an element, by number, on CPU cpu. */
static inline uint64_t *tacho_map_of_cpu(const struct tacho_map *map,
					 uint32_t cpu, uint32_t number)
{
	return (uint64_t *)(void *)(map->cpus + cpu * map->cpu_stride +
				    (uint64_t)number * map->counters);
}

static TACHO_ALWAYS_INLINE struct tacho_map_counters
tacho_map_at_number(const struct tacho_map *map, struct tacho_map_elt *e,
		    uint32_t number)
{
	struct tacho_map_counters c = {
		.shared = tacho_map_shared(map, e, 0), .alone = map->alone,
	};

#ifdef TACHO_HAVE_RSEQ
	if (map->g.nr_cpus) {
		/* also for a thread without sequences: its cpu is huge */
		c.cpu = tacho_rseq_cpu(tacho_rseq_area());
		if (tacho_likely(c.cpu < map->g.nr_cpus))
			c.own = tacho_map_of_cpu(map, c.cpu, number);
	}
#else
	(void)number;
#endif
	TACHO_INJECT(map_at);
	return c;
}

/* The counters for one hit of an element.  Any context; use the result immediately. */
static inline struct tacho_map_counters tacho_map_at(const struct tacho_map *map,
						     struct tacho_map_elt *e)
{
	return tacho_map_at_number(map, e, map->g.nr_cpus ?
					   tacho_map_number(map, e) : 0);
}

/* Counter i (0: hitcount, 1 + i: sum i) += value. A2 and A3; any context. */
static TACHO_ALWAYS_INLINE void
tacho_map_add(const struct tacho_map_counters *c, uint32_t i, uint64_t value)
{
#ifdef TACHO_HAVE_RSEQ
	if (c->own && tacho_likely(!tacho_rseq_cmp_add(tacho_rseq_area(), c->cpu,
						       c->own + i, value)))
		return;
#endif
	if (c->alone)
		tacho_store_relaxed(c->shared + i,
				    tacho_load_relaxed(c->shared + i) + value);
	else
		(void)tacho_add_relaxed(c->shared + i, value);
}

/* The value of counter i of an element: the sum of all copies.  Any context. */
uint64_t tacho_map_counter(const struct tacho_map *map, struct tacho_map_elt *e,
			   uint32_t i);

static inline uint64_t tacho_map_hitcount(const struct tacho_map *map,
					  struct tacho_map_elt *e)
{
	return tacho_map_counter(map, e, 0);
}

static inline uint64_t tacho_map_sum(const struct tacho_map *map,
				     struct tacho_map_elt *e, uint32_t i)
{
	return tacho_map_counter(map, e, 1 + i);
}

/* ---- variables and texts ---- */

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

/* Variables: set, read, and read and unset in one step.  False: not set. */
void tacho_map_var_set(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t value);
void tacho_map_var_mark(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i);	/* its value is set already */
bool tacho_map_var_get(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t *value);
bool tacho_map_var_take(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i, uint64_t *value);

/*
 * Elements in slot order: *pos is 0 at first; NULL after the last.  At most 2 * entries calls
 * succeed, and at most entries unless the map is corrupt.
 */
struct tacho_map_elt *tacho_map_next(const struct tacho_map *map, uint32_t *pos);

/* Empties the map.  The caller must prevent concurrent calls. */
void tacho_map_clear(const struct tacho_map *map);

/* ---- the common case: a key that is one word ---- */

#define TACHO_MAP_SEED	0x9e3779b97f4a7c15u
#define TACHO_MAP_STEP	0xd6e8feb86659fd93u

/* Adds one word to a hash: both halves of a product of 64 by 64 bits. */
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

/*
 * The element in the first slot of a key's search, if it has that key, as nearly always; *number
 * is its number.  Otherwise NULL.
 */
static TACHO_ALWAYS_INLINE struct tacho_map_elt *
tacho_map_first_u64(const struct tacho_map *map, uint64_t key, uint32_t *number)
{
	uint32_t hash = tacho_map_hash_u64(key);
	/* I4 */
	uint64_t slot = tacho_load_acquire(&map->slot[hash & map->slot_mask]);	/* [key] */
	unsigned char *e;

	*number = (uint32_t)slot - 1;
	e = map->elt + (size_t)*number * map->elt_size;
	if (tacho_likely(slot >> 32 == hash && *number < map->g.entries &&
			 tacho_load_relaxed((uint64_t *)(void *)e) == key))
		return (struct tacho_map_elt *)(void *)e;
	return NULL;
}

/* tacho_map_insert() for a map whose key_size is 8. */
static TACHO_ALWAYS_INLINE struct tacho_map_elt *
tacho_map_insert_u64(const struct tacho_map *map, uint64_t key)
{
	uint32_t number;
	struct tacho_map_elt *e = tacho_map_first_u64(map, key, &number);

	return tacho_likely(e != NULL) ? e : tacho_map_insert(map, &key);
}

/* The same followed by tacho_map_at(); no room: shared is NULL. */
static TACHO_ALWAYS_INLINE struct tacho_map_counters
tacho_map_insert_at_u64(const struct tacho_map *map, uint64_t key)
{
	uint32_t number;
	struct tacho_map_elt *e = tacho_map_first_u64(map, key, &number);

	if (tacho_likely(e != NULL))
		return tacho_map_at_number(map, e, number);
	e = tacho_map_insert(map, &key);
	return e ? tacho_map_at(map, e) :
		   (struct tacho_map_counters){ .shared = NULL };
}

#endif
