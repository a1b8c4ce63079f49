// SPDX-License-Identifier: MIT
/* Trace arrays are sessions; what is said when there is none. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "events_test.h"

static const struct synth_field_desc one_field[] = { { "int", "value" } };

static bool has_session(const char *name)
{
	struct tacho_session s;
	struct tacho_dir dir;
	int err;

	if (tacho_dir_open(&dir, false, NULL))
		return false;
	err = tacho_session_open(&s, &dir, name, NULL);
	tacho_session_close(&s);
	tacho_dir_close(&dir);
	return !err;
}

/* Nothing is there: each call says so, and makes nothing. */
static void test_nothing(void)
{
	struct stat st;

	CHECK_EQ(PTR_ERR(trace_get_event_file(NULL, "synthetic", "none")), -EINVAL);
	CHECK_EQ(PTR_ERR(trace_get_event_file("none", "synthetic", "none")), -ENOENT);
	CHECK_EQ(trace_array_set_clr_event(NULL, "synthetic", "none", true), -ENOENT);
	CHECK_EQ(synth_event_delete("none"), -ENOENT);
	CHECK(stat(getenv("TACHO_DIR"), &st) < 0);
	trace_put_event_file(NULL);
	trace_put_event_file(ERR_PTR(-EINVAL));
	trace_array_put(NULL);
}

/*
 * A directory that cannot be made; libtacho looks once in a process's life, so this is a
 * child's.
 */
static void test_no_directory(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		setenv("TACHO_DIR", "/proc/no/such/place", 1);
		_exit(synth_event_create("none", one_field, 1, NULL) == -ENOENT &&
		      /* its name is free again */
		      synth_event_delete("none") == -ENOENT &&
		      synth_event_create("none", one_field, 1, NULL) == -ENOENT &&
		      !trace_array_get_by_name("x", NULL) && errno == ENOENT ?
		      0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

static void test_global(void)
{
	struct trace_event_file *file, *again;

	CHECK_EQ(synth_event_create("glob", one_field, 1, NULL), 0);
	CHECK(!has_session("boot"));
	file = trace_get_event_file(NULL, "synthetic", "glob");
	CHECK_EQ(PTR_ERR_OR_ZERO(file), 0);
	again = trace_get_event_file(NULL, "synthetic", "glob");
	CHECK_EQ(PTR_ERR_OR_ZERO(again), 0);
	CHECK(file->tr == again->tr);
	trace_put_event_file(again);
	/* made when something is first enabled in it, and not before */
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "glob", false), 0);
	CHECK(!has_session("boot"));
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "glob", true), 0);
	CHECK(has_session("boot"));
	CHECK_EQ(synth_event_trace(file, 1, 42), 0);
	CHECK_SESSION("boot", "synthetic:glob: value=42\n");
	CHECK_EQ(trace_array_destroy(file->tr), -EINVAL);
	/* somebody else ends it: it is made anew */
	end_session("boot");
	CHECK_EQ(synth_event_trace(file, 1, 43), 0);
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "glob", true), 0);
	CHECK_EQ(synth_event_trace(file, 1, 44), 0);
	CHECK_SESSION("boot", "synthetic:glob: value=44\n");
	drop_event(file, "glob");
	end_session("boot");

	setenv("TACHO_SESSION", "elsewhere", 1);
	CHECK_EQ(synth_event_create("glob", one_field, 1, NULL), 0);
	file = enabled_file(NULL, "glob");
	CHECK_EQ(synth_event_trace(file, 1, 45), 0);
	CHECK(!has_session("boot"));
	CHECK_SESSION("elsewhere", "synthetic:glob: value=45\n");
	drop_event(file, "glob");
	end_session("elsewhere");
	setenv("TACHO_SESSION", "no/name", 1);
	CHECK_EQ(synth_event_create("glob", one_field, 1, NULL), 0);
	file = trace_get_event_file(NULL, "synthetic", "glob");
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "glob", true),
		 -EINVAL);
	trace_put_event_file(file);
	CHECK_EQ(synth_event_delete("glob"), 0);
	unsetenv("TACHO_SESSION");
}

