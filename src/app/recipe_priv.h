/* SPDX-License-Identifier: MIT */
/* recipe_priv.h - a recipe as it is written down: recipe_table.c. */
#ifndef TACHO_APP_RECIPE_PRIV_H
#define TACHO_APP_RECIPE_PRIV_H

#include "app/recipe.h"
#include "model/model.h"

#define RECIPE_STEPS_MAX	4
#define RECIPE_VARIANTS_MAX	2
#define RECIPE_NEEDS_MAX	2

/*
 * One way to answer a recipe's question from events, by those that it needs.  A step whose event
 * and text both have a '*' stands for one command per event type that the glob matches:
 * the text's '*' becomes what the glob's '*' matched.  Types whose counterpart (the event
 * of `pair` with that text) was not recorded are left out.
 */
struct recipe_variant {
	const char *meaning;	/* how to read the result */
	const char *synth;	/* or NULL */
	struct app_question_command step[RECIPE_STEPS_MAX];	/* the last one is printed */
	const char *pair;	/* or NULL: a glob */
};

/* What a trace must have for the model to answer. */
struct recipe_need {
	enum model_offer offer;
	const char *categories;	/* as model_offers() */
	const char *missing;	/* "this trace has no event that ..."; NULL: the end of the list */
};

/* The question to the model.  text NULL: the model does not know. */
struct recipe_asked {
	const char *meaning, *event, *text, *by;
	struct recipe_need need[RECIPE_NEEDS_MAX];
};

/*
 * The first variant is taken for all of whose events the trace has types; without a trace, or
 * where none fits, the first.
 */
struct app_recipe {
	const char *name;
	const char *summary;
	const char *needs;	/* "thread switches and wakeups" */
	const char *record;	/* events of Linux that have it; NULL: programs have it */
	/* without a question to the model: without which there is no answer, "a:b|*:c,d:e" */
	const char *events;
	struct recipe_asked model;
	struct recipe_variant variant[RECIPE_VARIANTS_MAX];
	enum app_hist_shape shape;
	const char *by;		/* of events: p50, p99 and max of the key that is left, or NULL */
};

extern const struct app_recipe app_recipes[];
extern const uint32_t app_nr_recipes;

#endif
