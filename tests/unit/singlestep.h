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
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

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

#endif
