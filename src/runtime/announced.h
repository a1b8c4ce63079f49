/* SPDX-License-Identifier: MIT */
/*
 * announced.h - the set of objects in stacks that were announced to a session.
 *
 * A key is searched in a few slots from its own on, so that two objects with the same slot do not
 * replace each other: each replacement would write all mappings again, at every hit.
 *
 * Any number of threads; a thread that loses a race announces once more.
 */
#ifndef TACHO_RUNTIME_ANNOUNCED_H
#define TACHO_RUNTIME_ANNOUNCED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

#define RUNTIME_ANNOUNCED	256u	/* keys; a power of two */
#define RUNTIME_ANNOUNCED_WAYS	32u	/* places of one */

static inline uint64_t *announced_place(uint64_t *announced, uint64_t key, uint32_t way)
{
	return &announced[((key >> 32) + way) & (RUNTIME_ANNOUNCED - 1)];
}

static inline bool announced_has(uint64_t *announced, uint64_t key)
{
	for (uint32_t way = 0; way < RUNTIME_ANNOUNCED_WAYS; way++) {
		uint64_t at = tacho_load_relaxed(announced_place(announced, key, way));

		if (at == key || !at)
			return at;
	}
	return false;
}

/* key: not 0.  If all its slots are used, replaces the first one. */
static inline void announced_add(uint64_t *announced, uint64_t key)
{
	for (uint32_t way = 0; way < RUNTIME_ANNOUNCED_WAYS; way++) {
		uint64_t *place = announced_place(announced, key, way);
		uint64_t at = tacho_load_relaxed(place);

		if (at && at != key)
			continue;
		tacho_store_relaxed(place, key);
		return;
	}
	tacho_store_relaxed(announced_place(announced, key, 0), key);
}

static inline void announced_clear(uint64_t *announced)
{
	for (uint32_t i = 0; i < RUNTIME_ANNOUNCED; i++)
		tacho_store_relaxed(&announced[i], 0);
}

#endif
