/* SPDX-License-Identifier: MIT */
/*
 * test.h - tests by name, in TAP: a line for each, with its milliseconds.
 *
 *	int main(int argc, char **argv)
 *	{
 *		test_args(argc, argv);
 *		TEST(test_sizes());
 *		TEST(test_shrink(OVERWRITE));
 *		return test_done();
 *	}
 *
 * prints
 *
 *	ok 1 - sizes (3 ms)
 *	ok 2 - shrink(OVERWRITE) (12 ms)
 *	1..2
 *
 * The program's arguments are names of tests: `test_ring sizes` runs that one alone, `test_ring
 * shrink` each shrink(...), and `test_ring --list` says what there is.  What stands outside of
 * TEST() is set-up, and always runs.  So a test must not need what another test left behind.
 *
 * CHECK() says what failed and where, and goes on.  One that fails outside of a test, or in a
 * process that a test forked, is a failed test in itself.
 */
#ifndef TACHO_TESTS_UNIT_TEST_H
#define TACHO_TESTS_UNIT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int test_nr;	/* checks that were made */
static int test_failed;	/* and that failed */

/* The names that are asked for, and the test that runs. */
static struct {
	char **wanted;
	int nr_wanted;
	int list;		/* only say what there is */
	unsigned int found;	/* one bit for each of the first names: there is such a test */
	int nr_lines;		/* numbered lines of TAP so far */
	char name[200];		/* "": none runs */
	pid_t pid;		/* the process that runs it */
	int nr_before, failed_before;
	struct timespec start;
	const char *skip;
} test_now;

/*
 * Takes the program's arguments: names of tests, or --list.  A program with arguments of its own
 * moves on first: test_args(argc - 1, argv + 1).
 */
__attribute__((unused))
static void test_args(int argc, char **argv)
{
	test_now.wanted = argc > 1 ? argv + 1 : NULL;
	test_now.nr_wanted = argc > 1 ? argc - 1 : 0;
	test_now.list = argc > 1 && !strcmp(argv[1], "--list");
}

/* Prints "ok 3 - " or "not ok 3 - "; a process that a test forked does not know the number. */
__attribute__((unused))
static void test_line(int ok)
{
	if (test_now.name[0] && getpid() != test_now.pid)
		printf("%s - ", ok ? "ok" : "not ok");
	else
		printf("%s %d - ", ok ? "ok" : "not ok", ++test_now.nr_lines);
}

__attribute__((format(printf, 4, 5), unused))
static int test_check(int ok, const char *file, int line, const char *fmt, ...)
{
	__builtin_va_list ap;

	test_nr++;
	if (ok)
		return 1;
	test_failed++;
	/* the test's own line says that it failed; here is why */
	if (test_now.name[0] && getpid() == test_now.pid)
		printf("# ");
	else
		test_line(0);
	printf("%s:%d: ", file, line);
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

/* Whether a test of this name is to run: each, or one that the arguments name. */
static inline int test_is_wanted(const char *name)
{
	size_t word = strcspn(name, "(");
	int wanted = !test_now.nr_wanted;

	for (int i = 0; i < test_now.nr_wanted; i++) {
		const char *w = test_now.wanted[i];

		if (strcmp(w, name) && (strlen(w) != word || strncmp(w, name, word)))
			continue;
		test_now.found |= 1u << (i & 31);
		wanted = 1;
	}
	return wanted;
}

/* Begins a test; 0: it is not wanted.  The call "test_sizes()" is the test "sizes". */
__attribute__((unused))
static int test_enter(const char *call)
{
	size_t len;

	if (!strncmp(call, "test_", 5) || !strncmp(call, "check_", 6))
		call += strcspn(call, "_") + 1;
	len = strlen(call);
	if (len > 2 && !strcmp(call + len - 2, "()"))
		len -= 2;
	(void)snprintf(test_now.name, sizeof(test_now.name), "%.*s", (int)len, call);
	if (test_now.list)
		printf("%s\n", test_now.name);
	if (test_now.list || !test_is_wanted(test_now.name)) {
		test_now.name[0] = '\0';
		return 0;
	}
	test_now.pid = getpid();
	test_now.skip = NULL;
	test_now.nr_before = test_nr;
	test_now.failed_before = test_failed;
	(void)clock_gettime(CLOCK_MONOTONIC, &test_now.start);
	return 1;
}

/* Ends it.  A line of its own, out at once: a child must not inherit it, nor a crash lose it. */
__attribute__((unused))
static void test_leave(void)
{
	int ok = test_failed == test_now.failed_before;
	struct timespec now;
	long ms;

	if (getpid() != test_now.pid)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (long)(now.tv_sec - test_now.start.tv_sec) * 1000 +
	     (now.tv_nsec - test_now.start.tv_nsec) / 1000000;
	test_line(ok);
	printf("%s (%ld ms)", test_now.name, ms);
	if (ok && test_now.skip)
		printf(" # SKIP %s", test_now.skip);
	else if (ok && test_nr == test_now.nr_before)
		printf(" # SKIP nothing to check in this build");
	printf("\n");
	fflush(stdout);
	test_now.name[0] = '\0';
}

/* Runs a test: a call whose text is its name. */
#define TEST(call) TEST_NAMED(#call, call)

/* The same, where several tests are one call, or the call says little. */
#define TEST_NAMED(name, call) do {	\
	if (test_enter(name)) {		\
		call;			\
		test_leave();		\
	}				\
} while (0)

/* In a test that cannot be made here: it returns after this, and its line says why. */
#define TEST_SKIP(why) ((void)(test_now.skip = (why)))

/*
 * Leaves the program; the empty plan says that it was skipped.  (Under the TAP
 * protocol any exit status but 0 is an error, 77 too.)
 */
#define SKIP(why) do { \
	printf("1..0 # SKIP %s\n", why); \
	exit(0); \
} while (0)

/* Prints the plan; the program's exit status. */
static inline int test_done(void)
{
	if (test_now.list)
		return 0;
	/* a test that left the program */
	if (test_now.name[0])
		test_leave();
	for (int i = 0; i < test_now.nr_wanted && i < 32; i++) {
		if (test_now.found & 1u << i)
			continue;
		test_failed++;
		test_line(0);
		printf("no test is called '%s'\n", test_now.wanted[i]);
	}
	if (!test_nr && !test_failed && !test_now.nr_lines) {
		test_failed++;
		test_line(0);
		printf("no check was run\n");
	} else if (!test_now.nr_lines) {
		test_line(1);
		printf("%d checks\n", test_nr);
	}
	printf("1..%d\n", test_now.nr_lines);
	return test_failed != 0;
}

#endif
