// SPDX-License-Identifier: MIT
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#ifdef TACHO_TINY
#define BLOCK_SIZE ((size_t)64)
#else
#define BLOCK_SIZE ((size_t)16384)
#endif

struct tacho_arena_block {
	struct tacho_arena_block *next;
	size_t size;	/* of data[] */
	size_t used;
	alignas(max_align_t) char data[];
};

void tacho_arena_init(struct tacho_arena *a, size_t cap)
{
	*a = (struct tacho_arena){ .cap = cap };
}

void tacho_arena_init_mem(struct tacho_arena *a, void *mem, size_t size)
{
	*a = (struct tacho_arena){ .fixed = true };
	if (size < sizeof(*a->head))
		return;
	a->head = mem;
	a->head->next = NULL;
	a->head->size = size - sizeof(*a->head);
	a->head->used = 0;
}

size_t tacho_arena_mem_used(const struct tacho_arena *a)
{
	return a->head ? sizeof(*a->head) + a->head->used : 0;
}

void tacho_arena_release(struct tacho_arena *a)
{
	if (a->fixed)
		a->head = NULL;
	while (a->head) {
		struct tacho_arena_block *b = a->head;

		a->head = b->next;
		free(b);
	}
	a->used = 0;
}

static struct tacho_arena_block *block_add(struct tacho_arena *a, size_t need)
{
	struct tacho_arena_block *b;
	size_t size = need > BLOCK_SIZE ? need : BLOCK_SIZE;

	if (a->fixed)
		return NULL;
	if (size > a->cap - a->used)
		size = need;
	if (size > a->cap - a->used)
		return NULL;
	b = calloc(1, sizeof(*b) + size);
	if (!b) {
		a->no_memory = true;
		return NULL;
	}
	b->size = size;
	b->next = a->head;
	a->head = b;
	a->used += size;
	return b;
}

void *tacho_arena_alloc(struct tacho_arena *a, size_t size)
{
	struct tacho_arena_block *b = a->head;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = TACHO_ALIGN_UP(size, alignof(max_align_t));
	if (!b || b->size - b->used < size)
		b = block_add(a, size);
	if (!b)
		return NULL;
	p = b->data + b->used;
	b->used += size;
	return p;
}

void *tacho_arena_array(struct tacho_arena *a, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		return NULL;
	return tacho_arena_alloc(a, total);
}

char *tacho_arena_strndup(struct tacho_arena *a, const char *s, size_t len)
{
	char *p = len < SIZE_MAX ? tacho_arena_alloc(a, len + 1) : NULL;

	if (p)
		memcpy(p, s, len);
	return p;
}
