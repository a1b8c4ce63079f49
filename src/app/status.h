/* SPDX-License-Identifier: MIT */
/*
 * status.h - all sessions of a run-time directory, the programs that can be traced, what programs
 * could not do, and instances that the kernel keeps for sessions that are gone: as data.
 *
 *	app_status_get();  read the lists;  app_status_release()
 *
 * The lists are linked, in the order in which the directory has them; all texts belong to the
 * status.  Sessions and programs come and go while they are looked at, so what was gone by then is
 * not in it, and no error.  What could not be looked at for another reason is in `err` and in the
 * list of problems; the rest is complete.
 *
 * One thread at a time uses a status.  It does not change once it is made.
 */
#ifndef TACHO_APP_STATUS_H
#define TACHO_APP_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "app/session_info.h"
#include "base/arena.h"
#include "base/diag.h"

/* "system:event" globs that are recorded, or not. */
struct app_status_rule {
	struct app_status_rule *next;
	bool enable;
	const char *events;
};

/* A filter or a trigger that no event of the session's programs fits. */
struct app_status_unfit {
	struct app_status_unfit *next;
	bool is_filter;
	bool may_come;			/* no program had such an event until now */
	const char *events, *text;
	const char *why;
};

struct app_status_pids {
	const int32_t *pid;
	uint32_t nr;
};

struct app_status_session {
	struct app_status_session *next;
	const char *name, *directory;
	struct app_session_info info;	/* kernel_instance: also one that only the kernel knows */
	struct app_lane_info sums;
	struct app_status_rule *rules;
	struct app_status_unfit *unfit;
	struct app_status_pids pids;	/* these processes only; none: all */
	struct app_status_pids not_pids;
	bool follow;			/* and their children */
};

struct app_status_process {
	struct app_status_process *next;
	int32_t pid;
	char comm[17];
	bool foreign;			/* of another pid name space */
	uint32_t events, enabled;	/* event types; of these, recorded by any session */
	uint64_t lost_events;		/* could not be registered */
	uint64_t lost_sessions;		/* times a session could not be mapped */
	uint64_t lost_programs;		/* times commands could not be compiled */
	uint64_t lost_stacks;
	uint32_t sharers;		/* forked children that are switched with it */
	uint64_t unseated;		/* and those for which there was no seat */
};

/* What a program could not do before it had anything to count it in (session/remark.h). */
struct app_status_remark {
	struct app_status_remark *next;
	const char *comm, *text;
	int32_t pid;			/* of the last process */
	uint64_t times;
	uint64_t realtime;		/* ns since 1970 of the last time */
};

/* An instance of the kernel, "tacho.NAME", that goes on for no session here. */
struct app_status_kept {
	struct app_status_kept *next;
	const char *name;		/* without "tacho." */
};

/* A session that could not be looked at, in a sentence. */
struct app_status_problem {
	struct app_status_problem *next;
	const char *text;
	bool no_room;			/* memory or descriptors were missing here */
};

struct app_status {
	const char *directory;		/* the run-time directory */
	struct app_status_session *sessions;
	struct app_status_process *processes;
	struct app_status_remark *remarks;
	struct app_status_kept *kept;
	struct app_status_problem *problems;
	int err;		/* not 0: a negative errno; something is not listed */
	struct tacho_arena arena;
};

/*
 * app_status_get - look at everything, or at one session only.
 *
 * name NULL: everything; the run-time directory is made if it does not exist.  Else the session of
 * that name, and no programs, remarks and instances.
 *
 * Returns 0 and *st, which the caller gives to app_status_release(), or with d filled in and
 * nothing to release:
 *	-ENOENT		there is no session of that name
 *	-ENOMEM		out of memory
 *	or why the run-time directory cannot be opened
 */
int app_status_get(struct app_status *st, const char *name, struct tacho_diag *d);

void app_status_release(struct app_status *st);

#endif
