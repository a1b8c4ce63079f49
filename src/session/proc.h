/* SPDX-License-Identifier: MIT */
/*
 * proc.h - the files of traced processes, as tools see them.
 *
 * How a process and a tool agree on which events are enabled
 *
 *	process					tool
 *	P1 publishes its file with its events	T1 edits the session's rules, pids or
 *	P2 reads each session's seq, rules	   commands (seq odd, edit, even)
 *	   and commands, sets its own bits	T2 lists the process files
 *	P3 reads seq again; changed or odd:	T3 sets and clears bits in them by
 *	   P2 again				   the same decision
 *
 *	seq is that of struct tacho_commands.
 *
 *	Either T2 sees the file of P1, or P2 sees the rules of T1.  If a tool's T3 and a process's
 *	P2 run at the same time, P3 detects that and repeats, so the last rules win.
 */
#ifndef TACHO_SESSION_PROC_H
#define TACHO_SESSION_PROC_H

#include "session/dir.h"
#include "session/view.h"
#include "sys/process.h"

struct tacho_procfile {
	int32_t pid;
	uint64_t pidns;
	bool foreign;			/* of another pid name space */
	const struct tacho_proc *head;	/* mapped, shared */
	struct tacho_proc_state *state;	/* its state words, by event */
	char *map;			/* the file they are in: TACHO_PROC_SIZE */
	uint32_t events_max;		/* with state words */
	uint32_t sharers;		/* children that share its state words */
};

/*
 * Calls fn for each living traced process, which has a file or a seat in one (abi/shm.h), while
 * fn returns 0.  Removes files that no process uses.  Returns the last result of fn, or a
 * negative errno.
 */
int tacho_procs_each(struct tacho_dir *dir,
		     int (*fn)(struct tacho_procfile *p, void *arg), void *arg);

/* The number n of a process's events 1..n, limited to what fits in the file. */
uint32_t tacho_procfile_nr_events(const struct tacho_procfile *p);

/*
 * Event i's text (struct tacho_types in abi/shm.h) and its length, or NULL: shared memory,
 * checked to be inside the file.  `gone`: its object was unloaded.
 */
const char *tacho_procfile_event(const struct tacho_procfile *p, uint32_t i,
				 uint32_t *len, bool *gone);

/* The "system:name" at the start of a type text; cut at size. */
void tacho_type_text_name(const char *text, uint32_t len, char *name,
			  size_t size);

/* Sets the bit of `v` in all state words of p as it decides (step T3). */
void tacho_procfile_apply(struct tacho_procfile *p, const struct tacho_view *v);

/* Clears a session's bit everywhere in p. */
void tacho_procfile_clear(struct tacho_procfile *p, uint32_t bit);

/* Inode of this process's pid name space; 0: not known.  Any context. */
uint64_t tacho_pidns(void);

#endif
