/* SPDX-License-Identifier: MIT */
/*
 * types.h - the kernel's event types as tacho records them, and for each type the plan by which
 * convert.h converts raw events.
 *
 * A type is recorded with the text of its `format` file, except for types whose last field has no
 * length:
 *
 *	print		char buf[]		the rest of the event
 *	raw_data	char buf[]
 *	bprint		u32 buf[]
 *	function	unsigned long args[]	(and the like)
 *	kernel_stack	unsigned long caller[8]	`size` of them, not 8
 *
 * These get a new text, in which that field is __data_loc: so it is recorded completely and every
 * reader of formats can find it.
 *
 * Loading types allocates and moves plans: while a pump uses the plans, only that pump's
 * load_type() may do it.
 */
#ifndef TACHO_KDATA_TYPES_H
#define TACHO_KDATA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "event/type.h"

/* Maximum size of a format text; those of all kernels are much smaller. */
#define TACHO_KTYPE_FORMAT_MAX	((size_t)4 << 20)

/* One recorded type. */
struct tacho_ktype {
	const struct tacho_type *type;	/* parsed from text */
	const char *text;		/* the `format` text for the trace */
	size_t text_len;
};

enum tacho_kplan_kind {
	TACHO_KPLAN_NONE = 0,	/* no type has this id */
	TACHO_KPLAN_FIXED,	/* only the first `fixed` bytes */
	TACHO_KPLAN_ONE,	/* one __data_loc, at `loc` */
	TACHO_KPLAN_MANY,	/* see the shape */
	TACHO_KPLAN_REST,	/* the rest of the event becomes a __data_loc */
};

/* Data for converting one event, by common_type. */
struct tacho_kplan {
	uint8_t kind;		/* enum tacho_kplan_kind */
	uint8_t task;		/* 1 + index into tasks; 0: has no task's name */
	uint16_t loc;		/* ONE: offset of the __data_loc word */
	uint32_t fixed;		/* bytes of the fixed part in the kernel's event */
	uint32_t index;		/* into list */
	uint32_t shape;		/* MANY, REST: into shapes */
};

enum { TACHO_KSHAPE_LOCS_MAX = 64 };

/* The layout of variable data, for the less common plans. */
struct tacho_kshape {
	uint32_t nr_locs;	/* MANY */
	uint32_t rest;		/* REST: where the data begins in the kernel's event */
	uint32_t loc;		/* REST: offset of the word; the data follows 4 bytes later */
	uint32_t elem;		/* REST: bytes of an element */
	uint32_t count;		/* REST: offset of an int that counts elements; 0: none */
	bool text;		/* REST: ends with its first NUL */
	struct {
		uint16_t off;
		bool rel;	/* __rel_loc */
	} locs[TACHO_KSHAPE_LOCS_MAX];	/* in the order of fields */
};

enum tacho_ktask_mode {
	TACHO_KTASK_SEEN,	/* use the name if none is known */
	TACHO_KTASK_RENAMED,	/* use the name */
	TACHO_KTASK_FORGET,	/* the task has a new name, which the event does not contain */
};

/* Fields with a task's name. */
struct tacho_ktask_fields {
	enum tacho_ktask_mode mode;
	uint32_t nr;
	struct {
		uint32_t pid_off;
		const struct tacho_field *comm;	/* NULL with FORGET */
	} pair[2];
};

enum { TACHO_KTASK_TYPES_MAX = 16 };

struct tacho_ktypes {
	struct tacho_arena arena;
	struct tacho_ktype *list;	/* in the order of loading */
	uint32_t nr, room;
	struct tacho_kplan *plans;	/* by common_type */
	uint32_t nr_plans;
	struct tacho_kshape *shapes;
	uint32_t nr_shapes, shapes_room;
	struct tacho_ktask_fields tasks[TACHO_KTASK_TYPES_MAX];
	uint32_t nr_tasks;
};

/* Makes an empty table. */
void tacho_ktypes_init(struct tacho_ktypes *t);

/* Frees all types. */
void tacho_ktypes_release(struct tacho_ktypes *t);

/*
 * tacho_ktypes_add - add one type from its `format` text, as the kernel wrote it.
 *
 * A type whose id is known already is not added again.  Returns 0, or
 * -EINVAL, -ENOMEM with d filled in.
 */
int tacho_ktypes_add(struct tacho_ktypes *t, const char *system,
		     const char *text, size_t len, struct tacho_diag *d);

/* The type with this id, or NULL. */
const struct tacho_ktype *tacho_ktypes_find(const struct tacho_ktypes *t,
					    uint32_t id);

#endif
