// SPDX-License-Identifier: MIT
#include "index/part.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MAX(a, b)	((a) > (b) ? (a) : (b))
#define MIN(a, b)	((a) < (b) ? (a) : (b))

enum {
	NOT_FOLLOWING = 1, WITHOUT_ITEMS = 2, ALL_STATES = 4, UNCERTAIN = 8, DOUBLES = 16,
};

/* ---- sums ---- */

void index_sum_clear(struct index_sum *sum)
{
	*sum = (struct index_sum){ .min = (double)NAN, .max = (double)NAN, .last = (double)NAN };
}

static void add_values(struct index_sum *sum, double min, double max, double total, double last)
{
	if (!(sum->min <= min))
		sum->min = min;
	if (!(sum->max >= max))
		sum->max = max;
	sum->sum += total;
	sum->last = last;
}

static uint32_t class_of(enum index_form form, const struct index_item *item)
{
	return form == INDEX_FOLLOWS ? item->what.v[INDEX_CATEGORY] : item->what.v[INDEX_DEPTH] > 0;
}

void index_sum_item(struct index_sum *sum, enum index_form form, const struct index_item *item,
		    uint64_t from, uint64_t to)
{
	uint64_t covered;
	uint32_t class;

	if (form == INDEX_LOSSES) {
		sum->lost += item->end >= from && item->end < to ? item->count : 0;
		return;
	}
	if (item->begin >= to || (item->begin < from && item->end <= from))
		return;
	sum->count++;
	sum->begins += item->begin >= from;
	if (form == INDEX_VALUES) {
		add_values(sum, item->value, item->value, item->value, item->value);
		return;
	}
	if (item->end - item->begin > sum->longest) {
		sum->longest = item->end - item->begin;
		sum->longest_begin = item->begin;
		sum->longest_name = item->what.v[INDEX_NAME];
	}
	covered = MIN(item->end, to) - MAX(item->begin, from);
	class = class_of(form, item);
	sum->covered[class] += covered;
	if (item->what.v[INDEX_FLAGS] & MODEL_UNCERTAIN && (form == INDEX_FOLLOWS || !class))
		sum->uncertain += covered;
}

/* ---- packing ---- */

static unsigned char *put_states(unsigned char *p, const struct index_part *part,
				 const struct index_sum *sum, uint8_t *flags)
{
	uint64_t mask = 0, left = part->end - part->begin;
	uint32_t last = 0;

	for (uint32_t i = 0; i < MODEL_NR_STATES; i++)
		if (sum->covered[i]) {
			mask |= UINT64_C(1) << i;
			left -= sum->covered[i];
			last = i;
		}
	if (left)
		*flags |= ALL_STATES;
	p = index_put(p, mask);
	for (uint32_t i = 0; i <= last; i++)
		if (sum->covered[i] && (i < last || left))
			p = index_put(p, sum->covered[i]);
	return p;
}

static void add_states(struct index_bytes *in, const struct index_part *part, struct index_sum *sum)
{
	uint64_t mask = index_get(in), left = part->end - part->begin, time;
	bool all = part->flags & ALL_STATES;

	if (mask >> MODEL_NR_STATES) {
		in->bad = true;
		return;
	}
	for (; mask; mask &= mask - 1) {
		time = mask & (mask - 1) || all ? index_get(in) : left;
		if (time > left && !all)
			in->bad = true;
		left -= time;
		sum->covered[__builtin_ctzll(mask)] += time;
	}
}

/* Whether a value is a number that a zigzag can keep; then also each difference of two. */
static bool fits(double v)
{
	double back;

	if (!(v > -4503599627370496.0 && v < 4503599627370496.0))
		return false;
	back = (double)(int64_t)v;
	return !memcmp(&back, &v, sizeof(v));
}

static unsigned char *put_values(unsigned char *p, const struct index_sum *sum, uint8_t *flags)
{
	const double v[4] = { sum->min, sum->max, sum->sum, sum->last };

	if (fits(v[0]) && fits(v[1]) && fits(v[2]) && fits(v[3])) {
		p = index_put(p, index_zigzag((int64_t)v[0]));
		p = index_put(p, index_zigzag((int64_t)v[1] - (int64_t)v[0]));
		p = index_put(p, index_zigzag((int64_t)v[2]));
		return index_put(p, index_zigzag((int64_t)v[3] - (int64_t)v[0]));
	}
	*flags |= DOUBLES;
	memcpy(p, v, sizeof(v));
	return p + sizeof(v);
}

static void unpack_values(struct index_bytes *in, struct index_sum *sum, uint8_t flags)
{
	const unsigned char *p;
	double v[4] = { 0 };
	int64_t min;

	if (flags & DOUBLES) {
		p = index_get_bytes(in, sizeof(v));
		if (p)
			memcpy(v, p, sizeof(v));
	} else {
		min = index_get_signed(in);
		v[0] = (double)min;
		v[1] = (double)(int64_t)((uint64_t)min + (uint64_t)index_get_signed(in));
		v[2] = (double)index_get_signed(in);
		v[3] = (double)(int64_t)((uint64_t)min + (uint64_t)index_get_signed(in));
	}
	add_values(sum, v[0], v[1], v[2], v[3]);
}

