// SPDX-License-Identifier: MIT
/*
 * quantile(x, q): the value below which a part q of the values is (nearest rank).
 *
 * Up to EXACT_MAX values are kept and sorted: the answer is one of them.  More are counted
 * in buckets: a number's sign, exponent and first ten bits of its fraction.  So a bucket's
 * numbers differ by less than 0.1 %, and the answer is the one that is nearest to 0.  Integers up
 * to 2048 have a bucket each.  A page of 1,024 buckets is allocated for each power of two that
 * occurs: an aggregate has 512 KiB, or a few pages of 8 KiB, and 32 MiB at the very most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sql/tables.h"

#define EXACT_MAX	65536u
#define BITS		10		/* of a fraction */
#define PAGES		4096u		/* sign and exponent */
#define BUCKETS		(1u << BITS)

struct quantile {
	uint64_t nr;
	double q;
	bool real;		/* some value was no integer */
	bool bad_q, no_memory;
	double *value;		/* NULL: buckets */
	uint32_t room;
	uint64_t **page;
};

/* Orders doubles as integers. */
static uint64_t order_of(double v)
{
	uint64_t bits;

	if (v == 0)
		v = 0;		/* -0 is 0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t order)
{
	uint64_t bits = order >> 63 ? order & ~(UINT64_C(1) << 63) : ~order;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void count(struct quantile *a, double v)
{
	uint64_t bucket = order_of(v) >> (52 - BITS);
	uint64_t **page = &a->page[bucket >> BITS];

	if (!*page)
		*page = calloc(BUCKETS, sizeof(**page));
	if (*page)
		(*page)[bucket % BUCKETS]++;
	else
		a->no_memory = true;
}

/* Too many to keep: from now on they are counted. */
static void begin_counting(struct quantile *a)
{
	a->page = calloc(PAGES, sizeof(*a->page));
	if (!a->page) {
		a->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < a->nr; i++)
		count(a, a->value[i]);
	free(a->value);
	a->value = NULL;
}

static void keep(struct quantile *a, double v)
{
	if (a->nr == a->room) {
		uint32_t room = a->room ? 2 * a->room : 64;
		double *value = reallocarray(a->value, room, sizeof(*value));

		if (!value) {
			a->no_memory = true;
			return;
		}
		a->value = value;
		a->room = room;
	}
	a->value[a->nr] = v;
}

static void step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct quantile *a = sqlite3_aggregate_context(ctx, sizeof(*a));
	int type = sqlite3_value_numeric_type(argv[0]);
	double v;

	(void)argc;
	if (!a || a->no_memory || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	a->q = sqlite3_value_double(argv[1]);
	a->bad_q = sqlite3_value_numeric_type(argv[1]) == SQLITE_NULL || !(a->q >= 0 && a->q <= 1);
	v = sqlite3_value_double(argv[0]);
	if (isnan(v))
		return;
	a->real |= type == SQLITE_FLOAT;
	if (!a->page && a->nr == EXACT_MAX)
		begin_counting(a);
	if (a->no_memory)
		return;
	if (a->page)
		count(a, v);
	else
		keep(a, v);
	a->nr += !a->no_memory;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double answer(struct quantile *a)
{
	double exact = ceil(a->q * (double)a->nr);
	uint64_t rank = exact < 1 ? 1 : exact >= (double)a->nr ? a->nr : (uint64_t)exact;

	if (!a->page) {
		qsort(a->value, (size_t)a->nr, sizeof(*a->value), by_value);
		return a->value[rank - 1];
	}
	for (uint64_t p = 0; p < PAGES; p++)
		for (uint64_t b = 0; a->page[p] && b < BUCKETS; b++) {
			uint64_t order = (p << BITS | b) << (52 - BITS);

			if (rank > a->page[p][b]) {
				rank -= a->page[p][b];
				continue;
			}
			/* the order of negative numbers is from the largest size down */
			return value_of(order >> 63 ? order :
					order | ((UINT64_C(1) << (52 - BITS)) - 1));
		}
	return 0;
}

static void finish(sqlite3_context *ctx)
{
	struct quantile *a = sqlite3_aggregate_context(ctx, 0);

	if (!a)
		return;
	if (a->no_memory) {
		sqlite3_result_error_nomem(ctx);
	} else if (a->nr && a->bad_q) {
		sqlite3_result_error(ctx, "quantile(x, q): q is a number from 0 to 1", -1);
	} else if (a->nr) {
		double v = answer(a);

		if (a->real || fabs(v) >= 9.2e18)
			sqlite3_result_double(ctx, v);
		else
			sqlite3_result_int64(ctx, (sqlite3_int64)v);
	}
	for (uint32_t i = 0; a->page && i < PAGES; i++)
		free(a->page[i]);
	free(a->page);
	free(a->value);
}

int sql_quantile_register(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "quantile", 2,
					  SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
					  NULL, NULL, step, finish, NULL);
}
