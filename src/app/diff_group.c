// SPDX-License-Identifier: MIT
/* Counts, histograms and samples of a group. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/diff_priv.h"
#include "base/text.h"

#define FIRST_SAMPLES	16u
#define FEWEST_SAMPLES	64u

void diff_side_init(struct diff_side *s)
{
	*s = (struct diff_side){
		.sample_max = DIFF_SAMPLES, .block_ns = DIFF_FIRST_BLOCK,
		.seed = UINT64_C(0x9e3779b97f4a7c15),
	};
}

static void free_group(struct diff_group *g)
{
	for (uint32_t i = 0; i < DIFF_PAGES; i++)
		free(g->page[i]);
	free(g->sample);
	free(g->name);
	free(g);
}

void diff_side_release(struct diff_side *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		free_group(s->group[i]);
	free(s->group);
	tacho_hashmap_release(&s->by_name);
	*s = (struct diff_side){ 0 };
}

/* ---- names ---- */

/* Names are cut, so that the same ones are found again. */
static size_t name_len(const char *name)
{
	return strnlen(name, DIFF_NAME_MAX);
}

static bool is_group(const struct diff_group *g, enum app_diff_kind kind, const char *name,
		     size_t len)
{
	return g->kind == kind && strlen(g->name) == len && !memcmp(g->name, name, len);
}

/* Where it is, or the key with which it is to be stored. */
static struct diff_group *look_up(const struct diff_side *s, enum app_diff_kind kind,
				  const char *name, size_t len, uint64_t *key)
{
	struct diff_group *g;

	*key = tacho_hash(name, len, (uint64_t)kind + 1);
	while ((g = tacho_hashmap_get(&s->by_name, *key)) && !is_group(g, kind, name, len))
		++*key;
	return g;
}

struct diff_group *diff_group_find(const struct diff_side *s, enum app_diff_kind kind,
				   const char *name)
{
	uint64_t key;

	return look_up(s, kind, name, name_len(name), &key);
}

static int add_group(struct diff_side *s, struct diff_group *g, uint64_t key)
{
	if (s->nr == s->room) {
		uint32_t room = s->room ? 2 * s->room : 64;
		struct diff_group **bigger = reallocarray(s->group, room, sizeof(*s->group));

		if (!bigger)
			return -ENOMEM;
		s->group = bigger;
		s->room = room;
	}
	if (tacho_hashmap_set(&s->by_name, key, g))
		return -ENOMEM;
	s->group[s->nr++] = g;
	return 0;
}

struct diff_group *diff_group_get(struct diff_side *s, enum app_diff_kind kind, const char *name,
				  int *err)
{
	size_t len = name_len(name);
	uint64_t key;
	struct diff_group *g = look_up(s, kind, name, len, &key);

	*err = 0;
	if (g || s->nr == APP_DIFF_GROUPS)
		return g;
	g = calloc(1, sizeof(*g));
	if (g) {
		g->kind = kind;
		g->name = strndup(name, len);
	}
	if (g && g->name && !add_group(s, g, key))
		return g;
	if (g)
		free_group(g);
	*err = -ENOMEM;
	return NULL;
}

/* ---- blocks of time ---- */

static void merge_blocks(struct diff_side *s)
{
	s->block_ns *= 2;
	for (uint32_t i = 0; i < s->nr; i++) {
		uint64_t *b = s->group[i]->block;

		for (uint32_t k = 0; k < DIFF_TIME_BLOCKS / 2; k++)
			b[k] = b[2 * k] + b[2 * k + 1];
		memset(b + DIFF_TIME_BLOCKS / 2, 0, DIFF_TIME_BLOCKS / 2 * sizeof(*b));
	}
}

void diff_group_count(struct diff_side *s, struct diff_group *g, uint64_t time)
{
	uint64_t since = time > s->begin ? time - s->begin : 0;

	while (since / s->block_ns >= DIFF_TIME_BLOCKS)
		merge_blocks(s);
	g->count++;
	g->block[since / s->block_ns]++;
}

/* ---- samples ---- */

static uint64_t random_below(struct diff_side *s, uint64_t n)
{
	/* xorshift64*; the bias of the remainder is below 2^-32 for all counts that occur */
	s->seed ^= s->seed >> 12;
	s->seed ^= s->seed << 25;
	s->seed ^= s->seed >> 27;
	return s->seed * UINT64_C(0x2545f4914f6cdd1d) % n;
}

/* Drops random samples until n are left. */
static void thin(struct diff_side *s, struct diff_group *g, uint32_t n)
{
	while (g->nr_samples > n) {
		uint64_t i = random_below(s, g->nr_samples);

		g->sample[i] = g->sample[--g->nr_samples];
	}
}

