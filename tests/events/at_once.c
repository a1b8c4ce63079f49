// SPDX-License-Identifier: MIT
/* Section 7.2.1: tracing an event at once, from arguments and from an array. */
#include "events_test.h"

static const struct synth_field_desc sched_fields[] = {
	{ .type = "pid_t",		.name = "next_pid_field" },
	{ .type = "char[16]",		.name = "next_comm_field" },
	{ .type = "u64",		.name = "ts_ns" },
	{ .type = "u64",		.name = "ts_ms" },
	{ .type = "unsigned int",	.name = "cpu" },
	{ .type = "char[64]",		.name = "my_string_field" },
	{ .type = "int",		.name = "my_int_field" },
};

/* The example of the specification from end to end. */
static void test_example(void)
{
	struct trace_event_file *schedtest_event_file;
	char want[500];
	u64 vals[7];
	u64 cpu = smp_processor_id();
	int ret;

	ret = synth_event_create("schedtest", sched_fields,
				 ARRAY_SIZE(sched_fields), THIS_MODULE);
	CHECK_EQ(ret, 0);
	schedtest_event_file = trace_get_event_file(NULL, "synthetic",
						    "schedtest");
	CHECK(!IS_ERR(schedtest_event_file));
	ret = trace_array_set_clr_event(schedtest_event_file->tr,
					"synthetic", "schedtest", true);
	CHECK_EQ(ret, 0);
	ret = synth_event_trace(schedtest_event_file, 7, /* number of values */
				444,             /* next_pid_field */
				(u64)"clackers", /* next_comm_field */
				1000000,         /* ts_ns */
				1000,            /* ts_ms */
				cpu,             /* cpu */
				(u64)"Thneed",   /* my_string_field */
				999);            /* my_int_field */
	CHECK_EQ(ret, 0);

	vals[0] = 777;                  /* next_pid_field */
	vals[1] = (u64)"tiddlywinks";   /* next_comm_field */
	vals[2] = 1000000;              /* ts_ns */
	vals[3] = 1000;                 /* ts_ms */
	vals[4] = cpu;                  /* cpu */
	vals[5] = (u64)"thneed";        /* my_string_field */
	vals[6] = 398;                  /* my_int_field */
	ret = synth_event_trace_array(schedtest_event_file, vals,
				      ARRAY_SIZE(vals));
	CHECK_EQ(ret, 0);

	/* it cannot go while it is enabled, or while there is a file of it */
	CHECK_EQ(synth_event_delete("schedtest"), -EBUSY);
	ret = trace_array_set_clr_event(schedtest_event_file->tr,
					"synthetic", "schedtest", false);
	CHECK_EQ(ret, 0);
	CHECK_EQ(synth_event_delete("schedtest"), -EBUSY);
	/* disabled: not an error, and not recorded */
	CHECK_EQ(synth_event_trace_array(schedtest_event_file, vals, 7), 0);
	CHECK_EQ(synth_event_trace_array(schedtest_event_file, vals, 3), 0);
	trace_put_event_file(schedtest_event_file);
	ret = synth_event_delete("schedtest");
	CHECK_EQ(ret, 0);

	(void)snprintf(want, sizeof(want),
		"synthetic:schedtest: next_pid_field=444, next_comm_field=clackers, "
		"ts_ns=1000000, ts_ms=1000, cpu=%llu, my_string_field=Thneed, "
		"my_int_field=999\n"
		"synthetic:schedtest: next_pid_field=777, next_comm_field=tiddlywinks, "
		"ts_ns=1000000, ts_ms=1000, cpu=%llu, my_string_field=thneed, "
		"my_int_field=398\n", cpu, cpu);
	CHECK_SESSION("boot", want);
}

