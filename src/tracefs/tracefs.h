/* SPDX-License-Identifier: MIT */
/*
 * tracefs.h - the kernel's tracing files: find, read and write them, and report what to do if
 * that is not permitted.
 *
 * A struct tacho_tracefs is an open directory.  Several threads may read
 * through one at a time.
 */
#ifndef TACHO_TRACEFS_TRACEFS_H
#define TACHO_TRACEFS_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

struct tacho_tracefs {
	int dirfd;		/* the root of tracefs; -1: not open */
	char path[256];
};

enum tacho_tracefs_flag {
	/* Mount it at /sys/kernel/tracing if it is not mounted and this process is permitted to. */
	TACHO_TRACEFS_MOUNT = 1,
};

/*
 * tacho_tracefs_open - find tracefs and open its root.
 *
 * Looks at /sys/kernel/tracing, /sys/kernel/debug/tracing, then at
 * /proc/self/mounts.  flags: enum tacho_tracefs_flag.
 *
 * Returns 0, or with d filled in and t closed:
 *	-ENOENT		not mounted; d has the command
 *	-EACCES		no permission; d says what is required
 *	-ENODEV		the kernel has no tracing
 */
int tacho_tracefs_open(struct tacho_tracefs *t, unsigned int flags,
		       struct tacho_diag *d);

/* Closes t; does nothing if it is closed. */
void tacho_tracefs_close(struct tacho_tracefs *t);

/*
 * tacho_tracefs_read - append a whole file below dirfd to out.
 *
 * Returns 0, or the negative errno with d filled in.
 */
int tacho_tracefs_read(int dirfd, const char *path, struct tacho_buf *out,
		       struct tacho_diag *d);

/*
 * tacho_tracefs_write - write text to a file below dirfd.
 *
 * The kernel accepts lists word by word; the rest is written until all is accepted. append: keeps
 * the old contents of a list.
 *
 * Returns 0, or the negative errno with d filled in.
 */
int tacho_tracefs_write(int dirfd, const char *path, const char *text,
			bool append, struct tacho_diag *d);

/* One event that the kernel offers. */
struct tacho_kernel_event {
	const char *system;
	const char *name;
};

/*
 * tacho_tracefs_events - all events that can be enabled, by system and name.
 *
 * Memory comes from the arena.  Returns 0, *list and *nr, or a negative errno
 * with d filled in.
 */
int tacho_tracefs_events(const struct tacho_tracefs *t,
			 struct tacho_arena *arena,
			 struct tacho_kernel_event **list, size_t *nr,
			 struct tacho_diag *d);

struct tacho_ktypes;

/*
 * tacho_tracefs_load_own_types - add the types of system "ftrace", which any instance can
 * contain.  root: the directory.  Types that cannot be read are skipped.
 */
void tacho_tracefs_load_own_types(struct tacho_ktypes *t, int root);

#endif
