// SPDX-License-Identifier: MIT
#include "record/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/text.h"
#include "kdata/types.h"
#include "tracefs/pump.h"
#include "ring/read.h"

#define TYPES_NR	(1u << 16)	/* ids that a record can have */

struct packet {
	struct packet *next;
	struct tacho_packet head;
	uint64_t given;		/* records up to this time were in a window */
	uint32_t len;
	unsigned char data[];
};

/* The packets of a program lane or of a kernel CPU. */
struct stream {
	struct packet *first, *last;
	uint64_t bytes, cap;
	uint64_t packets, events;	/* ever added */
};

/* The read position in a buffer that could not be frozen. */
struct mark {
	uint64_t next_event;	/* 0: from the oldest on */
	uint32_t id;
};

struct tacho_history {
	struct tacho_session *session;
	const struct tacho_kernel *kernel;
	bool repeat;
	uint32_t nr_lanes, nr_cpus;
	struct stream *stream;	/* lanes, then CPUs */
	struct mark *mark;	/* by lane */
	struct tacho_ktypes types;
	struct tacho_ktasks tasks;
	struct tacho_kernel_pump *pump;
	uint64_t damaged;
};

/* ---- packets ---- */

static int add(struct stream *s, const struct tacho_packet *head,
	       const void *data, uint32_t len)
{
	struct packet *p = malloc(sizeof(*p) + len);

	if (!p)
		return -ENOMEM;
	p->next = NULL;
	p->head = *head;
	p->head.packet_seq_num = s->packets++;
	p->head.event_first = s->events;
	p->given = 0;
	p->len = len;
	memcpy(p->data, data, len);
	if (s->last)
		s->last->next = p;
	else
		s->first = p;
	s->last = p;
	s->bytes += len;
	s->events += head->events;
	return 0;
}

static void drop_first(struct stream *s)
{
	struct packet *p = s->first;

	s->first = p->next;
	if (!s->first)
		s->last = NULL;
	s->bytes -= p->len;
	free(p);
}

static bool is_wanted(const struct tacho_history *h, const struct packet *p,
		      uint64_t before)
{
	return p->head.timestamp_end >= before &&
	       (h->repeat || p->given < p->head.timestamp_end);
}

void tacho_history_trim(struct tacho_history *h, uint64_t before)
{
	for (uint32_t i = 0; i < h->nr_lanes + h->nr_cpus; i++) {
		struct stream *s = &h->stream[i];

		while (s->first && (!is_wanted(h, s->first, before) ||
				    s->bytes > s->cap))
			drop_first(s);
	}
}

/* ---- the session's lanes ---- */

/* The frozen buffer of a lane, or its current one. */
static uint32_t buffer_of(struct tacho_lane *lane, bool *frozen)
{
	uint64_t c = tacho_load_acquire(&lane->cursor);

	*frozen = false;
	if (!c || c == TACHO_CURSOR_DEAD)
		return TACHO_BUFFERS_MAX;
	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		*frozen = tacho_load_acquire(&tacho_lane_buffer(lane, id)->flags) &
			  TACHO_BUFFER_FROZEN;
		if (*frozen)
			return id;
	}
	return tacho_cursor_id(c);
}

static int collect_lane(struct tacho_history *h, uint32_t nr)
{
	struct tacho_ring *r = &h->session->view.ring;
	struct mark *m = &h->mark[nr];
	struct tacho_ring_reader rd;
	struct tacho_chunk chunk;
	bool frozen;
	uint32_t id = buffer_of(tacho_ring_lane(r, nr), &frozen);
	uint64_t from = m->id == id && m->next_event ? m->next_event :
			TACHO_READ_OLDEST;
	int err;

	if (id >= TACHO_BUFFERS_MAX)
		return 0;
	err = tacho_ring_reader_init(&rd, r, nr, id, false, from);
	if (err)
		return err == -ENOENT ? 0 : err;
	while (!err && tacho_ring_read(&rd, &chunk) == 1)
		if (chunk.len)
			err = add(&h->stream[nr], &chunk.head, chunk.data, chunk.len);
	m->id = id;
	m->next_event = frozen || rd.next_event == TACHO_READ_OLDEST ?
			0 : rd.next_event;
	h->damaged += rd.damaged;
	tacho_ring_reader_release(&rd);
	return err;
}

/* ---- the kernel ---- */

