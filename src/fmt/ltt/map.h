/* SPDX-License-Identifier: MIT */
/*
 * map.h - converts events of current kernels to events of LTT.
 *
 * The table is in docs/ltt.md, too.  An event without a counterpart, or whose values do not fit
 * in it, is not converted: the caller embeds it.
 */
#ifndef TACHO_FMT_LTT_MAP_H
#define TACHO_FMT_LTT_MAP_H

#include "base/hashmap.h"
#include "fmt/ltt/lane.h"
#include "tacho/stream.h"

#define LTT_MAP_VALUES	3

struct tacho_ltt_map {
	const char *system, *name;
	uint8_t id, sub;
	/* of the struct's elements: a field's name, or a number; NULL: 0 */
	const char *value[LTT_MAP_VALUES];
	uint8_t rule;		/* what else is to be looked at; map.c */
};

/* An event type with its fields looked up. */
struct tacho_ltt_mapped {
	const struct tacho_ltt_map *map;
	const struct tacho_field *field[LTT_MAP_VALUES];
	const struct tacho_field *more;		/* of the rule */
	uint64_t constant[LTT_MAP_VALUES];
};

/* What rules remember from one event to the next. */
struct tacho_ltt_memory {
	struct tacho_hashmap calls;	/* by thread: the argument of the call that it is in */
	struct tacho_source *source;	/* has the kernel's symbols; may be NULL */
};

/* The event as it is written. */
struct tacho_ltt_out {
	uint32_t id, sub;
	struct tacho_ltt_values values;
};

/* The table, which ends with a NULL system. */
extern const struct tacho_ltt_map tacho_ltt_maps[];

/* Looks a type up.  False: it is not in the table, or lacks a field that it needs. */
bool tacho_ltt_map_find(struct tacho_ltt_mapped *m, const struct tacho_type *type);

/*
 * Makes LTT's event of a record.  False: it does not fit, and is to be embedded.
 * Values point into the record.
 */
bool tacho_ltt_map_record(struct tacho_ltt_memory *mem, struct tacho_ltt_lane *l,
			  const struct tacho_ltt_mapped *m,
			  const struct tacho_record *r, struct tacho_ltt_out *out);

void tacho_ltt_memory_release(struct tacho_ltt_memory *mem);

#endif
