// SPDX-License-Identifier: MIT
/* A model of the bytes of another one's state: save.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/model_priv.h"
#include "model/save.h"

struct kind {
	const char *category, *name;
	uint64_t key;
};

/* The first error sticks; from then on all numbers are 0. */
struct reader {
	struct model *m;
	const unsigned char *pos, *end;
	const char *why;		/* NULL: good so far */
	const unsigned char *at;	/* where it is not */
	const char **text;
	struct kind *kind;
	uint32_t nr_texts, room_texts, nr_kinds, room_kinds;
	struct model_table tracks;	/* that are used as something's own */
	uint32_t nr_running;		/* threads that no CPU runs yet */
	uint32_t words;			/* of lanes */
};

/* ---- numbers ---- */

static void bad(struct reader *r, const char *why)
{
	if (r->why)
		return;
	r->why = why;
	r->at = r->pos;
	r->pos = r->end;
}

/* Whether to go on. */
static bool good(const struct reader *r)
{
	return !r->why && !r->m->err;
}

static uint64_t get(struct reader *r)
{
	uint64_t n = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		unsigned char c;

		if (r->pos == r->end)
			break;
		c = *r->pos++;
		n |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return n;
	}
	bad(r, r->pos == r->end ? "it ends too early" : "a number has too many bytes");
	return 0;
}

static uint64_t get_signed(struct reader *r)
{
	return model_unzigzag(get(r));
}

static uint64_t below(struct reader *r, uint64_t n, uint64_t limit, const char *why)
{
	if (n < limit)
		return n;
	bad(r, why);
	return 0;
}

/* How many elements follow, each of at least one byte. */
static uint32_t get_count(struct reader *r)
{
	uint64_t left = (uint64_t)(r->end - r->pos);

	return (uint32_t)below(r, get(r), (left < UINT32_MAX / 2 ? left : UINT32_MAX / 2) + 1,
			       "more elements than bytes");
}

static uint64_t get_key(struct reader *r)
{
	uint64_t key;

	if (r->end - r->pos < 8) {
		bad(r, "it ends too early");
		return 0;
	}
	key = tacho_load_le64(r->pos);
	r->pos += 8;
	return key;
}

static uint64_t get_time(struct reader *r)
{
	const struct model_stats *s = &r->m->stats;

	return s->last - below(r, get(r), s->last - s->first + 1, "a time before the first one");
}

static uint64_t get_maybe(struct reader *r)
{
	const struct model_stats *s = &r->m->stats;
	uint64_t n = get(r);

	return n ? s->last - below(r, n - 1, s->last - s->first + 1,
				   "a time before the first one") : 0;
}

static uint64_t check_record(struct reader *r, uint64_t record)
{
	return below(r, record, r->m->stats.records, "a record that was not read");
}

static uint64_t get_record(struct reader *r)
{
	uint64_t n = get(r);

	return n ? check_record(r, r->m->stats.records - n) : MODEL_NO_RECORD;
}

/* ---- tracks, texts, kinds, stacks ---- */

static uint32_t check_track(struct reader *r, uint64_t track)
{
	return (uint32_t)below(r, track, r->m->nr_tracks, "a track that there is not");
}

/* Something's own track; 0: it has none. */
static uint32_t own_track(struct reader *r, uint64_t number)
{
	uint32_t track = check_track(r, number);

	if (!track)
		return 0;
	if (model_table_get(&r->tracks, track))
		bad(r, "a track of two things");
	else if (!model_table_set(&r->tracks, track, 1))
		(void)model_fail(r->m, -ENOMEM);
	return track;
}

static const char *new_text(struct reader *r)
{
	uint32_t len = get_count(r);
	const char *s = (const char *)r->pos;

	if (!good(r))
		return "";
	if (!len || memchr(s, '\0', len)) {
		bad(r, "not a text");
		return "";
	}
	if (!model_grow(r->m, &r->text, r->nr_texts, &r->room_texts, sizeof(*r->text)))
		return "";
	r->pos += len;
	return r->text[r->nr_texts++] = model_intern(r->m, s, len);
}

