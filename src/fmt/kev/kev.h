/* SPDX-License-Identifier: MIT */
/*
 * kev.h - slots of a QNX trace to events: time made whole, combine events stitched.
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
 * One slot makes at most one event.  The parser knows nothing of files, types or
 * records, and keeps a bounded amount of memory: what file.h says of the header, what
 * rows.h says of numbers, and this, are all that a reader of another kind needs.
 *
 * Time.  The high half is that of the CPU's last CONTROL/TIME event.  Until the first
 * of them it is what tacho_kev_parser_seed() was told.  When the low half falls by
 * more than half of its range and no TIME event says so, it has gone round.
 *
 * Combine events.  A part belongs to the beginning that has its time, class, event
 * and CPU; any number (up to a limit) may be open at once.  What is not whole comes
 * out as it is:
 *	UNFINISHED	a beginning, and the parts it got, whose end is not there: at
 *			the end of all, when another begins with the same marks, when
 *			too many are open or one is too long
 *	ORPHAN		a part of which no beginning is there
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

/* What is known of a CPU's clock. */
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

/* As if new; what was open is forgotten. */
void tacho_kev_parser_reset(struct tacho_kev_parser *p);

/*
 * Says that a CPU's time will once be msb, lsb (what a TIME event says that comes
 * later): events before it on the CPU lie within one round before.  The first one that
 * is said is what CPUs go by that have none.
 */
void tacho_kev_parser_seed(struct tacho_kev_parser *p, uint32_t cpu, uint32_t msb,
			   uint32_t lsb);

/*
 * Takes a slot, at `offset` of whatever it is from.  true: *event is an event.  The
 * part of an event, whose end is to come, is kept.
 */
bool tacho_kev_parse(struct tacho_kev_parser *p, const unsigned char *slot,
		     uint64_t offset, struct tacho_kev_event *event);

/* No more slots: what was left open, one at each call; false: no more. */
bool tacho_kev_parse_end(struct tacho_kev_parser *p, struct tacho_kev_event *event);

/* The time with that low half that is the nearest to another CPU's. */
static inline uint64_t tacho_kev_near(uint64_t time, uint32_t low)
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
