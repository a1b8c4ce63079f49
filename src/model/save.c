// SPDX-License-Identifier: MIT
/* The state of a model to bytes: save.h. */
#include "model/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/model_priv.h"

/* What nested slices that are begun again and again have in common. */
struct kind {
	const char *category, *name;
	uint64_t key;
};

struct writer {
	const struct model *m;
	struct tacho_buf *out;
	struct model_table texts;	/* their numbers by address, from 1 */
	struct model_table kinds;	/* their numbers by a hash, from 1 */
	struct kind *kind;
	uint32_t nr_texts, nr_kinds, room_kinds;
	uint32_t *thread;		/* numbers of threads by index, from 1 */
	bool no_memory;
};

/* ---- numbers ---- */

static void put(struct writer *w, uint64_t n)
{
	unsigned char *to = (unsigned char *)tacho_buf_reserve(w->out, 10);
	size_t len = 0;

	if (!to)
		return;
	for (; n >= 0x80; n >>= 7)
		to[len++] = (unsigned char)(n | 0x80);
	to[len++] = (unsigned char)n;
	tacho_buf_commit(w->out, len);
}

static void put_signed(struct writer *w, uint64_t n)
{
	put(w, model_zigzag(n));
}

static void put_key(struct writer *w, uint64_t key)
{
	uint64_t le = htole64(key);

	tacho_buf_put(w->out, &le, sizeof(le));
}

static void put_time(struct writer *w, uint64_t time)
{
	put(w, w->m->stats.last - time);
}

static void put_maybe(struct writer *w, uint64_t time)
{
	put(w, time ? w->m->stats.last - time + 1 : 0);
}

static void put_record(struct writer *w, uint64_t record)
{
	put(w, record == MODEL_NO_RECORD ? 0 : w->m->stats.records - record);
}

/* ---- texts, kinds, stacks ---- */

static void put_text(struct writer *w, const char *s)
{
	uint32_t i;
	size_t len;

	if (!*s) {
		put(w, 0);
		return;
	}
	i = model_table_get(&w->texts, (uintptr_t)s);
	if (i) {
		put(w, i);
		return;
	}
	len = strlen(s);
	put(w, ++w->nr_texts);
	put(w, len);
	tacho_buf_put(w->out, s, len);
	if (!model_table_set(&w->texts, (uintptr_t)s, w->nr_texts))
		w->no_memory = true;
}

static bool same_kind(const struct kind *a, const struct kind *b)
{
	return a->category == b->category && a->name == b->name && a->key == b->key;
}

static bool add_kind(struct writer *w, uint64_t hash, const struct kind *kind)
{
	if (w->nr_kinds == w->room_kinds) {
		uint32_t room = w->room_kinds ? 2 * w->room_kinds : 64;
		struct kind *bigger = reallocarray(w->kind, room, sizeof(*bigger));

		if (!bigger)
			return false;
		w->kind = bigger;
		w->room_kinds = room;
	}
	w->kind[w->nr_kinds++] = *kind;
	return model_table_set(&w->kinds, hash, w->nr_kinds);
}

/* Of slices whose hashes are equal, the last one is found again. */
static void put_slice(struct writer *w, const struct model_open *o)
{
	struct kind kind = { o->category, o->name, o->key };
	uint64_t hash = model_mix(model_mix((uintptr_t)kind.category, (uintptr_t)kind.name),
				  kind.key);
	uint32_t i = model_table_get(&w->kinds, hash);

	if (i && same_kind(&w->kind[i - 1], &kind)) {
		put(w, (uint64_t)(i - 1) << 1 | o->of_program);
		return;
	}
	put(w, (uint64_t)w->nr_kinds << 1 | o->of_program);
	put_text(w, kind.category);
	put_text(w, kind.name);
	put_key(w, kind.key);
	if (!add_kind(w, hash, &kind))
		w->no_memory = true;
}

static void put_stack(struct writer *w, const struct model_stack *s, uint32_t track,
		      uint64_t time, uint64_t record)
{
	put_signed(w, (uint64_t)s->track - track);
	put(w, s->depth);
	if (!s->top)
		put(w, s->floor - w->m->stats.first);
	for (uint32_t i = s->top; i; i = w->m->open[i].next) {
		const struct model_open *o = &w->m->open[i];

		put_slice(w, o);
		put_signed(w, time - o->begin);
		put_signed(w, record - o->record);
		time = o->begin;
		record = o->record;
	}
}

