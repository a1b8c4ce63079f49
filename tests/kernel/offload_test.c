/* SPDX-License-Identifier: MIT */
/* Filters that a live stream's kernel runs: what comes, and what passes, is the same. */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "query/query.h"
#include "unit/test.h"

#define CALLS	500	/* of each of the child's system calls */
#define EVENT	"raw_syscalls:sys_enter"

/* A thread whose calls are the test's, once it is let go. */
struct child {
	pid_t pid;
	int go;
};

static struct child child_start(void)
{
	struct child c;
	int fd[2];

	if (pipe(fd))
		exit(1);
	c.pid = fork();
	if (!c.pid) {
		char byte;

		(void)prctl(PR_SET_NAME, "handed-child");
		close(fd[1]);
		if (read(fd[0], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < CALLS; i++) {
			(void)syscall(SYS_getppid);
			(void)syscall(SYS_getuid);
		}
		_exit(0);
	}
	close(fd[0]);
	c.go = fd[1];
	return c;
}

static void child_go(struct child c)
{
	if (write(c.go, "g", 1) != 1)
		exit(1);
	close(c.go);
}

struct outcome {
	uint32_t came, passed;	/* of all, and what the filter lets pass */
	uint32_t foreign;	/* came, and is not one of the child's getppid() */
	uint32_t wanted;	/* passed, and is */
	bool lost;		/* the machine was too busy */
};

static void count(struct outcome *o, struct tacho_query *q,
		  const struct tacho_record *r, pid_t pid)
{
	const struct tacho_field *id = tacho_type_field(r->type, "id");
	bool is = r->pid == pid && id &&
		  tacho_load_u64((const char *)r->raw + id->offset) == SYS_getppid;

	o->came++;
	o->foreign += !is;
	if (tacho_query_hit(q, r)) {
		o->passed++;
		o->wanted += is;
	}
}

/* Reads while the child runs, so that nothing is lost, and then what is left. */
static void read_child(struct outcome *o, struct tacho_stream *s,
		       struct tacho_query *q, struct child c)
{
	struct tacho_stream_info info;
	struct tacho_record r;
	bool ended = false, last = false;

	child_go(c);
	while (!last) {
		last = ended;
		while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
			count(o, q, &r, c.pid);
		if (!ended)
			ended = waitpid(c.pid, NULL, WNOHANG) == c.pid;
		(void)usleep(1000);
	}
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	o->lost = info.discarded;
}

/* What a filter, with the child's pid in it, lets pass of the child's calls. */
static struct outcome run(const char *filter, bool hand, uint32_t handed)
{
	struct child c = child_start();
	struct tacho_error error = { 0 };
	struct tacho_cmd_error e = { 0 };
	struct outcome o = { 0 };
	struct tacho_stream *s;
	struct tacho_query *q;
	char text[256];

	(void)snprintf(text, sizeof(text), "common_pid == %d && %s", (int)c.pid, filter);
	if (tacho_stream_open(&s, "kernel:" EVENT, 0, &error))
		SKIP(error.text);
	if (tacho_query_new(&q, s))
		exit(1);
	CHECK_EQ(tacho_query_filter(q, EVENT, text, &e), 0);
	if (hand)
		CHECK_EQ(tacho_query_offload(q), handed);
	read_child(&o, s, q, c);
	tacho_query_free(q);
	tacho_stream_close(s);
	return o;
}

static const struct {
	const char *text;
	uint32_t handed;
	bool alone;	/* the kernel can tell better than we */
} cases[] = {
	{ "id == 110", 1, false },
	{ "!(id < 110 || !(id <= 0x6e))", 1, false },
	{ "comm == handed-child && id == 110", 1, true },
	{ "id & CPUS{110}", 0, false },
	{ "id == CPUS{110}", 0, false },
};

/* All of the child's getppid(), and nothing else. */
static bool as_it_should(const struct outcome *o)
{
	return o->passed == o->wanted && (o->wanted == CALLS || o->lost);
}

/* Handed to the kernel, and here. */
static void test_case(size_t i)
{
	struct outcome o = run(cases[i].text, true, cases[i].handed);

	test_check(as_it_should(&o), __FILE__, __LINE__,
		   "%s: %u passed, %u wanted", cases[i].text, o.passed, o.wanted);
	/* the child's own getuid() comes when nobody but us filters */
	test_check(!o.foreign == (cases[i].handed == 1), __FILE__, __LINE__,
		   "%s: %u foreign ones came", cases[i].text, o.foreign);
	if (cases[i].alone)
		return;
	o = run(cases[i].text, false, 0);
	test_check(as_it_should(&o) && o.foreign, __FILE__, __LINE__,
		   "%s, here: %u passed, %u came", cases[i].text, o.passed,
		   o.came);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	if (geteuid() || SYS_getppid != 110)
		SKIP("not root, or system calls have other numbers");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		TEST_NAMED(cases[i].text, test_case(i));
	return test_done();
}
