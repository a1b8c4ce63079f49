// SPDX-License-Identifier: MIT
/* LTT's events as tacho's: registering them, judging them, recording them. */
#include "compat/ltt/event.h"

#include <pthread.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "compat/ltt/tracer.h"
#include "compat/event_from_type.h"
#include "ring/ring.h"

#define EVENTS_MAX	64u
#define SUBS_MAX	16u
#define ARENA_MAX	((size_t)4 << 20)
#define STACK_RAW	512u
#define LAYOUT		(sizeof(void *) == 8 ? TACHO_LTT_64 : TACHO_LTT_32)

/* What an event points at before it is registered, and if that fails. */
static const uint64_t state_off[2];
static const struct ltt_state nobodys;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint32_t ready;		/* the rest is valid; stored last */
	uint32_t nr;
	struct ltt_event event[EVENTS_MAX];
	struct ltt_event *of[TRACE_MAX + 1][SUBS_MAX];
	struct tacho_event *list[2 * EVENTS_MAX];
	struct tacho_object object;
	struct tacho_arena arena;
	const struct ltt_state *state;
	uint64_t tried;		/* sessions that there were when it could not be mapped */
} all = { .state = &nobodys };

/* ---- fork ---- */

static void before_fork(void)
{
	ltt_control_lock();
	ltt_custom_lock();
	ltt_callback_lock();
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
	ltt_callback_unlock();
	ltt_custom_unlock();
	ltt_control_unlock();
}

