// SPDX-License-Identifier: MIT
#include "fmt/lkst/layout.h"

#include <string.h>

#include "base/atomic.h"
#include "fmt/lkst/types.h"

#define SPARE	16	/* records beyond a full buffer: what is written while it is left */

bool lkst_layout_fits(const struct lkst_state *s, uint64_t size)
{
	return s->nr_cpus <= TACHO_LANES_MAX && size >= LKST_STATE_SIZE(s->nr_cpus) &&
	       s->layout == LKST_STATE_LAYOUT(s->nr_cpus);
}

size_t lkst_layout_static(const struct lkst_state *s, uint64_t *from, struct lkst_record *to,
			  size_t max)
{
	uint32_t end = tacho_load_acquire(&s->nr_static);
	uint32_t at = end > LKST_STATIC_RECORDS ? end - LKST_STATIC_RECORDS : 0;
	size_t n = 0;

	for (at = *from > at ? (uint32_t)*from : at; at < end && n < max; at++) {
		to[n] = s->fixed[at % LKST_STATIC_RECORDS];
		/* another's, whose place it is to be: not written yet */
		n += to[n].recid == at && to[n].ticks;
	}
	*from = at;
	return n;
}

int lkst_layout_etypes(const struct lkst_state *s, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++) {
		const struct lkst_etype_entry *e = &s->etype[i];
		struct lkst_etype_entry c;

		if (!tacho_load_acquire(&e->ready))	/* [described] */
			continue;
		memcpy(&c, e, sizeof(c));
		c.mnemonic[sizeof(c.mnemonic) - 1] = '\0';
		c.name[sizeof(c.name) - 1] = '\0';
		for (int a = 0; a < 4; a++)
			c.arg[a][sizeof(c.arg[a]) - 1] = '\0';
		lkst_types_put(out, &(struct lkst_type_text){
			(uint16_t)lkst_etype_at(i), c.mnemonic, c.name,
			{ c.arg[0], c.arg[1], c.arg[2], c.arg[3] } });
	}
	return out->err;
}

static uint64_t less_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A copy of a moment when the pump was at it may say anything; what comes out is in order. */
struct lkst_shown lkst_layout_shown(const struct lkst_buffer *b, const struct lkst_turn *t)
{
	const uint64_t room = b->size / LKST_SIZEOF_LKST_EVENT_RECORD;
	uint64_t since[2] = { t->since }, nr[2], all, shown, early;
	bool of_turn = tacho_load_acquire(&b->late_turn) == t->begins + 1;	/* [late-turn] */
	/* [late-end] */
	struct lkst_shown s = { .upto = { t->end, tacho_load_acquire(&b->late_end) } };

	since[1] = of_turn ? less_of(tacho_load_relaxed(&b->late_from), s.upto[1]) : s.upto[1];
	early = of_turn ? tacho_load_relaxed(&b->late_early) : since[1];
	early = early > since[1] ? early - since[1] : 0;
	if (t->gone)	/* what is left of it is all of this turn */
		since[0] = t->end > room + SPARE ? t->end - room - SPARE - 1 : 0;
	since[0] = less_of(since[0], t->end);
	for (int i = 0; i < 2; i++)
		nr[i] = s.upto[i] - since[i];
	all = shown = nr[0] + nr[1];
	if (nr[0] + less_of(early, nr[1]) > room + SPARE)
		shown = room;
	for (int i = 0; i < 2; i++)
		s.from[i] = s.upto[i] - less_of(nr[i], shown);
	s.since = since[0] + since[1];
	s.end = s.since + all;
	s.first = s.end - shown;
	return s;
}
