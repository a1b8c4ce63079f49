/* SPDX-License-Identifier: MIT */
/*
 * test.h - TAP in a page: CHECK() says what failed and where, and goes on.
 *
 *	int main(void)
 *	{
 *		test_sizes();
 *		return test_done();
 *	}
 */
#ifndef TACHO_TESTS_UNIT_TEST_H
#define TACHO_TESTS_UNIT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_nr;
static int test_failed;

__attribute__((format(printf, 4, 5), unused))
static int test_check(int ok, const char *file, int line, const char *fmt, ...)
{
	__builtin_va_list ap;

	test_nr++;
	if (ok)
		return 1;
	/* what holds is not listed: the plan counts the failures only */
	printf("not ok %d - %s:%d: ", ++test_failed, file, line);
	__builtin_va_start(ap, fmt);
	vprintf(fmt, ap);
	__builtin_va_end(ap);
	printf("\n");
	fflush(stdout);
	return 0;
}

/* One check; the value is whether it held. */
#define CHECK(cond) \
	test_check(!!(cond), __FILE__, __LINE__, "%s", #cond)

#define CHECK_EQ(a, b) __extension__ ({ \
	long long a_ = (long long)(a), b_ = (long long)(b); \
	test_check(a_ == b_, __FILE__, __LINE__, "%s is %lld, %s is %lld", \
		   #a, a_, #b, b_); })

#define CHECK_STR(a, b) __extension__ ({ \
	const char *a_ = (a), *b_ = (b); \
	test_check(!strcmp(a_, b_), __FILE__, __LINE__, \
		   "%s is\n#   '%s', not\n#   '%s'", #a, a_, b_); })

/*
 * Leaves the program; the empty plan says that it was skipped.  (Under the TAP
 * protocol any exit status but 0 is an error, 77 too.)
 */
#define SKIP(why) do { \
	printf("1..0 # SKIP %s\n", why); \
	exit(0); \
} while (0)

static inline int test_done(void)
{
	if (!test_nr)
		printf("not ok 1 - no check was run\n");
	else if (!test_failed)
		printf("ok 1 - %d checks\n", test_nr);
	printf("1..%d\n", test_failed ? test_failed : 1);
	return test_failed || !test_nr;
}

#endif
