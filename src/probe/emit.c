// SPDX-License-Identifier: MIT
/* One hit of a tracepoint, from its raw event to the rings. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "probe/probe.h"
#include "ring/write.h"
#include "sys/mapping.h"

__thread struct probe_self tacho_self
	__attribute__((tls_model("initial-exec")));

/* The id of an event's type in a session; 0 when it cannot be had. */
static TACHO_COLD uint16_t learn_id(struct probe_session *s, uint32_t index)
{
	uint32_t len;
	const char *text = tacho_procmap_text(index, &len);
	int id = tacho_types_add(&s->view, text, len);

	if (id <= 0)
		return 0;
	tacho_store_relaxed(&s->ids[index], (uint16_t)id);
	return (uint16_t)id;
}

/* Tells a session who this thread is. */
static TACHO_COLD void introduce(struct probe_session *s, uint32_t bit)
{
	char comm[16] = "";
	int saved = errno;

	(void)prctl(PR_GET_NAME, comm);
	errno = saved;
	tacho_tasks_put(s->view.ctl, tacho_self.tid, tacho_probe.pid, comm);
	tacho_self.serial[bit] = s->serial;
}

/* Whatever must be known before an event can be written to a session. */
static TACHO_COLD struct probe_session *
prepare(const struct tacho_event *ev, uint32_t bit, uint16_t *id)
{
	struct probe_session *s = tacho_attach(bit);

	/* a dead one learns no types, and another may have its bit by now */
	if (s && tacho_load_relaxed(&s->view.ctl->state) == TACHO_STATE_DEAD) {
		tacho_attach_drop(bit, s);
		s = tacho_attach(bit);
	}
	if (!s)
		return NULL;
	if (tacho_self.serial[bit] != s->serial)
		introduce(s, bit);
	*id = tacho_load_relaxed(&s->ids[ev->index]);
	if (!*id)
		*id = learn_id(s, ev->index);
	if (*id)
		return s;
	tacho_ring_lose(&s->view.ring, TACHO_LOSS_BUSY);
	return NULL;
}

static TACHO_ALWAYS_INLINE int emit_fast(struct probe_session *s,
					 const uint64_t *raw, uint64_t words)
{
#ifdef TACHO_HAVE_RSEQ
	return tacho_ring_write_fast(&s->view.ring, raw, words);
#else
	(void)s;
	(void)raw;
	(void)words;
	return -1;
#endif
}

/* Not recording: stopped, or dead and perhaps followed by another session. */
static TACHO_COLD void refused(const struct tacho_event *ev, uint32_t bit,
			       struct probe_session *s, uint64_t *raw,
			       uint64_t words)
{
	uint16_t id;

	if (tacho_load_relaxed(&s->view.ctl->state) != TACHO_STATE_DEAD)
		return;
	tacho_attach_drop(bit, s);
	s = prepare(ev, bit, &id);
	if (!s)
		return;
	raw[0] = tacho_common_word(id, tacho_self.tid);
	(void)tacho_ring_write(&s->view.ring, raw, words);
}

/* Too large for any record: counted in every session that wanted it. */
static TACHO_COLD void lose_big(const struct tacho_event *ev, uint64_t mask)
{
	uint16_t id;

	for (; mask; mask &= mask - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(mask);
		struct probe_session *s = prepare(ev, bit, &id);

		if (s && tacho_load_relaxed(&s->view.ctl->state) ==
			 TACHO_STATE_RECORDING)
			tacho_ring_lose(&s->view.ring, TACHO_LOSS_BIG);
	}
}

