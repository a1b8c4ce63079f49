// SPDX-License-Identifier: MIT
#include "index/edge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* record kind, tree, base */
#define LEAF_HEAD	(1u + INDEX_VARINT + 8u)
#define EDGE_MAX	(INDEX_VARINT * (12u + INDEX_LEVELS))

/* ---- completing ---- */

static int level_room(struct index_level *l)
{
	uint32_t room = l->room ? l->room * 2 : 256;
	unsigned char *bytes;

	while (room - l->len < INDEX_PART)
		room *= 2;
	if (l->room - l->len >= INDEX_PART)
		return 0;
	bytes = realloc(l->bytes, room);
	if (!bytes)
		return -ENOMEM;
	l->bytes = bytes;
	l->room = room;
	return 0;
}

static uint64_t put_node(const struct index_edge *e, struct index_log *log, uint32_t level)
{
	const struct index_level *l = &e->level[level - 1];
	unsigned char bytes[INDEX_RECORD], *p = bytes;

	*p++ = INDEX_NODE_RECORD;
	p = index_put(p, e->tree);
	*p++ = (unsigned char)level;
	*p++ = (unsigned char)l->nr;
	p = index_put(p, l->len);
	memcpy(p, l->bytes, l->len);
	return index_log_put(log, bytes, (uint32_t)(p - bytes) + l->len);
}

static struct index_level *level_of(struct index_edge *e, uint32_t level)
{
	struct index_level *l;

	if (level > e->nr_levels) {
		l = reallocarray(e->level, level, sizeof(*l));
		if (!l)
			return NULL;
		e->level = l;
		e->level[e->nr_levels++] = (struct index_level){ 0 };
	}
	l = &e->level[level - 1];
	return level_room(l) ? NULL : l;
}

/* What is in the node of a level, summed up. */
static void sum_level(const struct index_edge *e, uint32_t level, struct index_part *part,
		      struct index_sum *sum)
{
	const struct index_level *l = &e->level[level - 1];
	struct index_bytes in = { l->bytes, l->bytes + l->len, false };
	struct index_before before = { 0 };
	struct index_part child;

	*part = (struct index_part){ .begin = UINT64_MAX };
	index_sum_clear(sum);
	for (uint32_t i = 0; i < l->nr; i++) {
		index_part_get(&in, level - 1, &child, &before);
		(void)index_part_sum(&child, e->form, sum);
		part->begin = child.begin < part->begin ? child.begin : part->begin;
		part->end = child.end > part->end ? child.end : part->end;
	}
}

/* Adds a part to the node of a level; when that is complete, its part to the level above. */
static int add_part(struct index_edge *e, struct index_log *log, uint32_t level,
		    const struct index_part *part, const struct index_sum *sum)
{
	struct index_part above;
	struct index_sum all;
	struct index_level *l;

	if (level > INDEX_LEVELS)
		return -EOVERFLOW;
	l = level_of(e, level);
	if (!l)
		return -ENOMEM;
	l->len = (uint32_t)(index_part_put(l->bytes + l->len, e->form, part, sum, &l->before) -
			    l->bytes);
	l->ref = 0;
	if (++l->nr < INDEX_FAN)
		return 0;
	sum_level(e, level, &above, &all);
	above.ref = put_node(e, log, level);
	if (!above.ref)
		return log->err;
	l->len = l->nr = 0;
	l->before = (struct index_before){ 0 };
	return add_part(e, log, level + 1, &above, &all);
}

static uint64_t put_leaf(const struct index_edge *e, struct index_log *log)
{
	unsigned char bytes[INDEX_RECORD], *p = bytes;

	*p++ = INDEX_LEAF_RECORD;
	p = index_put(p, e->tree);
	p = index_put(p, e->leaf.len);
	tacho_put_le64(p, e->leaf.base);
	p += 8;
	memcpy(p, e->leaf.bytes, e->leaf.len);
	return index_log_put(log, bytes, (uint32_t)(p - bytes) + e->leaf.len);
}

/* Whether the leaf is written with its items (section 5 of index.h). */
static bool keeps(const struct index_edge *e, const struct index_log *log,
		  const struct index_now *now)
{
	if (e->which == INDEX_TAIL || e->form == INDEX_LOSSES)
		return true;
	return index_log_size(log) + e->leaf.len <= now->allowed &&
	       now->record - e->first_record >= now->near;
}

