// SPDX-License-Identifier: MIT
#include "columns/dict.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "columns/columns.h"

void columns_dict_release(struct columns_dict *d)
{
	columns_block_drop(d->offsets);
	columns_block_drop(d->text);
	free(d->slot);
	*d = (struct columns_dict){ .generation = d->generation + 1 };
}

void columns_dict_trim(struct columns_dict *d)
{
	if (d->nr > COLUMNS_DICT_TEXTS || d->bytes > COLUMNS_DICT_BYTES)
		columns_dict_release(d);
}

static uint32_t text_hash(const char *s, size_t len)
{
	uint64_t h = len * UINT64_C(0x9e3779b97f4a7c15);

	for (; len >= 8; s += 8, len -= 8)
		h = ((h ^ tacho_load_u64(s)) * UINT64_C(0xff51afd7ed558ccd));
	for (; len; s++, len--)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	return (uint32_t)(h * UINT64_C(0xc4ceb9fe1a85ec53) >> 32);
}

static const int32_t *offsets_of(const struct columns_dict *d)
{
	return (const int32_t *)(const void *)d->offsets->bytes;
}

static bool is_text(const struct columns_dict *d, int32_t i, const char *s, size_t len)
{
	const int32_t *at = offsets_of(d) + i;

	return (size_t)(at[1] - at[0]) == len && !memcmp(d->text->bytes + at[0], s, len);
}

static int more_slots(struct columns_dict *d)
{
	uint32_t room = d->room ? 2 * d->room : 64;
	struct columns_dict_slot *slot = malloc(room * sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	memset(slot, 0xff, room * sizeof(*slot));
	for (uint32_t i = 0; i < d->room; i++) {
		uint32_t at = d->slot[i].hash & (room - 1);

		if (d->slot[i].index < 0)
			continue;
		while (slot[at].index >= 0)
			at = (at + 1) & (room - 1);
		slot[at] = d->slot[i];
	}
	free(d->slot);
	d->slot = slot;
	d->room = room;
	return 0;
}

/*
 * Appends, beyond what batches have.  A block that is full is replaced; it stays as it is for
 * those that share it.
 */
static int32_t append(struct columns_dict *d, const char *s, size_t len)
{
	size_t used = d->nr ? (d->nr + (size_t)1) * sizeof(int32_t) : 0;
	int32_t *at;

	if (len > INT32_MAX - (size_t)d->bytes || d->nr == INT32_MAX)
		return -ENOMEM;
	if (columns_block_grow(&d->offsets, used, (d->nr + (size_t)2) * sizeof(int32_t)) ||
	    columns_block_grow(&d->text, d->bytes, d->bytes + len))
		return -ENOMEM;
	at = (int32_t *)(void *)d->offsets->bytes;
	if (!d->nr)
		at[0] = 0;
	if (len)
		memcpy(d->text->bytes + d->bytes, s, len);
	d->bytes += (uint32_t)len;
	at[d->nr + 1] = (int32_t)d->bytes;
	return (int32_t)d->nr++;
}

int32_t columns_dict_index(struct columns_dict *d, const char *s, size_t len)
{
	uint32_t hash = text_hash(s, len), at;
	int32_t index;

	if (d->nr >= d->room / 2 && more_slots(d))
		return -ENOMEM;
	at = hash & (d->room - 1);
	for (; d->slot[at].index >= 0; at = (at + 1) & (d->room - 1))
		if (d->slot[at].hash == hash && is_text(d, d->slot[at].index, s, len))
			return d->slot[at].index;
	index = append(d, s, len);
	if (index >= 0)
		d->slot[at] = (struct columns_dict_slot){ hash, index };
	return index;
}
