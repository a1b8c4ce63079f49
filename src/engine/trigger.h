/* SPDX-License-Identifier: MIT */
/*
 * trigger.h - trigger commands: from text to a struct.
 *
 *	[!]command[:args][:count] [if filter]
 *
 * Documentation/trace/events.rst section 6; a blank may replace the first ':'.  The commands:
 *
 *	traceon traceoff snapshot stacktrace	[:count]
 *	enable_event disable_event		:system:event[:count]
 *	enable_hist disable_hist		:system:event[:count]
 *	hist					hist_spec.h
 *
 * What one event can have at the same time (checked by engine.h):
 *	one stacktrace, one snapshot, one traceon or traceoff; one enable_event or
 *	disable_event for each target event; any number of different hists
 *	(same keys, values and sort are "the same").
 *
 * Removal matches the command and its target; count and filter are ignored.  For hist it matches
 * the tree and, as in the kernel, the filter: "!hist:keys=pid" does not remove "hist:keys=pid if
 * prio > 3".
 */
#ifndef TACHO_ENGINE_TRIGGER_H
#define TACHO_ENGINE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/hist_spec.h"

enum tacho_trigger_cmd {
	TACHO_TRIGGER_TRACEON,
	TACHO_TRIGGER_TRACEOFF,
	TACHO_TRIGGER_SNAPSHOT,
	TACHO_TRIGGER_STACKTRACE,
	TACHO_TRIGGER_ENABLE_EVENT,
	TACHO_TRIGGER_DISABLE_EVENT,
	TACHO_TRIGGER_ENABLE_HIST,	/* enable_hist:system:event[:count] */
	TACHO_TRIGGER_DISABLE_HIST,
	TACHO_TRIGGER_HIST,
};

struct tacho_trigger_spec {
	enum tacho_trigger_cmd cmd;
	bool remove;
	bool counted;			/* false: unlimited */
	uint64_t count;			/* when counted */
	const char *system, *event;	/* the target of enable_ and disable_ */
	uint32_t target_column;
	const char *filter;		/* after "if", or NULL */
	uint32_t filter_column;
	struct tacho_hist_spec hist;
	/*
	 * The whole command as the error log shows it; columns refer to it.  For hist it is
	 * hist.text, for others the text without surrounding white space.  Also set if parsing
	 * failed.
	 */
	const char *text;
};

/*
 * Parses one command.  All memory is from the arena.  Returns 0, or e->err: -EINVAL, -ERANGE for
 * a count, -ENOMEM, and for hist the errors of tacho_hist_spec_parse(), with the kernel's text
 * and column.  The kernel has no messages for errors in other commands.
 */
int tacho_trigger_parse(struct tacho_trigger_spec *spec, struct tacho_arena *a,
			const char *text, struct tacho_cmd_error *e);

/* Name of a command: "traceon". */
const char *tacho_trigger_name(enum tacho_trigger_cmd cmd);

/*
 * Appends a trigger as a `trigger` file shows it: "traceoff:count=3 if prio > 4",
 * "enable_event:kmem:kmalloc:unlimited", no newline.  left is the remaining count. hist: see
 * tacho_hist_spec_print().
 */
void tacho_trigger_print(const struct tacho_trigger_spec *spec, uint64_t left,
			 bool paused, struct tacho_buf *out);

#endif
