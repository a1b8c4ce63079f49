/* SPDX-License-Identifier: MIT */
/*
 * leaf.h - items of one track, packed.
 *
 * An item has times, and a *what*: all that says what it is, as small numbers.  A leaf keeps the
 * different whats of its items in the order in which they came first; an item has the number
 * of its what, its *code*.
 *
 *	u8	code << 3 | length of the next number - 1
 *	number	time since the last one, little-endian, 1 to 8 bytes
 *		INDEX_FOLLOWS (states, running): from the end of the item before to the end of this
 *		one, so it is the duration; the others: from end to end
 *	u8	INDEX_SLICES, INDEX_LOSSES: length of the duration (0: none) | of the count << 4
 *	number	the duration; losses: then the count
 *	number	INDEX_VALUES: the code says how long, see below
 *	what	if the code is the number of whats so far (a new one), or CODE_ONCE (a new one that
 *		is not kept, because there are too many): u8 mask of the members that differ from
 *		the what of the item before, those as varints
 *
 * CODE_JUMP is no item: 8 bytes are the time that the next item counts from.  It is used where
 * items do not come as they should: a gap between states, an end before the last one.
 *
 * A value is the zigzag difference to the last integral value if it is integral: code 0 to 8, the
 * length of that number; else CODE_DOUBLE and the 8 bytes of the double.
 */
#ifndef TACHO_INDEX_LEAF_H
#define TACHO_INDEX_LEAF_H

#include <stdbool.h>
#include <stdint.h>

#include "index/format.h"
#include "model/model.h"

/* What items of a track look like. */
enum index_form {
	INDEX_FOLLOWS,		/* states, running */
	INDEX_SLICES,		/* slices and instants */
	INDEX_VALUES,		/* counters */
	INDEX_LOSSES,
	INDEX_NR_FORMS,
};

enum {
	INDEX_NAME,		/* a name; states: enum model_thread_state */
	INDEX_CATEGORY,		/* a name; running: enum model_thread_state, too */
	INDEX_FLAGS,		/* enum model_flag */
	INDEX_DEPTH,		/* states: CPU + 1, or 0; losses: source */
	INDEX_FROM,		/* tracks; running: the thread */
	INDEX_TO,
	INDEX_IS_INSTANT,
	INDEX_NR_WHAT,
};

struct index_what {
	uint32_t v[INDEX_NR_WHAT];
};

struct index_item {
	uint64_t begin, end;
	struct index_what what;
	union {
		double value;		/* INDEX_VALUES */
		uint64_t count;		/* INDEX_LOSSES */
	};
};

#define INDEX_WHATS	30u	/* that a leaf keeps */

struct index_whats {
	struct index_what *what;
	uint32_t nr, room;
	struct index_what last;		/* of the item before */
};

/* A leaf that is being filled.  Zeroed: an empty one. */
struct index_leaf {
	unsigned char *bytes;
	uint32_t len, room, nr;
	uint64_t base;			/* that the first item counts from */
	uint64_t last;			/* that the next one counts from */
	int64_t value;			/* the last integral one */
	struct index_whats whats;
};

/* Adds an item, of at most INDEX_LEAF.  0 or -ENOMEM: nothing was added. */
int index_leaf_add(struct index_leaf *leaf, enum index_form form, const struct index_item *item);
/* Empties it, and keeps the memory. */
void index_leaf_reset(struct index_leaf *leaf);
void index_leaf_release(struct index_leaf *leaf);
/* Its memory. */
static inline uint32_t index_leaf_room(const struct index_leaf *leaf)
{
	return leaf->room + leaf->whats.room * (uint32_t)sizeof(struct index_what);
}

/* Reads nr items; 8 bytes behind the end may be read. */
struct index_items {
	struct index_bytes in;
	enum index_form form;
	uint32_t left;
	uint64_t last;
	int64_t value;
	uint32_t nr_whats;
	struct index_what last_what, what[INDEX_WHATS];
};

void index_items_begin(struct index_items *items, enum index_form form, uint32_t nr,
		       uint64_t base, const unsigned char *p, const unsigned char *end);
/* false: no more, or in.bad. */
bool index_items_next(struct index_items *items, struct index_item *item);

#endif
