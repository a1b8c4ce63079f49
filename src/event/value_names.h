/* SPDX-License-Identifier: MIT */
/*
 * value_names.h - the names that a print format gives to the values of a field.
 *
 * They are the entries of the first __print_symbolic() or __print_flags() whose
 * argument is the field itself, also cast or masked ("REC->state & 0xff").
 */
#ifndef TACHO_EVENT_VALUE_NAMES_H
#define TACHO_EVENT_VALUE_NAMES_H

#include "event/type.h"

struct tacho_name_table {
	const struct tacho_type *type;
	uint64_t mask;		/* names are of (value & mask) */
	uint32_t first;		/* in the entries of the print program */
	uint32_t nr;		/* 0: its values have no names */
	bool flags;		/* names are of bits, not of values */
};

/* Finds the names of a field's values.  Any thread. */
void tacho_name_table_find(const struct tacho_type *type, const struct tacho_field *field,
		       struct tacho_name_table *names);

/*
 * Returns the i-th name, which has *len bytes and no NUL, and its value (which may be NULL).
 * i < names->nr.  Borrowed from the type.
 */
const char *tacho_name_table_at(const struct tacho_name_table *names, uint32_t i,
				uint64_t *value, size_t *len);

#endif
