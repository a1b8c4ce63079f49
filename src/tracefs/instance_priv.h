/* SPDX-License-Identifier: MIT */
/* instance_priv.h - shared by instance.c and enable.c. */
#ifndef TACHO_TRACEFS_INSTANCE_PRIV_H
#define TACHO_TRACEFS_INSTANCE_PRIV_H

#include "base/arena.h"
#include "tracefs/instance.h"

struct tacho_kernel {
	struct tacho_tracefs tracefs;
	struct tacho_kernel_info info;
	struct tacho_arena arena;	/* names of events */
	int dirfd;			/* the instance */
	int on_fd;			/* its tracing_on */
	bool made;			/* its directory exists */
	bool on;			/* recording */
	struct tacho_kernel_event *enabled;	/* info.nr_enabled of them */
};

#endif
