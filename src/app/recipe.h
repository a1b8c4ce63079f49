/* SPDX-License-Identifier: MIT */
/*
 * recipe.h - ready-made questions: latencies, queues, allocations.
 *
 * A recipe is a question (query.h) with the form in which its answer is read.  Most can be put in
 * two ways:
 *
 *	APP_RECIPE_MODEL
 *		To the model (model_events.h): of any trace that has what it needs in any form,
 *		whichever system made it.  The way for traces.
 *	APP_RECIPE_EVENTS
 *		To events of the Linux kernel or a program, as histograms with variables and
 *		synthetic events.  The way for what goes on: it runs where the events happen.
 *		Also for traces, where the model knows nothing of it.
 *
 * Of events, what is asked may depend on what was recorded: there are variants for different
 * events, and a step may stand for one command per event type ("sys_enter_*").  So a plan is made
 * of a recipe for one trace:
 *
 *	app_recipe_find(), app_recipe_way(), app_recipe_plan() with the trace's stream
 *	app_query_open() with plan.question; app_query_run()
 *	app_recipe_check() before and after: what the trace lacks
 *
 * All of it is constant data and may be used by any number of threads.
 */
#ifndef TACHO_APP_RECIPE_H
#define TACHO_APP_RECIPE_H

#include "app/query.h"
#include "base/arena.h"

struct app_recipe;

/* The recipes in their order, by number from 0 or by name; NULL: there is none. */
const struct app_recipe *app_recipe_at(uint32_t i);
const struct app_recipe *app_recipe_find(const char *name);

const char *app_recipe_name(const struct app_recipe *recipe);

/* What it answers, in half a line. */
const char *app_recipe_summary(const struct app_recipe *recipe);

enum app_recipe_way { APP_RECIPE_MODEL, APP_RECIPE_EVENTS };

/* Whether a recipe can be put that way, and how it is put to a stream; NULL: the running kernel. */
bool app_recipe_has(const struct app_recipe *recipe, enum app_recipe_way way);
enum app_recipe_way app_recipe_way(const struct app_recipe *recipe,
				   const struct tacho_stream *stream);

/* A recipe for one trace. */
struct app_recipe_plan {
	struct app_question question;
	struct app_hist_form form;	/* in which the answer is read */
	const char *meaning;		/* how to read it: a sentence */
	struct tacho_arena arena;	/* of texts; private */
};

/*
 * Makes a plan for a trace, whose types decide the variant; NULL: for the running
 * kernel, or for a trace that has all events.  way: one that it has.  To be released either way.
 * Returns 0, -E2BIG when the trace has too many types, or -ENOMEM.
 */
int app_recipe_plan(struct app_recipe_plan *plan, const struct app_recipe *recipe,
		    enum app_recipe_way way, const struct tacho_stream *stream,
		    struct tacho_diag *d);
void app_recipe_plan_release(struct app_recipe_plan *plan);

/*
 * Whether a trace has what the recipe needs.  query NULL: before the query is opened, by the events
 * without which there is no answer.  Else after app_query_run(): also by what the model can make
 * of the trace, if nothing was found.  Returns 0; -ENODATA with a sentence that says
 * what the trace lacks and how it is recorded; or -ENOMEM.
 */
int app_recipe_check(const struct app_recipe *recipe, const struct tacho_stream *stream,
		     const struct app_query *query, struct tacho_diag *d);

#endif
