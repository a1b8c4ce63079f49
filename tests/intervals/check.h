/* SPDX-License-Identifier: MIT */
/*
 * check.h - the invariants J1 to J5 of model/model.h, for any trace.
 *
 * Operations for a model: what it hands out is checked, and abort()ed at the first violation with
 * a sentence.  arg: a zeroed struct model_check; model_check_end() after model_finish().
 */
#ifndef TACHO_TESTS_INTERVALS_CHECK_H
#define TACHO_TESTS_INTERVALS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define CHECK_DEPTHS	64u

struct check_track {
	enum model_track_kind kind;
	uint32_t parent;
	bool used;
	uint64_t last;			/* states, running: the end of the last one */
	uint64_t end[CHECK_DEPTHS];	/* slices: the end of the last one at each depth */
	uint64_t total;			/* running: running slices; state: running states */
};

struct model_check {
	struct check_track *track;
	uint32_t nr;
	uint64_t items;
	uint64_t running_slices, running_states;	/* ns */
};

__attribute__((noreturn)) static inline void check_failed(const char *what)
{
	fprintf(stderr, "model: %s\n", what);
	abort();
}

static inline struct check_track *check_track(struct model_check *c, uint32_t id)
{
	if (id >= c->nr)
		check_failed("an item of a track that was not announced");
	return &c->track[id];
}

static inline int check_new_track(void *arg, const struct model_track *t)
{
	struct model_check *c = arg;

	if (t->id > c->nr)
		check_failed("tracks are not numbered one by one");
	if (t->id == c->nr) {
		c->track = realloc(c->track, (c->nr + 1) * sizeof(*c->track));
		if (!c->track)
			abort();
		c->track[c->nr++] = (struct check_track){ .kind = t->kind, .parent = t->parent };
	}
	if (t->parent >= c->nr || (t->id && t->parent >= t->id))
		check_failed("a track comes before its parent");
	if (c->track[t->id].kind != t->kind || c->track[t->id].parent != t->parent)
		check_failed("a track has changed");
	return 0;
}

static inline int check_slice(void *arg, const struct model_slice *s)
{
	struct model_check *c = arg;
	struct check_track *t = check_track(c, s->track);

	c->items++;
	if (s->begin > s->end)
		check_failed("J5: a slice ends before it begins");
	if (!s->name || !s->category)
		check_failed("a slice without a name");
	if (t->kind == MODEL_RUNNING) {
		if (t->used && s->begin != t->last)
			check_failed("J2: running slices with a gap, or on top of each other");
		if (s->begin == s->end)
			check_failed("an empty running slice");
		if (!strcmp(s->category, "running"))
			c->running_slices += s->end - s->begin;
		t->used = true;
		t->last = s->end;
		return 0;
	}
	if (s->depth >= CHECK_DEPTHS)
		return 0;
	/* an end without a begin on an overlapping track is a point */
	if (s->begin < t->end[s->depth] && s->begin != s->end)
		check_failed("J4: slices of one depth overlap");
	if (s->end > t->end[s->depth])
		t->end[s->depth] = s->end;
	return 0;
}

static inline int check_state(void *arg, const struct model_state *s)
{
	struct model_check *c = arg;
	struct check_track *t = check_track(c, s->track);

	c->items++;
	if (t->kind != MODEL_STATE)
		check_failed("a state on a track of something else");
	if (s->begin >= s->end)
		check_failed("an empty state");
	if (t->used && s->begin != t->last)
		check_failed("J1: states with a gap, or on top of each other");
	if ((s->state == MODEL_RUNS) != (s->cpu != MODEL_NO_CPU))
		check_failed("a state with a wrong CPU");
	if (s->state == MODEL_RUNS)
		c->running_states += s->end - s->begin;
	if (s->waker)
		(void)check_track(c, s->waker);
	t->used = true;
	t->last = s->end;
	return 0;
}

static inline int check_counter(void *arg, const struct model_counter *counter)
{
	((struct model_check *)arg)->items++;
	if (check_track(arg, counter->track)->kind != MODEL_COUNTER)
		check_failed("a value on a track of something else");
	return 0;
}

static inline int check_flow(void *arg, const struct model_flow *f)
{
	((struct model_check *)arg)->items++;
	(void)check_track(arg, f->from);
	(void)check_track(arg, f->to);
	if (f->from_time > f->to_time)
		check_failed("J5: a flow goes back in time");
	return 0;
}

static inline int check_loss(void *arg, const struct model_loss *l)
{
	((struct model_check *)arg)->items++;
	if (l->begin > l->end || !l->count)
		check_failed("a loss of nothing, or that ends before it begins");
	return 0;
}

static const struct model_ops model_check_ops = {
	.track = check_new_track, .slice = check_slice, .state = check_state,
	.counter = check_counter, .flow = check_flow, .loss = check_loss,
};

/* After model_finish(). */
static inline void model_check_end(struct model_check *c, const struct model_stats *stats)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->track[i].kind == MODEL_RUNNING && c->track[i].used &&
		    c->track[i].last != stats->last)
			check_failed("J2: the running slices of a CPU end before T1");
	if (c->running_slices != c->running_states)
		check_failed("J3: running slices and running states differ");
	free(c->track);
}

#endif
