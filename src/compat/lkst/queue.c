// SPDX-License-Identifier: MIT
/* The read queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/pump.h"
#include "sys/futex.h"

#define AT_ONCE	256	/* records that are converted at a time */
#define WAITS	20	/* ms at least: for the kernel's events of a buffer */

struct queued {
	int32_t id;
	uint64_t left;
};

static int by_left(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	return x->left < y->left ? -1 : x->left > y->left;
}

uint32_t lkst_queue(struct tacho_lkst *l, uint32_t cpu, int32_t id[TACHO_BUFFERS_MAX])
{
	struct queued q[TACHO_BUFFERS_MAX];
	uint32_t n = 0;

	for (int32_t i = 0; i < TACHO_BUFFERS_MAX; i++) {
		const struct lkst_buffer *b = lkst_buffer_at(l, (int)cpu, i);
		struct lkst_extent e;

		if (!b)
			continue;
		lkst_extent(l, cpu, b, &e);
		if (e.left && e.shown.first != e.shown.end && b->taken != e.begins + 1)
			q[n++] = (struct queued){ i, e.left };
	}
	qsort(q, n, sizeof(q[0]), by_left);
	for (uint32_t i = 0; i < n; i++)
		id[i] = q[i].id;
	return n;
}

/* The CPU whose queue a process owns, or -1. */
static int owned_cpu(const struct tacho_lkst *l, int32_t owner)
{
	for (uint32_t c = 0; c < lkst_nr_cpus(l); c++)
		if (l->state->cpu[c].reader.pid == owner &&
		    lkst_owner_lives(&l->state->cpu[c].reader))
			return (int)c;
	return -1;
}

/* Records overwritten until now do not count as lost. */
static void count_anew(struct tacho_lkst *l, uint32_t cpu)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];

	for (int32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		struct lkst_buffer *b = lkst_buffer_at(l, (int)cpu, id);
		struct lkst_extent e;

		if (!b || id == c->read_buf)
			continue;
		lkst_extent(l, cpu, b, &e);
		if (e.shown.end)
			b->upto = b->taken == e.begins + 1 ? e.shown.end : e.shown.first;
	}
	c->missed = 0;
}

static int take_cpu(struct tacho_lkst *l, int cpu, int32_t owner)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	bool was_killed = c->reader.pid && !lkst_owner_lives(&c->reader);
	int has = owned_cpu(l, owner);

	if (has >= 0 && has != cpu)
		return -EBUSY;
	if (has < 0 && lkst_owner_lives(&c->reader))
		return -EBUSY;
	if (has < 0 && !was_killed)
		c->read_buf = LKST_BUFFER_ID_VOID;
	if (!was_killed)
		count_anew(l, (uint32_t)cpu);
	c->reader = lkst_owner_of(owner);
	return 0;
}

int tacho_lkst_setrmod(struct tacho_lkst *l, struct lkst_buffer_srmodparam *p, int32_t owner)
{
	int err;

	if (!p || p->mode != LKST_READ_MODE_STD || !lkst_cpu_is(l, p->cpu))
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	err = take_cpu(l, p->cpu, owner);
	tacho_lkst_unlock(l);
	if (!err)
		tacho_lkst_base(l, &p->xtime, &p->tsc, &p->cpu_freq, &p->endian_big,
				&p->buf_ver, p->arch);
	return err;
}

void tacho_lkst_unset_rmod(struct tacho_lkst *l, int32_t owner)
{
	int cpu;

	if (tacho_lkst_lock(l))
		return;
	cpu = owned_cpu(l, owner);
	if (cpu >= 0)
		memset(&l->state->cpu[cpu].reader, 0, sizeof(l->state->cpu[cpu].reader));
	tacho_lkst_unlock(l);
}

/* What buffers do not show any more, and no reader had. */
static void count_missed(struct tacho_lkst *l, uint32_t cpu)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];

	for (int32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		struct lkst_buffer *b = lkst_buffer_at(l, (int)cpu, id);
		struct lkst_extent e;

		if (!b)
			continue;
		lkst_extent(l, cpu, b, &e);
		if (e.shown.first > b->upto) {
			c->missed += e.shown.first - b->upto;
			b->upto = e.shown.first;
		}
	}
}

/* Whether the kernel's events of a turn that was left are in it. */
static bool is_whole(const struct tacho_lkst *l, uint32_t cpu, uint64_t left)
{
	return left <= tacho_load_acquire(&l->state->cpu[cpu].late_left) ||	/* [late-left] */
	       left <= tacho_load_acquire(&l->state->pumped);	/* [pumped] */
}

/*
 * Takes the head off the queue: 0, -EAGAIN: it is empty, -ESTALE: the pump has not come to
 * its end yet.  That is waited for if `whole`, but not by who is after.
 */
