// SPDX-License-Identifier: MIT
/* Section 7.1: defining synthetic events, in one step and in several. */
#include "engine/synth.h"
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

static const char sched_text[] =
	"schedtest pid_t next_pid_field; char[16] next_comm_field; u64 ts_ns; "
	"u64 ts_ms; unsigned int cpu; char[64] my_string_field; int my_int_field";

/* The `format` text of an event as a session has it; one event must be recorded. */
static char *recorded_format(const char *session, const char *event)
{
	char path[100];
	struct tacho_stream *s;
	struct tacho_record r;
	struct tacho_buf b;
	char *text = NULL;

	tacho_buf_init(&b, 1 << 20);
	(void)snprintf(path, sizeof(path), "session:%s", session);
	if (!CHECK_EQ(tacho_stream_open(&s, path, 0, NULL), 0))
		exit(1);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		if (!strcmp(tacho_type_name(r.type), event) && !text) {
			tacho_type_write(r.type, false, &b);
			text = strdup(tacho_buf_str(&b));
		}
	tacho_stream_close(s);
	tacho_buf_release(&b);
	return text;
}

/* The same of a definition, as all tools see it. */
static char *defined_format(const char *definition)
{
	struct tacho_cmd_error e = { 0 };
	const struct tacho_synth *synth;
	struct tacho_arena a;
	struct tacho_buf b;
	char *text = NULL;

	tacho_arena_init(&a, 1 << 20);
	tacho_buf_init(&b, 1 << 20);
	synth = tacho_synth_parse(&a, definition, &e);
	if (CHECK(synth)) {
		tacho_type_write(synth->type, false, &b);
		text = strdup(tacho_buf_str(&b));
	}
	tacho_buf_release(&b);
	tacho_arena_release(&a);
	return text;
}

/* Records one event with zeros, and compares its type with that of a definition. */
static void check_type(const char *event, unsigned int n, const char *definition)
{
	struct trace_event_file *file = enabled_file(NULL, event);
	unsigned long long vals[64] = { 0 };
	char *have, *want;

	CHECK_EQ(synth_event_trace_array(file, vals, n), 0);
	have = recorded_format("boot", event);
	want = defined_format(definition);
	if (CHECK(have && want))
		CHECK_STR(have, want);
	free(have);
	free(want);
	drop_event(file, event);
}

static void test_create(void)
{
	CHECK_EQ(synth_event_create("schedtest", sched_fields,
				    ARRAY_SIZE(sched_fields), THIS_MODULE), 0);
	CHECK_EQ(synth_event_create("schedtest", sched_fields, 1, THIS_MODULE),
		 -EEXIST);
	check_type("schedtest", 7, sched_text);
	CHECK_EQ(synth_event_delete("schedtest"), -ENOENT);
}

/* The second method of the specification, step by step. */
static void test_steps(void)
{
	struct dynevent_cmd cmd;
	char *buf;
	int ret;

	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret = synth_event_gen_cmd_start(&cmd, "schedtest", THIS_MODULE,
					"pid_t", "next_pid_field",
					"char[16]", "next_comm_field",
					"u64", "ts_ns",
					"u64", "ts_ms");
	CHECK_EQ(ret, 0);
	CHECK_EQ(synth_event_add_field(&cmd, "unsigned int", "cpu"), 0);
	CHECK_EQ(synth_event_add_field_str(&cmd, "char[64] my_string_field"), 0);
	CHECK_EQ(synth_event_add_field(&cmd, "int", "my_int_field"), 0);
	CHECK_STR(buf, " schedtest  pid_t next_pid_field; char[16] next_comm_field; "
		  "u64 ts_ns; u64 ts_ms; unsigned int cpu; char[64] my_string_field; "
		  "int my_int_field;");
	CHECK_EQ(cmd.n_fields, 7);
	ret = synth_event_gen_cmd_end(&cmd);
	CHECK_EQ(ret, 0);
	check_type("schedtest", 7, sched_text);

	/* from an array, and more behind it */
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret = synth_event_gen_cmd_array_start(&cmd, "schedtest", THIS_MODULE,
					      sched_fields, 3);
	CHECK_EQ(ret, 0);
	CHECK_EQ(synth_event_add_fields(&cmd, sched_fields + 3, 4), 0);
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), 0);
	check_type("schedtest", 7, sched_text);

	/* empty at first */
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, "schedtest", THIS_MODULE), 0);
	CHECK_EQ(synth_event_add_fields(&cmd, sched_fields, 7), 0);
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), 0);
	check_type("schedtest", 7, sched_text);
	free(buf);
}

