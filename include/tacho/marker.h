/* SPDX-License-Identifier: MIT */
/*
 * <tacho/marker.h> - one line for a span, a counter or an instant event.
 *
 * Link with -ltacho.
 *
 *	TACHO_SPAN("parse");		from here to the end of the scope
 *	TACHO_BEGIN("send");		... TACHO_END("send");
 *	TACHO_COUNTER("queued", n);	a new value of the counter
 *	TACHO_MARK("reload");		an instant event
 *
 * Names are C strings.  The name of a span must remain valid until the span ends.  Spans
 * of one thread nest.  The events are
 *
 *	marker:begin	__data_loc char[] name
 *	marker:end	__data_loc char[] name
 *	marker:counter	s64 value; __data_loc char[] name
 *	marker:instant	__data_loc char[] name
 *
 * and a viewer matches the begin and end events of a thread.  TACHO_SPAN records its end
 * only if it recorded its beginning.  It ends on return, break and C++ exceptions, but not
 * on longjmp() and pthread_exit().
 *
 * TACHO_DISABLE: arguments are checked but never evaluated, and no code is generated.
 */
#ifndef TACHO_MARKER_H
#define TACHO_MARKER_H

#include <stdint.h>

#include "tacho/impl/macro.h"

static inline TACHO_MAYBE_UNUSED void tacho_marker_check(const char *name,
							 int64_t value)
{
	(void)name;
	(void)value;
}

#ifdef TACHO_DISABLE

#define TACHO_MARKER_NOTHING(name, value)				\
	do {								\
		if (0)							\
			tacho_marker_check(name, value);		\
	} while (0)
#define TACHO_BEGIN(name)		TACHO_MARKER_NOTHING(name, 0)
#define TACHO_END(name)			TACHO_MARKER_NOTHING(name, 0)
#define TACHO_MARK(name)		TACHO_MARKER_NOTHING(name, 0)
#define TACHO_COUNTER(name, value)	TACHO_MARKER_NOTHING(name, value)
#define TACHO_SPAN(name)		TACHO_MARKER_NOTHING(name, 0)

#else

#include "tacho/impl/object.h"
#include "tacho/impl/raw.h"
#include "tacho/tracepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

extern struct tacho_event tacho_marker_begin, tacho_marker_end,
	tacho_marker_counter, tacho_marker_instant;

/*
 * Records the event, with the value if it has one (two fields).
 * Returns false if no session has it enabled.
 */
bool tacho_marker_write(struct tacho_event *ev, const char *name,
			int64_t value);

#define TACHO_MARKER_NAME \
	{ "__data_loc char[] name", 0, 4, TACHO_SIGNED(char), 4 }

static struct tacho_event_field tacho_marker_fields[] = {
	TACHO_MARKER_NAME,
	{ NULL, 12, 0, 0, 0 },
};

static struct tacho_event_field tacho_counter_fields[] = {
	{ "s64 value", 0, 8, 1, 8 },
	TACHO_MARKER_NAME,
	{ NULL, 20, 0, 0, 0 },
};

#define TACHO_MARKER_EVENT(id, nr, fields, print)			\
	TACHO_PER_OBJECT TACHO_SDT_EVENT				\
	struct tacho_event tacho_marker_##id = {			\
		sizeof(struct tacho_event), 0, 0, tacho_state_off, NULL, 0, \
		nr, "marker", #id, fields, print, NULL			\
	}

TACHO_MARKER_EVENT(begin, 1, tacho_marker_fields, "\"%s\", __get_str(name)");
TACHO_MARKER_EVENT(end, 1, tacho_marker_fields, "\"%s\", __get_str(name)");
TACHO_MARKER_EVENT(instant, 1, tacho_marker_fields, "\"%s\", __get_str(name)");
TACHO_MARKER_EVENT(counter, 2, tacho_counter_fields,
		   "\"%s=%lld\", __get_str(name), REC->value");

static TACHO_SECTION("tacho_events")
struct tacho_event *tacho_marker_pointers[] = {
	&tacho_marker_begin, &tacho_marker_end, &tacho_marker_counter,
	&tacho_marker_instant,
};

