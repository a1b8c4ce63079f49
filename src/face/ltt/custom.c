// SPDX-License-Identifier: MIT
/*
 * <ltt/trace.h>.
 *
 * The list of events, the callbacks and the mask are under one lock.  It is not held
 * while something is recorded or a callback runs: both may come back here.
 */
#include <ltt/trace.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "face/ltt/record.h"

#define CALLBACKS_MAX	64
#define IDS_OF_PROCESS	256
#define FORCED	(TRACE_EVENT_BIT(TRACE_START) | TRACE_EVENT_BIT(TRACE_BUFFER_START) | \
		 TRACE_EVENT_BIT(TRACE_CHANGE_MASK))

struct event {
	trace_new_event is;	/* as it is recorded; id 0: a free place */
	pid_t owner;		/* 0: nobody */
};

struct callback {
	tracer_callback fn;
	uint8_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event events[TRACE_CUSTOM_EVENTS_MAX];
static struct callback callbacks[CALLBACKS_MAX];
static int nr_callbacks;
static trace_event_mask mask = TRACE_EVENT_MASK_ALL;
static pid_t ids_of;		/* the process that `made` counts for */
static uint32_t made;
static bool was_on, attached;

/* ---- fork: a child has the events, and ids of its own for new ones ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static __attribute__((constructor)) void begin(void)
{
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- telling ---- */

static bool is_traced(uint32_t id)
{
	bool yes;

	pthread_mutex_lock(&lock);
	yes = mask >> id & 1;
	pthread_mutex_unlock(&lock);
	return yes;
}

static void call_back(uint8_t id, void *event)
{
	struct callback list[CALLBACKS_MAX];
	int n;

	pthread_mutex_lock(&lock);
	n = nr_callbacks;
	memcpy(list, callbacks, sizeof(list[0]) * (size_t)n);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		if (list[i].id == id)
			list[i].fn(id, event);
}

static void tell(const trace_new_event *e)
{
	ltt_record_new_event(e->id, e->type, e->desc, e->format_type, e->form);
}

void trace_reregister_custom_events(void)
{
	struct event *copy = malloc(sizeof(events));

	if (!copy)
		return;
	pthread_mutex_lock(&lock);
	memcpy(copy, events, sizeof(events));
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < TRACE_CUSTOM_EVENTS_MAX; i++)
		if (copy[i].is.id && is_traced(TRACE_NEW_EVENT))
			tell(&copy[i].is);
	free(copy);
}

/* Who began to record since the last event has not seen what the others are. */
static void tell_newcomers(void)
{
	bool on = ltt_new_event_is_on(), fresh;

	pthread_mutex_lock(&lock);
	fresh = on && !was_on;
	was_on = on;
	pthread_mutex_unlock(&lock);
	if (fresh)
		trace_reregister_custom_events();
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
	for (int i = 0; id && i < TRACE_CUSTOM_EVENTS_MAX; i++)
		if (events[i].is.id == (uint32_t)id)
			return &events[i];
	return NULL;
}

/* A free place, or that of an event whose owner is no more. */
static struct event *free_place(void)
{
	for (int i = 0; i < TRACE_CUSTOM_EVENTS_MAX; i++) {
		struct event *e = &events[i];

		if (!e->is.id || (e->owner && kill(e->owner, 0) && errno == ESRCH))
			return e;
	}
	return NULL;
}

int trace_create_owned_event(const char *type, const char *desc, int format_type,
			     const char *form, pid_t owner)
{
	struct event new = { .owner = owner };
	struct event *place;

	if (format_type < CUSTOM_EVENT_FORMAT_TYPE_NONE ||
	    format_type > CUSTOM_EVENT_FORMAT_TYPE_IBM || owner < 0)
		return -EINVAL;
	take_text(new.is.type, sizeof(new.is.type), type);
	take_text(new.is.desc, sizeof(new.is.desc), desc);
	take_text(new.is.form, sizeof(new.is.form), form);
	new.is.format_type = (uint32_t)format_type;
	tell_newcomers();
	pthread_mutex_lock(&lock);
	place = free_place();
	new.is.id = place ? new_id() : 0;
	if (new.is.id)
		*place = new;
	pthread_mutex_unlock(&lock);
	if (!new.is.id)
		return -ENOMEM;
	if (is_traced(TRACE_NEW_EVENT))
		tell(&new.is);
	call_back(TRACE_NEW_EVENT, &new.is);
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
		e->is.id = 0;
	pthread_mutex_unlock(&lock);
}