static const char *get_text(struct reader *r)
{
	uint64_t i = below(r, get(r), (uint64_t)r->nr_texts + 2, "a text that did not come");

	if (!i || !good(r))
		return "";
	return i <= r->nr_texts ? r->text[i - 1] : new_text(r);
}

static struct kind get_kind(struct reader *r, uint64_t number)
{
	uint32_t i = (uint32_t)below(r, number, (uint64_t)r->nr_kinds + 1,
				     "a kind of slices that did not come");
	struct kind kind = { "", "", 0 };

	if (!good(r))
		return kind;
	if (i < r->nr_kinds)
		return r->kind[i];
	kind.category = get_text(r);
	kind.name = get_text(r);
	kind.key = get_key(r);
	if (good(r) && model_grow(r->m, &r->kind, r->nr_kinds, &r->room_kinds, sizeof(*r->kind)))
		r->kind[r->nr_kinds++] = kind;
	return kind;
}

/* The slices of a stack, from the top down.  above: 0, or the one above them. */
static void get_slices(struct reader *r, struct model_stack *s, uint64_t time, uint64_t record)
{
	uint64_t first = r->m->stats.first, last = r->m->stats.last;
	uint32_t above = 0;

	for (uint32_t depth = s->depth; depth-- && good(r);) {
		uint64_t word = get(r);
		struct kind kind = get_kind(r, word >> 1);
		uint32_t i = model_open_new(r->m);

		time -= get_signed(r);
		record = check_record(r, record - get_signed(r));
		if (time < first || time > last)
			bad(r, "a time before the first one, or after the last");
		if (!good(r))
			return;
		r->m->open[i] = (struct model_open){
			.depth = depth, .key = kind.key, .begin = time, .record = record,
			.name = kind.name, .category = kind.category, .of_program = word & 1,
		};
		if (above)
			r->m->open[above].next = i;
		else
			s->top = i;
		above = i;
		last = time;
	}
}

static struct model_stack get_stack(struct reader *r, uint32_t track, uint64_t time,
				    uint64_t record)
{
	const struct model_stats *stats = &r->m->stats;
	struct model_stack s = { .floor = stats->first };

	s.track = own_track(r, track + get_signed(r));
	s.depth = get_count(r);
	if (!s.depth)
		s.floor += below(r, get(r), stats->last - stats->first + 1, "a time after the last");
	else if (!s.track)
		bad(r, "slices without a track");
	else
		get_slices(r, &s, time, record);
	return s;
}

static struct model_place get_place(struct reader *r)
{
	uint64_t word = get(r);
	struct model_place place = { .track = check_track(r, word >> 1), .by_irq = word & 1 };

	if (place.track) {
		place.time = get_time(r);
		place.record = get_record(r);
	}
	return place;
}

/* ---- the sections ---- */

static void get_model(struct reader *r)
{
	struct model *m = r->m;
	struct model_stats *s = &m->stats;
	uint64_t kind;

	s->records = below(r, get(r), UINT64_MAX / 2, "too many records");
	s->used = get(r);
	s->unmatched_ends = get(r);
	s->unplaced = get(r);
	s->lost = get(r);
	s->first = get(r);
	s->last = s->first + below(r, get(r), UINT64_MAX - s->first, "a time after all");
	m->nr_tracks = (uint32_t)below(r, get(r), (uint64_t)UINT32_MAX + 1, "too many tracks");
	kind = below(r, get(r), 4, "a property that there is not");
	m->is_qnx = kind & MODEL_SAVED_IS_QNX;
	m->has_switches = kind & MODEL_SAVED_SWITCHES;
	m->qnx_cpus = (uint32_t)below(r, get(r), (uint64_t)UINT32_MAX + 1, "too many CPUs");
	m->kernel_loss_end = get_maybe(r);
	m->program_loss_end = get_maybe(r);
	if (!m->nr_tracks)
		bad(r, "no machine");
}

/* A new key of a table. */
static void set_key(struct reader *r, struct model_table *t, uint64_t key, uint32_t value)
{
	if (!good(r))
		return;
	if (model_table_get(t, key))
		bad(r, "two things with one key");
	else if (!model_table_set(t, key, value))
		(void)model_fail(r->m, -ENOMEM);
}