/* Arrays may be told in the type or in the name. */
static void test_arrays(void)
{
	static const struct synth_field_desc named[] = {
		{ "char", "fixed[8]" }, { "char", "dynamic[]" }, { "long", "stack[]" },
	};

	CHECK_EQ(synth_event_create("arrays", named, 3, NULL), 0);
	check_type("arrays", 3, "arrays char[8] fixed; char[] dynamic; long[] stack");
}

static int create_one(const char *name, const char *type, const char *field)
{
	const struct synth_field_desc f = { type, field };

	return synth_event_create(name, &f, 1, THIS_MODULE);
}

static void test_bad_definitions(void)
{
	static const char *const bad_types[] = {
		"float", "", "u65", "char[257]", "char[x]", "char[", "unsigned",
		"u64 a; u64", " u64", "u64 ", "struct x", "int[4]", "u64#", "char*",
	};
	static const char *const bad_names[] = {
		"", "a b c", "1a", "a-b", "a#b", "a[", "a;b", "a!",
	};
	char longest[] = "n123456789012345678901234567890123456789012345678901234567"
			 "89012345678901234567890123456789012345678901234567";
	char type[3000];

	for (size_t i = 0; i < ARRAY_SIZE(bad_types); i++)
		if (!CHECK_EQ(create_one("bad", bad_types[i], "f"), -EINVAL))
			printf("# type '%s'\n", bad_types[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_names); i++)
		if (!CHECK_EQ(create_one("bad", "int", bad_names[i]), -EINVAL))
			printf("# field '%s'\n", bad_names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_names); i++)
		if (!CHECK_EQ(create_one(bad_names[i], "int", "f"), -EINVAL))
			printf("# event '%s'\n", bad_names[i]);
	CHECK_EQ(create_one("!schedtest", "int", "f"), -EINVAL);
	CHECK_EQ(create_one(NULL, "int", "f"), -EINVAL);
	CHECK_EQ(create_one("bad", NULL, "f"), -EINVAL);
	CHECK_EQ(create_one("bad", "int", NULL), -EINVAL);
	CHECK_EQ(synth_event_create("bad", NULL, 0, NULL), -EINVAL);
	CHECK_EQ(synth_event_create("bad", NULL, 1, NULL), -EINVAL);
	CHECK_EQ(strlen(longest), 108);
	CHECK_EQ(create_one(longest, "int", "f"), -ENAMETOOLONG);
	longest[107] = '\0';
	CHECK_EQ(create_one(longest, "int", "f"), 0);
	drop_event(enabled_file(NULL, longest), longest);
	memset(type, 'x', sizeof(type) - 1);
	type[sizeof(type) - 1] = '\0';
	CHECK_EQ(create_one("bad", type, "f"), -E2BIG);
	CHECK_EQ(create_one("bad", "int", type), -E2BIG);
	CHECK_EQ(synth_event_delete("bad"), -ENOENT);
	CHECK_EQ(synth_event_delete(NULL), -ENOENT);
}

