/* SPDX-License-Identifier: MIT */
/* session.h - a session by its name, as verbs open it. */
#ifndef TACHO_CLI_SESSION_H
#define TACHO_CLI_SESSION_H

#include "session/session.h"

/*
 * Opens the run-time directory and the session in it.  CLI_OK, or an exit status with
 * a message and nothing open.
 */
int cli_session_open(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name);

/* The same without a message: whether there is one, and it is open. */
bool cli_session_try(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name);

void cli_session_close(struct tacho_dir *dir, struct tacho_session *s);

#endif