static void get_processes(struct reader *r)
{
	struct model *m = r->m;
	uint32_t nr = get_count(r), track = 0;
	uint64_t number = 0;

	m->nr_processes = nr != 0;
	while (nr-- && good(r)) {
		struct model_process p;

		number += get_signed(r);
		p.number = (int64_t)number;
		p.name = get_text(r);
		p.track = own_track(r, track + get_signed(r));
		track = p.track ? p.track : track;
		set_key(r, &m->process_by_id, number, m->nr_processes);
		if (good(r) && model_grow(m, &m->process, m->nr_processes, &m->room_processes,
					  sizeof(p)))
			m->process[m->nr_processes++] = p;
	}
}

static void get_waker(struct reader *r, struct model_thread *t)
{
	t->waker = get_place(r);
	t->waker_of_state = check_track(r, get(r));
}

/* The next one after `before`. */
static struct model_thread get_thread(struct reader *r, const struct model_thread *before)
{
	struct model *m = r->m;
	uint32_t head = (uint32_t)below(r, get(r), (uint64_t)(MODEL_SAVED_FLAGS_MAX + 1) <<
					MODEL_SAVED_FLAGS, "a property that there is not");
	struct model_thread t = {
		.state = (uint8_t)below(r, head & MODEL_SAVED_STATE, MODEL_NR_STATES,
					"a state that there is not"),
		.flags = head >> MODEL_SAVED_FLAGS, .has_states = head & MODEL_SAVED_HAS_STATES,
		.forked = head & MODEL_SAVED_FORKED, .has_exited = head & MODEL_SAVED_EXITED,
		.cpu = MODEL_NO_CPU,
	};
	uint64_t record;
	uint32_t high = 0;

	t.number = before->number + (uint32_t)get_signed(r);
	if (head & MODEL_SAVED_HIGH)
		high = (uint32_t)get(r);
	t.process = (uint32_t)below(r, before->process + get_signed(r), m->nr_processes,
				    "a process that there is not");
	if (!t.process)
		bad(r, "a thread without a process");
	if (!good(r))
		return t;
	if (!(head & MODEL_SAVED_HIGH))
		high = model_saved_high(m->is_qnx, m->process[t.process].number);
	t.key = (uint64_t)high << 32 | t.number;
	t.name = head & MODEL_SAVED_NAMED ? get_text(r) : m->process[t.process].name;
	t.track = own_track(r, before->track + get_signed(r));
	t.state_track = own_track(r, t.track + get_signed(r));
	t.since = get_time(r);
	t.record = get_record(r);
	record = t.record == MODEL_NO_RECORD ? m->stats.records : t.record;
	t.ran = below(r, record - get_signed(r), m->stats.records + 1, "a record that was not read");
	t.waking = below(r, t.ran - get_signed(r), m->stats.records + 1,
			 "a record that was not read");
	if (head & MODEL_SAVED_WAKER)
		get_waker(r, &t);
	t.calls = get_stack(r, t.track, t.since, record);
	r->nr_running += t.state == MODEL_RUNS;
	return t;
}

static void get_threads(struct reader *r)
{
	struct model *m = r->m;
	struct model_thread before = { 0 };
	uint32_t nr = get_count(r);

	while (nr-- && good(r)) {
		struct model_thread t = get_thread(r, &before);
		uint32_t track = before.track, i;

		if (!good(r) || !(i = model_thread_alloc(m)))
			return;
		set_key(r, &m->thread_by_key, t.key, i);
		t.serial = ++m->nr_born;
		m->thread[i] = t;
		MODEL_LINK(m->thread, i);
		before = t;
		before.track = t.track ? t.track : track;
	}
}

/* What runs on a CPU: a thread that says that it does, and that no other CPU has. */
static uint32_t get_running(struct reader *r, const struct model_cpu *c)
{
	struct model *m = r->m;
	uint64_t limit = m->nr_threads ? m->nr_threads : 1;
	uint32_t i = (uint32_t)below(r, get(r), limit, "a thread that there is not");

	if (!i || !good(r))
		return 0;
	if (c->idle || m->thread[i].state != MODEL_RUNS || m->thread[i].cpu != MODEL_NO_CPU)
		bad(r, "a thread that does not run there");
	m->thread[i].cpu = c->number;
	r->nr_running--;
	return i;
}

