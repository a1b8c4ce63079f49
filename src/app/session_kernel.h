/* SPDX-License-Identifier: MIT */
/*
 * session_kernel.h - a session's own instance in the kernel, which stays there as long as the
 * session: "tacho.NAME" (tracefs/instance.h).  The session's control block names it.
 *
 * The instance of a recorder (src/record) is another one: it ends with the recorder.
 */
#ifndef TACHO_APP_SESSION_KERNEL_H
#define TACHO_APP_SESSION_KERNEL_H

#include "tracefs/instance.h"
#include "session/session.h"

/* Whether the session has one, as its control block says. */
bool app_session_has_kernel(const struct tacho_session *s);

/*
 * app_session_kernel - open the session's instance.
 *
 * make: creates it if it does not exist, with buffers of size bytes per CPU (0: the default),
 * restricted to the session's processes; it records if the session does.
 *
 * Returns 0 and *k, which the caller gives to tacho_kernel_leave(), or a negative errno with d
 * filled in:
 *	-ENOENT		it does not exist, or tracefs is not mounted
 *	-EBUSY		a recorder owns the session
 *	-EINVAL		the kernel records with another clock than the session
 *	-EACCES, ...	see tacho_kernel_create()
 */
int app_session_kernel(struct tacho_session *s, uint64_t size, bool make,
		       struct tacho_kernel **k, struct tacho_diag *d);

/*
 * app_session_run - start or stop programs and, if the session has an instance, the kernel.
 *
 * Returns 0; -ENOENT: the session is destroyed; or the kernel's error: then nothing is changed.
 * d is filled in.
 */
int app_session_run(struct tacho_session *s, bool recording, struct tacho_diag *d);

#endif
