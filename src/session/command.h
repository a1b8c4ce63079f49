/* SPDX-License-Identifier: MIT */
/*
 * command.h - a session's filters, triggers, histograms and synthetic events: setting and listing
 * them, for tools.
 *
 * Commands are text in the session's file `commands` (abi/shm.h).  Each traced program compiles
 * them itself, also programs that start later.  So commands outlive programs and tools, and mean
 * the same in all programs.
 *
 * 1. Which events
 *
 *	event is "system:event", each part a glob; "system:" and ":event" leave the
 *	other part open.  One word is a system if an event of it is known, else an
 *	event, if that is known, else a system.
 *	Known are the events of running programs, the types the session has recorded,
 *	and the session's synthetic events.
 *
 * 2. Filters
 *
 *	An event has one filter: of all filters whose glob matches, the last one set that compiles
 *	for it.  So a filter on a system does not change the filter of events that lack a field.
 *	The same glob again replaces its filter.  "0" removes the filter, also one that was set by
 *	a wider glob.
 *
 * 3. Triggers
 *
 *	An event may have any number of triggers, but (-EEXIST) only one traceon or traceoff, one
 *	snapshot, one stacktrace, one enable_event or disable_event for a target, and no two hists
 *	that are the same.  Globs that may mean one event count as the same event.  "!..."
 *	removes: the same glob, command and target. A hist that exists with pause, cont or clear
 *	is changed, not added. An event that is not enabled but has triggers, or is a target, runs
 *	its triggers and is not recorded.  When the last trigger that targets an event is removed,
 *	the event stays as it is: recorded or not.
 *
 * 4. Checks
 *
 *	A command is compiled for every matching known event.  It is accepted if it compiles for
 *	one of them; otherwise e has the error of the first one, with its column.  If no matching
 *	event is known, only the text is checked.  Functions (`field.function == name`) are
 *	resolved by each program in its own mappings: in a program without a function of that
 *	name, no address matches.
 *
 * All calls return 0 or a negative errno with e filled in:
 *	-EINVAL	the text or the event's name
 *	-EEXIST	a trigger or a synthetic event that is allowed once exists
 *	-ENOENT	nothing to remove, pause, continue or clear
 *	-EBUSY	in use: a synthetic event that a hist generates or that has triggers, a variable
 *		that another hist reads
 *	-ENOSPC	256 commands, 64 targets, or no room in the file system
 *	-ENOMEM, or an error of the system
 * e may be NULL.  The calls take the run-time directory's lock.  Not for signal handlers; one
 * thread at a time may use the session.
 */
#ifndef TACHO_SESSION_COMMAND_H
#define TACHO_SESSION_COMMAND_H

#include "engine/errlog.h"
#include "engine/hist.h"
#include "session/session.h"

/*
 * Sets ("0": removes) the filter of events.  matched (may be NULL) receives how many events of
 * running programs event matches.
 */
int tacho_command_filter(struct tacho_session *s, const char *event,
			 const char *text, uint32_t *matched,
			 struct tacho_cmd_error *e);

/* Adds, changes or removes a trigger: "[!]command[:args][:count] [if filter]". */
int tacho_command_trigger(struct tacho_session *s, const char *event,
			  const char *text, uint32_t *matched,
			  struct tacho_cmd_error *e);

/* Defines a synthetic event, "name type field; ...", or removes it, "!name". */
int tacho_command_synth(struct tacho_session *s, const char *text,
			struct tacho_cmd_error *e);

/*
 * Defines an event probe, "group:name", on an event of programs, of the kernel or a synthetic
 * one; text as in engine/eprobe.h.  The caller has parsed it for that event; type is the result.
 * Like a synthetic event, it is recorded if a rule enables it.
 */
int tacho_command_eprobe(struct tacho_session *s, const char *event, const char *text,
			 const struct tacho_type *type, struct tacho_cmd_error *e);

/* Removes an event probe and its filter. -EBUSY: a rule enables it, or it has triggers. */
int tacho_command_eprobe_remove(struct tacho_session *s, const char *event,
				struct tacho_cmd_error *e);

/* One command, copied. */
struct tacho_command_info {
	uint32_t serial;
	enum tacho_command_kind kind;
	uint64_t left;		/* of a trigger's count; UINT64_MAX: no limit */
	bool paused;		/* a hist */
	bool hidden;		/* added by tacho for another command */
	char event[TACHO_RULE_MAX];
	char text[TACHO_COMMAND_TEXT];
};

/*
 * Calls fn for each command in the order in which they were given, until it returns
 * not 0; returns that, or -ENOMEM.  Takes no lock.
 */
int tacho_commands_each(const struct tacho_session *s,
			int (*fn)(const struct tacho_command_info *c, void *arg),
			void *arg);

/*
 * Calls fn for each filter and trigger that compiles for no event of the session's programs, in
 * the order in which they were given, until it returns not 0; returns that, or a negative errno.
 * why: the error for the first of these events; -ENOENT: no program had a matching event.
 */
int tacho_commands_unfit(struct tacho_session *s,
			 int (*fn)(const struct tacho_command_info *c,
				   const struct tacho_cmd_error *why, void *arg),
			 void *arg);

/* A histogram with its contents, as far as programs have written them. */
struct tacho_command_hist {
	const struct tacho_command_info *command;
	const struct tacho_type *type;
	struct tacho_hist *hist;	/* bound to the shared map */
};

/*
 * Calls fn for each map of the hists on the events that a glob (as in section 1; NULL: all)
 * matches, until it returns not 0; returns that, or a negative errno.  A hist on several events,
 * or on several versions of one event's type, has one map for each.  A hist that no program has
 * compiled yet has no map and is skipped.  Everything passed to fn is released when it returns.
 */
int tacho_command_hists(struct tacho_session *s, const char *event,
			int (*fn)(const struct tacho_command_hist *h, void *arg),
			void *arg);

#endif
