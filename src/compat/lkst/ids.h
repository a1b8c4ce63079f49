/* SPDX-License-Identifier: MIT */
/*
 * ids.h - process, user, group and process group of the thread of a kernel event.
 *
 * The kernel's events have only the thread.  The other ids come from
 *
 *	I1  events: a cloned thread has the ids of its creator I2  /proc/<thread>/status: for a
 *	thread without such an event, after its exec (which may set the user), after a setuid() or
 *	similar call if system calls are recorded, and if the known ids are a second old
 *
 * So the ids of a short-lived process that has ended before its events are processed are known,
 * unless its creator has ended, too: then uid, gid and pgrp are -1, and the process id is that of
 * the thread.
 *
 * Events must be passed in order of time.  One thread.
 */
#ifndef TACHO_COMPAT_LKST_IDS_H
#define TACHO_COMPAT_LKST_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "fmt/lkst/log.h"

struct lkst_ids_entry {
	int32_t thread, pid, pgrp;
	uint32_t uid, gid;
	uint8_t used, known;	/* known: there are ids */
	uint8_t stale, gone;	/* to be looked up; not to be looked up any more */
	uint64_t ticks;		/* when that was so */
};

struct lkst_ids {
	struct lkst_ids_entry *slot;	/* hash of thread; a power of two */
	uint32_t room, nr;
	uint32_t clock;			/* enum tacho_clock */
	uint64_t second;		/* ticks */
};

/* 0 or -ENOMEM. */
int lkst_ids_init(struct lkst_ids *ids, uint32_t clock, uint64_t freq);
void lkst_ids_release(struct lkst_ids *ids);

/* Fills in pid, uid, gid, pgrp of a record that has thread and ticks. */
void lkst_ids_fill(struct lkst_ids *ids, struct lkst_record *r);

/* An event of the kernel, with its arguments and filled in: what it tells of others. */
void lkst_ids_update(struct lkst_ids *ids, const struct lkst_record *r);

#endif
