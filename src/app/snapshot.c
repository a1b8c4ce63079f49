// SPDX-License-Identifier: MIT
#include "app/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/output.h"
#include "app/session.h"
#include "base/atomic.h"
#include "sys/clock.h"

/* As long as a recorder may take to write what all lanes hold. */
#define ANSWER_NS	UINT64_C(60000000000)

/* The numbers wrap. */
static bool is_served(const struct tacho_control *c, uint32_t request)
{
	return (int32_t)(tacho_load_seq_cst(&c->served) - request) >= 0;
}

static int by_recorder(struct tacho_session *s, const struct tacho_observer *o,
		       struct app_snapshot *done, struct tacho_diag *d)
{
	struct tacho_control *c = s->view.ctl;
	uint64_t end = tacho_now_ns(CLOCK_MONOTONIC) + ANSWER_NS;
	uint32_t request;

	if (!(c->flags & TACHO_SESSION_OVERWRITE))
		return tacho_diag(d, -EALREADY, 0, "session '%s' is being recorded to '%s'; read that",
				  s->name, c->output);
	request = tacho_view_snapshot(&s->view);
	while (!is_served(c, request)) {
		if (tacho_now_ns(CLOCK_MONOTONIC) > end)
			return tacho_diag(d, -ETIMEDOUT, 0, "the recorder (pid %d) does not answer",
					  c->owner);
		if (!tacho_session_owned(s->path) && !is_served(c, request))
			return tacho_diag(d, -ESRCH, 0, "the recorder of session '%s' ended "
					  "without this snapshot; see '%s'", s->name, c->output);
		if (tacho_observer_cancelled(o))
			return tacho_diag(d, -ECANCELED, 0, "cancelled");
		usleep(10000);
	}
	done->by_recorder = tacho_load_seq_cst(&c->dumps);
	(void)snprintf(done->trace, sizeof(done->trace), "%.*s", (int)sizeof(c->output) - 1,
		       c->output);
	return 0;
}

static int write_here(struct tacho_session *s, const char *output, struct app_snapshot *done,
		      struct tacho_diag *d)
{
	struct tacho_recorder_stats stats;
	struct tacho_diag why = { 0 };
	int err = app_session_snapshot(s, output, &stats, &why);

	/* of linked buffers, which are LKST's, something else can be done */
	if (err == -EBUSY && s->view.ctl->flags & TACHO_SESSION_LINKED)
		return tacho_diag(d, err, 0, "the buffers of session '%s' are LKST's: 'lkstbuf "
				  "shift' goes to the next ones", s->name);
	if (err)
		return tacho_diag(d, err, why.offset, "%s", why.text[0] ? why.text :
				  strerror(-err));
	done->events = stats.events;
	return 0;
}

int app_snapshot(struct tacho_session *s, const char *output, bool given,
		 const struct tacho_observer *o, struct app_snapshot *done, struct tacho_diag *d)
{
	int err;

	*done = (struct app_snapshot){ 0 };
	if (tacho_session_owned(s->path))
		return by_recorder(s, o, done, d);
	err = app_output_ready(output, given, d);
	return err ? err : write_here(s, output, done, d);
}
