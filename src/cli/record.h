/* SPDX-License-Identifier: MIT */
/* record.h - what the two halves of the verb record share. */
#ifndef TACHO_CLI_RECORD_H
#define TACHO_CLI_RECORD_H

#include "cli/job.h"

/* flight.c: waits, and writes the newest at the end and when asked. */
int flight_run(struct job *job);

/* record_dat.c: chooses between a directory and a trace.dat. */
int record_target(struct job_options *o, const char *to);

/*
 * Makes the trace.dat of what was recorded, and removes the directory; s->bytes
 * becomes its size.  When it cannot, the directory stays, and that is said.  Returns
 * an exit status.
 */
int record_dat(const struct job_options *o, struct tacho_recorder_stats *s);

/* One line (or JSON) on what was written to dir. */
void record_summary(const struct job *job, const char *dir,
		    const struct tacho_recorder_stats *s);

/* Says how the command ended, when not well. */
void record_child_note(const struct job *job);

#endif
