// SPDX-License-Identifier: MIT
/*
 * Section 7.3: kprobe and kretprobe events.
 *
 *	kprobe			what a command says, and errors; no rights are needed
 *	kprobe --kernel		as root: makes events in the kernel, enables them, looks
 *				at what was traced, deletes them
 */
#include <fcntl.h>

#include "base/buf.h"
#include "events_test.h"
#include "tracefs/tracefs.h"

#if defined(__x86_64__)
#define ARG0	"dfd=%di"
#define ARG1	"filename=%si"
#define ARG2	"flags=%dx"
#define ARG3	"mode=+4($stack)"
#elif defined(__aarch64__)
#define ARG0	"dfd=%x0"
#define ARG1	"filename=%x1"
#define ARG2	"flags=%x2"
#define ARG3	"mode=%x3"
#else
#define ARG0	NULL
#define ARG1	NULL
#define ARG2	NULL
#define ARG3	NULL
#endif
#define FUNCTION	"do_sys_openat2"

static void test_text(void)
{
	char buf[MAX_DYNEVENT_CMD_LEN];
	struct dynevent_cmd cmd;

	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "gen_kprobe_test", "do_sys_open",
					    "dfd=%ax", "filename=%dx"), 0);
	CHECK_EQ(kprobe_event_add_fields(&cmd, "flags=%cx", "mode=+4($stack)"), 0);
	CHECK_EQ(kprobe_event_add_field(&cmd, "more=$stack0"), 0);
	CHECK_STR(buf, "p:kprobes/gen_kprobe_test do_sys_open  dfd=%ax  filename=%dx  "
		  "flags=%cx  mode=+4($stack)  more=$stack0 ");
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kretprobe_event_gen_cmd_start(&cmd, "gen_kretprobe_test",
					       "do_sys_open", "$retval"), 0);
	CHECK_STR(buf, "r:kprobes/gen_kretprobe_test do_sys_open  $retval ");
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "empty", "here"), 0);
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "null", "here", NULL, "x"), 0);
}

static void test_errors(void)
{
	char buf[MAX_DYNEVENT_CMD_LEN], small[30];
	struct dynevent_cmd cmd;

	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "x", "y"), -EINVAL);
	CHECK_EQ(kretprobe_event_gen_cmd_start(&cmd, "x", "y"), -EINVAL);
	CHECK_EQ(kprobe_event_add_fields(&cmd, "a=%ax"), -EINVAL);
	CHECK_EQ(kprobe_event_gen_cmd_start(NULL, "x", "y"), -EINVAL);
	CHECK_EQ(kprobe_event_add_field(NULL, "a=%ax"), -EINVAL);
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, NULL, "y"), -EINVAL);
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "x", NULL), -EINVAL);
	CHECK_STR(buf, "");
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "x", "y"), 0);
	for (int i = 0; i < 128; i++)
		CHECK_EQ(kprobe_event_add_field(&cmd, "a=%ax"), 0);
	CHECK_EQ(kprobe_event_add_field(&cmd, "a=%ax"), -EINVAL);

	kprobe_event_cmd_init(&cmd, small, sizeof(small));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "x", "y", "a=%ax"), 0);
	CHECK_EQ(kprobe_event_add_field(&cmd, "bbbbb=%ax"), -E2BIG);
	CHECK_EQ(kprobe_event_gen_cmd_end(&cmd), -E2BIG);

	/* what would be more than one command */
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "x", "y\np:z y"), 0);
	CHECK_EQ(kprobe_event_gen_cmd_end(&cmd), -EINVAL);
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kretprobe_event_gen_cmd_start(&cmd, "x", "y", "#"), 0);
	CHECK_EQ(kretprobe_event_gen_cmd_end(&cmd), -EINVAL);
	CHECK_EQ(kprobe_event_delete(NULL), -EINVAL);
	CHECK_EQ(kprobe_event_delete(""), -EINVAL);
	CHECK_EQ(kprobe_event_delete("a b"), -EINVAL);
	CHECK_EQ(kprobe_event_delete("kprobes/"), -EINVAL);
	CHECK_EQ(kprobe_event_delete("a\n-:b"), -EINVAL);
	memset(buf, 'x', 64);
	buf[64] = '\0';
	CHECK_EQ(kprobe_event_delete(buf), -EINVAL);
}

/* What is said where the kernel cannot, or may not for us. */
static void test_refused(void)
{
	char buf[MAX_DYNEVENT_CMD_LEN];
	struct tacho_tracefs t;
	struct dynevent_cmd cmd;
	int want = tacho_tracefs_open(&t, 0, NULL);

	if (!want) {
		want = faccessat(t.dirfd, "kprobe_events", F_OK, 0) ? -EOPNOTSUPP : 0;
		if (!want && faccessat(t.dirfd, "kprobe_events", W_OK, 0))
			want = -errno;
		tacho_tracefs_close(&t);
	}
	if (want == -ENODEV)
		want = -EOPNOTSUPP;
	if (!want)
		return;		/* --kernel is for that */
	kprobe_event_cmd_init(&cmd, buf, sizeof(buf));
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "tacho_test", FUNCTION), 0);
	CHECK_EQ(kprobe_event_gen_cmd_end(&cmd), want);
	CHECK_EQ(kprobe_event_delete("tacho_test"), want);
	CHECK_EQ(PTR_ERR(trace_get_event_file(NULL, "kprobes", "tacho_test")),
		 -EINVAL);
}

