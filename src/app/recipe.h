/* SPDX-License-Identifier: MIT */
/*
 * recipe.h - ready-made questions: latencies, queues, allocations.
 *
 * A recipe is a question (query.h) with the form in which its answer is read.  What it asks
 * may depend on what was recorded: it has variants for different events, and a step may stand
 * for one command per event type ("sys_enter_*").  So a plan is made of it for one trace:
 *
 *	app_recipe_find(), app_recipe_plan() with the trace's stream, app_recipe_form();
 *	app_query_open() with plan.question
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

/* The form in which its answer is read. */
void app_recipe_form(const struct app_recipe *recipe, struct app_hist_form *form);

/* A recipe for one trace. */
struct app_recipe_plan {
	struct app_question question;
	const char *meaning;		/* how to read the answer: a sentence */
	struct tacho_arena arena;	/* of texts; private */
};

/*
 * Makes a plan for a trace, whose types decide the variant; NULL: for the running
 * kernel, or for a trace that has all events.  To be released either way.  Returns 0,
 * -E2BIG when the trace has too many types, or -ENOMEM.
 */
int app_recipe_plan(struct app_recipe_plan *plan, const struct app_recipe *recipe,
		    const struct tacho_stream *stream, struct tacho_diag *d);
void app_recipe_plan_release(struct app_recipe_plan *plan);

#endif
