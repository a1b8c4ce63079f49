/* SPDX-License-Identifier: MIT */
/* Symbols, system calls, tasks. */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kdata/symbols.h"
#include "kdata/syscalls.h"
#include "kdata/tasks.h"
#include "unit/test.h"

static void make_table(struct tacho_symbols *s, const char *text, size_t len)
{
	struct tacho_buf b;

	tacho_buf_init(&b, 1 << 20);
	tacho_buf_put(&b, text, len);
	tacho_symbols_init(s);
	CHECK_EQ(tacho_symbols_take(s, &b), 0);
	tacho_buf_release(&b);
}

static void test_symbols(void)
{
	static const char text[] =
		"0000000000000000 T hidden\n"
		"ffffffff81000100 T second\n"
		"ffffffff81000000 T first\n"
		"ffffffff81000000 t first_alias\n"
		"not a line\n"
		"ffffffff8100020\n"
		"fffffffff81000200 T too_long\n"
		"\n"
		"ffffffffc0000000 t helper\t[mod]\n"
		"ffffffff81000300 T ";
	static const struct {
		uint64_t addr, start, end;
		const char *name, *module;
	} rows[] = {
		{ 0, 0, 0, NULL, NULL },
		{ 0xffffffff80ffffff, 0, 0, NULL, NULL },
		{ 0xffffffff81000000, 0xffffffff81000000, 0xffffffff81000100, "first", NULL },
		{ 0xffffffff810000ff, 0xffffffff81000000, 0xffffffff81000100, "first", NULL },
		{ 0xffffffff81000100, 0xffffffff81000100, 0xffffffffc0000000, "second", NULL },
		{ 0xffffffffbfffffff, 0xffffffff81000100, 0xffffffffc0000000, "second", NULL },
		{ 0xffffffffc0000010, 0xffffffffc0000000, 0xffffffffc0000000, "helper", "mod" },
		{ UINT64_MAX, 0xffffffffc0000000, 0xffffffffc0000000, "helper", "mod" },
	};
	struct tacho_symbols s;
	uint64_t start;
	size_t i, len;

	make_table(&s, text, sizeof(text) - 1);
	CHECK_EQ(s.nr, 4);
	for (i = 0; i < TACHO_ARRAY_SIZE(rows); i++) {
		const char *name = tacho_symbols_at(&s, rows[i].addr, &start), *module;

		if (!CHECK_EQ(!name, !rows[i].name) || !name)
			continue;
		CHECK_STR(name, rows[i].name);
		CHECK_EQ(start, rows[i].start);
		CHECK_EQ(tacho_symbols_end(&s, start), rows[i].end);
		module = tacho_symbols_module(&s, name);
		CHECK_STR(module ? module : "", rows[i].module ? rows[i].module : "");
	}
	CHECK(tacho_symbols_find(&s, "first_alias", &start));
	CHECK_EQ(start, 0xffffffff81000000);
	CHECK(!tacho_symbols_find(&s, "hidden", &start));
	tacho_symbols_release(&s);
	for (len = 0; len < sizeof(text); len++) {
		make_table(&s, text, len);
		CHECK(s.nr <= 4);
		tacho_symbols_release(&s);
	}
}

