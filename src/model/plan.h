/* SPDX-License-Identifier: MIT */
/*
 * plan.h - rules for one event type: rows whose values are fields of that type.
 *
 * A plan is made when the first record of a type comes, and is used for all others.  It is
 * a list of actions in the order of the rows.  A row that needs a field which the type lacks
 * gives no action.
 */
#ifndef TACHO_MODEL_PLAN_H
#define TACHO_MODEL_PLAN_H

#include "event/type.h"
#include "event/value_names.h"
#include "model/rules.h"

/* How a field's value is read. */
enum model_how {
	MODEL_AS_IS, MODEL_AS_NAME, MODEL_AS_SYSCALL, MODEL_AS_SYM, MODEL_AS_DEV, MODEL_AS_BASE,
	MODEL_AS_S32, MODEL_AS_CHARS,
};

struct model_value {
	const struct tacho_field *field;	/* NULL: text */
	const char *text;			/* or NULL: there is no such value */
	enum model_how how;
	struct tacho_name_table names;		/* MODEL_AS_NAME */
};

#define MODEL_KEYS_MAX	8u

/* States by the bits of a switch's `state`, made from the print format. */
#define MODEL_STATE_BITS	8u

struct model_action {
	const struct model_action *next;
	enum model_verb verb;
	enum model_object object;
	bool only;
	bool qnx_thread;		/* the record's thread is the CPU's by thread states */
	struct model_value arg[MODEL_NR_ARGS];	/* KEY and BY: see key */
	struct model_value key[MODEL_KEYS_MAX];	/* of KEY, or BY */
	uint32_t nr_keys;
	const char *category, *where;		/* interned; or NULL */
	uint64_t category_key, where_key;	/* as part of a key */
	struct model_value label;		/* counter's name */
	/* switch: the bits of D X Z T t P I S; 0: the kernel's own numbers */
	uint64_t bit[MODEL_STATE_BITS];
	uint64_t mask;
	enum model_thread_state state;		/* MODEL_SET_STATE */
};

struct model_plan {
	const struct model_action *first;	/* NULL: no rule */
	bool is_kernel;			/* its records are the kernel's */
	bool is_lkst;			/* ... or each says whether it is: its number */
};

struct model;

/* Whether a rule applies to a type that lacks the fields of this argument. */
bool model_arg_is_optional(const struct model_row *row, int arg);

/* The plan of a type, made in the model's arena; NULL: no memory. */
struct model_plan *model_plan_make(struct model *m, const struct tacho_type *type,
				   bool is_kernel);

#endif
