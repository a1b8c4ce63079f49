// SPDX-License-Identifier: MIT
#include "fmt/ltt/custom.h"

#include <stdlib.h>

/* Kernels never reused an id, but none had more than a few hundred. */
#define CUSTOMS_MAX	65536u

void tacho_ltt_customs_release(struct tacho_ltt_customs *c)
{
	free(c->slot);
}

/* The slot with this id, or the free one where it belongs. */
static struct tacho_ltt_custom *slot_of(const struct tacho_ltt_customs *c,
					uint32_t id)
{
	uint32_t at = id * 0x9e3779b1u;

	for (;; at++) {
		struct tacho_ltt_custom *e = &c->slot[at & (c->nr_slots - 1)];

		if (e->kind == LTT_CUSTOM_FREE || e->id == id)
			return e;
	}
}

struct tacho_ltt_custom *tacho_ltt_custom_find(const struct tacho_ltt_customs *c,
					       uint32_t id)
{
	struct tacho_ltt_custom *e;

	if (!c->nr_slots)
		return NULL;
	e = slot_of(c, id);
	return e->kind == LTT_CUSTOM_FREE ? NULL : e;
}

static bool grow(struct tacho_ltt_customs *c)
{
	struct tacho_ltt_custom *old = c->slot;
	uint32_t nr = c->nr_slots;

	c->slot = calloc(nr ? (size_t)nr * 2 : 64, sizeof(*old));
	if (!c->slot) {
		c->slot = old;
		return false;
	}
	c->nr_slots = nr ? nr * 2 : 64;
	for (uint32_t i = 0; i < nr; i++)
		if (old[i].kind != LTT_CUSTOM_FREE)
			*slot_of(c, old[i].id) = old[i];
	free(old);
	return true;
}

struct tacho_ltt_custom *tacho_ltt_custom_add(struct tacho_ltt_customs *c,
					      uint32_t id)
{
	struct tacho_ltt_custom *e = tacho_ltt_custom_find(c, id);

	if (e)
		return e;
	c->no_memory = c->nr < CUSTOMS_MAX && c->nr * 2 >= c->nr_slots && !grow(c);
	if (c->nr >= CUSTOMS_MAX || c->no_memory)
		return NULL;
	e = slot_of(c, id);
	c->nr++;
	*e = (struct tacho_ltt_custom){ .id = id, .kind = LTT_CUSTOM_DECLARED };
	return e;
}
