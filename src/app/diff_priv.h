/* SPDX-License-Identifier: MIT */
/*
 * diff_priv.h - the inside of a comparison.
 *
 *	diff_group.c	groups: counts by block of time, histograms, samples
 *	diff_take.c	one pass over a trace: the model's items and records into groups
 *	diff_stat.c	effects and confidence intervals
 *	diff.c		both sides into rows
 *	diff_text.c	rows as text
 *
 * Histograms are log-linear: 64 buckets for each power of two, so the middle of a bucket is within
 * 1/128 of each value in it.  A page has the buckets of one power of two.
 *
 * Blocks of time are numbered from the begin of the range.  When a block beyond the last one is
 * needed, pairs are merged, so that their length doubles: any trace longer than 32 us
 * ends with 32 to 64 blocks.
 *
 * Samples: each group keeps a reservoir.  When the side has more than its budget, each group's
 * room is halved, and random ones go.
 */
#ifndef TACHO_APP_DIFF_PRIV_H
#define TACHO_APP_DIFF_PRIV_H

#include "app/diff.h"
#include "base/hashmap.h"

#define DIFF_SUB	64u
#define DIFF_PAGES	59u
#define DIFF_TIME_BLOCKS 64u
#define DIFF_FIRST_BLOCK 1000u		/* ns */
#define DIFF_SAMPLES	4096u		/* of a group */
#define DIFF_SIDE_SAMPLES ((size_t)1 << 20)
#define DIFF_SIDE_PAGES	((size_t)32 << 10)
#define DIFF_NAME_MAX	128u

struct diff_sample {
	uint64_t ns;
	uint64_t nr;			/* in the order of its group, from 0 */
};

struct diff_group {
	enum app_diff_kind kind;
	char *name;
	uint64_t count, timed, max;
	double sum;
	uint64_t block[DIFF_TIME_BLOCKS];
	uint64_t *page[DIFF_PAGES];
	bool coarse;
	struct diff_sample *sample;
	uint32_t nr_samples, room;
	uint64_t slices;
	double part[APP_DIFF_PARTS];	/* sums */
};

struct diff_side {
	struct diff_group **group;
	uint32_t nr, room;
	struct tacho_hashmap by_name;
	size_t samples, pages;		/* allocated */
	uint32_t sample_max;		/* per group, now */
	uint64_t seed;
	uint64_t begin, end, block_ns;	/* begin: of block 0 */
	uint64_t records, left_out;
	bool matched;			/* an event that the query selects */
};

/* ---- diff_group.c ---- */

void diff_side_init(struct diff_side *s);
void diff_side_release(struct diff_side *s);

/* The group, made if need be.  NULL, *err 0: there is no room; *err -ENOMEM. */
struct diff_group *diff_group_get(struct diff_side *s, enum app_diff_kind kind, const char *name,
				  int *err);
struct diff_group *diff_group_find(const struct diff_side *s, enum app_diff_kind kind,
				   const char *name);

/* One that occurred, or ended, at a time not before s->begin. */
void diff_group_count(struct diff_side *s, struct diff_group *g, uint64_t time);

/* Its duration.  0 or -ENOMEM. */
int diff_group_time(struct diff_side *s, struct diff_group *g, uint64_t ns);

/* The value at or below which the share q (0 to 1) of all durations is. */
uint64_t diff_group_quantile(const struct diff_group *g, double q);

/* Sorts samples: by number; by duration. */
void diff_samples_by_nr(struct diff_group *g);
void diff_samples_by_ns(struct diff_group *g);

/* ---- diff_take.c ---- */

/* Fills s from one trace. */
int diff_take(struct diff_side *s, const struct app_diff_query *query,
	      const struct app_diff_input *input, const struct tacho_observer *observer,
	      struct tacho_diag *d);

/* ---- diff_stat.c ---- */

/* The two-sided quantile of Student's distribution: P(|T| <= t) = 1 - alpha. */
double diff_student(double alpha, double df);

/* An estimate before the number of comparisons is known. */
struct diff_estimate {
	bool judged;
	double effect, diff, error, df;
};

/* a and b may be NULL.  Orders samples anew. */
void diff_judge_delta(struct diff_group *a, struct diff_group *b, struct diff_estimate *e);
void diff_judge_mean(struct diff_group *a, struct diff_group *b, struct diff_estimate *e);
void diff_judge_rate(const struct diff_side *sa, const struct diff_group *a,
		     const struct diff_side *sb, const struct diff_group *b,
		     struct diff_estimate *e);

#endif
