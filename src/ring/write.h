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
	TACHO_LOSS_FULL,	/* no room and the buffer keeps old data */
	TACHO_LOSS_BIG,		/* does not fit in a sub-buffer */
	TACHO_LOSS_BUSY,	/* no lane could be had */
};

/* Counts one lost record in the current CPU's lane.  Any context. */
void tacho_ring_lose(struct tacho_ring *r, enum tacho_ring_loss why);

/*
 * tacho_ring_write_slow - the whole way of a record: sub-buffer changes,
 * mapping of buffers, plain lanes.  As tacho_ring_write().
 */
int tacho_ring_write_slow(struct tacho_ring *r, const uint64_t *raw,
			  uint64_t words);

/* Where a cursor's sub-buffer lies; b is mapped. */
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
 * The fast way: W1..W4 when there is room, the session is recording, and nobody
 * comes in between.  0 when the record is committed; else nothing happened
 * and the slow way finds out why.  1 <= words <= TACHO_RAW_MAX / 8.
 *
 * On x86-64 all of it is one sequence (write-x86_64.h).  This is the same in C,
 * for other machines, and for tests that stop at its points; it does not read the
 * table of ring.h's section 8, as it is not inside a sequence while it does.
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

	/* also when this thread has no sequences: its cpu is huge then */
	if (tacho_unlikely(cpu >= r->fast_cpus))
		return -1;
	lane = tacho_ring_lane(r, cpu);
	c = tacho_load_relaxed(&lane->cursor);
	b = &r->buf[cpu << 6 | tacho_cursor_id(c)];
	if (tacho_unlikely(tacho_cursor_words(c) + words >=	/* W3 */
			   tacho_load_acquire(&b->words)))	/* [R3] */
		return -1;
	to = (uint64_t *)(void *)tacho_ring_sub(r, b, c) + tacho_cursor_words(c);
	now = tacho_clock_tsc();				/* W2 */
	if (tacho_unlikely(now >= tacho_load_relaxed(&lane->until)))
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
 * Context: any thread, any signal handler.  Never allocates; blocks in plain
 * lanes only, and briefly.
 *
 * Returns 0, or a negative errno; the loss is counted:
 *	-ENOBUFS	full, and the buffer keeps old data
 *	-EMSGSIZE	no words, more than TACHO_RAW_MAX bytes, or more than a
 *			sub-buffer holds
 *	-EBUSY		no lane could be had
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
 * A late lane's lock: 0, -EAGAIN: somebody else has it, -ENOENT: it is none.  A death opens it.
 * by_force: nobody has it, as the caller knows: the dead owner's thread id is another thread's.
 */
int tacho_ring_lock_late(struct tacho_ring *r, uint32_t lane, bool by_force);
void tacho_ring_unlock_late(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_write_late - record what happened at `ticks` in buffer id of a late lane.
 *
 * Times must not descend in a lane, or they could not be read.
 *
 * Context: who has the lane's lock.
 *
 * Returns what tacho_ring_write() does; -ENOENT: no such buffer.
 */
int tacho_ring_write_late(struct tacho_ring *r, uint32_t lane, uint32_t id, const uint64_t *raw,
			  uint64_t words, uint64_t ticks);

/* Makes a plain lane's first buffer, which else its first writer does.  0, -EAGAIN, -ENOSPC ... */
int tacho_ring_prepare(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_shift - make another buffer of a lane the one that is written.
 *
 * The old one is left whole: its open sub-buffer is closed, its `saved` cursor
 * says how far it goes.  The new one goes on where it was left, in a new
 * sub-buffer.  The lane's CPU is visited; a lane of an offline CPU is shifted from here.
 *
 * Context: tools, one at a time per session.
 *
 * Returns the id of the old buffer, or
 *	-ENOENT	no such buffer
 *	-EINVAL	the lane has not begun, or is closed
 *	-ENOBUFS	the buffer keeps old data and is full of it
 *	-EPERM	the CPU cannot be visited from here (cpuset), or no rseq
 *	-EAGAIN	writers were faster, many times
 */
int tacho_ring_shift(struct tacho_ring *r, uint32_t lane, uint32_t id);

/*
 * tacho_ring_shift_from - as tacho_ring_shift(), by a writer, and only if the lane's
 * cursor is still c: what the writer decided on has not changed since.
 *
 * The id may be that of c: then a new sub-buffer of the same buffer is begun.
 *
 * Context: any thread, any signal handler, running on the lane's CPU; any number at once.
 * Returns 0, -EAGAIN (the cursor has moved, the lane is another CPU's or locked: look again),
 * -ENOENT, -EINVAL, -ENOBUFS as tacho_ring_shift().
 */
int tacho_ring_shift_from(struct tacho_ring *r, uint32_t lane, uint64_t c, uint32_t id);

/*
 * tacho_ring_renew - begin a new sub-buffer in a lane, from outside: whoever was about to commit
 * something with the old cursor fails.  Context and errors as tacho_ring_shift(); 0.
 */
int tacho_ring_renew(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_close_lane - step 7: nobody writes to this lane ever again.
 * Context and errors as tacho_ring_shift(); 0 on success.
 */
int tacho_ring_close_lane(struct tacho_ring *r, uint32_t lane);

#endif
