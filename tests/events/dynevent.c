// SPDX-License-Identifier: MIT
/* Section 7.4: commands of one's own. */
#include "events_test.h"

/* What the last command was. */
static char ran[MAX_DYNEVENT_CMD_LEN];
static int answer;

static int foo_event_run_command(struct dynevent_cmd *cmd)
{
	strcpy(ran, cmd->seq.buffer);
	return answer;
}

static int dynevent_foo_check_arg_fn(void *data)
{
	const struct dynevent_arg_pair *pair = data;

	return pair->lhs && pair->rhs ? 0 : -ENOEXEC;
}

static int check_word(void *data)
{
	const struct dynevent_arg *arg = data;

	return arg->str && *arg->str ? 0 : -EDOM;
}

enum { DYNEVENT_TYPE_FOO = DYNEVENT_TYPE_NONE + 1 };

/* The example of the specification: its forms of the calls. */
static void test_example(void)
{
	struct dynevent_arg_pair arg_pair;
	struct dynevent_arg arg;
	struct dynevent_cmd cmd;
	char *buf;
	int ret;

	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	dynevent_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN, DYNEVENT_TYPE_FOO,
			  foo_event_run_command);
	CHECK_EQ(cmd.type, DYNEVENT_TYPE_FOO);

	dynevent_arg_init(&arg, NULL, 0);
	arg.str = "name";
	ret = dynevent_arg_add(&cmd, &arg);
	CHECK_EQ(ret, 0);

	dynevent_arg_pair_init(&arg_pair, dynevent_foo_check_arg_fn, 0, ';');
	arg_pair.lhs = "type";
	arg_pair.rhs = "field";
	ret = dynevent_arg_pair_add(&cmd, &arg_pair);
	CHECK_EQ(ret, 0);
	arg_pair.rhs = NULL;
	CHECK_EQ(dynevent_arg_pair_add(&cmd, &arg_pair), -ENOEXEC);

	ret = dynevent_str_add(&cmd, "as-is");
	CHECK_EQ(ret, 0);
	ret = dynevent_create(&cmd);
	CHECK_EQ(ret, 0);
	CHECK_STR(ran, " name  type field;as-is");
	answer = -EXDEV;
	CHECK_EQ(dynevent_create(&cmd), -EXDEV);
	answer = 0;
	free(buf);
}

/* The kernel's later forms, with the check as the last argument. */
static void test_later_forms(void)
{
	char buf[100];
	struct dynevent_arg_pair pair;
	struct dynevent_arg arg;
	struct dynevent_cmd cmd;

	dynevent_cmd_init(&cmd, buf, sizeof(buf), DYNEVENT_TYPE_FOO,
			  foo_event_run_command);
	dynevent_arg_init(&arg, ',');
	arg.str = "a";
	CHECK_EQ(dynevent_arg_add(&cmd, &arg, check_word), 0);
	arg.str = "";
	CHECK_EQ(dynevent_arg_add(&cmd, &arg, check_word), -EDOM);
	CHECK_EQ(dynevent_arg_add(&cmd, &arg, NULL), 0);
	arg.str = NULL;
	CHECK_EQ(dynevent_arg_add(&cmd, &arg, NULL), -EINVAL);
	dynevent_arg_pair_init(&pair, '=', 0);
	pair.lhs = "flags";
	pair.rhs = "%cx";
	CHECK_EQ(dynevent_arg_pair_add(&cmd, &pair, NULL), 0);
	pair.lhs = NULL;
	CHECK_EQ(dynevent_arg_pair_add(&cmd, &pair, dynevent_foo_check_arg_fn),
		 -ENOEXEC);
	CHECK_EQ(dynevent_arg_pair_add(&cmd, &pair, NULL), -EINVAL);
	CHECK_EQ(dynevent_str_add(&cmd, NULL), -EINVAL);
	CHECK_EQ(dynevent_create(&cmd), 0);
	CHECK_STR(ran, " a, , flags=%cx ");
}

/* All of the buffer but the NUL can be used; what does not fit leaves it as it was. */
static void test_full(void)
{
	struct dynevent_cmd cmd;
	char buf[9];

	memset(buf, 'z', sizeof(buf));
	dynevent_cmd_init(&cmd, buf, 8, DYNEVENT_TYPE_FOO, foo_event_run_command);
	CHECK_STR(buf, "");
	CHECK_EQ(dynevent_str_add(&cmd, "1234567"), 0);
	CHECK_EQ(dynevent_create(&cmd), 0);
	CHECK_STR(ran, "1234567");
	CHECK_EQ(dynevent_str_add(&cmd, ""), 0);
	CHECK_EQ(dynevent_str_add(&cmd, "8"), -E2BIG);
	CHECK_EQ(dynevent_str_add(&cmd, ""), -E2BIG);
	CHECK_EQ(dynevent_create(&cmd), -E2BIG);
	CHECK_STR(buf, "1234567");
	CHECK_EQ(buf[8], 'z');

	dynevent_cmd_init(&cmd, buf, 8, DYNEVENT_TYPE_FOO, foo_event_run_command);
	CHECK_EQ(dynevent_str_add(&cmd, "12345678"), -E2BIG);
	CHECK_STR(buf, "");

	/* no buffer at all */
	dynevent_cmd_init(&cmd, buf, 0, DYNEVENT_TYPE_FOO, foo_event_run_command);
	CHECK_EQ(dynevent_str_add(&cmd, ""), -E2BIG);
	CHECK_EQ(dynevent_create(&cmd), -E2BIG);
	dynevent_cmd_init(&cmd, buf, -1, DYNEVENT_TYPE_FOO, foo_event_run_command);
	CHECK_EQ(dynevent_str_add(&cmd, "a"), -E2BIG);
	dynevent_cmd_init(&cmd, NULL, 8, DYNEVENT_TYPE_FOO, foo_event_run_command);
	CHECK_EQ(dynevent_str_add(&cmd, "a"), -E2BIG);

	dynevent_cmd_init(&cmd, buf, 8, DYNEVENT_TYPE_FOO, NULL);
	CHECK_EQ(dynevent_create(&cmd), -EINVAL);
	CHECK_EQ(dynevent_create(NULL), -EINVAL);
}

/* A synthetic event by hand. */
static void test_synthetic(void)
{
	char buf[MAX_DYNEVENT_CMD_LEN];
	struct trace_event_file *file;
	struct dynevent_arg arg;
	struct dynevent_cmd cmd;

	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	dynevent_arg_init(&arg, 0);
	arg.str = "byhand";
	CHECK_EQ(dynevent_arg_add(&cmd, &arg), 0);
	CHECK_EQ(dynevent_str_add(&cmd, "u64 lat; pid_t pid"), 0);
	CHECK_EQ(dynevent_create(&cmd), 0);
	CHECK_EQ(dynevent_create(&cmd), -EEXIST);
	make_session("hand");
	file = enabled_file("hand", "byhand");
	CHECK_EQ(synth_event_trace(file, 2, 12, 34), 0);
	CHECK_SESSION("hand", "synthetic:byhand: lat=12, pid=34\n");
	drop_event(file, "byhand");
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	test_begin();
	TEST(test_example());
	TEST(test_later_forms());
	TEST(test_full());
	TEST(test_synthetic());
	return test_done();
}
