// SPDX-License-Identifier: MIT
#include "app/index_pipe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define BATCHES		8u
#define BATCH_WORDS	((size_t)8 << 10)
#define WORDS(type)	(sizeof(type) / sizeof(uint64_t))
#define APART		128u		/* bytes between what two threads write */

/*
 * An entry's first word: what it is, flags, a small number, a track.  SHORT_...: of an item of
 * less than 2^32 ns; next the begin, (a slice) name and category, length and the second number.
 * Others: the struct.
 */
enum what { PLACE, DUE, TRACK, SLICE, SHORT_SLICE, STATE, SHORT_STATE, COUNTER, LOSS, INSTANT };

struct batch {
	size_t len;			/* words */
	uint64_t data[BATCH_WORDS];
};

struct app_index_pipe {
	/* of the model's thread, which changes it with each record */
	struct batch *at;		/* that it fills */
	struct index_place place;
	bool pending;			/* `place` is not in the queue */
	bool direct;			/* there is no thread any more */
	uint64_t due;			/* index_build_due() */
	uint64_t state_until;		/* the state is the builder's until so many are taken */
	char apart[APART];
	/* of both */
	struct index_builder *builder;
	struct index_state state;
	struct batch *batch;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;		/* filled or ended has changed */
	pthread_cond_t room;		/* taken has changed */
	uint64_t filled, taken;
	bool ended;
	int err;
};

/* ---- the builder's thread ---- */

static int take_place(const struct app_index_pipe *p, const uint64_t *w)
{
	const struct index_place place = { .time = w[1], .record = w[0] >> 8 };

	return index_build_at(p->builder, &place, (uint8_t)w[0] == DUE ? &p->state : NULL);
}

static int take_short_slice(struct index_builder *b, const uint64_t *w)
{
	const struct model_slice s = {
		.track = (uint32_t)(w[0] >> 32), .depth = (uint16_t)(w[0] >> 16),
		.flags = (uint8_t)(w[0] >> 8), .begin = w[1], .end = w[1] + (w[4] >> 32),
		.begin_record = MODEL_NO_RECORD, .end_record = MODEL_NO_RECORD,
		.name = (const char *)(uintptr_t)w[2], .category = (const char *)(uintptr_t)w[3],
		.thread = (uint32_t)w[4],
	};

	return index_build_ops.slice(b, &s);
}

static int take_short_state(struct index_builder *b, const uint64_t *w)
{
	const struct model_state s = {
		.track = (uint32_t)(w[0] >> 32), .state = (uint16_t)(w[0] >> 16),
		.flags = (uint8_t)(w[0] >> 8), .begin = w[1], .end = w[1] + (w[2] >> 32),
		.begin_record = MODEL_NO_RECORD, .end_record = MODEL_NO_RECORD,
		.cpu = (uint32_t)w[2],
	};

	return index_build_ops.state(b, &s);
}

static int take_counter(struct index_builder *b, const uint64_t *w)
{
	struct model_counter c = {
		.track = (uint32_t)(w[0] >> 32), .time = w[1], .record = MODEL_NO_RECORD,
	};

	memcpy(&c.value, &w[2], sizeof(c.value));
	return index_build_ops.counter(b, &c);
}

/* Returns how many words an entry has. */
static size_t take(const struct app_index_pipe *p, const uint64_t *w, int *err)
{
	const struct model_ops *ops = &index_build_ops;
	struct index_builder *b = p->builder;

	switch ((enum what)(uint8_t)w[0]) {
	case PLACE:
	case DUE:
		*err = take_place(p, w);
		return 2;
	case SHORT_SLICE:
		*err = take_short_slice(b, w);
		return 5;
	case SHORT_STATE:
		*err = take_short_state(b, w);
		return 3;
	case COUNTER:
		*err = take_counter(b, w);
		return 3;
	case SLICE:
		*err = ops->slice(b, (const void *)(w + 1));
		return 1 + WORDS(struct model_slice);
	case STATE:
		*err = ops->state(b, (const void *)(w + 1));
		return 1 + WORDS(struct model_state);
	case TRACK:
		*err = ops->track(b, (const void *)(w + 1));
		return 1 + WORDS(struct model_track);
	case LOSS:
		*err = ops->loss(b, (const void *)(w + 1));
		return 1 + WORDS(struct model_loss);
	case INSTANT:
		*err = ops->instant(b, (const void *)(w + 1));
		return 1 + WORDS(struct model_instant);
	}
	return 1;
}

