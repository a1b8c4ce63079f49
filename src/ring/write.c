// SPDX-License-Identifier: MIT
/* The slow path of writing: S1..S3, fallback lanes, shift and close (ring.h). */
#include "ring/write.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ring/lane.h"
#include "sys/cpu.h"
#include "sys/futex.h"
#include "sys/mapping.h"

/* How often a writer starts again before the record is discarded; each time the
 * kernel scheduled another thread, or a sub-buffer was changed. */
#define TRIES		1000
/* Rounds over the fallback lanes while living threads hold the locks of all. */
#define FALLBACK_ROUNDS	200

/* The words of a packet header that closing it writes. */
#define CLOSE_FIRST	(offsetof(struct tacho_packet, timestamp_end) / 8)
#define CLOSE_END	(offsetof(struct tacho_packet, event_first) / 8)

int tacho_lane_commit(const struct tacho_lane_ref *ref, uint64_t expect,
		      const struct tacho_copy_range *range, uint64_t n, uint64_t next)
{
#ifdef TACHO_HAVE_RSEQ
	if (ref->rs)
		return tacho_rseq_cmp_ranges_store(ref->rs, ref->nr,
						   &ref->lane->cursor, expect,
						   range, n, next);
#endif
	if (tacho_load_relaxed(&ref->lane->cursor) != expect)
		return -1;
	for (; n; n--, range++)
		tacho_copy_relaxed(range->dst, range->src, range->words);
	TACHO_INJECT(ring_before_fallback_commit);
	/* [cursor] W4, S3, M5: what it covers is complete */
	tacho_store_release(&ref->lane->cursor, next);
	return 0;
}

/*
 * W2.  On one CPU the counter is read in program order.  After a lock that another
 * CPU has just released, it is so only with tacho_clock_read_ordered().
 */
static uint64_t lane_clock(const struct tacho_lane_ref *ref)
{
	if (ref->at)
		return ref->at;
	return ref->rs ? tacho_clock_read(ref->r->clock)
		       : tacho_clock_read_ordered(ref->r->clock);
}

static uint64_t lane_lost(struct tacho_lane *l)
{
	return tacho_load_relaxed(&l->lost_full) +
	       tacho_load_relaxed(&l->lost_big) +
	       tacho_load_relaxed(&l->lost_busy);
}

/* The closing words of the open sub-buffer's header, which ends at cursor c. */
static struct tacho_packet closed_header(const struct tacho_lane_ref *ref,
					 const struct tacho_open *open,
					 uint64_t c, uint64_t now)
{
	return (struct tacho_packet){
		.timestamp_end = now,
		.content_size = (uint64_t)tacho_cursor_words(c) * 64,
		.packet_size = (uint64_t)ref->r->sub_words * 64,
		.packet_seq_num = tacho_load_relaxed(&open->seq),
		.events_discarded = lane_lost(ref->lane),
		.cpu_id = ref->nr < ref->r->nr_cpus ? ref->nr : UINT32_MAX,
		.events = tacho_cursor_events(c),
	};
}

/* The header of the packet that follows `closed` in buffer order. */
static struct tacho_packet fresh_header(const struct tacho_lane_ref *ref,
					uint64_t now)
{
	struct tacho_packet h = {
		.magic = TACHO_PACKET_MAGIC,
		.stream_id = ref->r->stream_id,
		.stream_instance_id = ref->nr,
		.timestamp_begin = now,
		.packet_size = (uint64_t)ref->r->sub_words * 64,
		.events_discarded = lane_lost(ref->lane),
		.cpu_id = tacho_ring_cpu(ref->r, ref->nr),
	};

	memcpy(h.uuid, ref->r->uuid, sizeof(h.uuid));
	return h;
}

/*
 * S2: whether sub-buffer number seq of buffer b may be written.  In discard mode those
 * before `consumed` are free.
 */
