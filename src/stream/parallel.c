// SPDX-License-Identifier: MIT
#include "stream/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "stream/parallel_plan.h"
#include "stream/stream_priv.h"

/* ---- views ----------------------------------------------------------------------- */

/* A stream of its own over the same packets; NULL: no memory. */
static struct tacho_stream *view_new(struct tacho_stream *of, uint32_t readers)
{
	struct tacho_stream *v = tacho_stream_new(of->flags);

	for (uint32_t i = 0; v && i < of->nr_sources; i++) {
		struct tacho_source *s = of->source[i]->ops->view(of->source[i], readers);

		if (!s || tacho_stream_add_take(v, s)) {
			tacho_stream_close(v);
			return NULL;
		}
	}
	return v;
}

static uint64_t view_damaged(const struct tacho_stream *v)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < v->nr_sources; i++)
		n += v->source[i]->damaged;
	return n;
}

/* Whether what was read of a slice is all of it (section 4); *lost: what is lost in it. */
static bool view_through(struct tacho_stream *v, uint64_t *lost)
{
	*lost = 0;
	for (uint32_t i = 0; i < v->nr_sources; i++) {
		struct tacho_source *s = v->source[i];
		uint64_t ticks = tacho_clock_ticks(&s->clock, v->until);

		for (uint32_t j = 0; s->ops->through && j < s->nr_parts; j++)
			if (!s->ops->through(s, s->part[j], ticks, lost))
				return false;
	}
	return true;
}

/* Ranges: what it saw of the parts is known from now on. */
static void view_fold(struct tacho_stream *of, const struct tacho_stream *v)
{
	for (uint32_t i = 0; i < v->nr_sources; i++)
		if (of->source[i]->ops->fold)
			of->source[i]->ops->fold(of->source[i], v->source[i]);
}

/* From now on the view is this range. */
static void view_range(struct tacho_stream *v, const struct plan_range *r)
{
	struct tacho_source *s = v->source[r->source];
	struct tacho_part *p = s->part[r->part];
	const struct tacho_span span = {
		.part = r->part, .offset = r->offset, .end = r->end, .discarded = r->discarded,
	};

	s->ops->only(s, p, &span, &span);
	v->flags |= TACHO_STREAM_UNORDERED;
	v->slot[0] = (struct slot){ .part = p };
	v->nr_slots = 1;
	v->turn = 0;
	v->held = NULL;
	v->begun = true;
}

bool tacho_parallel_possible(const struct tacho_stream *s)
{
	if (s->threads < 2 || !s->nr_sources || s->flags & TACHO_STREAM_STRICT)
		return false;
	for (uint32_t i = 0; i < s->nr_sources; i++)
		if (!s->source[i]->ops->spans || s->source[i]->report)
			return false;
	return true;
}

/* With all signals blocked.  False: it could not be had. */
static bool start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(thread, NULL, run, arg);
	(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
	return !err;
}

/* ---- headers ----------------------------------------------------------------------- */

/* A part of fewer bytes is looked at sooner than a thread is started. */
#define SCAN_MIN	((uint64_t)4 << 20)

/* The parts to look at; each thread takes the next one. */
struct scan {
	struct tacho_part **part;
	uint32_t nr, next;
};

static void *run_scan(void *arg)
{
	struct scan *scan = arg;
	uint32_t i;

	while ((i = tacho_add_relaxed(&scan->next, 1)) < scan->nr)
		(void)scan->part[i]->source->ops->scan(scan->part[i]);
	return NULL;
}

static void list_unscanned(struct scan *scan, const struct tacho_stream *s)
{
	for (uint32_t i = 0; i < s->nr_sources; i++) {
		const struct tacho_source *source = s->source[i];

		for (uint32_t j = 0; source->ops->scan && j < source->nr_parts; j++)
			if (source->ops->unscanned(source->part[j]) >= SCAN_MIN)
				scan->part[scan->nr++] = source->part[j];
	}
}

void tacho_parallel_scan(struct tacho_stream *s)
{
	struct scan scan = { .nr = 0 };
	pthread_t thread[TACHO_THREADS_MAX];
	uint32_t nr = 0, wanted;

	if (s->threads < 2 || s->nr_parts < 2)
		return;
	scan.part = calloc(s->nr_parts, sizeof(*scan.part));
	if (!scan.part)
		return;
	list_unscanned(&scan, s);
	wanted = s->threads < scan.nr ? s->threads : scan.nr;
	/* a thread for each but one, which is the caller's */
	while (nr + 1 < wanted && nr < TACHO_THREADS_MAX &&
	       start_thread(&thread[nr], run_scan, &scan))
		nr++;
	if (nr)
		(void)run_scan(&scan);
	while (nr)
		(void)pthread_join(thread[--nr], NULL);
	free(scan.part);
}

