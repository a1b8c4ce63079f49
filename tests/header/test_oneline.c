/* SPDX-License-Identifier: MIT */
/* tacho_printk and the markers, as C and as C++ (test_oneline_cpp.cc). */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <tacho/marker.h>
#include <tacho/printk.h>

#include "unit/test.h"
#include "mock.h"
#include "oneline.h"

/* A float in printf's arguments is the point here. */
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#ifdef __clang__
/* So is a char pointer for %p. */
#pragma GCC diagnostic ignored "-Wformat-pedantic"
#endif

static const char *text_of(unsigned int i)
{
	const struct mock_record *r = mock_record(i);

	return r ? mock_text(r) : "no such record";
}

static const char *format_of(unsigned int i)
{
	const struct mock_record *r = mock_record(i);

	return r ? mock_format(r->ev) : "no such record";
}

static const char *name_of(unsigned int i)
{
	const struct mock_record *r = mock_record(i);

	return r ? r->ev->name : "no such record";
}

static int evaluated;

static int count(int n)
{
	evaluated++;
	return n;
}

enum shape { ROUND, SQUARE = 7 };

/* 'c' is an int in C. */
#ifdef __cplusplus
#define CHAR_AND_NEXT \
		"\tfield:char arg2;\toffset:16;\tsize:1;\tsigned:1;\n" \
		"\tfield:signed char arg3;\toffset:17;\tsize:1;\tsigned:1;\n" \
		"\tfield:short arg4;\toffset:18;\tsize:2;\tsigned:1;\n"
#else
#define CHAR_AND_NEXT \
		"\tfield:int arg2;\toffset:16;\tsize:4;\tsigned:1;\n" \
		"\tfield:signed char arg3;\toffset:20;\tsize:1;\tsigned:1;\n" \
		"\tfield:short arg4;\toffset:22;\tsize:2;\tsigned:1;\n"
#endif

static void test_types(void)
{
	const char array[] = "array";
	char *const null = NULL;
	const float f = 0.25f;
	char name[64];
	const int line = __LINE__ + 3;

	mock_clear();
	tacho_printk("%d %s %c %hhd %hd %ld %llu", -1, "two", 'c', (signed char)-4, (short)5, 6L, 7ULL);
	tacho_printk("%u %s %s %f %f %p", 8u, array, null, f, 1e10, (void *)(uintptr_t)0x1234);
	tacho_printk("%d %d %#lx", (bool)1, SQUARE, (unsigned long)0xabc);
	tacho_printk("nothing at all, 100%%");
	CHECK_STR(format_of(0),
		"\tfield:int arg0;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] arg1;\toffset:12;\tsize:4;\tsigned:1;\n"
		CHAR_AND_NEXT
		"\tfield:long arg5;\toffset:24;\tsize:8;\tsigned:1;\n"
		"\tfield:unsigned long long arg6;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"%d %s %c %hhd %hd %ld %llu\", REC->arg0, __get_str(arg1), REC->arg2, REC->arg3, REC->arg4, REC->arg5, REC->arg6\n");
	CHECK_STR(format_of(1),
		"\tfield:unsigned int arg0;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] arg1;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] arg2;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\tfield:double arg3;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:double arg4;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:void * arg5;\toffset:40;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"%u %s %s %f %f %p\", REC->arg0, __get_str(arg1), __get_str(arg2), REC->arg3, REC->arg4, REC->arg5\n");
	CHECK_STR(text_of(0), "-1 two c -4 5 6 7");
	CHECK_STR(text_of(1), "8 array (null) 0.250000 10000000000.000000 "
		  "0000000000001234");
	CHECK_STR(text_of(2), "1 7 0xabc");
	CHECK_STR(text_of(3), "nothing at all, 100%");
	(void)snprintf(name, sizeof(name), "test_types_%d", line);
	CHECK_STR(name_of(0), name);
	if (CHECK(mock_record(1))) {
		const unsigned char *raw = mock_record(1)->raw;
		double d;

		memcpy(&d, raw + 24, 8);
		CHECK(d > 0.24 && d < 0.26);
		memcpy(&d, raw + 32, 8);
		CHECK(d > 9e9);
		CHECK(!memcmp(raw + 48, "array\0(null)", 13));
		CHECK_EQ(mock_record(1)->len, 48 + 6 + 7);
		CHECK_STR(mock_record(1)->ev->system, "printk");
	}
}