static bool sub_is_free(struct tacho_buffer *b, uint32_t nr_subs, uint64_t seq)
{
	uint64_t consumed, ahead;

	if (tacho_load_relaxed(&b->flags) & TACHO_BUFFER_OVERWRITE)
		return true;
	/* [consumed] S2: the reader has finished with them */
	consumed = tacho_load_acquire(&b->consumed);
	ahead = (seq - consumed) & TACHO_CURSOR_SEQ_MASK;
	return ahead < nr_subs;
}

static void wake_readers(struct tacho_control *ctl)
{
	if (!tacho_load_relaxed(&ctl->wanted))
		return;
	(void)tacho_add_seq_cst(&ctl->wake, 1);
	tacho_futex_wake(&ctl->wake);
}

/*
 * S1..S3: goes from cursor c to the next sub-buffer of buffer `id`, which may be
 * another buffer than c's.  Returns 1 when that was done, 0 when c is stale or another
 * writer came in between (look again), -ENOBUFS or -ENOENT.
 */
static int advance(const struct tacho_lane_ref *ref, uint64_t c, uint32_t id)
{
	struct tacho_ring *r = ref->r;
	uint32_t old_id = tacho_cursor_id(c);
	struct tacho_ring_buf *from = tacho_ring_map(r, ref->nr, old_id);
	struct tacho_ring_buf *to = tacho_ring_map(r, ref->nr, id);
	struct tacho_buffer *to_buf = tacho_lane_buffer(ref->lane, id);
	struct tacho_buffer *old_buf = tacho_lane_buffer(ref->lane, old_id);
	uint64_t begins = tacho_load_relaxed(&old_buf->begins);
	struct tacho_packet closed, fresh;
	struct tacho_packet *old, *new;
	struct tacho_open opened;
	uint64_t now, prev, next;

	if (!from || !to)
		return tacho_load_relaxed(&ref->lane->cursor) == c ? -ENOENT : 0;
	prev = id == old_id ? c : tacho_load_relaxed(&to_buf->saved);
	next = tacho_cursor_make(id, tacho_cursor_seq(prev) + (prev != 0), 0,
				 TACHO_PACKET_WORDS);
	if (!sub_is_free(to_buf, tacho_ring_subs(r, to), tacho_cursor_seq(next)))
		return -ENOBUFS;
	now = lane_clock(ref);
	old = tacho_ring_sub(r, from, c);
	new = tacho_ring_sub(r, to, next);
	closed = closed_header(ref, tacho_buffer_open(old_buf, c), c, now);
	fresh = fresh_header(ref, now);
	if (prev) {
		const struct tacho_open *p = tacho_buffer_open(to_buf, prev);

		fresh.packet_seq_num = tacho_load_relaxed(&p->seq) + 1;
		fresh.event_first = tacho_load_relaxed(&p->first) + tacho_cursor_events(prev);
	}
	opened = (struct tacho_open){ fresh.packet_seq_num, fresh.event_first, now };
	/* [overwrite] R3: the cursor that was read is visible before what follows */
	tacho_fence_release();

	struct tacho_copy_range ranges[] = {
		{ (uint64_t *)(void *)old + CLOSE_FIRST,
		  (const uint64_t *)(const void *)&closed + CLOSE_FIRST,
		  CLOSE_END - CLOSE_FIRST },
		{ (uint64_t *)(void *)new, (const uint64_t *)(const void *)&fresh,
		  TACHO_PACKET_WORDS },
		{ (uint64_t *)(void *)tacho_buffer_open(to_buf, next),
		  (const uint64_t *)(const void *)&opened, sizeof(opened) / 8 },
		{ &old_buf->saved, &c, id != old_id },
		{ &old_buf->began, &begins, id != old_id },
		{ &to_buf->begins, &fresh.packet_seq_num, id != old_id },
	};

	TACHO_INJECT(ring_before_advance);
	if (tacho_lane_commit(ref, c, ranges, TACHO_ARRAY_SIZE(ranges), next))
		return 0;
	TACHO_INJECT(ring_advanced);
	wake_readers(r->ctl);
	return 1;
}

