// SPDX-License-Identifier: MIT
/* What buffers hold, and the read queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/atomic.h"
#include "face/lkst/priv.h"
#include "face/lkst/pump.h"
#include "ring/read.h"
#include "ring/write.h"
#include "sys/clock.h"
#include "sys/futex.h"

#define AT_ONCE	256	/* records that are converted at a time */

/* ---- extents ---- */

static const struct tacho_packet *packet_at(struct tacho_lkst *l, uint32_t cpu,
					    const struct lkst_buffer *b, uint64_t cursor)
{
	struct tacho_ring *r = &l->session.view.ring;
	const struct tacho_ring_buf *map = tacho_ring_map(r, cpu, b->ring);

	return map ? tacho_ring_sub(r, map, cursor) : NULL;
}

/* Number of the first record of sub-buffer `seq`; false: it is gone. */
static bool first_of(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		     uint64_t seq, uint64_t *first)
{
	const struct tacho_packet *p =
		packet_at(l, cpu, b, tacho_cursor_make(0, seq, 0, 0));

	if (!p || tacho_load_relaxed(&p->packet_seq_num) != seq)
		return false;
	*first = tacho_load_relaxed(&p->event_first);
	return true;
}

/* Cursors of a buffer's end and begin: false: nothing was ever written to it. */
static bool bounds(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		   uint64_t *end, uint64_t *begins, bool *open)
{
	struct tacho_lane *lane = tacho_ring_lane(&l->session.view.ring, cpu);
	struct tacho_buffer *ring = tacho_lane_buffer(lane, b->ring % TACHO_BUFFERS_MAX);
	uint64_t c = tacho_load_acquire(&lane->cursor);

	*open = tacho_cursor_id(c) == b->ring;
	*end = *open ? c : tacho_load_acquire(&ring->saved);
	*begins = *open ? tacho_load_relaxed(&ring->begins) : tacho_load_relaxed(&ring->began);
	return *end != 0;
}

void lkst_extent(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		 struct lkst_extent *e)
{
	const struct tacho_packet *p;
	struct lkst_shown shown;
	uint64_t end, begins;
	bool open, gone;

	memset(e, 0, sizeof(*e));
	if (!bounds(l, cpu, b, &end, &begins, &open))
		return;
	p = packet_at(l, cpu, b, end);
	if (!p || p->packet_seq_num < b->since)
		return;
	e->begins = begins;
	e->end = p->event_first + tacho_cursor_events(end);
	e->left = open ? 0 : p->timestamp_end;
	gone = !first_of(l, cpu, b, begins, &e->since);
	shown = lkst_layout_shown(b->size, e->since, gone, e->end);
	e->since = shown.since;
	e->first = shown.first;
}

/* ---- records ---- */

/* Records of a chunk until `end`; how many.  *next: number behind the last one looked at. */
static size_t take_chunk(const struct tacho_chunk *chunk, uint64_t end, uint32_t cpu,
			 uint32_t nr_cpus, struct lkst_record *to, size_t max, uint64_t *next)
{
	const unsigned char *at = chunk->data, *stop = at + chunk->len;
	uint64_t last = chunk->head.timestamp_begin, number = chunk->head.event_first;
	size_t n = 0;

	for (; at < stop && n < max && number < end; number++) {
		uint64_t word;
		uint32_t size;

		memcpy(&word, at, sizeof(word));
		size = tacho_record_size(word);
		last = tacho_record_time(word, last);
		if (lkst_record_unpack(&to[n], at + 8, size - 8, last)) {
			/* a plain lane is no CPU: there the writer has said it */
			if (cpu < nr_cpus)
				to[n].cpu = (uint16_t)cpu;
			to[n++].recid = (uint32_t)number & INT32_MAX;
		}
		at += size;
	}
	*next = number;
	return n;
}

/*
 * Copies records [from, end) of a buffer, as many as there is room for, up to the next gap; *next is
 * the number behind the last one.  *missed: how many between `from` and the first were overwritten.
 */