static int complete(struct index_edge *e, struct index_log *log, struct index_now *now)
{
	struct index_items items;
	struct index_item item;
	struct index_part part = { .begin = UINT64_MAX, .emit = e->emit };
	struct index_sum sum;

	index_sum_clear(&sum);
	index_items_begin(&items, e->form, e->leaf.nr, e->leaf.base, e->leaf.bytes,
			  e->leaf.bytes + e->leaf.len);
	while (index_items_next(&items, &item)) {
		index_sum_item(&sum, e->form, &item, 0, UINT64_MAX);
		part.begin = item.begin < part.begin ? item.begin : part.begin;
		part.end = item.end > part.end ? item.end : part.end;
	}
	if (keeps(e, log, now)) {
		part.ref = put_leaf(e, log);
		if (!part.ref)
			return log->err;
		now->packed += e->leaf.nr;
	}
	index_leaf_reset(&e->leaf);
	return add_part(e, log, 1, &part, &sum);
}

int index_edge_add(struct index_edge *e, struct index_log *log, struct index_now *now,
		   const struct index_item *item)
{
	int err;

	if (e->tick != now->time) {
		e->tick = now->time;
		e->nr_tick = 0;
	}
	if (!e->leaf.nr) {
		e->emit = (struct index_emit){ now->time, now->time, e->nr_tick };
		e->first_record = now->record;
	}
	err = index_leaf_add(&e->leaf, e->form, item);
	if (err)
		return err;
	e->emit.last = now->time;
	e->nr_tick++;
	e->dirty = e->used = true;
	return e->leaf.nr == INDEX_LEAF ? complete(e, log, now) : 0;
}

/* ---- writing ---- */

static unsigned char *put_edge(const struct index_edge *e, unsigned char *p)
{
	*p++ = INDEX_EDGE_RECORD;
	p = index_put(p, e->tree);
	p = index_put(p, e->which);
	p = index_put(p, e->leaf.base);
	p = index_put(p, e->leaf.nr);
	p = index_put(p, e->leaf.nr ? e->leaf.len : 0);
	if (e->leaf.nr)
		memcpy(p, e->leaf.bytes, e->leaf.len);
	p += e->leaf.nr ? e->leaf.len : 0;
	p = index_put(p, e->nr_levels);
	for (uint32_t i = 0; i < e->nr_levels; i++)
		p = index_put(p, e->level[i].nr ? e->level[i].ref : 0);
	p = index_put(p, e->emit.first);
	p = index_put(p, e->emit.last - e->emit.first);
	p = index_put(p, e->emit.before);
	p = index_put(p, e->first_record);
	p = index_put(p, e->tick);
	return index_put(p, e->nr_tick);
}

uint64_t index_edge_put(struct index_edge *e, struct index_log *log, int *err)
{
	unsigned char bytes[INDEX_RECORD];
	uint64_t ref;

	*err = 0;
	for (uint32_t i = 0; i < e->nr_levels; i++)
		if (e->level[i].nr && !e->level[i].ref) {
			e->level[i].ref = put_node(e, log, i + 1);
			if (!e->level[i].ref)
				goto failed;
		}
	ref = index_log_put(log, bytes, (uint32_t)(put_edge(e, bytes) - bytes));
	if (!ref)
		goto failed;
	e->dirty = false;
	return ref;
failed:
	*err = log->err;
	return 0;
}

/* ---- reading ---- */

/* in ends where the record does. */
static int end_at(struct index_bytes *in, uint64_t len)
{
	if (in->bad || len > (uint64_t)(in->end - in->p))
		return -EBADMSG;
	in->end = in->p + len;
	return 0;
}

int index_leaf_at(struct index_log *log, uint64_t ref, uint64_t tree, struct index_bytes *in,
		  uint64_t *base)
{
	uint64_t len;
	int err = index_log_at(log, ref, in);

	if (err)
		return err;
	if (index_get_u8(in) != INDEX_LEAF_RECORD || index_get(in) != tree)
		return -EBADMSG;
	len = index_get(in);
	*base = index_get_u64(in);
	return end_at(in, len);
}

int index_node_at(struct index_log *log, uint64_t ref, uint64_t tree, uint32_t level, bool full,
		  struct index_bytes *in, uint32_t *nr)
{
	int err = index_log_at(log, ref, in);

