// SPDX-License-Identifier: MIT
/* From the words of kmap.c to offsets, once for each tracepoint; and what runs for each event. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "event/type.h"
#include "fmt/lkst/kmap.h"

#define NAME_MAX_LEN	40
#define TEXT_LEN	8	/* characters that an argument has room for */

/* A part as written, taken apart. */
struct word {
	char name[NAME_MAX_LEN];
	bool optional, length;
	uint32_t index;
};

/* The n-th of the names "a/b", with its "[i]"; false: there are fewer. */
static bool take_word(const char *s, size_t len, unsigned int n, struct word *w)
{
	const char *end = s + len, *stop, *bracket;

	*w = (struct word){ .optional = s < end && *s == '?' };
	s += w->optional;
	w->length = s < end && *s == '#';
	s += w->length;
	for (; n; n--) {
		s = memchr(s, '/', (size_t)(end - s));
		if (!s)
			return false;
		s++;
	}
	stop = memchr(s, '/', (size_t)(end - s));
	stop = stop ? stop : end;
	bracket = memchr(s, '[', (size_t)(stop - s));
	if (bracket) {
		w->index = (uint32_t)(bracket[1] - '0');
		stop = bracket;
	}
	if ((size_t)(stop - s) >= sizeof(w->name))
		return false;
	memcpy(w->name, s, (size_t)(stop - s));
	return true;
}

static int plan_number(struct lkst_kpart *p, const struct tacho_field *f, uint32_t offset)
{
	if (f->elem_size != 1 && f->elem_size != 2 && f->elem_size != 4 && f->elem_size != 8)
		return -EINVAL;
	*p = (struct lkst_kpart){
		.offset = (uint16_t)offset, .size = (uint8_t)f->elem_size,
		.kind = f->flags & TACHO_FIELD_SIGNED ? LKST_KPART_SIGNED : LKST_KPART_UNSIGNED,
	};
	return 0;
}

static int plan_array(struct lkst_kpart *p, const struct tacho_field *f, const struct word *w)
{
	if (f->flags & TACHO_FIELD_STRING)
		*p = (struct lkst_kpart){
			.offset = (uint16_t)f->offset, .kind = LKST_KPART_TEXT,
			.size = (uint8_t)(f->size < TEXT_LEN ? f->size : TEXT_LEN),
		};
	else if (f->elem_size == 1 && f->size <= 8)
		*p = (struct lkst_kpart){
			.offset = (uint16_t)f->offset, .kind = LKST_KPART_BYTES,
			.size = (uint8_t)f->size,
		};
	else if (w->index < f->count)
		return plan_number(p, f, f->offset + w->index * f->elem_size);
	else
		return -EINVAL;
	return 0;
}

static int plan_field(struct lkst_kpart *p, const struct tacho_field *f, const struct word *w)
{
	if (f->offset > UINT16_MAX - 8 || f->flags & TACHO_FIELD_FLOAT)
		return -EINVAL;
	switch (f->kind) {
	case TACHO_FIELD_SCALAR:
		return plan_number(p, f, f->offset);
	case TACHO_FIELD_ARRAY:
		return plan_array(p, f, w);
	case TACHO_FIELD_DATA_LOC:
		if (!(f->flags & TACHO_FIELD_STRING))
			return -EINVAL;
		*p = (struct lkst_kpart){
			.offset = (uint16_t)f->offset, .size = 4,
			.kind = w->length ? LKST_KPART_LOC_LEN : LKST_KPART_LOC_TEXT,
		};
		return 0;
	case TACHO_FIELD_REL_LOC:
	case TACHO_FIELD_FLEX:
	case TACHO_FIELD_OPAQUE:
		break;
	}
	return -EINVAL;
}

