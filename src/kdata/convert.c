/* SPDX-License-Identifier: MIT */
#include "kdata/convert.h"

/*
 * The data of each word, in the order of the fields, after the fixed part.
 * Two words that share data get a copy each.
 */
static uint32_t rebuild(const struct tacho_kplan *plan,
			const struct tacho_kshape *s, const unsigned char *raw,
			uint32_t len, unsigned char *out)
{
	uint32_t end = plan->fixed, i;

	memcpy(out, raw, plan->fixed);
	for (i = 0; i < s->nr_locs; i++) {
		uint32_t word = tacho_load_u32(raw + s->locs[i].off);
		uint32_t base = s->locs[i].rel ? s->locs[i].off + 4u : 0;
		uint32_t at = (word & 0xffff) + base, n = word >> 16;

		if (n && (n > len || at > len - n || n > TACHO_RAW_MAX - end))
			return 0;
		/* An offset has 16 bits; the record's end is below that. */
		tacho_put_u32(out + s->locs[i].off, (end - base) | n << 16);
		if (n)
			memcpy(out + end, raw + at, n);
		end += n;
	}
	return end;
}

static uint32_t rest_len(const struct tacho_kshape *s, const unsigned char *raw,
			 uint32_t len)
{
	uint32_t n = len > s->rest ? len - s->rest : 0, count;

	if (s->count) {
		count = tacho_load_u32(raw + s->count);
		if (count < n / s->elem)
			n = count * s->elem;
	}
	n -= n % s->elem;
	if (s->text && n) {
		const unsigned char *nul = memchr(raw + s->rest, '\0', n);

		if (nul)
			n = (uint32_t)(nul + 1 - (raw + s->rest));
	}
	return n;
}

static uint32_t rest_as_loc(const struct tacho_kplan *plan,
			    const struct tacho_kshape *s,
			    const unsigned char *raw, uint32_t len,
			    unsigned char *out)
{
	uint32_t n = rest_len(s, raw, len), to = s->loc + 4;

	if (n > TACHO_RAW_MAX - to)
		return 0;
	memset(out + plan->fixed, 0, s->loc - plan->fixed);
	memcpy(out, raw, plan->fixed);
	tacho_put_u32(out + s->loc, to | n << 16);
	if (n)
		memcpy(out + to, raw + s->rest, n);
	return to + n;
}

uint32_t tacho_kconvert_slow(const struct tacho_ktypes *t,
			     const struct tacho_kplan *plan,
			     const unsigned char *raw, uint32_t len,
			     unsigned char *out)
{
	struct tacho_kshape one;

	if (plan->kind == TACHO_KPLAN_REST)
		return rest_as_loc(plan, &t->shapes[plan->shape], raw, len,
				   out);
	if (plan->kind == TACHO_KPLAN_MANY)
		return rebuild(plan, &t->shapes[plan->shape], raw, len, out);
	one.nr_locs = 1;
	one.locs[0].off = plan->loc;
	one.locs[0].rel = false;
	return rebuild(plan, &one, raw, len, out);
}
