// SPDX-License-Identifier: MIT
#include "fmt/ltt/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

#define STEP_MAX	UINT64_C(0xffffffff)

void tacho_ltt_lane_release(struct tacho_ltt_lane *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->buf);
	free(l->declared);
	l->fd = -1;
	l->buf = NULL;
	l->declared = NULL;
}

static void put_head(const struct tacho_ltt_lane *l, unsigned char *p, uint64_t t,
		     uint32_t id, uint32_t sub, size_t size)
{
	bool swap = l->form->swap;
	uint32_t time = (uint32_t)t;
	uint16_t n = (uint16_t)size;

	tacho_put_u32(p, swap ? __builtin_bswap32(time) : time);
	p[4] = (unsigned char)id;
	p[5] = (unsigned char)sub;
	tacho_put_u16(p + 6, swap ? __builtin_bswap16(n) : n);
}

static void put_struct(const struct tacho_ltt_lane *l, unsigned char *body, uint32_t id,
		       const struct tacho_ltt_values *v)
{
	const struct tacho_ltt_shape *shape = &l->form->shape[id];

	memset(body, 0, shape->size);
	for (uint32_t i = 0; i < shape->nr; i++) {
		const struct tacho_ltt_elem *e = &shape->elem[i];
		size_t n = v->text_len[i];

		if (!e->text)
			tacho_ltt_put(e, body, l->form->swap, v->v[i]);
		else if (v->text[i])	/* the last byte stays a NUL */
			memcpy(body + e->at, v->text[i], n < e->size ? n : e->size - 1u);
	}
}

/* ---- buffers ----------------------------------------------------------------------- */

