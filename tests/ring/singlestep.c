// SPDX-License-Identifier: MIT
/*
 * singlestep - SIGKILL at every instruction of one tacho_ring_write().
 *
 *	singlestep [stride]	1: every instruction; default 13
 *
 * A child writes one record under ptrace and is killed after k single steps, for
 * k = 1, 1 + stride, ...  A restartable sequence cannot be stepped (each stop makes the
 * kernel restart it), so it is run over, and for the instructions inside a
 * hardware breakpoint is set on each of its bytes in turn, with a child for each:
 * where one stops, it is killed there.
 *
 * After each kill the lane has the record whole or not at all, and the next writer
 * goes on.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#ifndef __x86_64__
int main(void)
{
	SKIP("single-stepping is known for x86-64 only");
}
#else

/* A child's marks, shared: its call began, and ended. */
static struct marks {
	uint32_t began, ended;
} *marks;

static struct fixture fix;

struct scene {
	const char *name;
	uint32_t flags;
	bool plain;
	uint32_t before;	/* records of 8 words in the lane already */
};

static const struct scene scenes[] = {
	{ "fast path", 0, false, 3 },
	{ "sub-buffer change", 0, false, 0 },
	{ "change, overwriting", TACHO_SESSION_OVERWRITE, false, 0 },
	{ "plain lane", 0, true, 3 },
	{ "plain lane, change", 0, true, 0 },
	{ "plain lane, change, overwriting", TACHO_SESSION_OVERWRITE, true, 0 },
};

static TACHO_NOINLINE int put(uint64_t slot, uint64_t n)
{
	uint64_t raw[8];

	ledger_make(raw, 8, slot, n);
	return tacho_ring_write(&fix.ring, raw, 8);
}

static uint64_t make_scene(const struct scene *s)
{
	uint64_t n = s->before;

	memset(marks, 0, sizeof(*marks));
	fixture_make_cpus(&fix, TACHO_SUB_SHIFT_MIN, s->flags ? 2 : 8, s->flags,
			  s->plain ? 0 : tacho_cpu_possible());
	/* for a change: until nothing fits in the sub-buffer any more; in
	 * overwrite mode of the second, so that the change overwrites */
	if (!n)
		n = (fix.ring.sub_words - TACHO_PACKET_WORDS) / 9 *
		    (s->flags ? 2 : 1);
	for (uint64_t i = 0; i < n; i++)
		if (put(0, i))
			abort();
	return n;
}

/* The child: stops itself, writes one record, and is gone. */
static pid_t start_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(9);
		(void)raise(SIGSTOP);
		tacho_store_release(&marks->began, 1);
		(void)put(1, 0);
		tacho_store_release(&marks->ended, 1);
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	return WIFSTOPPED(status) ? child : -1;
}

static void kill_child(pid_t child)
{
	if (child <= 0)
		return;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

/* The lane after a kill: n records before, perhaps the victim's, and 3 more. */
static void check_lane(const struct scene *s, const char *where, uint64_t n)
{
	uint64_t read = 0, over = 0, bad = 0, written = fixture_written(&fix);
	bool good = written == n || written == n + 1;

	for (uint64_t i = 0; i < 3; i++)
		bad += put(2, i) != 0;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&fix.ring); lane++) {
		struct ledger_lane one = { 0 };
		struct tacho_ring_reader rd;
		struct tacho_chunk c;

		if (tacho_ring_reader_init(&rd, &fix.ring, lane, 0, false, 0))
			continue;
		while (tacho_ring_read(&rd, &c) == 1)
			ledger_chunk(&one, &c, NULL, NULL);
		read += one.read;
		over += one.overwritten;
		bad += one.torn + one.disorder + rd.damaged;
		tacho_ring_reader_release(&rd);
	}
	good = good && !bad && read + over == written + 3 && !fixture_lost(&fix);
	if (!CHECK(good))
		printf("# %s, %s: %ju before, %ju written, %ju read, %ju "
		       "overwritten, %ju bad\n", s->name, where, (uintmax_t)n,
		       (uintmax_t)written, (uintmax_t)read, (uintmax_t)over,
		       (uintmax_t)bad);
}

/* ---- sequences ---- */

