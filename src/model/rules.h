/* SPDX-License-Identifier: MIT */
/*
 * rules.h - rules as text and as rows.
 *
 * A row is one rule, still as text: which event, which verb, which object, and a text for each
 * of its arguments.  plan.h makes of it what runs for one event type.
 *
 * User forms are rewritten to rows when they are parsed:
 *
 *	span N: A -> B by k		A begin span.N key=k ...; B end span.N key=k ...
 *	span N: A -> B			A begin thread key="N" ...; B end thread key="N" ...
 *	counter N: A.f by k		A counter machine "N" value=f by=k
 *
 * Rows never change after they were added.
 */
#ifndef TACHO_MODEL_RULES_H
#define TACHO_MODEL_RULES_H

#include <stdbool.h>

#include "base/arena.h"
#include "model/model.h"

enum model_verb {
	MODEL_SWITCH, MODEL_WAKING, MODEL_WAKEUP, MODEL_WAKER, MODEL_SET_STATE, MODEL_FORK,
	MODEL_EXIT, MODEL_RENAME, MODEL_BEGIN, MODEL_CONTINUE, MODEL_FINISH, MODEL_COUNT,
	MODEL_SEND, MODEL_RECEIVE, MODEL_MARK,
	MODEL_NR_VERBS,
};

enum model_object {
	MODEL_ON_NOTHING, MODEL_ON_THREAD, MODEL_ON_IRQ, MODEL_ON_SOFTIRQ, MODEL_ON_DEVICE,
	MODEL_ON_SPAN, MODEL_ON_CPU, MODEL_ON_PROCESS, MODEL_ON_MACHINE,
};

/* Arguments NAME=VALUE. */
enum model_arg {
	MODEL_ARG_OUT, MODEL_ARG_OUT_NAME, MODEL_ARG_IN, MODEL_ARG_IN_NAME, MODEL_ARG_STATE,
	MODEL_ARG_THREAD, MODEL_ARG_PROCESS, MODEL_ARG_NAME, MODEL_ARG_FLAGS, MODEL_ARG_VALUE,
	MODEL_ARG_CPU, MODEL_ARG_DEV, MODEL_ARG_KEY, MODEL_ARG_BY, MODEL_ARG_CAT,
	MODEL_ARG_UNLESS,
	MODEL_NR_ARGS,
};

struct model_row {
	struct model_row *next;
	const char *text;		/* the rule; "": it belongs to the row before */
	const char *event;		/* "system:name", with globs */
	const char *where;		/* the span's or counter's name; or NULL */
	const char *arg[MODEL_NR_ARGS];	/* as text; or NULL */
	enum model_verb verb;
	enum model_object object;
	bool only;
};

struct model_rules {
	struct tacho_arena arena;
	struct model_row *row;		/* in the order in which they apply */
	const struct model_row *builtin;	/* the first that the user did not add */
};

extern const char model_builtin_rules[];

/*
 * model_rules_parse - lines of rules as rows, appended to **tail.
 *
 * Returns 0, -EINVAL with d (offset: the byte in text), or -ENOMEM.
 */
int model_rules_parse(struct tacho_arena *arena, const char *text, size_t len,
		      struct model_row ***tail, struct tacho_diag *d);

/*
 * Whether `name` matches a pattern with at most one '*'; *star is where what that matched begins,
 * *star_len its length (0 without '*').  star may be NULL.
 */
bool model_pattern_match(const char *pattern, size_t pattern_len, const char *name,
			 const char **star, size_t *star_len);

/* Whether system:name matches a row's event; star: of the name. */
bool model_event_match(const char *event, const char *system, const char *name,
		       const char **star, size_t *star_len);

#endif