static void count_loss(struct tacho_lane *l, enum tacho_ring_loss why)
{
	uint64_t *counter = why == TACHO_LOSS_FULL ? &l->lost_full
			  : why == TACHO_LOSS_BIG  ? &l->lost_big
						   : &l->lost_busy;

	(void)tacho_add_relaxed(counter, 1);
}

/*
 * One attempt at W1..W4 in a lane that this thread may write to.  Returns 0, -EAGAIN:
 * look again, or for good -ENOBUFS, -EMSGSIZE, -ENOENT, -ESHUTDOWN.
 */
static int write_once(const struct tacho_lane_ref *ref, const uint64_t *raw,
		      uint64_t words)
{
	struct tacho_ring *r = ref->r;
	uint64_t c = tacho_load_relaxed(&ref->lane->cursor);	/* W1 */
	uint64_t total = words + 1;
	const struct tacho_ring_buf *b;
	struct tacho_packet *sub;
	uint64_t now, until, head;
	int err;

	until = tacho_load_relaxed(&ref->lane->fast_until);
	if (tacho_load_relaxed(&r->ctl->state) != TACHO_STATE_RECORDING ||
	    c == TACHO_CURSOR_DEAD || !c) {
		if (until)
			tacho_ring_follow(r, ref->nr);
		return -ESHUTDOWN;
	}
	if (words - 1 >= TACHO_RAW_MAX / 8 ||
	    total > r->sub_words - TACHO_PACKET_WORDS)
		return -EMSGSIZE;
	b = tacho_ring_map(r, ref->nr, tacho_cursor_id(c));
	if (!b)		/* no such buffer, or the lane was just moved from it */
		return tacho_load_relaxed(&ref->lane->cursor) == c ? -ENOENT : -EAGAIN;
	sub = tacho_ring_sub(r, b, c);
	now = lane_clock(ref);					/* W2 */
	if (!until) {	/* being started or stopped */
		tacho_ring_follow(r, ref->nr);
		return -EAGAIN;
	}
	if (tacho_cursor_words(c) + total > r->sub_words ||	/* W3 */
	    now >= until) {
		err = advance(ref, c, tacho_cursor_id(c));
		/*
		 * Only the writer that began the packet: otherwise an older packet
		 * would get records of an epoch that is not its own.  Never from 0:
		 * a stop that came in between stays.
		 */
		if (err > 0 && now >= until)
			(void)tacho_cas_acq_rel(&ref->lane->fast_until, &until,
						tacho_epoch_end(now));
		return err < 0 ? err : -EAGAIN;
	}
	head = tacho_record_word(now, total * 8);

	struct tacho_copy_range ranges[] = {
		{ (uint64_t *)(void *)sub + tacho_cursor_words(c), &head, 1 },
		{ (uint64_t *)(void *)sub + tacho_cursor_words(c) + 1, raw, words },
	};

	return tacho_lane_commit(ref, c, ranges, TACHO_ARRAY_SIZE(ranges),
			     c + tacho_cursor_step(total)) ? -EAGAIN : 0;
}

/* Ends a write: counts a discarded record, by reason. */
static int account(struct tacho_lane *l, int err)
{
	switch (err) {
	case 0:
	case -ESHUTDOWN:
		return err;
	case -ENOBUFS:
		count_loss(l, TACHO_LOSS_FULL);
		return err;
	case -EMSGSIZE:
		count_loss(l, TACHO_LOSS_BIG);
		return err;
	default:
		count_loss(l, TACHO_LOSS_BUSY);
		return -EBUSY;
	}
}

/* ---- fallback lanes ---- */

/*
 * The pid name space, as 32 bits.  It is stored in a page that a fork wipes, as the
 * child may be in another name space.
 */
