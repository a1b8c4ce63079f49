/* SPDX-License-Identifier: MIT */
/* record.h - what the two halves of the verb record share. */
#ifndef TACHO_CLI_RECORD_H
#define TACHO_CLI_RECORD_H

#include "cli/job.h"

/* flight.c: waits, and writes the newest at the end and when asked. */
int flight_run(struct job *job);

/*
 * record_format.c: chooses between a directory of ours and another format (`to`, or
 * NULL: by the output's name), which is made of one.  CLI_OK or CLI_USAGE.
 */
int record_target(struct job_options *o, const char *to);

/* Whether there is room for both.  Returns an exit status. */
int record_ready(const struct job_options *o);

/*
 * Makes the other format of what was recorded, and removes the directory; s->bytes
 * becomes its size.  When it cannot, the directory stays, and that is said.  Returns
 * an exit status.
 */
int record_convert(const struct job_options *o, struct tacho_recorder_stats *s);

/*
 * What programs could not do since the recording began: what is missing is counted nowhere
 * else.  Before the run-time directory is closed.
 */
void record_remarks(const struct job *job);

/* One line (or JSON) on what was written to dir. */
void record_summary(const struct job *job, const char *dir,
		    const struct tacho_recorder_stats *s);

/* Says how the command ended, when not well. */
void record_child_note(const struct job *job);

#endif