static void test_by_name(void)
{
	struct trace_event_file *file;
	struct trace_array *tr, *same;

	CHECK(!trace_array_get_by_name(NULL, NULL));
	CHECK(!trace_array_get_by_name("", NULL));
	CHECK_EQ(errno, EINVAL);
	CHECK(!trace_array_get_by_name("a/b", NULL));
	CHECK(!trace_array_get_by_name("named", "sched,timer"));
	CHECK(!has_session("named"));
	tr = trace_array_get_by_name("named", NULL);
	if (!CHECK(tr))
		return;
	CHECK(has_session("named"));
	same = trace_array_get_by_name("named", NULL);
	CHECK(tr == same);
	trace_array_put(same);

	CHECK_EQ(synth_event_create("mine", one_field, 1, NULL), 0);
	CHECK_EQ(PTR_ERR(trace_get_event_file("other", "synthetic", "mine")), -ENOENT);
	CHECK_EQ(PTR_ERR(trace_get_event_file("a/b", "synthetic", "mine")), -ENOENT);
	CHECK_EQ(PTR_ERR(trace_get_event_file("named", "synthetic", "nine")), -EINVAL);
	CHECK_EQ(PTR_ERR(trace_get_event_file("named", "kprobes", "mine")), -EINVAL);
	CHECK_EQ(PTR_ERR(trace_get_event_file("named", NULL, "mine")), -EINVAL);
	CHECK_EQ(PTR_ERR(trace_get_event_file("named", "synthetic", NULL)), -EINVAL);
	file = trace_get_event_file("named", "synthetic", "mine");
	CHECK(!IS_ERR(file) && file->tr == tr);

	/* exact names, no patterns; NULL is all */
	CHECK_EQ(trace_array_set_clr_event(tr, "synth*", "mine", true), -EINVAL);
	CHECK_EQ(trace_array_set_clr_event(tr, "synthetic", "*", true), -EINVAL);
	CHECK_EQ(trace_array_set_clr_event(tr, "synthetic", "min", true), -EINVAL);
	CHECK_EQ(trace_array_set_clr_event(tr, "mine", NULL, true), -EINVAL);
	CHECK_EQ(synth_event_trace(file, 1, 1), 0);
	CHECK_EQ(trace_array_set_clr_event(tr, "synthetic", NULL, true), 0);
	CHECK_EQ(synth_event_trace(file, 1, 2), 0);
	CHECK_EQ(trace_array_set_clr_event(tr, NULL, "mine", false), 0);
	CHECK_EQ(synth_event_trace(file, 1, 3), 0);
	CHECK_EQ(trace_array_set_clr_event(tr, NULL, NULL, true), 0);
	CHECK_EQ(synth_event_trace(file, 1, 4), 0);
	CHECK_EQ(trace_array_set_clr_event(tr, NULL, NULL, false), 0);
	CHECK_EQ(synth_event_trace(file, 1, 5), 0);
	CHECK_SESSION("named", "synthetic:mine: value=2\nsynthetic:mine: value=4\n");

	CHECK_EQ(trace_array_destroy(tr), -EBUSY);
	trace_array_put(tr);
	CHECK_EQ(trace_array_destroy(tr), -EBUSY);
	trace_put_event_file(file);
	CHECK_EQ(trace_array_destroy(tr), 0);
	CHECK(!has_session("named"));
	CHECK_EQ(trace_array_destroy(tr), -ENODEV);
	CHECK_EQ(trace_array_destroy(NULL), -EINVAL);
	CHECK_EQ(trace_array_set_clr_event(tr, "synthetic", "mine", true), -ENOENT);
	CHECK_EQ(synth_event_delete("mine"), 0);
	CHECK_EQ(trace_array_set_clr_event(tr, "synthetic", "mine", true), -EINVAL);
}

/* Tools record it, whichever trace array the program has the file of. */
static void test_other_session(void)
{
	struct trace_event_file *file;
	struct tacho_session s;
	struct tacho_dir dir;
	uint32_t matched = 0;

	make_session("tool");
	CHECK_EQ(synth_event_create("seen", one_field, 1, NULL), 0);
	file = enabled_file(NULL, "seen");
	CHECK_EQ(tacho_dir_open(&dir, false, NULL), 0);
	CHECK_EQ(tacho_session_open(&s, &dir, "tool", NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "synthetic:se*", &matched, NULL), 0);
	CHECK_EQ(matched, 1);
	CHECK_EQ(synth_event_trace(file, 1, 9), 0);
	CHECK_SESSION("tool", "synthetic:seen: value=9\n");
	CHECK_SESSION("boot", "synthetic:seen: value=9\n");
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "seen", false), 0);
	trace_put_event_file(file);
	CHECK_EQ(synth_event_delete("seen"), -EBUSY);
	CHECK_EQ(tacho_session_rule(&s, false, "synthetic:seen", NULL, NULL), 0);
	CHECK_EQ(synth_event_delete("seen"), 0);
	tacho_session_close(&s);
	tacho_dir_close(&dir);
	end_session("boot");
	end_session("tool");
}

/* A session with a list of processes: the global one takes us in. */
static void test_pids(void)
{
	const struct tacho_session_config cfg = { .name = "boot", .clock = -1 };
	const int32_t other = 1;
	struct trace_event_file *file;
	struct tacho_session s;
	struct tacho_dir dir;

	CHECK_EQ(tacho_dir_open(&dir, true, NULL), 0);
	CHECK_EQ(tacho_session_create(&s, &dir, &cfg, NULL), 0);
	CHECK_EQ(tacho_session_pids(&s, &other, 1, false, NULL), 0);
	CHECK_EQ(synth_event_create("listed", one_field, 1, NULL), 0);
	file = enabled_file(NULL, "listed");
	CHECK_EQ(synth_event_trace(file, 1, 8), 0);
	CHECK_SESSION("boot", "synthetic:listed: value=8\n");
	drop_event(file, "listed");
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	tacho_dir_close(&dir);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	test_begin();
	TEST(test_nothing());
	TEST(test_no_directory());
	TEST(test_global());
	TEST(test_by_name());
	TEST(test_other_session());
	TEST(test_pids());
	return test_done();
}
