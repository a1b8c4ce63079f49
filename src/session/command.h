/* SPDX-License-Identifier: MIT */
/*
 * command.h - a session's filters, triggers, histograms and synthetic events, as
 * tools give and read them.
 *
 * Commands are text in the session's file `commands` (abi/shm.h).  Traced programs
 * compile them for themselves, those that run and those that start later.  So
 * nothing is lost when a program or a tool ends, and a command means the same in all.
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
 *	An event has one filter: of all whose glob matches, the one given last that can be
 *	compiled for it.  So a filter on a system leaves events that lack a field
 *	with what they had.  The same glob again replaces its filter.  "0" takes the
 *	filter away, also one that a wider glob had given.
 *
 * 3. Triggers
 *
 *	Any number may be on an event, but (-EEXIST) only one traceon or traceoff, one
 *	snapshot, one stacktrace, one enable_event or disable_event for a target,
 *	and no two hists that are the same.  Globs that may mean one event count
 *	as the same event.  "!..." removes: the same glob, command and target.
 *	A hist that exists with pause, cont or clear is changed, not added.
 *	An event that only has triggers, or is a target, fires and is not recorded.
 *	When the last trigger that targets an event goes, the event stays as it is:
 *	recorded or not.
 *
 * 4. Checks
 *
 *	A command is compiled for every matching event that is known.  It is taken
 *	when it compiles for one of them; else e has the error of the first one, with
 *	its column.  Where none is known only the text is checked.
 *	Functions (`field.function == name`) are found by each program in itself: in
 *	one that has none of that name nothing lies in it.
 *
 * All calls return 0 or a negative errno with e filled in:
 *	-EINVAL	the text or the event's name
 *	-EEXIST	a trigger or a synthetic event that may be there once is there
 *	-ENOENT	nothing to remove, pause, continue or clear
 *	-EBUSY	in use: a synthetic event that a hist makes or that has triggers, a
 *		variable that another hist reads
 *	-ENOSPC	256 commands, 64 targets, or no room in the file system
 *	-ENOMEM, or what the system said
 * e may be NULL.  They take the run-time directory's lock themselves.  Not for
 * signal handlers; the session is used by one thread at a time.
 */
#ifndef TACHO_SESSION_COMMAND_H
#define TACHO_SESSION_COMMAND_H

#include "engine/errlog.h"
#include "engine/hist.h"
#include "session/session.h"

/*
 * Sets ("0": takes away) the filter of events.  matched (may be NULL) receives how
 * many events of running programs event matches.
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
 * one; text as in engine/eprobe.h, which the caller has parsed for that event: type is what
 * came of it.  As a synthetic event it is recorded when a rule says so.
 */
int tacho_command_eprobe(struct tacho_session *s, const char *event, const char *text,
			 const struct tacho_type *type, struct tacho_cmd_error *e);

/* Takes one away, and its filter.  -EBUSY: a rule records it, or it has triggers. */
int tacho_command_eprobe_remove(struct tacho_session *s, const char *event,
				struct tacho_cmd_error *e);

/* One command, copied. */
struct tacho_command_info {
	uint32_t serial;
	enum tacho_command_kind kind;
	uint64_t left;		/* of a trigger's count; UINT64_MAX: no limit */
	bool paused;		/* a hist */
	bool hidden;		/* made for another one, by tacho itself */
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
 * Calls fn for each filter and trigger that no event fits which programs of the
 * session have, in the order in which they were given, until it returns not 0;
 * returns that, or a negative errno.  why: what the first of these events says
 * about it; -ENOENT: no program had an event that it is for.
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
 * Calls fn for the maps that hists have for events that the given glob (as in
 * section 1; NULL: all) means, until it returns not 0; returns that, or a negative
 * errno.  A hist on several events, or on several versions of
 * one event's type, has a map for each.  A hist that no program has hit or
 * compiled yet has none, and is not seen here.  All is gone when fn returns.
 */
int tacho_command_hists(struct tacho_session *s, const char *event,
			int (*fn)(const struct tacho_command_hist *h, void *arg),
			void *arg);

#endif
