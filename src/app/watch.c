// SPDX-License-Identifier: MIT
#include "app/watch.h"

#include <time.h>

#include "sys/clock.h"

#define PAUSE_NS	20000000

void app_watch_begin(const struct app_watch *w, struct app_watch_state *state, bool later)
{
	uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);

	*state = (struct app_watch_state){
		.end_ns = w->duration_ns ? now + w->duration_ns : 0,
		.next_ns = later ? now + w->every_ns : now,
	};
}

bool app_watch_ended(const struct app_watch_state *state)
{
	return state->end_ns && tacho_now_ns(CLOCK_MONOTONIC) >= state->end_ns;
}

int app_watch_step(const struct app_watch *w, struct app_watch_state *state,
		   struct tacho_diag *d)
{
	uint64_t now;

	if (!w->every_ns || !w->refresh)
		return 0;
	now = tacho_now_ns(CLOCK_MONOTONIC);
	if (now < state->next_ns && !(w->due && w->due(w->arg)))
		return 0;
	state->next_ns = now + w->every_ns;
	return w->refresh(w->arg, d);
}

int app_watch_run(const struct app_watch *w, const struct tacho_observer *observer,
		  struct tacho_diag *d)
{
	struct app_watch_state state;
	int err;

	app_watch_begin(w, &state, false);
	do {
		if (tacho_observer_cancelled(observer))
			return -ECANCELED;
		err = app_watch_step(w, &state, d);
		if (err)
			return err;
		app_watch_pause();
	} while (!app_watch_ended(&state));
	return 0;
}

void app_watch_pause(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	(void)nanosleep(&pause, NULL);
}
