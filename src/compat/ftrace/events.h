/* SPDX-License-Identifier: MIT */
/*
 * events.h - shared by the files below events/ (events.c, enable.c, filter.c, trigger.c).
 *
 * Such a file is about one event, the events of a system, or all events; and each event
 * is the kernel's, a program's, or both.  A write goes to each side that has such an event; a
 * read combines both sides.
 */
#ifndef TACHO_COMPAT_FTRACE_EVENTS_H
#define TACHO_COMPAT_FTRACE_EVENTS_H

#include "compat/ftrace/nodes.h"
#include "session/command.h"

/* Bytes of "system:event", of "events/SYSTEM/EVENT/name", and of one write; NUL included. */
#define TREE_NAME_SIZE		((size_t)2 * TACHO_RULE_MAX)
#define TREE_PATH_SIZE		((size_t)3 * TACHO_RULE_MAX)
#define TREE_COMMAND_SIZE	((size_t)4096)

/* "system:event"; "*" for what the file does not name. */
void tree_event_name(const struct tacho_tree_file *f, char name[TREE_NAME_SIZE]);

/* The kernel's file that stands for this one: "events[/SYSTEM[/EVENT]]/name". */
void tree_event_path(const struct tacho_tree_file *f, const char *name,
		     char path[TREE_PATH_SIZE]);

/* The text of that file.  Under inst->lock.  0 or -errno. */
int tree_event_text(const struct tacho_tree_file *f, const char *name,
		    struct tacho_buf *out);

/* The sides that have events of a file. */
struct tree_sides {
	bool kernel, program;
};

/* Under inst->lock. */
struct tree_sides tree_sides_of(const struct tacho_tree_file *f);

/* Commands of one kind for one event: for tacho_commands_each(). */
struct tree_wanted {
	const char *system, *event;
	enum tacho_command_kind kind;
	char text[TACHO_COMMAND_TEXT + 1];	/* the one that was found */
	struct tacho_buf *out;		/* or where all are printed to */
};

bool tree_is_wanted(const struct tree_wanted *w, const struct tacho_command_info *c);

#endif
