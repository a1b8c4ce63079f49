/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - what a session holds now becomes a trace, while programs record on into it.
 *
 * A session whose recorder lives (a flight recorder, flight.h) is written by that recorder, next to
 * what it wrote before; one without, by the caller.
 */
#ifndef TACHO_APP_SNAPSHOT_H
#define TACHO_APP_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/observer.h"
#include "session/session.h"

struct app_snapshot {
	uint32_t by_recorder;	/* the number of the recorder's snapshot; 0: written here */
	char trace[256];	/* ... which writes them there */
	uint64_t events;	/* written here */
};

/*
 * app_snapshot - write what s holds.
 *
 * output, given: see app_output_ready(); of no effect when there is a recorder.  Waits for a
 * recorder up to a minute; o (which may be NULL) can cancel that.  Fills in *done and returns 0, or
 * returns a negative errno with d filled in: -EALREADY (the session is recorded, and not
 * overwritten), -ETIMEDOUT (the recorder does not answer), -ESRCH (it ended), -ECANCELED, what
 * tacho_session_snapshot() returns, ...
 */
int app_snapshot(struct tacho_session *s, const char *output, bool given,
		 const struct tacho_observer *o, struct app_snapshot *done, struct tacho_diag *d);

#endif