/* Strings that take what they need, at any place. */
static void test_dynamic(void)
{
	static const struct synth_field_desc f[] = {
		{ "u8", "first" }, { "char[]", "one" }, { "s64", "mid" },
		{ "char[]", "two" }, { "char[4]", "fixed" },
	};
	char longer[400];
	struct trace_event_file *file;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	make_session("dyn");
	CHECK_EQ(synth_event_create("dyn", f, ARRAY_SIZE(f), THIS_MODULE), 0);
	file = enabled_file("dyn", "dyn");
	CHECK_EQ(synth_event_trace(file, 5, 300, (u64)"xrayspecs", -1,
				   (u64)"", (u64)"kerplunk"), 0);
	CHECK_EQ(synth_event_trace(file, 5, 1, (u64)0, 2, (u64)longer, (u64)0), 0);
	longer[255] = '\0';
	{
		char want[700];

		(void)snprintf(want, sizeof(want),
			"synthetic:dyn: first=44, one=xrayspecs, mid=-1, two=, fixed=ker\n"
			"synthetic:dyn: first=1, one=(fault), mid=2, two=%s, fixed=(fa\n",
			longer);
		CHECK_SESSION("dyn", want);
	}
	drop_event(file, "dyn");
}

/* Each type keeps what fits into it, and the sign is that of the type. */
static void test_numbers(void)
{
	static const struct synth_field_desc f[] = {
		{ "s8", "a" }, { "u8", "b" }, { "s16", "c" }, { "u16", "d" },
		{ "s32", "e" }, { "u32", "f" }, { "s64", "g" }, { "u64", "h" },
		{ "char", "i" }, { "unsigned char", "j" }, { "int", "k" },
		{ "unsigned int", "l" }, { "long", "m" }, { "unsigned long", "n" },
		{ "bool", "o" }, { "pid_t", "p" }, { "gfp_t", "q" },
	};
	u64 vals[ARRAY_SIZE(f)];
	struct trace_event_file *file;

	for (size_t i = 0; i < ARRAY_SIZE(f); i++)
		vals[i] = 0xfedcba9876543210 + i;
	make_session("num");
	CHECK_EQ(synth_event_create("num", f, ARRAY_SIZE(f), THIS_MODULE), 0);
	file = enabled_file("num", "num");
	CHECK_EQ(synth_event_trace_array(file, vals, ARRAY_SIZE(f)), 0);
	CHECK_SESSION("num",
		"synthetic:num: a=16, b=17, c=12818, d=12819, e=1985229332, "
		"f=1985229333, g=-81985529216486890, h=18364758544493064727, "
		"i=24, j=25, k=1985229338, l=1985229339, m=-81985529216486884, "
		"n=18364758544493064733, o=30, p=1985229343, q=76543220\n");
	drop_event(file, "num");
}

/* A stack: addresses up to a 0, or 16 of them. */
static void test_stack(void)
{
	static const struct synth_field_desc f[] = {
		{ "u32", "id" }, { "long[]", "stack" },
	};
	static const uint64_t ended[] = { 0x1000, 0x2000, 0 };
	uint64_t endless[20];
	struct trace_event_file *file;
	struct tacho_stream *s;
	struct tacho_record r;
	int n = 0;

	for (uint64_t i = 0; i < 20; i++)
		endless[i] = i + 1;
	make_session("stack");
	CHECK_EQ(synth_event_create("stack", f, 2, THIS_MODULE), 0);
	file = enabled_file("stack", "stack");
	CHECK_EQ(synth_event_trace(file, 2, 1, (u64)(uintptr_t)ended), 0);
	CHECK_EQ(synth_event_trace(file, 2, 2, (u64)(uintptr_t)endless), 0);
	CHECK_EQ(synth_event_trace(file, 2, 3, 0), 0);
	if (!CHECK_EQ(tacho_stream_open(&s, "session:stack", 0, NULL), 0))
		exit(1);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		static const size_t words[] = { 3, 17, 1 };
		size_t len;
		const unsigned char *p = tacho_record_data(&r,
			tacho_type_find(r.type, "stack"), &len);
		uint64_t first;

		if (!CHECK(p && n < 3))
			break;
		CHECK_EQ(len / 8, words[n]);
		memcpy(&first, p, sizeof(first));
		CHECK_EQ(first, n == 0 ? 0x1000 : n == 1 ? 1 : 0);
		n++;
	}
	tacho_stream_close(s);
	CHECK_EQ(n, 3);
	drop_event(file, "stack");
}

