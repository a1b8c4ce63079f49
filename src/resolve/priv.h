/* SPDX-License-Identifier: MIT */
/* priv.h - what the files of this folder share. */
#ifndef TACHO_RESOLVE_PRIV_H
#define TACHO_RESOLVE_PRIV_H

#include "base/arena.h"
#include "resolve/resolve.h"
#include "symbol/symbol.h"

#define RESOLVE_HEADS	1024u	/* of objects, by their id; a power of two */
#define RESOLVE_CACHE	4096u	/* frames, by address; 2^12 */

/* A file that was mapped, once for all processes. */
struct resolve_object {
	struct resolve_object *next;	/* of the same head */
	const char *id, *path;
	struct tacho_object *file;
	bool tried;
};

struct resolve_map {
	uint64_t start, end, offset;
	struct resolve_object *object;
};

/* What a process had mapped from a moment on. */
struct resolve_block {
	int32_t pid;
	uint32_t order;		/* in the text; of equal times the later counts */
	uint64_t ticks;
	int32_t parent;		/* not 0: it is to have what that process had then */
	uint32_t first, nr;	/* of its mappings, sorted; nr 0: nothing is known */
};

/* A place in a file. */
struct resolve_place {
	struct resolve_object *object;
	uint64_t offset;
};

struct resolve_cached {
	struct resolve_place place;	/* object NULL: free */
	bool call;
	struct tacho_frame frame;
};

/* Whether a place lies in a function of a name. */
struct resolve_answer {
	struct resolve_place place;	/* object NULL: free */
	const char *name;
	bool yes;
};

/* What an address is in every process that has it. */
struct resolve_common {
	uint64_t addr;
	struct resolve_place place;
	bool known, found;	/* known: the answer stands here */
};

struct tacho_resolver {
	const char *debug_root;
	struct tacho_arena arena;	/* objects; lives as long as the resolver */
	struct resolve_object *head[RESOLVE_HEADS];
	struct resolve_map *map;
	size_t nr_maps, room_maps;
	struct resolve_block *block;
	size_t nr_blocks, room_blocks;
	bool sorted;
	struct resolve_cached *cache;
	struct resolve_answer *answer;
	struct resolve_common *common;	/* by address; until blocks are added */

	/* of a stream */
	struct tacho_stream *stream;
	struct tacho_frames frames;
	bool live;
	uint64_t known_until;		/* ticks */
};

/* table.c */

/* The place of an address; false: not known. */
bool resolve_place(struct tacho_resolver *r, int32_t pid, uint64_t ticks,
		   uint64_t addr, struct resolve_place *place);
bool resolve_place_any(struct tacho_resolver *r, uint64_t addr,
		       struct resolve_place *place);

/* What process pid had mapped at a time, or NULL. */
const struct resolve_block *resolve_block_of(struct tacho_resolver *r, int32_t pid,
					     uint64_t ticks);

/* Puts blocks and mappings in order; before they are looked at. */
void resolve_sort(struct tacho_resolver *r);

/* The object's file, if it is still the one; else NULL. */
struct tacho_object *resolve_file(struct tacho_resolver *r,
				  struct resolve_object *o);

#endif