static int copy_records(struct tacho_lkst *l, uint32_t cpu, uint32_t ring, uint64_t from,
			uint64_t end, struct lkst_record *to, size_t max, size_t *nr,
			uint64_t *next, uint64_t *missed)
{
	struct tacho_ring_reader rd;
	struct tacho_chunk chunk;
	int err = tacho_ring_reader_init(&rd, &l->session.view.ring, cpu, ring, false, from);

	*nr = 0;
	*next = from;
	*missed = 0;
	if (err)
		return err;
	while (*nr < max && *next < end && tacho_ring_read(&rd, &chunk) == 1) {
		uint64_t first = chunk.head.event_first;

		if (first >= end || (first > *next && *nr))
			break;
		*missed += first > *next ? first - *next : 0;
		/* records of others in this session are passed over, and are counted */
		*nr += take_chunk(&chunk, end, cpu, l->session.view.ctl->nr_cpus, to + *nr,
				  max - *nr, next);
	}
	tacho_ring_reader_release(&rd);
	return 0;
}

int tacho_lkst_records(struct tacho_lkst *l, int cpu, lkst_buffer_id id, struct lkst_span *span,
		       struct lkst_record *to, size_t max, size_t *nr)
{
	const struct lkst_buffer *b;
	struct lkst_extent e;
	uint64_t missed;

	if (id == LKST_BUFFER_ID_VOID && cpu == -1) {
		*nr = lkst_layout_static(l->state, &span->next, to, max);
		return 0;
	}
	b = lkst_buffer_at(l, cpu, id);
	if (!b)
		return -EINVAL;
	lkst_extent(l, (uint32_t)cpu, b, &e);
	if (!span->end)
		*span = (struct lkst_span){ e.first, e.end };
	*nr = 0;
	if (span->next >= span->end)
		return 0;
	/* what was overwritten meanwhile is passed over */
	return copy_records(l, (uint32_t)cpu, b->ring, span->next > e.first ? span->next : e.first,
			    span->end, to, max, nr, &span->next, &missed);
}

/* ---- as LKST's own structs ---- */

void tacho_lkst_base(struct tacho_lkst *l, struct timeval *xtime, lkst_tsc_t *tsc,
		     lkst_cpu_freq_t *freq, int *endian_big, int *buf_ver,
		     char arch[LKST_ARCH_NAME_LEN])
{
	const struct tacho_control *c = l->session.view.ctl;
	struct utsname u;

	xtime->tv_sec = (time_t)(c->start.realtime / 1000000000);
	xtime->tv_usec = (suseconds_t)(c->start.realtime % 1000000000 / 1000);
	*tsc = c->start.ticks;
	*freq = (lkst_cpu_freq_t)(c->clock_freq / 1000);
	*endian_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	*buf_ver = LKST_BUF_VER;
	memset(arch, 0, LKST_ARCH_NAME_LEN);
	if (!uname(&u))
		memcpy(arch, u.machine, strnlen(u.machine, LKST_ARCH_NAME_LEN - 1));
}

