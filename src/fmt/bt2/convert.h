/* SPDX-License-Identifier: MIT */
/*
 * convert.h - babeltrace2's event classes and events as types and records.
 *
 * An event's payload and contexts are one tree of fields.  A *plan* is the flattened tree: for
 * each leaf, a slot has the place of its value in the raw event. Converting an event walks the
 * same tree in the same order and fills slot after slot.
 *
 *	integer, enumeration, bool	u8 ... s64 of the size that fits
 *	string				__data_loc char[]
 *	array or sequence of integers	__data_loc u32[], ...
 *	structure			its members, "outer_inner"
 *	real				float or double
 *	option, variant, array of anything else
 *					__data_loc char[]: its text
 *
 * A record has 64 KiB and a type SLOTS_MAX fields.  A larger event is cut, and its record has
 * another type of the same name with one more field, the *mark*: u32 tacho_cut, the number of
 * incomplete or missing fields.
 */
#ifndef TACHO_FMT_BT2_CONVERT_H
#define TACHO_FMT_BT2_CONVERT_H

#include <babeltrace2/babeltrace.h>

#include "stream/source.h"

struct tacho_bt2_slot {
	bool dynamic;		/* a __data_loc word */
	bool number;		/* a number or numbers, not text */
	bool is_signed;
	bool is_real;
	uint8_t size;		/* of a number or an element: 1, 2, 4, 8 */
	uint8_t role;		/* enum tacho_bt2_role */
	uint16_t later;		/* dynamic slots after it */
	uint16_t offset;
};

/* Context fields that mean something to the common fields and facts. */
enum tacho_bt2_role {
	TACHO_BT2_PLAIN,
	TACHO_BT2_VPID, TACHO_BT2_PID, TACHO_BT2_VTID, TACHO_BT2_TID,
	TACHO_BT2_PROCNAME,
};

struct tacho_bt2_plan {
	const bt_event_class *class;
	const struct tacho_type *type;
	struct tacho_bt2_slot *slot;
	uint32_t nr_slots;
	uint32_t fixed;		/* bytes of the raw event's fixed part */
	uint32_t mark;		/* offset of tacho_cut; 0: it has none */
	struct tacho_bt2_plan *marked;	/* the one that has; NULL: not made yet */
};

/* An event's data about its thread. */
struct tacho_bt2_thread {
	int32_t tid, tgid;
	char comm[16];
};

/*
 * Makes the plan and the type with this id, with the mark if `marked`, or if the class has too
 * many fields.  NULL: no memory, or no room.
 */
struct tacho_bt2_plan *tacho_bt2_plan_new(struct tacho_arena *arena,
					  const bt_event_class *class,
					  const char *system, uint32_t id, bool marked);

/*
 * Appends the record of an event at ticks to out.  *cut is how many fields are not whole; where
 * that is not 0 and the plan has no mark, nothing is appended.  0, or -ENOMEM.
 */
int tacho_bt2_convert(const struct tacho_bt2_plan *plan, const bt_event *event,
		      uint64_t ticks, struct tacho_bt2_thread *thread,
		      struct tacho_buf *out, uint32_t *cut);

#endif
