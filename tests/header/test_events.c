/* SPDX-License-Identifier: MIT */
/*
 * What trace headers record: layouts, bytes, texts.  Compiled as C and as
 * C++ (test_events_cpp.cc), with the same expectations.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

#include "unit/test.h"
#include "mock.h"

#define CREATE_TRACE_POINTS
#include "sample_trace.h"

#include "other.h"

int sample_evaluated;

/* Bytes of a record from `at` on, in hex. */
static const char *hex(const struct mock_record *r, size_t at, size_t n)
{
	static char text[4096];
	size_t i;

	text[0] = '\0';
	for (i = 0; r && i < n && at + i < r->len; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", r->raw[at + i]);
	return text;
}

static const char *format_of(const char *name)
{
	const struct tacho_event *ev = mock_event("sample", name, 0);

	return ev ? mock_format(ev) : "no such event";
}

static const char *text_of(unsigned int i)
{
	const struct mock_record *r = mock_record(i);

	return r ? mock_text(r) : "no such record";
}

static void test_task_switch(void)
{
	static const struct sample_task a = { "first", 12, 120, 2 };
	static const struct sample_task b = { "second", -3, 99, 0 };
	const struct mock_record *r;

	CHECK_STR(format_of("task_switch"),
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
		"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
		"REC->prev_comm, REC->prev_pid, REC->prev_prio, "
		"(REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", "
		"{ 0x0001, \"S\" }, { 0x0002, \"D\" }, { 0x0004, \"T\" }) : \"R\", "
		"REC->prev_state & 0x100 ? \"+\" : \"\", "
		"REC->next_comm, REC->next_pid, REC->next_prio\n");
	mock_clear();
	trace_task_switch(false, &a, &b);
	trace_task_switch(true, &b, &a);
	r = mock_record(0);
	if (!CHECK(r) || !CHECK_EQ(r->len, 64))
		return;
	CHECK_STR(hex(r, 0, 64),
		"0000000000000000"
		"66697273740000000000000000000000" "0c000000" "78000000"
		"0200000000000000"
		"7365636f6e6400000000000000000000" "fdffffff" "63000000");
	CHECK_STR(text_of(0), "prev_comm=first prev_pid=12 prev_prio=120 prev_state=D ==> next_comm=second next_pid=-3 next_prio=99");
	CHECK_STR(text_of(1), "prev_comm=second prev_pid=-3 prev_prio=99 prev_state=R+ ==> next_comm=first next_pid=12 next_prio=120");
}

static void trace_every(const char *name, const char *piece, int piece_len,
			const char *fmt, ...)
{
	static const u16 list[] = { 1, 2, 0xffff };
	static const unsigned long mask[] = { 5, 1 };
	static const unsigned char cpus[TACHO_CPUMASK_BYTES] = { 3 };
	static const unsigned char addr[16] = { 2, 0, 0, 80, 127, 0, 0, 1 };
	struct va_format vaf;
	va_list ap;

	va_start(ap, fmt);
	vaf.fmt = fmt;
	vaf.va = &ap;
	trace_every_field(name, 3, list, mask, cpus, addr, piece, piece_len,
			  BLUE, &vaf);
	va_end(ap);
}

static void test_every_field(void)
{
	const struct mock_record *r;
	uint64_t where;
	const char *const name = "Jane";

	CHECK_STR(format_of("every_field"),
		"\tfield:u8 small;\toffset:8;\tsize:1;\tsigned:0;\n"
		"\tfield:u64 large;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:bool flag;\toffset:24;\tsize:1;\tsigned:0;\n"
		"\tfield:enum colour colour;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:struct point point;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:const void * where;\toffset:40;\tsize:8;\tsigned:0;\n"
		"\tfield:u8 mac[2 * 3];\toffset:48;\tsize:6;\tsigned:0;\n"
		"\tfield:double real;\toffset:56;\tsize:8;\tsigned:0;\n"
		"\tfield:wide_int wide;\toffset:64;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc u16[] list;\toffset:68;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] name;\toffset:72;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] piece;\toffset:76;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] text;\toffset:80;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc unsigned long[] mask;\toffset:84;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc cpumask_t[] cpus;\toffset:88;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u8[] addr;\toffset:92;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"small=%u large=%llx flag=%d colour=%s mac=%s real=%f wide=%d list=%s n=%u name=\\\"%s\\\" piece=%s text=%s\" \" mask=%s size=%d\\n\", "
		"REC->small, REC->large, REC->flag, "
		"__print_symbolic(REC->colour, { RED, \"red\" }, { GREEN, \"green\" }, { BLUE, \"blue\" }), "
		"__print_hex(REC->mac, 6), REC->real, REC->wide, "
		"__print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / 2, 2), "
		"__get_dynamic_array_len(list) / 2, __get_str(name), __get_str(piece), __get_str(text), "
		"__get_bitmask(mask), (int)sizeof(struct point)\n");

	mock_clear();
	sample_evaluated = 0;
	trace_every(name, "pieces of eight", 6, "%d-%s", 31, "x");
	/* the length of list and the source of name: once each */
	CHECK_EQ(sample_evaluated, 2);
	r = mock_record(0);
	if (!CHECK(r))
		return;
	/* 96 fixed, then 6 + 5 + 7 + 5 + 16 + 128 + 16, no padding */
	CHECK_EQ(r->len, 96 + 6 + 5 + 7 + 5 + 16 + 128 + 16);
	CHECK_STR(hex(r, 8, 8), "ab00000000000000");
	CHECK_STR(hex(r, 16, 8), "8877665544332211");
	CHECK_STR(hex(r, 24, 4), "01000000");
	CHECK_STR(hex(r, 28, 4), "fdffffff");
	CHECK_STR(hex(r, 32, 6), "07000000f8ff");
	memcpy(&where, r->raw + 40, 8);
	CHECK_EQ(where, (uintptr_t)name);
	CHECK_STR(hex(r, 48, 8), "1111111111110000");
	CHECK_STR(hex(r, 56, 8), "0000000000000440");
	CHECK_STR(hex(r, 64, 4), "ffffffff");
	/* offset | length << 16, one behind the other */
	CHECK_STR(hex(r, 68, 28), "60000600" "66000500" "6b000700" "72000500"
		  "77001000" "87008000" "07011000");
	CHECK_STR(hex(r, 96, 6), "01000200ffff");
	CHECK_STR(hex(r, 102, 5), "4a616e6500");
	CHECK_STR(hex(r, 107, 7), "70696563657300");
	CHECK_STR(hex(r, 114, 5), "33312d7800");
	CHECK_STR(hex(r, 119, 16), "05000000000000000100000000000000");
	CHECK_STR(hex(r, 135, 4), "03000000");
	CHECK_STR(hex(r, 263, 8), "020000507f000001");
	/* the bytes up to a multiple of 8 are zero, not the stack's */
	CHECK_EQ(r->raw[279], 0);

	/* NULL strings, and a source that is shorter than its length */
	mock_clear();
	trace_every(NULL, NULL, 2, "%s", "");
	trace_every("", "ab", 5, "%s", "");
	r = mock_record(0);
	if (CHECK(r))
		CHECK_STR(hex(r, 102, 7 + 3), "286e756c6c2900" "286e00");
	r = mock_record(1);
	if (CHECK(r))
		CHECK_STR(hex(r, 102, 1 + 6), "00" "616200000000");
}

static void test_class(void)
{
	CHECK_STR(format_of("request_end"),
		"\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] path;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"id=%u path=%s\", REC->id, __get_str(path)\n");
	mock_clear();
	trace_request_start(1, "/a");
	trace_request_end(2, NULL);
	trace_request_fail(3, "/c");
	other_request(4, "/d");
	CHECK_STR(text_of(0), "id=1 path=/a");
	CHECK_STR(text_of(1), "id=2 path=(null)");
	CHECK_STR(text_of(2), "FAILED /c (3)");
	CHECK_STR(text_of(3), "id=4 path=/d");
	CHECK(!mock_record(4));
	if (mock_record(3)) {
		CHECK_STR(mock_record(3)->ev->name, "request_start");
		CHECK_STR(mock_record(3)->ev->system, "sample");
	}
}

static void test_conditions(void)
{
	mock_clear();
	sample_evaluated = 0;
	trace_request_odd(2, "/even");
	trace_request_odd(3, "/odd");
	trace_negative(5);
	trace_negative(-5);
	CHECK_EQ(sample_evaluated, 3);
	CHECK_STR(text_of(0), "id=3 path=/odd");
	CHECK_STR(text_of(1), "-5");
	CHECK(!mock_record(2));

	mock_set_all(0);
	CHECK(!trace_negative_enabled());
	trace_negative(-6);
	trace_every("off", "x", 1, "%s", "y");
	CHECK_EQ(sample_evaluated, 3);
	CHECK(!mock_record(2));
	mock_set_all(1);
	CHECK(trace_negative_enabled());
}

static void test_relative(void)
{
	static const u32 list[] = { 0x01020304, 5 };
	static const unsigned long mask[] = { 0x80 };
	static const unsigned char cpus[TACHO_CPUMASK_BYTES] = { 1 };
	const struct mock_record *r;

	CHECK_STR(format_of("relative"),
		"\tfield:u8 first;\toffset:8;\tsize:1;\tsigned:0;\n"
		"\tfield:__rel_loc char[] a;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:__rel_loc char[] b;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\tfield:__rel_loc u32[] list;\toffset:20;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc unsigned long[] mask;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc cpumask_t[] cpus;\toffset:28;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc u8[] addr;\toffset:32;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"a=%s b=%s n=%d\", __get_rel_str(a), __get_rel_str(b), __get_rel_dynamic_array_len(list)\n");
	mock_clear();
	trace_relative("A", "bcdef", list, 2, mask, cpus, "\1\2\3\4");
	r = mock_record(0);
	if (!CHECK(r))
		return;
	CHECK_EQ(r->len, 36 + 2 + 4 + 8 + 8 + 128 + 4);
	/* data at 36, 38, 42, 50, 58, 186; words end at 16, 20, ... 36 */
	CHECK_STR(hex(r, 12, 24), "14000200" "12000400" "12000800" "16000800"
		  "1a008000" "96000400");
	CHECK_STR(hex(r, 36, 22), "4100" "62636400" "0403020105000000"
		  "8000000000000000");
	CHECK_STR(hex(r, 186, 4), "01020304");
	CHECK_STR(text_of(0), "a=A b=bcd n=8");
}

static void test_odd_ones(void)
{
	static const struct point p = { 100, 0 };

	mock_clear();
	trace_nothing();
	trace_crowd(1, 1, 1, 1, 1, 1, 1, 1, 1, 1.5, p, "x", 1, 1);
	trace_never(1);
	CHECK(!trace_never_enabled());
	CHECK(!mock_event("sample", "never", 0));
	CHECK_STR(format_of("nothing"), "\nprint fmt: \"nothing\"\n");
	if (CHECK(mock_record(0)))
		CHECK_EQ(mock_record(0)->len, 8);
	CHECK_STR(text_of(0), "nothing");
	CHECK_STR(text_of(1), "sum=113");

	CHECK_EQ(mock_eval("sample", "RED", 77), 0);
	CHECK_EQ(mock_eval("sample", "GREEN", 77), 5);
	CHECK_EQ(mock_eval("sample", "BLUE", 77), -3);
	CHECK_EQ(mock_eval("sample", "sizeof(struct point)", 77), 8);
}

/* Sizes around each limit: stack, scratch, too large. */
static void test_sizes(void)
{
	static unsigned char data[70000];
	static const struct {
		size_t n;
		unsigned int scratch, lost;
	} t[] = {
		{ 0, 0, 0 }, { 1, 0, 0 }, { 1024 - 16, 0, 0 },
		{ 1024 - 15, 1, 0 }, { 65520 - 16, 1, 0 }, { 65520 - 15, 0, 1 },
		{ 65535, 0, 1 }, { 65536, 0, 1 }, { 70000, 0, 1 },
		{ (size_t)-1, 0, 1 }, { (size_t)-16, 0, 1 },
		{ (size_t)1 << 32, 0, 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const unsigned int lost = mock_lost_big();
		const unsigned int scratch = mock_scratch_used();
		const struct mock_record *r;

		mock_clear();
		trace_blob(data, t[i].n);
		r = mock_record(0);
		CHECK_EQ(mock_lost_big() - lost, t[i].lost);
		CHECK_EQ(mock_scratch_used() - scratch, t[i].scratch);
		CHECK_EQ(mock_scratch_out(), 0);
		CHECK_EQ(!r, t[i].lost);
		if (!r)
			continue;
		CHECK_EQ(r->len, 16 + t[i].n);
		CHECK(!memcmp(r->raw + 16, data, t[i].n));
		CHECK_STR(text_of(0), "42");
	}
	mock_clear();
	trace_large_array(9);
	if (CHECK(mock_record(0))) {
		CHECK_EQ(mock_record(0)->len, 8 + 4096 + 4);
		CHECK_EQ(mock_record(0)->raw[8 + 4095], 'x');
		CHECK_STR(text_of(0), "9");
	}
	CHECK_EQ(mock_scratch_out(), 0);
}

/* The same events in a library: linked, opened, closed, opened again. */
static void test_library(const char *path)
{
	const unsigned int before = mock_objects();
	int round;

	CHECK(mock_event("sample", "request_start", 0));
	CHECK(!mock_event("sample", "request_start", 1));
	for (round = 0; round < 3; round++) {
		void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void (*call)(unsigned int);

		if (!CHECK(lib))
			return;
		CHECK_EQ(mock_objects(), before + 1);
		CHECK(mock_event("sample", "request_start", 1));
		CHECK(!mock_event("sample", "request_start", 2));
		*(void **)&call = dlsym(lib, "plugin_request");
		mock_clear();
		if (CHECK(call))
			call(8);
		trace_request_start(9, "/program");
		CHECK_STR(text_of(0), "id=8 path=/plugin");
		CHECK_STR(text_of(1), "id=9 path=/program");
		if (mock_record(1))
			CHECK(mock_record(0)->ev != mock_record(1)->ev);
		dlclose(lib);
		CHECK_EQ(mock_objects(), before);
	}
	trace_request_start(10, "/after");
	CHECK_STR(text_of(0), "id=10 path=/after");
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_task_switch());
	TEST(test_every_field());
	TEST(test_class());
	TEST(test_conditions());
	TEST(test_relative());
	TEST(test_odd_ones());
	TEST(test_sizes());
	TEST(test_library(PLUGIN));
	mock_clear();
	return test_done();
}
