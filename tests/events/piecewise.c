// SPDX-License-Identifier: MIT
/* Section 7.2.2: tracing an event field by field. */
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

static struct trace_event_file *schedtest_event_file;

/* One after the other, as in the specification. */
static void test_next(void)
{
	struct synth_event_trace_state trace_state;
	int ret;

	ret = synth_event_trace_start(schedtest_event_file, &trace_state);
	CHECK_EQ(ret, 0);
	/* next_pid_field */
	ret = synth_event_add_next_val(777, &trace_state);
	CHECK_EQ(ret, 0);
	/* next_comm_field */
	ret = synth_event_add_next_val((u64)"slinky", &trace_state);
	CHECK_EQ(ret, 0);
	/* ts_ns */
	ret = synth_event_add_next_val(1000000, &trace_state);
	CHECK_EQ(ret, 0);
	/* ts_ms */
	ret = synth_event_add_next_val(1000, &trace_state);
	CHECK_EQ(ret, 0);
	/* cpu */
	ret = synth_event_add_next_val(3, &trace_state);
	CHECK_EQ(ret, 0);
	/* my_string_field */
	ret = synth_event_add_next_val((u64)"thneed_2.01", &trace_state);
	CHECK_EQ(ret, 0);
	/* my_int_field */
	ret = synth_event_add_next_val(395, &trace_state);
	CHECK_EQ(ret, 0);
	/* there is no eighth */
	CHECK_EQ(synth_event_add_next_val(1, &trace_state), -EINVAL);
	ret = synth_event_trace_end(&trace_state);
	CHECK_EQ(ret, 0);
	CHECK_EQ(synth_event_trace_end(&trace_state), -EINVAL);
}