static __attribute__((constructor)) void begin(void)
{
	static struct tacho_object nothing = {
		.struct_size = sizeof(nothing), .events = all.list, .events_end = all.list,
	};

	/* libtacho's lock is taken under ours: after its handlers, ours are called first */
	(void)tacho_object_register(&nothing);
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- registering ---- */

/* The writers of files generate the others. */
static bool is_programs(uint32_t id)
{
	return id != TRACE_START && id != TRACE_BUFFER_START && id != TRACE_BUFFER_END;
}

static bool describe(struct tacho_event *e, uint32_t type_id)
{
	const struct tacho_type *type = tacho_ltt_type(&all.arena, LAYOUT, false, type_id);

	e->struct_size = sizeof(*e);
	e->state = state_off;
	return type && tacho_event_from_type(e, type, &all.arena, 8);
}

static bool add(const struct tacho_ltt_event *is)
{
	struct ltt_event *e = &all.event[all.nr];

	if (all.nr == EVENTS_MAX || is->sub >= SUBS_MAX)
		return false;
	e->is = is;
	tacho_ltt_shape(&e->shape, LAYOUT, false, is->id);
	if (!describe(&e->full, is->id == TRACE_CUSTOM ? LTT_TYPE_CUSTOM :
		      LTT_TYPE(is->id, is->sub)) ||
	    !describe(&e->bare, LTT_TYPE_BARE(is->id, is->sub)))
		return false;
	all.list[2 * all.nr] = &e->full;
	all.list[2 * all.nr + 1] = &e->bare;
	all.of[is->id][is->sub] = e;
	all.nr++;
	return true;
}

/* Under the lock.  A process that cannot be traced continues untraced. */
static void make_all(void)
{
	bool good = true;

	tacho_arena_init(&all.arena, ARENA_MAX);
	for (uint32_t i = 0; i < tacho_ltt_nr_events && good; i++)
		if (is_programs(tacho_ltt_events[i].id))
			good = add(&tacho_ltt_events[i]);
	if (good) {
		all.object = (struct tacho_object){
			.struct_size = sizeof(all.object), .events = all.list,
			.events_end = all.list + 2 * all.nr,
		};
		(void)tacho_object_register(&all.object);
	}
	tacho_store_release(&all.ready, good ? 1 : 2);	/* [ltt-ready] */
}

struct ltt_event *ltt_event_of(uint32_t id, uint32_t sub)
{
	if (tacho_unlikely(!tacho_load_acquire(&all.ready))) {	/* [ltt-ready] */
		pthread_mutex_lock(&lock);
		if (!all.ready)
			make_all();
		pthread_mutex_unlock(&lock);
	}
	if (id > TRACE_MAX || sub >= SUBS_MAX || tacho_load_relaxed(&all.ready) != 1)
		return NULL;
	return all.of[id][sub];
}

/* ---- judging ---- */

bool ltt_event_is_on(uint32_t id)
{
	uint64_t on = 0;

	if (id > TRACE_MAX)
		return false;
	if (!is_programs(id))
		id = TRACE_CHANGE_MASK;
	for (uint32_t sub = 0; sub < SUBS_MAX; sub++) {
		const struct ltt_event *e = ltt_event_of(id, sub);

		if (e)
			on |= tacho_load_relaxed(&e->full.state[0]) |
			      tacho_load_relaxed(&e->bare.state[0]);
	}
	return on;
}

uint64_t ltt_event_session(const struct ltt_event *e, uint32_t bit)
{
	const struct tacho_control *c = e->full.ops ? e->full.ops->control(bit) : NULL;
	uint32_t generation = c ? tacho_load_relaxed(&c->generation) : 0;

	return generation ? generation + UINT64_C(1) : 0;
}

bool ltt_event_is_flight(const struct ltt_event *e, uint32_t bit)
{
	const struct tacho_control *c = e->full.ops ? e->full.ops->control(bit) : NULL;

	return c && tacho_load_relaxed(&c->flags) & TACHO_SESSION_OVERWRITE;
}

uint64_t ltt_event_sub_buffer(const struct ltt_event *e, uint32_t bit, uint32_t cpu)
{
	const struct tacho_control *c = e->full.ops->control(bit);
	const struct tacho_lane *lane;

	if (!c || cpu >= tacho_load_relaxed(&c->nr_cpus))
		return 0;
	lane = (const void *)((const char *)c + TACHO_CONTROL_LANES_OFF +
			      ((size_t)cpu << TACHO_LANE_SHIFT));
	return (uint64_t)tacho_load_relaxed(&c->generation) << 32 |
	       tacho_load_relaxed(&lane->cursor) >> TACHO_CURSOR_SEQ_SHIFT;
}

static bool lets_through(const struct ltt_event *e, const void *event,
			 const struct ltt_entry *entry, uint32_t bit)
{
	uint32_t in;

	/* of a session that is no more */
	/* [ltt-session] */
	if (tacho_load_acquire(&entry->generation) != ltt_event_session(e, bit))
		return true;
	if (e->is->id == TRACE_CHANGE_MASK || ltt_who_has(&entry->who, 0))
		return true;
	if (e->is->id != TRACE_SCHEDCHANGE)
		return false;
	memcpy(&in, (const char *)event + e->shape.elem[1].at, sizeof(in));
	return in && ltt_who_has(&entry->who, (int32_t)in);
}

/* DIR/ltt, at the first event that somebody takes: the directory is there by then. */
static const struct ltt_state *map_state(uint64_t wanted)
{
	struct ltt_state *s;

	pthread_mutex_lock(&lock);
	if (all.state == &nobodys && all.tried != wanted) {
		tacho_store_relaxed(&all.tried, wanted);
		if (!ltt_state_map(&s, NULL))
			/* [ltt-state] */
			tacho_store_release(&all.state, (const struct ltt_state *)s);
	}
	pthread_mutex_unlock(&lock);
	return all.state;
}

uint64_t ltt_event_let(const struct ltt_event *e, const void *event)
{
	uint64_t wanted = tacho_load_relaxed(&e->full.state[0]) |
			  tacho_load_relaxed(&e->bare.state[0]), asked;
	const struct ltt_state *state = tacho_load_acquire(&all.state);	/* [ltt-state] */

	if (tacho_likely(!wanted))
		return 0;
	if (tacho_unlikely(state == &nobodys) && tacho_load_relaxed(&all.tried) != wanted)
		state = map_state(wanted);
	/* J2 of tracer.h */
	asked = wanted & tacho_load_acquire(&state->filtered);	/* [ltt-filtered] */
	for (; asked; asked &= asked - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(asked);

		if (!lets_through(e, event, &state->entry[bit], bit))
			wanted &= ~(UINT64_C(1) << bit);
	}
	return wanted;
}

/* ---- recording ---- */

/* The raw event: holes of the struct are zeros, whatever the caller's have. */
static void put(const struct ltt_event *e, char *raw, const char *event, struct ltt_data data,
		size_t len)
{
	uint32_t at = tacho_ltt_loc_at(&e->shape);

	memset(raw, 0, at + 4);
	for (uint32_t i = 0; i < e->shape.nr; i++)
		memcpy(raw + 8 + e->shape.elem[i].at, event + e->shape.elem[i].at,
		       e->shape.elem[i].size);
	if (e->is->data == TACHO_LTT_NO_DATA)
		return;
	tacho_put_u32(raw + at, (at + 4) | (uint32_t)(len - at - 4) << 16);
	memcpy(raw + at + 4, data.bytes, data.len);
	memset(raw + at + 4 + data.len, 0, ((len + 7) & ~(size_t)7) - at - 4 - data.len);
}

static void record_full(struct ltt_event *e, const void *event, struct ltt_data data,
			uint64_t sessions)
{
	uint64_t stack[STACK_RAW / 8];
	size_t len = 8 + e->shape.size;
	char *raw = (char *)stack;

	/* a name has a NUL after it */
	if (e->is->data != TACHO_LTT_NO_DATA)
		len = tacho_ltt_loc_at(&e->shape) + 4 + data.len +
		      (e->is->data == TACHO_LTT_NAME);
	if (len + 16 > sizeof(stack))
		raw = e->full.ops->scratch_get(&e->full, len + 16);
	if (!raw)
		return;
	put(e, raw, event, data, len);
	e->full.ops->write_mask(&e->full, raw, len, sessions);
	if (raw != (char *)stack)
		e->full.ops->scratch_put(raw);
}

void ltt_event_record(struct ltt_event *e, const void *event, struct ltt_data data,
		      uint64_t sessions)
{
	uint64_t full = tacho_load_relaxed(&e->full.state[0]) & sessions;
	uint64_t bare = tacho_load_relaxed(&e->bare.state[0]) & sessions & ~full;
	uint64_t raw[1] = { 0 };

	if (full)
		record_full(e, event, data, full);
	if (bare)
		e->bare.ops->write_mask(&e->bare, raw, 8, bare);
}