static uint32_t my_name_space(void)
{
	static uint32_t *page;
	uint32_t *known = tacho_load_acquire(&page);
	uint32_t *none = NULL;
	uint32_t ns = known ? tacho_load_relaxed(known) : 0;
	int saved = errno;
	struct stat st;

	if (ns)
		return ns;
	ns = stat("/proc/self/ns/pid", &st) ? 1 : (uint32_t)st.st_ino;
	if (!known) {
		known = tacho_shm_private(4096);
		if (known && (madvise(known, 4096, MADV_WIPEONFORK) ||
			      !tacho_cas_acq_rel(&page, &none, known))) {
			tacho_shm_unmap(known, 4096);
			known = none;
		}
	}
	if (known)
		tacho_store_relaxed(known, ns);
	errno = saved;
	return ns;
}

/* This thread as the owner in a lock word: thread id and pid name space. */
static uint64_t my_lock_word(void)
{
	return (uint64_t)(uint32_t)gettid() | (uint64_t)my_name_space() << 32;
}

/* Whether the owner of a lock word is a thread of this name space that has ended. */
static bool owner_is_dead(uint64_t word, uint64_t me)
{
	int saved = errno;
	bool dead;

	if (word >> 32 != me >> 32)
		return false;
	dead = syscall(SYS_tkill, (int)(uint32_t)word, 0) < 0 && errno == ESRCH;
	errno = saved;
	return dead;
}

static bool fallback_trylock(struct tacho_lane *l, uint64_t me)
{
	uint64_t seen = tacho_load_relaxed(&l->lock);

	if (seen && !owner_is_dead(seen, me))
		return false;
	/* [lock] the cursor and what it covers are the last owner's */
	return tacho_cas_acq_rel(&l->lock, &seen, me);
}

static void fallback_unlock(struct tacho_lane *l)
{
	tacho_store_release(&l->lock, 0);			/* [lock] */
}

/*
 * Makes a fallback lane ready at its first use, and maps it at its first use here.  A process
 * that gave up its rights cannot do that, and writes to lanes that it has mapped.
 */
static int fallback_prepare(const struct tacho_lane_ref *ref)
{
	uint32_t nr_subs = tacho_load_relaxed(&ref->r->ctl->nr_subs);
	uint32_t flags = tacho_load_relaxed(&ref->r->ctl->flags);
	uint64_t c = tacho_load_relaxed(&ref->lane->cursor);
	int err = 0;

	if (tacho_likely(c))
		return tacho_ring_map_why(ref->r, ref->nr, tacho_cursor_id(c), &err) ? 0 : err;
	err = tacho_ring_add_buffer(ref->r, ref->nr, 0, nr_subs,
				    flags & TACHO_SESSION_OVERWRITE ?
				    TACHO_BUFFER_OVERWRITE : 0);
	return err ? err : tacho_ring_start(ref->r, ref->nr, 0);
}

static int fallback_locked_write(const struct tacho_lane_ref *ref,
			      const uint64_t *raw, uint64_t words)
{
	int err = -EAGAIN;

	for (int i = 0; err == -EAGAIN && i < TRIES; i++)
		err = write_once(ref, raw, words);
	return account(ref->lane, err);
}

/*
 * A signal handler that interrupted its own thread inside a lane does not wait for
 * the other lanes: their owners may be in handlers that wait for this thread, and
 * with frequent signals the main code of no thread would progress.
 */
