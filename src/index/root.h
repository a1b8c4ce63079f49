/* SPDX-License-Identifier: MIT */
/*
 * root.h - a root: all that is not in a tree, and where the rest is.
 *
 * A blob of varints: version; the identity: rules, number of files; for each its size, hash,
 * length of its name, name; flags; the model's statistics; items, items of tails, packed items,
 * bytes of the trace; where the model's state is (offset, length; 0: none) and at which place it
 * is; the tables of tracks, losses and tails (table.h); the names (names.h); the checkpoints:
 * number of them, for each its time, record, skip, offset and length, the first two less those of
 * the one before.
 */
#ifndef TACHO_INDEX_ROOT_H
#define TACHO_INDEX_ROOT_H

#include "index/index.h"
#include "index/log.h"
#include "index/names.h"
#include "index/table.h"

struct index_checkpoint {
	struct index_place place;
	uint64_t offset, len;		/* of the model's state */
};

struct index_root {
	struct index_identity identity;	/* owned */
	bool finished;
	struct model_stats stats;
	uint64_t items, tail_items, packed, trace_bytes;
	struct index_checkpoint state;	/* len 0: none */
	struct index_table tracks, losses;
	struct index_table tails;	/* of tracks: what ended at the end of the trace */
	struct index_names names;
	struct index_checkpoint *checkpoint;
	uint32_t nr_checkpoints, room_checkpoints;
};

void index_root_init(struct index_root *root);
void index_root_release(struct index_root *root);
int index_root_add_checkpoint(struct index_root *root, const struct index_checkpoint *c);

/* Writes what is not written of the tables and names, and appends the root to out. */
int index_root_put(struct index_root *root, struct index_log *log, struct tacho_buf *out);
/* 0, -EBADMSG, -ESTALE or -ENOMEM.  root: initialised. */
int index_root_get(struct index_root *root, const void *p, size_t len);

/*
 * index_root_load - the newest root that is good, and that fits an identity (of now).
 *
 * log->end becomes its end.  0, -ENOENT (none was ever written), -EBADMSG, -ESTALE, -ENOMEM.
 */
int index_root_load(struct index_root *root, struct index_log *log, struct index_slot *slot,
		    const struct index_identity *identity, struct tacho_diag *d);

/* ---- identity.c ---- */

/* A copy; *to is overwritten.  0 or -ENOMEM. */
int index_identity_copy(struct index_identity *to, const struct index_identity *from);
void index_identity_release(struct index_identity *identity);
void index_identity_put(const struct index_identity *identity, struct tacho_buf *out);
int index_identity_get(struct index_identity *identity, struct index_bytes *in);
/*
 * Whether the trace that an index was made of is the beginning of the one of now.  *grown: there
 * is more now.  0; -ESTALE with d; what now->hash_at() returned.
 */
int index_identity_fits(const struct index_identity *was, const struct index_identity *now,
			bool *grown, struct tacho_diag *d);

#endif