/* What lies outside of the kernel's code is in no symbol, unless there are data's. */
static void test_bounds(void)
{
	static const char text[] =
		"0000000000001000 D per_cpu\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81000100 t last\n"
		"ffffffff81000200 T _etext\n"
		"ffffffff82000000 R odd\n"
		"ffffffff83000000 T _sinittext\n"
		"ffffffff83000100 t starts\n"
		"ffffffff83000200 T _einittext\n"
		"ffffffffc0000000 t helper\t[mod]\n"
		"ffffffffc0000100 T _etext\t[mod]\n"
		"ffffffff84000000 B _end";
	static const size_t no_end = sizeof("ffffffff84000000 B _end") - 1;
	static const struct {
		uint64_t addr;
		const char *code, *all;		/* without and with data's */
	} rows[] = {
		{ 0x1234, NULL, NULL },
		{ 0xffffffff81000000, "_stext", "_stext" },
		{ 0xffffffff810001ff, "last", "last" },
		{ 0xffffffff81000200, NULL, "_etext" },
		{ 0xffffffff82000010, NULL, "odd" },
		{ 0xffffffff83000000, "_sinittext", "_sinittext" },
		{ 0xffffffff830001ff, "starts", "starts" },
		{ 0xffffffff83000200, NULL, "_einittext" },
		{ 0xffffffff84000000, NULL, NULL },
		{ 0xffffffffc0000010, "helper", "helper" },
		{ 0xffffffffc0000110, "_etext", "_etext" },
	};

	for (int all = 0; all < 2; all++) {
		struct tacho_symbols s;

		make_table(&s, text, sizeof(text) - 1 - (all ? 0 : no_end));
		for (size_t i = 0; i < TACHO_ARRAY_SIZE(rows); i++) {
			const char *want = all ? rows[i].all : rows[i].code;
			const char *name = tacho_symbols_at(&s, rows[i].addr, NULL);

			CHECK_STR(name ? name : "", want ? want : "");
		}
		tacho_symbols_release(&s);
	}
}

/* The running kernel's, where it shows them. */
static void test_snapshot(void)
{
	struct tacho_diag d = { 0 };
	struct tacho_symbols s;
	struct tacho_buf text;
	int ret;

	tacho_buf_init(&text, (size_t)256 << 20);
	ret = tacho_symbols_snapshot(&text, &d);
	if (ret < 0) {
		CHECK_EQ(text.len, 0);
		CHECK(d.text[0]);
		printf("# %s\n", d.text);
	} else {
		tacho_symbols_init(&s);
		CHECK_EQ(tacho_symbols_take(&s, &text), 0);
		printf("# %zu symbols, %zu bytes\n", s.nr, s.text.len);
		CHECK(s.nr > 1000);
		tacho_symbols_release(&s);
	}
	tacho_buf_release(&text);
}

/* As nobody: all of it with addresses, or nothing and a sentence. */
static void test_hidden(void)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf text;
	int status, ret;
	pid_t pid;

	if (geteuid())
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		tacho_buf_init(&text, (size_t)256 << 20);
		tacho_buf_puts(&text, "before");
		ret = tacho_symbols_snapshot(&text, &d);
		if (ret == -EACCES)
			_exit(text.len != 6 || !strstr(d.text, "run as root"));
		_exit(ret || text.len < 1000 ? 3 : 0);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

static void test_syscalls(void)
{
	static const char lines[] = "0 read\nx\n7\n70000 far\n 3 blank\n5 \n"
				    "9 nine\n9 again\n11 last";
	struct tacho_arena arena;
	struct tacho_syscalls s;
	struct tacho_buf text;
	uint64_t nr;

	CHECK_STR(tacho_syscall_name(SYS_getppid), "getppid");
	CHECK_STR(tacho_syscall_name(SYS_read), "read");
	CHECK_STR(tacho_syscall_name(SYS_openat), "openat");
	CHECK_STR(tacho_syscall_name(SYS_exit_group), "exit_group");
	CHECK_STR(tacho_syscall_name(462), "mseal");
	CHECK(!tacho_syscall_name(UINT64_MAX));

	tacho_arena_init(&arena, 1 << 20);
	CHECK_EQ(tacho_syscalls_parse(&s, &arena, lines, sizeof(lines) - 1), 0);
	CHECK_EQ(s.nr, 12);
	CHECK_STR(tacho_syscalls_find(&s, 0), "read");
	CHECK_STR(tacho_syscalls_find(&s, 9), "nine");
	CHECK_STR(tacho_syscalls_find(&s, 11), "last");
	CHECK(!tacho_syscalls_find(&s, 5));
	CHECK(!tacho_syscalls_find(&s, 7));
	CHECK(!tacho_syscalls_find(&s, 12));
	CHECK_EQ(tacho_syscalls_parse(&s, &arena, "", 0), 0);
	CHECK_EQ(s.nr, 0);

	/* What is written is what is read. */
	tacho_buf_init(&text, 1 << 20);
	tacho_syscalls_text(&text);
	CHECK_EQ(tacho_syscalls_parse(&s, &arena, text.data, text.len), 0);
	CHECK(s.nr > 300);
	for (nr = 0; nr < s.nr + 10; nr++) {
		const char *a = tacho_syscall_name(nr);
		const char *b = tacho_syscalls_find(&s, nr);

		CHECK_EQ(!a, !b);
		if (a && b)
			CHECK_STR(a, b);
	}
	tacho_buf_release(&text);
	tacho_arena_release(&arena);
}

