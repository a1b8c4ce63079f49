// SPDX-License-Identifier: MIT
#include "fmt/ctf/canon.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fmt/ctf/tsdl.h"
#include "tacho/abi/record.h"

static uint32_t record_size(uint32_t raw_end)
{
	return 8 + TACHO_ALIGN_UP(raw_end, 8u);
}

static uint32_t collect_locs(struct tacho_canon_loc *loc,
			     const struct tacho_field **order, uint32_t n)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct tacho_field *f = order[i];

		if (f->kind == TACHO_FIELD_DATA_LOC ||
		    f->kind == TACHO_FIELD_REL_LOC)
			loc[nr++] = (struct tacho_canon_loc){
				.at = (uint16_t)f->offset, .field = f,
				.elem_shift = (uint8_t)tacho_tsdl_elem_shift(f),
				.relative = f->kind == TACHO_FIELD_REL_LOC };
	}
	return nr;
}

const struct tacho_canon *tacho_canon_new(struct tacho_arena *arena,
					  const struct tacho_type *type)
{
	struct tacho_canon *c = tacho_arena_alloc(arena, sizeof(*c));
	struct tacho_canon_loc *loc = NULL;
	const struct tacho_field **order;
	const struct tacho_field *last;
	uint32_t n;

	order = reallocarray(NULL, (size_t)type->nr_fields + 1, sizeof(*order));
	if (type->nr_dynamic)
		loc = tacho_arena_array(arena, type->nr_dynamic, sizeof(*loc));
	if (!c || !order || (type->nr_dynamic && !loc)) {
		free(order);
		return NULL;
	}
	n = tacho_tsdl_order(type, order);
	last = n ? order[n - 1] : NULL;
	c->type = type;
	c->fixed = type->fixed_size < sizeof(struct tacho_common) ?
		   (uint32_t)sizeof(struct tacho_common) : type->fixed_size;
	c->size = record_size(c->fixed);
	if (loc)
		c->nr_locs = collect_locs(loc, order, n);
	c->loc = loc;
	if (c->nr_locs)
		c->kind = TACHO_CANON_DYNAMIC;
	if (last && last->kind == TACHO_FIELD_FLEX)
		c->kind = tacho_tsdl_is_text(last) && !c->nr_locs ?
			  TACHO_CANON_TEXT : TACHO_CANON_NEVER;
	free(order);
	return c;
}

static uint32_t dynamic_end(const struct tacho_canon *c,
			    const unsigned char *raw, uint32_t raw_len)
{
	uint32_t end = c->fixed;

	if (raw_len < end)
		return 0;
	for (uint32_t i = 0; i < c->nr_locs; i++) {
		const struct tacho_canon_loc *loc = &c->loc[i];
		uint32_t word = tacho_load_u32(raw + loc->at);
		uint32_t off = word & 0xffff, len = word >> 16;

		if (loc->relative)
			off += loc->at + 4u;
		if (off != end || len & ((1u << loc->elem_shift) - 1))
			return 0;
		end += len;
	}
	return end;
}

uint32_t tacho_canon_end(const struct tacho_canon *c, const unsigned char *raw,
			 uint32_t size)
{
	uint32_t raw_len = size - 8, end = 0;
	const unsigned char *nul;

	switch (c->kind) {
	case TACHO_CANON_FIXED:
		return size == c->size ? c->fixed : 0;
	case TACHO_CANON_DYNAMIC:
		end = dynamic_end(c, raw, raw_len);
		break;
	case TACHO_CANON_TEXT:
		if (raw_len <= c->fixed)
			return 0;
		nul = memchr(raw + c->fixed, 0, raw_len - c->fixed);
		end = nul ? (uint32_t)(nul + 1 - raw) : 0;
		break;
	case TACHO_CANON_NEVER:
		break;
	}
	return end && record_size(end) == size ? end : 0;
}

static void put_rounded(struct tacho_buf *out, uint32_t raw_end)
{
	static const unsigned char zero[8];

	tacho_buf_put(out, zero, TACHO_ALIGN_UP(raw_end, 8u) - raw_end);
}

static uint32_t rewrite_dynamic(const struct tacho_canon *c, uint64_t word,
				const unsigned char *raw, struct tacho_buf *out)
{
	uint32_t raw_len = tacho_record_size(word) - 8, end = c->fixed;
	size_t start = out->len;

	if (raw_len < c->fixed)
		return 0;
	tacho_buf_put(out, &word, sizeof(word));
	tacho_buf_put(out, raw, c->fixed);
	for (uint32_t i = 0; i < c->nr_locs && !tacho_buf_error(out); i++) {
		const struct tacho_canon_loc *loc = &c->loc[i];
		uint32_t from = loc->relative ? loc->at + 4u : 0;
		size_t n = 0;
		const void *data;

		data = tacho_field_data(loc->field, raw, raw_len, &n);
		n = data ? n >> loc->elem_shift << loc->elem_shift : 0;
		if (n > TACHO_RAW_MAX - end) {
			out->len = start;
			return 0;
		}
		tacho_put_u32(out->data + start + 8 + loc->at,
			      (end - from) | (uint32_t)n << 16);
		if (n)
			tacho_buf_put(out, data, n);
		end += (uint32_t)n;
	}
	put_rounded(out, end);
	word = tacho_record_word(word, record_size(end));
	if (!tacho_buf_error(out))
		memcpy(out->data + start, &word, sizeof(word));
	return end;
}

uint32_t tacho_canon_rewrite(const struct tacho_canon *c, uint64_t word,
			     const unsigned char *raw, struct tacho_buf *out)
{
	if (c->kind == TACHO_CANON_DYNAMIC)
		return rewrite_dynamic(c, word, raw, out);
	return 0;
}
