// SPDX-License-Identifier: MIT
/* The inside of a comparison: histograms, samples, Student's distribution, budgets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/diff_priv.h"
#include "unit/test.h"

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct diff_group *group(struct diff_side *s, const char *name)
{
	int err;

	return diff_group_get(s, APP_DIFF_SPAN, name, &err);
}

/* Of tables: t for 95 %, 99.9 %. */
static void test_student(void)
{
	static const struct {
		double alpha, df, t;
	} table[] = {
		{ 0.05, 2, 4.303 }, { 0.05, 3, 3.182 }, { 0.05, 9, 2.262 }, { 0.05, 10, 2.228 },
		{ 0.05, 31, 2.040 }, { 0.05, 60, 2.000 }, { 0.001, 4, 8.610 },
		{ 0.001, 5, 6.869 }, { 0.001, 30, 3.646 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		CHECK(fabs(diff_student(table[i].alpha, table[i].df) - table[i].t) < 0.001);
	CHECK(diff_student(0.05, 1e9) == diff_student(0.05, 200));
	CHECK(diff_student(1e-9, 30) > 8);
}

/* Values of all sizes: quantiles are within 1 %. */
static void test_quantiles(void)
{
	enum { NR = 20000 };
	static uint64_t value[NR];
	struct diff_side s;
	struct diff_group *g;

	for (int shift = 0; shift < 64; shift += 7) {
		diff_side_init(&s);
		g = group(&s, "x");
		for (int i = 0; i < NR; i++) {
			value[i] = next() >> (shift ? (next() % (uint64_t)shift) : 0);
			CHECK_EQ(diff_group_time(&s, g, value[i]), 0);
		}
		qsort(value, NR, sizeof(value[0]), by_value);
		for (int q = 1; q <= 1000; q++) {
			double want = (double)value[NR * q / 1000 - 1];
			double got = (double)diff_group_quantile(g, q / 1000.0);

			CHECK(fabs(got - want) <= want / 128 + 1);
		}
		CHECK_EQ(g->max, value[NR - 1]);
		CHECK(!g->coarse);
		CHECK_EQ(g->nr_samples, DIFF_SAMPLES);
		diff_side_release(&s);
	}
}

/* A reservoir of 0 to n - 1 is spread over all of them. */
static void test_reservoir(void)
{
	struct diff_side s;
	struct diff_group *g;
	uint64_t n = 100000;
	double sum = 0;

	diff_side_init(&s);
	g = group(&s, "x");
	for (uint64_t i = 0; i < n; i++)
		CHECK_EQ(diff_group_time(&s, g, i), 0);
	for (uint32_t i = 0; i < g->nr_samples; i++) {
		CHECK_EQ(g->sample[i].ns, g->sample[i].nr);
		sum += (double)g->sample[i].ns / g->nr_samples;
	}
	/* the mean of 4096 of them: five times its deviation */
	CHECK(fabs(sum - (double)n / 2) < 5 * (double)n / sqrt(12 * 4096.0));
	diff_side_release(&s);
}

/* However many groups and values: not more than the budgets. */
static void test_budgets(void)
{
	struct diff_side s;
	struct diff_group *g;
	char name[32];
	int coarse = 0;

	diff_side_init(&s);
	for (uint32_t i = 0; i < APP_DIFF_GROUPS; i++) {
		(void)snprintf(name, sizeof(name), "g%u", i);
		g = group(&s, name);
		CHECK(g != NULL);
		for (int k = 0; k < 600; k++)
			CHECK_EQ(diff_group_time(&s, g, next() >> (next() % 60)), 0);
	}
	CHECK(!group(&s, "one more"));
	CHECK(group(&s, "g17") == s.group[17]);
	CHECK(s.pages <= DIFF_SIDE_PAGES);
	CHECK(s.samples <= DIFF_SIDE_SAMPLES);
	for (uint32_t i = 0; i < s.nr; i++) {
		coarse += s.group[i]->coarse;
		CHECK(s.group[i]->nr_samples >= 64 && s.group[i]->nr_samples <= s.sample_max);
		CHECK_EQ(s.group[i]->timed, 600);
	}
	CHECK(coarse > 0);
	diff_side_release(&s);
}

/* Blocks double in length, and no count is lost. */
static void test_blocks(void)
{
	struct diff_side s;
	struct diff_group *g;
	uint64_t sum = 0;

	diff_side_init(&s);
	s.begin = 5000;
	g = group(&s, "x");
	for (uint64_t t = 0; t < 1000; t++)
		diff_group_count(&s, g, 5000 + t * 777777);
	diff_group_count(&s, g, 1);
	CHECK_EQ(s.block_ns, 16384000);
	for (uint32_t i = 0; i < DIFF_TIME_BLOCKS; i++) {
		sum += g->block[i];
		CHECK(g->block[i] <= 23);
	}
	CHECK_EQ(sum, 1001);
	CHECK_EQ(g->count, 1001);
	diff_group_count(&s, g, UINT64_MAX);
	CHECK_EQ(g->block[0] + g->block[(UINT64_MAX - 5000) / s.block_ns], 1002);
	diff_side_release(&s);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_student());
	TEST(test_quantiles());
	TEST(test_reservoir());
	TEST(test_budgets());
	TEST(test_blocks());
	return test_done();
}
