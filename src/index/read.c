// SPDX-License-Identifier: MIT
/* Opening an index, and walking over its trees. */
#include "index/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE	2048u		/* blocks: 32 MiB */
#define PAD	16u		/* numbers are loaded 8 bytes at a time */

int index_failed(struct index *index, int err, struct tacho_diag *d)
{
	if (err == -EBADMSG) {
		index->err = err;
		return tacho_diag(d, err, 0, "the index is damaged: make it again");
	}
	if (err == -ENOMEM)
		return tacho_no_memory(d);
	return tacho_diag(d, err, 0, "cannot read the index: %s", strerror(-err));
}

enum index_form index_form_of(enum model_track_kind kind)
{
	return kind == MODEL_STATE || kind == MODEL_RUNNING ? INDEX_FOLLOWS :
	       kind == MODEL_COUNTER ? INDEX_VALUES : INDEX_SLICES;
}

/* ---- opening ---- */

static int open_file(struct index *index, const char *path, const struct index_identity *identity,
		     struct tacho_diag *d)
{
	struct index_slot slot;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = index_log_init(&index->log, fd, false, CACHE);
	if (!err)
		err = index_root_load(&index->root, &index->log, &slot, identity, d);
	index->leaf = malloc(INDEX_BLOCK + PAD);
	index->last_leaf = malloc(INDEX_BLOCK + PAD);
	if (!err && (!index->leaf || !index->last_leaf))
		err = -ENOMEM;
	return err;
}

int index_open(struct index **index, const char *path, const struct index_identity *identity,
	       struct tacho_diag *d)
{
	struct index *x = calloc(1, sizeof(*x));
	struct tacho_diag why = { 0 };
	int err;

	if (!x)
		return tacho_no_memory(d);
	x->log.fd = -1;
	index_root_init(&x->root);
	err = open_file(x, path, identity, &why);
	if (!err) {
		*index = x;
		return 0;
	}
	index_close(x);
	if (err == -ENOMEM)
		return tacho_no_memory(d);
	return tacho_diag(d, err, why.offset, "cannot use the index %s: %s", path,
			  why.err ? why.text : strerror(-err));
}

void index_close(struct index *index)
{
	if (!index)
		return;
	for (uint32_t i = 0; i < INDEX_LEVELS; i++)
		free(index->node[i]);
	free(index->leaf);
	free(index->last_leaf);
	index_root_release(&index->root);
	index_log_release(&index->log);
	free(index);
}

void index_info(const struct index *index, struct index_info *info)
{
	const struct index_root *root = &index->root;

	*info = (struct index_info){
		.stats = root->stats, .bytes = index->log.end, .trace_bytes = root->trace_bytes,
		.nr_tracks = root->tracks.nr, .nr_checkpoints = root->nr_checkpoints,
		.finished = root->finished, .items = root->items + root->tail_items,
		.packed = root->packed,
	};
}

int index_track(struct index *index, uint32_t id, struct model_track *track)
{
	struct index_entry *e;
	int err;

	if (id >= index->root.tracks.nr)
		return -EINVAL;
	err = index->err ? index->err :
			   index_table_get(&index->root.tracks, &index->log, id, false, &e);
	if (err)
		return err;
	if (e->kind >= MODEL_NR_TRACK_KINDS || e->parent > id || (id && e->parent == id))
		return -EBADMSG;
	*track = (struct model_track){ id, e->parent, e->kind, e->number, NULL };
	track->name = index_names_get(&index->root.names, &index->log, e->name, &err);
	return err;
}

const char *index_name(struct index *index, uint32_t name)
{
	int err;

	return index_names_get(&index->root.names, &index->log, name, &err);
}

