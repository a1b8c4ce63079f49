/* SPDX-License-Identifier: MIT */
/*
 * errlog.h - the error in a command, and its place.
 *
 * A parser fills in one struct tacho_cmd_error: a message in the kernel's words and the column of
 * the error.  An instance keeps the last TACHO_ERRLOG_MAX of them with the command's text, and
 * prints them as the kernel's tracefs/error_log does (Documentation/trace/ftrace.rst,
 * "error_log"):
 *
 *	[ 5348.887237] hist:sched:sched_wakeup: error: Couldn't find field
 *	  Command: hist:keys=pixd:vals=prio
 *	                     ^
 */
#ifndef TACHO_ENGINE_ERRLOG_H
#define TACHO_ENGINE_ERRLOG_H

#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

#define TACHO_ERRLOG_MAX	8	/* as the kernel */
#define TACHO_COMMAND_MAX	2048	/* bytes of a command that are kept */

struct tacho_cmd_error {
	int err;		/* negative errno; 0: no error so far */
	uint32_t column;	/* byte in the command, from 0 */
	char text[120];		/* "Couldn't find field"; as the kernel says it */
};

/*
 * Records an error unless one is recorded.  e may be NULL.  Returns the error
 * recorded first.  fmt begins with a capital and has no full stop, like the
 * kernel's texts.
 */
int tacho_cmd_error(struct tacho_cmd_error *e, int err, uint32_t column,
		    const char *fmt, ...) TACHO_PRINTF(4, 5);

/* Records the lack of memory.  Returns what tacho_cmd_error() does. */
#define tacho_cmd_no_memory(e)	tacho_cmd_error((e), -ENOMEM, 0, "Out of memory")

struct tacho_errlog_entry {
	uint64_t time;		/* ns, of the clock that the log's owner uses */
	char loc[80];		/* "hist:sched:sched_wakeup", "event filter parser" */
	char text[120];
	char command[TACHO_COMMAND_MAX];
	uint32_t column;
};

/* The newest entries, oldest first once full.  Zero-initialise. */
struct tacho_errlog {
	uint64_t nr;		/* entries ever added */
	struct tacho_errlog_entry entry[TACHO_ERRLOG_MAX];
};

/* Adds an error: e as the parser filled it in, command its whole text. */
void tacho_errlog_add(struct tacho_errlog *log, uint64_t time,
		      const char *loc, const char *command,
		      const struct tacho_cmd_error *e);

/* Appends the log's text, byte for byte as the kernel prints it. */
void tacho_errlog_print(const struct tacho_errlog *log, struct tacho_buf *out);

/*
 * Appends one error for a terminal, three lines without the time:
 *	error: Couldn't find field
 *	  hist:keys=pixd:vals=prio
 *	            ^
 */
void tacho_cmd_error_print(const struct tacho_cmd_error *e, const char *command,
			   struct tacho_buf *out);

#endif
