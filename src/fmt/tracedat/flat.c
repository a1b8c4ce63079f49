// SPDX-License-Identifier: MIT
#include "fmt/tracedat/flat.h"

#include <string.h>


bool tacho_dat_flat_find(struct tacho_dat_flat *f, const struct tacho_type *t)
{
	const struct tacho_field *last;
	uint32_t align, end;

	*f = (struct tacho_dat_flat){ 0 };
	if (strcmp(t->system, "ftrace") || t->nr_fields <= t->nr_common)
		return false;
	last = &t->fields[t->nr_fields - 1];
	if (last->kind != TACHO_FIELD_DATA_LOC)
		return false;
	align = last->elem_size ? last->elem_size : 1;
	f->rest = last;
	for (uint32_t i = 0; i + 1 < t->nr_fields; i++) {
		end = t->fields[i].offset + t->fields[i].size;
		if (end > f->head)
			f->head = end;
	}
	f->offset = (f->head + align - 1) / align * align;
	return true;
}

/* The array; *len is 0 when the record has none. */
static const void *rest_of(const struct tacho_dat_flat *f, const void *raw, size_t size,
			   size_t *len)
{
	const void *rest = tacho_field_data(f->rest, raw, size, len);

	if (!rest || f->head > size)
		*len = 0;
	return rest;
}

size_t tacho_dat_flat_len(const struct tacho_dat_flat *f, const void *raw, size_t size)
{
	size_t len = 0;

	(void)rest_of(f, raw, size, &len);
	return f->offset + len;
}

void tacho_dat_flat_put(const struct tacho_dat_flat *f, const void *raw, size_t size,
			unsigned char *to)
{
	size_t len = 0;
	const void *rest = rest_of(f, raw, size, &len);

	memset(to, 0, f->offset);
	memcpy(to, raw, f->head < size ? f->head : size);
	if (len)
		memcpy(to + f->offset, rest, len);
}
