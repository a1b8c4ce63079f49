// SPDX-License-Identifier: MIT
/* The types of a trace.dat, made of their formats when they are needed. */
#include <string.h>

#include "fmt/tracedat/pages.h"
#include "fmt/tracedat/swap.h"

/* Must come before the type is added: its text is the kernel's, not ours. */
static void plan_swap(struct tacho_dat_source *s,
		      const struct tacho_dat_format *f, const char *text)
{
	struct tacho_arena arena;
	const struct tacho_type *type;

	if (!s->swap)
		return;
	tacho_arena_init(&arena, (size_t)16 << 20);
	type = tacho_type_parse_fields(&arena, f->system, NULL, 0, text, f->len,
				       NULL);
	if (type)
		s->swap[f->id] = tacho_dat_swap_plan(&s->swaps, type);
	tacho_arena_release(&arena);
}

const struct tacho_type *tacho_dat_type(struct tacho_source *source,
					uint32_t stream_id, uint32_t id)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source;
	const struct tacho_dat_format *f;
	const struct tacho_ktype *t;
	const char *text;

	if (stream_id != TACHO_STREAM_KERNEL || id > UINT16_MAX)
		return NULL;
	t = tacho_ktypes_find(&s->types, id);
	if (!t && s->format_of[id]) {
		f = &s->meta.format[s->format_of[id] - 1];
		s->format_of[id] = 0;
		text = s->meta.formats.data + f->at;
		plan_swap(s, f, text);
		/* a format that is none leaves its events unknown: damage */
		(void)tacho_ktypes_add(&s->types, f->system, text, f->len, NULL);
		t = tacho_ktypes_find(&s->types, id);
	}
	if (!t || tacho_source_set_type(source, stream_id, id, t->type))
		return NULL;
	return t->type;
}