static int take_batch(const struct app_index_pipe *p, const struct batch *batch)
{
	const uint64_t *w = batch->data, *end = w + batch->len;
	int err = 0;

	while (w < end && !err)
		w += take(p, w, &err);
	return err;
}

static void *builder_main(void *arg)
{
	struct app_index_pipe *p = arg;
	int err = 0;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		const struct batch *batch = &p->batch[p->taken % BATCHES];

		while (p->taken == p->filled && !p->ended)
			pthread_cond_wait(&p->more, &p->lock);
		if (p->taken == p->filled)
			break;
		pthread_mutex_unlock(&p->lock);
		if (!err)
			err = take_batch(p, batch);
		pthread_mutex_lock(&p->lock);
		p->err = err;
		p->taken++;
		pthread_cond_signal(&p->room);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the model's thread ---- */

/* Until so many batches are taken; the builder's error. */
static int wait_for(struct app_index_pipe *p, uint64_t taken)
{
	int err;

	pthread_mutex_lock(&p->lock);
	while (p->taken < taken)
		pthread_cond_wait(&p->room, &p->lock);
	err = p->err;
	pthread_mutex_unlock(&p->lock);
	return err;
}

/* Hands the batch over, and waits for the next one. */
static int hand_over(struct app_index_pipe *p)
{
	uint64_t next = p->filled + 1;	/* nobody else changes it */
	int err;

	pthread_mutex_lock(&p->lock);
	p->filled = next;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
	err = wait_for(p, next < BATCHES ? 0 : next - BATCHES + 1);
	p->at = &p->batch[next % BATCHES];
	p->at->len = 0;
	return err;
}

/* Room for an entry of so many words; a batch that has none is handed over. */
static int reserve(struct app_index_pipe *p, size_t words, uint64_t **w)
{
	int err = 0;

	if (tacho_unlikely(BATCH_WORDS - p->at->len < words))
		err = hand_over(p);
	*w = p->at->data + p->at->len;
	p->at->len += words;
	return err;
}

static uint64_t head(enum what what, uint32_t track, uint32_t flags, uint32_t small)
{
	return what | flags << 8 | small << 16 | (uint64_t)track << 32;
}

static int put_place(struct app_index_pipe *p, enum what what)
{
	uint64_t *w;
	int err;

	p->pending = false;
	err = reserve(p, 2, &w);
	w[0] = what | p->place.record << 8;
	w[1] = p->place.time;
	return err;
}

/* Room for an item, behind the place that it is of. */
static int reserve_item(struct app_index_pipe *p, size_t words, uint64_t **w)
{
	int err = p->pending ? put_place(p, PLACE) : 0;

	return err ? err : reserve(p, words, w);
}

#define PUT(op, what) \
_Static_assert(sizeof(struct model_##op) % 8 == 0, "the next entry is aligned"); \
static int put_whole_##op(struct app_index_pipe *p, const struct model_##op *s) \
{ \
	uint64_t *w; \
	int err = reserve_item(p, 1 + WORDS(*s), &w); \
\
	if (err) \
		return err; \
	w[0] = what; \
	memcpy(w + 1, s, sizeof(*s)); \
	return 0; \
}
PUT(track, TRACK)
PUT(slice, SLICE)
PUT(state, STATE)
PUT(loss, LOSS)
PUT(instant, INSTANT)

static int put_short_slice(struct app_index_pipe *p, const struct model_slice *s)
{
	uint64_t *w;
	int err;

	if (s->end - s->begin > UINT32_MAX || s->depth > UINT16_MAX || s->flags > UINT8_MAX ||
	    s->from || s->to)
		return put_whole_slice(p, s);
	err = reserve_item(p, 5, &w);
	if (err)
		return err;
	w[0] = head(SHORT_SLICE, s->track, s->flags, s->depth);
	w[1] = s->begin;
	w[2] = (uintptr_t)s->name;
	w[3] = (uintptr_t)s->category;
	w[4] = (s->end - s->begin) << 32 | s->thread;
	return 0;
}

static int put_short_state(struct app_index_pipe *p, const struct model_state *s)
{
	uint64_t *w;
	int err;

	if (s->end - s->begin > UINT32_MAX || s->flags > UINT8_MAX)
		return put_whole_state(p, s);
	err = reserve_item(p, 3, &w);
	if (err)
		return err;
	w[0] = head(SHORT_STATE, s->track, s->flags, s->state);
	w[1] = s->begin;
	w[2] = (s->end - s->begin) << 32 | s->cpu;
	return 0;
}

static int put_short_counter(struct app_index_pipe *p, const struct model_counter *s)
{
	uint64_t *w;
	int err = reserve_item(p, 3, &w);

	if (err)
		return err;
	w[0] = head(COUNTER, s->track, 0, 0);
	w[1] = s->time;
	memcpy(&w[2], &s->value, sizeof(w[2]));
	return 0;
}

#define OP(op, how) \
static int op_##op(void *arg, const struct model_##op *s) \
{ \
	struct app_index_pipe *p = arg; \
\
	return tacho_unlikely(p->direct) ? index_build_ops.op(p->builder, s) : how(p, s); \
}
OP(track, put_whole_track)
OP(slice, put_short_slice)
OP(state, put_short_state)
OP(counter, put_short_counter)
OP(loss, put_whole_loss)
OP(instant, put_whole_instant)

const struct model_ops app_index_pipe_ops = {
	.track = op_track, .slice = op_slice, .state = op_state, .counter = op_counter,
	.loss = op_loss, .instant = op_instant,
};

static int put_due(struct app_index_pipe *p, const struct model *m)
{
	int err = wait_for(p, p->state_until);

	if (err)
		return err;
	index_build_save(p->builder, m, &p->place, &p->state);
	p->due = index_build_due(p->builder);
	err = put_place(p, DUE);
	p->state_until = p->filled + 1;
	return err ? err : hand_over(p);
}

int app_index_pipe_tick(struct app_index_pipe *p, const struct model *m,
			const struct index_place *place)
{
	p->place = *place;
	p->pending = true;
	return tacho_likely(place->record < p->due) ? 0 : put_due(p, m);
}

static void join(struct app_index_pipe *p)
{
	if (p->direct)
		return;
	pthread_mutex_lock(&p->lock);
	p->ended = true;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
	(void)pthread_join(p->thread, NULL);
	p->direct = true;
}

int app_index_pipe_end(struct app_index_pipe *p)
{
	if (!p->direct && (!p->pending || !put_place(p, PLACE)))
		(void)hand_over(p);
	join(p);
	return p->err;
}

/* ---- beginning and end ---- */

static int start(struct app_index_pipe *p)
{
	sigset_t all, saved;
	int err;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &saved);
	err = pthread_create(&p->thread, NULL, builder_main, p);
	(void)pthread_sigmask(SIG_SETMASK, &saved, NULL);
	return err;
}

struct app_index_pipe *app_index_pipe_new(struct index_builder *builder)
{
	struct app_index_pipe *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->builder = builder;
	p->due = index_build_due(builder);
	p->batch = calloc(BATCHES, sizeof(*p->batch));
	p->at = p->batch;
	index_state_init(&p->state);
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->more, NULL);
	(void)pthread_cond_init(&p->room, NULL);
	p->direct = !p->batch || start(p);
	if (!p->direct)
		return p;
	app_index_pipe_free(p);
	return NULL;
}

void app_index_pipe_free(struct app_index_pipe *p)
{
	if (!p)
		return;
	join(p);
	(void)pthread_cond_destroy(&p->room);
	(void)pthread_cond_destroy(&p->more);
	(void)pthread_mutex_destroy(&p->lock);
	index_state_release(&p->state);
	free(p->batch);
	free(p);
}
