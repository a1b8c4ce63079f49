/* SPDX-License-Identifier: MIT */
/* write.h - the writer's side of ring.h: steps W1..W4 inline, the rest out of line. */
#ifndef TACHO_RING_WRITE_H
#define TACHO_RING_WRITE_H

#include "base/atomic.h"
#include "base/inject.h"
#include "ring/ring.h"
#include "sys/clock.h"
#include "sys/sequence.h"

/* Why a record was not written; the lane's counter has it. */
enum tacho_ring_loss {
	TACHO_LOSS_FULL,	/* no room, and discard mode */
	TACHO_LOSS_BIG,		/* does not fit in a sub-buffer */
	TACHO_LOSS_BUSY,	/* no lane was free, or its buffer could not be mapped */
};

/* Counts one discarded record in the current CPU's lane.  Any context. */
void tacho_ring_lose(struct tacho_ring *r, enum tacho_ring_loss why);

/*
 * tacho_ring_write_slow - the slow path: W1..W4 with sub-buffer changes,
 * mapping of buffers, fallback lanes.  As tacho_ring_write().
 */
int tacho_ring_write_slow(struct tacho_ring *r, const uint64_t *raw,
			  uint64_t words);

/* The address of a cursor's sub-buffer; b is mapped. */
static TACHO_ALWAYS_INLINE struct tacho_packet *
tacho_ring_sub(const struct tacho_ring *r, const struct tacho_ring_buf *b,
	       uint64_t c)
{
	size_t at = (size_t)(c >> r->seq_down) & tacho_load_relaxed(&b->mask);

	return (struct tacho_packet *)(void *)(tacho_load_relaxed(&b->base) + at);
}

/* Sub-buffers of a mapped buffer. */
static inline uint32_t tacho_ring_subs(const struct tacho_ring *r,
				       const struct tacho_ring_buf *b)
{
	return (tacho_load_relaxed(&b->mask) >> r->sub_shift) + 1;
}

#ifdef TACHO_HAVE_RSEQ

/*
 * The fast path: W1..W4 when there is room, the session is recording, and no other
 * thread ran on this CPU in between.  0 when the record is committed; else nothing was
 * written and the slow path finds out why.  1 <= words <= TACHO_RAW_MAX / 8.
 *
 * On x86-64 it is one sequence (write-x86_64.h).  This is the same in C, for other
 * machines, and for tests that stop at its points; it does not use the table of
 * ring.h's section 8, which may be read only inside a sequence.
 */
#if defined(__x86_64__) && !defined(TACHO_INJECT_POINTS)
#define TACHO_FAST_TABLE 1
#include "ring/write-x86_64.h"
#else
static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast(struct tacho_ring *r, const uint64_t *raw, uint64_t words)
{
	struct rseq *rs = tacho_rseq_area();
	uint32_t cpu = tacho_rseq_cpu(rs);			/* W1 */
	const struct tacho_ring_buf *b;
	struct tacho_lane *lane;
	uint64_t *to;
	uint64_t c, now;

	/* a thread without sequences also ends here: its cpu is huge */
	if (tacho_unlikely(cpu >= r->fast_cpus))
		return -1;
	lane = tacho_ring_lane(r, cpu);
	c = tacho_load_relaxed(&lane->cursor);
	b = &r->buf[cpu << 6 | tacho_cursor_id(c)];
	if (tacho_unlikely(tacho_cursor_words(c) + words >=	/* W3 */
			   tacho_load_acquire(&b->words)))	/* [mapped] */
		return -1;
	to = (uint64_t *)(void *)tacho_ring_sub(r, b, c) + tacho_cursor_words(c);
	now = tacho_clock_tsc();				/* W2 */
	if (tacho_unlikely(now >= tacho_load_relaxed(&lane->fast_until)))
		return -1;
	TACHO_INJECT(ring_before_commit);
	if (tacho_unlikely(tacho_rseq_cmp_copy_store(rs, cpu, &lane->cursor, c, /* W4 */
			to, tacho_record_word(now, (words + 1) * 8), raw, words,
			c + tacho_cursor_step(words + 1))))
		return -1;
	TACHO_INJECT(ring_committed);
	return 0;
}
#endif

