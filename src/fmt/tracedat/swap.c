// SPDX-License-Identifier: MIT
#include "fmt/tracedat/swap.h"

#include <byteswap.h>
#include <string.h>

#include "base/bytes.h"
#include "event/print_packed.h"
#include "event/value.h"

/* See kdata/pages.h. */
#define COMMIT_SIZE	0x3fffffffu
#define COMMIT_STORED	(1u << 30)
#define TYPE_DATA_MAX	28u
#define TYPE_PADDING	29u

static void turn(unsigned char *p, uint32_t size)
{
	if (size == 2)
		tacho_put_u16(p, bswap_16(tacho_load_u16(p)));
	else if (size == 4)
		tacho_put_u32(p, bswap_32(tacho_load_u32(p)));
	else if (size == 8)
		tacho_put_u64(p, bswap_64(tacho_load_u64(p)));
}

static uint32_t turned_u32(unsigned char *p)
{
	turn(p, 4);
	return tacho_load_u32(p);
}

/* All whole numbers in [at, at + n) of len bytes. */
static void turn_all(unsigned char *raw, uint32_t len, uint32_t at, uint32_t n,
		     uint32_t size)
{
	if (size < 2 || at > len)
		return;
	if (n > len - at)
		n = len - at;
	for (; n >= size; n -= size, at += size)
		turn(raw + at, size);
}

/* ---- plans -------------------------------------------------------------------- */

static uint8_t number_size(uint32_t size)
{
	return size == 2 || size == 4 || size == 8 ? (uint8_t)size : 1;
}

/* kernel_stack has `size` callers, whatever its format says. */
static bool open_ended(const struct tacho_type *type,
		       const struct tacho_field *f)
{
	return f->kind == TACHO_FIELD_FLEX ||
	       (f->kind == TACHO_FIELD_ARRAY &&
		f->index + 1 == type->nr_fields &&
		!strcmp(type->system, "ftrace") &&
		!strcmp(type->name, "kernel_stack"));
}

static struct tacho_dat_swap_step step_of(const struct tacho_type *type,
					  const struct tacho_field *f)
{
	struct tacho_dat_swap_step s = {
		.offset = (uint16_t)f->offset,
		.size = number_size(f->kind == TACHO_FIELD_SCALAR ? f->size :
								    f->elem_size),
	};

	if (open_ended(type, f))
		s.kind = TACHO_DAT_SWAP_REST;
	else if (f->kind == TACHO_FIELD_DATA_LOC)
		s.kind = TACHO_DAT_SWAP_LOC;
	else if (f->kind == TACHO_FIELD_REL_LOC)
		s.kind = TACHO_DAT_SWAP_REL;
	else if (f->kind == TACHO_FIELD_OPAQUE)
		s.size = 1;
	s.count = s.size > 1 ? f->size / s.size : 0;
	return s;
}

/* bprint's last step: what its format says. */
static void plan_packed(struct tacho_dat_swap *plan, const struct tacho_type *type)
{
	const struct tacho_field *fmt = tacho_type_field(type, "fmt");
	struct tacho_dat_swap_step *last;

	if (!plan->nr)
		return;
	last = &plan->step[plan->nr - 1];
	if (last->kind != TACHO_DAT_SWAP_REST || !fmt ||
	    (fmt->size != 4 && fmt->size != 8) || fmt->offset >= last->offset ||
	    strcmp(type->system, "ftrace") || strcmp(type->name, "bprint"))
		return;
	last->kind = TACHO_DAT_SWAP_PACKED;
	plan->fmt = (uint16_t)fmt->offset;
	plan->fmt_size = (uint16_t)fmt->size;
}

const struct tacho_dat_swap *tacho_dat_swap_plan(struct tacho_arena *arena,
						 const struct tacho_type *type)
{
	struct tacho_dat_swap *plan;

	plan = tacho_arena_alloc(arena, sizeof(*plan) +
				 type->nr_fields * sizeof(plan->step[0]));
	if (!plan)
		return NULL;
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		struct tacho_dat_swap_step s = step_of(type, &type->fields[i]);
		bool again = false;

		/* bit fields share their number */
		for (uint32_t j = 0; j < plan->nr; j++)
			again |= plan->step[j].offset == s.offset &&
				 s.kind == TACHO_DAT_SWAP_HERE;
		if (!again && (s.size > 1 || s.kind == TACHO_DAT_SWAP_LOC ||
			       s.kind == TACHO_DAT_SWAP_REL))
			plan->step[plan->nr++] = s;
	}
	plan_packed(plan, type);
	return plan;
}

