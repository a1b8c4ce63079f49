// SPDX-License-Identifier: MIT
#include "index/leaf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { CODE_JUMP = 30, CODE_ONCE = 31 };	/* the others are numbers of whats */
enum { CODE_DOUBLE = 9 };			/* INDEX_VALUES */

/* The most that an item takes: a jump, two numbers, a count, a what. */
#define ITEM_MAX	(9u + 9u + 9u + 8u + 1u + INDEX_NR_WHAT * 5u + 8u)

/* ---- numbers of 0 to 8 bytes ---- */

static unsigned int length_of(uint64_t v)
{
	return v ? (64u - (unsigned int)__builtin_clzll(v) + 7u) / 8u : 0;
}

/* Stores 8 bytes; the caller goes on behind the ones that count. */
static unsigned char *put_number(unsigned char *p, uint64_t v, unsigned int len)
{
	tacho_put_le64(p, v);
	return p + len;
}

static uint64_t get_number(struct index_bytes *in, unsigned int len)
{
	uint64_t v = 0;

	if (tacho_unlikely(len > (uint64_t)(in->end - in->p))) {
		in->bad = true;
		in->p = in->end;
		return 0;
	}
	if (len) {
		v = tacho_load_le64(in->p);
		v = len < 8 ? v & ((UINT64_C(1) << len * 8) - 1) : v;
	}
	in->p += len;
	return v;
}

/* ---- whats ---- */

