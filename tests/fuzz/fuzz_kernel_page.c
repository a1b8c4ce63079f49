/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a sub-buffer of the kernel: iterated to the end, every event
 * converted, every record checked against what abi/record.h promises.
 */
#include <stdlib.h>

#include "../kernel/formats.h"
#include "kdata/convert.h"
#include "kdata/pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tacho_ktypes types;

static void load(void)
{
	size_t i;

	tacho_ktypes_init(&types);
	for (i = 0; i < TACHO_ARRAY_SIZE(formats); i++)
		if (tacho_ktypes_add(&types, formats[i].system,
				     formats[i].text, strlen(formats[i].text),
				     NULL) < 0)
			abort();
}

static void check(const struct tacho_type *type, const unsigned char *rec,
		  uint32_t size)
{
	uint32_t end = type->fixed_size, i, word;

	if (size % 8 || size < 16 || size > TACHO_RECORD_MAX ||
	    tacho_record_size(tacho_load_u64(rec)) != size)
		abort();
	for (i = 0; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];

		if (f->kind != TACHO_FIELD_DATA_LOC &&
		    f->kind != TACHO_FIELD_REL_LOC)
			continue;
		word = tacho_load_u32(rec + 8 + f->offset);
		if (f->kind == TACHO_FIELD_REL_LOC)
			word += f->offset + 4;
		if ((word & 0xffff) != end)
			abort();
		end += word >> 16;
	}
	if (TACHO_ALIGN_UP(end + 8, 8) != size)
		abort();
	for (; end + 8 < size; end++)
		if (rec[8 + end])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tacho_kpage_layout layout = {
		.time_off = 0, .commit_off = 8, .commit_size = 8,
		.data_off = 16,
	};
	static unsigned char out[TACHO_KCONVERT_ROOM]
		__attribute__((aligned(8)));
	struct tacho_kevent ev;
	struct tacho_kpage p;

	if (!types.nr)
		load();
	if (tacho_kpage_open(&p, &layout, data, size) < 0)
		return 0;
	while (tacho_kpage_next(&p, &ev) == 1) {
		const struct tacho_ktype *t;
		uint32_t n;

		if (ev.len < 8)
			continue;
		t = tacho_ktypes_find(&types, tacho_load_u16(ev.raw));
		if (!t)
			continue;
		n = tacho_kconvert(&types, &types.plans[t->type->id], ev.time,
				   ev.raw, ev.len, data + size, out);
		if (n)
			check(t->type, out, n);
	}
	return 0;
}
