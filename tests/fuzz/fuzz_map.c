// SPDX-License-Identifier: MIT
/*
 * The table of a histogram in memory that others have written to.
 *
 * Input: 8 bytes of geometry (log2 of entries, words of key, sums, variables, texts,
 * whether the head is the input's too, CPUs, one unused); 64 bytes of operations; the rest
 * is what the map holds, repeated to its end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/map.h"

#define HEAD	8
#define OPS	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void touch(const struct tacho_map *map, struct tacho_map_elt *e)
{
	struct tacho_map_counters c = tacho_map_at(map, e);
	uint64_t before, v;

	/* the garbage in the other copies does not keep a sum from growing */
	for (uint32_t i = 0; i <= map->g.nr_sums; i++) {
		before = tacho_map_counter(map, e, i);
		tacho_map_add(&c, i, i + 1);
		if (tacho_map_counter(map, e, i) != before + i + 1)
			abort();
	}
	for (uint32_t i = 0; i < map->g.nr_vars; i++) {
		if (!tacho_map_var_take(map, e, i, &v))
			tacho_map_var_set(map, e, i, i);
		else if (tacho_map_var_get(map, e, i, &v))
			abort();
	}
	for (uint32_t i = 0; i < map->g.nr_texts; i++)
		memset(tacho_map_text(map, e, i), 'x', TACHO_MAP_TEXT);
}

static void walk(const struct tacho_map *map)
{
	struct tacho_map_elt *e;
	uint32_t pos = 0, nr = 0;

	while ((e = tacho_map_next(map, &pos)))
		nr++;
	if (nr > 2 * map->g.entries)
		abort();
	tacho_map_hits(map);
}

/* Keys differ in one byte, so that they meet. */
static void operate(const struct tacho_map *map, uint8_t op)
{
	uint64_t key[TACHO_MAP_KEY_MAX / 8] = { 0 };
	struct tacho_map_elt *e, *again;

	key[map->g.key_size / 8 - 1] = op & 31;
	switch (op >> 5) {
	case 0:
		walk(map);
		break;
	case 1:
		if ((op & 31) == 31)
			tacho_map_clear(map);
		break;
	case 2:
	case 3:
		e = tacho_map_find(map, key);
		if (e)
			touch(map, e);
		break;
	default:
		e = tacho_map_insert(map, key);
		if (!e)
			break;
		touch(map, e);
		again = map->g.key_size == 8 ? tacho_map_insert_u64(map, key[0])
					     : tacho_map_find(map, key);
		if (again != e && map->g.key_size > 8)
			abort();
	}
}

static void fill(unsigned char *mem, size_t from, size_t size,
		 const uint8_t *data, size_t len)
{
	for (size_t at = from; len && at < size; at += len)
		memcpy(mem + at, data, len < size - at ? len : size - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct tacho_map_geometry g;
	struct tacho_map map;
	size_t size;
	void *mem;

	if (len < HEAD + OPS)
		return 0;
	g = (struct tacho_map_geometry){
		.entries = 2u << data[0] % 8, .key_size = 8 + 8 * (data[1] % 48),
		.nr_sums = data[2] % 17, .nr_vars = data[3] % 65,
		.nr_texts = data[4] % 5, .nr_cpus = data[6] % 9,
	};
	size = tacho_map_bytes(&g);
	if (!size || posix_memalign(&mem, 64, size))
		abort();
	memset(mem, 0, size);
	tacho_map_init(mem, &g);
	if (tacho_map_view(&map, mem, size, &g))
		abort();
	fill(mem, data[5] & 1 ? 64 : sizeof(struct tacho_map_head), size,
	     data + HEAD + OPS, len - HEAD - OPS);
	for (size_t i = 0; i < OPS; i++)
		operate(&map, data[HEAD + i]);
	/* a head of any bytes at all is refused or fits */
	if (data[5] & 2) {
		fill(mem, 8, size, data + HEAD + OPS, len - HEAD - OPS);
		if (!tacho_map_view(&map, mem, size, NULL))
			walk(&map);
	}
	free(mem);
	return 0;
}
