/* SPDX-License-Identifier: MIT */
/*
 * watch.h - what goes on while a live source is looked at: how long, and a refresh every
 * so often.
 *
 * The thread that runs app_query_run() or app_watch_run() calls due and refresh, between
 * two steps of the work.  refresh may read the query's histograms, and must not run, change
 * or close the query.
 */
#ifndef TACHO_APP_WATCH_H
#define TACHO_APP_WATCH_H

#include "base/diag.h"
#include "base/observer.h"

/* Zero-initialised: no refresh, until cancelled. */
struct app_watch {
	uint64_t every_ns;	/* 0: no refresh */
	uint64_t duration_ns;	/* 0: until cancelled */
	/* Whether to refresh now although the time has not come; may be NULL. */
	bool (*due)(void *arg);
	/* Shows what there is.  Returns 0, or a negative errno, with which all ends. */
	int (*refresh)(void *arg, struct tacho_diag *d);
	void *arg;
};

/* A watch that goes on: when it began and when the next refresh is.  Private. */
struct app_watch_state {
	uint64_t end_ns, next_ns;	/* CLOCK_MONOTONIC; end 0: never */
};

/* Begins; the first refresh is at once, or (later) when every_ns has passed. */
void app_watch_begin(const struct app_watch *w, struct app_watch_state *state, bool later);

/* Whether the time is up. */
bool app_watch_ended(const struct app_watch_state *state);

/* Refreshes if that is due.  Returns 0, or what refresh returned. */
int app_watch_step(const struct app_watch *w, struct app_watch_state *state,
		   struct tacho_diag *d);

/*
 * Refreshes at once, then every w->every_ns, until the time is up, or observer (may be NULL)
 * has cancelled it.  Returns 0, -ECANCELED, or what refresh returned.
 */
int app_watch_run(const struct app_watch *w, const struct tacho_observer *observer,
		  struct tacho_diag *d);

/* Waits for a moment, 20 ms, before the next look.  A signal ends it. */
void app_watch_pause(void);

#endif