static void get_cpu(struct reader *r, struct model_cpu *c)
{
	uint32_t head;

	c->track = own_track(r, get(r));
	c->running_track = own_track(r, get(r));
	head = (uint32_t)below(r, get(r), 4, "a property that there is not");
	c->idle = head & MODEL_SAVED_IDLE;
	c->io_done = head & MODEL_SAVED_IO_DONE;
	c->thread = get_running(r, c);
	c->since = get_time(r);
	if (c->thread || c->idle) {
		c->record = get_record(r);
		c->flags = (uint32_t)below(r, get(r), MODEL_SAVED_FLAGS_MAX + 1,
					   "a flag that there is not");
	}
	c->guess = (int64_t)below(r, get(r), (uint64_t)INT32_MAX + 2, "not a thread") - 1;
	if (c->guess >= 0) {
		c->guess_since = get_time(r);
		c->guess_record = get_record(r);
	}
	c->last = get_time(r);
	c->last_program = get_time(r);
	c->loss_end = get_maybe(r);
	c->irq = get_stack(r, c->track, c->last, r->m->stats.records);
	c->softirq = get_stack(r, c->track, c->last, r->m->stats.records);
	if ((c->thread || c->idle) && !c->running_track)
		bad(r, "a CPU without a track");
}

static void get_cpus(struct reader *r)
{
	uint32_t nr = get_count(r);
	uint64_t next = 0;

	while (nr-- && good(r)) {
		uint64_t number = below(r, get(r), MODEL_CPUS_MAX, "a CPU that cannot be") + next;
		struct model_cpu *c;

		(void)below(r, number, MODEL_CPUS_MAX, "a CPU that cannot be");
		c = good(r) ? model_cpu_get(r->m, (uint32_t)number) : NULL;
		if (!c)
			return;
		get_cpu(r, c);
		next = number + 1;
	}
	if (r->nr_running)
		bad(r, "a thread that runs on no CPU");
}

static void get_lanes(struct reader *r)
{
	uint32_t nr = get_count(r);

	while (nr-- && good(r)) {
		uint64_t key = get_key(r), depth;
		uint32_t track = own_track(r, get(r)), i;

		depth = get_signed(r);
		if (!track)
			bad(r, "slices without a track");
		if (depth)
			depth = own_track(r, track + depth);
		if (good(r) && model_table_get(&r->m->lanes_by_key, key))
			bad(r, "two things with one key");
		i = good(r) ? model_lanes_new(r->m, key) : 0;
		if (!i)
			return;
		r->m->lanes[i].track = track;
		r->m->lanes[i].depth_counter = (uint32_t)depth;
	}
}

/* Takes an overlapping slice's place in its lanes. */
static void take_lane(struct reader *r, const struct model_open *o)
{
	struct model_lanes *l = &r->m->lanes[o->lanes];
	uint32_t words = o->depth / 64 + 1;

	if (!good(r))
		return;
	r->words += words > l->words ? words - l->words : 0;
	if (r->words > MODEL_SAVED_WORDS_MAX)
		bad(r, "too many slices at a time");
	else if (!model_lane_take_at(r->m, l, o->depth))
		bad(r, "two slices at one depth");
}

/* time, record: of the one before. */
static struct model_open get_open(struct reader *r, uint64_t time, uint64_t record)
{
	struct model *m = r->m;
	const struct model_stats *s = &m->stats;
	uint64_t word = get(r);
	struct model_open o = { .of_program = word & 1 };

	o.lanes = (uint32_t)below(r, word >> 1, m->nr_lanes, "lanes that there are not");
	if (!o.lanes)
		bad(r, "lanes that there are not");
	o.depth = (uint32_t)below(r, get(r), MODEL_OPEN_MAX, "too deep");
	o.key = get_key(r);
	o.category = get_text(r);
	o.name = get_text(r);
	o.begin = time + below(r, get(r), s->last - time + 1, "a time after the last");
	o.record = record + get(r);
	o.record = check_record(r, o.record);
	o.thread = (uint32_t)below(r, get(r), m->nr_threads ? m->nr_threads : 1,
				   "a thread that there is not");
	word = get(r);
	o.from = (struct model_place){ .track = check_track(r, word >> 1), .by_irq = word & 1,
				       .time = o.begin, .record = o.record };
	return o;
}

