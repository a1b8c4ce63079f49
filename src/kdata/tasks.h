/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - the names of the threads that a trace mentions.
 *
 * A record has only a thread's id; its name and its process must be collected while the thread
 * exists:
 *
 *	- tacho_ktasks_scan() at the start adds all existing threads;
 *	- the pump adds each id that appears, and the names in events (sched_switch, fork,
 *	  rename), and tacho_ktasks_look() reads the names of new threads from /proc while they
 *	  live;
 *	- tacho_ktasks_finish() at the end adds the kernel's list of recently running threads, and
 *	  reads /proc again.
 *
 * The last known name is kept, for example that after an exec.  A thread that started and ended
 * between two reads, and that no event names, has no name.
 *
 * `tracefs` is a descriptor of the directory that has saved_cmdlines and saved_tgids.
 *
 * One thread uses a struct tacho_ktasks at a time.
 */
#ifndef TACHO_KDATA_TASKS_H
#define TACHO_KDATA_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define TACHO_KTASKS_PID_MAX	4194304	/* the kernel's PID_MAX_LIMIT */
#define TACHO_KTASK_COMM	16

struct tacho_ktask {
	int32_t pid;		/* the thread */
	int32_t tgid;		/* its process; 0: not known */
	char comm[TACHO_KTASK_COMM];	/* "": not known */
};

struct tacho_ktasks {
	uint64_t *seen;		/* a bit per id: the thread has an entry */
	uint64_t *named;	/* a bit per id: the thread has a name */
	struct tacho_ktask *list;
	uint32_t *slots;	/* hash of id -> 1 + index in list; 0: free */
	uint32_t nr, room, mask;
	uint32_t looked;	/* list entries before this one were looked up */
	uint64_t dropped;	/* ids without an entry: no memory */
};

/* Returns 0 or -ENOMEM. */
int tacho_ktasks_init(struct tacho_ktasks *t);
void tacho_ktasks_release(struct tacho_ktasks *t);

/* Makes an entry for a thread, if it has none. */
void tacho_ktasks_add(struct tacho_ktasks *t, int32_t pid);

/* The entry of a thread, or NULL.  Borrowed until the next entry is made. */
struct tacho_ktask *tacho_ktasks_find(const struct tacho_ktasks *t,
				      int32_t pid);

/* Sets a name of at most len bytes, terminated or not. */
void tacho_ktasks_name(struct tacho_ktasks *t, int32_t pid, const char *comm,
		       size_t len);

/* Marks the known name as outdated. */
void tacho_ktasks_forget(struct tacho_ktasks *t, int32_t pid);

/* Adds all threads of /proc. */
void tacho_ktasks_scan(struct tacho_ktasks *t);

/* Reads the names of at most `most` new threads from /proc. */
void tacho_ktasks_look(struct tacho_ktasks *t, uint32_t most);

/*
 * Updates the names of the entries from `from` on: from /proc for those not looked up yet, then,
 * if a name is still unknown, from saved_cmdlines and saved_tgids.  So a continuing recording
 * gets the names of new threads without reading all again.
 */
void tacho_ktasks_catch_up(struct tacho_ktasks *t, int tracefs, uint32_t from);

/* Final update from saved_cmdlines, saved_tgids and /proc for all entries. */
void tacho_ktasks_finish(struct tacho_ktasks *t, int tracefs);

static inline bool tacho_ktasks_bit(const uint64_t *bits, int32_t pid)
{
	return (uint32_t)pid < TACHO_KTASKS_PID_MAX &&
	       (bits[(uint32_t)pid / 64] >> ((uint32_t)pid % 64) & 1);
}

/* tacho_ktasks_add() for the path of every event. */
static inline void tacho_ktasks_see(struct tacho_ktasks *t, int32_t pid)
{
	if (tacho_unlikely(!tacho_ktasks_bit(t->seen, pid)))
		tacho_ktasks_add(t, pid);
}

#endif
