// SPDX-License-Identifier: MIT
/* A buffer's events, of programs and of the kernel, in the order of time: L6 of state.h. */
#include <errno.h>
#include <string.h>

#include "compat/lkst/late.h"
#include "compat/lkst/priv.h"

enum { OF_PROGRAMS, OF_KERNEL };

static int open_lane(struct lkst_lane_reader *r, struct tacho_lkst *l, uint32_t lane,
		     uint32_t ring, uint64_t from)
{
	int err = tacho_ring_reader_init(&r->rd, &l->session.view.ring, lane, ring, false, from);

	r->open = !err;
	return err;
}

int lkst_merge_open(struct lkst_merge *m, struct tacho_lkst *l, uint32_t cpu, uint32_t ring,
		    uint64_t next, const uint64_t at[2], const uint64_t upto[2])
{
	const struct tacho_ring *r = &l->session.view.ring;
	uint32_t lane[2] = { cpu, lkst_late_lane(l->state, r, cpu) };
	int err = 0;

	*m = (struct lkst_merge){ .next = next };
	for (int i = 0; !err && i < 2; i++) {
		m->of[i].number = at[i];
		m->of[i].upto = upto[i];
		/* a plain lane is no CPU: there the writer has said it */
		m->of[i].cpu = i == OF_PROGRAMS && cpu < r->nr_cpus ? cpu : UINT32_MAX;
		if (at[i] < upto[i])
			err = open_lane(&m->of[i], l, lane[i], ring, at[i]);
	}
	if (err)
		lkst_merge_close(m);
	return err;
}

void lkst_merge_close(struct lkst_merge *m)
{
	for (int i = 0; i < 2; i++) {
		if (m->of[i].open)
			tacho_ring_reader_release(&m->of[i].rd);
		m->of[i].open = false;
	}
}

/* The next chunk; false: there is none. */
static bool fill(struct lkst_merge *m, struct lkst_lane_reader *r)
{
	struct tacho_chunk chunk;

	if (!r->open || tacho_ring_read(&r->rd, &chunk) != 1)
		return false;
	r->pos = chunk.data;
	r->stop = r->pos + chunk.len;
	r->last = chunk.head.timestamp_begin;
	if (chunk.head.event_first > r->number) {
		r->number = chunk.head.event_first;
		/* the time of the first one after the gap, or before it */
		m->cut = r->last > m->cut ? r->last : m->cut;
	}
	return true;
}

/*
 * Looks for the next record.  Those of others in this session are passed over, and are
 * counted, but are no loss.
 */
static void look(struct lkst_merge *m, struct lkst_lane_reader *r)
{
	while (!r->has && r->number < r->upto) {
		uint64_t word, number = m->of[0].number + m->of[1].number;
		uint32_t size;

		if (r->pos == r->stop) {
			if (!fill(m, r))
				r->number = r->upto;
			continue;
		}
		memcpy(&word, r->pos, sizeof(word));
		size = tacho_record_size(word);
		r->last = tacho_record_time(word, r->last);
		r->has = lkst_record_unpack(&r->next, r->pos + 8, size - 8, r->last);
		r->pos += size;
		if (r->has) {
			if (r->cpu != UINT32_MAX)
				r->next.cpu = (uint16_t)r->cpu;
		} else {
			r->number++;
			m->next += number == m->next;
		}
	}
}

static void pass(struct lkst_lane_reader *r)
{
	r->number++;
	r->has = false;
}

/*
 * The lane whose record is the next one; NULL: there is none.  Where some were overwritten
 * meanwhile, older ones of the other lane are missing, too: a reader is told of no gap that is
 * not one.
 */
static struct lkst_lane_reader *oldest(struct lkst_merge *m)
{
	for (;;) {
		struct lkst_lane_reader *a = &m->of[OF_PROGRAMS], *b = &m->of[OF_KERNEL], *r;

		look(m, a);
		look(m, b);
		r = !a->has || (b->has && b->next.ticks <= a->next.ticks) ? b : a;
		if (!r->has)
			return NULL;
		if (r->next.ticks >= m->cut)
			return r;
		pass(r);
	}
}

size_t lkst_merge_take(struct lkst_merge *m, struct lkst_record *to, size_t max, uint64_t *missed)
{
	struct lkst_lane_reader *r;
	size_t n = 0;

	*missed = 0;
	while (n < max && (r = oldest(m))) {
		uint64_t number = m->of[0].number + m->of[1].number;

		if (number > m->next && n)
			break;
		if (number >= m->next) {
			*missed += number - m->next;
			m->next = number + 1;
			to[n] = r->next;
			to[n++].recid = (uint32_t)number & INT32_MAX;
		}
		pass(r);
	}
	return n;
}

void lkst_merge_at(const struct lkst_merge *m, uint64_t at[2])
{
	for (int i = 0; i < 2; i++)
		at[i] = m->of[i].number;
}
