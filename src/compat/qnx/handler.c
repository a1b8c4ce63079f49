// SPDX-License-Identifier: MIT
/*
 * Handlers of this program: they judge the events that it inserts, in the thread that inserts
 * one.  On QNX they run in the kernel, for all events; no program may do that on Linux.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/neutrino.h>
#include <unistd.h>

#include "base/bytes.h"
#include "compat/qnx/qnx.h"
#include "compat/qnx/run.h"
#include "ring/ring.h"

/*
 * A place is changed under the lock, and `seq` is odd meanwhile; an empty one has no `fn`.
 * A reader takes a copy, again if `seq` is another one then: a handler as it is, or as it
 * was.  No thread waits for itself, as signals are blocked under the lock.
 */
struct place {
	uint32_t seq;
	qnx_handler fn;
	event_data_t *data;
	uint32_t class_;
	uint32_t event;			/* number of state.h, or QNX_ALL_EVENTS */
};

static struct place places[QNX_HANDLERS_MAX];
static uint32_t nr_used;		/* places that ever were */

/* A handler that inserts an event is not asked about it. */
static __thread uint32_t inside __attribute__((tls_model("initial-exec")));

/* Under the lock. */
static void put(struct place *p, const struct place *what)
{
	uint32_t seq = p->seq;

	/* each word after the odd number */
	tacho_store_relaxed(&p->seq, seq + 1);
	tacho_store_release(&p->fn, what->fn);	/* [qnx-handler] */
	tacho_store_release(&p->data, what->data);	/* [qnx-handler] */
	tacho_store_release(&p->class_, what->class_);	/* [qnx-handler] */
	tacho_store_release(&p->event, what->event);	/* [qnx-handler] */
	tacho_store_release(&p->seq, seq + 2);	/* [qnx-handler] */
}

static void get(const struct place *p, struct place *copy)
{
	do {
		copy->seq = tacho_load_acquire(&p->seq);	/* [qnx-handler] */
		copy->fn = tacho_load_acquire(&p->fn);	/* [qnx-handler] */
		copy->data = tacho_load_acquire(&p->data);	/* [qnx-handler] */
		copy->class_ = tacho_load_acquire(&p->class_);	/* [qnx-handler] */
		copy->event = tacho_load_acquire(&p->event);	/* [qnx-handler] */
	} while (copy->seq & 1 || tacho_load_relaxed(&p->seq) != copy->seq);
}

static struct place *find(uint32_t class_, uint32_t event)
{
	for (uint32_t i = 0; i < nr_used; i++)
		if (places[i].fn && places[i].class_ == class_ && places[i].event == event)
			return &places[i];
	return NULL;
}

static struct place *find_free(void)
{
	for (uint32_t i = 0; i < QNX_HANDLERS_MAX; i++)
		if (!places[i].fn)
			return &places[i];
	return NULL;
}

/* The number of the one event that a command names. */
static bool number_of(uint32_t class_, uint32_t event, bool states, uint32_t *n)
{
	struct qnx_set set;

	*n = QNX_ALL_EVENTS;
	if (!qnx_set_of(&set, class_, event, states))
		return false;
	for (uint32_t i = 0; event != QNX_ALL_EVENTS && i < QNX_EVENTS; i++)
		if (set.bits[i / 64] >> (i % 64) & 1) {
			*n = i;
			break;
		}
	return true;
}

int qnx_handler_add(uint32_t class_, uint32_t event, bool states, qnx_handler fn,
		    event_data_t *data)
{
	struct place *p;
	sigset_t was;
	uint32_t n;

	if (!fn || !number_of(class_, event, states, &n))
		return -EFAULT;
	qnx_lock(&was);
	p = find(class_, n);
	if (!p) {
		p = find_free();
		(void)tacho_add_relaxed(&qnx_run.hooks, p != NULL);
	}
	if (p) {
		put(p, &(struct place){ .fn = fn, .data = data, .class_ = class_, .event = n });
		if (nr_used < (uint32_t)(p - places) + 1)
			/* [qnx-places] */
			tacho_store_release(&nr_used, (uint32_t)(p - places) + 1);
	}
	qnx_unlock(&was);
	return p ? 0 : -ENOMEM;
}

int qnx_handler_remove(uint32_t class_, uint32_t event, bool states)
{
	struct place *p;
	sigset_t was;
	uint32_t n;

	if (!number_of(class_, event, states, &n))
		return -EFAULT;
	qnx_lock(&was);
	p = find(class_, n);
	if (p) {
		put(p, &(struct place){ .fn = NULL });
		(void)tacho_add_relaxed(&qnx_run.hooks, -1u);
	}
	qnx_unlock(&was);
	return p ? 0 : -EFAULT;
}

/* KERCALL and INT stand for what they consist of. */
static bool covers(uint32_t of, uint32_t class_)
{
	struct qnx_set set;

	if (of == class_)
		return true;
	if ((of != QNX_KERCALL && of != QNX_INT) || !qnx_set_of(&set, of, QNX_ALL_EVENTS, false))
		return false;
	for (uint32_t i = 0; i < set.nr_classes; i++)
		if (set.class_[i] == class_)
			return true;
	return false;
}

/* Calls it with its own event_data_t, as it last left it, and what is known of the event. */
static int call(qnx_handler fn, event_data_t *data, const struct qnx_hit *hit)
{
	uint32_t words[QNX_WORDS_MAX];
	event_data_t own;

	memset(&own, 0, sizeof(own));
	if (data)
		own.area = data->area;
	own.header = hit->code | ((uint32_t)sched_getcpu() & 0x3f) << 24;
	own.el_num = hit->nr < QNX_WORDS_MAX ? hit->nr : QNX_WORDS_MAX;
	memcpy(words, hit->words, (size_t)4 * own.el_num);
	own.data_array = words;
	own.feature_mask = 1u << _NTO_TRACE_FIPID | 1u << _NTO_TRACE_FITID;
	own.feature[_NTO_TRACE_FIPID] = (uint32_t)getpid();
	own.feature[_NTO_TRACE_FITID] = (uint32_t)gettid();
	return fn(&own);
}

bool qnx_handlers_say(uint32_t class_, uint32_t event, const struct qnx_hit *hit)
{
	uint32_t n = tacho_load_acquire(&nr_used);	/* [qnx-places] */
	int saved = errno;
	bool is = true;

	if (inside)
		return true;
	inside = 1;
	for (uint32_t i = 0; i < n; i++) {
		struct place p;

		get(&places[i], &p);
		if (!p.fn || !covers(p.class_, class_) ||
		    (p.event != QNX_ALL_EVENTS && p.event != event))
			continue;
		is &= call(p.fn, p.data, hit) != 0;
	}
	inside = 0;
	errno = saved;
	return is;
}