TACHO_OUT_OF_LINE TACHO_PER_OBJECT
bool tacho_marker_write(struct tacho_event *ev, const char *name, int64_t value)
{
	const struct tacho_event_ops *ops;
	const size_t fixed = ev->nr_fields == 2 ? 20 : 12;
	uint64_t stack[TACHO_STACK_RAW / 8];
	struct tacho_string string;
	uint32_t word;
	size_t len;
	char *raw;

	if (!tacho_event_recorded(ev))
		return false;
	ops = tacho_event_ops(ev);
	len = tacho_room(fixed, tacho_string_bytes(&string, name, SIZE_MAX), &word);
	raw = (char *)tacho_raw_begin(ev, ops, stack, sizeof(stack), fixed, len);
	if (!raw)
		return true;
	if (ev->nr_fields == 2)
		memcpy(raw + 8, &value, sizeof(value));
	memcpy(raw + fixed - sizeof(word), &word, sizeof(word));
	tacho_put_string(raw + fixed, string.len + 1, &string);
	ops->write(ev, raw, len);
	if (raw != (char *)stack)
		ops->scratch_put(raw);
	return true;
}

#ifdef __cplusplus
}
#endif

TACHO_INLINE void tacho_mark_begin(const char *name)
{
	if (tacho_event_enabled(&tacho_marker_begin)) {
		TACHO_SDT_GUARDED("tacho_marker_begin", "marker", "begin", (name));
		tacho_marker_write(&tacho_marker_begin, name, 0);
	}
}

TACHO_INLINE void tacho_mark_end(const char *name)
{
	if (tacho_event_enabled(&tacho_marker_end)) {
		TACHO_SDT_GUARDED("tacho_marker_end", "marker", "end", (name));
		tacho_marker_write(&tacho_marker_end, name, 0);
	}
}

TACHO_INLINE void tacho_mark_counter(const char *name, int64_t value)
{
	if (tacho_event_enabled(&tacho_marker_counter)) {
		TACHO_SDT_GUARDED("tacho_marker_counter", "marker", "counter", (name, value));
		tacho_marker_write(&tacho_marker_counter, name, value);
	}
}

TACHO_INLINE void tacho_mark_instant(const char *name)
{
	if (tacho_event_enabled(&tacho_marker_instant)) {
		TACHO_SDT_GUARDED("tacho_marker_instant", "marker", "instant", (name));
		tacho_marker_write(&tacho_marker_instant, name, 0);
	}
}

struct tacho_span {
	const char *name;
	bool begun;		/* its beginning was recorded, so its end must be */
#ifdef __cplusplus
	inline explicit tacho_span(const char *text);
	inline ~tacho_span();
	tacho_span(const tacho_span &) = delete;
	tacho_span &operator=(const tacho_span &) = delete;
#endif
};

TACHO_INLINE bool tacho_span_start(const char *name)
{
	if (!tacho_event_enabled(&tacho_marker_begin))
		return false;
	TACHO_SDT_GUARDED("tacho_marker_begin", "marker", "begin", (name));
	return tacho_marker_write(&tacho_marker_begin, name, 0);
}

TACHO_INLINE void tacho_span_finish(const struct tacho_span *span)
{
	if (__builtin_expect(!(span->begun | TACHO_SDT_USERS(&tacho_marker_end)), 1))
		return;
	TACHO_SDT_GUARDED("tacho_marker_end", "marker", "end", (span->name));
	if (span->begun)
		tacho_marker_write(&tacho_marker_end, span->name, 0);
}

#ifdef __cplusplus
inline __attribute__((always_inline))
tacho_span::tacho_span(const char *text)
	: name(text), begun(tacho_span_start(text))
{
}
inline __attribute__((always_inline)) tacho_span::~tacho_span()
{
	tacho_span_finish(this);
}
#define TACHO_SPAN_(id, text)	const struct tacho_span id(text)
#else
#define TACHO_SPAN_(id, text)						\
	const struct tacho_span id					\
		__attribute__((cleanup(tacho_span_finish), unused)) =	\
		tacho_span_enter(text)

TACHO_INLINE struct tacho_span tacho_span_enter(const char *name)
{
	struct tacho_span span;

	span.name = name;
	span.begun = tacho_span_start(name);
	return span;
}
#endif

#define TACHO_SPAN(name)	TACHO_SPAN_(TACHO_CAT(tacho_span_, __COUNTER__), name)
#define TACHO_BEGIN(name)	tacho_mark_begin(name)
#define TACHO_END(name)		tacho_mark_end(name)
#define TACHO_MARK(name)	tacho_mark_instant(name)
#define TACHO_COUNTER(name, value) tacho_mark_counter(name, (int64_t)(value))

#endif

#endif