static int begin_next(struct tacho_lkst *l, uint32_t cpu, bool whole)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	int32_t queue[TACHO_BUFFERS_MAX];
	struct lkst_buffer *b;
	struct lkst_extent e;
	uint32_t n;

	c->read_buf = LKST_BUFFER_ID_VOID;
	count_missed(l, cpu);
	n = lkst_queue(l, cpu, queue);
	if (!n)
		return -EAGAIN;
	b = &c->buffer[queue[0]];
	lkst_extent(l, cpu, b, &e);
	if (whole && n == 1 && !is_whole(l, cpu, e.left))
		return -ESTALE;
	/* the pump brings no more to it from here on */
	tacho_store_release(&b->taken, e.begins + 1);	/* [taken] */
	lkst_extent(l, cpu, b, &e);
	c->missed += e.shown.first > b->upto ? e.shown.first - b->upto : 0;
	b->upto = c->read_next = e.shown.first;
	memcpy(c->read_at, e.shown.from, sizeof(c->read_at));
	memcpy(c->read_end, e.shown.upto, sizeof(c->read_end));
	c->read_buf = queue[0];
	return 0;
}

/* Of the buffer that is being read. */
static int read_buffer(struct tacho_lkst *l, uint32_t cpu, struct lkst_buffer *b,
		       struct lkst_record *to, size_t max, size_t *n)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	struct lkst_merge m;
	uint64_t missed, end = c->read_end[0] + c->read_end[1];
	int err = lkst_merge_open(&m, l, cpu, b->ring, c->read_next, c->read_at, c->read_end);

	if (err)
		return err;
	*n = lkst_merge_take(&m, to, max, &missed);
	if (!*n && m.next < end) {	/* overwritten meanwhile, to the end */
		missed += end - m.next;
		m.next = end;
	}
	lkst_merge_at(&m, c->read_at);
	lkst_merge_close(&m);
	c->missed += missed;
	b->upto = c->read_next = m.next;
	return 0;
}

/* From the queue of a CPU, under the lock: how many, of one buffer, or -errno as begin_next(). */
static ssize_t read_queue(struct tacho_lkst *l, uint32_t cpu, struct lkst_record *to,
			  size_t max, bool whole)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	size_t n = 0;

	while (!n) {
		struct lkst_buffer *b = c->read_buf >= 0 ?
			lkst_buffer_at(l, (int)cpu, c->read_buf) : NULL;
		int err;

		if (b && c->read_next < c->read_end[0] + c->read_end[1])
			err = read_buffer(l, cpu, b, to, max, &n);
		else
			err = begin_next(l, cpu, whole);
		if (err)
			return err;
	}
	return (ssize_t)n;
}

static ssize_t read_once(struct tacho_lkst *l, struct lkst_record *to, size_t max,
			 int32_t owner, struct lkst_read_from *from, bool whole)
{
	struct lkst_cpu *c;
	ssize_t n = -EBUSY;
	int cpu, err;

	*from = (struct lkst_read_from){ LKST_BUFFER_ID_VOID, 0 };
	if (!max)
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	cpu = owned_cpu(l, owner);
	if (cpu >= 0) {
		c = &l->state->cpu[cpu];
		n = read_queue(l, (uint32_t)cpu, to, max, whole);
		if (n != -ESTALE) {
			*from = (struct lkst_read_from){ c->read_buf, c->missed };
			c->missed = 0;
		}
	}
	tacho_lkst_unlock(l);
	return n;
}

/*
 * The kernel's events of a buffer are waited for, a while: who pumps is asked to move what there
 * is.  The lock is not held meanwhile.
 */
ssize_t tacho_lkst_read_records(struct tacho_lkst *l, struct lkst_record *to, size_t max,
				int32_t owner, struct lkst_read_from *from)
{
	uint32_t seen = tacho_load_acquire(&l->state->wake);
	ssize_t n = read_once(l, to, max, owner, from, true);
	bool moves = n == -ESTALE && lkst_pump_ask(l) == -EBUSY;

	for (int i = 0; n == -ESTALE && moves && i < WAITS; i++) {
		tacho_lkst_wait(l, seen, 1);
		seen = tacho_load_acquire(&l->state->wake);
		n = read_once(l, to, max, owner, from, true);
	}
	return n == -ESTALE ? read_once(l, to, max, owner, from, false) : n;
}

ssize_t tacho_lkst_read(struct tacho_lkst *l, void *to, size_t size, int32_t owner)
{
	size_t max = size / sizeof(struct lkst_log_record), done = 0;
	struct lkst_record some[AT_ONCE];
	struct lkst_log_record *out = to;
	struct lkst_read_from from;
	ssize_t n = max ? 0 : -EINVAL;

	while (done < max) {
		n = tacho_lkst_read_records(l, some, max - done < AT_ONCE ? max - done : AT_ONCE,
					    owner, &from);
		if (n < 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			tacho_lkst_log_record(l, &some[i], &out[done + (size_t)i]);
		done += (size_t)n;
	}
	return done ? (ssize_t)(done * sizeof(struct lkst_log_record)) : n;
}

void tacho_lkst_wait(struct tacho_lkst *l, uint32_t seen, int ms)
{
	(void)tacho_futex_wait(&l->state->wake, seen, (uint64_t)ms * 1000000);
}