int index_seek(struct index *index, uint64_t time, struct index_place *place,
	       struct tacho_buf *state, struct tacho_diag *d)
{
	const struct index_root *root = &index->root;
	const struct index_checkpoint *c;
	uint32_t low = 0, high = root->nr_checkpoints;
	int err;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (root->checkpoint[middle].place.time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	c = &root->checkpoint[low - 1];
	*place = c->place;
	err = index_log_blob(&index->log, c->offset, c->len, state);
	return err ? index_failed(index, err, d) : 0;
}

void index_set_again(struct index *index,
		     int (*again)(void *arg, uint32_t track, uint64_t first, uint64_t last,
				  const struct model_ops *ops, void *ops_arg), void *arg)
{
	index->again = again;
	index->again_arg = arg;
}

/* ---- walking ---- */

struct walk {
	struct index *index;
	uint64_t tree;
	enum index_form form;
	uint64_t from, to;
	const struct index_walk_ops *ops;
	void *arg;
};

static int walk_items(const struct walk *w, uint32_t nr, uint64_t base, const unsigned char *p,
		      uint64_t len)
{
	struct index_items items;
	struct index_item item;
	int err;

	index_items_begin(&items, w->form, nr, base, p, p + len);
	while (index_items_next(&items, &item)) {
		err = w->ops->item(w->arg, &item);
		if (err)
			return err;
	}
	return items.in.bad ? -EBADMSG : 0;
}

static int walk_leaf(const struct walk *w, uint64_t ref)
{
	struct index_bytes in;
	uint64_t base, len;
	int err = index_leaf_at(&w->index->log, ref, w->tree, &in, &base);

	if (err)
		return err;
	len = (uint64_t)(in.end - in.p);
	memcpy(w->index->leaf, in.p, len);
	memset(w->index->leaf + len, 0, PAD);
	return walk_items(w, INDEX_LEAF, base, w->index->leaf, len);
}

static int walk_node(const struct walk *w, uint32_t level, uint64_t ref, bool full);

/* A part of a level, 0: a leaf. */
static int walk_part(const struct walk *w, uint32_t level, const struct index_part *part)
{
	int err;

	if (part->begin >= w->to)
		return 0;
	if (part->end < w->from)
		return w->ops->before ? w->ops->before(w->arg, part) : 0;
	err = w->ops->part ? w->ops->part(w->arg, part) : 0;
	if (err)
		return err < 0 ? err : 0;
	if (!part->ref)
		return w->ops->without(w->arg, part);
	return level ? walk_node(w, level, part->ref, true) : walk_leaf(w, part->ref);
}

/* The bytes of a node, in memory that is its level's. */
static int copy_node(const struct walk *w, uint32_t level, uint64_t ref, bool full,
		     struct index_bytes *in, uint32_t *nr)
{
	unsigned char **copy = &w->index->node[level - 1];
	size_t len;
	int err = index_node_at(&w->index->log, ref, w->tree, level, full, in, nr);

	if (err)
		return err;
	/* all leaves of it are in nodes that have some bytes each */
	if (*nr * index_items_of(level - 1) / INDEX_LEAF > w->index->log.end)
		return -EBADMSG;
	if (!*copy)
		*copy = malloc(INDEX_BLOCK + PAD);
	if (!*copy)
		return -ENOMEM;
	len = (size_t)(in->end - in->p);
	memcpy(*copy, in->p, len);
	*in = (struct index_bytes){ *copy, *copy + len, false };
	return 0;
}

static int walk_node(const struct walk *w, uint32_t level, uint64_t ref, bool full)
{
	struct index_before before = { 0 };
	struct index_part part;
	struct index_bytes in;
	uint32_t nr;
	int err = copy_node(w, level, ref, full, &in, &nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		index_part_get(&in, level - 1, &part, &before);
		err = in.bad ? -EBADMSG : walk_part(w, level - 1, &part);
	}
	return err;
}

static int walk_edge(const struct walk *w, uint64_t ref, unsigned int which)
{
	struct index *index = w->index;
	struct index_edge_view view;
	int err = index_edge_view(&index->log, ref, w->tree, which, &view);

	if (err)
		return err;
	memcpy(index->last_leaf, view.items, view.len);
	memset(index->last_leaf + view.len, 0, PAD);
	for (uint32_t level = view.nr_levels; level && !err; level--)
		if (view.node[level - 1])
			err = walk_node(w, level, view.node[level - 1], false);
	return err ? err : walk_items(w, view.nr, view.base, index->last_leaf, view.len);
}

int index_walk(struct index *index, uint64_t tree, enum index_form form, uint64_t from, uint64_t to,
	       const struct index_walk_ops *ops, void *arg)
{
	struct walk w = { index, tree, form, from, to, ops, arg };
	struct index_table *table = tree & 1 ? &index->root.losses : &index->root.tracks;
	struct index_entry *e;
	uint32_t i = (uint32_t)(tree >> 1);
	int err = index_table_get(table, &index->log, i, false, &e);

	if (!err && e->edge)
		err = walk_edge(&w, e->edge, INDEX_TREE);
	if (err || tree & 1 || i >= index->root.tails.nr)
		return err;
	err = index_table_get(&index->root.tails, &index->log, i, false, &e);
	if (!err && e->edge)
		err = walk_edge(&w, e->edge, INDEX_TAIL);
	return err;
}