static int fallback_write(struct tacho_ring *r, const uint64_t *raw,
		       uint64_t words)
{
	uint64_t me = my_lock_word();
	uint32_t first = (uint32_t)me, unusable = 0;
	bool nested = false;
	int err = 0;

	if (!r->nr_fallback)
		return -EBUSY;
	for (int round = 0; !nested && round < FALLBACK_ROUNDS; round++) {
		for (uint32_t i = 0; i < r->nr_fallback; i++) {
			uint32_t nr = r->nr_cpus + (first + i) % r->nr_fallback;
			struct tacho_lane *l = tacho_ring_lane(r, nr);
			const struct tacho_lane_ref ref = { r, l, NULL, nr, 0 };

			/* the tool that closes the lanes keeps their locks */
			if (tacho_load_relaxed(&l->cursor) == TACHO_CURSOR_DEAD)
				return -ESHUTDOWN;
			if (!fallback_trylock(l, me)) {
				nested |= tacho_load_relaxed(&l->lock) == me;
				continue;
			}
			TACHO_INJECT(ring_fallback_locked);
			err = fallback_prepare(&ref);
			if (!err)
				err = fallback_locked_write(&ref, raw, words);
			else if (++unusable < r->nr_fallback)
				err = -EAGAIN;	/* another lane may be mapped already */
			else
				(void)account(l, err);
			fallback_unlock(l);
			if (err != -EAGAIN)
				return err;
		}
		if (tacho_load_relaxed(&r->ctl->state) != TACHO_STATE_RECORDING)
			return -ESHUTDOWN;
		if (!nested)
			(void)sched_yield();
	}
	count_loss(tacho_ring_lane(r, r->nr_cpus + first % r->nr_fallback),
		   TACHO_LOSS_BUSY);
	return -EBUSY;
}

/* ---- late lanes ---- */

/* Makes buffer id the one that is written. */
static int late_go_to(const struct tacho_lane_ref *ref, uint32_t id)
{
	uint64_t c = tacho_load_relaxed(&ref->lane->cursor);
	int err;

	if (c == TACHO_CURSOR_DEAD ||
	    tacho_load_relaxed(&ref->r->ctl->state) != TACHO_STATE_RECORDING)
		return -ESHUTDOWN;
	if (!c)
		return tacho_ring_start_at(ref->r, ref->nr, id, ref->at);
	err = tacho_cursor_id(c) == id ? 1 : advance(ref, c, id);
	return err < 0 ? err : 0;
}

static bool is_late(const struct tacho_ring *r, uint32_t lane)
{
	return lane >= r->nr_cpus + r->nr_fallback && lane < tacho_ring_nr_lanes(r);
}

int tacho_ring_lock_late(struct tacho_ring *r, uint32_t lane, bool by_force)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);
	uint64_t me, seen;

	if (!is_late(r, lane))
		return -ENOENT;
	me = my_lock_word();
	seen = tacho_load_relaxed(&l->lock);
	return fallback_trylock(l, me) || (by_force && tacho_cas_acq_rel(&l->lock, &seen, me)) ?
	       0 : -EAGAIN;
}

void tacho_ring_unlock_late(struct tacho_ring *r, uint32_t lane)
{
	fallback_unlock(tacho_ring_lane(r, lane));
}

int tacho_ring_write_late(struct tacho_ring *r, uint32_t lane, uint32_t id, const uint64_t *raw,
			  uint64_t words, uint64_t ticks)
{
	struct tacho_lane_ref ref = { r, tacho_ring_lane(r, lane), NULL, lane, ticks };
	int err = is_late(r, lane) && ticks && tacho_ring_map(r, lane, id) ? 0 : -ENOENT;

	if (!err)
		err = late_go_to(&ref, id);
	for (int i = 0; !err && i < TRIES; i++) {
		err = write_once(&ref, raw, words);
		if (err != -EAGAIN)
			break;
		err = 0;
	}
	return account(ref.lane, err);
}

int tacho_ring_prepare(struct tacho_ring *r, uint32_t lane)
{
	struct tacho_lane_ref ref = { r, tacho_ring_lane(r, lane), NULL, lane, 0 };
	int err;

	if (lane < r->nr_cpus || lane >= r->nr_cpus + r->nr_fallback)
		return -ENOENT;
	if (!fallback_trylock(ref.lane, my_lock_word()))
		return -EAGAIN;
	err = fallback_prepare(&ref);
	fallback_unlock(ref.lane);
	return err;
}

/* ---- any lane ---- */

#ifdef TACHO_FAST_TABLE

/*
 * F1: the entry of this CPU for the sub-buffer that is open now.  If another thread
 * comes in between it stays as it is or empty, and the next writer tries again.
 */
