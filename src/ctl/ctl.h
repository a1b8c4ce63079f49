/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - the inside of <tacho/session.h>.
 *
 * A handle is an open session, and its instance in the kernel once that is needed.  Nothing
 * else is kept: what a handle says is read from the session at that moment.
 */
#ifndef TACHO_CTL_CTL_H
#define TACHO_CTL_CTL_H

#include "base/compiler.h"
#include "base/diag.h"
#include "kernel/instance.h"
#include "session/session.h"
#include "tacho/session.h"

struct tacho_ctl {
	struct tacho_dir dir;
	struct tacho_session session;
	struct tacho_kernel *kernel;	/* NULL: none yet */
	uint64_t kernel_size;		/* bytes per CPU to make it with; 0: default */
	struct tacho_error error;	/* of the last call that failed */
	char instance[TACHO_KERNEL_INSTANCE_MAX];	/* texts of tacho_ctl_status */
	char output[sizeof(((struct tacho_control *)0)->output) + 1];
};

/* Copies d into *error (which may be NULL); returns d->err. */
int tacho_ctl_give_error(struct tacho_error *error, const struct tacho_diag *d);

/*
 * Ends a call: 0 as it is, a negative errno with d's message in the handle; where d has none,
 * with one that says `what` could not be done.
 */
int tacho_ctl_done(struct tacho_ctl *ctl, int err, const struct tacho_diag *d, const char *what);

/*
 * The session's instance in the kernel, from now on ctl->kernel.  make: where there is none,
 * makes it.  0, or a negative errno with d filled in: -ENOENT, there is none.
 */
int tacho_ctl_kernel(struct tacho_ctl *ctl, bool make, struct tacho_diag *d);

/* Whether another tool has destroyed the session. */
bool tacho_ctl_is_dead(const struct tacho_ctl *ctl);

#endif