/* Nanoseconds since 1970, of a moment before or behind the session's start. */
static struct timespec real_time(const struct tacho_control *c, uint64_t ticks)
{
	__extension__ typedef __int128 wide;
	wide ns = (wide)(int64_t)(ticks - c->start.ticks) * 1000000000 /
		  (wide)(c->clock_freq ? c->clock_freq : 1) + (wide)c->start.realtime;

	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

void tacho_lkst_log_record(const struct tacho_lkst *l, const struct lkst_record *r,
			   struct lkst_log_record *to)
{
	memset(to, 0, sizeof(*to));
	to->posix = (struct posix_log_entry){
		.log_magic = LKST_MAGIC, .log_recid = (posix_log_recid_t)r->recid,
		.log_size = sizeof(lkst_arg_t) * 4, .log_format = PXLOG_BINARY,
		.log_event_type = r->etype, .log_facility = LOG_KERN,
		.log_severity = LOG_DEBUG, .log_uid = r->uid, .log_gid = r->gid,
		.log_pid = r->pid, .log_pgrp = r->pgrp,
		.log_time = real_time(l->session.view.ctl, r->ticks),
		.log_flags = r->flags, .log_thread = (unsigned int)r->thread,
		.log_processor = r->cpu,
	};
	to->log_arg1 = r->arg[0];
	to->log_arg2 = r->arg[1];
	to->log_arg3 = r->arg[2];
	to->log_arg4 = r->arg[3];
}

int lkst_read_to(struct tacho_lkst *l, struct lkst_log_buffer *p, lkst_sink sink, void *arg)
{
	struct lkst_log_record out[AT_ONCE];
	struct lkst_record some[AT_ONCE];
	struct lkst_span span = { 0, 0 };
	size_t max = p ? p->read_size / sizeof(out[0]) : 0, done = 0, n;
	int err = 0;

	if (!p || !p->buffer || !max)
		return -EINVAL;
	(void)tacho_lkst_pump_once(l);
	while (!err && done < max) {
		size_t want = max - done < AT_ONCE ? max - done : AT_ONCE;

		err = tacho_lkst_records(l, p->cpu, p->id, &span, some, want, &n);
		if (err || !n)
			break;
		for (size_t i = 0; i < n; i++)
			tacho_lkst_log_record(l, &some[i], &out[i]);
		err = sink(arg, &p->buffer[done], out, n);
		done += n;
	}
	if (err)
		return err == -ENOENT ? -EINVAL : err;
	p->result_read_size = done * sizeof(out[0]);
	tacho_lkst_base(l, &p->xtime, &p->tsc, &p->cpu_freq, &p->endian_big, &p->buf_ver,
			p->arch);
	return 0;
}

static int to_memory(void *arg, struct lkst_log_record *to, const struct lkst_log_record *r,
		     size_t n)
{
	(void)arg;
	memcpy(to, r, n * sizeof(*r));
	return 0;
}

int tacho_lkst_buffer_read(struct tacho_lkst *l, struct lkst_log_buffer *p)
{
	return lkst_read_to(l, p, to_memory, NULL);
}

/* ---- the read queue ---- */

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
		if (e.left && e.first != e.end && b->taken != e.begins + 1)
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

/* What was overwritten until now is nobody's loss. */
static void count_anew(struct tacho_lkst *l, uint32_t cpu)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];

	for (int32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		struct lkst_buffer *b = lkst_buffer_at(l, (int)cpu, id);
		struct lkst_extent e;

		if (!b || id == c->read_buf)
			continue;
		lkst_extent(l, cpu, b, &e);
		if (e.end)
			b->upto = b->taken == e.begins + 1 ? e.end : e.first;
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
		if (e.first > b->upto) {
			c->missed += e.first - b->upto;
			b->upto = e.first;
		}
	}
}

/* Takes the head off the queue: false: it is empty. */
static bool begin_next(struct tacho_lkst *l, uint32_t cpu)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	int32_t queue[TACHO_BUFFERS_MAX];
	struct lkst_buffer *b;
	struct lkst_extent e;

	c->read_buf = LKST_BUFFER_ID_VOID;
	count_missed(l, cpu);
	if (!lkst_queue(l, cpu, queue))
		return false;
	b = &c->buffer[queue[0]];
	lkst_extent(l, cpu, b, &e);
	c->missed += e.first > b->upto ? e.first - b->upto : 0;
	b->taken = e.begins + 1;
	c->read_next = e.first;
	b->upto = e.first;
	c->read_end = e.end;
	c->read_buf = queue[0];
	return true;
}

/* From the queue of a CPU, under the lock: how many, of one buffer, or -errno. */
static ssize_t read_queue(struct tacho_lkst *l, uint32_t cpu, struct lkst_record *to,
			  size_t max)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	size_t n = 0;

	while (!n) {
		struct lkst_buffer *b = c->read_buf >= 0 ?
			lkst_buffer_at(l, (int)cpu, c->read_buf) : NULL;
		uint64_t missed;
		int err;

		if (!b || c->read_next >= c->read_end) {
			if (!begin_next(l, cpu))
				return -EAGAIN;
			continue;
		}
		err = copy_records(l, cpu, b->ring, c->read_next, c->read_end, to, max, &n,
				   &c->read_next, &missed);
		if (err)
			return err;
		if (!n) {	/* overwritten meanwhile, to the end */
			missed += c->read_end - c->read_next;
			c->read_next = c->read_end;
		}
		c->missed += missed;
		b->upto = c->read_next;
	}
	return (ssize_t)n;
}

ssize_t tacho_lkst_read_records(struct tacho_lkst *l, struct lkst_record *to, size_t max,
				int32_t owner, struct lkst_read_from *from)
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
		n = read_queue(l, (uint32_t)cpu, to, max);
		*from = (struct lkst_read_from){ c->read_buf, c->missed };
		c->missed = 0;
	}
	tacho_lkst_unlock(l);
	return n;
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
