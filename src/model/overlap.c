// SPDX-License-Identifier: MIT
/* What has a key of its own: slices of devices and spans, counters, messages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_priv.h"

/* ---- lanes: depths of a track that are taken ---- */

static bool lanes_grow(struct model *m, struct model_lanes *l, uint32_t words)
{
	uint64_t *bigger = reallocarray(l->busy, words, sizeof(*bigger));

	if (!bigger) {
		(void)model_fail(m, -ENOMEM);
		return false;
	}
	l->busy = bigger;
	while (l->words < words)
		bigger[l->words++] = 0;
	return true;
}

uint32_t model_lane_take(struct model *m, struct model_lanes *l)
{
	uint32_t w = 0;

	while (w < l->words && !~l->busy[w])
		w++;
	if (w == l->words && !lanes_grow(m, l, w + 1))
		return 0;
	l->nr_open++;
	for (uint32_t bit = 0;; bit++)
		if (!(l->busy[w] >> bit & 1)) {
			l->busy[w] |= UINT64_C(1) << bit;
			return w * 64 + bit;
		}
}

bool model_lane_take_at(struct model *m, struct model_lanes *l, uint32_t depth)
{
	uint32_t w = depth / 64;
	uint64_t bit = UINT64_C(1) << depth % 64;

	if ((w >= l->words && !lanes_grow(m, l, w + 1)) || l->busy[w] & bit)
		return false;
	l->busy[w] |= bit;
	l->nr_open++;
	return true;
}

static void lane_free(struct model_lanes *l, uint32_t depth)
{
	l->busy[depth / 64] &= ~(UINT64_C(1) << depth % 64);
	l->nr_open--;
}

uint32_t model_lanes_new(struct model *m, uint64_t key)
{
	uint32_t i;

	if (!m->nr_lanes) {
		if (!model_grow(m, &m->lanes, 0, &m->room_lanes, sizeof(*m->lanes)))
			return 0;
		m->lanes[0] = (struct model_lanes){ 0 };
		m->nr_lanes = 1;
	}
	if (!model_grow(m, &m->lanes, m->nr_lanes, &m->room_lanes, sizeof(*m->lanes)))
		return 0;
	i = m->nr_lanes;
	m->lanes[i] = (struct model_lanes){ .key = key };
	if (!model_table_set(&m->lanes_by_key, key, i)) {
		(void)model_fail(m, -ENOMEM);
		return 0;
	}
	m->nr_lanes++;
	return i;
}

static uint32_t lanes_device(struct model *m, const struct model_action *a)
{
	int64_t dev;
	uint64_t key;
	uint32_t i;
	char name[32];

	if (!model_int(m, &a->arg[MODEL_ARG_DEV], &dev))
		return 0;
	key = model_mix(1, (uint64_t)dev);
	i = model_table_get(&m->lanes_by_key, key);
	if (i)
		return i;
	i = model_lanes_new(m, key);
	if (!i)
		return 0;
	(void)snprintf(name, sizeof(name), "%llu,%llu", (unsigned long long)((uint64_t)dev >> 20),
		       (unsigned long long)dev & 0xfffff);
	m->lanes[i].track = model_new_track(m, 0, MODEL_DEVICE, dev,
					    model_intern(m, name, strlen(name)));
	m->lanes[i].depth_counter = model_new_track(m, m->lanes[i].track, MODEL_COUNTER, 0,
						    "depth");
	return i;
}

static uint32_t lanes_span(struct model *m, const struct model_action *a)
{
	uint64_t key = model_mix(2, a->where_key);
	uint32_t i = model_table_get(&m->lanes_by_key, key);

	if (i)
		return i;
	i = model_lanes_new(m, key);
	if (i)
		m->lanes[i].track = model_new_track(m, 0, MODEL_SPAN, 0, a->where);
	return i;
}

/* ---- slices ---- */

static void count_depth(struct model *m, const struct model_lanes *l)
{
	if (l->depth_counter)
		model_put_counter(m, l->depth_counter, l->nr_open);
}

static void put(struct model *m, uint32_t track, const struct model_open *o, uint32_t to,
		uint64_t end_record, uint32_t flags)
{
	struct model_slice s = {
		.track = track, .depth = o->depth, .begin = o->begin, .begin_record = o->record,
		.end = m->time, .end_record = end_record, .name = o->name,
		.category = o->category, .flags = flags, .from = o->from.track, .to = to,
	};

	if ((o->of_program ? m->program_loss_end : m->kernel_loss_end) > o->begin)
		s.flags |= MODEL_UNCERTAIN;
	model_put_slice(m, &s);
}

