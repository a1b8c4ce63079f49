/* SPDX-License-Identifier: MIT */
/*
 * dict.h - the texts of a dictionary column, each once.
 *
 * columns.h, 3, says how it grows while batches use it.  Zeroed memory is an empty dictionary.
 */
#ifndef TACHO_COLUMNS_DICT_H
#define TACHO_COLUMNS_DICT_H

#include <stddef.h>
#include <stdint.h>

#include "columns/block.h"

struct columns_dict {
	struct columns_block *offsets;	/* int32: nr + 1 of them; NULL while nr is 0 */
	struct columns_block *text;
	uint32_t nr;
	uint32_t bytes;			/* of text */
	uint32_t generation;		/* another one: indexes have another meaning */
	uint32_t room;			/* slots; 0 or a power of two */
	struct columns_dict_slot {
		uint32_t hash;
		int32_t index;		/* -1: free */
	} *slot;
};

void columns_dict_release(struct columns_dict *d);

/*
 * Returns the index of a text of len bytes, which is UTF-8; adds it if it is not there.
 * -ENOMEM: no memory, or it would have more than 2^31 bytes.
 */
int32_t columns_dict_index(struct columns_dict *d, const char *s, size_t len);

/* Before a batch: begins again if it has become too large. */
void columns_dict_trim(struct columns_dict *d);

#endif