static void test_tasks(void)
{
	struct tacho_ktask *task;
	struct tacho_ktasks t;
	char want[16];
	int32_t pid;

	CHECK_EQ(tacho_ktasks_init(&t), 0);
	task = tacho_ktasks_find(&t, 0);
	CHECK(task && !strcmp(task->comm, "<idle>"));
	tacho_ktasks_name(&t, 0, "swapper/1", 9);
	task = tacho_ktasks_find(&t, 0);
	CHECK_STR(task->comm, "<idle>");

	CHECK(!tacho_ktasks_find(&t, 4000000));
	tacho_ktasks_see(&t, 4000000);
	tacho_ktasks_see(&t, 4000000);
	CHECK_EQ(t.nr, 2);
	CHECK(!tacho_ktasks_bit(t.named, 4000000));
	tacho_ktasks_name(&t, 4000000, "a-name-of-sixteen-and-more", 26);
	task = tacho_ktasks_find(&t, 4000000);
	CHECK_STR(task->comm, "a-name-of-sixte");
	CHECK(tacho_ktasks_bit(t.named, 4000000));
	tacho_ktasks_forget(&t, 4000000);
	CHECK(!tacho_ktasks_bit(t.named, 4000000));
	/* What no thread can be called. */
	tacho_ktasks_see(&t, -1);
	tacho_ktasks_see(&t, TACHO_KTASKS_PID_MAX);
	tacho_ktasks_see(&t, INT32_MIN);
	tacho_ktasks_name(&t, -5, "x", 1);
	CHECK_EQ(t.nr, 2);

	/* More than fit at first, some of them on the same slots. */
	for (pid = 1; pid < 100000; pid += 3)
		tacho_ktasks_see(&t, pid);
	CHECK_EQ(t.nr, 2 + 33333);
	for (pid = 1; pid < 100000; pid++) {
		task = tacho_ktasks_find(&t, pid);
		if (!!task != (pid % 3 == 1) || (task && task->pid != pid))
			test_check(0, __FILE__, __LINE__, "id %d", (int)pid);
	}
	tacho_ktasks_release(&t);

	CHECK_EQ(tacho_ktasks_init(&t), 0);
	prctl(PR_SET_NAME, "first name");
	tacho_ktasks_scan(&t);
	task = tacho_ktasks_find(&t, getpid());
	if (CHECK(task)) {
		CHECK_STR(task->comm, "first name");
		CHECK_EQ(task->tgid, getpid());
	}
	tacho_ktasks_release(&t);

	CHECK_EQ(tacho_ktasks_init(&t), 0);
	prctl(PR_SET_NAME, "second");
	tacho_ktasks_see(&t, getpid());
	tacho_ktasks_look(&t, 100);
	task = tacho_ktasks_find(&t, getpid());
	snprintf(want, sizeof(want), "second");
	if (CHECK(task)) {
		CHECK_STR(task->comm, want);
		CHECK_EQ(task->tgid, getpid());
	}
	tacho_ktasks_release(&t);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_symbols());
	TEST(test_bounds());
	TEST(test_snapshot());
	TEST(test_hidden());
	TEST(test_syscalls());
	TEST(test_tasks());
	return test_done();
}
