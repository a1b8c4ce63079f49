/* SPDX-License-Identifier: MIT */
/*
 * stat.h - how many of which event a trace has, when it was recorded, and what was lost: as data.
 *
 *	app_stat_get();  read the lists;  app_stat_release()
 *
 * Counting looks at sizes and types only, at a fraction of the cost of reading; where that does not
 * tell when a trace begins and ends (traces of other systems), it is read a second time.
 */
#ifndef TACHO_APP_STAT_H
#define TACHO_APP_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/find.h"
#include "base/arena.h"

enum app_stat_sort {
	APP_STAT_COUNT,			/* most events first */
	APP_STAT_BYTES,			/* most bytes first */
	APP_STAT_NAME,
};

/* An event.  The parts of a rotated trace count together. */
struct app_stat_event {
	const char *system, *name;
	bool kernel;			/* of the kernel, else of programs */
	uint64_t events;
	uint64_t bytes;			/* of their records, first word included */
};

/* A file of a trace of ours whose writers lost records. */
struct app_stat_loss {
	const char *part;		/* its name, of a rotated trace with "in chunk N" */
	uint64_t events;
};

struct app_stat {
	struct tacho_stream_info info;
	struct app_stat_event *event;
	size_t nr_events;
	struct app_stat_loss *loss;
	size_t nr_losses;
	uint64_t events, bytes;		/* sums over event */
	struct tacho_arena arena;
};

/*
 * app_stat_get - count the rest of an opened trace.
 *
 * trace: opened with TACHO_STREAM_UNORDERED and flags (enum tacho_stream_flag), with which it may
 * be opened again.  Texts in *st are valid until both are released.  Returns 0, and *st is for
 * app_stat_release(); or a negative errno with d filled in and nothing to release.
 */
int app_stat_get(struct app_stat *st, struct app_trace *trace, unsigned int flags,
		 enum app_stat_sort sort, struct tacho_diag *d);

void app_stat_release(struct app_stat *st);

#endif