static void test_counts(void)
{
	static const struct synth_field_desc f[] = { { "int", "a" }, { "int", "b" } };
	u64 vals[3] = { 1, 2, 3 };
	struct trace_event_file *file, *marker;

	make_session("count");
	CHECK_EQ(synth_event_create("count", f, 2, THIS_MODULE), 0);
	file = enabled_file("count", "count");
	CHECK_EQ(synth_event_trace_array(file, vals, 1), -EINVAL);
	CHECK_EQ(synth_event_trace_array(file, vals, 3), -EINVAL);
	CHECK_EQ(synth_event_trace_array(file, vals, 0), -EINVAL);
	CHECK_EQ(synth_event_trace_array(file, NULL, 2), -EINVAL);
	CHECK_EQ(synth_event_trace(file, 1, 1), -EINVAL);
	CHECK_EQ(synth_event_trace(file, 3, 1, 2, 3), -EINVAL);
	/* a number that is not that of the arguments */
	CHECK_EQ(synth_event_trace(file, 2, 1), -EINVAL);
	CHECK_EQ(synth_event_trace(file, 2, 1, 2, 3), -EINVAL);
	CHECK_EQ(synth_event_trace(file, 0), -EINVAL);
	CHECK_EQ(synth_event_trace_array(NULL, vals, 2), -EINVAL);
	CHECK_EQ(synth_event_trace_array(ERR_PTR(-ENOENT), vals, 2), -EINVAL);
	CHECK_EQ(synth_event_trace(NULL, 2, 1, 2), -EINVAL);
	marker = trace_get_event_file("count", "synthetic", "none");
	CHECK_EQ(PTR_ERR(marker), -EINVAL);
	CHECK_EQ(synth_event_trace_array(file, vals, 2), 0);
	CHECK_SESSION("count", "synthetic:count: a=1, b=2\n");
	drop_event(file, "count");
}

/* Larger than what lies on the stack, and the largest there is. */
static void test_large(void)
{
	struct synth_field_desc f[64];
	char names[64][8], text[300];
	u64 vals[64];
	struct trace_event_file *file;
	struct tacho_stream *s;
	struct tacho_record r;
	int n = 0;

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < 64; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%zu", i);
		f[i] = (struct synth_field_desc){ i % 2 ? "char[]" : "char[256]",
						  names[i] };
		vals[i] = (u64)(uintptr_t)text;
	}
	make_session("large");
	CHECK_EQ(synth_event_create("large", f, 60, THIS_MODULE), 0);
	file = enabled_file("large", "large");
	for (int i = 0; i < 20; i++)
		CHECK_EQ(synth_event_trace_array(file, vals, 60), 0);
	if (!CHECK_EQ(tacho_stream_open(&s, "session:large", 0, NULL), 0))
		exit(1);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		size_t len;

		for (size_t i = 0; i < 60; i++) {
			const struct tacho_field *field =
				tacho_type_find(r.type, names[i]);
			const char *p = tacho_record_data(&r, field, &len);

			CHECK(p && strnlen(p, len) == 255 && p[254] == 'y');
		}
		n++;
	}
	tacho_stream_close(s);
	CHECK_EQ(n, 20);
	drop_event(file, "large");
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	test_begin();
	make_session("boot");
	TEST(test_example());
	TEST(test_dynamic());
	TEST(test_numbers());
	TEST(test_stack());
	TEST(test_counts());
	TEST(test_large());
	return test_done();
}
