/* SPDX-License-Identifier: MIT */
/* priv.h - shared by the files of this folder. */
#ifndef TACHO_RESOLVE_PRIV_H
#define TACHO_RESOLVE_PRIV_H

#include "base/arena.h"
#include "resolve/resolve.h"
#include "symbol/symbol.h"

#define RESOLVE_HEADS	1024u	/* of objects, by their id; a power of two */
#define RESOLVE_CACHE	4096u	/* frames, by address; 2^12 */

/* A mapped file, once for all processes. */
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

/* The mappings of a process from one time on. */
struct resolve_block {
	int32_t pid;
	uint32_t order;		/* in the text; of equal times the later block is used */
	uint64_t ticks;
	int32_t parent;		/* not 0: inherit the mappings of that process at that time */
	uint32_t first, nr;	/* of its mappings, sorted; nr 0: unknown */
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

/* Whether a place is in a function of a name. */
struct resolve_answer {
	struct resolve_place place;	/* object NULL: free */
	const char *name;
	bool yes;
};

/* The place of an address that is the same in all processes. */
struct resolve_common {
	uint64_t addr;
	struct resolve_place place;
	bool known, found;	/* known: the result is cached here */
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

/* The mappings of process pid at a time, or NULL. */
const struct resolve_block *resolve_block_of(struct tacho_resolver *r, int32_t pid,
					     uint64_t ticks);

/* Sorts blocks and mappings; call it before look-ups. */
void resolve_sort(struct tacho_resolver *r);

/* The object's file, if it is still the mapped one; otherwise NULL. */
struct tacho_object *resolve_file(struct tacho_resolver *r,
				  struct resolve_object *o);

#endif