/* What is text and where it ends is the format's to say. */
static void test_strings(void)
{
	const char no_nul[4] = { 'w', 'x', 'y', 'z' };
	const int four = 4;
	char *big;

	mock_clear();
	tacho_printk("%.*s|%.2s|%5s|%-*s|", four, no_nul, no_nul, "r", 3, "l");
	/* a char pointer that is no text, and is not read */
	tacho_printk("%p", (char *)(uintptr_t)8);
	tacho_printk("a \"quoted\" %s" " and " "joined", "text");
	CHECK_STR(text_of(2), "a \"quoted\" text and joined");
	if (CHECK(mock_record(0))) {
		CHECK_EQ(mock_record(0)->len, 8 + 6 * 4 + 5 + 3 + 2 + 2);
		CHECK(!memcmp(mock_record(0)->raw + 32, "wxyz\0wx\0r\0l", 12));
	}
	if (CHECK(mock_record(1))) {
		uint64_t p;

		memcpy(&p, mock_record(1)->raw + 8, 8);
		CHECK_EQ(p, 8);
		CHECK_STR(mock_record(1)->ev->fields[0].decl, "void * arg0");
	}

	big = (char *)malloc(70001);
	if (!CHECK(big))
		return;
	memset(big, 'b', 70000);
	big[70000] = '\0';
	mock_clear();
	tacho_printk("%.60000s", big);
	if (CHECK(mock_record(0)))
		CHECK_EQ(mock_record(0)->len, 12 + 60001);
	{
		const unsigned int lost = mock_lost_big();

		tacho_printk("%s", big);
		CHECK_EQ(mock_lost_big(), lost + 1);
		CHECK(!mock_record(1));
	}
	CHECK_EQ(mock_scratch_out(), 0);
	free(big);
}

static void test_evaluation(void)
{
	int i;

	mock_clear();
	evaluated = 0;
	for (i = 0; i < 3; i++)
		tacho_printk("%d %d %d %d %d %d %d %d %d %d", count(i), 1, 2, 3,
			     4, 5, 6, 7, 8, 9);
	CHECK_EQ(evaluated, 3);
	CHECK_STR(text_of(2), "2 1 2 3 4 5 6 7 8 9");
	mock_set_all(0);
	tacho_printk("%d", count(1));
	CHECK_EQ(evaluated, 3);
	mock_set_all(1);
	CHECK(!mock_record(3));
}

static void nested(int depth)
{
	TACHO_SPAN("outer");
	TACHO_SPAN("inner");

	if (depth > 1)
		return;
	TACHO_MARK("between");
	TACHO_COUNTER("depth", depth);
}

static void test_markers(void)
{
	mock_clear();
	nested(-1);
	TACHO_BEGIN("by hand");
	TACHO_END("by hand");
	CHECK_STR(name_of(0), "begin");
	CHECK_STR(text_of(0), "outer");
	CHECK_STR(name_of(1), "begin");
	CHECK_STR(text_of(1), "inner");
	CHECK_STR(name_of(2), "instant");
	CHECK_STR(text_of(2), "between");
	CHECK_STR(name_of(3), "counter");
	CHECK_STR(text_of(3), "depth=-1");
	CHECK_STR(format_of(3),
		"\tfield:s64 value;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"%s=%lld\", __get_str(name), REC->value\n");
	CHECK_STR(name_of(4), "end");
	CHECK_STR(text_of(4), "inner");
	CHECK_STR(text_of(5), "outer");
	CHECK_STR(format_of(6),
		"\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"%s\", __get_str(name)\n");
	CHECK_STR(text_of(6), "by hand");
	CHECK_STR(name_of(7), "end");
	CHECK(!mock_record(8));

	/* each once, although two files bring them */
	CHECK(mock_event("marker", "begin", 0));
	CHECK(!mock_event("marker", "begin", 1));
	CHECK(!mock_event("marker", "counter", 1));

	/* an end without its beginning is not recorded */
	mock_clear();
	mock_set_all(0);
	{
		TACHO_SPAN("late");
		mock_set_all(1);
	}
	CHECK(!mock_record(0));
	oneline_other();
	CHECK_STR(text_of(0), "other file");
	CHECK_STR(text_of(1), "other 5");
}

#ifdef __cplusplus
template <class T> static void of_template(T value)
{
	tacho_printk("value %d", (int)value);
}

struct object {
	int member;
	void method() const
	{
		TACHO_SPAN("method");
		tacho_printk("member %d", member);
		[this] { tacho_printk("in lambda %d", member); }();
	}
	void operator()() const
	{
		tacho_printk("called");
	}
};

enum class scoped : unsigned char { A = 200 };

static void test_cpp(void)
{
	const object o = { 4 };

	mock_clear();
	of_template(1);
	of_template(2L);
	of_template('\3');
	o.method();
	o();
	tacho_printk("%d", static_cast<int>(scoped::A));
	CHECK_STR(text_of(0), "value 1");
	CHECK_STR(text_of(1), "value 2");
	CHECK_STR(text_of(2), "value 3");
	CHECK(mock_record(0) && mock_record(1) &&
	      mock_record(0)->ev != mock_record(1)->ev);
	CHECK_STR(text_of(3), "method");
	CHECK_STR(text_of(4), "member 4");
	CHECK_STR(text_of(5), "in lambda 4");
	CHECK_STR(text_of(6), "method");
	CHECK_STR(text_of(7), "called");
	CHECK(!strncmp(name_of(7), "operator___", 11));
	CHECK_STR(text_of(8), "200");

	mock_clear();
	try {
		TACHO_SPAN("throws");
		throw 1;
	} catch (int) {
	}
	CHECK_STR(name_of(0), "begin");
	CHECK_STR(name_of(1), "end");
}
#endif

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_types());
	TEST(test_strings());
	TEST(test_evaluation());
	TEST(test_markers());
#ifdef __cplusplus
	TEST(test_cpp());
#endif
	mock_clear();
	return test_done();
}
