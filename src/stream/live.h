/* SPDX-License-Identifier: MIT */
/*
 * live.h - a session's rings as a source of records, while they are written.
 *
 * Each lane is a part.  If a lane has no new records, fill() returns AGAIN. The horizon is then
 * the time at which the read began, so that records of other parts up to that time can be
 * returned in order.
 */
#ifndef TACHO_STREAM_LIVE_H
#define TACHO_STREAM_LIVE_H

#include "stream/source.h"

/*
 * A flag of tacho_live_open(): read also the records from before a buffer's last snapshot.  It
 * applies to the buffers in which reading starts, not to those that a lane switches to later.
 */
#define TACHO_LIVE_ALL	(1u << 31)

/*
 * tacho_live_open - open the session called name in the run-time directory.
 *
 * flags: with TACHO_STREAM_CONSUME the reader releases what it read to the writers of a session
 * in discard mode; otherwise reading does not change the session.  TACHO_LIVE_ALL may be added.
 * Returns 0 and *source, or a negative errno with d filled in.
 */
int tacho_live_open(struct tacho_source **source, const char *name,
		    unsigned int flags, struct tacho_diag *d);

/*
 * As tacho_live_open(), for the buffers of the last tacho_session_snapshot().  The records end
 * with the snapshot; lanes without one are empty.
 */
int tacho_live_open_frozen(struct tacho_source **source, const char *name,
			   unsigned int flags, struct tacho_diag *d);

#endif
