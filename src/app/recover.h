/* SPDX-License-Identifier: MIT */
/*
 * recover.h - a readable trace of what a recorder, programs or a machine left behind.
 *
 *	by a recorder that was killed: a trace it was writing.  Torn packets are repaired, what
 *		its session still holds becomes one more chunk of the trace
 *	by a machine that crashed: a session's directory on disk
 *	by programs: a session without a recorder
 *
 * The order of the steps makes it repeatable: who is killed, cancelled or fails on the way leaves
 * something that can be recovered in turn.  The session is removed after its records are written,
 * the trace is closed after that.
 *
 * There is no state but what is on disk; the calling thread does all the work.  Two calls for the
 * same trace or session exclude each other no more than two processes do: they must not be made.
 */
#ifndef TACHO_APP_RECOVER_H
#define TACHO_APP_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/observer.h"

struct app_recover_config {
	const char *what;	/* a trace, a session's directory, or a session's name */
	const char *output;	/* where a session's trace goes */
	bool replace;		/* an older trace there becomes "<output>.old" */
	bool keep;		/* leave the session in place */
};

struct app_recover_result {
	uint64_t events;	/* of sessions; what was in the trace is not counted */
	uint64_t lost;
};

/*
 * app_recover - recover what config->what names.
 *
 * o may be NULL.  Fills in *result when it succeeds.  Returns 0, or a negative errno with d filled
 * in: -EBUSY (it is being recorded), -ENOENT (there is no such thing), -EINVAL (it is none of
 * these), -ECANCELED, or what failed.
 */
int app_recover(const struct app_recover_config *config, const struct tacho_observer *o,
		struct app_recover_result *result, struct tacho_diag *d);

#endif