static void put_place(struct writer *w, const struct model_place *place)
{
	put(w, (uint64_t)place->track << 1 | place->by_irq);
	if (place->track) {
		put_time(w, place->time);
		put_record(w, place->record);
	}
}

/* ---- the sections ---- */

static void put_head(struct writer *w)
{
	uint32_t version = htole32(MODEL_STATE_VERSION);

	tacho_buf_put(w->out, MODEL_STATE_MAGIC, 4);
	tacho_buf_put(w->out, &version, sizeof(version));
	put_key(w, model_rules_key(w->m->rules));
}

static void put_model(struct writer *w)
{
	const struct model *m = w->m;
	const struct model_stats *s = &m->stats;

	put(w, s->records);
	put(w, s->used);
	put(w, s->unmatched_ends);
	put(w, s->unplaced);
	put(w, s->lost);
	put(w, s->first);
	put(w, s->last - s->first);
	put(w, m->nr_tracks);
	put(w, (m->is_qnx ? MODEL_SAVED_IS_QNX : 0) |
	       (m->has_switches ? MODEL_SAVED_SWITCHES : 0));
	put(w, m->qnx_cpus);
	put_maybe(w, m->kernel_loss_end);
	put_maybe(w, m->program_loss_end);
}

static void put_processes(struct writer *w)
{
	uint32_t nr = w->m->nr_processes, track = 0;
	uint64_t number = 0;

	put(w, nr ? nr - 1 : 0);
	for (uint32_t i = 1; i < nr; i++) {
		const struct model_process *p = &w->m->process[i];

		put_signed(w, (uint64_t)p->number - number);
		put_text(w, p->name);
		put_signed(w, (uint64_t)p->track - track);
		number = (uint64_t)p->number;
		track = p->track ? p->track : track;
	}
}

static uint32_t thread_head(const struct model *m, const struct model_thread *t)
{
	const struct model_process *p = &m->process[t->process];
	uint32_t head = t->state | t->flags << MODEL_SAVED_FLAGS;

	if (t->has_states)
		head |= MODEL_SAVED_HAS_STATES;
	if (strcmp(t->name, p->name) != 0)
		head |= MODEL_SAVED_NAMED;
	if (t->forked)
		head |= MODEL_SAVED_FORKED;
	if (t->has_exited)
		head |= MODEL_SAVED_EXITED;
	if (t->waker.track || t->waker_of_state)
		head |= MODEL_SAVED_WAKER;
	if (t->key >> 32 != model_saved_high(m->is_qnx, p->number))
		head |= MODEL_SAVED_HIGH;
	return head;
}

/* before: the one that was born before it. */
static void put_thread(struct writer *w, const struct model_thread *t,
		       const struct model_thread *before)
{
	uint64_t record = t->record == MODEL_NO_RECORD ? w->m->stats.records : t->record;
	uint32_t head = thread_head(w->m, t);

	put(w, head);
	put_signed(w, (uint64_t)t->number - before->number);
	if (head & MODEL_SAVED_HIGH)
		put(w, t->key >> 32);
	put_signed(w, (uint64_t)t->process - before->process);
	if (head & MODEL_SAVED_NAMED)
		put_text(w, t->name);
	put_signed(w, (uint64_t)t->track - before->track);
	put_signed(w, (uint64_t)t->state_track - t->track);
	put_time(w, t->since);
	put_record(w, t->record);
	put_signed(w, record - t->ran);
	put_signed(w, t->ran - t->waking);
	if (head & MODEL_SAVED_WAKER) {
		put_place(w, &t->waker);
		put(w, t->waker_of_state);
	}
	put_stack(w, &t->calls, t->track, t->since, record);
}

static void put_threads(struct writer *w)
{
	const struct model *m = w->m;
	struct model_thread before = { 0 };
	uint32_t nr = 0;

	put(w, m->thread_by_key.nr);
	for (uint32_t i = m->nr_threads ? m->thread[0].next : 0; i; i = m->thread[i].next) {
		uint32_t track = before.track;

		put_thread(w, &m->thread[i], &before);
		before = m->thread[i];
		before.track = before.track ? before.track : track;
		w->thread[i] = ++nr;
	}
}

