// SPDX-License-Identifier: MIT
/*
 * fuzz_state - any bytes as the saved state of a model.
 *
 * Input: how many records, 8 bytes for each; the rest is the state, without its head.  If it is a
 * state, it is one in the form in which it is saved again, and two models of it hand out the same,
 * inside the times and the tracks that there are.
 */
#include "base/bytes.h"
#include "intervals/types.h"
#include "model/save.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tacho_stream *stream;
static const struct tacho_type *type[NR_TYPES];
static struct model_rules *rules;
static struct tacho_buf state, again, last[2];

/* A model, and a sum of what it handed out. */
struct run {
	struct model *model;
	uint64_t sum;
};

static void must(bool good)
{
	if (!good)
		abort();
}

/* ---- what is handed out ---- */

static void add(struct run *run, uint64_t n)
{
	run->sum = (run->sum ^ n) * UINT64_C(0x9e3779b97f4a7c15);
	run->sum ^= run->sum >> 29;
}

static void add_text(struct run *run, const char *s)
{
	while (*s)
		add(run, (unsigned char)*s++);
}

static void add_track(struct run *run, uint32_t track)
{
	must(track < model_nr_tracks(run->model));
	add(run, track);
}

static void add_times(struct run *run, uint64_t begin, uint64_t end)
{
	const struct model_stats *s = model_stats(run->model);

	must(s->first <= begin && begin <= end && end <= s->last);
	add(run, begin);
	add(run, end);
}

static int put_track(void *arg, const struct model_track *t)
{
	add_track(arg, t->id);
	add_track(arg, t->parent);
	add_text(arg, t->name);
	return 0;
}

static int put_slice(void *arg, const struct model_slice *s)
{
	add_track(arg, s->track);
	add_times(arg, s->begin, s->end);
	add(arg, (uint64_t)s->depth << 32 | s->flags);
	add(arg, s->begin_record ^ s->end_record << 32);
	add_text(arg, s->name);
	add_text(arg, s->category);
	add_track(arg, s->from);
	add_track(arg, s->to);
	add_track(arg, s->thread);
	return 0;
}

static int put_state(void *arg, const struct model_state *s)
{
	add_track(arg, s->track);
	add_times(arg, s->begin, s->end);
	add(arg, (uint64_t)s->cpu << 32 | s->flags << 6 | s->state);
	add(arg, s->begin_record ^ s->end_record << 32);
	add_track(arg, s->waker);
	must(s->begin < s->end && (s->state == MODEL_RUNS) == (s->cpu != MODEL_NO_CPU));
	return 0;
}

static int put_counter(void *arg, const struct model_counter *c)
{
	add_track(arg, c->track);
	add_times(arg, c->time, c->time);
	add(arg, (uint64_t)(int64_t)c->value);
	return 0;
}

static int put_flow(void *arg, const struct model_flow *f)
{
	add_track(arg, f->from);
	add_track(arg, f->to);
	add_times(arg, f->from_time, f->to_time);
	add(arg, f->from_record ^ f->to_record << 32);
	add_text(arg, f->kind);
	return 0;
}

static int put_loss(void *arg, const struct model_loss *l)
{
	add_times(arg, l->begin, l->end);
	add(arg, l->count);
	return 0;
}

static const struct model_ops ops = {
	.track = put_track, .slice = put_slice, .state = put_state, .counter = put_counter,
	.flow = put_flow, .loss = put_loss,
};

/* ---- the models ---- */

static void set_up(void)
{
	static const char spans[] =
		"span order: shop:take -> shop:done by id=order\n"
		"counter left: shop:queue.left by item\n"
		"shop:take send order key=id\n"
		"shop:done receive order key=order\n";
	static struct tacho_arena arena;
	struct model_config config;
	struct model *m;

	tacho_arena_init(&arena, 1u << 20);
	stream = types_stream(&arena, type);
	must(stream && !model_rules_new(&rules, NULL));
	must(!model_rules_add(rules, spans, sizeof(spans) - 1, NULL));
	tacho_buf_init(&state, 1u << 24);
	tacho_buf_init(&again, 1u << 24);
	tacho_buf_init(&last[0], 1u << 24);
	tacho_buf_init(&last[1], 1u << 24);
	config = (struct model_config){ stream, rules, &(struct model_ops){ 0 }, NULL };
	must(!model_new(&m, &config, NULL) && !model_save(m, &state));
	model_free(m);
}

static int restore(struct run *run, const struct tacho_buf *from)
{
	struct model_config config = { stream, rules, &ops, run };
	struct tacho_diag d = { 0 };
	int err = model_restore(&run->model, &config, from->data, from->len, &d);

	must(!err || (err == -EBADMSG && !run->model && d.text[0]));
	return err;
}

static void save(const struct run *run, struct tacho_buf *to)
{
	tacho_buf_reset(to);
	must(!model_save(run->model, to));
}

static bool same(const struct tacho_buf *a, const struct tacho_buf *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* Eight bytes as a record: type, CPU, thread, how much later, losses, three values. */
static void give(struct run *run, const uint8_t *p)
{
	struct types_raw raw = { .v = { p[5], p[6], (int8_t)p[7], 0 } };
	uint64_t time = model_stats(run->model)->last;
	struct tacho_record r;

	time += time < UINT64_MAX / 2 ? p[3] : 0;
	r = types_record(&raw, type, p[0] % NR_TYPES, time, p[1] % 5, p[2] % 64);
	r.lost = p[4] & 0x80 ? p[4] & 0x7f : 0;
	must(!model_record(run->model, &r));
}

/* The rest of a model's life. */
static void go_on(struct run *run, const uint8_t *records, size_t nr, struct tacho_buf *end)
{
	for (size_t i = 0; i < nr; i++)
		give(run, records + 8 * i);
	save(run, end);
	must(!model_finish(run->model));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr = size ? data[0] : 0, head = 1 + 8 * nr;
	struct run run[2] = { 0 };

	if (!stream)
		set_up();
	if (size < head)
		return 0;
	state.len = MODEL_STATE_HEAD;
	tacho_buf_put(&state, data + head, size - head);
	if (restore(&run[0], &state))
		return 0;
	save(&run[0], &again);
	must(!restore(&run[1], &again));
	save(&run[1], &last[1]);
	must(same(&again, &last[1]));
	go_on(&run[0], data + 1, nr, &last[0]);
	go_on(&run[1], data + 1, nr, &last[1]);
	must(same(&last[0], &last[1]) && run[0].sum == run[1].sum);
	model_free(run[0].model);
	model_free(run[1].model);
	return 0;
}
