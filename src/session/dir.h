/* SPDX-License-Identifier: MIT */
/*
 * dir.h - the run-time directory: where traced processes and tools meet.
 *
 * $TACHO_DIR if set; else for root /run/tacho when /run is memory, and
 * /dev/shm/tacho-0 when it is not; else $XDG_RUNTIME_DIR/tacho; else
 * /dev/shm/tacho-<uid>.  Mode 0700, owned by the caller; anything else is
 * refused.  A set-user-id program ignores the environment.
 */
#ifndef TACHO_SESSION_DIR_H
#define TACHO_SESSION_DIR_H

#include <stdbool.h>

#include "base/diag.h"
#include "tacho/abi/shm.h"

struct tacho_dir {
	int fd;				/* the directory */
	int lock_fd;			/* the registry's file */
	struct tacho_registry *reg;	/* mapped, shared */
	char path[TACHO_PATH_MAX];
};

/* Where the directory is; 0 or -ENAMETOOLONG. */
int tacho_dir_path(char *path, size_t size);

/*
 * tacho_dir_open - open the run-time directory, making it if `create`.
 *
 * Returns 0, or a negative errno with a sentence in d: -ENOENT (nothing
 * is traced here yet), -EACCES / -EPERM (somebody else's), -ENOSPC, -EPROTO
 * (made by another version).  Not for signal handlers.
 */
int tacho_dir_open(struct tacho_dir *dir, bool create, struct tacho_diag *d);
void tacho_dir_close(struct tacho_dir *dir);

/*
 * The one lock among tools: while it is held, nobody else creates, changes or
 * destroys sessions.  Released by a kill.  Blocks.
 */
int tacho_dir_lock(struct tacho_dir *dir);
void tacho_dir_unlock(struct tacho_dir *dir);

#endif