/* Ends an open slice, and takes it out. */
static void close_open(struct model *m, uint32_t i, uint32_t to, uint64_t end_record,
		       uint32_t flags)
{
	struct model_open o = m->open[i];
	struct model_lanes *l = &m->lanes[o.lanes];

	if (o.thread && m->thread[o.thread].serial == o.thread_serial)
		m->thread[o.thread].requests--;
	model_table_remove(&m->open_by_key, o.key);
	MODEL_UNLINK(m->open, i);
	model_open_free(m, i);
	m->nr_overlapping--;
	lane_free(l, o.depth);
	put(m, l->track, &o, to, end_record, flags);
}

static const char *name_of(struct model *m, const struct model_action *a)
{
	const struct model_value *v = &a->arg[MODEL_ARG_NAME];

	return v->text || v->field ? model_text(m, v) : a->where ? a->where : a->category;
}

static void begin(struct model *m, const struct model_action *a, uint32_t lanes, uint64_t key)
{
	uint32_t thread = model_thread_here(m), i;
	struct model_place from;
	const char *name;

	if (m->nr_overlapping >= MODEL_OPEN_MAX) {
		m->stats.unplaced++;
		return;
	}
	from = model_here(m, thread);
	name = name_of(m, a);
	i = model_open_new(m);
	if (!i || m->err)
		return;
	m->open[i] = (struct model_open){
		.key = key, .begin = m->time, .record = m->record, .name = name,
		.category = a->category, .of_program = m->from_program, .lanes = lanes,
		.from = from, .depth = model_lane_take(m, &m->lanes[lanes]),
	};
	MODEL_LINK(m->open, i);
	m->nr_overlapping++;
	if (a->object == MODEL_ON_DEVICE && thread && !from.by_irq) {
		m->open[i].thread = thread;
		m->open[i].thread_serial = m->thread[thread].serial;
		m->thread[thread].requests++;
	}
	if (!model_table_set(&m->open_by_key, key, i))
		(void)model_fail(m, -ENOMEM);
	count_depth(m, &m->lanes[lanes]);
}

static void end(struct model *m, const struct model_action *a, uint32_t lanes, uint32_t i)
{
	struct model_place to = model_here(m, model_thread_here(m)), from;

	if (a->object == MODEL_ON_DEVICE && to.by_irq)
		m->here->io_done = true;
	if (!i) {
		struct model_open o = {
			.begin = m->time, .record = MODEL_NO_RECORD, .name = name_of(m, a),
			.category = a->category, .of_program = m->from_program,
		};

		put(m, m->lanes[lanes].track, &o, to.track, m->record, MODEL_BEGIN_UNKNOWN);
		return;
	}
	from = m->open[i].from;
	close_open(m, i, to.track, m->record, 0);
	if (from.track != to.track)
		model_put_flow(m, a->object == MODEL_ON_DEVICE ? "request" : "span", &from, &to);
	count_depth(m, &m->lanes[lanes]);
}

