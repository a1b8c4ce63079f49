// SPDX-License-Identifier: MIT
/* What buffers hold. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/atomic.h"
#include "compat/lkst/late.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/pump.h"
#include "ring/write.h"

#define AT_ONCE	256	/* records that are converted at a time */

/* ---- extents ---- */

/* The number of the first record of sub-buffer `seq`; false: overwritten. */
static bool first_of(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		     uint64_t seq, uint64_t *first)
{
	struct tacho_ring *r = &l->session.view.ring;
	const struct tacho_ring_buf *map = tacho_ring_map(r, cpu, b->ring);
	const struct tacho_packet *p =
		map ? tacho_ring_sub(r, map, tacho_cursor_make(0, seq, 0, 0)) : NULL;

	if (!p || tacho_load_relaxed(&p->packet_seq_num) != seq)
		return false;
	*first = tacho_load_relaxed(&p->event_first);
	return true;
}

void lkst_extent(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		 struct lkst_extent *e)
{
	struct lkst_turn_now now;
	struct lkst_turn turn;

	memset(e, 0, sizeof(*e));
	if (!lkst_turn_now(&l->session.view, cpu, b, &now))
		return;
	e->begins = now.begins;
	e->left = now.left;
	turn = (struct lkst_turn){ .begins = now.begins, .end = now.records };
	turn.gone = !first_of(l, cpu, b, now.begins, &turn.since);
	e->shown = lkst_layout_shown(b, &turn);
}

/* ---- records ---- */

static void begin_span(struct lkst_span *span, const struct lkst_shown *s)
{
	*span = (struct lkst_span){ .next = s->first, .end = s->end };
	memcpy(span->at, s->from, sizeof(span->at));
	memcpy(span->upto, s->upto, sizeof(span->upto));
}

/* A span of what the buffer has now, if it is not begun yet; then m is open. */
static int open_span(struct tacho_lkst *l, int cpu, lkst_buffer_id id, struct lkst_span *span,
		     struct lkst_merge *m)
{
	const struct lkst_buffer *b = lkst_buffer_at(l, cpu, id);
	struct lkst_extent e;

	if (!b)
		return -EINVAL;
	if (!span->end) {
		lkst_extent(l, (uint32_t)cpu, b, &e);
		begin_span(span, &e.shown);
	}
	return lkst_merge_open(m, l, (uint32_t)cpu, b->ring, span->next, span->at, span->upto);
}

int tacho_lkst_records(struct tacho_lkst *l, int cpu, lkst_buffer_id id, struct lkst_span *span,
		       struct lkst_record *to, size_t max, size_t *nr)
{
	struct lkst_merge m;
	uint64_t missed;
	int err;

	*nr = 0;
	if (id == LKST_BUFFER_ID_VOID && cpu == -1) {
		*nr = lkst_layout_static(l->state, &span->next, to, max);
		return 0;
	}
	err = open_span(l, cpu, id, span, &m);
	if (err)
		return err;
	/* records overwritten during the read are skipped */
	*nr = lkst_merge_take(&m, to, max, &missed);
	span->next = m.next;
	lkst_merge_at(&m, span->at);
	lkst_merge_close(&m);
	return 0;
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

/* Nanoseconds since 1970, of a moment before or after the session's start. */
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

/* All that there is room for. */
static int pass_on(struct tacho_lkst *l, struct lkst_log_buffer *p, struct lkst_merge *m,
		   lkst_sink sink, void *arg)
{
	struct lkst_log_record out[AT_ONCE];
	struct lkst_record some[AT_ONCE];
	size_t max = p->read_size / sizeof(out[0]), done = 0, n;
	uint64_t missed;
	int err = 0;

	while (!err && done < max) {
		size_t want = max - done < AT_ONCE ? max - done : AT_ONCE;

		n = lkst_merge_take(m, some, want, &missed);
		if (!n)
			break;
		for (size_t i = 0; i < n; i++)
			tacho_lkst_log_record(l, &some[i], &out[i]);
		err = sink(arg, &p->buffer[done], out, n);
		done += n;
	}
	p->result_read_size = done * sizeof(out[0]);
	return err;
}

/* The static buffer's, which are few. */
static int pass_static(struct tacho_lkst *l, struct lkst_log_buffer *p, lkst_sink sink, void *arg)
{
	struct lkst_log_record out[LKST_STATIC_RECORDS];
	struct lkst_record some[LKST_STATIC_RECORDS];
	size_t max = p->read_size / sizeof(out[0]), n;
	uint64_t from = 0;

	n = lkst_layout_static(l->state, &from, some,
			       max < LKST_STATIC_RECORDS ? max : LKST_STATIC_RECORDS);

	for (size_t i = 0; i < n; i++)
		tacho_lkst_log_record(l, &some[i], &out[i]);
	p->result_read_size = n * sizeof(out[0]);
	return n ? sink(arg, p->buffer, out, n) : 0;
}

int lkst_read_to(struct tacho_lkst *l, struct lkst_log_buffer *p, lkst_sink sink, void *arg)
{
	struct lkst_span span = { 0 };
	struct lkst_merge m;
	int err;

	if (!p || !p->buffer || p->read_size < sizeof(p->buffer[0]))
		return -EINVAL;
	(void)tacho_lkst_pump_once(l);
	if (p->id == LKST_BUFFER_ID_VOID && p->cpu == -1) {
		err = pass_static(l, p, sink, arg);
	} else {
		err = open_span(l, p->cpu, p->id, &span, &m);
		if (!err) {
			err = pass_on(l, p, &m, sink, arg);
			lkst_merge_close(&m);
		}
	}
	if (err)
		return err == -ENOENT ? -EINVAL : err;
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
