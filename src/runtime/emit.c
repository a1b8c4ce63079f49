// SPDX-License-Identifier: MIT
/* One hit of a tracepoint, from its raw event to the rings. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "runtime/actions.h"
#include "ring/write.h"
#include "sys/mapping.h"

__thread struct runtime_self tacho_self
	__attribute__((tls_model("initial-exec")));

/* Whether a type has a field that is a pointer: "\tfield:void * fn;". */
static TACHO_COLD bool has_pointer(const char *text, uint32_t len)
{
	const char *end = memmem(text, len, "\nprint fmt:", 11);

	return memchr(text, '*', end ? (size_t)(end - text) : len);
}

/* Adds an event's type to a session; returns its id, or 0 on failure. */
static TACHO_COLD uint16_t load_id(struct runtime_session *s, uint32_t index)
{
	uint32_t len;
	const char *text = tacho_procmap_text(index, &len);
	int id = tacho_types_add(&s->view, text, len);

	if (id <= 0)
		return 0;
	/* before a record that has an address */
	if (has_pointer(text, len) && !tacho_load_relaxed(&s->tells))
		(void)tacho_objects_tell(s);
	tacho_store_relaxed(&s->ids[index], (uint16_t)id);
	return (uint16_t)id;
}

/* Writes this thread's name to a session. */
static TACHO_COLD void introduce(struct runtime_session *s, uint32_t bit)
{
	char comm[16] = "";
	int saved = errno;

	(void)prctl(PR_GET_NAME, comm);
	errno = saved;
	tacho_tasks_put(s->view.ctl, tacho_self.tid, tacho_runtime.pid, comm);
	tacho_self.serial[bit] = s->serial;
}

/* Prepares a session for the first record of an event. */
static TACHO_COLD struct runtime_session *
prepare(const struct tacho_event *ev, uint32_t bit, uint16_t *id)
{
	struct runtime_session *s = tacho_attach(bit);

	/* a dead session gets no types, and another one may have its bit now */
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
		*id = load_id(s, ev->index);
	if (*id)
		return s;
	tacho_ring_lose(&s->view.ring, TACHO_LOSS_BUSY);
	return NULL;
}

