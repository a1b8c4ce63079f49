/* SPDX-License-Identifier: MIT */
/*
 * sequence.h - restartable sequences: "do these stores, but only if no other thread ran on this
 * CPU in between".
 *
 * The C library (glibc >= 2.35) registers each thread with the kernel; where it
 * has not (old library or kernel, Valgrind, another architecture),
 * tacho_rseq_self() is NULL and the caller uses a lock.
 *
 * Three sequences, named by their pseudo-code.  All return 0 when the last store was done, and -1
 * if it was not: the thread was preempted, migrated or signalled, is on another CPU, or the word
 * was not as expected.  Stores before the last may have been done any number of times.
 *
 *	tacho_rseq_cmp_copy_store(rs, cpu, word, expect, dst, head, src, n, new)
 *		if (rs->cpu_id != cpu || *word != expect)
 *			return -1;
 *		*dst = head;
 *		dst[1 .. n] = src[0 .. n-1];		// n > 0
 *		*word = new;				// commit
 *
 *	tacho_rseq_cmp_ranges_store(rs, cpu, word, expect, range, n, new)
 *		if (rs->cpu_id != cpu || *word != expect)
 *			return -1;
 *		for each range: dst[0 .. words-1] = src[0 .. words-1];
 *		*word = new;				// commit
 *
 * The commit is a release store.
 *
 *	tacho_rseq_cmp_add(rs, cpu, word, value)
 *		if (rs->cpu_id != cpu)
 *			return -1;
 *		*word += value;				// commit
 *
 * The commit of tacho_rseq_cmp_add() orders nothing.  On x86-64 it is one instruction that adds
 * to memory: not atomic for other CPUs, which do not write the word, but either done or not done
 * for the next thread on this CPU.
 */
#ifndef TACHO_SYS_SEQUENCE_H
#define TACHO_SYS_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* One run of 64-bit words to copy; words may be 0. */
struct tacho_copy_range {
	uint64_t *dst;
	const uint64_t *src;
	uint64_t words;
};

#if !defined(TACHO_RSEQ_PLAIN) && defined(__has_include)
#if __has_include(<sys/rseq.h>) && (defined(__x86_64__) || defined(__aarch64__))
#define TACHO_HAVE_RSEQ 1
#endif
#endif

#ifdef TACHO_HAVE_RSEQ

#include <sys/rseq.h>

#include "base/atomic.h"

/*
 * This thread's area.  It exists also if the registration failed or was disabled; cpu_id is
 * a huge number then.  Any context.
 */
static TACHO_ALWAYS_INLINE struct rseq *tacho_rseq_area(void)
{
	char *thread;

#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(thread));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(thread));
#endif
	return (struct rseq *)(void *)(thread + __rseq_offset);
}

/* The offset of tacho_rseq_area() from the thread pointer. */
static inline uint64_t tacho_rseq_offset(void)
{
	return (uint64_t)__rseq_offset;
}

/* This thread's registration, or NULL.  Any context. */
static inline struct rseq *tacho_rseq_self(void)
{
	return __rseq_size ? tacho_rseq_area() : NULL;
}

/* The CPU to try; a huge number if the registration failed. */
static TACHO_ALWAYS_INLINE uint32_t tacho_rseq_cpu(const struct rseq *rs)
{
	return tacho_load_relaxed(&rs->cpu_id);
}

#if defined(__x86_64__)
#include "sys/sequence-x86_64.h"
#else
#include "sys/sequence-aarch64.h"
#endif

#else

struct rseq;

static inline struct rseq *tacho_rseq_self(void)
{
	return NULL;
}

static inline uint64_t tacho_rseq_offset(void)
{
	return 0;
}

#endif

#endif
