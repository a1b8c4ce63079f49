/* SPDX-License-Identifier: MIT */
/* block.h - memory with several owners: the buffers of exported arrays. */
#ifndef TACHO_COLUMNS_BLOCK_H
#define TACHO_COLUMNS_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Arrow asks for 64 bytes, for vector units. */
#define COLUMNS_ALIGN	64u

struct columns_block {
	uint32_t owners;
	size_t room;		/* bytes */
	_Alignas(COLUMNS_ALIGN) unsigned char bytes[];
};

/* Makes a block of at least size bytes, which are not set, with one owner.  NULL: no memory. */
struct columns_block *columns_block_new(size_t size);

/* Makes one more owner.  Returns b. */
struct columns_block *columns_block_share(struct columns_block *b);

/* Ends an owner's share; the last one frees the block.  Any thread.  Ignores NULL. */
void columns_block_drop(struct columns_block *b);

/*
 * Makes room for need bytes in *b, which may be NULL, and keeps its first used bytes: if that
 * takes a new block, other owners keep the old one.  Returns 0, or -ENOMEM with *b as it was.
 */
int columns_block_grow(struct columns_block **b, size_t used, size_t need);

#endif
