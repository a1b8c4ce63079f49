// SPDX-License-Identifier: MIT
/* The table of a histogram; map.h has the protocol. */
#include "engine/map.h"

#include <errno.h>

#include "base/inject.h"

#define MAP_MAGIC	0x32706d6f68636174u	/* "tachomp2" */

#define MAP_SUMS_MAX	16
#define MAP_VARS_MAX	64
#define MAP_TEXTS_MAX	64

_Static_assert(sizeof(struct tacho_map_head) == 128, "two cache lines");

static bool geometry_valid(const struct tacho_map_geometry *g)
{
	return g->entries >= 2 && g->entries <= 131072 &&
	       !(g->entries & (g->entries - 1)) && g->key_size >= 8 &&
	       g->key_size <= TACHO_MAP_KEY_MAX && g->key_size % 8 == 0 &&
	       g->nr_sums <= MAP_SUMS_MAX && g->nr_vars <= MAP_VARS_MAX &&
	       g->nr_texts <= MAP_TEXTS_MAX && g->nr_cpus <= TACHO_MAP_CPUS_MAX;
}

/* Sets the divisor of tacho_map_number(). */
static void divide_by(struct tacho_map *map, uint32_t size)
{
	uint32_t odd, inverse;

	map->elt_shift = (uint32_t)__builtin_ctz(size);
	odd = size >> map->elt_shift;
	/* correct in 3 bits; each round doubles them: 6, 12, 24, 48 */
	inverse = odd;
	for (int i = 0; i < 4; i++)
		inverse *= 2 - odd * inverse;
	map->elt_inverse = inverse;
}

/* Computes the layout of an element; returns its size. */
static uint32_t lay_out_element(struct tacho_map *map,
				const struct tacho_map_geometry *g)
{
	uint32_t at = g->key_size;

	map->counters = 8 + g->nr_sums * 8;
	at += map->counters;
	map->set = at;
	at += g->nr_vars ? 8 : 0;
	map->vars = at;
	at += g->nr_vars * 8;
	map->texts = at;
	at += g->nr_texts * TACHO_MAP_TEXT;
	/* small elements do not cross cache lines */
	if (at <= 32)
		at = TACHO_ALIGN_UP(at, 16);
	return at <= 32 ? at : TACHO_ALIGN_UP(at, 64);
}

/* Computes the whole layout for a map at mem (NULL: not known); returns the size in bytes. */
static size_t lay_out(struct tacho_map *map, unsigned char *mem,
		      const struct tacho_map_geometry *g)
{
	size_t slots = sizeof(struct tacho_map_head);
	size_t elts = slots + (size_t)g->entries * 2 * 8;
	size_t cpus, end;

	map->g = *g;
	map->alone = false;
	map->slot_mask = 2 * g->entries - 1;
	map->elt_size = lay_out_element(map, g);
	divide_by(map, map->elt_size);
	end = elts + (size_t)g->entries * map->elt_size;
	cpus = TACHO_ALIGN_UP(end, (size_t)64);
	map->cpu_stride = TACHO_ALIGN_UP((uint64_t)g->entries * map->counters,
					 UINT64_C(64));
	map->head = (struct tacho_map_head *)(void *)mem;
	map->slot = mem ? (uint64_t *)(void *)(mem + slots) : NULL;
	map->elt = mem ? mem + elts : NULL;
	map->cpus = mem && g->nr_cpus ? mem + cpus : NULL;
	return g->nr_cpus ? cpus + g->nr_cpus * map->cpu_stride : end;
}

size_t tacho_map_bytes(const struct tacho_map_geometry *g)
{
	struct tacho_map map;

	return geometry_valid(g) ? lay_out(&map, NULL, g) : 0;
}

void tacho_map_init(void *mem, const struct tacho_map_geometry *g)
{
	struct tacho_map_head *head = mem;

	head->g = *g;
	tacho_store_release(&head->magic, MAP_MAGIC);	/* [map-magic] */
}

