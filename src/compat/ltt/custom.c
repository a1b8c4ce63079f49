// SPDX-License-Identifier: MIT
/*
 * Custom events: declaring them, recording them.
 *
 * The list of events is under a lock.  It is not held while something is recorded or a callback
 * runs: both may come back here.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/ltt/event.h"
#include "sys/process.h"
#include "tacho/abi/shm.h"

#define IDS_OF_PROCESS	256
#define CPUS		64u	/* more of them share a place, and tell more often */

struct event {
	trace_new_event is;	/* as it is recorded; id 0: a free place */
	pid_t owner;		/* 0: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event events[TRACE_CUSTOM_EVENTS_MAX];
static pid_t ids_of;		/* the process that `made` counts for */
static uint32_t made;
/* Where events are, + 1, by the low byte of their ids, or after there; 0 ends the search. */
static uint8_t place_of[256];
/* Sessions that know all events, by bit: as ltt_event_session() has them. */
static uint64_t told[TACHO_SESSIONS_MAX];
/* Of flight recorders, by event: in which sub-buffer of this CPU's it was told last. */
static uint64_t announced_in[TRACE_CUSTOM_EVENTS_MAX][CPUS];

/* A child of fork() has the events, and ids of its own for new ones. */
void ltt_custom_lock(void)
{
	pthread_mutex_lock(&lock);
}

void ltt_custom_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- telling ---- */

static void tell(const trace_new_event *is, uint64_t sessions)
{
	struct ltt_event *e = ltt_event_of(TRACE_NEW_EVENT, 0);

	if (e)
		ltt_event_record(e, is, (struct ltt_data){ NULL, 0 },
				 ltt_event_let(e, is) & sessions);
}

static void tell_all(uint64_t sessions)
{
	struct event *copy = malloc(sizeof(events));

	if (!copy)
		return;
	pthread_mutex_lock(&lock);
	memcpy(copy, events, sizeof(events));
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < TRACE_CUSTOM_EVENTS_MAX; i++)
		if (copy[i].is.id)
			tell(&copy[i].is, sessions);
	free(copy);
}

void trace_reregister_custom_events(void)
{
	tell_all(UINT64_MAX);
}

/*
 * Tells those of the sessions that have not seen yet what the events are, but for flight
 * recorders: which ones are those.
 */
static uint64_t tell_newcomers(const struct ltt_event *e, uint64_t sessions)
{
	uint64_t fresh = 0, flights = 0;

	for (; sessions; sessions &= sessions - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(sessions);

		if (ltt_event_is_flight(e, bit))
			flights |= UINT64_C(1) << bit;
		else if (ltt_event_session(e, bit) != tacho_load_relaxed(&told[bit]))
			fresh |= UINT64_C(1) << bit;
	}
	if (fresh)
		tell_all(fresh);
	/* two threads at once both tell: no event comes before what it is */
	for (; fresh; fresh &= fresh - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(fresh);

		tacho_store_relaxed(&told[bit], ltt_event_session(e, bit));
	}
	return flights;
}

/*
 * A flight recorder forgets its oldest sub-buffer: in each there is to stand what the events in
 * it are.
 */
static void tell_again(const struct ltt_event *e, uint32_t place, uint32_t id,
		       uint64_t flights)
{
	uint32_t cpu = (uint32_t)sched_getcpu();
	uint64_t in = id, *last = &announced_in[place][cpu % CPUS];
	trace_new_event is;

	for (uint64_t left = flights; left; left &= left - 1)
		in = in * UINT64_C(0x9e3779b97f4a7c15) +
		     ltt_event_sub_buffer(e, (uint32_t)__builtin_ctzll(left), cpu);
	if (in == tacho_load_relaxed(last))
		return;
	pthread_mutex_lock(&lock);
	is = events[place].is;
	pthread_mutex_unlock(&lock);
	if (is.id == id)
		tell(&is, flights);
	tacho_store_relaxed(last, in);
}

/* Before an event of this id is recorded in these sessions. */
static void tell_first(uint32_t place, uint32_t id, uint64_t sessions)
{
	const struct ltt_event *e = ltt_event_of(TRACE_NEW_EVENT, 0);
	uint64_t flights;

	if (!e)
		return;
	/* by a mask a session may have custom events and not what they are */
	flights = tell_newcomers(e, sessions & ltt_event_let(e, NULL));
	if (flights)
		tell_again(e, place, id, flights);
}

/* ---- declaring ---- */

static void take_text(char *to, size_t size, const char *from)
{
	if (from)
		strncpy(to, from, size - 1);
}

/* Under the lock; 0: there is no more. */
static uint32_t new_id(void)
{
	pid_t pid = getpid();

	if (ids_of != pid) {
		ids_of = pid;
		made = 0;
	}
	if (TRACE_MAX + 1 + made >= IDS_OF_PROCESS)
		return 0;
	return (uint32_t)pid * IDS_OF_PROCESS + TRACE_MAX + 1 + made++;
}

static struct event *find(int id)
{
	uint8_t at = (uint8_t)id;