static int kernel_sink(void *arg, const struct tacho_kernel_batch *b)
{
	struct tacho_history *h = arg;
	struct tacho_packet head = {
		.stream_id = TACHO_STREAM_KERNEL,
		.stream_instance_id = b->cpu,
		.cpu_id = b->cpu,
		.timestamp_begin = b->time_begin,
		.timestamp_end = b->time_end,
		.events = b->events,
	};

	/* for a flight recorder, overwritten kernel records are not lost */
	if (!b->events || b->cpu >= h->nr_cpus)
		return 0;
	return add(&h->stream[h->nr_lanes + b->cpu], &head, b->records, b->len);
}

int tacho_history_collect_kernel(struct tacho_history *h, struct tacho_diag *d)
{
	/* each step reads several batches; more rounds than the buffer holds would follow records
	 * written during the reading */
	uint64_t rounds = 2;
	int got = 1;

	if (!h->pump)
		return 0;
	rounds += tacho_kernel_info(h->kernel)->buffer_size / TACHO_KERNEL_BATCH;
	while (got > 0 && rounds--)
		got = tacho_kernel_pump_step(h->pump, 0);
	return got < 0 ? tacho_diag(d, got, 0, "cannot read the kernel's events: %s",
				    strerror(-got)) : 0;
}

int tacho_history_collect(struct tacho_history *h, struct tacho_diag *d)
{
	int err = 0;

	if (h->session) {
		err = tacho_session_snapshot(h->session, d);
		err = err < 0 ? err : 0;
	}
	if (!err)
		err = tacho_history_collect_kernel(h, d);
	if (err)
		return err;
	for (uint32_t nr = 0; !err && nr < h->nr_lanes; nr++)
		err = collect_lane(h, nr);
	return err ? tacho_diag(d, err, 0, "cannot copy the session's buffers: %s",
				strerror(-err)) : 0;
}

/* ---- finding events ---- */

static void mark_programs(const struct tacho_history *h, const char *glob, bool *wanted)
{
	char full[TACHO_RULE_MAX * 2];
	const char *text;
	uint32_t len;

	for (uint32_t id = 1; h->session && id < TYPES_NR &&
	     (text = tacho_types_text(&h->session->view, id, &len)); id++) {
		char *colon;

		tacho_type_text_name(text, len, full, sizeof(full));
		colon = strchr(full, ':');
		if (!colon)
			continue;
		*colon = '\0';
		wanted[id] = tacho_event_glob(glob, full, colon + 1);
	}
}

static void mark_kernel(const struct tacho_history *h, const char *glob, bool *wanted)
{
	for (uint32_t i = 0; i < h->types.nr; i++) {
		const struct tacho_type *t = h->types.list[i].type;

		if (t->id < TYPES_NR)
			wanted[t->id] = tacho_event_glob(glob, t->system, t->name);
	}
}

static void find_in(const struct packet *p, const bool *wanted, uint64_t after,
		    struct tacho_buf *times)
{
	const unsigned char *at = p->data, *end = at + p->len;
	uint64_t time = p->head.timestamp_begin;

	while (at < end) {
		uint64_t word = tacho_load_u64(at);

		time = tacho_record_time(word, time);
		if (time > after && wanted[tacho_load_u16(at + 8)])
			tacho_buf_put(times, &time, sizeof(time));
		at += tacho_record_size(word);
	}
}

