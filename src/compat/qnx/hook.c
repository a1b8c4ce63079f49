// SPDX-License-Identifier: MIT
/*
 * The hook of InterruptHookTrace(): called when a trace buffer has become full, by the thread
 * of this program whose event made it so, and by FLUSHBUFFER.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/neutrino.h>
#include <unistd.h>

#include "compat/qnx/qnx.h"
#include "compat/qnx/run.h"
#include "ring/ring.h"
#include "session/view.h"

typedef const struct sigevent *(*hook_fn)(int info);

#define INFO_BUFFER	13
#define INFO_SEQUENCE	0x7ffu

static struct {
	hook_fn fn;
	struct tacho_qnx qnx;		/* for its rings */
	uint64_t generation;		/* of the session that it has */
	uint64_t seen;			/* buffers that were full by then */
	bool open;
} hook;

static __thread uint32_t inside __attribute__((tls_model("initial-exec")));

/* Sub-buffers that are left after, of all lanes. */
static uint64_t nr_full(void)
{
	const struct tacho_ring *r = &hook.qnx.session.view.ring;
	uint64_t sum = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++)
		sum += tacho_cursor_seq(tacho_load_acquire(&tacho_ring_lane(r, lane)->cursor));
	return sum;
}

/* Under the lock. */
static bool attach(void)
{
	const struct qnx_state *s = tacho_load_relaxed(&qnx_run.state);

	if (hook.open && hook.generation == s->generation)
		return hook.qnx.has_session;
	if (hook.open)
		tacho_qnx_close(&hook.qnx);
	hook.open = !tacho_qnx_open(&hook.qnx, NULL);
	if (hook.open)
		tacho_qnx_unlock(&hook.qnx);
	hook.generation = s->generation;
	hook.seen = hook.open && hook.qnx.has_session ? nr_full() : 0;
	return hook.open && hook.qnx.has_session;
}

/* What the hook returned: an event for its process. */
static void deliver(const struct sigevent *ev)
{
	if (ev && ev->sigev_notify == SIGEV_SIGNAL && ev->sigev_signo)
		(void)sigqueue(getpid(), ev->sigev_signo, ev->sigev_value);
}

static hook_fn is_due(bool flush, int *info)
{
	hook_fn fn = hook.fn;
	uint32_t nr_buffers;
	uint64_t now;

	if (!fn || !attach())
		return NULL;
	/* somebody may be freeing them just now */
	nr_buffers = tacho_load_relaxed(&hook.qnx.state->nr_buffers);
	if (!nr_buffers)
		return NULL;
	now = nr_full();
	if (now == hook.seen && !flush)
		return NULL;
	hook.seen = now;
	*info = (int)((now % nr_buffers) << INFO_BUFFER | (now & INFO_SEQUENCE));
	return fn;
}

void qnx_hook_look(bool flush)
{
	int saved = errno, info = 0;
	hook_fn fn = NULL;
	sigset_t was;

	if (inside || !tacho_load_relaxed(&hook.fn))
		return;
	inside = 1;
	qnx_lock(&was);
	fn = is_due(flush, &info);
	qnx_unlock(&was);
	if (fn)
		deliver(fn(info));
	inside = 0;
	errno = saved;
}

TACHO_EXPORT int InterruptHookTrace(const struct sigevent *(*handler)(int), unsigned flags)
{
	struct tacho_qnx q;
	sigset_t was;
	int err;

	(void)flags;
	/* who may not trace may not listen either */
	err = tacho_qnx_open(&q, NULL);
	if (err) {
		errno = -err;
		return -1;
	}
	tacho_qnx_close(&q);
	qnx_lock(&was);
	(void)tacho_add_relaxed(&qnx_run.hooks, (handler ? 1u : 0u) - (hook.fn ? 1u : 0u));
	tacho_store_release(&hook.fn, handler);
	(void)attach();
	qnx_unlock(&was);
	return 0;
}
