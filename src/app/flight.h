/* SPDX-License-Identifier: MIT */
/*
 * flight.h - the flight recorder of a recording (record.h).
 *
 * Writers overwrite memory; what it holds is written at the end, when somebody requests a
 * snapshot (app_record_snapshot(), or a snapshot trigger in a traced program: a count in the
 * session's control block), or around an event (config.snapshot_event).
 *
 * The event that is waited for is recorded a second time, alone, in a small session (or kernel
 * instance) of its own: watching that costs nothing while it does not happen.  Its copy there
 * only wakes the recorder: its time differs from the one in the trace.  What a snapshot contains
 * follows from the records:
 *
 *	F1  the watching session's bit is above the session's (and its instance is
 *	    younger), so a copy there is written after the record here
 *	F2  the copy is seen: the history collects (record/history.h), so that
 *	    what was before the event is safe, however long after_ns is
 *	F3  the event is found in the history, which says its time; one that is
 *	    not there is not recorded (the session is stopped, say): no snapshot
 *	F4  when after_ns have passed, the history collects again
 *	F5  the window is written: from before_ns before the event to after_ns behind
 *	    it, or to that behind the last event whose window overlaps and is over by then
 *	F6  the next event is the first one behind the window
 *
 * So the number of snapshots is bounded by the time that one takes, and events that come
 * faster than that share one.
 *
 * The first snapshot is directory 0001 below config.output, and so on; but one that is written at
 * the end, and is the only one, is config.output itself.
 *
 * An error ends it: what is in memory stays in the session (record.h, 4).
 */
#ifndef TACHO_APP_FLIGHT_H
#define TACHO_APP_FLIGHT_H

#include "base/diag.h"

struct app_flight;
struct app_record;

/*
 * For record.c.  begin: in the place of a recorder, when r is prepared: lets it record, and
 * executes the command.  step and finish as app_record_step() and app_record_finish().  begin
 * returns 0, or a negative errno with d filled in; in both cases *f is to be freed, or NULL.  r
 * outlives f.
 */
int app_flight_begin(struct app_flight **f, struct app_record *r, struct tacho_diag *d);
int app_flight_step(struct app_flight *f, struct tacho_diag *d);
int app_flight_finish(struct app_flight *f, struct tacho_diag *d);

/* Ends the watching, too.  NULL is fine. */
void app_flight_free(struct app_flight *f);

#endif
