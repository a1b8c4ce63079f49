// SPDX-License-Identifier: MIT
#include "base/hashmap.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_FIRST	64u
#define ROOM_MAX	(UINT32_C(1) << 31)

/* The slot of the key, or the free slot for it. */
static struct tacho_hashmap_slot *find(const struct tacho_hashmap *m, uint64_t key)
{
	uint32_t at = tacho_hashmap_home(m, key);

	while (m->slot[at].value && m->slot[at].key != key)
		at = (at + 1) & (m->room - 1);
	return &m->slot[at];
}

static int grow(struct tacho_hashmap *m)
{
	struct tacho_hashmap bigger = {
		.nr = m->nr, .room = m->room ? m->room * 2 : ROOM_FIRST,
	};

	if (m->room == ROOM_MAX)
		return -ENOMEM;
	bigger.slot = calloc(bigger.room, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->room; i++)
		if (m->slot[i].value)
			*find(&bigger, m->slot[i].key) = m->slot[i];
	free(m->slot);
	*m = bigger;
	return 0;
}

int tacho_hashmap_set(struct tacho_hashmap *m, uint64_t key, void *value)
{
	struct tacho_hashmap_slot *s;

	if (m->nr >= m->room / 2 && grow(m))
		return -ENOMEM;
	s = find(m, key);
	m->nr += !s->value;
	*s = (struct tacho_hashmap_slot){ key, value };
	return 0;
}

void tacho_hashmap_release(struct tacho_hashmap *m)
{
	free(m->slot);
	*m = (struct tacho_hashmap){ 0 };
}
