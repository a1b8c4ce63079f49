/* SPDX-License-Identifier: MIT */
/*
 * own_time.h - records that were written later than what they tell of happened.
 *
 * Lanes are written in the order of time, so who brings events from elsewhere (LKST's pump, those
 * of the kernel) writes them behind others that are younger.  They have the moment, in ticks of
 * the session's clock, in a field `time`; only those of the system lkst do.  In sessions whose
 * buffers are linked each buffer is read as two parts: the events without that field; and those
 * with it, each moved to its moment.
 * Both ascend, as whoever brings them does so in their order: the stream can merge them.
 *
 * What was brought when others of that time were handed out already cannot go before them: it gets
 * the earliest time that is left.
 */
#ifndef TACHO_STREAM_OWN_TIME_H
#define TACHO_STREAM_OWN_TIME_H

#include "stream/source.h"

/* Where types have it; zeroed: nothing is known.  _release frees. */
struct tacho_own_time {
	uint16_t *at;		/* by id: 0 not known, 1 nowhere, else 2 + byte of the raw event */
};
void tacho_own_time_release(struct tacho_own_time *o);

/*
 * Keeps those of the whole records [data, data + *len) that have an own time, which becomes theirs;
 * or (own false) the others.  last: time of the packet, or the record before.  *floor: no time is
 * set before it; then that of the last one.  *first: of the first one.  0 or -ENOMEM.
 */
int tacho_own_time_keep(struct tacho_own_time *o, struct tacho_source *source, bool own,
			unsigned char *data, uint32_t *len, uint64_t last, uint64_t *floor,
			uint64_t *first);

#endif