/* The whole way: any number of sessions, a new thread, a refusal. */
static TACHO_NOINLINE void emit_rare(const struct tacho_event *ev, uint64_t *raw,
				     size_t len)
{
	uint64_t mask = tacho_load_relaxed(ev->state);
	uint64_t words = (len + 7) / 8;

	/* shorter than its common fields: no event of ours, and no room for them */
	if (len > TACHO_RAW_MAX || len < sizeof(struct tacho_common)) {
		lose_big(ev, mask);
		return;
	}
	if (!tacho_self.tid) {
		int32_t tid = gettid();

		tacho_self.common = tacho_common_word(0, tid);
		/* a signal handler that finds the one set finds the other */
		tacho_signal_fence();
		tacho_self.tid = tid;
	}
	for (uint64_t left = mask; left; left &= left - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(left);
		uint16_t id;
		struct probe_session *s = prepare(ev, bit, &id);

		if (!s)
			continue;
		raw[0] = tacho_common_word(id, tacho_self.tid);
		if (tacho_ring_write(&s->view.ring, raw, words) == -ESHUTDOWN)
			refused(ev, bit, s, raw, words);
		else if (mask == s->mask)
			tacho_store_relaxed(&tacho_self.session, s);
	}
}

/*
 * The fast way is for what nearly all events are: this thread wrote to this
 * one session before.  The thread remembers the session in one word, so that a
 * signal handler that remembers another one leaves no mixture.  A session's
 * mask is never 0, and so an event that was switched off a moment ago matches none.
 *
 * The common fields are stored as one word: the ring's copy loads them as one, and
 * a load that has to be put together from several stores in flight waits for
 * all of them (measured: several ns).
 */
static void emit_write(const struct tacho_event *ev, void *raw, size_t len)
{
	uint64_t mask = tacho_load_relaxed(ev->state);
	struct probe_session *s = tacho_load_relaxed(&tacho_self.session);
	uint16_t id;

	/* the length in one comparison: room for the common fields, not too large */
	if (tacho_likely(s && mask == s->mask &&
			 len - sizeof(struct tacho_common) <=
			 TACHO_RAW_MAX - sizeof(struct tacho_common))) {
		id = tacho_load_relaxed(&s->ids[ev->index]);
		len = (len + 7) / 8;	/* words: nothing else is kept for later */
		if (tacho_likely(id)) {
			*(uint64_t *)raw = tacho_self.common |
					   TACHO_COMMON_TYPE(id);
			if (tacho_likely(!emit_fast(s, raw, len)))
				return;
		}
		len *= 8;
	}
	emit_rare(ev, raw, len);
}

/* Raw events too large for a stack: a few pieces for the whole process. */
static struct scratch {
	uint32_t busy;
	unsigned char *raw;	/* TACHO_RAW_MAX bytes and a word; own pages */
} scratch[8];

/* Takes a free piece; NULL when all are taken. */
static void *scratch_take(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scratch); i++) {
		uint32_t idle = 0;

		if (!tacho_cas_acq_rel(&scratch[i].busy, &idle, 1))
			continue;
		if (!scratch[i].raw)
			scratch[i].raw = tacho_shm_private(TACHO_RAW_MAX + 8);
		if (scratch[i].raw)
			return scratch[i].raw;
		tacho_store_release(&scratch[i].busy, 0);
	}
	return NULL;
}

static void *emit_scratch_get(const struct tacho_event *ev, size_t len)
{
	uint64_t mask = tacho_load_relaxed(ev->state);
	uint16_t id;
	void *raw;

	if (len > TACHO_RAW_MAX) {
		lose_big(ev, mask);
		return NULL;
	}
	raw = scratch_take();
	for (; !raw && mask; mask &= mask - 1) {
		struct probe_session *s =
			prepare(ev, (uint32_t)__builtin_ctzll(mask), &id);

		if (s)
			tacho_ring_lose(&s->view.ring, TACHO_LOSS_BUSY);
	}
	return raw;
}

static void emit_scratch_put(void *raw)
{
	for (size_t i = 0; raw && i < TACHO_ARRAY_SIZE(scratch); i++)
		if (scratch[i].raw == raw)
			tacho_store_release(&scratch[i].busy, 0);
}

void tacho_emit_fork(void)
{
	/* the threads that had them are not in this process */
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scratch); i++)
		tacho_store_relaxed(&scratch[i].busy, 0);
	memset(&tacho_self, 0, sizeof(tacho_self));
}

const struct tacho_event_ops tacho_emit_ops = {
	.struct_size = sizeof(tacho_emit_ops),
	.write = emit_write,
	.scratch_get = emit_scratch_get,
	.scratch_put = emit_scratch_put,
};
