// SPDX-License-Identifier: MIT
/* The header in C++: each kind of call, run once. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include <tacho/events.h>

#include "unit/test.h"

static int run_none(struct dynevent_cmd *cmd)
{
	return static_cast<int>(cmd->seq.len);
}

static u64 text(const char *s)
{
	return (u64)(uintptr_t)s;
}

/* A run-time directory of its own, gone with the test. */
static char run_dir[] = "/tmp/tacho-cpp-XXXXXX";

static void remove_run_dir()
{
	std::string command = std::string("rm -rf ") + run_dir;

	if (std::system(command.c_str()))
		std::printf("# %s is left\n", run_dir);
}

static void test_calls()
{
	static const struct synth_field_desc fields[] = {
		{ "int", "a" }, { "char[16]", "b" },
	};
	struct synth_event_trace_state state;
	struct dynevent_arg_pair pair;
	struct dynevent_arg arg;
	struct dynevent_cmd cmd;
	char buf[MAX_DYNEVENT_CMD_LEN];
	int number = -1;

	dynevent_cmd_init(&cmd, buf, sizeof(buf), DYNEVENT_TYPE_NONE, run_none);
	dynevent_arg_init(&arg, nullptr, 0);
	dynevent_arg_init(&arg, 0);
	arg.str = "x";
	CHECK(!dynevent_arg_add(&cmd, &arg));
	CHECK(!dynevent_arg_add(&cmd, &arg, nullptr));
	dynevent_arg_pair_init(&pair, nullptr, '=', ';');
	dynevent_arg_pair_init(&pair, '=', ';');
	pair.lhs = pair.rhs = "y";
	CHECK(!dynevent_arg_pair_add(&cmd, &pair));
	CHECK(!dynevent_arg_pair_add(&cmd, &pair, nullptr));
	CHECK(dynevent_create(&cmd) == 16);

	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK(!synth_event_gen_cmd_start(&cmd, "cpp", THIS_MODULE, "int", "a"));
	CHECK(!synth_event_add_fields(&cmd, fields + 1, 1));
	CHECK(!synth_event_gen_cmd_end(&cmd));
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK(!kretprobe_event_gen_cmd_start(&cmd, "x", "y", "$retval"));
	CHECK(!kprobe_event_add_fields(&cmd, "a=%ax", "b=%bx"));

	struct trace_array *tr = trace_array_get_by_name("cpp", nullptr);
	struct trace_event_file *file =
		trace_get_event_file("cpp", "synthetic", "cpp");
	CHECK(tr && !IS_ERR(file) && file->tr == tr);
	CHECK(!trace_array_set_clr_event(tr, "synthetic", nullptr, true));
	CHECK(!synth_event_trace(file, 2, number, text("once")));
	CHECK(synth_event_trace(file, 1, number) == -EINVAL);
	CHECK(synth_event_trace(file, 2, number) == -EINVAL);
	CHECK(!synth_event_trace_start(file, &state));
	CHECK(!synth_event_add_val("a", 1, &state));
	CHECK(!synth_event_trace_end(&state));
	CHECK(!trace_array_set_clr_event(tr, "synthetic", "cpp", false));
	trace_put_event_file(file);
	trace_array_put(tr);
	CHECK(!trace_array_destroy(tr));
	CHECK(!synth_event_delete("cpp"));
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	if (!mkdtemp(run_dir) || std::atexit(remove_run_dir))
		return 1;
	setenv("TACHO_DIR", run_dir, 1);
	TEST(test_calls());
	return test_done();
}
