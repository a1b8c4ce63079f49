/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - internals of <tacho/session.h>.
 *
 * A handle is an open session and, from its first use on, the session's instance in the kernel.
 * It caches nothing: each call reads the session.
 */
#ifndef TACHO_CTL_CTL_H
#define TACHO_CTL_CTL_H

#include "app/session_info.h"
#include "base/compiler.h"
#include "base/diag.h"
#include "session/session.h"
#include "tacho/session.h"

struct tacho_kernel;

struct tacho_ctl {
	struct tacho_dir dir;
	struct tacho_session session;
	struct tacho_kernel *kernel;	/* NULL: not opened yet */
	uint64_t kernel_size;		/* bytes per CPU to create it with; 0: default */
	struct tacho_error error;	/* of the last failed call */
	struct app_session_info info;	/* has the texts of tacho_ctl_status */
};

/* Copies d into *error (which may be NULL); returns d->err. */
int tacho_ctl_give_error(struct tacho_error *error, const struct tacho_diag *d);

/*
 * Ends a call: stores d's message in the handle if err is negative, or, if d is empty, "cannot
 * WHAT session ...".  Returns err.
 */
int tacho_ctl_done(struct tacho_ctl *ctl, int err, const struct tacho_diag *d, const char *what);

/*
 * Opens the session's instance in the kernel as ctl->kernel; make: creates it if it does not
 * exist.  Returns 0, or a negative errno with d filled in (-ENOENT: it does not exist).
 */
int tacho_ctl_kernel(struct tacho_ctl *ctl, bool make, struct tacho_diag *d);

/* The number of a clock's name, as sessions have it; NULL: -1, the best.  0, or -EINVAL with d. */
int tacho_ctl_clock(const char *name, int *clock, struct tacho_diag *d);

/* Whether another tool has destroyed the session. */
bool tacho_ctl_is_dead(const struct tacho_ctl *ctl);

#endif