/* By name, in any order. */
static void test_named(void)
{
	struct synth_event_trace_state trace_state;
	int ret;

	ret = synth_event_trace_start(schedtest_event_file, &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("my_string_field", (u64)"thneed_9",
				  &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("next_pid_field", 777, &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("next_comm_field", (u64)"silly putty",
				  &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("ts_ns", 1000000, &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("ts_ms", 1000, &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("cpu", 2, &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_add_val("my_int_field", 3999, &trace_state);
	CHECK_EQ(ret, 0);
	ret = synth_event_trace_end(&trace_state);
	CHECK_EQ(ret, 0);
}

/* What was set before a mistake is recorded; what was not is 0 or empty. */
static void test_mistakes(void)
{
	struct synth_event_trace_state st;

	CHECK_EQ(synth_event_trace_start(schedtest_event_file, &st), 0);
	CHECK_EQ(synth_event_add_val("ts_ns", 5, &st), 0);
	CHECK_EQ(synth_event_add_val("no_such_field", 1, &st), -EINVAL);
	CHECK_EQ(synth_event_add_val(NULL, 1, &st), -EINVAL);
	CHECK_EQ(synth_event_add_val("next_comm_field", 0, &st), -EINVAL);
	CHECK_EQ(synth_event_add_next_val(1, &st), -EINVAL);
	CHECK_EQ(synth_event_add_next_val(1, &st), -EINVAL);
	/* set twice: the last one counts, the whole field */
	CHECK_EQ(synth_event_add_val("my_string_field", (u64)"longer text", &st), 0);
	CHECK_EQ(synth_event_add_val("my_string_field", (u64)"short", &st), 0);
	CHECK_EQ(synth_event_trace_end(&st), 0);

	CHECK_EQ(synth_event_trace_start(schedtest_event_file, &st), 0);
	CHECK_EQ(synth_event_add_next_val(7, &st), 0);
	CHECK_EQ(synth_event_add_val("ts_ns", 1, &st), -EINVAL);
	CHECK_EQ(synth_event_add_next_val((u64)"0123456789abcdefgh", &st), 0);
	CHECK_EQ(synth_event_trace_end(&st), 0);

	CHECK_EQ(synth_event_trace_start(schedtest_event_file, NULL), -EINVAL);
	CHECK_EQ(synth_event_add_next_val(1, NULL), -EINVAL);
	CHECK_EQ(synth_event_add_val("ts_ns", 1, NULL), -EINVAL);
	CHECK_EQ(synth_event_trace_end(NULL), -EINVAL);
	memset(&st, 0xff, sizeof(st));
	CHECK_EQ(synth_event_trace_start(NULL, &st), -EINVAL);
	CHECK_EQ(synth_event_add_next_val(1, &st), -EINVAL);
	CHECK_EQ(synth_event_trace_end(&st), -EINVAL);
}

/* The string may change as soon as it was given. */
static void test_copy(void)
{
	struct synth_event_trace_state st;
	char text[16] = "before";

	CHECK_EQ(synth_event_trace_start(schedtest_event_file, &st), 0);
	CHECK_EQ(synth_event_add_val("next_comm_field", (u64)(uintptr_t)text, &st), 0);
	strcpy(text, "after");
	CHECK_EQ(synth_event_trace_end(&st), 0);
}

static void test_disabled(void)
{
	struct synth_event_trace_state st;

	CHECK_EQ(trace_array_set_clr_event(schedtest_event_file->tr, "synthetic",
					   "schedtest", false), 0);
	CHECK_EQ(synth_event_trace_start(schedtest_event_file, &st), 0);
	CHECK_EQ(synth_event_add_next_val(777, &st), 0);
	CHECK_EQ(synth_event_add_val("ts_ns", 1, &st), -EINVAL);
	CHECK_EQ(synth_event_trace_end(&st), 0);
	CHECK_EQ(trace_array_set_clr_event(schedtest_event_file->tr, "synthetic",
					   "schedtest", true), 0);
}

static void test_dynamic_refused(void)
{
	static const struct synth_field_desc f[] = {
		{ "int", "a" }, { "char[]", "b" },
	};
	struct synth_event_trace_state st;
	struct trace_event_file *file;

	CHECK_EQ(synth_event_create("dyn", f, 2, THIS_MODULE), 0);
	file = trace_get_event_file(NULL, "synthetic", "dyn");
	/* nobody wants it: that is said first */
	CHECK_EQ(synth_event_trace_start(file, &st), 0);
	CHECK_EQ(synth_event_trace_end(&st), 0);
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "dyn", true), 0);
	CHECK_EQ(synth_event_trace_start(file, &st), -ENOTSUPP);
	CHECK_EQ(synth_event_add_next_val(1, &st), -EINVAL);
	CHECK_EQ(synth_event_trace_end(&st), -EINVAL);
	drop_event(file, "dyn");
}

/* The bytes are those of the same event traced at once, large or small. */
static void test_same_bytes(unsigned int n)
{
	static const char *const types[] = { "s8", "char[31]", "u16", "int", "bool",
					     "char[256]", "s64" };
	struct synth_field_desc f[64];
	struct synth_event_trace_state st;
	struct trace_event_file *file;
	struct tacho_stream *s;
	struct tacho_record r;
	unsigned char *first = NULL;
	char names[64][8];
	unsigned int first_len = 0, records = 0;
	u64 vals[64];

	for (unsigned int i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%u", i);
		f[i] = (struct synth_field_desc){ types[i % 7], names[i] };
		vals[i] = strchr(types[i % 7], '[') ? (u64)"some text here" :
			  0x0123456789abcdef * (i + 1);
	}
	make_session("bytes");
	CHECK_EQ(synth_event_create("bytes", f, n, THIS_MODULE), 0);
	file = enabled_file("bytes", "bytes");
	CHECK_EQ(synth_event_trace_array(file, vals, n), 0);
	CHECK_EQ(synth_event_trace_start(file, &st), 0);
	for (unsigned int i = 0; i < n; i++)
		CHECK_EQ(synth_event_add_next_val(vals[i], &st), 0);
	CHECK_EQ(synth_event_trace_end(&st), 0);
	CHECK_EQ(synth_event_trace_start(file, &st), 0);
	for (unsigned int i = n; i-- > 0;)
		CHECK_EQ(synth_event_add_val(names[i], vals[i], &st), 0);
	CHECK_EQ(synth_event_trace_end(&st), 0);
	if (!CHECK_EQ(tacho_stream_open(&s, "session:bytes", 0, NULL), 0))
		exit(1);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		if (!records++) {
			first = malloc(r.len);
			memcpy(first, r.raw, r.len);
			first_len = r.len;
		}
		CHECK_EQ(r.len, first_len);
		CHECK(r.len == first_len && !memcmp(r.raw, first, first_len));
	}
	tacho_stream_close(s);
	free(first);
	CHECK_EQ(records, 3);
	drop_event(file, "bytes");
	end_session("bytes");
}

static void test_pieces(void)
{
	make_session("boot");
	CHECK_EQ(synth_event_create("schedtest", sched_fields,
				    ARRAY_SIZE(sched_fields), THIS_MODULE), 0);
	schedtest_event_file = enabled_file(NULL, "schedtest");
	test_next();
	test_named();
	test_mistakes();
	test_copy();
	test_disabled();
	CHECK_SESSION("boot",
		"synthetic:schedtest: next_pid_field=777, next_comm_field=slinky, "
		"ts_ns=1000000, ts_ms=1000, cpu=3, my_string_field=thneed_2.01, "
		"my_int_field=395\n"
		"synthetic:schedtest: next_pid_field=777, next_comm_field=silly putty, "
		"ts_ns=1000000, ts_ms=1000, cpu=2, my_string_field=thneed_9, "
		"my_int_field=3999\n"
		"synthetic:schedtest: next_pid_field=0, next_comm_field=, ts_ns=5, "
		"ts_ms=0, cpu=0, my_string_field=short, my_int_field=0\n"
		"synthetic:schedtest: next_pid_field=7, next_comm_field=0123456789abcde, "
		"ts_ns=0, ts_ms=0, cpu=0, my_string_field=, my_int_field=0\n"
		"synthetic:schedtest: next_pid_field=0, next_comm_field=before, ts_ns=0, "
		"ts_ms=0, cpu=0, my_string_field=, my_int_field=0\n");
	drop_event(schedtest_event_file, "schedtest");
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	test_begin();
	TEST(test_pieces());
	TEST(test_dynamic_refused());
	TEST(test_same_bytes(4));
	TEST(test_same_bytes(30));
	return test_done();
}
