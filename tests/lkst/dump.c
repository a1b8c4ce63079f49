// SPDX-License-Identifier: MIT
/* The last events as text: by a call, on signals, out of a fault; lines; the core filter. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "fmt/lkst/line.h"
#include "lkst/prog.h"
#include "lkst/types.h"

static char text[128 << 10];
static char self[4096];

/* ---- lines ---- */

static void test_dates(void)
{
	static const struct {
		int64_t days;
		int32_t year;
		uint32_t month, day;
	} d[] = {
		{ 0, 1970, 1, 1 }, { -1, 1969, 12, 31 }, { 59, 1970, 3, 1 }, { 789, 1972, 2, 29 },
		{ 11016, 2000, 2, 29 }, { 11017, 2000, 3, 1 }, { 20779, 2026, 11, 22 },
		{ 47540, 2100, 2, 28 }, { 47541, 2100, 3, 1 }, { -719468, 0, 3, 1 },
		{ -719529, -1, 12, 31 },
	};

	for (size_t i = 0; i < sizeof(d) / sizeof(d[0]); i++) {
		struct lkst_date got = lkst_date_of(d[i].days);

		CHECK_EQ(got.year, d[i].year);
		CHECK_EQ(got.month, d[i].month);
		CHECK_EQ(got.day, d[i].day);
	}
	/* each day follows the one before */
	for (int64_t day = -800000; day < 800000; day += 97) {
		struct lkst_date a = lkst_date_of(day), b = lkst_date_of(day + 1);

		if (!(b.day == a.day + 1 && b.month == a.month && b.year == a.year) &&
		    !(b.day == 1 && a.day >= 28 && (b.month == a.month + 1 ||
						   (b.month == 1 && b.year == a.year + 1))))
			CHECK_EQ(day, 0);
	}
}

static const char *line(const struct lkst_record *r, const struct lkst_line *how)
{
	static char to[LKST_LINE_MAX + 1];
	size_t n = lkst_line_put(to, r, how);

	CHECK(n <= LKST_LINE_MAX);
	to[n] = '\0';
	return to;
}

static void test_lines(void)
{
	char widest[200];
	struct lkst_record r = { .etype = 0x123, .cpu = 1, .pid = 42, .arg = { 0, 0x1f, 3, 4 } };
	struct lkst_line how = { .name = "an event", .arg = { "first", "", NULL, "last\n" },
				 .realtime = 1795315266123456789 };

	CHECK_STR(line(&r, &how), "an event cpu=1 pid=42 2026-11-22 02:41:06.123456789 first=0x0 "
				  "last?=0x4\n");
	how.all = true;
	how.name = NULL;
	how.utc_offset = -3 * 3600;
	CHECK_STR(line(&r, &how), "0x123 cpu=1 pid=42 2026-11-21 23:41:06.123456789 first=0x0 "
				  "arg2=0x1f arg3=0x3 last?=0x4\n");
	/* all of it as wide as it can be */
	memset(widest, 'x', sizeof(widest) - 1);
	widest[sizeof(widest) - 1] = '\0';
	r = (struct lkst_record){ .etype = 0xffff, .cpu = 0xffff, .pid = INT32_MIN,
				  .arg = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX } };
	how = (struct lkst_line){ .name = widest, .arg = { widest, widest, widest, widest },
				  .realtime = UINT64_MAX, .utc_offset = INT32_MIN, .all = true };
	CHECK(strlen(line(&r, &how)) > 400);
}

/* ---- dumps ---- */

static void hit(uint64_t n)
{
	LKST_HOOK(TEST_ONE, n, n * 2, 0, ~n);
}

/* What fn writes to a file, in `text`. */
static int out;

static void begin_text(void)
{
	out = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (out < 0)
		out = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	CHECK(out >= 0);
}