	if (err)
		return err;
	if (index_get_u8(in) != INDEX_NODE_RECORD || index_get(in) != tree ||
	    index_get_u8(in) != level)
		return -EBADMSG;
	*nr = index_get_u8(in);
	if (!*nr || *nr > INDEX_FAN || (*nr == INDEX_FAN) != full)
		return -EBADMSG;
	return end_at(in, index_get(in));
}

int index_edge_view(struct index_log *log, uint64_t ref, uint64_t tree, unsigned int which,
		    struct index_edge_view *view)
{
	struct index_bytes in;
	int err = index_log_at(log, ref, &in);

	if (err)
		return err;
	if (index_get_u8(&in) != INDEX_EDGE_RECORD || index_get(&in) != tree ||
	    index_get(&in) != which)
		return -EBADMSG;
	view->base = index_get(&in);
	view->nr = index_get_u32(&in);
	view->len = index_get_u32(&in);
	view->items = index_get_bytes(&in, view->len);
	view->nr_levels = index_get_u32(&in);
	if (view->nr >= INDEX_LEAF || view->nr_levels > INDEX_LEVELS || in.bad)
		return -EBADMSG;
	for (uint32_t i = 0; i < view->nr_levels; i++)
		view->node[i] = index_get(&in);
	view->emit.first = index_get(&in);
	view->emit.last = view->emit.first + index_get(&in);
	view->emit.before = index_get(&in);
	view->first_record = index_get(&in);
	view->tick = index_get(&in);
	view->nr_tick = index_get(&in);
	return in.bad ? -EBADMSG : 0;
}

/* Packs the items again, which makes the table of whats and the last time. */
static int get_leaf(struct index_edge *e, const struct index_edge_view *view)
{
	struct index_items items;
	struct index_item item;
	int err = 0;

	index_items_begin(&items, e->form, view->nr, view->base, view->items,
			  view->items + view->len);
	while (!err && index_items_next(&items, &item))
		err = index_leaf_add(&e->leaf, e->form, &item);
	return err ? err : items.in.bad ? -EBADMSG : 0;
}

static int get_level(struct index_edge *e, struct index_log *log, uint32_t level, uint64_t ref)
{
	struct index_level *l = &e->level[level - 1];
	const unsigned char *begin;
	struct index_part part;
	struct index_bytes in;
	int err;

	*l = (struct index_level){ .ref = ref };
	e->nr_levels = level;
	if (!ref)
		return 0;
	err = index_node_at(log, ref, e->tree, level, false, &in, &l->nr);
	if (err)
		return err;
	begin = in.p;
	for (uint32_t i = 0; i < l->nr; i++)
		index_part_get(&in, level - 1, &part, &l->before);
	if (in.bad)
		return -EBADMSG;
	l->len = l->room = (uint32_t)(in.p - begin);
	l->bytes = malloc(l->len);
	if (!l->bytes)
		return -ENOMEM;
	memcpy(l->bytes, begin, l->len);
	return 0;
}

int index_edge_get(struct index_edge *e, struct index_log *log, uint64_t ref)
{
	struct index_edge_view view;
	int err = index_edge_view(log, ref, e->tree, e->which, &view);

	if (!err)
		err = get_leaf(e, &view);
	if (err)
		return err;
	e->emit = view.emit;
	e->first_record = view.first_record;
	e->tick = view.tick;
	e->nr_tick = view.nr_tick;
	e->level = view.nr_levels ? calloc(view.nr_levels, sizeof(*e->level)) : NULL;
	if (view.nr_levels && !e->level)
		return -ENOMEM;
	for (uint32_t i = 0; i < view.nr_levels && !err; i++)
		err = get_level(e, log, i + 1, view.node[i]);
	return err;
}

void index_edge_release(struct index_edge *e)
{
	for (uint32_t i = 0; i < e->nr_levels; i++)
		free(e->level[i].bytes);
	free(e->level);
	index_leaf_release(&e->leaf);
	e->level = NULL;
	e->nr_levels = 0;
}

size_t index_edge_room(const struct index_edge *e)
{
	size_t room = sizeof(*e) + index_leaf_room(&e->leaf);

	for (uint32_t i = 0; i < e->nr_levels; i++)
		room += sizeof(struct index_level) + e->level[i].room;
	return room;
}