/* ---- with the kernel ---- */

static char *read_tracefs(const char *path)
{
	struct tacho_tracefs t;
	struct tacho_buf b;
	char *text;

	tacho_buf_init(&b, 64 << 20);
	if (CHECK_EQ(tacho_tracefs_open(&t, 0, NULL), 0)) {
		CHECK_EQ(tacho_tracefs_read(t.dirfd, path, &b, NULL), 0);
		tacho_tracefs_close(&t);
	}
	text = strdup(tacho_buf_str(&b));
	tacho_buf_release(&b);
	if (!text)
		exit(1);
	return text;
}

/* The first line of text, for those who read the test's output. */
static __attribute__((noinline)) void print_line(const char *text)
{
	printf("# %.*s\n", (int)strcspn(text, "\n"), text);
}

/* Opens a file, so that the functions are called. */
static void provoke(void)
{
	int fd = open("/proc/self/status", O_RDONLY);

	if (fd >= 0)
		close(fd);
}

/* The rest of the specification's example: enable, trace, disable, delete. */
static void use_event(const char *name, const char *want)
{
	struct trace_event_file *file;
	char *trace, *line;

	file = trace_get_event_file(NULL, "kprobes", name);
	if (!CHECK_EQ(PTR_ERR_OR_ZERO(file), 0))
		return;
	CHECK_EQ(synth_event_trace(file, 1, 1), -EINVAL);
	CHECK_EQ(trace_array_set_clr_event(file->tr, "kprobes", name, true), 0);
	provoke();
	CHECK_EQ(kprobe_event_delete(name), -EBUSY);
	CHECK_EQ(trace_array_set_clr_event(file->tr, "kprobes", name, false), 0);
	trace = read_tracefs("trace");
	line = strstr(trace, want);
	if (CHECK(line))
		print_line(line);
	else
		printf("# %.500s\n", trace);
	free(trace);
	trace_put_event_file(file);
	CHECK_EQ(kprobe_event_delete(name), 0);
	CHECK_EQ(kprobe_event_delete(name), -ENOENT);
	CHECK_EQ(PTR_ERR(trace_get_event_file(NULL, "kprobes", name)), -EINVAL);
}

static void test_kernel(void)
{
	struct trace_event_file *file;
	struct dynevent_cmd cmd;
	char *buf, *text;
	int ret;

	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret = kprobe_event_gen_cmd_start(&cmd, "gen_kprobe_test", FUNCTION,
					 ARG0, ARG1);
	CHECK_EQ(ret, 0);
	ret = kprobe_event_add_fields(&cmd, ARG2, ARG3);
	CHECK_EQ(ret, 0);
	ret = kprobe_event_gen_cmd_end(&cmd);
	CHECK_EQ(ret, 0);
	text = read_tracefs("kprobe_events");
	print_line(text);
	CHECK(strstr(text, "p:kprobes/gen_kprobe_test " FUNCTION));
	free(text);
	use_event("gen_kprobe_test", "gen_kprobe_test: (" FUNCTION);

	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret = kretprobe_event_gen_cmd_start(&cmd, "gen_kretprobe_test",
					    FUNCTION, "$retval");
	CHECK_EQ(ret, 0);
	ret = kretprobe_event_gen_cmd_end(&cmd);
	CHECK_EQ(ret, 0);
	use_event("gen_kretprobe_test", "<- " FUNCTION);

	/* what the kernel says */
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "bad", "no_such_function_at_all"), 0);
	ret = kprobe_event_gen_cmd_end(&cmd);
	CHECK(ret == -ENOENT || ret == -EINVAL);
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	CHECK_EQ(kprobe_event_gen_cmd_start(&cmd, "bad", FUNCTION, "x=%nothing"), 0);
	CHECK_EQ(kprobe_event_gen_cmd_end(&cmd), -EINVAL);
	free(buf);

	/* any event of the kernel can be switched, in the global trace array only */
	file = trace_get_event_file(NULL, "sched", "sched_switch");
	if (CHECK_EQ(PTR_ERR_OR_ZERO(file), 0)) {
		CHECK_EQ(trace_array_set_clr_event(file->tr, "sched", "sched_switch",
						   true), 0);
		text = read_tracefs("events/sched/sched_switch/enable");
		CHECK_STR(text, "1\n");
		free(text);
		CHECK_EQ(trace_array_set_clr_event(file->tr, "sched", "sched_switch",
						   false), 0);
		CHECK_EQ(trace_array_set_clr_event(file->tr, "sched", NULL, true),
			 -EINVAL);
		trace_put_event_file(file);
	}
	make_session("named");
	CHECK_EQ(PTR_ERR(trace_get_event_file("named", "sched", "sched_switch")),
		 -EINVAL);
	CHECK_EQ(PTR_ERR(trace_get_event_file(NULL, "sched", "../sched")), -EINVAL);
}

int main(int argc, char **argv)
{
	test_begin();
	test_args(argc, argv);
	TEST(test_text());
	TEST(test_errors());
	TEST(test_refused());
	if (argc > 1 && !strcmp(argv[1], "--kernel"))
		TEST(test_kernel());
	return test_done();
}