static size_t end_text(void)
{
	ssize_t n = pread(out, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(out);
	return n > 0 ? (size_t)n : 0;
}

static int count_lines(void)
{
	int n = 0;

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n++;
	return n;
}

/* The text is of events from, from + 1 .. to of process pid; in order. */
static void check_text(uint64_t from, uint64_t to, int pid)
{
	char want[160];
	const char *p;

	snprintf(want, sizeof(want), "lkst: the last %d events of process %d\n",
		 (int)(to - from + 1), pid);
	if (!CHECK(!strncmp(text, want, strlen(want))))
		printf("# %.100s\n", text);
	CHECK_EQ(count_lines(), to - from + 2);
	p = strchr(text, '\n') + 1;
	for (uint64_t n = from; n <= to; n++) {
		const char *args = strstr(p, " a=");

		snprintf(want, sizeof(want), "first \"test\" event 100%% cpu=");
		CHECK(!strncmp(p, want, strlen(want)));
		snprintf(want, sizeof(want), " a=0x%llx b=0x%llx c: d=0x0 d=0x%llx\n",
			 (unsigned long long)n, (unsigned long long)n * 2, (unsigned long long)~n);
		if (!args || strncmp(args, want, strlen(want))) {
			CHECK_EQ(n, -1);
			return;
		}
		p = args + strlen(want);
	}
}

static int child_hits(void *arg)
{
	(void)arg;
	hit(1000000);
	return 0;
}

/* The session, with the programs' event recorded. */
static void record_all(void)
{
	if (!tool.state)
		tool_open();
	record("all", (const struct prog_entry[]){ { 0x100, LKST_EVHANDLER_ID_LOG } }, 1);
}

static void test_dump(void)
{
	size_t len;

	begin_text();
	lkst_dump(out, 10);			/* no session yet */
	end_text();
	CHECK_STR(text, "lkst: nothing is recorded\n");
	record_all();
	begin_text();
	lkst_dump(out, 10);
	CHECK(end_text() > 0);
	CHECK_EQ(count_lines(), 2);		/* that we have switched masksets */
	CHECK(strstr(text, "lkst_maskset_set"));
	for (uint64_t i = 1; i <= 3000; i++)
		hit(i);
	CHECK_EQ(in_child(child_hits, NULL), 0);
	begin_text();
	errno = EDOM;
	lkst_dump(out, 3);
	CHECK_EQ(errno, EDOM);
	end_text();
	check_text(2998, 3000, getpid());
	begin_text();
	lkst_dump(out, 100000);
	len = end_text();
	CHECK(len <= 65536 && len > 60000);
	check_text(3000 - (uint64_t)count_lines() + 2, 3000, getpid());
	lkst_dump(-1, 10);			/* nowhere: nothing happens */
}

/* ---- signals ---- */

static void mine(int sig)
{
	(void)sig;
	if (write(STDERR_FILENO, "mine\n", 5) != 5)
		_exit(3);
}

/* How a program ends that was told to dump: what it does is in its arguments. */
static int program(char **argv)
{
	struct rlimit none = { 0, 0 };
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	setrlimit(RLIMIT_CORE, &none);
	for (uint64_t i = 1; i <= 10; i++)
		hit(i);
	if (!strcmp(argv[2], "quit")) {
		raise(SIGQUIT);
		hit(11);
		raise(SIGQUIT);
	} else if (!strcmp(argv[2], "fault")) {
		*page = 1;
	} else if (!strcmp(argv[2], "abort")) {
		lkst_dump_on_signal(SIGABRT, 2);
		abort();
	} else if (!strcmp(argv[2], "chain")) {
		signal(SIGUSR1, mine);
		lkst_dump_on_signal(SIGUSR1, 1);
		lkst_dump_on_signal(SIGUSR1, 2);
		raise(SIGUSR1);
	}
	return 0;
}

struct run {
	const char *dump, *core, *what, *filter;
};

static int run_program(void *arg)
{
	const struct run *r = arg;
	int fd;

	dup2(out, STDERR_FILENO);
	/* what a shell starts with '&' has it ignored */
	(void)signal(SIGQUIT, SIG_DFL);
	/* sanitizers have handlers of their own */
	setenv("ASAN_OPTIONS", "handle_segv=0", 1);
	setenv("UBSAN_OPTIONS", "handle_segv=0", 1);
	setenv("TSAN_OPTIONS", "handle_segv=0", 1);
	unsetenv("LKST_DUMP");
	unsetenv("LKST_CORE");
	if (r->dump)
		setenv("LKST_DUMP", r->dump, 1);
	if (r->core)
		setenv("LKST_CORE", r->core, 1);
	if (r->filter) {
		fd = open("/proc/self/coredump_filter", O_WRONLY);
		if (fd < 0 || write(fd, r->filter, strlen(r->filter)) < 0)
			return 9;
	}
	execl(self, self, "program", r->what, NULL);
	return 8;
}

/* Its exit status, or minus the signal; what it wrote is in text. */
static int run(const char *dump, const char *what, pid_t *pid)
{
	struct run r = { dump, NULL, what, NULL };
	int status;

	begin_text();
	fflush(stdout);
	*pid = fork();
	if (!*pid)
		_exit(run_program(&r));
	CHECK_EQ(waitpid(*pid, &status, 0), *pid);
	end_text();
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_signals(void)
{
	char *second;
	pid_t pid;

	record_all();
	CHECK_EQ(lkst_dump_on_signal(0, 1), -EINVAL);
	CHECK_EQ(lkst_dump_on_signal(NSIG, 1), -EINVAL);
	CHECK_EQ(lkst_dump_on_signal(SIGUSR1, 0), -EINVAL);
	CHECK_EQ(lkst_dump_on_signal(SIGKILL, 1), -EINVAL);

	CHECK_EQ(run(NULL, "quit", &pid), -SIGQUIT);
	CHECK_STR(text, "");
	CHECK_EQ(run("SEGV:1,QUIT:4", "quit", &pid), 0);	/* goes on */
	second = strstr(text + 1, "lkst: ");
	if (CHECK(second)) {
		*second = '\0';
		check_text(7, 10, pid);
		*second = 'l';
		memmove(text, second, strlen(second) + 1);
		check_text(8, 11, pid);
	}
	CHECK_EQ(run("SIGSEGV:3", "fault", &pid), -SIGSEGV);
	check_text(8, 10, pid);
	CHECK_EQ(run("11", "fault", &pid), -SIGSEGV);
	check_text(1, 10, pid);
	CHECK_EQ(run("nonsense:3,,:,SEGV:x,99999999", "abort", &pid), -SIGABRT);
	check_text(9, 10, pid);
	CHECK_EQ(run(NULL, "chain", &pid), 0);		/* then what was there before */
	CHECK(strlen(text) > 5 && !strcmp(text + strlen(text) - 5, "mine\n"));
	text[strlen(text) - 5] = '\0';
	check_text(9, 10, pid);
}

/* ---- cores ---- */

static int print_filter(void)
{
	char f[32] = "";
	int fd = open("/proc/self/coredump_filter", O_RDONLY);

	return fd < 0 || read(fd, f, sizeof(f) - 1) < 0 ? 99 : (int)strtoul(f, NULL, 16);
}

static void test_core(void)
{
	struct run r = { NULL, NULL, "filter", "0x23" };

	begin_text();
	CHECK_EQ(in_child(run_program, &r), 0x2b);
	r.core = "0";
	CHECK_EQ(in_child(run_program, &r), 0x23);
	r.core = "1";
	CHECK_EQ(in_child(run_program, &r), 0x2b);
	end_text();
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc > 2)
		return strcmp(argv[2], "filter") ? program(argv) : print_filter();
	test_args(argc, argv);
	self[n > 0 ? n : 0] = '\0';
	TEST(test_dates());
	TEST(test_lines());
	TEST(test_dump());
	TEST(test_signals());
	TEST(test_core());
	return prog_done();
}
