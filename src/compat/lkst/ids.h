/* SPDX-License-Identifier: MIT */
/*
 * ids.h - whose a kernel event is: process, user, group, process group of a thread.
 *
 * The kernel's events name the thread alone.  The rest comes from
 *
 *	I1  events that tell of it: a thread that is cloned has the ids of who cloned it
 *	I2  /proc/<thread>/status: of a thread that no event has told of, after its exec (which
 *	    may set the user), after a setuid() and the like if system calls are recorded, and
 *	    when what is known is a second old
 *
 * So a process that lives for a moment, and is gone when its events are looked at, is known; one
 * whose maker was gone as well is not: uid, gid and pgrp are -1, and the process is taken to be
 * the thread.
 *
 * Must be told of events in the order of time.  Used by one thread.
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
void lkst_ids_learn(struct lkst_ids *ids, const struct lkst_record *r);

#endif