/* Handles a session that does not record: stopped, or dead and possibly replaced by another. */
static TACHO_COLD void refused(const struct tacho_event *ev, uint32_t bit,
			       struct runtime_session *s, uint64_t *raw,
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

/* Too large for any record: counted in every session that has it enabled. */
static TACHO_COLD void lose_big(const struct tacho_event *ev, uint64_t mask)
{
	uint16_t id;

	for (; mask; mask &= mask - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(mask);
		struct runtime_session *s = prepare(ev, bit, &id);

		if (s && tacho_load_relaxed(&s->view.ctl->state) ==
			 TACHO_STATE_RECORDING)
			tacho_ring_lose(&s->view.ring, TACHO_LOSS_BIG);
	}
}

/* Writes to one session, with all checks; true: the event may cache the session. */
static bool emit_to(const struct tacho_event *ev, uint32_t bit, uint64_t *raw,
		    size_t len, const struct runtime_place *place)
{
	uint64_t program = tacho_load_relaxed(&ev->state[1]) >> bit & 1;
	uint16_t id;
	struct runtime_session *s = prepare(ev, bit, &id);
	int err;

	if (!s)
		return false;
	raw[0] = tacho_common_word(id, tacho_self.tid);
	if (program)
		err = tacho_actions_hit(s, tacho_actions_get(s, ev->index),
					ev->index, raw, len, place);
	else
		err = tacho_ring_write(&s->view.ring, raw, (len + 7) / 8);
	if (err == -ESHUTDOWN && !program)
		refused(ev, bit, s, raw, (len + 7) / 8);
	return err != -ESHUTDOWN;
}

/*
 * Writes to all sessions of the event that are in `only`, with all checks: new threads, sessions
 * that are not recording, actions.
 */
static TACHO_NOINLINE void emit_rare(struct tacho_event *ev, uint64_t *raw,
				     size_t len, const struct runtime_place *place,
				     uint64_t only)
{
	uint64_t mask = tacho_load_relaxed(ev->state);

	/* shorter than the common fields: not a valid event */
	if (len > TACHO_RAW_MAX || len < sizeof(struct tacho_common)) {
		lose_big(ev, mask & only);
		return;
	}
	if (!tacho_self.tid) {
		int32_t tid = gettid();

		tacho_self.common = tacho_common_word(0, tid);
		/* a signal handler that sees one of them set sees both */
		tacho_signal_fence();
		tacho_self.tid = tid;
	}
	for (uint64_t left = mask & only; left; left &= left - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(left);
		struct runtime_session *s;

		if (!emit_to(ev, bit, raw, len, place))
			continue;
		s = tacho_load_acquire(&tacho_runtime.session[bit]);	/* [session] */
		if (s && mask == s->mask && tacho_load_relaxed(&ev->session) != s)
			tacho_store_release(&ev->session, s);	/* [event-session] */
	}
}

/*
 * The fast path is for nearly all events: enabled in one session, the same as at the last hit,
 * without filters or triggers, from a thread whose name the session has.  The event caches the
 * session for all threads, in its own struct, where one load finds it.  The memory of a session
 * is never freed, and its mask is never 0, so an event that was just disabled matches none.
 *
 * The common fields are stored as one word: the ring's copy loads them as one, and
 * a load that has to be put together from several stores in flight waits for
 * all of them (measured: several ns).
 *
 * Returns the session and the common fields, or NULL: emit_rare().
 */
static TACHO_ALWAYS_INLINE struct runtime_session *
known(const struct tacho_event *ev, uint64_t *common)
{
	/* what it points to is complete */
	struct runtime_session *s = tacho_load_acquire(&ev->session);	/* [event-session] */
	const uint64_t *state = tacho_load_relaxed(&ev->state);
	uint64_t id;

	if (tacho_unlikely(!s || tacho_self.serial[s->bit] != s->serial ||
			   tacho_load_acquire(&state[0]) != s->mask ||
			   tacho_load_relaxed(&state[1])))
		return NULL;
	id = tacho_load_relaxed(&s->ids[ev->index]);
	*common = tacho_self.common | TACHO_COMMON_TYPE(id);
	return tacho_likely(id) ? s : NULL;
}

/* As known(), for an event with actions, which are run.  False: nothing was done. */
static TACHO_ALWAYS_INLINE bool
emit_actions(const struct tacho_event *ev, uint64_t *raw, size_t len,
	     const struct runtime_place *place)
{
	struct runtime_session *s = tacho_load_acquire(&ev->session);	/* [event-session] */
	const uint64_t *state = tacho_load_relaxed(&ev->state);
	const struct runtime_actions *p;
	uint64_t id;

	if (tacho_unlikely(!s || tacho_self.serial[s->bit] != s->serial ||
			   tacho_load_acquire(&state[0]) != s->mask ||
			   !(tacho_load_relaxed(&state[1]) & s->mask)))
		return false;
	id = tacho_load_relaxed(&s->ids[ev->index]);
	p = tacho_load_acquire(&s->actions[ev->index]);	/* [actions] */
	if (tacho_unlikely(!id || !p || p->seq !=
			   tacho_load_relaxed(&s->view.commands->seq)))
		return false;
	raw[0] = tacho_self.common | TACHO_COMMON_TYPE(id);
	if (tacho_likely(!p->nr_triggers)) {
		if (tacho_actions_takes(p, raw, len))
			(void)tacho_ring_write(&s->view.ring, raw, (len + 7) / 8);
	} else if (tacho_likely(p->count != NULL)) {
		if (tacho_actions_enabled(p))			/* E2 */
			(void)tacho_ring_write(&s->view.ring, raw,
					       (len + 7) / 8);
		tacho_hist_count(p->count, (const unsigned char *)raw,
				 (uint32_t)len);		/* E3 */
	} else {
		(void)tacho_actions_hit(s, p, ev->index, raw, len, place);
	}
	return true;
}

/* The caller's return address and frame, which are those of the site. */
#define PLACE_HERE()						\
	((struct runtime_place){ __builtin_frame_address(0),		\
			       __builtin_return_address(0) })

/* Reached by a jump, so that the frame above is the site's. */
static TACHO_NOINLINE void next_write(struct tacho_event *ev, void *raw,
				      size_t len)
{
	const struct runtime_place place = PLACE_HERE();

	if (len - sizeof(struct tacho_common) >
	    TACHO_RAW_MAX - sizeof(struct tacho_common) ||
	    !emit_actions(ev, raw, len, &place))
		emit_rare(ev, raw, len, &place, UINT64_MAX);
}

static void emit_write(struct tacho_event *ev, void *raw, size_t len)
{
#ifdef TACHO_HAVE_RSEQ
	uint64_t common;
	struct runtime_session *s = known(ev, &common);

	/* the length in one comparison: room for the common fields, not too large */
	if (tacho_likely(s && len - sizeof(struct tacho_common) <=
			      TACHO_RAW_MAX - sizeof(struct tacho_common))) {
		*(uint64_t *)raw = common;
		if (tacho_likely(!tacho_ring_write_fast(&s->view.ring, raw,
							(len + 7) / 8)))
			return;
	}
#endif
	next_write(ev, raw, len);
}

static TACHO_NOINLINE void emit_write_mask(struct tacho_event *ev, void *raw,
					   size_t len, uint64_t mask)
{
	const struct runtime_place place = PLACE_HERE();

	emit_rare(ev, raw, len, &place, mask);
}

/*
 * Small events of fixed length: write1() to write4(), the payload in registers.
 * FAST(n, words) is the one attempt.
 */
#ifdef TACHO_FAST_TABLE
#define FAST(n, ...) \
	(s && !tacho_ring_write_fast##n(&s->view.ring, common, __VA_ARGS__))
#else
#define FAST(n, ...)	((void)s, false)
#endif

#define EMIT_WORDS(payload, record, params, ...)			\
	static TACHO_NOINLINE void next_write##payload params		\
	{								\
		const struct runtime_place place = PLACE_HERE();		\
		uint64_t raw[] = { 0, __VA_ARGS__ };			\
									\
		if (!emit_actions(ev, raw, sizeof(raw), &place))	\
			emit_rare(ev, raw, sizeof(raw), &place, UINT64_MAX); \
	}								\
									\
	static void emit_write##payload params				\
	{								\
		uint64_t common;					\
		struct runtime_session *s = known(ev, &common);		\
									\
		if (tacho_unlikely(!FAST(record, __VA_ARGS__)))		\
			next_write##payload(ev, __VA_ARGS__);		\
	}

EMIT_WORDS(1, 2, (struct tacho_event *ev, uint64_t a), a)
EMIT_WORDS(2, 3, (struct tacho_event *ev, uint64_t a, uint64_t b), a, b)
EMIT_WORDS(3, 4, (struct tacho_event *ev, uint64_t a, uint64_t b, uint64_t c),
	   a, b, c)
EMIT_WORDS(4, 5, (struct tacho_event *ev, uint64_t a, uint64_t b, uint64_t c,
		  uint64_t d), a, b, c, d)

/* Buffers for raw events too large for a stack: a few for the whole process. */
static struct scratch {
	uint32_t busy;
	unsigned char *raw;	/* TACHO_RAW_MAX bytes and a word; own pages */
} scratch[8];

/* Takes a free buffer; NULL: all are in use. */
void *tacho_scratch_take(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scratch); i++) {
		uint32_t idle = 0;

		if (!tacho_cas_acq_rel(&scratch[i].busy, &idle, 1))	/* [scratch] */
			continue;
		if (!scratch[i].raw)
			scratch[i].raw = tacho_shm_private(TACHO_RAW_MAX + 8);
		if (scratch[i].raw)
			return scratch[i].raw;
		tacho_store_release(&scratch[i].busy, 0);	/* [scratch] */
	}
	return NULL;
}