void trace_destroy_owners_events(pid_t owner)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; owner > 0 && i < TRACE_CUSTOM_EVENTS_MAX; i++)
		if (events[i].owner == owner)
			events[i].is.id = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- recording ---- */

/* Whether there is such an event; desc, of 100 bytes, may be NULL. */
static bool look_up(int id, char *desc)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = find(id);
	if (e && e->owner && e->owner != getpid() && kill(e->owner, 0) &&
	    errno == ESRCH) {
		e->is.id = 0;
		e = NULL;
	}
	if (e && desc)
		memcpy(desc, e->is.desc, sizeof(e->is.desc));
	pthread_mutex_unlock(&lock);
	return e;
}

static void record(int id, uint32_t size, const void *data)
{
	struct trace_custom_event e = { { (uint32_t)id, size }, data };

	tell_newcomers();
	if (is_traced(TRACE_CUSTOM))
		ltt_record_custom((uint32_t)id, size, data);
	call_back(TRACE_CUSTOM, &e);
}

int trace_raw_event(int id, int size, const void *data)
{
	if (size < 0 || (size && !data))
		return -EINVAL;
	if (!look_up(id, NULL))
		return -ENOMEDIUM;
	record(id, size > CUSTOM_EVENT_MAX_SIZE ? CUSTOM_EVENT_MAX_SIZE : (uint32_t)size,
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
	int n;

	if (!look_up(id, desc))
		return -ENOMEDIUM;
	va_start(ap, id);
	n = format(text, sizeof(text), desc, ap);
	va_end(ap);
	if (n < 0)
		return -EINVAL;
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	record(id, (uint32_t)n + 1, text);
	return 0;
}

/* ---- callbacks ---- */

int trace_register_callback(tracer_callback fn, uint8_t event_id)
{
	int ret = -ENOMEM;

	if (!fn || (event_id != TRACE_NEW_EVENT && event_id != TRACE_CUSTOM &&
		    event_id != TRACE_CHANGE_MASK))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	if (nr_callbacks < CALLBACKS_MAX) {
		callbacks[nr_callbacks++] = (struct callback){ fn, event_id };
		ret = 0;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int trace_unregister_callback(tracer_callback fn, uint8_t event_id)
{
	int ret = -ENOMEDIUM;

	pthread_mutex_lock(&lock);
	for (int i = 0; ret && i < nr_callbacks; i++)
		if (callbacks[i].fn == fn && callbacks[i].id == event_id) {
			nr_callbacks--;
			memmove(&callbacks[i], &callbacks[i + 1],
				sizeof(callbacks[0]) * (size_t)(nr_callbacks - i));
			ret = 0;
		}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* ---- the library for programs ---- */

static bool is_attached(void)
{
	bool yes;

	pthread_mutex_lock(&lock);
	yes = attached;
	pthread_mutex_unlock(&lock);
	return yes;
}

static int set_attached(bool yes)
{
	pthread_mutex_lock(&lock);
	attached = yes;
	pthread_mutex_unlock(&lock);
	return 0;
}

int trace_attach(void)
{
	return set_attached(true);
}

int trace_detach(void)
{
	return is_attached() ? set_attached(false) : -1;
}

int trace_user_event(int id, int size, const void *data)
{
	return is_attached() ? trace_raw_event(id, size, data) : -1;
}

int trace_set_event_mask(trace_event_mask new)
{
	trace_change_mask e = { new };

	if (!is_attached())
		return -1;
	ltt_record_change_mask(new);
	pthread_mutex_lock(&lock);
	mask = new | FORCED;
	pthread_mutex_unlock(&lock);
	call_back(TRACE_CHANGE_MASK, &e);
	return 0;
}

int trace_get_event_mask(trace_event_mask *now)
{
	if (!is_attached())
		return -1;
	pthread_mutex_lock(&lock);
	*now = mask;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* One bit, on or off. */
static int set_bit(int event_id, bool on)
{
	trace_event_mask now;

	if (trace_get_event_mask(&now))
		return -1;
	if (event_id < 0 || event_id > TRACE_MAX)
		return -EINVAL;
	now = on ? now | TRACE_EVENT_BIT(event_id) : now & ~TRACE_EVENT_BIT(event_id);
	return trace_set_event_mask(now);
}

int trace_enable_event_trace(int event_id)
{
	return set_bit(event_id, true);
}

int trace_disable_event_trace(int event_id)
{
	return set_bit(event_id, false);
}

int trace_is_event_traced(int event_id)
{
	if (!is_attached())
		return -1;
	return event_id >= 0 && event_id <= TRACE_MAX && is_traced((uint32_t)event_id);
}
