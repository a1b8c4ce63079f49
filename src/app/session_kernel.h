/* SPDX-License-Identifier: MIT */
/*
 * session_kernel.h - a session's own instance in the kernel, which stays there as long as the
 * session: "tacho.NAME" (tracefs/instance.h).  The session's control block names it.
 *
 * The instance of a recorder (src/record) is another one: it ends with the recorder.
 */
#ifndef TACHO_APP_SESSION_KERNEL_H
#define TACHO_APP_SESSION_KERNEL_H

#include "app/session_info.h"
#include "session/session.h"
#include "tracefs/instance.h"

/* Whether the session has one, as its control block says. */
bool app_session_has_kernel(const struct tacho_session *s);

/*
 * app_session_kernel - open the session's instance.
 *
 * make: creates it if it does not exist, with buffers of size bytes per CPU (0: the default),
 * restricted to the session's processes; it records if the session does.
 *
 * Returns 0 and *k, which the caller gives to app_session_kernel_close(), or a negative errno
 * with d filled in:
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

/*
 * app_session_kernel_switch - enable or disable events of the kernel in an opened instance.
 *
 * events: a glob, "system:event", or one word for either.  *matched (may be NULL) is the number of
 * the kernel's events that it matches.  Returns 0, -ENOENT: it matches none, or another negative
 * errno; d is filled in.
 */
int app_session_kernel_switch(struct tacho_kernel *k, bool enable, const char *events,
			      uint32_t *matched, struct tacho_diag *d);

/*
 * app_session_kernel_count - add the counts of one CPU's buffer of an opened instance.
 *
 * full and busy are the kernel's reasons for records that it discarded.  Returns 0; -ENOENT, with d
 * empty: there is no such CPU; or a negative errno with d filled in.
 */
int app_session_kernel_count(const struct tacho_kernel *k, uint32_t cpu, struct app_counts *to,
			     struct tacho_diag *d);

/* app_session_kernel_close - let go of what app_session_kernel() opened; NULL is fine. */
void app_session_kernel_close(struct tacho_kernel *k);

/*
 * app_session_set_pids - record these processes only, or (exclude) all but these, in programs and,
 * if the session has one, in the instance k (NULL: none).
 *
 * n at most TACHO_PIDS_MAX, else -E2BIG; 0: all processes.  follow: also their children.  The
 * kernel is first, because it can fail: then nothing is changed.
 *
 * Returns 0, or a negative errno with d filled in.
 */
int app_session_set_pids(struct tacho_session *s, struct tacho_kernel *k, bool exclude,
			 const int32_t *pids, size_t n, bool follow, struct tacho_diag *d);

#endif