static void *emit_scratch_get(struct tacho_event *ev, size_t len)
{
	uint64_t mask = tacho_load_relaxed(ev->state);
	uint16_t id;
	void *raw;

	if (len > TACHO_RAW_MAX) {
		lose_big(ev, mask);
		return NULL;
	}
	raw = tacho_scratch_take();
	for (; !raw && mask; mask &= mask - 1) {
		struct runtime_session *s =
			prepare(ev, (uint32_t)__builtin_ctzll(mask), &id);

		if (s)
			tacho_ring_lose(&s->view.ring, TACHO_LOSS_BUSY);
	}
	return raw;
}

void tacho_scratch_put(void *raw)
{
	for (size_t i = 0; raw && i < TACHO_ARRAY_SIZE(scratch); i++)
		if (scratch[i].raw == raw)
			tacho_store_release(&scratch[i].busy, 0);	/* [scratch] */
}

static struct tacho_control *emit_control(uint32_t bit)
{
	int saved = errno;
	struct runtime_session *s = bit < TACHO_SESSIONS_MAX ? tacho_attach_live(bit) : NULL;

	errno = saved;
	return s ? s->view.ctl : NULL;
}

void tacho_emit_fork(void)
{
	/* the threads that used them are not in this process */
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(scratch); i++)
		tacho_store_relaxed(&scratch[i].busy, 0);
	memset(&tacho_self, 0, sizeof(tacho_self));
	/* the thread that was compiling does not exist in this process */
	for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++) {
		struct runtime_session *s = tacho_runtime.session[bit];

		if (s)
			tacho_store_relaxed(&s->compiling, 0);
	}
}

const struct tacho_event_ops tacho_emit_ops = {
	.struct_size = sizeof(tacho_emit_ops),
	.write = emit_write,
	.scratch_get = emit_scratch_get,
	.scratch_put = tacho_scratch_put,
	.write1 = emit_write1,
	.write2 = emit_write2,
	.write3 = emit_write3,
	.write4 = emit_write4,
	.write_mask = emit_write_mask,
	.control = emit_control,
};
