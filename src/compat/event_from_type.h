/* SPDX-License-Identifier: MIT */
/* event_from_type.h - an event of a program that is described by a type, not by a macro. */
#ifndef TACHO_COMPAT_EVENT_FROM_TYPE_H
#define TACHO_COMPAT_EVENT_FROM_TYPE_H

#include "base/arena.h"
#include "event/type.h"
#include "tacho/abi/site.h"

/*
 * Sets the name, the fields and the print format of an event to those of a type, which outlives
 * it; the rest is the caller's.  align: of its fields, in bytes.  false: no memory.
 */
static inline bool tacho_event_from_type(struct tacho_event *e, const struct tacho_type *type,
					 struct tacho_arena *arena, uint32_t align)
{
	uint32_t nr = type->nr_fields - type->nr_common;
	struct tacho_event_field *f = tacho_arena_array(arena, nr ? nr : 1, sizeof(*f));

	if (!f)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		const struct tacho_field *from = &type->fields[type->nr_common + i];

		f[i] = (struct tacho_event_field){
			.decl = from->decl, .offset = from->offset, .size = from->size,
			.is_signed = (from->flags & TACHO_FIELD_SIGNED) != 0, .align = align,
		};
	}
	e->nr_fields = nr;
	e->fields = f;
	e->system = type->system;
	e->name = type->name;
	e->print_fmt = type->print_fmt;
	return true;
}

#endif
