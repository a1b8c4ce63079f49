/* SPDX-License-Identifier: MIT */
/*
 * tile.h - tiles: rows of the index as bytes (docs/view-api.md, "Tiles").
 *
 * Buckets of the index become runs of equal ones; empty ones are left out.  A share that is not
 * nothing is at least 1 of 255, so that what is rare is seen.
 */
#ifndef TACHO_VIEW_TILE_H
#define TACHO_VIEW_TILE_H

#include "base/buf.h"
#include "base/diag.h"
#include "index/index.h"

#define VIEW_TILE_BUCKETS	512u
#define VIEW_TILES_MAX		64u
#define VIEW_TILE_LEVEL_MAX	62u

struct view_tiles {
	struct index *index;
	uint64_t base;			/* ns: where tile 0 of each level begins */
	uint64_t until;			/* ns: the index knows everything before */
	struct tacho_buf *out;
	uint64_t count_at, begin_at;	/* places in out that are filled in at the end */
	uint32_t nr;
	uint32_t *name;			/* those that occurred */
	uint32_t nr_names, room_names;
	struct index_sum *bucket;	/* VIEW_TILE_BUCKETS */
};

/* Begins an answer.  0 or -ENOMEM. */
int view_tiles_begin(struct view_tiles *t, struct index *index, uint64_t base, uint64_t until,
		     struct tacho_buf *out);
/*
 * Adds the tile of a track: from base + i * 2^k on, 2^k ns.  0; -EINVAL: no such track or
 * place; or another negative errno; with d.
 */
int view_tiles_add(struct view_tiles *t, uint32_t track, uint32_t k, uint64_t i,
		   struct tacho_diag *d);
/* Ends the answer: the names.  0 or a negative errno. */
int view_tiles_end(struct view_tiles *t);
void view_tiles_release(struct view_tiles *t);

#endif
