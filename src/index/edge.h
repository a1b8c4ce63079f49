/* SPDX-License-Identifier: MIT */
/*
 * edge.h - what of a track's tree is not complete: its last leaf, and the last node of each
 * level.
 *
 * An edge as it is written: EDGE, tree, then varints: 1 if it is a tail, base and number of the
 * items of the leaf, length, items; number of levels; for each, from 1, the ref of its node (0:
 * without parts); then what the builder goes on with: struct index_emit, the first record, tick,
 * number of items since then.
 */
#ifndef TACHO_INDEX_EDGE_H
#define TACHO_INDEX_EDGE_H

#include "index/leaf.h"
#include "index/log.h"
#include "index/part.h"

/* A track has two trees: of its items, and of those that ended because the trace did. */
enum { INDEX_TREE, INDEX_TAIL, INDEX_NR_TREES };

/* Where a builder is, and what it may write. */
struct index_now {
	uint64_t time, record;		/* of the last tick: the first record since then */
	uint64_t allowed;		/* bytes of the file */
	uint64_t near;			/* leaves within fewer records have no items */
	uint64_t packed;		/* items that were written in leaves */
};

/* A node that is being filled. */
struct index_level {
	unsigned char *bytes;		/* parts */
	uint32_t len, room;
	uint32_t nr;
	struct index_before before;
	uint64_t ref;			/* where it was written last; 0: it has changed since */
};

struct index_edge {
	uint64_t tree;			/* track * 2, or loss * 2 + 1 */
	enum index_form form;
	uint8_t which;			/* INDEX_TREE, INDEX_TAIL */
	size_t room;			/* its memory, as the builder counts it */
	bool dirty;			/* changed since it was written */
	bool used;			/* since the hand of the builder passed */
	struct index_leaf leaf;
	struct index_emit emit;		/* of the leaf's items */
	uint64_t first_record;		/* at its first item */
	uint64_t tick, nr_tick;		/* items of the tree since this tick */
	uint32_t nr_levels;
	struct index_level *level;	/* [0] is level 1 */
};

/* Adds an item; complete leaves and nodes are written.  0 or a negative errno. */
int index_edge_add(struct index_edge *e, struct index_log *log, struct index_now *now,
		   const struct index_item *item);
/* Writes it.  0: log->err, or -ENOMEM in *err. */
uint64_t index_edge_put(struct index_edge *e, struct index_log *log, int *err);
/* Reads one that was written: e has its tree, form and which. */
int index_edge_get(struct index_edge *e, struct index_log *log, uint64_t ref);
void index_edge_release(struct index_edge *e);
/* Its memory. */
size_t index_edge_room(const struct index_edge *e);

/* An edge as a reader sees it.  items is valid until the next call on the log. */
struct index_edge_view {
	uint64_t base;
	uint32_t nr, nr_levels;
	const unsigned char *items;
	uint32_t len;
	uint64_t node[INDEX_LEVELS];
	struct index_emit emit;
	uint64_t first_record, tick, nr_tick;
};

int index_edge_view(struct index_log *log, uint64_t ref, uint64_t tree, unsigned int which,
		    struct index_edge_view *view);
/*
 * The head of a node: in is at its first part then; *nr parts.  0 or -EBADMSG, or another
 * negative errno.  full: it must have all parts.
 */
int index_node_at(struct index_log *log, uint64_t ref, uint64_t tree, uint32_t level, bool full,
		  struct index_bytes *in, uint32_t *nr);
/* The head of a leaf: in is at its first item then. */
int index_leaf_at(struct index_log *log, uint64_t ref, uint64_t tree, struct index_bytes *in,
		  uint64_t *base);

#endif