static int plan_part(struct lkst_kpart *p, const char *s, size_t len,
		     const struct tacho_type *type, struct tacho_diag *d)
{
	const struct tacho_field *f;
	bool optional = false;
	struct word w;

	for (unsigned int n = 0; take_word(s, len, n, &w); n++) {
		optional |= w.optional;
		f = tacho_type_field(type, w.name);
		if (!f)
			continue;
		if (!plan_field(p, f, &w))
			return 0;
		return tacho_diag(d, -EINVAL, 0, "'%s' of '%s:%s' is neither a number nor text",
				  w.name, type->system, type->name);
	}
	*p = (struct lkst_kpart){ .kind = LKST_KPART_ZERO };
	if (optional)
		return 0;
	return tacho_diag(d, -ENOENT, 0, "'%s:%s' has no field '%.*s'", type->system,
			  type->name, (int)len, s);
}

static uint32_t end_of(const struct lkst_kpart *p)
{
	return p->kind == LKST_KPART_ZERO ? 0 : (uint32_t)p->offset + p->size;
}

static void grow(struct lkst_kplan *plan, const struct lkst_kpart *p)
{
	if (end_of(p) > plan->fixed)
		plan->fixed = end_of(p);
}

int lkst_kplan_make(struct lkst_kplan *plan, const struct lkst_kmap *map,
		    const struct tacho_type *type, struct tacho_diag *d)
{
	struct lkst_kplan made = { .map = map };

	for (int i = 0; i < 4 && map->arg[i]; i++) {
		const char *s = map->arg[i], *colon = strchr(s, ':');
		const char *low = colon ? colon + 1 : s;
		int err = 0;

		if (colon) {
			made.halves |= (uint8_t)(1 << i);
			err = plan_part(&made.high[i], s, (size_t)(colon - s), type, d);
		}
		if (!err)
			err = plan_part(&made.low[i], low, strlen(low), type, d);
		if (err)
			return err;
		grow(&made, &made.low[i]);
		grow(&made, &made.high[i]);
	}
	*plan = made;
	return 0;
}

/* ---- for each event ---- */

static uint64_t number(const unsigned char *at, uint32_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)*at : *at;
	case 2:
		return is_signed ? (uint64_t)(int64_t)(int16_t)tacho_load_u16(at)
				 : tacho_load_u16(at);
	case 4:
		return is_signed ? (uint64_t)(int64_t)(int32_t)tacho_load_u32(at)
				 : tacho_load_u32(at);
	default:
		return tacho_load_u64(at);
	}
}

static uint64_t characters(const unsigned char *at, uint32_t size, bool text)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < size && (!text || at[i]); i++)
		v = v << 8 | at[i];
	return v;
}

static uint64_t located(const struct lkst_kpart *p, const unsigned char *raw, uint32_t len)
{
	uint32_t word = tacho_load_u32(raw + p->offset);
	uint32_t at = word & 0xffff, size = word >> 16;

	if (at > len)
		return 0;
	if (size > len - at)
		size = len - at;
	if (p->kind == LKST_KPART_LOC_LEN)
		return strnlen((const char *)raw + at, size);
	return characters(raw + at, size < TEXT_LEN ? size : TEXT_LEN, true);
}

static inline uint64_t value(const struct lkst_kpart *p, const unsigned char *raw, uint32_t len)
{
	switch ((enum lkst_kpart_kind)p->kind) {
	case LKST_KPART_UNSIGNED:
	case LKST_KPART_SIGNED:
		return number(raw + p->offset, p->size, p->kind == LKST_KPART_SIGNED);
	case LKST_KPART_BYTES:
	case LKST_KPART_TEXT:
		return characters(raw + p->offset, p->size, p->kind == LKST_KPART_TEXT);
	case LKST_KPART_LOC_TEXT:
	case LKST_KPART_LOC_LEN:
		return located(p, raw, len);
	case LKST_KPART_ZERO:
		break;
	}
	return 0;
}

bool lkst_kplan_args(const struct lkst_kplan *plan, const unsigned char *raw, uint32_t len,
		     uint64_t arg[4])
{
	if (len < plan->fixed)
		return false;
	for (int i = 0; i < 4; i++) {
		arg[i] = value(&plan->low[i], raw, len);
		if (plan->halves >> i & 1)
			arg[i] = value(&plan->high[i], raw, len) << 32 | (uint32_t)arg[i];
	}
	return true;
}
