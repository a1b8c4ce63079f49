/* SPDX-License-Identifier: MIT */
/*
 * map.h - converts any record to an event of QNX.
 *
 *	own	an event that came from a .kev: what it was
 *	mapped	an event of Linux that has a counterpart (map_linux.c; docs/qnx.md has
 *		the table)
 *	text	all others: a user event of text, "system:event tid=N what it says", its
 *		number 1022 (the kernel's) or 1023 (a program's)
 *
 * Nothing is invented: an argument that Linux does not provide is 0.
 */
#ifndef TACHO_FMT_KEV_MAP_H
#define TACHO_FMT_KEV_MAP_H

#include "fmt/kev/write.h"
#include "stream/stream.h"

#define TACHO_KEV_TEXT_KERNEL	1022u
#define TACHO_KEV_TEXT_PROGRAM	1023u
/* Maximum length of a text; longer ones are cut. */
#define TACHO_KEV_TEXT_MAX	8000u

struct tacho_kev_map;

struct tacho_kev_counts {
	uint64_t own, mapped, text;
	uint64_t cut;		/* texts that were too long */
	uint64_t cpus;		/* events of a CPU that is not known or above 63: they
				   are written as CPU 63's */
	uint64_t control;	/* CONTROL events that the writer makes itself */
};

/*
 * Makes one for a writer of a release's numbers; stream is where records come from.
 * exact: CONTROL events are written, too.  NULL: no memory.
 */
struct tacho_kev_map *tacho_kev_map_new(struct tacho_kev_writer *w,
					struct tacho_stream *stream,
					enum tacho_kev_release release, bool exact);
void tacho_kev_map_free(struct tacho_kev_map *m);

/*
 * Asks fn about each event, or slots of a broken one, before it is written: false leaves it
 * out.  ev is as it would be written, of the record r, by thread tid of process pid; r NULL: one
 * of tacho_kev_map_tasks().
 */
typedef bool (*tacho_kev_choose)(void *arg, const struct tacho_kev_out *ev,
				 const struct tacho_record *r, int32_t pid, int32_t tid);

void tacho_kev_map_choose(struct tacho_kev_map *m, tacho_kev_choose fn, void *arg);

/*
 * Asks fn, with tacho_kev_map_choose()'s arg, whether an event of Linux is to have its wide
 * form where Linux tells more than the fast one has: states of threads with their priority,
 * COMM/SIGNAL with the errno, SIGNAL_KILL with the thread.  What it does not tell is 0.
 */
void tacho_kev_map_wide(struct tacho_kev_map *m, bool (*fn)(void *arg, uint32_t code));

/*
 * Writes the names of processes and threads, as the QNX kernel does when a trace begins. tasks:
 * all known ones.  0 or -errno with d filled in.
 */
int tacho_kev_map_tasks(struct tacho_kev_map *m, const struct tacho_facts *tasks,
			uint64_t time, struct tacho_diag *d);

/* Writes a record at `time` cycles.  0 or -errno with d filled in. */
int tacho_kev_map_record(struct tacho_kev_map *m, const struct tacho_record *r,
			 uint64_t time, struct tacho_diag *d);

const struct tacho_kev_counts *tacho_kev_map_counts(const struct tacho_kev_map *m);

#endif
