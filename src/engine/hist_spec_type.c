// SPDX-License-Identifier: MIT
/* Histogram triggers: resolves names by the event's type. */
#include "engine/hist_spec_priv.h"

#include <errno.h>

struct type_binder {
	struct tacho_hist_spec *spec;
	struct tacho_arena *a;
	const struct tacho_type *type;
	struct tacho_cmd_error *e;
};

static bool is_stack(const struct tacho_field *f)
{
	return f && f->kind == TACHO_FIELD_DATA_LOC && f->elem_size == 8 &&
	       !(f->flags & TACHO_FIELD_STRING) && strstr(f->elem, "long");
}

/*
 * The meaning of a name that is not a field; otherwise the name itself.  The kernel shows the CPU
 * as common_cpu, except in operands, where it shows the written name.
 */
static const char *true_name(const struct type_binder *b, const char *name,
			     bool operand)
{
	if (tacho_type_field(b->type, name))
		return name;
	if (!strcmp(name, "cpu") || !strcmp(name, "CPU"))
		return operand ? name : "common_cpu";
	if (!strcmp(name, "stacktrace") || !strcmp(name, "STACKTRACE"))
		return "common_stacktrace";
	return name;
}

static const struct tacho_hist_expr *bind_field(struct type_binder *b,
						const struct tacho_hist_expr *x,
						bool operand)
{
	const char *name = true_name(b, x->name, operand);
	bool stack = is_stack(tacho_type_field(b->type, name));
	struct tacho_hist_expr *new;

	if (name == x->name && (!stack || x->mods & TACHO_MOD_STACKTRACE))
		return x;
	new = tacho_arena_alloc(b->a, sizeof(*new));
	if (!new)
		return NULL;
	*new = *x;
	new->name = name;
	if (stack)
		new->mods = TACHO_MOD_STACKTRACE;
	return new;
}

/* A copy of x at the place of `at`. */
static const struct tacho_hist_expr *written_as(const struct type_binder *b,
						const struct tacho_hist_expr *x,
						const struct tacho_hist_expr *at)
{
	struct tacho_hist_expr *new = tacho_arena_alloc(b->a, sizeof(*new));

	if (!new)
		return NULL;
	*new = *x;
	new->text = at->text;
	new->column = at->column;
	return new;
}

/* The plain field that a variable of this histogram stands for; x itself if it does not. */
static const struct tacho_hist_expr *own_field(const struct type_binder *b,
					       const struct tacho_hist_expr *x)
{
	const struct tacho_hist_spec *spec = b->spec;

	if (!x->system || strcmp(x->system, b->type->system) ||
	    strcmp(x->event, b->type->name))
		return x;
	for (uint32_t i = 0; i < spec->nr_vars; i++)
		if (!strcmp(spec->var[i].name, x->name) &&
		    spec->var[i].expr->op == TACHO_EXPR_FIELD)
			return written_as(b, spec->var[i].expr, x);
	return x;
}

static const struct tacho_hist_expr *bind_expr(struct type_binder *b,
					       const struct tacho_hist_expr *x,
					       bool operand)
{
	const struct tacho_hist_expr *left = NULL, *right = NULL, *own = x;
	struct tacho_hist_expr *new;

	if (x->op == TACHO_EXPR_VAR)
		own = own_field(b, x);
	if (!own)
		return NULL;
	if (own->op == TACHO_EXPR_FIELD)
		return bind_field(b, own, operand);
	if (x->left)
		left = bind_expr(b, x->left, true);
	if (x->right)
		right = bind_expr(b, x->right, true);
	if (left == x->left && right == x->right)
		return x;
	new = left && !right == !x->right ?
	      tacho_arena_alloc(b->a, sizeof(*new)) : NULL;
	if (!new)
		return NULL;
	*new = *x;
	new->left = left;
	new->right = right;
	return new;
}

static int bind(struct type_binder *b, const struct tacho_hist_expr **x)
{
	const struct tacho_hist_expr *new = bind_expr(b, *x, false);

	if (!new)
		return tacho_cmd_error(b->e, -ENOMEM, b->spec->base, "No memory");
	*x = new;
	return 0;
}

/* Checks whether the resolved name is valid for a value. */
static int check_val(struct type_binder *b, const struct tacho_hist_expr *x)
{
	if (x->op != TACHO_EXPR_FIELD ||
	    (!(x->mods & TACHO_MOD_STACKTRACE) &&
	     strcmp(x->name, "common_stacktrace")))
		return 0;
	return tacho_cmd_error(b->e, -EINVAL,
			       tacho_hist_spec_place(b->spec, x->text),
			       "Invalid field modifier");
}

static int bind_all(struct type_binder *b)
{
	struct tacho_hist_spec *spec = b->spec;
	int err = 0;

	for (uint32_t i = 0; !err && i < spec->nr_vals; i++) {
		err = bind(b, &spec->val[i]);
		if (!err)
			err = check_val(b, spec->val[i]);
	}
	for (uint32_t i = 0; !err && i < spec->nr_vars; i++)
		err = bind(b, &spec->var[i].expr);
	for (uint32_t i = 0; !err && i < spec->nr_keys; i++)
		err = bind(b, &spec->key[i]);
	return err;
}

/* Renames sort keys after their key or value, because they are found by name. */
static void rename_sort(struct tacho_hist_sort *sort,
			const struct tacho_hist_expr *by)
{
	if (by && by->op == TACHO_EXPR_FIELD)
		sort->name = by->name;
}

static const struct tacho_hist_expr **slot_of(struct tacho_hist_spec *spec,
					      const struct tacho_hist_expr *x)
{
	for (uint32_t i = 0; i < spec->nr_vals; i++)
		if (spec->val[i] == x)
			return &spec->val[i];
	for (uint32_t i = 0; i < spec->nr_keys; i++)
		if (spec->key[i] == x)
			return &spec->key[i];
	return NULL;
}

int tacho_hist_spec_bind_type(struct tacho_hist_spec *spec,
			      struct tacho_arena *a,
			      const struct tacho_type *type,
			      struct tacho_cmd_error *e)
{
	const struct tacho_hist_expr **by[TACHO_HIST_SORTS_MAX] = { NULL };
	struct type_binder b = { spec, a, type, e };
	int err;

	for (uint32_t i = 0; i < spec->nr_sorts; i++)
		by[i] = slot_of(spec, tacho_hist_sort_target(spec, &spec->sort[i]));
	err = bind_all(&b);
	for (uint32_t i = 0; !err && i < spec->nr_sorts; i++)
		rename_sort(&spec->sort[i], by[i] ? *by[i] : NULL);
	return err;
}
