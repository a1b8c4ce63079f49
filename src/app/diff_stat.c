// SPDX-License-Identifier: MIT
/* Effects, and how sure they are: docs/diff.md. */
#include <math.h>
#include <string.h>

#include "app/diff_priv.h"

#define BLOCKS		32u
#define FEWEST		5u		/* values on each side, for delta */
#define FEWEST_MEAN	20u		/* for the mean, which one value can dominate */
#define FEWEST_BLOCKS	8u		/* of time */
#define FEWEST_EVENTS	10u		/* on both sides together */

/* ---- Student's distribution ---- */

/* P(|T| <= t), for whole degrees of freedom: the finite series in the angle. */
static double student_within(double t, int df)
{
	double angle = atan(t / sqrt(df)), c = cos(angle), s = sin(angle);
	double term = df % 2 ? c : 1, sum = 0;

	for (int k = df % 2 ? 1 : 0; k <= df - 2; k += 2) {
		sum += term;
		term *= c * c * (k + 1) / (k + 2);
	}
	return df % 2 ? M_2_PI * (angle + s * sum) : s * sum;
}

double diff_student(double alpha, double df)
{
	int whole = df < 2 ? 2 : df > 200 ? 200 : (int)df;
	double low = 0, high = 1e9;

	for (int i = 0; i < 100; i++) {
		double mid = (low + high) / 2;

		if (student_within(mid, whole) < 1 - alpha)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/* ---- the variance of a mean ---- */

/*
 * Of the mean of n values that are means of blocks.  If neighbours correlate (r > 0), the blocks
 * are worth fewer independent ones: (1 - r) / (1 + r) of them, as for a process of first order.
 */
static double variance_of_mean(const double *v, uint32_t n)
{
	double mean = 0, square = 0, lag = 0, r;

	for (uint32_t i = 0; i < n; i++)
		mean += v[i] / n;
	for (uint32_t i = 0; i < n; i++)
		square += (v[i] - mean) * (v[i] - mean);
	for (uint32_t i = 1; i < n; i++)
		lag += (v[i] - mean) * (v[i - 1] - mean);
	if (n < 2 || !(square > 0))
		return 0;
	r = n < FEWEST_BLOCKS ? 0 : lag / square;
	r = r < 0 ? 0 : r > 0.9 ? 0.9 : r;
	return square / (n - 1) / n * (1 + r) / (1 - r);
}

/* Two independent means: their common error and its degrees of freedom (Welch). */
static void join(double va, uint32_t na, double vb, uint32_t nb, double floor,
		 struct diff_estimate *e)
{
	double both = va + vb;
	double down = va * va / (na - 1) + vb * vb / (nb - 1);

	e->judged = true;
	e->error = sqrt(both + floor);
	/* without variance, what the smaller side could have at most */
	e->df = down > 0 ? both * both / down : fmin(na, nb) - 1;
}

/* A sample as blocks of consecutive values, of which f makes numbers; samples are by number. */
static uint32_t to_blocks(const struct diff_group *g, const double *value, double *block)
{
	uint32_t n = g->nr_samples, nr = n < BLOCKS ? n : BLOCKS;

	for (uint32_t b = 0; b < nr; b++) {
		uint32_t from = (uint32_t)((uint64_t)n * b / nr);
		uint32_t to = (uint32_t)((uint64_t)n * (b + 1) / nr);

		block[b] = 0;
		for (uint32_t i = from; i < to; i++)
			block[b] += value[i] / (to - from);
	}
	return nr;
}

/* ---- Cliff's delta ---- */

/*
 * For each of x, in its order of numbers: the share of y below it minus the share above.  Returns
 * the sum of what is not divided yet, so that it is exact.
 */
static double placements(const struct diff_group *x, const struct diff_group *y, double *value)
{
	double sum = 0;

	for (uint32_t i = 0; i < x->nr_samples; i++) {
		uint64_t ns = x->sample[i].ns;
		uint32_t low = 0, high = y->nr_samples, below;

		while (low < high) {
			uint32_t mid = (low + high) / 2;

			if (y->sample[mid].ns < ns)
				low = mid + 1;
			else
				high = mid;
		}
		below = low;
		high = y->nr_samples;
		while (low < high) {
			uint32_t mid = (low + high) / 2;

			if (y->sample[mid].ns <= ns)
				low = mid + 1;
			else
				high = mid;
		}
		value[i] = (double)below - (y->nr_samples - low);
		sum += value[i];
		value[i] /= y->nr_samples;
	}
	return sum;
}

/*
 * Even if no value of one side is in between those of the other, the next one could be: as if two
 * of n + 4 were (Agresti and Coull), which matters for few values only.
 */
static double floor_of(uint32_t n)
{
	return 8 / ((n + 4.0) * (n + 4.0));
}

void diff_judge_delta(struct diff_group *a, struct diff_group *b, struct diff_estimate *e)
{
	static _Thread_local double value[DIFF_SAMPLES];
	double block[BLOCKS], va, vb, sum;
	uint32_t na, nb;

	*e = (struct diff_estimate){ 0 };
	if (!a || !b || a->nr_samples < FEWEST || b->nr_samples < FEWEST)
		return;
	diff_samples_by_nr(a);
	diff_samples_by_ns(b);
	(void)placements(a, b, value);
	na = to_blocks(a, value, block);
	va = variance_of_mean(block, na);
	diff_samples_by_ns(a);
	diff_samples_by_nr(b);
	sum = placements(b, a, value) / a->nr_samples / b->nr_samples;
	nb = to_blocks(b, value, block);
	vb = variance_of_mean(block, nb);
	e->effect = e->diff = sum;
	join(va, na, vb, nb, floor_of(a->nr_samples) + floor_of(b->nr_samples), e);
}

/* ---- the mean ---- */

static double mean_variance(struct diff_group *g, uint32_t *nr)
{
	static _Thread_local double value[DIFF_SAMPLES];
	double block[BLOCKS];

	diff_samples_by_nr(g);
	for (uint32_t i = 0; i < g->nr_samples; i++)
		value[i] = (double)g->sample[i].ns;
	*nr = to_blocks(g, value, block);
	return variance_of_mean(block, *nr);
}

void diff_judge_mean(struct diff_group *a, struct diff_group *b, struct diff_estimate *e)
{
	double ma, mb, va, vb;
	uint32_t na, nb;

	*e = (struct diff_estimate){ 0 };
	if (!a || !b || a->nr_samples < FEWEST_MEAN || b->nr_samples < FEWEST_MEAN)
		return;
	ma = a->sum / (double)a->timed;
	mb = b->sum / (double)b->timed;
	va = mean_variance(a, &na);
	vb = mean_variance(b, &nb);
	e->diff = mb - ma;
	e->effect = ma + mb > 0 ? (mb - ma) / (ma + mb) : 0;
	join(va, na, vb, nb, 0, e);
}

/* ---- the rate ---- */

/* Of whole blocks; the last one is seldom whole. */
static uint32_t whole_blocks(const struct diff_side *s)
{
	uint64_t n = (s->end - s->begin) / s->block_ns;

	return n < DIFF_TIME_BLOCKS ? (uint32_t)n : DIFF_TIME_BLOCKS;
}

/* Per second, with the variance of blocks and, for few events, that of a Poisson process. */
static double rate_of(const struct diff_side *s, const struct diff_group *g, uint32_t nr,
		      double *variance, double *poisson)
{
	double block[DIFF_TIME_BLOCKS] = { 0 }, second = 1e9 / (double)s->block_ns;
	double whole = (double)(s->end - s->begin) / 1e9, count = g ? (double)g->count : 0;

	for (uint32_t i = 0; g && i < nr; i++)
		block[i] = (double)g->block[i] * second;
	*variance = variance_of_mean(block, nr);
	*poisson = (count + 1) / (whole * whole);
	return count / whole;
}

void diff_judge_rate(const struct diff_side *sa, const struct diff_group *a,
		     const struct diff_side *sb, const struct diff_group *b,
		     struct diff_estimate *e)
{
	uint32_t na = whole_blocks(sa), nb = whole_blocks(sb);
	uint64_t events = (a ? a->count : 0) + (b ? b->count : 0);
	double ra, rb, va, vb, pa, pb;

	*e = (struct diff_estimate){ 0 };
	if (na < FEWEST_BLOCKS || nb < FEWEST_BLOCKS || events < FEWEST_EVENTS)
		return;
	ra = rate_of(sa, a, na, &va, &pa);
	rb = rate_of(sb, b, nb, &vb, &pb);
	e->diff = rb - ra;
	e->effect = (rb - ra) / (ra + rb);
	join(va, na, vb, nb, pa + pb, e);
}