/* ---- pages --------------------------------------------------------------------- */

static void turn_loc(const struct tacho_dat_swap_step *s, unsigned char *raw,
		     uint32_t len)
{
	uint32_t word, at;

	if (s->offset > len || len - s->offset < 4)
		return;
	word = turned_u32(raw + s->offset);
	at = word & 0xffff;
	if (s->kind == TACHO_DAT_SWAP_REL)
		at += s->offset + 4u;
	turn_all(raw, len, at, word >> 16, s->size);
}

/* The format's address is turned already: its field comes before. */
static void turn_packed(const struct tacho_dat_swap *plan,
			const struct tacho_dat_swap_step *s, unsigned char *raw,
			uint32_t len, const struct tacho_dat_swap_env *env)
{
	const char *fmt = NULL;

	if (plan->fmt + plan->fmt_size <= (int)len)
		fmt = env->string(env->arg, tacho_value_load(raw + plan->fmt,
							     plan->fmt_size, false));
	if (!fmt)
		turn_all(raw, len, s->offset, len, s->size);
	else if (s->offset < len)
		tacho_packed_turn(fmt, raw + s->offset, len - s->offset,
				  plan->fmt_size);
}

static void turn_event(const struct tacho_dat_swap *plan, unsigned char *raw,
		       uint32_t len, const struct tacho_dat_swap_env *env)
{
	for (uint32_t i = 0; i < plan->nr; i++) {
		const struct tacho_dat_swap_step *s = &plan->step[i];

		switch ((enum tacho_dat_swap_kind)s->kind) {
		case TACHO_DAT_SWAP_HERE:
			turn_all(raw, len, s->offset, s->count * s->size,
				 s->size);
			break;
		case TACHO_DAT_SWAP_LOC:
		case TACHO_DAT_SWAP_REL:
			turn_loc(s, raw, len);
			break;
		case TACHO_DAT_SWAP_REST:
			turn_all(raw, len, s->offset, len, s->size);
			break;
		case TACHO_DAT_SWAP_PACKED:
			turn_packed(plan, s, raw, len, env);
			break;
		}
	}
}

/* Native word of an event; the bits of the other byte order are at the other end. */
static uint32_t turn_word(unsigned char *p, uint32_t *delta)
{
	uint32_t word = turned_u32(p), type;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	type = word >> 27;
	*delta = word & 0x7ffffff;
	tacho_put_u32(p, type | *delta << 5);
#else
	type = word & 31;
	*delta = word >> 5;
	tacho_put_u32(p, type << 27 | *delta);
#endif
	return type;
}

static void turn_payload(unsigned char *raw, uint32_t len,
			 const struct tacho_dat_swap_env *env)
{
	const struct tacho_dat_swap *plan;

	if (len < 2)
		return;
	plan = env->find(env->arg, bswap_16(tacho_load_u16(raw)));
	if (plan)
		turn_event(plan, raw, len, env);
	else
		turn(raw, 2);
}

static void turn_events(unsigned char *p, const unsigned char *end,
			const struct tacho_dat_swap_env *env)
{
	while (end - p >= 4) {
		size_t left = (size_t)(end - p) - 4;
		uint32_t delta, type = turn_word(p, &delta), n;

		p += 4;
		if (type - 1 < TYPE_DATA_MAX) {
			n = type * 4;
			if (n > left)
				return;
			turn_payload(p, n, env);
			p += n;
			continue;
		}
		if ((type == TYPE_PADDING && !delta) || left < 4)
			return;
		n = turned_u32(p);
		p += 4;
		if (type > TYPE_PADDING)
			continue;
		if (n < 4 || n % 4 || n > left)
			return;
		if (!type)
			turn_payload(p, n - 4, env);
		p += n - 4;
	}
}

void tacho_dat_swap_page(const struct tacho_kpage_layout *l,
			 unsigned char *bytes, size_t len,
			 const struct tacho_dat_swap_env *env)
{
	uint32_t commit, size;

	if (len < l->data_off)
		return;
	turn(bytes + l->time_off, 8);
	turn(bytes + l->commit_off, l->commit_size);
	commit = l->commit_size == 8 ?
		 (uint32_t)tacho_load_u64(bytes + l->commit_off) :
		 tacho_load_u32(bytes + l->commit_off);
	size = commit & COMMIT_SIZE;
	if (size > len - l->data_off)
		return;
	if (commit & COMMIT_STORED && len - l->data_off - size >= l->commit_size)
		turn(bytes + l->data_off + size, l->commit_size);
	turn_events(bytes + l->data_off, bytes + l->data_off + size, env);
}
