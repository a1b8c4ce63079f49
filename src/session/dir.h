/* SPDX-License-Identifier: MIT */
/*
 * dir.h - the run-time directory, which traced processes and tools share.
 *
 * $TACHO_DIR if set; else for root /run/tacho when /run is memory, and
 * /dev/shm/tacho-0 when it is not; else $XDG_RUNTIME_DIR/tacho; else
 * /dev/shm/tacho-<uid>.  It must have mode 0700 and belong to the caller.  A set-user-id program
 * ignores the environment.
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

/* Computes the path of the directory; returns 0 or -ENAMETOOLONG. */
int tacho_dir_path(char *path, size_t size);

/*
 * tacho_dir_open - open the run-time directory; create: create it if it does not exist.
 *
 * Returns 0, or a negative errno with d filled in: -ENOENT (it does not exist), -EACCES / -EPERM
 * (another user's), -ENOSPC, -EPROTO (of another version).  Not for signal handlers.
 */
int tacho_dir_open(struct tacho_dir *dir, bool create, struct tacho_diag *d);
void tacho_dir_close(struct tacho_dir *dir);

/*
 * Takes the only lock among tools: while it is held, no other tool creates, changes or destroys
 * sessions.  A kill releases it.  Blocks.
 */
int tacho_dir_lock(struct tacho_dir *dir);
void tacho_dir_unlock(struct tacho_dir *dir);

#endif
