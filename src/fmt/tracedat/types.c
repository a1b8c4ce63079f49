// SPDX-License-Identifier: MIT
/* The types of a trace.dat, made of their formats when they are needed. */
#include <string.h>

#include "fmt/tracedat/pages.h"
#include "fmt/tracedat/swap.h"

/*
 * A kernel with longs of 4 bytes says "unsigned long" all the same.  Where the
 * field's size tells, that is no matter; after __data_loc, in a last array of
 * size 0, and in one that becomes variable data, the type is all there is.
 */
static void shorten_longs(const char *text, size_t len, struct tacho_buf *out)
{
	static const char word[] = "unsigned long";
	const char *end = text + len;

	while (text && text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *next = nl ? nl + 1 : end;
		size_t n = (size_t)(next - text);
		const char *at = memmem(text, n, word, sizeof(word) - 1);

		if (at && memmem(text, n, "field:", 6) &&
		    (memmem(text, n, "_loc ", 5) || memmem(text, n, "size:0;", 7) ||
		     memchr(text, '[', n))) {
			tacho_buf_put(out, text, (size_t)(at - text));
			tacho_buf_puts(out, "u32");
			text = at + sizeof(word) - 1;
		}
		tacho_buf_put(out, text, (size_t)(next - text));
		text = next;
	}
}

/* Must come before the type is added: its text is the kernel's, not ours. */
static void plan_swap(struct tacho_dat_source *s,
		      const struct tacho_dat_format *f, const char *text,
		      size_t len)
{
	struct tacho_arena arena;
	const struct tacho_type *type;

	if (!s->swap)
		return;
	tacho_arena_init(&arena, (size_t)16 << 20);
	type = tacho_type_parse_fields(&arena, f->system, NULL, 0, text, len,
				       NULL);
	if (type)
		s->swap[f->id] = tacho_dat_swap_plan(&s->swaps, type);
	if (arena.no_memory || s->swaps.no_memory)
		s->types.arena.no_memory = true;
	tacho_arena_release(&arena);
}

/* The format under its own name, where the file could not have that. */
static void rename_type(const char *name, const char *text, size_t len,
			struct tacho_buf *out)
{
	const char *nl = memchr(text, '\n', len);

	tacho_buf_printf(out, "name: %s", name);
	if (nl)
		tacho_buf_put(out, nl, len - (size_t)(nl - text));
}

static void make_type(struct tacho_dat_source *s,
		      const struct tacho_dat_format *f)
{
	const char *text = s->meta.formats.data + f->at;
	const char *name = tacho_dat_own_event(&s->meta.own, f->id).name;
	size_t len = f->len;
	struct tacho_buf shorter, renamed;

	tacho_buf_init(&shorter, TACHO_DAT_BLOCK_MAX);
	if (s->meta.layout.commit_size == 4) {
		shorten_longs(text, len, &shorter);
		text = shorter.data;
		len = shorter.len;
	}
	tacho_buf_init(&renamed, TACHO_DAT_BLOCK_MAX);
	if (name && len > 5 && !memcmp(text, "name:", 5)) {
		rename_type(name, text, len, &renamed);
		text = renamed.data;
		len = renamed.len;
	}
	if (!tacho_buf_error(&shorter) && !tacho_buf_error(&renamed)) {
		plan_swap(s, f, text, len);
		/* events of a malformed format remain unknown: damage */
		(void)tacho_ktypes_add(&s->types, f->system, text, len, NULL);
	}
	if (tacho_buf_error(&shorter) == -ENOMEM || tacho_buf_error(&renamed) == -ENOMEM)
		s->types.arena.no_memory = true;
	tacho_buf_release(&shorter);
	tacho_buf_release(&renamed);
}

const struct tacho_type *tacho_dat_type(struct tacho_source *source,
					uint32_t stream_id, uint32_t id)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source;
	const struct tacho_dat_format *f;
	const struct tacho_ktype *t;

	if (id > UINT16_MAX || stream_id != tacho_dat_stream_of(s, id))
		return NULL;
	t = tacho_ktypes_find(&s->types, id);
	if (!t && s->format_of[id]) {
		f = &s->meta.format[s->format_of[id] - 1];
		s->format_of[id] = 0;
		make_type(s, f);
		t = tacho_ktypes_find(&s->types, id);
	}
	if (!t || tacho_source_set_type(source, stream_id, id, t->type))
		return NULL;
	return t->type;
}
