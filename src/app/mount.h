/* SPDX-License-Identifier: MIT */
/*
 * mount.h - directories that a tacho serves (src/fuse), seen from outside: may one be mounted, and
 * how it ends.
 *
 * A mount is found in the list of mounts by its name, "tacho:PID" of the process that serves it.
 * That process may be stopped or dead, and then a look into the directory waits or fails.  So
 * children look, and are killed after 5 seconds; paths are resolved without touching what is
 * mounted.
 */
#ifndef TACHO_APP_MOUNT_H
#define TACHO_APP_MOUNT_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/observer.h"

/*
 * app_mount_check - whether a directory can be mounted on.
 *
 * nonempty: also if it has files.  Returns 0 and *full, its path as the list of mounts has it,
 * which the caller frees; or a negative errno with d filled in, and *full NULL:
 *	-EBUSY		a tacho is mounted there
 *	-ENOTCONN, -ETIMEDOUT	one is, and its server is gone, or does not answer
 *	-ENOTEMPTY, -ENOTDIR, -ENOENT, ...
 */
int app_mount_check(const char *dir, bool nonempty, char **full, struct tacho_diag *d);

/*
 * app_umount - end the mount on a directory, and wait up to 5 seconds for its server's end.
 *
 * Says to the observer (which may be NULL) what goes on: a server that is still busy, sessions that
 * one that was killed has left.  Users other than root need fusermount3, which says on stderr why
 * it refuses.
 *
 * Returns 0, or a negative errno with d filled in: -EINVAL (no tacho is mounted there), -EBUSY (its
 * files are open), -ETIMEDOUT (its server does not answer), ...; -EPERM with d empty: fusermount3
 * has said why.
 */
int app_umount(const char *dir, const struct tacho_observer *observer, struct tacho_diag *d);

#endif
