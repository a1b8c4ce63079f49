/* SPDX-License-Identifier: MIT */
/* session.h - a session by its name, what it has in the kernel, and its snapshots. */
#ifndef TACHO_APP_SESSION_H
#define TACHO_APP_SESSION_H

#include "base/diag.h"
#include "tracefs/instance.h"
#include "record/recorder.h"
#include "session/session.h"

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
