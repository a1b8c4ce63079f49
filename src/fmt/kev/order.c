// SPDX-License-Identifier: MIT
/*
 * Records in the order of time.
 *
 * What is to be sorted is nearly sorted, so: runs of 32 by insertion, then pairs of
 * runs are merged, where they are not in order already.  Both are stable: events of
 * one time keep the file's order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/kev/read_priv.h"

#define RUN	32u

int tacho_kev_chunk_grow(struct tacho_kev_chunk *c, size_t len)
{
	if (len > c->room - c->len) {
		size_t room = 2 * c->room + len + 4096;
		unsigned char *p = realloc(c->bytes, room);

		if (!p)
			return -ENOMEM;
		c->bytes = p;
		c->room = room;
	}
	if (c->nr == c->room_entries) {
		uint32_t room = 2 * c->room_entries + 256;
		struct tacho_kev_entry *p = reallocarray(c->entry, room, sizeof(*p));

		if (!p)
			return -ENOMEM;
		c->entry = p;
		c->room_entries = room;
	}
	return 0;
}

static void insertion(struct tacho_kev_entry *e, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct tacho_kev_entry moved = e[i];
		uint32_t at = i;

		for (; at && e[at - 1].time > moved.time; at--)
			e[at] = e[at - 1];
		e[at] = moved;
	}
}

/* Merges [0, mid) and [mid, n); tmp has room for mid entries. */
static void merge_runs(struct tacho_kev_entry *e, uint32_t mid, uint32_t n,
		       struct tacho_kev_entry *tmp)
{
	uint32_t a = 0, b = mid, at = 0;

	if (e[mid - 1].time <= e[mid].time)
		return;
	memcpy(tmp, e, mid * sizeof(*e));
	while (a < mid && b < n)
		e[at++] = e[b].time < tmp[a].time ? e[b++] : tmp[a++];
	while (a < mid)
		e[at++] = tmp[a++];
}

static void sort_entries(struct tacho_kev_entry *e, uint32_t n,
			 struct tacho_kev_entry *tmp)
{
	for (uint32_t at = 0; at < n; at += RUN)
		insertion(e + at, n - at < RUN ? n - at : RUN);
	for (uint32_t run = RUN; run < n; run *= 2)
		for (uint32_t at = 0; n - at > run; ) {
			uint32_t two = n - at < 2 * run ? n - at : 2 * run;

			merge_runs(e + at, run, two, tmp);
			at += two;
		}
}

static void append(struct tacho_kev_chunk *c, const struct tacho_kev_chunk *from,
		   const struct tacho_kev_entry *e)
{
	memcpy(c->bytes + c->len, from->bytes + e->at, e->size);
	c->entry[c->nr++] = (struct tacho_kev_entry){ e->time, (uint32_t)c->len,
						      e->size };
	c->len += e->size;
}

/* An empty chunk with room for all that is in two others. */
static int make_room(struct tacho_kev_chunk *c, const struct tacho_kev_chunk *a,
		     const struct tacho_kev_chunk *b)
{
	uint32_t nr = a->nr + (b ? b->nr : 0);

	c->len = 0;
	c->nr = 0;
	c->sorted = true;
	if (c->room_entries < nr) {
		struct tacho_kev_entry *p = reallocarray(c->entry, nr, sizeof(*p));

		if (!p)
			return -ENOMEM;
		c->entry = p;
		c->room_entries = nr;
	}
	return tacho_kev_chunk_grow(c, a->len + (b ? b->len : 0));
}

int tacho_kev_sort(struct tacho_kev_chunk *c, struct tacho_kev_chunk *spare)
{
	struct tacho_kev_chunk old = *c;
	int err;

	if (c->sorted)
		return 0;
	err = make_room(spare, c, NULL);
	if (err)
		return err;
	sort_entries(c->entry, c->nr, spare->entry);
	for (uint32_t i = 0; i < c->nr; i++)
		append(spare, c, &c->entry[i]);
	spare->lost = c->lost;
	*c = *spare;
	*spare = old;
	return 0;
}

int tacho_kev_merge(const struct tacho_kev_chunk *a, const struct tacho_kev_chunk *b,
		    struct tacho_kev_chunk *c, struct tacho_kev_chunk *d)
{
	uint32_t i = 0, j = 0;
	int err = make_room(c, a, b);

	if (!err)
		err = make_room(d, a, b);
	if (err)
		return err;
	c->lost = a->lost;
	d->lost = b->lost;
	while (i < a->nr || j < b->nr) {
		bool second = i == a->nr ||
			      (j < b->nr && b->entry[j].time < a->entry[i].time);

		append(c->nr < a->nr ? c : d, second ? b : a,
		       second ? &b->entry[j++] : &a->entry[i++]);
	}
	return 0;
}
