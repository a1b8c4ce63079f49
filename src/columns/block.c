// SPDX-License-Identifier: MIT
#include "columns/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct columns_block *columns_block_new(size_t size)
{
	struct columns_block *b;
	size_t room;

	if (size > SIZE_MAX / 2)
		return NULL;
	room = TACHO_ALIGN_UP(size ? size : 1, (size_t)COLUMNS_ALIGN);
	b = aligned_alloc(COLUMNS_ALIGN, sizeof(*b) + room);
	if (!b)
		return NULL;
	b->owners = 1;
	b->room = room;
	return b;
}

struct columns_block *columns_block_share(struct columns_block *b)
{
	tacho_add_relaxed(&b->owners, 1);
	return b;
}

void columns_block_drop(struct columns_block *b)
{
	/* [block] what other owners did to it is done before it is freed */
	if (b && tacho_sub_acq_rel(&b->owners, 1) == 1)
		free(b);
}

int columns_block_grow(struct columns_block **b, size_t used, size_t need)
{
	size_t size = *b ? (*b)->room : 0;
	struct columns_block *more;

	if (*b && need <= size)
		return 0;
	if (need < 2 * size)
		need = 2 * size;
	more = columns_block_new(need);
	if (!more)
		return -ENOMEM;
	if (used)
		memcpy(more->bytes, (*b)->bytes, used);
	columns_block_drop(*b);
	*b = more;
	return 0;
}
