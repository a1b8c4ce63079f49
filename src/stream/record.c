// SPDX-License-Identifier: MIT
/* The public view of types, fields and values. */
#include <errno.h>
#include <string.h>

#include "base/sized.h"
#include "event/value_names.h"
#include "stream/stream.h"

/* The last member of version 1.0 ends here. */
#define FIELD_SIZE_1_0	(offsetof(struct tacho_field_info, declaration) + sizeof(char *))

const char *tacho_type_system(const struct tacho_type *type)
{
	return type->system;
}

const char *tacho_type_name(const struct tacho_type *type)
{
	return type->name;
}

const struct tacho_field *tacho_type_field_at(const struct tacho_type *type,
					      uint32_t index)
{
	return index < type->nr_fields ? &type->fields[index] : NULL;
}

const struct tacho_field *tacho_type_find(const struct tacho_type *type,
					  const char *name)
{
	return tacho_type_field(type, name);
}

const char *tacho_field_name(const struct tacho_field *field)
{
	return field->name;
}

/* ---- what a field is ------------------------------------------------------- */

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static uint32_t value_kind(const struct tacho_field *f)
{
	if (f->flags & TACHO_FIELD_STRING)
		return TACHO_VALUE_STRING;
	/* longs to the end of the event are a stack */
	if (f->flags & TACHO_FIELD_BITMASK && f->kind != TACHO_FIELD_FLEX)
		return TACHO_VALUE_BITMASK;
	if (f->flags & TACHO_FIELD_FLOAT)
		return TACHO_VALUE_FLOAT;
	if (f->kind == TACHO_FIELD_OPAQUE || !is_number_size(f->elem_size))
		return TACHO_VALUE_BYTES;
	/* an array of structs is not an array of integers */
	if (!strncmp(f->elem, "struct ", 7) || !strncmp(f->elem, "union ", 6))
		return f->kind == TACHO_FIELD_SCALAR ? TACHO_VALUE_INTEGER : TACHO_VALUE_BYTES;
	return TACHO_VALUE_INTEGER;
}

static bool is_dynamic(const struct tacho_field *f)
{
	return f->kind == TACHO_FIELD_DATA_LOC || f->kind == TACHO_FIELD_REL_LOC ||
	       f->kind == TACHO_FIELD_FLEX;
}

static uint32_t value_flags(const struct tacho_field *f)
{
	uint32_t flags = 0;

	if (f->flags & TACHO_FIELD_SIGNED && !(f->flags & TACHO_FIELD_STRING))
		flags |= TACHO_VALUE_SIGNED;
	if (f->flags & TACHO_FIELD_BOOL)
		flags |= TACHO_VALUE_BOOL;
	if (f->flags & TACHO_FIELD_POINTER)
		flags |= TACHO_VALUE_POINTER;
	if (f->flags & TACHO_FIELD_COMMON)
		flags |= TACHO_VALUE_COMMON;
	if (is_dynamic(f))
		flags |= TACHO_VALUE_DYNAMIC;
	if (f->kind == TACHO_FIELD_ARRAY || is_dynamic(f))
		flags |= TACHO_VALUE_ARRAY;
	return flags;
}

static bool is_of(const struct tacho_type *type, const struct tacho_field *field)
{
	return field && field >= type->fields && field < type->fields + type->nr_fields;
}

int tacho_type_fill_field(const struct tacho_type *type, const struct tacho_field *field,
			  struct tacho_field_info *info)
{
	uint32_t size = info->struct_size;
	struct tacho_name_table names;
	struct tacho_field_info own;

	if (size < FIELD_SIZE_1_0 || !is_of(type, field))
		return -EINVAL;
	tacho_name_table_find(type, field, &names);
	own = (struct tacho_field_info){
		.kind = value_kind(field), .flags = value_flags(field),
		.offset = field->offset, .size = field->size,
		.elem_size = field->elem_size,
		.count = is_dynamic(field) ? 0 :
			 field->kind == TACHO_FIELD_ARRAY ? field->count : 1,
		.names = !names.nr ? TACHO_NAMES_NONE :
			 names.flags ? TACHO_NAMES_FLAGS : TACHO_NAMES_ENUM,
		.names_mask = names.mask, .nr_names = names.nr,
		.index = field->index, .name = field->name, .elem_type = field->elem,
		.declaration = field->decl,
	};
	tacho_sized_put(info, size, &own, sizeof(own));
	return 0;
}

size_t tacho_type_value_name(const struct tacho_type *type, const struct tacho_field *field,
			     uint32_t index, uint64_t *value, char *name, size_t size)
{
	struct tacho_name_table names;
	const char *text;
	size_t len;

	if (size)
		name[0] = '\0';
	if (!is_of(type, field))
		return 0;
	tacho_name_table_find(type, field, &names);
	if (index >= names.nr)
		return 0;
	text = tacho_name_table_at(&names, index, value, &len);
	if (size) {
		size_t n = len < size ? len : size - 1;

		memcpy(name, text, n);
		name[n] = '\0';
	}
	return len;
}

/* ---- values ---------------------------------------------------------------- */

bool tacho_record_int(const struct tacho_record *r,
		      const struct tacho_field *field, uint64_t *value)
{
	return field && tacho_field_int(field, r->raw, r->len, value);
}

bool tacho_record_double(const struct tacho_record *r,
			 const struct tacho_field *field, double *value)
{
	return field && tacho_field_double(field, r->raw, r->len, value);
}

const void *tacho_record_data(const struct tacho_record *r,
			      const struct tacho_field *field, size_t *size)
{
	return field ? tacho_field_data(field, r->raw, r->len, size) : NULL;
}
