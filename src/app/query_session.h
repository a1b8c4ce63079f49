/* SPDX-License-Identifier: MIT */
/*
 * query_session.h - the histograms that a recording maintains itself: those of the triggers
 * that the programs of a session run, and the hist files of its kernel instance.
 *
 * Programs count in maps that they share with tools (session/command.h), so looking is a
 * copy, costs them nothing and may be repeated: app_watch_run() (watch.h) with a refresh that
 * calls app_session_query_put().  Names of threads are those of now, functions those
 * of the files that the programs have mapped.
 *
 * One thread per query; errors as in query.h.
 */
#ifndef TACHO_APP_QUERY_SESSION_H
#define TACHO_APP_QUERY_SESSION_H

#include "app/hist_form.h"
#include "base/diag.h"
#include "engine/hist.h"

struct app_session_query;

/*
 * Opens what there is by that name: a session, the kernel instance of a recording, or both.
 * kernel_only: the instance, and an error without one.  Returns 0, or a negative errno with d
 * filled in and *query NULL.
 */
int app_session_query_open(struct app_session_query **query, const char *name,
			   bool kernel_only, struct tacho_diag *d);
void app_session_query_close(struct app_session_query *query);

/* Each returns 0, or not 0 to end.  One that is NULL: those are not looked at. */
struct app_session_visitor {
	/* hist and names are valid until it returns. */
	int (*hist)(const struct tacho_hist *hist, const struct tacho_names *names, void *arg);
	/* A kernel event ("system:event") and all of its hist file. */
	int (*kernel)(const char *event, const char *text, void *arg);
	void *arg;
};

/*
 * Calls the visitor for every histogram that has been hit, of events that the glob `event`
 * means (NULL: all); the programs' first.  Returns 0, what the visitor returned, or a
 * negative errno with d filled in.
 */
int app_session_query_each(struct app_session_query *query, const char *event,
			   const struct app_session_visitor *visitor, struct tacho_diag *d);

/*
 * Appends them all in a form; *nr: how many.  Returns 0, -EINVAL with the reason when the
 * form's quantiles fit none of them, or another negative errno with d filled in.
 */
int app_session_query_put(struct app_session_query *query, const char *event,
			  const struct app_hist_form *form, struct tacho_buf *out,
			  uint32_t *nr, struct tacho_diag *d);

#endif