/* Whether geometries are equal, except for the number of copies, which the creator chooses. */
static bool geometry_fits(const struct tacho_map_geometry *g,
			  const struct tacho_map_geometry *want)
{
	struct tacho_map_geometry w = *want;

	w.nr_cpus = g->nr_cpus;
	return !memcmp(g, &w, sizeof(w));
}

int tacho_map_view(struct tacho_map *map, void *mem, size_t size,
		   const struct tacho_map_geometry *want)
{
	const struct tacho_map_head *head = mem;
	struct tacho_map_geometry g;

	if (size < sizeof(*head) || (uintptr_t)mem % 8 ||
	    tacho_load_acquire(&head->magic) != MAP_MAGIC)	/* [map-magic] */
		return -EINVAL;
	g.entries = tacho_load_relaxed(&head->g.entries);
	g.key_size = tacho_load_relaxed(&head->g.key_size);
	g.nr_sums = tacho_load_relaxed(&head->g.nr_sums);
	g.nr_vars = tacho_load_relaxed(&head->g.nr_vars);
	g.nr_texts = tacho_load_relaxed(&head->g.nr_texts);
	g.nr_cpus = tacho_load_relaxed(&head->g.nr_cpus);
	if (!geometry_valid(&g) || (want && !geometry_fits(&g, want)))
		return -EINVAL;
	return lay_out(map, mem, &g) > size ? -EINVAL : 0;
}

static uint32_t key_hash(const struct tacho_map *map, const uint64_t *key)
{
	uint64_t h = TACHO_MAP_SEED;

	for (uint32_t i = 0; i < map->g.key_size / 8; i++)
		h = tacho_map_mix(h, tacho_load_relaxed(&key[i]));
	return (uint32_t)h;
}

static struct tacho_map_elt *element(const struct tacho_map *map,
				     uint32_t number)
{
	return (struct tacho_map_elt *)(void *)
		(map->elt + (size_t)number * map->elt_size);
}

/* The element that a slot's word names; NULL: not an element of this map. */
static struct tacho_map_elt *slot_element(const struct tacho_map *map,
					  uint64_t slot)
{
	uint32_t number = (uint32_t)slot - 1;

	return number < map->g.entries ? element(map, number) : NULL;
}

static bool key_equal(const struct tacho_map *map, struct tacho_map_elt *e,
		      const uint64_t *key)
{
	const uint64_t *have = tacho_map_word(e, 0);

	for (uint32_t i = 0; i < map->g.key_size / 8; i++)
		if (tacho_load_relaxed(&have[i]) != key[i])
			return false;
	return true;
}

/* I2: takes a free element, as generation << 32 | number + 1; 0: none left. */
static uint64_t take_element(const struct tacho_map *map)
{
	struct tacho_map_head *head = map->head;
	uint64_t next = tacho_load_relaxed(&head->next);
	uint64_t got = tacho_load_relaxed(&head->spare);

	if (got && !tacho_cas_acq_rel(&head->spare, &got, 0))
		got = 0;
	if (got && got >> 32 == next >> 32 && slot_element(map, got))
		return got;
	/* the counter of a full map is not increased */
	if ((uint32_t)next >= map->g.entries)
		return 0;
	next = tacho_add_seq_cst(&head->next, 1);	/* [generation] */
	return (uint32_t)next < map->g.entries ? next + 1 : 0;
}

/* Of two writers of one key, the loser makes its element the spare one. */
static void spare_element(const struct tacho_map *map, uint64_t taken)
{
	uint64_t none = 0;

	tacho_cas_acq_rel(&map->head->spare, &none, taken);
}

/* I3: no other thread can reach the element yet. */
static void write_key(const struct tacho_map *map, uint64_t taken,
		      const uint64_t *key)
{
	tacho_copy_relaxed(tacho_map_word(slot_element(map, taken), 0), key,
			   map->g.key_size / 8);
}

