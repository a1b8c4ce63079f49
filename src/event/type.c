// SPDX-License-Identifier: MIT
#include "event/type.h"

#include <string.h>

#include "base/compiler.h"
#include "event/value.h"

TACHO_EXPORT const struct tacho_field *
tacho_type_field(const struct tacho_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].name, name))
			return &type->fields[i];
	return NULL;
}

const void *tacho_field_data(const struct tacho_field *f, const void *raw,
			     size_t len, size_t *size)
{
	switch (f->kind) {
	case TACHO_FIELD_DATA_LOC:
		return tacho_value_loc(raw, len, f->offset, false, size);
	case TACHO_FIELD_REL_LOC:
		return tacho_value_loc(raw, len, f->offset, true, size);
	case TACHO_FIELD_FLEX:
		if (f->offset > len)
			return NULL;
		*size = len - f->offset;
		break;
	case TACHO_FIELD_SCALAR:
	case TACHO_FIELD_ARRAY:
	case TACHO_FIELD_OPAQUE:
	default:
		if (f->offset > len || f->size > len - f->offset)
			return NULL;
		*size = f->size;
		break;
	}
	return (const unsigned char *)raw + f->offset;
}

bool tacho_field_int(const struct tacho_field *f, const void *raw, size_t len,
		     uint64_t *value)
{
	if (f->kind != TACHO_FIELD_SCALAR || f->flags & TACHO_FIELD_FLOAT)
		return false;
	if (f->offset > len || f->size > len - f->offset)
		return false;
	*value = tacho_value_load((const unsigned char *)raw + f->offset,
				  f->size, f->flags & TACHO_FIELD_SIGNED);
	return true;
}

bool tacho_field_double(const struct tacho_field *f, const void *raw,
			size_t len, double *value)
{
	if (f->kind != TACHO_FIELD_SCALAR || !(f->flags & TACHO_FIELD_FLOAT))
		return false;
	if (f->offset > len || f->size > len - f->offset)
		return false;
	*value = tacho_value_real((const unsigned char *)raw + f->offset,
				  f->size);
	return true;
}
