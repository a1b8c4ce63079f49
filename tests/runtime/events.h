/* SPDX-License-Identifier: MIT */
/* events.h - tracepoints made by hand, so that the runtime is tested without macros. */
#ifndef TACHO_TESTS_PROBE_EVENTS_H
#define TACHO_TESTS_PROBE_EVENTS_H

#include <string.h>

#include "tacho/abi/site.h"

static const uint64_t off_word[2];

struct count_raw {
	struct tacho_common common;
	uint64_t writer;
	uint64_t number;
};

static const struct tacho_event_field count_fields[] = {
	{ "unsigned long writer", 8, 8, 0, 8 },
	{ "unsigned long number", 16, 8, 0, 8 },
};

#define COUNT_EVENT(sys, ev)						\
static struct tacho_event event_##ev = {				\
	.struct_size = sizeof(struct tacho_event),			\
	.state = off_word, .system = #sys, .name = #ev,		\
	.fields = count_fields, .nr_fields = 2,				\
	.print_fmt = "\"writer=%lu number=%lu\", REC->writer, REC->number", \
}

COUNT_EVENT(test, count);
COUNT_EVENT(test, other);

static struct tacho_event *const all_events[] = { &event_count, &event_other };

static struct tacho_object object = {
	.struct_size = sizeof(object),
	.events = all_events, .events_end = all_events + 2,
};

/* One hit, as the macros would do it. */
static inline void hit(struct tacho_event *ev, uint64_t writer, uint64_t number)
{
	const uint64_t *state = __atomic_load_n(&ev->state, __ATOMIC_ACQUIRE);
	struct count_raw raw;

	if (!__atomic_load_n(state, __ATOMIC_RELAXED))
		return;
	raw.writer = writer;
	raw.number = number;
	ev->ops->write(ev, &raw, sizeof(raw));
}

#endif