void model_overlap(struct model *m, const struct model_action *a)
{
	uint32_t lanes, i;
	uint64_t key;

	if (!model_key(m, a, 0, &key)) {
		m->stats.unplaced++;
		return;
	}
	lanes = a->object == MODEL_ON_DEVICE ? lanes_device(m, a) : lanes_span(m, a);
	if (!lanes || m->err)
		return;
	key = model_mix(model_mix(m->lanes[lanes].key, a->category_key), key);
	i = model_table_get(&m->open_by_key, key);
	if (a->verb == MODEL_FINISH) {
		end(m, a, lanes, i);
		return;
	}
	if (i && a->verb == MODEL_CONTINUE)
		return;
	if (i)
		close_open(m, i, 0, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	begin(m, a, lanes, key);
}

/* ---- counters ---- */

static uint32_t counter_parent(struct model *m, const struct model_action *a)
{
	struct model_cpu *c = m->here;
	uint32_t thread;
	int64_t cpu;

	if (a->object == MODEL_ON_MACHINE)
		return 0;
	if (a->object == MODEL_ON_PROCESS) {
		thread = model_thread_here(m);
		return thread ? model_process_track(m, thread) : UINT32_MAX;
	}
	if (a->arg[MODEL_ARG_CPU].field)
		c = model_int(m, &a->arg[MODEL_ARG_CPU], &cpu) && cpu >= 0 && cpu < 65536 ?
		    model_cpu_get(m, (uint32_t)cpu) : NULL;
	return c ? model_cpu_track(m, c) : UINT32_MAX;
}

static uint32_t counter_new(struct model *m, uint64_t key, uint32_t parent, const char *name)
{
	uint32_t track = model_new_track(m, parent, MODEL_COUNTER, 0, name);

	if (!track || !model_grow(m, &m->counter, m->nr_counters, &m->room_counters,
				  sizeof(*m->counter)))
		return 0;
	if (!model_table_set(&m->counter_by_key, key, track)) {
		(void)model_fail(m, -ENOMEM);
		return 0;
	}
	m->counter[m->nr_counters++] = (struct model_counter_track){ key, track };
	return track;
}

/* "NAME KEY,KEY" */
static const char *counter_name(struct model *m, const struct model_action *a)
{
	const char *name = model_text(m, &a->label);
	char s[512];
	size_t n = 0;

	if (!a->nr_keys)
		return name;
	n = (size_t)snprintf(s, sizeof(s), "%s", name);
	for (uint32_t i = 0; i < a->nr_keys && n < sizeof(s); i++)
		n += (size_t)snprintf(s + n, sizeof(s) - n, "%c%s", i ? ',' : ' ',
				      model_text(m, &a->key[i]));
	return model_intern(m, s, n < sizeof(s) ? n : sizeof(s) - 1);
}

void model_count(struct model *m, const struct model_action *a)
{
	uint32_t parent = counter_parent(m, a), track;
	const char *name;
	double value;
	uint64_t key;

	if (parent == UINT32_MAX || !model_double(m, &a->arg[MODEL_ARG_VALUE], &value)) {
		m->stats.unplaced++;
		return;
	}
	name = counter_name(m, a);
	key = model_mix(parent, model_text_key(name));
	track = model_table_get(&m->counter_by_key, key);
	if (!track)
		track = counter_new(m, key, parent, name);
	if (!m->err)
		model_put_counter(m, track, value);
}

/* ---- messages ---- */

static void forget_all_sent(struct model *m)
{
	free(m->sent_by_key.slot);
	m->sent_by_key = (struct model_table){ 0 };
	m->sent[0] = (struct model_sent){ 0 };
	m->nr_sent = 1;
	m->free_sent = 0;
}

static uint32_t sent_new(struct model *m, uint64_t key)
{
	uint32_t i;

	if (m->sent_by_key.nr >= MODEL_SENT_MAX)
		forget_all_sent(m);
	i = m->free_sent;
	if (i) {
		m->free_sent = m->sent[i].next;
	} else {
		if (!model_grow(m, &m->sent, m->nr_sent, &m->room_sent, sizeof(*m->sent)))
			return 0;
		if (!m->nr_sent)
			m->sent[m->nr_sent++] = (struct model_sent){ 0 };
		i = m->nr_sent++;
	}
	if (!model_table_set(&m->sent_by_key, key, i)) {
		(void)model_fail(m, -ENOMEM);
		return 0;
	}
	return i;
}

void model_store_sent(struct model *m, uint64_t key, const struct model_place *from)
{
	uint32_t i = model_table_get(&m->sent_by_key, key);

	if (i)
		MODEL_UNLINK(m->sent, i);
	else
		i = sent_new(m, key);
	if (!i)
		return;
	m->sent[i] = (struct model_sent){ .key = key, .from = *from };
	MODEL_LINK(m->sent, i);
}

void model_message(struct model *m, const struct model_action *a)
{
	struct model_place place = { .time = m->time, .record = m->record };
	uint32_t thread = model_thread_here(m), i;
	uint64_t key;

	if (!thread || m->err || !model_key(m, a, a->where_key, &key)) {
		m->stats.unplaced++;
		return;
	}
	place.track = model_state_track(m, thread);
	if (a->verb == MODEL_SEND) {
		model_store_sent(m, key, &place);
		return;
	}
	i = model_table_get(&m->sent_by_key, key);
	if (!i)
		return;
	model_put_flow(m, a->where, &m->sent[i].from, &place);
	model_table_remove(&m->sent_by_key, key);
	MODEL_UNLINK(m->sent, i);
	m->sent[i] = (struct model_sent){ .next = m->free_sent };
	m->free_sent = i;
}

/* ---- the end ---- */

static int by_lane(const void *a, const void *b, void *arg)
{
	const struct model *m = arg;
	const struct model_open *x = &m->open[*(const uint32_t *)a];
	const struct model_open *y = &m->open[*(const uint32_t *)b];
	uint32_t s = m->lanes[x->lanes].track, t = m->lanes[y->lanes].track;

	return s != t ? (s > t) - (s < t) : (x->depth > y->depth) - (x->depth < y->depth);
}

void model_overlaps_finish(struct model *m)
{
	uint32_t *list = reallocarray(NULL, m->nr_open + 1u, sizeof(*list)), nr = 0;

	if (!list) {
		(void)model_fail(m, -ENOMEM);
		return;
	}
	for (uint32_t i = 1; i < m->nr_open; i++)
		if (m->open[i].lanes)
			list[nr++] = i;
	qsort_r(list, nr, sizeof(*list), by_lane, m);
	for (uint32_t i = 0; i < nr && !m->err; i++)
		close_open(m, list[i], 0, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	free(list);
}