static void get_overlapping(struct reader *r)
{
	struct model *m = r->m;
	uint64_t time = m->stats.first, record = 0;
	uint32_t nr = get_count(r);

	(void)below(r, nr, MODEL_OPEN_MAX + 1, "too many slices at a time");
	while (nr-- && good(r)) {
		struct model_open o = get_open(r, time, record);
		uint32_t i = good(r) ? model_open_new(m) : 0;

		if (!i)
			return;
		take_lane(r, &o);
		set_key(r, &m->open_by_key, o.key, i);
		if (o.thread) {
			o.thread_serial = m->thread[o.thread].serial;
			m->thread[o.thread].requests++;
		}
		m->open[i] = o;
		MODEL_LINK(m->open, i);
		m->nr_overlapping++;
		time = o.begin;
		record = o.record;
	}
}

static void get_counters(struct reader *r)
{
	struct model *m = r->m;
	uint32_t nr = get_count(r), track = 0;

	while (nr-- && good(r)) {
		uint64_t key = get_key(r);

		track = own_track(r, track + get_signed(r));
		if (!track)
			bad(r, "a counter without a track");
		set_key(r, &m->counter_by_key, key, track);
		if (good(r) && model_grow(m, &m->counter, m->nr_counters, &m->room_counters,
					  sizeof(*m->counter)))
			m->counter[m->nr_counters++] = (struct model_counter_track){ key, track };
	}
}

static void get_sent(struct reader *r)
{
	uint32_t nr = get_count(r);

	(void)below(r, nr, MODEL_SENT_MAX + 1, "too many messages");
	while (nr-- && good(r)) {
		uint64_t key = get_key(r);
		struct model_place from = get_place(r);

		if (good(r) && model_table_get(&r->m->sent_by_key, key))
			bad(r, "two things with one key");
		if (good(r))
			model_store_sent(r->m, key, &from);
	}
	if (r->pos != r->end)
		bad(r, "there is something after its end");
}

/* ---- the whole ---- */

static int check_head(const struct model_rules *rules, const unsigned char *state, size_t size,
		      struct tacho_diag *d)
{
	if (size < MODEL_STATE_HEAD || memcmp(state, MODEL_STATE_MAGIC, 4) != 0)
		return tacho_diag(d, -EBADMSG, 0, "not a saved state of a model");
	if (tacho_load_le32(state + 4) != MODEL_STATE_VERSION)
		return tacho_diag(d, -EINVAL, 4, "the model's state was saved by another version");
	if (tacho_load_le64(state + 8) != model_rules_key(rules))
		return tacho_diag(d, -EINVAL, 8, "the model's state was saved with other rules");
	return 0;
}

static void get_all(struct reader *r)
{
	get_model(r);
	get_processes(r);
	get_threads(r);
	get_cpus(r);
	get_lanes(r);
	get_overlapping(r);
	get_counters(r);
	get_sent(r);
	free(r->text);
	free(r->kind);
	free(r->tracks.slot);
}

int model_restore(struct model **out, const struct model_config *config, const void *state,
		  size_t size, struct tacho_diag *d)
{
	const unsigned char *p = state;
	struct reader r = { .pos = p + MODEL_STATE_HEAD, .end = p + size };
	int err;

	*out = NULL;
	err = check_head(config->rules, p, size, d);
	if (!err)
		err = model_make(&r.m, config, d);
	if (err)
		return err;
	get_all(&r);
	if (r.m->err)
		err = tacho_no_memory(d);
	else if (r.why)
		err = tacho_diag(d, -EBADMSG, (uint64_t)(r.at - p),
				 "damaged state of a model: %s, at byte %zu", r.why,
				 (size_t)(r.at - p));
	if (err) {
		model_free(r.m);
		return err;
	}
	*out = r.m;
	return 0;
}
