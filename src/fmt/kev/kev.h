/* SPDX-License-Identifier: MIT */
/*
 * kev.h - converts slots of a QNX trace to events: completes times, joins combine events.
 *
 *	struct tacho_kev_parser *p = tacho_kev_parser_new(swap);
 *
 *	while (there is a slot)
 *		if (tacho_kev_parse(p, slot, offset, &event))
 *			use(&event);
 *	while (tacho_kev_parse_end(p, &event))
 *		use(&event);
 *	tacho_kev_parser_free(p);
 *
 * One slot yields at most one event.  The parser is independent of files, types and records, and
 * uses bounded memory: another reader needs only this, file.h for the header, and rows.h for the
 * numbers.
 *
 * Time.  The high half is that of the CPU's last CONTROL/TIME event.  Before the first one it is
 * that of tacho_kev_parser_seed().  If the low half falls by more than half of its range without
 * a TIME event, it has wrapped.
 *
 * Combine events.  A part belongs to the beginning with the same time, class, event and CPU; any
 * number (up to a limit) may be open at the same time.  Incomplete ones are returned as they are:
 *	UNFINISHED	a beginning, with its parts so far, without an end: at the end of the
 *			trace, when another begins with the same identification, when too many are
 *			open or one is too long
 *	ORPHAN		a part without a beginning
 *
 * One parser is used by one thread at a time.
 */
#ifndef TACHO_FMT_KEV_KEV_H
#define TACHO_FMT_KEV_KEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "fmt/kev/layout.h"

/* Words of one combine event, and how many may be open. */
#define TACHO_KEV_WORDS_MAX	16000u
#define TACHO_KEV_OPEN_MAX	64u

enum tacho_kev_event_kind {
	TACHO_KEV_WHOLE,
	TACHO_KEV_UNFINISHED,
	TACHO_KEV_ORPHAN,
};

struct tacho_kev_event {
	enum tacho_kev_event_kind kind;
	uint32_t header;	/* of its first slot, this machine's order */
	uint32_t stamp;		/* low half of its time */
	uint64_t time;		/* cycles */
	uint64_t offset;	/* as tacho_kev_parse() was told, of its first slot */
	const unsigned char *data;	/* words, in the file's order; valid until the
					   next call */
	uint32_t words;		/* an even number; 2 in a simple event */
	const char *problem;	/* static; NULL: nothing is wrong */
	uint64_t problem_at;	/* offset */
};

/* The state of a CPU's clock. */
struct tacho_kev_cpu {
	uint64_t high;		/* in place */
	uint32_t low;		/* of its last event */
	bool seen, timed;	/* an event, a TIME event */
};

struct tacho_kev_parser {
	struct tacho_kev_cpu cpu[TACHO_KEV_CPUS];
	bool any_timed;		/* a TIME event on any CPU, also one that is to come */
	uint64_t any;		/* its time: what a CPU without one goes by */
	bool swap;		/* slots are of the other byte order */
	struct tacho_kev_open *open;	/* of OPEN_MAX */
	uint32_t nr_open;	/* the first so many are in use, in order of age */
	bool no_memory;		/* for a combine event: what comes is not all there is; sticks */
	unsigned char simple[8];
	unsigned char *out;	/* words of the event that was handed out */
};

/* NULL: no memory. */
struct tacho_kev_parser *tacho_kev_parser_new(bool swap);
void tacho_kev_parser_free(struct tacho_kev_parser *p);

/* Resets the parser; discards open events. */
void tacho_kev_parser_reset(struct tacho_kev_parser *p);

/*
 * Sets a later time of a CPU, msb and lsb, from a TIME event that follows: events before it on
 * the CPU are at most one wrap earlier.  The first one set is used for CPUs without one.
 */
void tacho_kev_parser_seed(struct tacho_kev_parser *p, uint32_t cpu, uint32_t msb,
			   uint32_t lsb);

/*
 * Processes a slot; offset: its place in the input. true: *event is an event.  A part of an event
 * whose end is to follow is stored.
 */
bool tacho_kev_parse(struct tacho_kev_parser *p, const unsigned char *slot,
		     uint64_t offset, struct tacho_kev_event *event);

/* Called after the last slot: returns the open events, one per call; false: no more. */
bool tacho_kev_parse_end(struct tacho_kev_parser *p, struct tacho_kev_event *event);

/* The time with this low half that is nearest to the time of another CPU. */
static inline uint64_t tacho_kev_near_time(uint64_t time, uint32_t low)
{
	int32_t away = (int32_t)(low - (uint32_t)time);

	return away < 0 && time < (uint64_t)-(int64_t)away ? low : time + (uint64_t)(int64_t)away;
}

/*
 * The full time of a simple event, or of a combine event's beginning; what
 * tacho_kev_parse() does itself.  *problem as in struct tacho_kev_event.
 */
uint64_t tacho_kev_time_slow(struct tacho_kev_parser *p, uint32_t header,
			     uint32_t stamp, const unsigned char *data,
			     const char **problem);

static TACHO_ALWAYS_INLINE uint64_t
tacho_kev_time(struct tacho_kev_parser *p, uint32_t header, uint32_t stamp,
	       const unsigned char *data, const char **problem)
{
	struct tacho_kev_cpu *c = &p->cpu[TACHO_KEV_CPU(header)];

	if (tacho_unlikely(stamp < c->low || !c->seen ||
			   TACHO_KEV_CODE(header) == TACHO_KEV_TIME))
		return tacho_kev_time_slow(p, header, stamp, data, problem);
	c->low = stamp;
	return c->high | stamp;
}

#endif