/* ---- the pool ---------------------------------------------------------------------- */

/* Whatever views share is there before there are views.  False: something is not. */
static bool prepare(struct tacho_stream *s)
{
	(void)tacho_stream_type(s, 0);
	for (uint32_t i = 0; i < s->nr_sources; i++)
		(void)tacho_facts_comm(&s->source[i]->facts, 0, NULL);
	tacho_parallel_scan(s);
	return !tacho_stream_check(s);
}

/* Two workers' units are in no cache line together, nor in a pair of lines. */
#define UNIT_ALIGN	128u

enum unit_state { UNIT_FREE, UNIT_BUSY, UNIT_DONE };

struct worker {
	struct pool *pool;
	pthread_t thread;
	struct tacho_stream *view;
	void *own;
};

struct pool {
	const struct tacho_parallel *p;
	const struct plan *plan;
	struct worker *worker;
	uint32_t nr_workers, nr_running;	/* the latter: threads that were started */
	unsigned char *units;		/* nr_units of `stride` bytes */
	size_t stride;
	enum unit_state *state;
	struct tacho_piece *piece;	/* of each unit */
	uint32_t nr_units;
	uint64_t *damaged;		/* of each source, by those that are done */

	pthread_mutex_t lock;		/* of all that follows, and of state and damaged */
	pthread_cond_t changed;
	uint32_t next;			/* the piece that a worker gets next */
	uint32_t taken;			/* pieces before it need no unit any more */
	uint32_t done;			/* pieces that were worked on */
	uint64_t lost;			/* in those that were taken */
	uint32_t failed;		/* the first piece that could not be; nr: none */
	bool stop;
};

static void *unit_at(const struct pool *pool, uint32_t k)
{
	return pool->units + (size_t)(k % pool->nr_units) * pool->stride;
}

/* One piece, without the lock.  0 or a negative errno. */
static int work(struct worker *w, uint32_t k, struct tacho_piece *piece)
{
	const struct pool *pool = w->pool;
	const struct plan *plan = pool->plan;
	struct tacho_stream *v = w->view;
	uint64_t damaged = view_damaged(v);
	int err = 0;

	*piece = (struct tacho_piece){ .index = k };
	if (plan->range) {
		piece->source = plan->range[k].source;
		view_range(v, &plan->range[k]);
	} else {
		v->until = plan->time[k + 1];
		err = tacho_stream_seek(v, plan->time[k]);
	}
	if (!err)
		err = pool->p->work(pool->p->arg, w->own, v, piece, unit_at(pool, k));
	piece->damaged = view_damaged(v) - damaged;
	if (!err && !plan->range && (piece->damaged || !view_through(v, &piece->lost)))
		err = -EUCLEAN;
	return err;
}

