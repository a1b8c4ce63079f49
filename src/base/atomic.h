/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - memory accesses shared between threads or processes, with the
 * order in the name.
 *
 * All code in src uses these macros: no compiler built-ins and no _Atomic types.  (The
 * public headers cannot include this file; they have the few built-ins that sites need.)
 *
 * Order in use:
 *	relaxed		counters, hints, words that another access orders
 *	release and acquire	publication: what was stored before the release is visible
 *			after the acquire that reads it.  Both ends have the same name in
 *			brackets in a comment, as [cursor]; a name means one pair of ends,
 *			or several ends of one word
 *	seq_cst		two words that answer each other (state and fast_until, wake and
 *			wanted), and words that tools change rarely
 *	fences		copies of several words that may be overwritten during the copy: the
 *			writer has tacho_fence_release() between the word that announces
 *			the change and the words, the reader tacho_fence_acquire() between
 *			the copy and the second look at that word.  They have names, too
 *
 * tests/tree/pairs.py checks that every release store and release fence is named, and every
 * name has both ends.
 */
#ifndef TACHO_BASE_ATOMIC_H
#define TACHO_BASE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define tacho_load_relaxed(p)		__atomic_load_n((p), __ATOMIC_RELAXED)
#define tacho_load_acquire(p)		__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define tacho_load_seq_cst(p)		__atomic_load_n((p), __ATOMIC_SEQ_CST)

#define tacho_store_relaxed(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define tacho_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define tacho_store_seq_cst(p, v)	__atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

/* Each returns the old value. */
#define tacho_add_relaxed(p, v)		__atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define tacho_sub_acq_rel(p, v)		__atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)
#define tacho_sub_relaxed(p, v)		__atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define tacho_add_seq_cst(p, v)		__atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define tacho_or_seq_cst(p, v)		__atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define tacho_and_seq_cst(p, v)		__atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define tacho_swap_seq_cst(p, v)	__atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/*
 * Compare and swap: true when *p was *expected and is now v; else *expected
 * holds what was found.  Acquire-release on success, acquire on failure.
 */
#define tacho_cas_acq_rel(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), false, \
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* The same, sequentially consistent. */
#define tacho_cas_seq_cst(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), false, \
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* gcc warns that its ThreadSanitizer does not see fences.  It need not: the two below order
 * relaxed accesses only. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/*
 * Orders all loads before it with all loads after it: the reader's side of a
 * "copy, then check that it was not overwritten" protocol.
 */
static inline void tacho_fence_acquire(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/*
 * Orders all stores before it with all stores after it: the writer's side of
 * the same protocol.  A compiler barrier on x86-64.
 */
static inline void tacho_fence_release(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/*
 * Copies n words that other threads may read or write at the same time.  Each word is
 * copied whole; the caller orders them (by a fence, or by the release store that follows).
 */
static inline void tacho_copy_relaxed(uint64_t *dst, const uint64_t *src,
				      uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		tacho_store_relaxed(&dst[i], tacho_load_relaxed(&src[i]));
}

/* Keeps the compiler from moving accesses across; for a signal handler of this thread. */
static inline void tacho_signal_fence(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Tells the core that this is a waiting loop. */
static inline void tacho_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

#endif
