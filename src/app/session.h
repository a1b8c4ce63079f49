/* SPDX-License-Identifier: MIT */
/*
 * session.h - sessions as front ends use them: made with what they record, opened by name, changed,
 * destroyed, and what they have in the kernel.
 *
 * A session is not the caller's: it goes on when it is closed, and other tools change and destroy
 * it at any time.
 */
#ifndef TACHO_APP_SESSION_H
#define TACHO_APP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/observer.h"
#include "tracefs/instance.h"
#include "record/recorder.h"
#include "session/session.h"

/* What to create.  Zero means the default, but for clock. */
struct app_session_config {
	const char *name;
	const char *dir;		/* keep its files there, on a disk; NULL: in memory */
	uint64_t buffer_size, subbuf_size;	/* bytes; of a buffer per CPU */
	int clock;			/* app_clock_by_name()'s; -1: the best there is */
	bool overwrite;			/* flight recorder mode */
	bool stopped;			/* do not record yet */

	const char *const *events;	/* globs; '!' excludes; if the first does, all others */
	size_t nr_events;
	const int32_t *pids;		/* these processes only; they must run */
	size_t nr_pids;
	bool follow;			/* and their children */
};

/* The clock of this name ("x86-tsc", "mono", "boot"), or -EINVAL. */
int app_clock_by_name(const char *name);

/* Whether this machine has that clock in a form that programs and the kernel can share. */
bool app_clock_usable(int clock);

/*
 * app_session_create - make a session that records what the configuration says, and open it.
 *
 * Makes the run-time directory if it does not exist.  Returns 0, and *s and *dir are to be given to
 * app_session_close(); or a negative errno with d filled in, and nothing is open or left:
 *	-EEXIST		there is a session of that name
 *	-ESRCH		one of the processes does not run
 *	-EINVAL, -ENOSPC, ...	see tacho_session_create(), tacho_session_rule()
 */
int app_session_create(struct tacho_dir *dir, struct tacho_session *s,
		       const struct app_session_config *config, struct tacho_diag *d);

/*
 * app_session_rules - enable or disable events in a session, in the order of the globs.
 *
 * A glob that no event of a running program matches is said to the observer (which may be NULL),
 * and kept for programs that start later.  *matched (may be NULL) is the sum of what they matched.
 * Returns 0, or a negative errno with d filled in: the globs before the one that failed have
 * effect.
 */
int app_session_rules(struct tacho_session *s, bool enable, const char *const *globs, size_t nr,
		      const struct tacho_observer *observer, uint64_t *matched,
		      struct tacho_diag *d);

/*
 * app_session_destroy - end the session called name, and remove the instance that the kernel keeps
 * for it.
 *
 * Also removes an instance whose session is gone.  One that cannot be removed is said to the
 * observer (which may be NULL).  Returns 0, or a negative errno with d filled in; -ENOENT: there is
 * neither.
 */
int app_session_destroy(const char *name, const struct tacho_observer *observer,
			struct tacho_diag *d);

/*
 * Opens the run-time directory and the session called name.  Returns 0, or a negative
 * errno with d (which may be NULL) filled in and nothing open.
 */
int app_session_open(struct tacho_dir *dir, struct tacho_session *s, const char *name,
		     struct tacho_diag *d);

/* Closes both.  The session itself stays as it is. */
void app_session_close(struct tacho_dir *dir, struct tacho_session *s);

/*
 * app_session_remove_kept - remove the instance that the kernel keeps for a session.
 *
 * To be called after the session was destroyed: a mount that uses the instance closes it when
 * it sees that; waits up to 2 seconds for this.
 *
 * Returns 0; -ENOENT: it does not exist; -EBUSY (it is in use), -EACCES, ...: it remains.
 */
int app_session_remove_kept(const char *name);

/*
 * app_session_snapshot - write what a session that has no recorder holds to a trace.
 *
 * The session goes on.  dir must be empty or not exist.  Events of its instance in the kernel
 * (app/session_kernel.h), if it has one, are included; those that occur while its buffers are
 * read are not recorded.  st may be NULL.
 *
 * Returns 0, or a negative errno with d filled in.
 */
int app_session_snapshot(struct tacho_session *s, const char *dir,
			 struct tacho_recorder_stats *st, struct tacho_diag *d);

#endif
