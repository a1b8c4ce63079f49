/* SPDX-License-Identifier: MIT */
/*
 * live.h - a session's rings as a source of records, while they are written.
 *
 * Each lane is a part.  Nothing new in a lane: AGAIN, with the clock as it was
 * before the lane was looked at as its horizon, so that the others' records up
 * to that moment can be handed out in order.
 */
#ifndef TACHO_STREAM_LIVE_H
#define TACHO_STREAM_LIVE_H

#include "stream/source.h"

/*
 * A flag of tacho_live_open(): what is behind in the buffers that are written, or were, also
 * from before the last snapshot that they were used for.  Not in those shifted to later.
 */
#define TACHO_LIVE_ALL	(1u << 31)

/*
 * tacho_live_open - open the session called name in the run-time directory.
 *
 * flags: with TACHO_STREAM_CONSUME what was read is given back to the
 * writers of a session that keeps old data; else the session does not
 * notice.  Or TACHO_LIVE_ALL.  Returns 0 and *source, or a negative errno with d filled in.
 */
int tacho_live_open(struct tacho_source **source, const char *name,
		    unsigned int flags, struct tacho_diag *d);

/*
 * The same for what the last tacho_session_snapshot() froze.  It ends where the
 * snapshot does; lanes that have none are empty.
 */
int tacho_live_open_frozen(struct tacho_source **source, const char *name,
			   unsigned int flags, struct tacho_diag *d);

#endif
