/* SPDX-License-Identifier: MIT */
/*
 * part.h - a part sums up a leaf, or a node with all below it.
 *
 * Parts of a node follow each other; each is packed with the one before it in mind:
 *
 *	u8	flags: NOT_FOLLOWING, WITHOUT_ITEMS, ALL_STATES, UNCERTAIN, DOUBLES
 *	zigzag	its ref >> 16, less that of the part before; varint the low 16 bits.  A leaf without
 *		items: varints of when its first item came out, less its begin (a zigzag), how
 *		many items of the track came at this time before it, and when its last one
 *		did, less the first
 *	zigzag	NOT_FOLLOWING: its begin, less the end of the part before
 *	varint	end - begin
 *	varint	length of the rest, by form:
 *	INDEX_FOLLOWS	varint mask of the states that occur; time in each, without the last one,
 *			which is what is left of the part (ALL_STATES: with it)
 *	INDEX_SLICES	time at depth 0, deeper
 *	INDEX_VALUES	zigzags: minimum, maximum - minimum, sum, last - minimum; DOUBLES: 4
 *			doubles
 *	INDEX_LOSSES	how many records
 *	all but INDEX_VALUES	longest item: its time, its begin less the part's, its name;
 *	UNCERTAIN: time in uncertain items
 */
#ifndef TACHO_INDEX_PART_H
#define TACHO_INDEX_PART_H

#include "index/index.h"
#include "index/leaf.h"

/* When items came out of the model: by a record of which time. */
struct index_emit {
	uint64_t first, last;	/* of the first and of the last item */
	uint64_t before;	/* items of the track at `first`, before the first item */
};

struct index_part {
	uint64_t ref;		/* 0: a leaf without items */
	uint64_t begin, end;	/* the first begin, the last end */
	struct index_emit emit;	/* of a leaf without items */
	/* of one that was unpacked: what index_part_sum() unpacks */
	const unsigned char *rest;
	uint32_t len, level;
	uint8_t flags;
};

/* What the next part is packed against. */
struct index_before {
	uint64_t end, block;
};

/* The most that one takes. */
#define INDEX_PART	((MODEL_NR_STATES + 14u) * INDEX_VARINT)

/* How many items are below a part of a level, 0 being a leaf: it is full. */
uint64_t index_items_of(uint32_t level);

void index_sum_clear(struct index_sum *sum);
/* An item, of which the part in [from, to) is covered.  What does not touch that is not added. */
void index_sum_item(struct index_sum *sum, enum index_form form, const struct index_item *item,
		    uint64_t from, uint64_t to);

/* Packs one and its sum at p, where INDEX_PART bytes have room.  Returns its end. */
unsigned char *index_part_put(unsigned char *p, enum index_form form, const struct index_part *part,
			      const struct index_sum *sum, struct index_before *before);
/* Unpacks one but for its sum.  level: its own, 0 is a leaf's.  part refers to the bytes. */
void index_part_get(struct index_bytes *in, uint32_t level, struct index_part *part,
		    struct index_before *before);
/* Adds the sum of one that was unpacked; it comes later than what was added.  0 or -EBADMSG. */
int index_part_sum(const struct index_part *part, enum index_form form, struct index_sum *sum);

#endif