static void remember(struct tacho_ring *r, struct rseq *rs, uint32_t cpu)
{
	uint64_t c = tacho_load_relaxed(&tacho_ring_lane(r, cpu)->cursor);
	uint64_t first = c & UINT64_MAX << TACHO_CURSOR_SEQ_SHIFT;
	struct tacho_ring_fast *f = &r->fast[cpu];
	uint64_t room = tacho_load_relaxed(&f->room);
	const struct tacho_ring_buf *b;
	uint64_t words[2];

	if (!c || c == TACHO_CURSOR_DEAD || cpu >= r->fast_cpus ||
	    (room && tacho_load_relaxed(&f->first) == first))
		return;
	b = tacho_ring_map(r, cpu, tacho_cursor_id(c));
	if (!b || tacho_rseq_cmp_ranges_store(rs, cpu, &f->room, room, NULL, 0, 0))
		return;
	words[0] = first;
	words[1] = (uint64_t)(uintptr_t)tacho_ring_sub(r, b, c);

	const struct tacho_copy_range range = { &f->first, words, 2 };

	(void)tacho_rseq_cmp_ranges_store(rs, cpu, &f->room, 0, &range, 1,
		((uint64_t)r->sub_words + 1) << TACHO_CURSOR_WORDS_SHIFT);
}

#endif

int tacho_ring_write_slow(struct tacho_ring *r, const uint64_t *raw,
			  uint64_t words)
{
#ifdef TACHO_HAVE_RSEQ
	struct rseq *rs = tacho_rseq_self();
	struct tacho_lane_ref ref = { .r = r, .rs = rs };
	int err = -EAGAIN;

	if (!rs || tacho_rseq_cpu(rs) >= r->nr_cpus)
		return fallback_write(r, raw, words);
	for (int i = 0; err == -EAGAIN && i < TRIES; i++) {
		ref.nr = tacho_rseq_cpu(rs);
		if (ref.nr >= r->nr_cpus)
			return fallback_write(r, raw, words);
		ref.lane = tacho_ring_lane(r, ref.nr);
		err = write_once(&ref, raw, words);
	}
#ifdef TACHO_FAST_TABLE
	if (!err)
		remember(r, rs, ref.nr);
#endif
	return account(ref.lane, err);
#else
	return fallback_write(r, raw, words);
#endif
}

void tacho_ring_lose(struct tacho_ring *r, enum tacho_ring_loss why)
{
	uint32_t lane = 0;
#ifdef TACHO_HAVE_RSEQ
	const struct rseq *rs = tacho_rseq_self();

	if (rs && tacho_rseq_cpu(rs) < r->nr_cpus)
		lane = tacho_rseq_cpu(rs);
#endif
	count_loss(tacho_ring_lane(r, lane), why);
}

/* ---- changes from outside ---- */

int tacho_lane_visit(struct tacho_ring *r, uint32_t nr,
		     int (*step)(const struct tacho_lane_ref *ref, void *arg),
		     void *arg, bool keep_lock)
{
	struct tacho_lane_ref ref = { r, tacho_ring_lane(r, nr), NULL, nr, 0 };
	struct tacho_cpu_saved saved;
	int err = -EAGAIN;

	if (nr >= r->nr_cpus) {
		for (int i = 0; !fallback_trylock(ref.lane, my_lock_word()); i++) {
			if (i == TRIES)
				return -EAGAIN;
			(void)sched_yield();
		}
		for (int i = 0; err == -EAGAIN && i < TRIES; i++)
			err = step(&ref, arg);
		if (!keep_lock)
			fallback_unlock(ref.lane);
		return err;
	}
	ref.rs = tacho_rseq_self();
	if (!tacho_cpu_online(nr)) {
		ref.rs = NULL;
		return step(&ref, arg);
	}
	/* in a build without sequences the lanes of CPUs have no writer */
#ifdef TACHO_HAVE_RSEQ
	if (!ref.rs || tacho_cpu_enter(nr, &saved))
		return -EPERM;
	for (int i = 0; err == -EAGAIN && i < TRIES; i++)
		err = step(&ref, arg);
	tacho_cpu_leave(&saved);
	return err;
#else
	(void)saved;
	return step(&ref, arg);
#endif
}