static bool may_go_on(const struct pool *pool)
{
	return !pool->stop && pool->next < pool->plan->nr;
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;
	struct pool *pool = w->pool;

	(void)pthread_mutex_lock(&pool->lock);
	while (may_go_on(pool)) {
		uint32_t k = pool->next, u = k % pool->nr_units;
		struct tacho_piece piece;
		int err;

		if (k - pool->taken >= pool->nr_units) {
			(void)pthread_cond_wait(&pool->changed, &pool->lock);
			continue;
		}
		pool->next++;
		pool->state[u] = UNIT_BUSY;
		(void)pthread_mutex_unlock(&pool->lock);
		err = work(w, k, &piece);
		(void)pthread_mutex_lock(&pool->lock);
		pool->piece[u] = piece;
		pool->state[u] = UNIT_DONE;
		pool->done++;
		if (err && k < pool->failed)
			pool->failed = k;
		pool->stop = pool->stop || err;
		pool->damaged[piece.source] += piece.damaged;
		/* of what is not taken, the first ones that are done need no order */
		if (!pool->p->take)
			pool->taken = pool->next;
		/* the caller sleeps until there is something to do */
		if (pool->p->take || pool->p->tick || err || pool->done == pool->plan->nr)
			(void)pthread_cond_broadcast(&pool->changed);
	}
	(void)pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* As many as can be had. */
static void start_threads(struct pool *pool)
{
	while (pool->nr_running < pool->nr_workers) {
		struct worker *w = &pool->worker[pool->nr_running];

		if (!start_thread(&w->thread, run_worker, w))
			break;
		pool->nr_running++;
	}
}

static void end_threads(struct pool *pool)
{
	(void)pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	(void)pthread_cond_broadcast(&pool->changed);
	(void)pthread_mutex_unlock(&pool->lock);
	for (uint32_t i = 0; i < pool->nr_running; i++)
		(void)pthread_join(pool->worker[i].thread, NULL);
}

static int tick(const struct pool *pool)
{
	return pool->p->tick ? pool->p->tick(pool->p->arg) : 0;
}

/* Takes the next piece.  1; 0: none will come; or what take() or tick() returned. */
static int take_one(struct pool *pool)
{
	uint32_t k = pool->taken, u = k % pool->nr_units;
	bool lost;
	int ret;

	if (k == pool->plan->nr)
		return 0;
	(void)pthread_mutex_lock(&pool->lock);
	/* a piece that no thread got will not come; one that a thread got will */
	while (pool->state[u] != UNIT_DONE && !(pool->stop && k >= pool->next))
		(void)pthread_cond_wait(&pool->changed, &pool->lock);
	lost = pool->state[u] != UNIT_DONE || k >= pool->failed;
	(void)pthread_mutex_unlock(&pool->lock);
	if (lost)
		return 0;
	ret = tick(pool);
	if (!ret)
		ret = pool->p->take(pool->p->arg, &pool->piece[u], unit_at(pool, k));
	if (ret)
		return ret;
	(void)pthread_mutex_lock(&pool->lock);
	pool->state[u] = UNIT_FREE;
	pool->taken = k + 1;
	pool->lost += pool->piece[u].lost;
	(void)pthread_cond_broadcast(&pool->changed);
	(void)pthread_mutex_unlock(&pool->lock);
	return 1;
}

/* Takes the pieces as they come.  0, or what take() or tick() returned. */
static int take_all(struct pool *pool)
{
	int ret;

	do
		ret = take_one(pool);
	while (ret == 1);
	return ret;
}

/* Nothing is taken: waits, and asks between pieces whether to go on. */
static int wait_all(struct pool *pool)
{
	uint32_t seen = 0;
	int ret = 0;

	(void)pthread_mutex_lock(&pool->lock);
	while (!ret && pool->done < pool->plan->nr && pool->failed == pool->plan->nr) {
		while (pool->done == seen)
			(void)pthread_cond_wait(&pool->changed, &pool->lock);
		seen = pool->done;
		(void)pthread_mutex_unlock(&pool->lock);
		ret = tick(pool);
		(void)pthread_mutex_lock(&pool->lock);
	}
	(void)pthread_mutex_unlock(&pool->lock);
	return ret;
}

/* ---- its life ------------------------------------------------------------------------ */

/* Not 0: some worker's end() said so. */
static int end_workers(struct pool *pool)
{
	int err = 0;

	for (uint32_t i = 0; i < pool->nr_workers; i++) {
		struct worker *w = &pool->worker[i];
		int its = w->own ? pool->p->end(pool->p->arg, w->own) : 0;

		w->own = NULL;
		err = err ? err : its;
	}
	return err;
}

static void close_views(struct pool *pool)
{
	for (uint32_t i = 0; i < pool->nr_workers; i++)
		tacho_stream_close(pool->worker[i].view);
	pool->nr_workers = 0;
}

static void pool_release(struct pool *pool)
{
	(void)end_workers(pool);
	close_views(pool);
	for (uint32_t i = 0; i < pool->nr_units && pool->units && pool->p->clear; i++)
		pool->p->clear(pool->p->arg, unit_at(pool, i));
	free(pool->worker);
	free(pool->units);
	free(pool->state);
	free(pool->piece);
	free(pool->damaged);
	(void)pthread_cond_destroy(&pool->changed);
	(void)pthread_mutex_destroy(&pool->lock);
}

/* Makes the views; with fewer workers than wanted if memory does not allow more. */
static void add_workers(struct pool *pool, struct tacho_stream *s, uint32_t wanted)
{
	while (pool->nr_workers < wanted) {
		struct worker *w = &pool->worker[pool->nr_workers];

		w->pool = pool;
		w->view = view_new(s, wanted);
		w->own = w->view ? pool->p->begin(pool->p->arg, w->view) : NULL;
		if (!w->own) {
			tacho_stream_close(w->view);
			*w = (struct worker){ .view = NULL };
			return;
		}
		pool->nr_workers++;
	}
}

/* False: no memory, or no workers. */
static bool pool_init(struct pool *pool, struct tacho_stream *s, const struct plan *plan,
		      const struct tacho_parallel *p)
{
	uint32_t wanted = s->threads < plan->nr ? s->threads : plan->nr;

	if (wanted > TACHO_THREADS_MAX)
		wanted = TACHO_THREADS_MAX;
	*pool = (struct pool){
		.p = p, .plan = plan, .failed = plan->nr, .nr_units = 2 * wanted,
	};
	(void)pthread_mutex_init(&pool->lock, NULL);
	(void)pthread_cond_init(&pool->changed, NULL);
	pool->worker = calloc(wanted, sizeof(*pool->worker));
	pool->stride = TACHO_ALIGN_UP(p->unit_size + 1, UNIT_ALIGN);
	pool->units = aligned_alloc(UNIT_ALIGN, pool->nr_units * pool->stride);
	if (pool->units)
		memset(pool->units, 0, pool->nr_units * pool->stride);
	pool->state = calloc(pool->nr_units, sizeof(*pool->state));
	pool->piece = calloc(pool->nr_units, sizeof(*pool->piece));
	pool->damaged = calloc(s->nr_sources, sizeof(*pool->damaged));
	if (!pool->worker || !pool->units || !pool->state || !pool->piece || !pool->damaged)
		return false;
	add_workers(pool, s, wanted);
	return pool->nr_workers;
}

/* Returns what take_all() or wait_all() did; 0, too, when no thread could be started. */
static int pool_run(struct pool *pool)
{
	int ret = 0;

	start_threads(pool);
	if (pool->nr_running)
		ret = pool->p->take ? take_all(pool) : wait_all(pool);
	end_threads(pool);
	return ret;
}

/* What the views saw is known from now on. */
static void add_seen(struct tacho_stream *s, const struct pool *pool)
{
	for (uint32_t i = 0; i < s->nr_sources; i++)
		s->source[i]->damaged += pool->damaged[i];
	for (uint32_t i = 0; i < pool->nr_workers; i++)
		view_fold(s, pool->worker[i].view);
}

int tacho_parallel_ranges(struct tacho_stream *s, const struct tacho_parallel *p)
{
	struct plan plan = { .nr = 0 };
	struct pool pool;
	int ret = 0;

	if (!tacho_parallel_possible(s) || !prepare(s))
		return 0;
	if (!plan_ranges(&plan, s) && plan.nr > 1) {
		if (pool_init(&pool, s, &plan, p))
			ret = pool_run(&pool);
		if (!ret && pool.nr_running && pool.done == plan.nr)
			ret = 1;
		/* ended by the caller: what was done counts */
		if (end_workers(&pool) || pool.failed < plan.nr)
			ret = ret < 0 ? ret : 0;
		else if (ret)
			add_seen(s, &pool);
		close_views(&pool);
		pool_release(&pool);
	}
	plan_release(&plan);
	return ret;
}

/* ---- slices, one by one -------------------------------------------------------------- */

struct tacho_slices {
	struct tacho_stream *stream;
	struct tacho_parallel p;
	struct plan plan;
	struct pool pool;
	uint64_t from;		/* where the stream stood */
	pid_t pid;		/* of the process that has the threads */
	bool ended;		/* no piece will come */
};

static bool has_threads(const struct tacho_slices *s)
{
	return s->pid == getpid();
}

int tacho_slices_begin(struct tacho_slices **slices, struct tacho_stream *stream,
		       const struct tacho_parallel *p)
{
	struct tacho_slices *s;

	*slices = NULL;
	if (!tacho_parallel_possible(stream) || stream->flags & TACHO_STREAM_UNORDERED ||
	    !prepare(stream))
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return 0;
	s->stream = stream;
	s->from = stream->from;
	s->p = *p;
	s->pid = getpid();
	if (!plan_slices(&s->plan, stream, p->from, p->to) && s->plan.nr) {
		if (pool_init(&s->pool, stream, &s->plan, &s->p)) {
			start_threads(&s->pool);
			if (s->pool.nr_running) {
				*slices = s;
				return 1;
			}
		}
		pool_release(&s->pool);
	}
	plan_release(&s->plan);
	free(s);
	return 0;
}

int tacho_slices_take(struct tacho_slices *s)
{
	int ret;

	if (s->ended || !has_threads(s))
		return 0;
	ret = take_one(&s->pool);
	s->ended = ret != 1;
	return ret;
}

/*
 * In a forked child the threads' memory is left as it is: it was theirs, and may be half written.
 */
int tacho_slices_end(struct tacho_slices *s)
{
	uint32_t taken = s->pool.taken;
	uint64_t lost = s->pool.lost;
	int err = 0;

	if (has_threads(s)) {
		end_threads(&s->pool);
		pool_release(&s->pool);
	}
	if (taken)
		err = stream_resume(s->stream, s->from, s->plan.time[taken]);
	if (taken && !err)
		s->stream->lost_ahead = lost;
	plan_release(&s->plan);
	free(s);
	return err ? err : (int)taken;
}

int tacho_parallel_slices(struct tacho_stream *stream, const struct tacho_parallel *p)
{
	struct tacho_slices *s;

	if (!tacho_slices_begin(&s, stream, p))
		return 0;
	(void)take_all(&s->pool);
	return tacho_slices_end(s);
}