static struct tacho_map_elt *dropped(const struct tacho_map *map)
{
	tacho_add_relaxed(&map->head->drops, 1);
	return NULL;
}

/* I2 to I4 at an empty slot; returns the slot's new word; 0: no room. */
static uint64_t fill(const struct tacho_map *map, uint64_t *slot, uint32_t hash,
		     const uint64_t *key, uint64_t *taken)
{
	uint64_t found = 0, word;

	if (!*taken) {
		*taken = take_element(map);
		if (!*taken)
			return 0;
		TACHO_INJECT(map_taken);
		write_key(map, *taken, key);
		TACHO_INJECT(map_key);
	}
	word = (uint64_t)hash << 32 | (uint32_t)*taken;
	/* I4: a thread that sees the slot sees the key */
	if (tacho_cas_acq_rel(slot, &found, word)) {	/* [key] */
		*taken = 0;
		return word;
	}
	return found;
}

struct tacho_map_elt *tacho_map_insert(const struct tacho_map *map,
				       const void *key)
{
	uint32_t hash = key_hash(map, key);
	uint64_t taken = 0;

	for (uint32_t i = 0; i < TACHO_MAP_PROBES && i <= map->slot_mask; i++) {
		uint64_t *slot = &map->slot[(hash + i) & map->slot_mask];
		uint64_t word = tacho_load_acquire(slot);	/* [key] */
		struct tacho_map_elt *e;

		if (!word)
			word = fill(map, slot, hash, key, &taken);
		if (!word)
			return dropped(map);
		e = word >> 32 == hash ? slot_element(map, word) : NULL;
		if (!e || !key_equal(map, e, key))
			continue;
		/* after a clear both may have taken the same element */
		if (taken && (uint32_t)taken != (uint32_t)word)
			spare_element(map, taken);
		return e;
	}
	if (taken)
		spare_element(map, taken);
	return dropped(map);
}

struct tacho_map_elt *tacho_map_find(const struct tacho_map *map,
				     const void *key)
{
	uint32_t hash = key_hash(map, key);

	for (uint32_t i = 0; i < TACHO_MAP_PROBES && i <= map->slot_mask; i++) {
		const uint64_t *slot = &map->slot[(hash + i) & map->slot_mask];
		uint64_t word = tacho_load_acquire(slot);	/* [key] */
		struct tacho_map_elt *e;

		if (!word)
			break;
		e = word >> 32 == hash ? slot_element(map, word) : NULL;
		if (e && key_equal(map, e, key))
			return e;
	}
	return NULL;
}

static uint64_t *set_word(const struct tacho_map *map, struct tacho_map_elt *e)
{
	return tacho_map_word(e, map->set);
}

void tacho_map_var_mark(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i)
{
	uint64_t bit = (uint64_t)1 << i;

	if (!(tacho_load_relaxed(set_word(map, e)) & bit))
		tacho_or_seq_cst(set_word(map, e), bit);
}

void tacho_map_var_set(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t value)
{
	/* the value, then the bit */
	tacho_store_release(tacho_map_var(map, e, i), value);	/* [variable] */
	tacho_map_var_mark(map, e, i);
}

bool tacho_map_var_get(const struct tacho_map *map, struct tacho_map_elt *e,
		       uint32_t i, uint64_t *value)
{
	if (!(tacho_load_acquire(set_word(map, e)) >> i & 1))	/* [variable] */
		return false;
	*value = tacho_load_relaxed(tacho_map_var(map, e, i));
	return true;
}

bool tacho_map_var_take(const struct tacho_map *map, struct tacho_map_elt *e,
			uint32_t i, uint64_t *value)
{
	uint64_t bit = (uint64_t)1 << i;

	if (!(tacho_load_relaxed(set_word(map, e)) & bit))
		return false;
	/* [variable] if two threads take it, one finds the bit */
	if (!(tacho_and_seq_cst(set_word(map, e), ~bit) & bit))
		return false;
	*value = tacho_load_relaxed(tacho_map_var(map, e, i));
	return true;
}

