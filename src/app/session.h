/* SPDX-License-Identifier: MIT */
/* session.h - a session by its name. */
#ifndef TACHO_APP_SESSION_H
#define TACHO_APP_SESSION_H

#include "base/diag.h"
#include "session/session.h"

/*
 * Opens the run-time directory and the session called name.  Returns 0, or a negative
 * errno with d (which may be NULL) filled in and nothing open.
 */
int app_session_open(struct tacho_dir *dir, struct tacho_session *s, const char *name,
		     struct tacho_diag *d);

/* Closes both.  The session itself stays as it is. */
void app_session_close(struct tacho_dir *dir, struct tacho_session *s);

#endif
