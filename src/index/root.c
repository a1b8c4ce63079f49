// SPDX-License-Identifier: MIT
#include "index/root.h"

#include <errno.h>
#include <stdlib.h>

#define ROOT_MAX	((size_t)1 << 30)

enum { FINISHED = 1 };

void index_root_init(struct index_root *root)
{
	*root = (struct index_root){ 0 };
	index_names_init(&root->names);
}

void index_root_release(struct index_root *root)
{
	index_identity_release(&root->identity);
	index_table_release(&root->tracks);
	index_table_release(&root->losses);
	index_table_release(&root->tails);
	index_names_release(&root->names);
	free(root->checkpoint);
}

int index_root_add_checkpoint(struct index_root *root, const struct index_checkpoint *c)
{
	uint32_t room = root->room_checkpoints ? root->room_checkpoints * 2 : 64;
	struct index_checkpoint *more;

	if (root->nr_checkpoints == root->room_checkpoints) {
		more = reallocarray(root->checkpoint, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		root->checkpoint = more;
		root->room_checkpoints = room;
	}
	root->checkpoint[root->nr_checkpoints++] = *c;
	return 0;
}

static void put(struct tacho_buf *out, uint64_t v)
{
	unsigned char bytes[INDEX_VARINT];

	tacho_buf_put(out, bytes, (size_t)(index_put(bytes, v) - bytes));
}

static void put_checkpoint(struct tacho_buf *out, const struct index_checkpoint *c,
			   struct index_place *before)
{
	put(out, c->place.time - before->time);
	put(out, c->place.record - before->record);
	put(out, c->place.skip);
	put(out, c->offset);
	put(out, c->len);
	*before = c->place;
}

static void get_checkpoint(struct index_bytes *in, struct index_checkpoint *c,
			   struct index_place *before)
{
	c->place.time = before->time + index_get(in);
	c->place.record = before->record + index_get(in);
	c->place.skip = index_get(in);
	c->offset = index_get(in);
	c->len = index_get(in);
	*before = c->place;
}

int index_root_put(struct index_root *root, struct index_log *log, struct tacho_buf *out)
{
	const struct model_stats *s = &root->stats;
	struct index_place before = { 0 };
	int err;

	put(out, INDEX_VERSION);
	index_identity_put(&root->identity, out);
	put(out, root->finished ? FINISHED : 0);
	put(out, s->records);
	put(out, s->used);
	put(out, s->unmatched_ends);
	put(out, s->unplaced);
	put(out, s->lost);
	put(out, s->first);
	put(out, s->last);
	put(out, root->items);
	put(out, root->tail_items);
	put(out, root->packed);
	put(out, root->trace_bytes);
	put_checkpoint(out, &root->state, &before);
	err = index_table_write(&root->tracks, log, out);
	if (!err)
		err = index_table_write(&root->losses, log, out);
	if (!err)
		err = index_table_write(&root->tails, log, out);
	if (!err)
		err = index_names_write(&root->names, log, out);
	put(out, root->nr_checkpoints);
	before = (struct index_place){ 0 };
	for (uint32_t i = 0; i < root->nr_checkpoints; i++)
		put_checkpoint(out, &root->checkpoint[i], &before);
	return err ? err : tacho_buf_error(out);
}

static int get_checkpoints(struct index_root *root, struct index_bytes *in)
{
	uint64_t nr = index_get(in);
	struct index_place before = { 0 };
	struct index_checkpoint c;

	for (uint64_t i = 0; i < nr && !in->bad; i++) {
		get_checkpoint(in, &c, &before);
		if (index_root_add_checkpoint(root, &c))
			return -ENOMEM;
	}
	return in->bad ? -EBADMSG : 0;
}

int index_root_get(struct index_root *root, const void *p, size_t len)
{
	struct index_bytes in = { p, (const unsigned char *)p + len, false };
	struct model_stats *s = &root->stats;
	struct index_place before = { 0 };
	int err;

	if (index_get(&in) != INDEX_VERSION)
		return -EBADMSG;
	err = index_identity_get(&root->identity, &in);
	if (err)
		return err;
	root->finished = index_get(&in) & FINISHED;
	s->records = index_get(&in);
	s->used = index_get(&in);
	s->unmatched_ends = index_get(&in);
	s->unplaced = index_get(&in);
	s->lost = index_get(&in);
	s->first = index_get(&in);
	s->last = index_get(&in);
	root->items = index_get(&in);
	root->tail_items = index_get(&in);
	root->packed = index_get(&in);
	root->trace_bytes = index_get(&in);
	get_checkpoint(&in, &root->state, &before);
	err = index_table_read(&root->tracks, &in);
	if (!err)
		err = index_table_read(&root->losses, &in);
	if (!err)
		err = index_table_read(&root->tails, &in);
	if (!err)
		err = index_names_read(&root->names, &in);
	return err ? err : get_checkpoints(root, &in);
}

static int load(struct index_root *root, struct index_log *log, const struct index_slot *slot)
{
	struct tacho_buf bytes;
	int err;

	tacho_buf_init(&bytes, ROOT_MAX);
	err = index_log_blob(log, slot->offset, slot->len, &bytes);
	if (!err)
		err = index_root_get(root, bytes.data, bytes.len);
	tacho_buf_release(&bytes);
	return err;
}

/* Where a blob ends: its pieces are one behind the other. */
static uint64_t end_of(const struct index_slot *slot)
{
	uint64_t pieces = (slot->len + (uint64_t)INDEX_PIECE - 1) / INDEX_PIECE;

	return slot->offset + pieces * INDEX_HEAD + slot->len;
}

int index_root_load(struct index_root *root, struct index_log *log, struct index_slot *slot,
		    const struct index_identity *identity, struct tacho_diag *d)
{
	struct index_slot slots[2];
	uint32_t nr;
	bool grown;
	int err = index_log_check(log);

	if (err == -ESTALE)
		return tacho_diag(d, err, 8, "it is of another version of tacho");
	if (!err)
		err = index_log_slots(log, slots, &nr);
	if (err)
		return tacho_diag(d, err, 0, "it is no index");
	err = -EBADMSG;
	for (uint32_t i = 0; i < nr && err == -EBADMSG; i++) {
		index_root_release(root);
		index_root_init(root);
		log->end = end_of(&slots[i]);
		*slot = slots[i];
		err = load(root, log, slot);
	}
	if (err)
		return tacho_diag(d, err, 0, "it is damaged");
	err = index_identity_fits(&root->identity, identity, &grown, d);
	if (grown)
		root->finished = false;
	return err;
}
