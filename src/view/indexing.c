// SPDX-License-Identifier: MIT
#include "view/indexing.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/atomic.h"
#include "sys/clock.h"

#define PATH_BYTES	((size_t)64 << 10)

struct view_indexing {
	const char *trace;
	const struct model_rules *rules;
	unsigned int flags;
	pthread_t thread;
	bool running;

	uint32_t cancelled;		/* atomic: by the serving thread */
	uint64_t done, total;		/* atomic: records */
	uint32_t state;			/* atomic: enum view_index_state */
	struct tacho_diag error;	/* before state is FAILED */

	/* the serving thread's */
	struct index *index;
	struct tacho_buf path;
	uint32_t generation;
	uint64_t opened;		/* when, ns */
	bool complete;			/* the reader knows the whole trace */
};

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct view_indexing *x = arg;

	tacho_store_relaxed(&x->done, done);
	tacho_store_relaxed(&x->total, total);
}

static bool on_cancelled(void *arg)
{
	const struct view_indexing *x = arg;

	return tacho_load_relaxed(&x->cancelled);
}

static void *make(void *arg)
{
	struct view_indexing *x = arg;
	const struct tacho_observer observer = { .progress = on_progress,
						 .cancelled = on_cancelled, .arg = x };
	struct tacho_buf path;
	struct app_trace t;
	int err = app_trace_open(&t, x->trace, x->flags, &x->error);

	tacho_buf_init(&path, PATH_BYTES);
	if (!err) {
		err = app_index_make(&t, x->rules, false, &observer, &path, &x->error);
		app_trace_close(&t);
	}
	tacho_buf_release(&path);
	tacho_store_release(&x->state,	/* [view-index] */
			    err ? VIEW_INDEX_FAILED : VIEW_INDEX_READY);
	return NULL;
}

static void open_reader(struct view_indexing *x)
{
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct index *index;

	x->opened = tacho_now_ns(CLOCK_MONOTONIC);
	if (app_index_open(&index, x->trace, x->rules, &x->path, &d))
		return;
	index_close(x->index);
	x->index = index;
	x->generation++;
	index_info(index, &info);
	x->complete = info.finished;
}

int view_indexing_start(struct view_indexing **indexing, const char *trace,
			const struct model_rules *rules, unsigned int flags,
			struct tacho_diag *d)
{
	struct view_indexing *x = calloc(1, sizeof(*x));
	sigset_t all, old;
	int err;

	if (!x)
		return tacho_no_memory(d);
	x->trace = trace;
	x->rules = rules;
	x->flags = flags;
	tacho_buf_init(&x->path, PATH_BYTES);
	open_reader(x);
	*indexing = x;
	if (x->complete) {
		x->state = VIEW_INDEX_READY;
		return 0;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&x->thread, NULL, make, x);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	x->running = !err;
	if (!err)
		return 0;
	view_indexing_stop(x);
	*indexing = NULL;
	return tacho_diag(d, -err, 0, "cannot start a thread");
}

void view_indexing_stop(struct view_indexing *x)
{
	if (!x)
		return;
	tacho_store_relaxed(&x->cancelled, 1);
	if (x->running)
		(void)pthread_join(x->thread, NULL);
	index_close(x->index);
	tacho_buf_release(&x->path);
	free(x);
}

struct index *view_indexing_index(struct view_indexing *x, uint32_t *generation)
{
	if (!x->complete && tacho_now_ns(CLOCK_MONOTONIC) - x->opened >= VIEW_INDEX_AGAIN_NS)
		open_reader(x);
	*generation = x->generation;
	return x->index;
}

void view_indexing_info(struct view_indexing *x, struct view_indexing_info *info)
{
	uint64_t total = tacho_load_relaxed(&x->total);

	*info = (struct view_indexing_info){ 0 };
	info->state = tacho_load_acquire(&x->state);	/* [view-index] */
	info->part = info->state == VIEW_INDEX_READY ? 1 :
		     total ? (double)tacho_load_relaxed(&x->done) / (double)total : 0;
	if (info->state == VIEW_INDEX_FAILED)
		info->error = x->error.text;
}
