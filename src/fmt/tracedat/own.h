/* SPDX-License-Identifier: MIT */
/*
 * own.h - what a trace.dat has no place for: an option of tacho's.
 *
 * Option 0x7461 ("ta"), which other readers pass over, is text:
 *
 *	tacho 1
 *	clock FREQ BASE		ns since 1970 = BASE + ticks * 10^9 / FREQ, modulo 2^64
 *	event ID program NAME	this common_type is an event of programs
 *	event ID kernel NAME	of the kernel
 *	task TID PID		the process of a thread that has a name
 *
 * The clock is exact, where TSC2NSEC has a factor of 32 bits.  Events stand here that are of
 * programs, or whose name the file cannot have: trace-cmd reads letters, digits and '_' only,
 * so the format has the name with a '_' for every other byte, and a number after it where two
 * would be the same.  saved_cmdlines has threads without their processes.
 */
#ifndef TACHO_FMT_TRACEDAT_OWN_H
#define TACHO_FMT_TRACEDAT_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "stream/clock.h"
#include "stream/facts.h"

#define TACHO_DAT_OWN	0x7461u		/* the option's id */

/* What it says of one common_type; name NULL: nothing. */
struct tacho_dat_own_event {
	const char *name;
	bool program;
};

struct tacho_dat_own_task {
	int32_t tid, pid;
};

struct tacho_dat_own {
	bool has_clock;
	uint64_t freq, base;
	struct tacho_dat_own_event *event;	/* by id; NULL: none is named */
	struct tacho_dat_own_task *task;	/* as they stand there; on the heap */
	size_t nr_tasks, room_tasks;
};

/* Begins the text, and adds an event. */
void tacho_dat_own_begin(const struct tacho_clock_map *map, struct tacho_buf *out);
void tacho_dat_own_put(uint32_t id, bool program, const char *name,
		       struct tacho_buf *out);

/* Adds a line "task". */
void tacho_dat_own_put_task(int32_t tid, int32_t pid, struct tacho_buf *out);

/*
 * Reads the len bytes of the option; memory from the arena, but for tasks.  What is not understood
 * is passed over.  0 or -ENOMEM.
 */
int tacho_dat_own_parse(struct tacho_dat_own *own, const char *text, size_t len,
			struct tacho_arena *arena);

/* The tasks go into facts that have the names by now, and are freed; facts may be NULL. */
void tacho_dat_own_take_tasks(struct tacho_dat_own *own, struct tacho_facts *facts);

/* What it says of an id: never NULL. */
static inline struct tacho_dat_own_event
tacho_dat_own_event(const struct tacho_dat_own *own, uint32_t id)
{
	return own->event && id <= UINT16_MAX ? own->event[id] :
	       (struct tacho_dat_own_event){ .name = NULL };
}

#endif