static int set_room(struct diff_side *s, struct diff_group *g, uint32_t room)
{
	struct diff_sample *p = reallocarray(g->sample, room, sizeof(*p));

	if (!p)
		return -ENOMEM;
	s->samples += room;
	s->samples -= g->room;
	g->sample = p;
	g->room = room;
	return 0;
}

/* More than the budget: every group may have half. */
static int shrink(struct diff_side *s)
{
	s->sample_max /= 2;
	for (uint32_t i = 0; i < s->nr; i++) {
		struct diff_group *g = s->group[i];

		thin(s, g, s->sample_max);
		if (g->room > s->sample_max && set_room(s, g, s->sample_max))
			return -ENOMEM;
	}
	return 0;
}

static int keep_sample(struct diff_side *s, struct diff_group *g, uint64_t ns)
{
	const struct diff_sample sample = { ns, g->timed - 1 };
	uint64_t i;

	if (g->nr_samples == g->room && g->room < s->sample_max) {
		uint32_t room = g->room ? 2 * g->room : FIRST_SAMPLES;

		while (s->samples + room > DIFF_SIDE_SAMPLES && s->sample_max > FEWEST_SAMPLES)
			if (shrink(s))
				return -ENOMEM;
		if (room <= s->sample_max && set_room(s, g, room))
			return -ENOMEM;
	}
	/* a reservoir: the n-th value is kept with probability room / n */
	if (g->timed <= g->room) {
		g->sample[g->nr_samples++] = sample;
		return 0;
	}
	i = random_below(s, g->timed);
	if (i >= g->room)
		return 0;
	if (g->nr_samples < g->room)
		g->sample[g->nr_samples++] = sample;
	else
		g->sample[i] = sample;
	return 0;
}

static int by_nr(const void *a, const void *b)
{
	const struct diff_sample *x = a, *y = b;

	return (x->nr > y->nr) - (x->nr < y->nr);
}

static int by_ns(const void *a, const void *b)
{
	const struct diff_sample *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : by_nr(a, b);
}

void diff_samples_by_nr(struct diff_group *g)
{
	if (g->nr_samples)
		qsort(g->sample, g->nr_samples, sizeof(*g->sample), by_nr);
}

void diff_samples_by_ns(struct diff_group *g)
{
	if (g->nr_samples)
		qsort(g->sample, g->nr_samples, sizeof(*g->sample), by_ns);
}

/* ---- histograms ---- */

static void place_of(uint64_t ns, uint32_t *page, uint32_t *slot)
{
	uint32_t log = ns < DIFF_SUB ? 5u : 63u - (uint32_t)__builtin_clzll(ns);

	*page = log - 5;
	*slot = (uint32_t)(*page ? ns >> (log - 6) : ns) & (DIFF_SUB - 1);
}

static uint64_t value_of(uint32_t page, uint32_t slot)
{
	if (!page)
		return slot;
	return ((uint64_t)(DIFF_SUB + slot) << (page - 1)) + ((UINT64_C(1) << (page - 1)) >> 1);
}

int diff_group_time(struct diff_side *s, struct diff_group *g, uint64_t ns)
{
	uint32_t page, slot;

	g->timed++;
	g->sum += (double)ns;
	g->max = ns > g->max ? ns : g->max;
	place_of(ns, &page, &slot);
	if (!g->page[page] && s->pages < DIFF_SIDE_PAGES) {
		g->page[page] = calloc(DIFF_SUB, sizeof(*g->page[page]));
		if (!g->page[page])
			return -ENOMEM;
		s->pages++;
	}
	if (g->page[page])
		g->page[page][slot]++;
	else
		g->coarse = true;
	return keep_sample(s, g, ns);
}

/* Of the samples, which are sorted by duration. */
static uint64_t sample_quantile(const struct diff_group *g, double q)
{
	uint32_t i = (uint32_t)(q * g->nr_samples);

	return g->nr_samples ? g->sample[i < g->nr_samples ? i : g->nr_samples - 1].ns : 0;
}

uint64_t diff_group_quantile(const struct diff_group *g, double q)
{
	uint64_t want, seen = 0, v;

	if (g->coarse)
		return sample_quantile(g, q);
	/* the smallest value that at least this many do not exceed; 0.07 * 100 is a bit above 7 */
	want = (uint64_t)ceil(q * (double)g->timed * (1 - 1e-12));
	want += !want;
	for (uint32_t page = 0; page < DIFF_PAGES; page++) {
		for (uint32_t i = 0; g->page[page] && i < DIFF_SUB; i++) {
			seen += g->page[page][i];
			if (seen < want)
				continue;
			v = value_of(page, i);
			return v < g->max ? v : g->max;
		}
	}
	return g->max;
}
