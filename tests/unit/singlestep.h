/* SPDX-License-Identifier: MIT */
/*
 * singlestep.h - a child under ptrace, stopped and killed at any instruction; x86-64.
 *
 * A restartable sequence cannot be stepped (each stop makes the kernel restart it), so
 * it is run over, and for the instructions inside a hardware breakpoint is
 * set on each of its bytes in turn, with a child for each: where one stops, it is
 * killed there.
 */
#ifndef TACHO_TESTS_UNIT_SINGLESTEP_H
#define TACHO_TESTS_UNIT_SINGLESTEP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "sys/sequence.h"

static inline void singlestep_kill(pid_t child)
{
	if (child <= 0)
		return;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

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
static inline const struct sequence *singlestep_sequence_after(uint64_t pc)
{
	const unsigned char *text = (const unsigned char *)(uintptr_t)pc;

	for (const struct sequence *q = SEQUENCES; q < SEQUENCES_END; q++)
		if ((q->start - pc == 4 || q->start - pc == 5) && text[1] == 0x89)
			return q;
	return NULL;
}

/* Where a sequence goes that does not commit: its abort handler is one jump. */
static inline uint64_t singlestep_fails_to(const struct sequence *q)
{
	const unsigned char *jump = (const unsigned char *)(uintptr_t)q->abort;
	int32_t far;

	if (jump[0] == 0xeb)
		return q->abort + 2 + (uint64_t)(int64_t)(signed char)jump[1];
	memcpy(&far, jump + 1, sizeof(far));
	return q->abort + 5 + (uint64_t)(int64_t)far;
}

/* Stops the child when it is about to execute `a` or `b`; 0: nowhere. */
static inline int singlestep_break_at(pid_t child, uint64_t a, uint64_t b)
{
	size_t dr = offsetof(struct user, u_debugreg);

	if (ptrace(PTRACE_POKEUSER, child, dr + 7 * 8, 0) ||
	    ptrace(PTRACE_POKEUSER, child, dr, a) ||
	    ptrace(PTRACE_POKEUSER, child, dr + 8, b))
		return -1;
	return ptrace(PTRACE_POKEUSER, child, dr + 7 * 8,
		      (a ? 1 : 0) | (b ? 4 : 0)) ? -1 : 0;
}

static inline uint64_t singlestep_pc(pid_t child)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, child,
				offsetof(struct user, regs.rip), NULL);
}

/* Lets the child go on until it stops or ends; true: it stopped. */
static inline bool singlestep_resume(pid_t child, int how)
{
	int status;

	if (ptrace(how, child, NULL, NULL) || waitpid(child, &status, 0) != child)
		return false;
	return WIFSTOPPED(status);
}

/* One step, or a whole sequence; false when the child has ended. */
static inline bool singlestep_step(pid_t child)
{
	const struct sequence *q =
		singlestep_sequence_after(singlestep_pc(child));

	if (!q)
		return singlestep_resume(child, PTRACE_SINGLESTEP);
	if (singlestep_break_at(child, q->start + q->length,
				singlestep_fails_to(q)) ||
	    !singlestep_resume(child, PTRACE_CONT))
		return false;
	return !singlestep_break_at(child, 0, 0);
}

/* ---- a call that is killed --------------------------------------------------- */

/* The child's marks, shared: its call began, and ended. */
static struct singlestep_marks {
	uint32_t began, ended;
} *singlestep_marks;

/* Before all others; false without memory. */
static inline bool singlestep_init(void)
{
	singlestep_marks = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return singlestep_marks != MAP_FAILED;
}

/* A child that stops itself, makes the call, and is gone; -1: there is none. */
static inline pid_t singlestep_start(void (*call)(void))
{
	pid_t child;
	int status;

	memset(singlestep_marks, 0, sizeof(*singlestep_marks));
	child = fork();
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(9);
		(void)raise(SIGSTOP);
		tacho_store_release(&singlestep_marks->began, 1);
		call();
		tacho_store_release(&singlestep_marks->ended, 1);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFSTOPPED(status) ? child : -1;
}

/* Kills a child `steps` steps inside the call; false: it had ended before. */
static inline bool singlestep_kill_after(void (*call)(void), uint64_t steps)
{
	pid_t child = singlestep_start(call);
	bool on = child > 0;

	while (on && !tacho_load_acquire(&singlestep_marks->began))
		on = singlestep_step(child);
	for (uint64_t i = 0; on && i < steps; i++)
		on = singlestep_step(child) &&
		     !tacho_load_acquire(&singlestep_marks->ended);
	singlestep_kill(child);
	return on;
}

/* Kills a child that is about to execute what is at `address`; whether it was. */
static inline bool singlestep_kill_at(void (*call)(void), uint64_t address)
{
	pid_t child = singlestep_start(call);
	bool reached = child > 0 && !singlestep_break_at(child, address, 0) &&
		       singlestep_resume(child, PTRACE_CONT);

	singlestep_kill(child);
	return reached;
}

/* Whether a breakpoint on the call itself stops a child, there. */
static inline bool singlestep_has_breakpoints(void (*call)(void))
{
	uint64_t address = (uint64_t)(uintptr_t)call;
	pid_t child = singlestep_start(call);
	bool has = child > 0 && !singlestep_break_at(child, address, 0) &&
		   singlestep_resume(child, PTRACE_CONT) &&
		   singlestep_pc(child) == address;

	singlestep_kill(child);
	return has;
}

#endif