#endif

/*
 * tacho_ring_write - record a raw event.
 *
 * raw: the record from its second word on (common fields, fields), `words`
 * 64-bit words long.  The first word is made here.
 *
 * Context: any thread, any signal handler.  Never allocates heap memory; waits in
 * fallback lanes only, and briefly.
 *
 * Returns 0, or a negative errno; the discarded record is counted:
 *	-ENOBUFS	full, in discard mode
 *	-EMSGSIZE	no words, more than TACHO_RAW_MAX bytes, or more than a
 *			sub-buffer holds
 *	-EBUSY		no lane was free, or its buffer could not be mapped
 *	-ESHUTDOWN	the session is not recording (not counted)
 */
static TACHO_ALWAYS_INLINE int
tacho_ring_write(struct tacho_ring *r, const uint64_t *raw, uint64_t words)
{
#ifdef TACHO_HAVE_RSEQ
	if (tacho_likely(words - 1 < TACHO_RAW_MAX / 8 &&
			 !tacho_ring_write_fast(r, raw, words)))
		return 0;
#endif
	return tacho_ring_write_slow(r, raw, words);
}

/*
 * Takes a late lane's lock.  Returns 0, -EAGAIN: another thread has it, -ENOENT: not a late lane.
 * The lock of a dead owner is taken over; by_force: also if the owner's thread id is in use
 * again, as the caller knows that the owner is dead.
 */
int tacho_ring_lock_late(struct tacho_ring *r, uint32_t lane, bool by_force);
void tacho_ring_unlock_late(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_write_late - record what happened at `ticks` in buffer id of a late lane.
 *
 * `lane` is a late lane.  Times must not descend in a lane, or they could not be read.
 *
 * Context: the owner of the lane's lock.
 *
 * Returns what tacho_ring_write() does; -EBUSY also if there is no such buffer.
 */
int tacho_ring_write_late(struct tacho_ring *r, uint32_t lane, uint32_t id, const uint64_t *raw,
			  uint64_t words, uint64_t ticks);

/*
 * Makes a fallback lane's first buffer; otherwise its first writer does.  Returns 0, -ENOENT: not a
 * fallback lane, -EAGAIN: its lock is held, or what tacho_ring_add_buffer() does.
 */
int tacho_ring_prepare(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_shift - make another buffer of a lane the one that is written.
 *
 * Closes the open sub-buffer of the old buffer and stores its end in `saved`.  Writing
 * continues in a new sub-buffer of the new buffer.  The shift is made on the lane's CPU, or
 * from here if that CPU is offline.
 *
 * Context: tools, one at a time per session.
 *
 * Returns the id of the old buffer, or
 *	-ENOENT	no such buffer
 *	-EINVAL	the lane has not begun, or is closed
 *	-ENOBUFS	the new buffer is full, in discard mode
 *	-EPERM	this thread cannot run on the CPU (cpuset), or no rseq
 *	-EAGAIN	writers were faster many times, or hold the lock
 */
int tacho_ring_shift(struct tacho_ring *r, uint32_t lane, uint32_t id);

/*
 * tacho_ring_shift_from - as tacho_ring_shift(), by a writer, and only if the lane's
 * cursor is still c, from which the writer decided.
 *
 * If id is that of c, begins a new sub-buffer of the same buffer.
 *
 * Context: any thread, any signal handler, running on the lane's CPU; any number at once.
 * Returns 0, -EAGAIN (the cursor has moved, the lane is another CPU's or locked: look again),
 * -ENOENT, -EINVAL, -ENOBUFS as tacho_ring_shift().
 */
int tacho_ring_shift_from(struct tacho_ring *r, uint32_t lane, uint64_t c, uint32_t id);

/*
 * tacho_ring_switch_subbuf - begin a new sub-buffer in a lane, from outside: a writer that was
 * about to commit with the old cursor fails and tries again.  Context and errors as
 * tacho_ring_shift(); 0 on success.
 */
int tacho_ring_switch_subbuf(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_close_lane - close a lane forever (section 7).
 * Context and errors as tacho_ring_shift(); 0 on success.
 */
int tacho_ring_close_lane(struct tacho_ring *r, uint32_t lane);

#endif
