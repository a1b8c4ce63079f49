/* SPDX-License-Identifier: MIT */
/*
 * hist_query.h - a question of the command line: put (app/query.h), shown and watched.  What
 * 'tacho hist' and 'tacho recipe run' share.
 */
#ifndef TACHO_CLI_HIST_QUERY_H
#define TACHO_CLI_HIST_QUERY_H

#include "app/recipe.h"

struct cli_hist_query {
	const char *trace;	/* a path, session:NAME or "kernel"; NULL: the newest */
	const struct app_recipe *recipe;	/* makes question and form; NULL: they are set */
	bool json;		/* the recipe's answer as JSON */
	struct app_question question;
	struct app_hist_form form;	/* its width is the terminal's */
	uint64_t watch_ns;	/* live: print again and again; 0: once, at the end */
	uint64_t duration_ns;	/* live: stop after that time; 0: at Ctrl-C */
	const char *snapshot;	/* where the newest snapshot goes, or NULL */
};

/* Reads the trace, and prints the answer.  Returns an exit status, with a message. */
int cli_hist_query(struct cli_hist_query *query);

/*
 * Prints the histograms that the programs of a session count themselves, and the kernel in
 * its instance (query->trace is set: the kernel alone), of the events that the glob `event`
 * means (NULL: all).  The question is not used.  As cli_hist_query().
 */
int cli_hist_session(struct cli_hist_query *query, const char *session, const char *event);

#endif
