/* SPDX-License-Identifier: MIT */
/*
 * mount.h - a tree (compat/ftrace/tree.h) as a mounted directory, by libfuse.
 *
 * Properties of FUSE and of the files that determine the design
 *	- A request of the kernel costs more than most answers, so the kernel caches what it can;
 *	  mount_priv.h describes what, and how the caches stay valid.
 *	- A control file's length is not known before it is read: except for cached texts, files
 *	  are opened direct_io, sizes are 0, and the kernel asks for every read.
 *	- O_TRUNC comes with the open (FUSE_CAP_ATOMIC_O_TRUNC), because to the tree
 *	  opening with it is a command; truncate(2) alone does nothing.
 *	- The caller is the request's pid, not this process: records that it writes are recorded
 *	  as the caller's.
 *	- Streams are not seekable; a signal to the reader ends a waiting read (the kernel sends
 *	  INTERRUPT, which the read polls).
 *	- Each request runs in a separate thread, so a waiting request does not block others.
 *	- poll: a thread checks the files with waiters, and notifies the kernel.
 */
#ifndef TACHO_FUSE_MOUNT_H
#define TACHO_FUSE_MOUNT_H

#include <stdbool.h>

#include "base/diag.h"
#include "compat/ftrace/tree.h"

struct tacho_mount_config {
	const char *dir;	/* mount point */
	bool others;		/* other users may access the files, as their modes permit */
	/* Called after mounting, before the first request; may be NULL. */
	void (*ready)(void *arg);
	void *arg;
};

/*
 * tacho_mount_run - mount a tree and serve it until it is unmounted, or SIGINT, SIGTERM
 * or SIGHUP comes.
 *
 * The tree remains the caller's.  Returns 0, or a negative errno with d filled in.
 */
int tacho_mount_run(struct tacho_tree *tree, const struct tacho_mount_config *config,
		    struct tacho_diag *d);

#endif
