// SPDX-License-Identifier: MIT
/* The public view of types, fields and values. */
#include "stream/stream.h"

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

int tacho_record_int(const struct tacho_record *r,
		     const struct tacho_field *field, uint64_t *value)
{
	return tacho_field_int(field, r->raw, r->len, value);
}

int tacho_record_double(const struct tacho_record *r,
			const struct tacho_field *field, double *value)
{
	return tacho_field_double(field, r->raw, r->len, value);
}

const void *tacho_record_data(const struct tacho_record *r,
			      const struct tacho_field *field, size_t *size)
{
	return tacho_field_data(field, r->raw, r->len, size);
}
