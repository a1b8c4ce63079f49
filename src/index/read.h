/* SPDX-License-Identifier: MIT */
/* read.h - what read.c and query.c share. */
#ifndef TACHO_INDEX_READ_H
#define TACHO_INDEX_READ_H

#include "index/edge.h"
#include "index/root.h"

struct index {
	struct index_log log;
	struct index_root root;
	int err;			/* damaged: sticks */
	/* nodes, the leaf and the edge's leaf that a walk looks at, copied: the cache may go on */
	unsigned char *node[INDEX_LEVELS];
	unsigned char *leaf, *last_leaf;
	int (*again)(void *arg, uint32_t track, uint64_t first, uint64_t last,
		     const struct model_ops *ops, void *ops_arg);
	void *again_arg;
};

/* What a walk does; each returns 0 or a negative errno that ends it. */
struct index_walk_ops {
	/* A part that touches the range.  1: it is done with. */
	int (*part)(void *arg, const struct index_part *part);
	/* One before the range; may be NULL. */
	int (*before)(void *arg, const struct index_part *part);
	int (*item)(void *arg, const struct index_item *item);
	/* A leaf without items. */
	int (*without)(void *arg, const struct index_part *part);
};

/*
 * index_walk - all of a tree that touches [from, to), in order: parts, and the items of
 * those that were not done with.  Items outside of the range come, too.
 */
int index_walk(struct index *index, uint64_t tree, enum index_form form, uint64_t from, uint64_t to,
	       const struct index_walk_ops *ops, void *arg);

/* d says what it means for the index.  Returns err. */
int index_failed(struct index *index, int err, struct tacho_diag *d);

enum index_form index_form_of(enum model_track_kind kind);

#endif
