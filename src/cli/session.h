/* SPDX-License-Identifier: MIT */
/* session.h - a session by its name, as verbs open it. */
#ifndef TACHO_CLI_SESSION_H
#define TACHO_CLI_SESSION_H

#include "app/session.h"

/*
 * As app_session_open(), with a message.  Returns CLI_OK, or an exit status with nothing
 * open.
 */
int cli_session_open(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name);

#endif