	for (; place_of[at]; at++)
		if (events[place_of[at] - 1].is.id == (uint32_t)id)
			return &events[place_of[at] - 1];
	return NULL;
}

/* After a change of ids. */
static void make_places(void)
{
	memset(place_of, 0, sizeof(place_of));
	for (uint32_t i = 0; i < TRACE_CUSTOM_EVENTS_MAX; i++) {
		uint8_t at = (uint8_t)events[i].is.id;

		if (!events[i].is.id)
			continue;
		while (place_of[at])
			at++;
		place_of[at] = (uint8_t)(i + 1);
	}
}

static void forget(struct event *e)
{
	e->is.id = 0;
	make_places();
}

/* A free place, or that of an event whose owner is no more. */
static struct event *free_place(void)
{
	for (int i = 0; i < TRACE_CUSTOM_EVENTS_MAX; i++) {
		struct event *e = &events[i];

		if (!e->is.id || (e->owner && !tacho_process_runs(e->owner)))
			return e;
	}
	return NULL;
}

int trace_create_owned_event(const char *type, const char *desc, int format_type,
			     const char *form, pid_t owner)
{
	struct event new = { .owner = owner };
	struct event *place;
	struct ltt_event *e;

	if (format_type < CUSTOM_EVENT_FORMAT_TYPE_NONE ||
	    format_type > CUSTOM_EVENT_FORMAT_TYPE_IBM || owner < 0)
		return -EINVAL;
	take_text(new.is.type, sizeof(new.is.type), type);
	take_text(new.is.desc, sizeof(new.is.desc), desc);
	take_text(new.is.form, sizeof(new.is.form), form);
	new.is.format_type = (uint32_t)format_type;
	e = ltt_event_of(TRACE_NEW_EVENT, 0);
	if (e)
		(void)tell_newcomers(e, ltt_event_let(e, &new.is));
	pthread_mutex_lock(&lock);
	place = free_place();
	new.is.id = place ? new_id() : 0;
	if (new.is.id) {
		*place = new;
		make_places();
	}
	pthread_mutex_unlock(&lock);
	if (!new.is.id)
		return -ENOMEM;
	tell(&new.is, UINT64_MAX);
	ltt_call_back(TRACE_NEW_EVENT, &new.is);
	return (int)new.is.id;
}

int trace_create_event(const char *type, const char *desc, int format_type,
		       const char *form)
{
	return trace_create_owned_event(type, desc, format_type, form, 0);
}

void trace_destroy_event(int id)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = find(id);
	if (e)
		forget(e);
	pthread_mutex_unlock(&lock);
}

void trace_destroy_owners_events(pid_t owner)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; owner > 0 && i < TRACE_CUSTOM_EVENTS_MAX; i++)
		if (events[i].is.id && events[i].owner == owner)
			forget(&events[i]);
	pthread_mutex_unlock(&lock);
}

/* ---- recording ---- */

/* Where the event is, or -1: there is none.  desc, of 100 bytes, may be NULL. */
static int look_up(int id, char *desc)
{
	struct event *e;
	int place;

	pthread_mutex_lock(&lock);
	e = find(id);
	if (e && e->owner && e->owner != getpid() && !tacho_process_runs(e->owner)) {
		forget(e);
		e = NULL;
	}
	if (e && desc)
		memcpy(desc, e->is.desc, sizeof(e->is.desc));
	place = e ? (int)(e - events) : -1;
	pthread_mutex_unlock(&lock);
	return place;
}

static void record(int place, int id, uint32_t size, const void *data)
{
	struct trace_custom_event e = { { (uint32_t)id, size }, data };
	struct ltt_event *to = ltt_event_of(TRACE_CUSTOM, 0);
	uint64_t let = to ? ltt_event_let(to, &e.custom) : 0;

	if (let) {
		tell_first((uint32_t)place, (uint32_t)id, let);
		ltt_event_record(to, &e.custom, (struct ltt_data){ data, size }, let);
	}
	ltt_call_back(TRACE_CUSTOM, &e);
}

int trace_raw_event(int id, int size, const void *data)
{
	int place;

	if (size < 0 || (size && !data))
		return -EINVAL;
	place = look_up(id, NULL);
	if (place < 0)
		return -ENOMEDIUM;
	record(place, id, size > CUSTOM_EVENT_MAX_SIZE ? CUSTOM_EVENT_MAX_SIZE : (uint32_t)size,
	       data ? data : "");
	return 0;
}

/* The format is the caller's own, from when the event was made. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int format(char *text, size_t size, const char *desc, va_list ap)
{
	return vsnprintf(text, size, desc, ap);
}
#pragma GCC diagnostic pop

int trace_std_formatted_event(int id, ...)
{
	char desc[CUSTOM_EVENT_DESC_STR_LEN], text[CUSTOM_EVENT_FINAL_STR_LEN];
	va_list ap;
	int n, place = look_up(id, desc);

	if (place < 0)
		return -ENOMEDIUM;
	va_start(ap, id);
	n = format(text, sizeof(text), desc, ap);
	va_end(ap);
	if (n < 0)
		return -EINVAL;
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	record(place, id, (uint32_t)n + 1, text);
	return 0;
}