static bool same(const struct index_what *a, const struct index_what *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static unsigned char *put_what(unsigned char *p, struct index_whats *whats,
			       const struct index_what *what)
{
	unsigned char *mask = p++;

	*mask = 0;
	for (unsigned int i = 0; i < INDEX_NR_WHAT; i++)
		if (what->v[i] != whats->last.v[i]) {
			*mask |= (unsigned char)(1u << i);
			p = index_put(p, what->v[i]);
		}
	return p;
}

static void get_what(struct index_items *items, struct index_what *what)
{
	uint8_t mask = index_get_u8(&items->in);

	*what = items->last_what;
	for (unsigned int i = 0; i < INDEX_NR_WHAT; i++)
		if (mask >> i & 1)
			what->v[i] = index_get_u32(&items->in);
	if (mask >> INDEX_NR_WHAT ||
	    (items->form == INDEX_FOLLOWS && what->v[INDEX_CATEGORY] >= MODEL_NR_STATES))
		items->in.bad = true;
}

/* The code of a what; room for a new one was made. */
static uint32_t code_of(const struct index_whats *whats, const struct index_what *what)
{
	for (uint32_t i = 0; i < whats->nr; i++)
		if (same(&whats->what[i], what))
			return i;
	return whats->nr < INDEX_WHATS ? whats->nr : CODE_ONCE;
}

/* ---- packing ---- */

static bool make_room(struct index_leaf *leaf)
{
	uint32_t room = leaf->room;
	struct index_what *what;
	unsigned char *bytes;

	if (leaf->room - leaf->len < ITEM_MAX) {
		room = room ? room * 2 : 2 * ITEM_MAX;
		bytes = realloc(leaf->bytes, room);
		if (!bytes)
			return false;
		leaf->bytes = bytes;
		leaf->room = room;
	}
	if (leaf->whats.nr == leaf->whats.room && leaf->whats.nr < INDEX_WHATS) {
		room = leaf->whats.room ? leaf->whats.room * 2 : 2;
		what = reallocarray(leaf->whats.what, room, sizeof(*what));
		if (!what)
			return false;
		leaf->whats.what = what;
		leaf->whats.room = room;
	}
	return true;
}

static bool is_integral(double v, int64_t *integer)
{
	double back;

	if (!(v > -9007199254740992.0 && v < 9007199254740992.0))
		return false;
	*integer = (int64_t)v;
	back = (double)*integer;
	return !memcmp(&back, &v, sizeof(v));
}

static unsigned char *put_value(struct index_leaf *leaf, unsigned char *p, uint64_t time,
				double value)
{
	unsigned char *tag = p;
	unsigned int len = length_of(time);
	int64_t integer;
	uint64_t bits;

	len += !len;
	p = put_number(p + 1, time, len);
	if (is_integral(value, &integer)) {
		bits = index_zigzag(integer - leaf->value);
		*tag = (unsigned char)(length_of(bits) << 3 | (len - 1));
		leaf->value = integer;
		return put_number(p, bits, length_of(bits));
	}
	*tag = (unsigned char)(CODE_DOUBLE << 3 | (len - 1));
	memcpy(&bits, &value, sizeof(bits));
	return put_number(p, bits, 8);
}

static unsigned char *put_item(struct index_leaf *leaf, enum index_form form, unsigned char *p,
			       uint64_t time, const struct index_item *item)
{
	uint32_t code = code_of(&leaf->whats, &item->what);
	unsigned int len = length_of(time), duration, count;

	len += !len;
	*p++ = (unsigned char)(code << 3 | (len - 1));
	p = put_number(p, time, len);
	if (form != INDEX_FOLLOWS) {
		duration = length_of(item->end - item->begin);
		count = form == INDEX_LOSSES ? length_of(item->count) : 0;
		*p++ = (unsigned char)(duration | count << 4);
		p = put_number(p, item->end - item->begin, duration);
		p = count ? put_number(p, item->count, count) : p;
	}
	if (code >= leaf->whats.nr)
		p = put_what(p, &leaf->whats, &item->what);
	if (code == leaf->whats.nr)
		leaf->whats.what[leaf->whats.nr++] = item->what;
	leaf->whats.last = item->what;
	return p;
}

int index_leaf_add(struct index_leaf *leaf, enum index_form form, const struct index_item *item)
{
	uint64_t from = form == INDEX_FOLLOWS ? item->begin : item->end;
	unsigned char *p;

	if (!make_room(leaf))
		return -ENOMEM;
	p = leaf->bytes + leaf->len;
	if (!leaf->nr)
		leaf->base = leaf->last = from;
	if (form == INDEX_FOLLOWS ? from != leaf->last : from < leaf->last) {
		*p++ = CODE_JUMP << 3;
		p = put_number(p, from, 8);
		leaf->last = from;
	}
	if (form == INDEX_VALUES)
		p = put_value(leaf, p, item->end - leaf->last, item->value);
	else
		p = put_item(leaf, form, p, item->end - leaf->last, item);
	leaf->last = item->end;
	leaf->len = (uint32_t)(p - leaf->bytes);
	leaf->nr++;
	return 0;
}

void index_leaf_reset(struct index_leaf *leaf)
{
	leaf->len = leaf->nr = leaf->whats.nr = 0;
	leaf->value = 0;
	leaf->whats.last = (struct index_what){ 0 };
}

void index_leaf_release(struct index_leaf *leaf)
{
	free(leaf->bytes);
	free(leaf->whats.what);
	*leaf = (struct index_leaf){ 0 };
}

/* ---- unpacking ---- */

void index_items_begin(struct index_items *items, enum index_form form, uint32_t nr,
		       uint64_t base, const unsigned char *p, const unsigned char *end)
{
	items->in = (struct index_bytes){ p, end, false };
	items->form = form;
	items->left = nr;
	items->last = base;
	items->value = 0;
	items->nr_whats = 0;
	items->last_what = (struct index_what){ 0 };
}

static void get_value(struct index_items *items, uint32_t code, struct index_item *item)
{
	uint64_t bits;

	memset(&item->what, 0, sizeof(item->what));
	item->begin = item->end;
	if (code == CODE_DOUBLE) {
		bits = get_number(&items->in, 8);
		memcpy(&item->value, &bits, sizeof(bits));
		return;
	}
	if (code > 8)
		items->in.bad = true;
	bits = get_number(&items->in, code & 15);
	items->value = (int64_t)((uint64_t)items->value + (uint64_t)index_unzigzag(bits));
	item->value = (double)items->value;
}

static void get_rest(struct index_items *items, uint32_t code, struct index_item *item)
{
	item->count = 0;
	if (items->form == INDEX_FOLLOWS) {
		item->begin = items->last;
	} else {
		uint8_t len = index_get_u8(&items->in);
		unsigned int duration = len & 15, count = len >> 4;

		if (duration > 8 || count > (items->form == INDEX_LOSSES ? 8 : 0)) {
			items->in.bad = true;
			return;
		}
		item->begin = item->end - get_number(&items->in, duration);
		item->count = get_number(&items->in, count);
	}
	if (tacho_likely(code < items->nr_whats)) {
		item->what = items->what[code];
	} else {
		get_what(items, &item->what);
		if (code == items->nr_whats)
			items->what[items->nr_whats++] = item->what;
		else if (code != CODE_ONCE)
			items->in.bad = true;
	}
	items->last_what = item->what;
}

bool index_items_next(struct index_items *items, struct index_item *item)
{
	uint8_t tag;
	uint32_t code;

	if (!items->left || items->in.bad)
		return false;
	tag = index_get_u8(&items->in);
	if (tacho_unlikely(tag == CODE_JUMP << 3)) {
		items->last = get_number(&items->in, 8);
		tag = index_get_u8(&items->in);
	}
	code = tag >> 3;
	item->end = items->last + get_number(&items->in, (tag & 7) + 1u);
	if (items->form == INDEX_VALUES)
		get_value(items, code, item);
	else if (code == CODE_JUMP)
		items->in.bad = true;
	else
		get_rest(items, code, item);
	if (item->begin > item->end || item->end < items->last)
		items->in.bad = true;
	items->last = item->end;
	items->left--;
	return !items->in.bad;
}