static int earlier(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int tacho_history_find(const struct tacho_history *h, uint32_t stream,
		       const char *glob, uint64_t after, struct tacho_buf *times)
{
	bool kernel = stream == TACHO_STREAM_KERNEL;
	uint32_t from = kernel ? h->nr_lanes : 0;
	uint32_t to = kernel ? h->nr_lanes + h->nr_cpus : h->nr_lanes;
	bool *wanted = calloc(TYPES_NR, sizeof(*wanted));

	if (!wanted)
		return -ENOMEM;
	if (kernel)
		mark_kernel(h, glob, wanted);
	else
		mark_programs(h, glob, wanted);
	for (uint32_t i = from; i < to; i++)
		for (const struct packet *p = h->stream[i].first; p; p = p->next)
			if (p->head.timestamp_end > after)
				find_in(p, wanted, !h->repeat && p->given > after ?
					p->given : after, times);
	free(wanted);
	if (times->len)
		qsort(times->data, times->len / sizeof(uint64_t), sizeof(uint64_t),
		      earlier);
	return tacho_buf_error(times);
}

/* ---- the window of time ---- */

bool tacho_history_cut(struct tacho_history_slice *slice, uint64_t from, uint64_t to)
{
	const unsigned char *at = slice->data, *end = at + slice->len;
	const unsigned char *first = NULL, *last = at;
	uint64_t time = slice->head.timestamp_begin;
	uint32_t before = 0, events = 0;

	while (at < end) {
		uint64_t word = tacho_load_u64(at);

		time = tacho_record_time(word, time);
		if (time > to)
			break;
		at += tacho_record_size(word);
		if (time < from) {
			before++;
			continue;
		}
		if (!first) {
			first = at - tacho_record_size(word);
			slice->head.timestamp_begin = time;
		}
		last = at;
		slice->head.timestamp_end = time;
		events++;
	}
	if (!first)
		return false;
	slice->head.event_first += before;
	slice->head.events = events;
	slice->data = first;
	slice->len = (size_t)(last - first);
	return true;
}

int tacho_history_each(struct tacho_history *h,
		       const struct tacho_history_window *w,
		       int (*fn)(void *arg, const struct tacho_history_slice *slice),
		       void *arg)
{
	int ret;

	for (uint32_t i = 0; i < h->nr_lanes + h->nr_cpus; i++)
		for (struct packet *p = h->stream[i].first; p; p = p->next) {
			struct tacho_history_slice slice = { p->head, p->data, p->len };
			uint64_t end = p->head.timestamp_end;
			uint64_t from = w->fresh && p->given && p->given >= w->from ?
					p->given + 1 : w->from;

			if (tacho_history_cut(&slice, from, w->to)) {
				ret = fn(arg, &slice);
				if (ret)
					return ret;
			}
			if (p->given < w->to)
				p->given = w->to < end ? w->to : end;
		}
	return 0;
}

/* ---- begin, end ---- */

static int begin_kernel(struct tacho_history *h, struct tacho_diag *d)
{
	struct tacho_kernel_pump_config c = {
		.sink = kernel_sink, .arg = h, .tasks = &h->tasks,
	};
	int err = tacho_kernel_load_types(h->kernel, &h->types, d);

	return err ? err : tacho_kernel_pump_new(&h->pump, h->kernel, &h->types, &c, d);
}

static void set_caps(struct tacho_history *h)
{
	const struct tacho_control *c = h->session ? h->session->view.ctl : NULL;

	for (uint32_t i = 0; i < h->nr_lanes; i++)
		h->stream[i].cap = (uint64_t)c->nr_subs << c->sub_shift;
	for (uint32_t i = 0; i < h->nr_cpus; i++)
		h->stream[h->nr_lanes + i].cap = tacho_kernel_info(h->kernel)->buffer_size;
}

int tacho_history_new(struct tacho_history **out, struct tacho_session *session,
		      const struct tacho_kernel *kernel, bool repeat,
		      struct tacho_diag *d)
{
	struct tacho_history *h = calloc(1, sizeof(*h));
	int err = 0;

	*out = NULL;
	if (!h)
		return tacho_no_memory(d);
	h->session = session;
	h->kernel = kernel;
	h->repeat = repeat;
	h->nr_lanes = session ? tacho_ring_nr_lanes(&session->view.ring) : 0;
	h->nr_cpus = kernel ? tacho_kernel_info(kernel)->nr_cpus : 0;
	h->stream = calloc(h->nr_lanes + h->nr_cpus + 1, sizeof(*h->stream));
	h->mark = calloc(h->nr_lanes + 1, sizeof(*h->mark));
	tacho_ktypes_init(&h->types);
	if (tacho_ktasks_init(&h->tasks) || !h->stream || !h->mark)
		err = tacho_no_memory(d);
	if (!err)
		set_caps(h);
	if (!err && kernel)
		err = begin_kernel(h, d);
	if (err) {
		tacho_history_free(h);
		return err;
	}
	*out = h;
	return 0;
}

void tacho_history_free(struct tacho_history *h)
{
	if (!h)
		return;
	tacho_kernel_pump_free(h->pump);
	for (uint32_t i = 0; h->stream && i < h->nr_lanes + h->nr_cpus; i++)
		while (h->stream[i].first)
			drop_first(&h->stream[i]);
	free(h->stream);
	free(h->mark);
	tacho_ktypes_release(&h->types);
	tacho_ktasks_release(&h->tasks);
	free(h);
}

struct tacho_ktasks *tacho_history_tasks(struct tacho_history *h)
{
	return &h->tasks;
}

uint64_t tacho_history_damaged(struct tacho_history *h)
{
	uint64_t damaged = h->damaged;

	h->damaged = 0;
	return damaged;
}