static int shift_step(const struct tacho_lane_ref *ref, void *arg)
{
	uint64_t c = tacho_load_relaxed(&ref->lane->cursor);
	uint32_t id = *(const uint32_t *)arg;
	int err;

	if (!c || c == TACHO_CURSOR_DEAD)
		return -EINVAL;
	if (tacho_cursor_id(c) == id)
		return (int)id;
	err = advance(ref, c, id);
	if (err < 0)
		return err;
	c = tacho_load_relaxed(&ref->lane->cursor);
	return tacho_cursor_id(c) == id ? 0 : -EAGAIN;
}

int tacho_ring_shift(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	uint64_t c;
	int err;

	if (lane >= tacho_ring_nr_lanes(r) || !tacho_ring_map(r, lane, id))
		return -ENOENT;
	c = tacho_load_relaxed(&tacho_ring_lane(r, lane)->cursor);
	if (!c || c == TACHO_CURSOR_DEAD)
		return -EINVAL;
	err = tacho_lane_visit(r, lane, shift_step, &id, false);
	return err < 0 ? err : (int)tacho_cursor_id(c);
}

static int switch_subbuf_step(const struct tacho_lane_ref *ref, void *unused)
{
	uint64_t c = tacho_load_relaxed(&ref->lane->cursor);
	int err;

	(void)unused;
	if (!c || c == TACHO_CURSOR_DEAD)
		return -EINVAL;
	err = advance(ref, c, tacho_cursor_id(c));
	return err < 0 ? err : err ? 0 : -EAGAIN;
}

int tacho_ring_switch_subbuf(struct tacho_ring *r, uint32_t lane)
{
	if (lane >= tacho_ring_nr_lanes(r))
		return -ENOENT;
	return tacho_lane_visit(r, lane, switch_subbuf_step, NULL, false);
}

int tacho_ring_shift_from(struct tacho_ring *r, uint32_t lane, uint64_t c, uint32_t id)
{
	struct tacho_lane_ref ref = { .r = r, .nr = lane };
	bool fallback = lane >= r->nr_cpus;
	int err = -EAGAIN;

	if (lane >= tacho_ring_nr_lanes(r) || !tacho_ring_map(r, lane, id))
		return -ENOENT;
	if (!c || c == TACHO_CURSOR_DEAD)
		return -EINVAL;
	ref.lane = tacho_ring_lane(r, lane);
	if (fallback && !fallback_trylock(ref.lane, my_lock_word()))
		return -EAGAIN;
	if (!fallback) {
		/* a thread without sequences does not write there */
#ifdef TACHO_HAVE_RSEQ
		ref.rs = tacho_rseq_self();
		if (ref.rs && tacho_rseq_cpu(ref.rs) != lane)
			return -EAGAIN;
#endif
		if (!ref.rs)
			return -EAGAIN;
	}
	if (tacho_load_relaxed(&ref.lane->cursor) == c)
		err = advance(&ref, c, id);
	if (fallback)
		fallback_unlock(ref.lane);
	return err > 0 ? 0 : err < 0 ? err : -EAGAIN;
}

static int close_step(const struct tacho_lane_ref *ref, void *unused)
{
	uint64_t c = tacho_load_relaxed(&ref->lane->cursor);
	struct tacho_copy_range saved = {
		&tacho_lane_buffer(ref->lane, tacho_cursor_id(c))->saved, &c,
		c != 0,
	};

	(void)unused;
	if (c == TACHO_CURSOR_DEAD)
		return 0;
	return tacho_lane_commit(ref, c, &saved, 1, TACHO_CURSOR_DEAD) ? -EAGAIN : 0;
}

int tacho_ring_close_lane(struct tacho_ring *r, uint32_t lane)
{
	if (lane >= tacho_ring_nr_lanes(r))
		return -ENOENT;
	return tacho_lane_visit(r, lane, close_step, NULL, true);
}