struct sequence {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

#ifdef TACHO_HAVE_RSEQ
extern const struct sequence __start___rseq_cs[], __stop___rseq_cs[];
#define SEQUENCES	__start___rseq_cs
#define SEQUENCES_END	__stop___rseq_cs
#else
static const struct sequence no_sequences[1];
#define SEQUENCES	no_sequences
#define SEQUENCES_END	no_sequences
#endif

/*
 * The sequence that the instruction at pc is about to begin: the store of its
 * descriptor's address, 4 or 5 bytes long, is the last one before it.  The
 * child's text is ours, at the same address.
 */
static const struct sequence *sequence_after(uint64_t pc)
{
	const unsigned char *text = (const unsigned char *)(uintptr_t)pc;

	for (const struct sequence *q = SEQUENCES; q < SEQUENCES_END; q++)
		if ((q->start - pc == 4 || q->start - pc == 5) && text[1] == 0x89)
			return q;
	return NULL;
}

/* Where a sequence goes that does not commit: its abort handler is one jump. */
static uint64_t sequence_fails_to(const struct sequence *q)
{
	const unsigned char *jump = (const unsigned char *)(uintptr_t)q->abort;
	int32_t far;

	if (jump[0] == 0xeb)
		return q->abort + 2 + (uint64_t)(int64_t)(signed char)jump[1];
	memcpy(&far, jump + 1, sizeof(far));
	return q->abort + 5 + (uint64_t)(int64_t)far;
}

/* Stops the child when it is about to execute `a` or `b`; 0: nowhere. */
static int break_at(pid_t child, uint64_t a, uint64_t b)
{
	size_t dr = offsetof(struct user, u_debugreg);

	if (ptrace(PTRACE_POKEUSER, child, dr + 7 * 8, 0) ||
	    ptrace(PTRACE_POKEUSER, child, dr, a) ||
	    ptrace(PTRACE_POKEUSER, child, dr + 8, b))
		return -1;
	return ptrace(PTRACE_POKEUSER, child, dr + 7 * 8,
		      (a ? 1 : 0) | (b ? 4 : 0)) ? -1 : 0;
}

static uint64_t pc_of(pid_t child)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, child,
				offsetof(struct user, regs.rip), NULL);
}

/* Lets the child go on until it stops or ends; true: it stopped. */
static bool resume(pid_t child, int how)
{
	int status;

	if (ptrace(how, child, NULL, NULL) || waitpid(child, &status, 0) != child)
		return false;
	return WIFSTOPPED(status);
}

/* ---- the tests ---- */

/* One step, or a whole sequence; false when the child has ended. */
static bool step(pid_t child)
{
	const struct sequence *q = sequence_after(pc_of(child));

	if (!q)
		return resume(child, PTRACE_SINGLESTEP);
	if (break_at(child, q->start + q->length, sequence_fails_to(q)) ||
	    !resume(child, PTRACE_CONT))
		return false;
	return !break_at(child, 0, 0);
}

/* Kills after `steps` steps inside the call; false when it ended before. */
static bool kill_after(const struct scene *s, uint64_t steps)
{
	uint64_t n = make_scene(s);
	pid_t child = start_child();
	char where[32];
	bool on = child > 0;

	while (on && !tacho_load_acquire(&marks->began))
		on = step(child);
	for (uint64_t i = 0; on && i < steps; i++)
		on = step(child) && !tacho_load_acquire(&marks->ended);
	kill_child(child);
	(void)snprintf(where, sizeof(where), "step %ju", (uintmax_t)steps);
	check_lane(s, where, n);
	fixture_drop(&fix);
	return on;
}

/* Kills at an address inside a sequence; whether it was reached. */
static bool kill_at(const struct scene *s, uint64_t address)
{
	uint64_t n = make_scene(s);
	pid_t child = start_child();
	char where[32];
	bool reached;

	if (child < 0 || break_at(child, address, 0)) {
		kill_child(child);
		fixture_drop(&fix);
		return false;
	}
	reached = resume(child, PTRACE_CONT);
	if (reached)
		kill_child(child);
	(void)snprintf(where, sizeof(where), "address %#jx", (uintmax_t)address);
	check_lane(s, where, n);
	fixture_drop(&fix);
	return reached;
}

static bool have_breakpoints(void)
{
	pid_t child;
	bool have;

	(void)make_scene(&scenes[0]);
	child = start_child();
	have = child > 0 && !break_at(child, (uint64_t)(uintptr_t)&put, 0);
	have = have && resume(child, PTRACE_CONT) &&
	       pc_of(child) == (uint64_t)(uintptr_t)&put;
	kill_child(child);
	fixture_drop(&fix);
	return have;
}

static void test_sequences(const struct scene *s, uint64_t stride)
{
	uint64_t reached = 0;

	for (const struct sequence *q = SEQUENCES; q < SEQUENCES_END; q++) {
		/* the commit is the last instruction: never skipped */
		for (uint64_t at = 0; at <= q->length; at++)
			if (at % stride == 0 || at + 12 >= q->length)
				reached += kill_at(s, q->start + at);
	}
	printf("# %s: killed at %ju places in sequences\n", s->name,
	       (uintmax_t)reached);
	CHECK(reached > 0);
}

static void test_steps(const struct scene *s, uint64_t stride)
{
	uint64_t k = 1;

	while (kill_after(s, k))
		k += stride;
	printf("# %s: killed at every %ju. of %ju steps\n", s->name,
	       (uintmax_t)stride, (uintmax_t)k);
	CHECK(k > 10);
}

int main(int argc, char **argv)
{
	uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 10) : 13;
	bool breaks;

	marks = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!stride || marks == MAP_FAILED || fixture_pin(0))
		return 1;
	breaks = have_breakpoints();
	if (!breaks)
		printf("# no hardware breakpoints: sequences are not killed inside\n");
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scenes); i++) {
		const struct scene *s = &scenes[i];

		if (!s->plain && (!fixture_has_rseq() || !breaks))
			continue;
		test_steps(s, stride);
		if (!s->plain)
			test_sequences(s, stride > 3 ? 3 : stride);
	}
	return test_done();
}
#endif