struct tacho_map_elt *tacho_map_next(const struct tacho_map *map, uint32_t *pos)
{
	while (*pos <= map->slot_mask) {
		uint64_t word = tacho_load_acquire(&map->slot[(*pos)++]);	/* [key] */
		struct tacho_map_elt *e = slot_element(map, word);

		/* skips the element of a slot that was filled across a clear */
		if (e && key_hash(map, tacho_map_key(e)) == word >> 32)
			return e;
	}
	return NULL;
}

/* Counter i of element number in all CPUs' copies. */
static uint64_t cpus_counter(const struct tacho_map *map, uint32_t number,
			     uint32_t i)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < map->g.nr_cpus; cpu++)
		sum += tacho_load_relaxed(tacho_map_of_cpu(map, cpu, number) + i);
	return sum;
}

uint64_t tacho_map_counter(const struct tacho_map *map, struct tacho_map_elt *e,
			   uint32_t i)
{
	/* the CPUs' words are no older than those that it was computed from */
	uint64_t shared = tacho_load_acquire(tacho_map_shared(map, e, i));	/* [cleared-sum] */

	if (!map->g.nr_cpus)
		return shared;
	return shared + cpus_counter(map, tacho_map_number(map, e), i);
}

uint64_t tacho_map_hits(const struct tacho_map *map)
{
	struct tacho_map_elt *e;
	uint64_t hits = 0;
	uint32_t pos = 0;

	while ((e = tacho_map_next(map, &pos)))
		hits += tacho_map_hitcount(map, e);
	return hits;
}

/*
 * C1: from here on no writer can take an element.  Returns how many elements may not be zero:
 * those taken when this swap happens, and older ones, to which a writer that slept during a clear
 * may still write.
 */
static uint32_t close_map(const struct tacho_map *map, uint64_t generation)
{
	uint64_t next = tacho_swap_seq_cst(&map->head->next,
					   generation | map->g.entries);
	uint64_t high = tacho_load_relaxed(&map->head->high);

	if (high < (uint32_t)next)
		high = (uint32_t)next;
	if (high > map->g.entries)
		high = map->g.entries;
	tacho_store_relaxed(&map->head->high, high);
	return (uint32_t)high;
}

/* C2 for one element. */
static void clear_element(const struct tacho_map *map, uint32_t number)
{
	struct tacho_map_elt *e = element(map, number);

	for (uint32_t at = 0; at < map->g.key_size; at += 8)
		tacho_store_relaxed(tacho_map_word(e, at), 0);
	for (uint32_t i = 0; i < map->counters / 8; i++)
		/* after the words that it is computed from */
		tacho_store_release(tacho_map_shared(map, e, i),	/* [cleared-sum] */
				    0 - cpus_counter(map, number, i));
	for (uint32_t at = map->set; at < map->elt_size; at += 8)
		tacho_store_relaxed(tacho_map_word(e, at), 0);
}

void tacho_map_clear(const struct tacho_map *map)
{
	uint64_t next = tacho_load_relaxed(&map->head->next);
	uint64_t generation = ((next >> 32) + 1) << 32;
	uint32_t high;

	TACHO_INJECT(map_clear);
	high = close_map(map, generation);
	TACHO_INJECT(map_closed);
	for (size_t i = 0; i <= map->slot_mask; i++)
		tacho_store_relaxed(&map->slot[i], 0);
	for (uint32_t i = 0; i < high; i++)
		clear_element(map, i);
	tacho_store_relaxed(&map->head->spare, 0);
	tacho_store_relaxed(&map->head->drops, 0);
	tacho_store_release(&map->head->next, generation);	/* [generation] */
}