static int write_all(struct tacho_ltt_lane *l)
{
	size_t done = 0;

	while (done < l->start.buffer_size) {
		ssize_t n = write(l->fd, l->buf + done, l->start.buffer_size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	l->bytes += done;
	return 0;
}

/* Appends a record that surely fits. */
static void put_sure(struct tacho_ltt_lane *l, uint64_t t, uint32_t id,
		     const struct tacho_ltt_values *v)
{
	size_t size = LTT_ALIGN(LTT_HEAD + l->form->shape[id].size);

	memset(l->buf + l->len, 0, size);
	put_head(l, l->buf + l->len, t, id, 0, size);
	put_struct(l, l->buf + l->len + LTT_HEAD, id, v);
	l->len += (uint32_t)size;
}

static void set_stamp(const struct tacho_ltt_lane *l, uint64_t t,
		      struct tacho_ltt_values *v)
{
	uint64_t us = l->start.us ? t : t / 1000;

	v->v[0] = us / 1000000;
	v->v[1] = us % 1000000;
	v->v[2] = l->start.us ? 0 : (uint32_t)t;
}

static void put_start(struct tacho_ltt_lane *l)
{
	const struct tacho_ltt_start *s = &l->start;
	struct tacho_ltt_values v = { .v = { TRACER_MAGIC_NUMBER, s->arch, s->variant,
		s->system, s->buffer_size, TRACER_SUP_VERSION_MAJOR,
		TRACER_SUP_VERSION_MINOR, !s->us, l->cpu < 255 ? l->cpu : l->cpu & 0xff,
		s->flight, s->event_mask, s->details_mask } };

	put_sure(l, 0, TRACE_START, &v);
}

int tacho_ltt_lane_begin(struct tacho_ltt_lane *l, uint64_t t)
{
	struct tacho_ltt_values v = { .v = { 0 } };

	if (!l->buf)
		l->buf = malloc(l->start.buffer_size);
	if (!l->buf)
		return -ENOMEM;
	l->len = 0;
	set_stamp(l, t, &v);
	v.v[3] = l->buffers;
	put_sure(l, t, TRACE_BUFFER_START, &v);
	if (!l->buffers++)
		put_start(l);
	l->t = t;
	return 0;
}

int tacho_ltt_lane_end(struct tacho_ltt_lane *l, uint64_t t, bool timeless)
{
	struct tacho_ltt_values v = { .v = { 0 } };
	uint32_t lost, size = l->start.buffer_size;

	if (!l->len)
		return 0;
	if (t < l->t)
		t = l->t;
	if (!timeless)
		set_stamp(l, t, &v);
	lost = size - l->len;
	put_sure(l, t, TRACE_BUFFER_END, &v);
	memset(l->buf + l->len, 0, size - l->len);
	tacho_put_u32(l->buf + size - 4, l->form->swap ? __builtin_bswap32(lost) : lost);
	l->len = 0;
	l->t = t;
	return write_all(l);
}

/* ---- records ----------------------------------------------------------------------- */

/* Room for a record of this size at t; the buffer may change. */
static int make_room(struct tacho_ltt_lane *l, uint64_t t, size_t size)
{
	int err = 0;

	if (size > LTT_RECORD_MAX)
		return -EMSGSIZE;
	if (!l->len)
		err = tacho_ltt_lane_begin(l, t);
	if (err || l->start.buffer_size - l->len >= LTT_TAIL + size)
		return err;
	/* a buffer of its own would not be enough */
	if (l->start.buffer_size < LTT_TAIL + size +
	    LTT_ALIGN(LTT_HEAD + l->form->shape[TRACE_BUFFER_START].size))
		return -EMSGSIZE;
	err = tacho_ltt_lane_end(l, t, false);
	return err ? err : tacho_ltt_lane_begin(l, t);
}

/* A leap: so many HEARTBEATs take more room than a new buffer, whose BUFFER_START has all bits. */
static bool is_leap(const struct tacho_ltt_lane *l, uint64_t t)
{
	return (t - l->t) / STEP_MAX >= l->start.buffer_size / LTT_HEAD;
}

/* The time of the next record, with HEARTBEATs before it where it takes some. */
static int reach(struct tacho_ltt_lane *l, uint64_t *t)
{
	int err = 0;

	if (!l->len && !l->buffers)
		return 0;
	if (*t < l->t) {
		l->late++;
		*t = l->t;
	}
	if (l->len && is_leap(l, *t))
		return tacho_ltt_lane_end(l, l->t, false);
	while (!err && l->len && *t - l->t > STEP_MAX) {
		uint64_t beat = l->t + STEP_MAX;

		err = make_room(l, beat, LTT_HEAD);
		if (err)
			break;
		put_head(l, l->buf + l->len, beat, TRACE_HEARTBEAT, 0, LTT_HEAD);
		l->len += LTT_HEAD;
		l->t = beat;
	}
	return err;
}

/* Where the bytes after a record's header go; NULL: *err says why. */
static unsigned char *begin_record(struct tacho_ltt_lane *l, uint64_t t, uint32_t id,
				   uint32_t sub, size_t body, int *err)
{
	size_t size = LTT_ALIGN(LTT_HEAD + body);
	unsigned char *p;

	*err = body > LTT_RECORD_MAX ? -EMSGSIZE : reach(l, &t);
	if (!*err)
		*err = make_room(l, t, size);
	if (*err)
		return NULL;
	p = l->buf + l->len;
	put_head(l, p, t, id, sub, size);
	memset(p + size - 8, 0, size > LTT_HEAD ? 8 : 0);
	l->len += (uint32_t)size;
	l->t = t;
	return p + LTT_HEAD;
}

int tacho_ltt_lane_put_raw(struct tacho_ltt_lane *l, uint64_t t, uint32_t id,
			   uint32_t sub, const void *body, size_t len)
{
	int err;
	unsigned char *p = begin_record(l, t, id, sub, len, &err);

	if (p)
		memcpy(p, body, len);
	return err;
}

int tacho_ltt_lane_put(struct tacho_ltt_lane *l, uint64_t t, uint32_t id, uint32_t sub,
		       const struct tacho_ltt_values *v, bool bare)
{
	size_t size = l->form->shape[id].size, at = (size + v->data_len + 3) & ~(size_t)3;
	size_t whole = bare ? 0 : v->tail ? at + LTT_LANE_TAIL_HEAD + v->tail_len :
		       size + v->data_len;
	unsigned char *p;
	int err;

	p = begin_record(l, t, id, sub, whole, &err);
	if (!p || bare)
		return err;
	put_struct(l, p, id, v);
	if (v->data_len)
		memcpy(p + size, v->data, v->data_len);
	if (v->tail) {
		memset(p + size + v->data_len, 0, at - size - v->data_len);
		memcpy(p + at, v->tail_head, LTT_LANE_TAIL_HEAD);
		memcpy(p + at + LTT_LANE_TAIL_HEAD, v->tail, v->tail_len);
	}
	return 0;
}
