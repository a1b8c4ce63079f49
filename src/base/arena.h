/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory that is freed all at once.
 *
 * For parsers and for type tables: allocate in any order, never free a single allocation, release
 * the whole.  An arena has a cap; an allocation beyond it returns NULL like any other failure.
 */
#ifndef TACHO_BASE_ARENA_H
#define TACHO_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct tacho_arena_block;

struct tacho_arena {
	struct tacho_arena_block *head;
	size_t used;	/* bytes allocated, or unused at block ends */
	size_t cap;
	bool fixed;	/* the caller's memory: never grows, is not freed */
	/*
	 * malloc() failed, for this arena or for temporary memory of its user; not set by the
	 * cap.  Sticks, so a user that makes many allocations checks it once.
	 */
	bool no_memory;
};

/* Makes an empty arena that never takes more than cap bytes. */
void tacho_arena_init(struct tacho_arena *a, size_t cap);

/*
 * Makes an arena of the size bytes at mem, which are zeroed and aligned for any type.  It does
 * not grow and does not call malloc, so signal handlers may use it.  The memory stays the
 * caller's.
 */
void tacho_arena_init_mem(struct tacho_arena *a, void *mem, size_t size);

/* Returns how many bytes, from mem on, an arena of tacho_arena_init_mem() has used. */
size_t tacho_arena_mem_used(const struct tacho_arena *a);

/* Frees everything that was allocated from it. */
void tacho_arena_release(struct tacho_arena *a);

/* Zeroed memory, aligned for any type; NULL at the cap or without memory. */
void *tacho_arena_alloc(struct tacho_arena *a, size_t size);

/* Zeroed array; NULL also when n * size overflows. */
void *tacho_arena_array(struct tacho_arena *a, size_t n, size_t size);

/* A NUL-terminated copy of len bytes at s. */
char *tacho_arena_strndup(struct tacho_arena *a, const char *s, size_t len);

#endif