/* Each call says what is wrong with its arguments. */
static void test_bad_calls(void)
{
	char buf[MAX_DYNEVENT_CMD_LEN], small[24];
	const struct synth_field_desc hole[] = { { "int", "a" }, { "int", NULL } };
	struct dynevent_cmd cmd, other;

	kprobe_event_cmd_init(&other, buf, sizeof(buf));
	CHECK_EQ(synth_event_gen_cmd_start(&other, "x", NULL, "int", "a"), -EINVAL);
	CHECK_EQ(synth_event_gen_cmd_array_start(&other, "x", NULL, sched_fields, 1),
		 -EINVAL);
	CHECK_EQ(synth_event_add_field(&other, "int", "a"), -EINVAL);
	CHECK_EQ(synth_event_add_field_str(&other, "int a"), -EINVAL);
	CHECK_EQ(synth_event_add_fields(&other, sched_fields, 1), -EINVAL);
	CHECK_EQ(synth_event_add_field(NULL, "int", "a"), -EINVAL);
	CHECK_EQ(synth_event_gen_cmd_start(NULL, "x", NULL, "int", "a"), -EINVAL);
	CHECK_STR(buf, "");

	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, NULL, NULL, "int", "a"), -EINVAL);
	/* a type without a name */
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, "x", NULL, "int", "a", "int"),
		 -EINVAL);
	CHECK_EQ(synth_event_add_field(&cmd, NULL, "b"), -EINVAL);
	CHECK_EQ(synth_event_add_field(&cmd, "int", NULL), -EINVAL);
	CHECK_EQ(synth_event_add_field(&cmd, "nothing", "b"), -EINVAL);
	CHECK_EQ(synth_event_add_field_str(&cmd, NULL), -EINVAL);
	CHECK_EQ(synth_event_add_fields(&cmd, hole, 2), -EINVAL);
	CHECK_EQ(synth_event_gen_cmd_array_start(&cmd, "x", NULL, sched_fields, 65),
		 -EINVAL);

	/* only looked at when all is there */
	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, "x", NULL), 0);
	CHECK_EQ(synth_event_add_field_str(&cmd, "nothing a"), 0);
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), -EINVAL);

	/* no field at all */
	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, "x", NULL), 0);
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), -EINVAL);

	/* a buffer that is full stays so; nothing is made of half a command */
	synth_event_cmd_init(&cmd, small, sizeof(small));
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, "x", NULL, "int", "a"), 0);
	CHECK_EQ(synth_event_add_field(&cmd, "unsigned int", "bbbbb"), -E2BIG);
	CHECK_EQ(synth_event_add_field(&cmd, "u8", "c"), -E2BIG);
	CHECK_STR(small, " x  int a;");
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), -E2BIG);
	CHECK_EQ(synth_event_delete("x"), -ENOENT);
}

static void test_field_count(void)
{
	char buf[MAX_DYNEVENT_CMD_LEN], name[8];
	struct synth_field_desc many[65];
	char names[65][8];
	struct dynevent_cmd cmd;

	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(synth_event_gen_cmd_start(&cmd, "many", NULL), 0);
	for (int i = 0; i < 64; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		CHECK_EQ(synth_event_add_field(&cmd, "char[]", name), 0);
		(void)snprintf(names[i], sizeof(names[i]), "f%d", i);
		many[i] = (struct synth_field_desc){ "u8", names[i] };
	}
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), 0);
	CHECK_EQ(synth_event_delete("many"), 0);
	CHECK_EQ(synth_event_add_field(&cmd, "u8", "f64"), -EINVAL);
	CHECK_EQ(synth_event_gen_cmd_end(&cmd), -EINVAL);
	CHECK_EQ(synth_event_add_field_str(&cmd, "u8 f65"), -EINVAL);
	many[64] = (struct synth_field_desc){ "u8", "f64" };
	CHECK_EQ(synth_event_create("many", many, 65, NULL), -EINVAL);
	CHECK_EQ(synth_event_create("many", many, 64, NULL), 0);
	CHECK_EQ(synth_event_delete("many"), 0);
}

/* Deleted and made anew with other fields, the name means the new ones. */
static void test_again(void)
{
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(create_one("again", i & 1 ? "int" : "u64", "value"), 0);
		check_type("again", 1, "again u64 value");
		if (i)
			continue;
		CHECK_EQ(create_one("other", "int", "a"), 0);
		CHECK_EQ(synth_event_delete("other"), 0);
	}
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	test_begin();
	make_session("boot");
	TEST(test_create());
	TEST(test_steps());
	TEST(test_arrays());
	TEST(test_bad_definitions());
	TEST(test_bad_calls());
	TEST(test_field_count());
	TEST(test_again());
	return test_done();
}