static unsigned char *put_sum(unsigned char *p, enum index_form form, const struct index_part *part,
			      const struct index_sum *sum, uint8_t *flags)
{
	if (form == INDEX_VALUES)
		return put_values(p, sum, flags);
	if (form == INDEX_LOSSES)
		return index_put(p, sum->lost);
	if (form == INDEX_FOLLOWS) {
		p = put_states(p, part, sum, flags);
	} else {
		p = index_put(p, sum->covered[0]);
		p = index_put(p, sum->covered[1]);
	}
	p = index_put(p, sum->longest);
	if (sum->longest) {
		p = index_put(p, sum->longest_begin - part->begin);
		p = index_put(p, sum->longest_name);
	}
	if (sum->uncertain) {
		*flags |= UNCERTAIN;
		p = index_put(p, sum->uncertain);
	}
	return p;
}

static void add_longest(struct index_bytes *in, const struct index_part *part,
			struct index_sum *sum)
{
	uint64_t longest = index_get(in), begin;
	uint32_t name;

	if (!longest)
		return;
	begin = part->begin + index_get(in);
	name = index_get_u32(in);
	if (longest <= sum->longest)
		return;
	sum->longest = longest;
	sum->longest_begin = begin;
	sum->longest_name = name;
}

int index_part_sum(const struct index_part *part, enum index_form form, struct index_sum *sum)
{
	struct index_bytes in = { part->rest, part->rest + part->len, false };

	if (form == INDEX_LOSSES) {
		sum->lost += index_get(&in);
		return in.bad ? -EBADMSG : 0;
	}
	sum->count += index_items_of(part->level);
	sum->begins += index_items_of(part->level);
	if (form == INDEX_VALUES) {
		unpack_values(&in, sum, part->flags);
		return in.bad ? -EBADMSG : 0;
	}
	if (form == INDEX_FOLLOWS) {
		add_states(&in, part, sum);
	} else {
		sum->covered[0] += index_get(&in);
		sum->covered[1] += index_get(&in);
	}
	add_longest(&in, part, sum);
	if (part->flags & UNCERTAIN)
		sum->uncertain += index_get(&in);
	return in.bad ? -EBADMSG : 0;
}

unsigned char *index_part_put(unsigned char *p, enum index_form form, const struct index_part *part,
			      const struct index_sum *sum, struct index_before *before)
{
	unsigned char rest[INDEX_PART], *flags = p++, *end;

	*flags = 0;
	end = put_sum(rest, form, part, sum, flags);
	if (part->ref) {
		p = index_put(p, index_zigzag((int64_t)((part->ref >> 16) - before->block)));
		p = index_put(p, part->ref & 0xffff);
		before->block = part->ref >> 16;
	} else {
		*flags |= WITHOUT_ITEMS;
		p = index_put(p, index_zigzag((int64_t)(part->emit.first - part->begin)));
		p = index_put(p, part->emit.before);
		p = index_put(p, part->emit.last - part->emit.first);
	}
	if (part->begin != before->end) {
		*flags |= NOT_FOLLOWING;
		p = index_put(p, index_zigzag((int64_t)(part->begin - before->end)));
	}
	p = index_put(p, part->end - part->begin);
	before->end = part->end;
	p = index_put(p, (uint64_t)(end - rest));
	memcpy(p, rest, (size_t)(end - rest));
	return p + (end - rest);
}

/* ---- unpacking ---- */

uint64_t index_items_of(uint32_t level)
{
	uint64_t nr = INDEX_LEAF;

	while (level--)
		nr *= INDEX_FAN;
	return nr;
}

void index_part_get(struct index_bytes *in, uint32_t level, struct index_part *part,
		    struct index_before *before)
{
	part->flags = index_get_u8(in);
	part->level = level;
	part->ref = 0;
	part->emit = (struct index_emit){ 0 };
	if (part->flags & WITHOUT_ITEMS) {
		part->emit.first = (uint64_t)index_get_signed(in);
		part->emit.before = index_get(in);
		part->emit.last = index_get(in);
		in->bad = in->bad || level;
	} else {
		before->block += (uint64_t)index_get_signed(in);
		part->ref = before->block << 16 | (index_get(in) & 0xffff);
		in->bad = in->bad || !part->ref;
	}
	part->begin = before->end;
	if (part->flags & NOT_FOLLOWING)
		part->begin += (uint64_t)index_get_signed(in);
	part->end = before->end = part->begin + index_get(in);
	if (part->end < part->begin)
		in->bad = true;
	part->emit.first += part->begin;
	part->emit.last += part->emit.first;
	part->len = index_get_u32(in);
	part->rest = index_get_bytes(in, part->len);
}
