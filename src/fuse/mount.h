/* SPDX-License-Identifier: MIT */
/*
 * mount.h - a tree (compat/ftrace/tree.h) as a mounted directory, by libfuse.
 *
 * Facts that shape it
 *	- A question of the kernel costs more than most answers, so it keeps what it
 *	  can; mount_priv.h says what, and how that stays true.
 *	- A control file's length is not known before it is read: but for the texts that are
 *	  kept, files are opened direct_io, sizes are 0, and the kernel asks for every read.
 *	- O_TRUNC comes with the open (FUSE_CAP_ATOMIC_O_TRUNC), because to the tree
 *	  opening with it is a command; truncate(2) alone does nothing.
 *	- Who asks is the request's pid, not this process: what it writes
 *	  is recorded as its.
 *	- Streams are not seekable; a read that waits is ended by a signal to the
 *	  reader (the kernel sends INTERRUPT), which is looked at while it waits.
 *	- Each request runs in a thread of its own, so one that waits is in nobody's way.
 *	- poll: a thread looks at the files that somebody waits for, and tells the kernel.
 */
#ifndef TACHO_FUSE_MOUNT_H
#define TACHO_FUSE_MOUNT_H

#include <stdbool.h>

#include "base/diag.h"
#include "compat/ftrace/tree.h"

struct tacho_mount_config {
	const char *dir;	/* to be mounted on */
	bool others;		/* other users get to the files, as far as modes let them */
	/* Called once it is mounted, before the first request; may be NULL. */
	void (*ready)(void *arg);
	void *arg;
};

/*
 * tacho_mount_run - mount a tree and serve it until it is unmounted, or SIGINT, SIGTERM
 * or SIGHUP comes.
 *
 * The tree stays the caller's.  Returns 0, or a negative errno with a sentence.
 */
int tacho_mount_run(struct tacho_tree *tree, const struct tacho_mount_config *config,
		    struct tacho_diag *d);

#endif