static void put_cpu(struct writer *w, const struct model_cpu *c)
{
	put(w, c->track);
	put(w, c->running_track);
	put(w, (c->idle ? MODEL_SAVED_IDLE : 0) | (c->io_done ? MODEL_SAVED_IO_DONE : 0));
	put(w, c->thread ? w->thread[c->thread] : 0);
	put_time(w, c->since);
	if (c->thread || c->idle) {
		put_record(w, c->record);
		put(w, c->flags);
	}
	put(w, (uint64_t)(c->guess + 1));
	if (c->guess >= 0) {
		put_time(w, c->guess_since);
		put_record(w, c->guess_record);
	}
	put_time(w, c->last);
	put_time(w, c->last_program);
	put_maybe(w, c->loss_end);
	put_stack(w, &c->irq, c->track, c->last, w->m->stats.records);
	put_stack(w, &c->softirq, c->track, c->last, w->m->stats.records);
}

static void put_cpus(struct writer *w)
{
	const struct model *m = w->m;
	uint32_t nr = 0, next = 0;

	for (uint32_t i = 0; i < m->nr_cpus; i++)
		nr += m->cpu[i] != NULL;
	put(w, nr);
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		if (m->cpu[i]) {
			put(w, i - next);
			put_cpu(w, m->cpu[i]);
			next = i + 1;
		}
}

static bool put_lanes(struct writer *w)
{
	uint32_t nr = w->m->nr_lanes;
	uint64_t words = 0;

	put(w, nr ? nr - 1 : 0);
	for (uint32_t i = 1; i < nr; i++) {
		const struct model_lanes *l = &w->m->lanes[i];

		put_key(w, l->key);
		put(w, l->track);
		put_signed(w, l->depth_counter ? (uint64_t)l->depth_counter - l->track : 0);
		words += l->words;
	}
	return words <= MODEL_SAVED_WORDS_MAX;
}

static void put_overlapping(struct writer *w)
{
	const struct model *m = w->m;
	uint64_t time = m->stats.first, record = 0;

	put(w, m->nr_overlapping);
	for (uint32_t i = m->nr_open ? m->open[0].next : 0; i; i = m->open[i].next) {
		const struct model_open *o = &m->open[i];
		bool lives = o->thread && m->thread[o->thread].serial == o->thread_serial;

		put(w, (uint64_t)o->lanes << 1 | o->of_program);
		put(w, o->depth);
		put_key(w, o->key);
		put_text(w, o->category);
		put_text(w, o->name);
		put(w, o->begin - time);
		put(w, o->record - record);
		put(w, lives ? w->thread[o->thread] : 0);
		put(w, (uint64_t)o->from.track << 1 | o->from.by_irq);
		time = o->begin;
		record = o->record;
	}
}

static void put_counters(struct writer *w)
{
	uint32_t track = 0;

	put(w, w->m->nr_counters);
	for (uint32_t i = 0; i < w->m->nr_counters; i++) {
		const struct model_counter_track *c = &w->m->counter[i];

		put_key(w, c->key);
		put_signed(w, (uint64_t)c->track - track);
		track = c->track;
	}
}

static void put_sent(struct writer *w)
{
	const struct model *m = w->m;

	put(w, m->sent_by_key.nr);
	for (uint32_t i = m->nr_sent ? m->sent[0].next : 0; i; i = m->sent[i].next) {
		put_key(w, m->sent[i].key);
		put_place(w, &m->sent[i].from);
	}
}

uint64_t model_rules_key(const struct model_rules *rules)
{
	uint64_t key = 0;

	for (const struct model_row *row = rules->row; row; row = row->next)
		if (row->text[0])
			key = model_mix(key, model_text_key(row->text));
	return key;
}

int model_save(const struct model *m, struct tacho_buf *out)
{
	struct writer w = { .m = m, .out = out };
	size_t before = out->len;
	int err = m->err;

	if (err)
		return err;
	w.thread = calloc(m->nr_threads + 1u, sizeof(*w.thread));
	if (!w.thread)
		return -ENOMEM;
	put_head(&w);
	put_model(&w);
	put_processes(&w);
	put_threads(&w);
	put_cpus(&w);
	if (!put_lanes(&w))
		err = -EOVERFLOW;
	put_overlapping(&w);
	put_counters(&w);
	put_sent(&w);
	free(w.thread);
	free(w.kind);
	free(w.texts.slot);
	free(w.kinds.slot);
	if (!err)
		err = w.no_memory ? -ENOMEM : tacho_buf_error(out);
	if (err)
		out->len = before;
	return err;
}
