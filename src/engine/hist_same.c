// SPDX-License-Identifier: MIT
/* Which histograms are the same, and which are compatible. */
#include "engine/hist_priv.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_leaf(const struct tacho_hist_expr *a,
		      const struct tacho_hist_expr *b)
{
	return a->op == b->op && a->mods == b->mods && a->buckets == b->buckets &&
	       same_text(a->name, b->name) && same_text(a->system, b->system) &&
	       same_text(a->event, b->event) &&
	       (a->op != TACHO_EXPR_CONST || a->value == b->value);
}

/* The recursion is shallow: the parser allows three operators. */
static bool same_expr(const struct tacho_hist_expr *a,
		      const struct tacho_hist_expr *b)
{
	while (a && b) {
		if (!same_leaf(a, b) || !a->right != !b->right ||
		    (a->right && !same_expr(a->right, b->right)))
			return false;
		a = a->left;
		b = b->left;
	}
	return a == b;
}

/* The next value from *i on that is not plain hitcount, or NULL. */
static const struct tacho_hist_expr *next_val(const struct tacho_hist_spec *s,
					      uint32_t *i)
{
	while (*i < s->nr_vals) {
		const struct tacho_hist_expr *x = s->val[(*i)++];

		if (!hist_is_hitcount(x))
			return x;
	}
	return NULL;
}

static bool same_fields(const struct tacho_hist_spec *a,
			const struct tacho_hist_spec *b)
{
	const struct tacho_hist_expr *x, *y;
	uint32_t i = 0, k = 0;

	if (a->nr_keys != b->nr_keys || a->nr_vars != b->nr_vars)
		return false;
	do {
		x = next_val(a, &i);
		y = next_val(b, &k);
		if (!same_expr(x, y))
			return false;
	} while (x && y);
	for (i = 0; i < a->nr_keys; i++)
		if (!same_expr(a->key[i], b->key[i]))
			return false;
	for (i = 0; i < a->nr_vars; i++)
		if (!same_text(a->var[i].name, b->var[i].name) ||
		    !same_expr(a->var[i].expr, b->var[i].expr))
			return false;
	return true;
}

static bool same_order(const struct tacho_hist_spec *a,
		       const struct tacho_hist_spec *b)
{
	static const struct tacho_hist_sort none = { .name = "hitcount" };
	uint32_t nr_a = a->nr_sorts ? a->nr_sorts : 1;
	uint32_t nr_b = b->nr_sorts ? b->nr_sorts : 1;

	if (nr_a != nr_b)
		return false;
	for (uint32_t i = 0; i < nr_a; i++) {
		const struct tacho_hist_sort *x = a->nr_sorts ? &a->sort[i] : &none;
		const struct tacho_hist_sort *y = b->nr_sorts ? &b->sort[i] : &none;

		if (x->descending != y->descending || !same_text(x->name, y->name))
			return false;
	}
	return true;
}

static bool same_action(const struct tacho_hist_action *a,
			const struct tacho_hist_action *b)
{
	if (a->handler != b->handler || a->action != b->action ||
	    a->nr_params != b->nr_params || !same_text(a->system, b->system) ||
	    !same_text(a->event, b->event) || !same_text(a->var, b->var) ||
	    !same_text(a->synth, b->synth))
		return false;
	for (uint32_t i = 0; i < a->nr_params; i++)
		if (!same_expr(a->param[i], b->param[i]))
			return false;
	return true;
}

bool tacho_hist_same(const struct tacho_hist_spec *a,
		     const struct tacho_hist_spec *b)
{
	if (!same_text(a->name, b->name) || a->nr_actions != b->nr_actions)
		return false;
	for (uint32_t i = 0; i < a->nr_actions; i++)
		if (!same_action(a->action[i], b->action[i]))
			return false;
	return same_fields(a, b) && same_order(a, b);
}

static bool same_kind(const struct hist_value *a, const struct hist_value *b)
{
	return same_text(a->type, b->type) && a->size == b->size &&
	       a->is_signed == b->is_signed;
}

bool tacho_hist_same_keys(const struct tacho_hist *a, const struct tacho_hist *b)
{
	if (a->nr_keys != b->nr_keys)
		return false;
	for (uint32_t i = 0; i < a->nr_keys; i++)
		if (!same_kind(&a->key[i].value, &b->key[i].value))
			return false;
	return true;
}

bool tacho_hist_compatible(const struct tacho_hist *a,
			   const struct tacho_hist *b)
{
	if (a->nr_vals != b->nr_vals || a->nr_vars != b->nr_vars ||
	    memcmp(&a->g, &b->g, sizeof(a->g)))
		return false;
	for (uint32_t i = 0; i < a->nr_keys && i < b->nr_keys; i++)
		if (a->key[i].column.expr->mods != b->key[i].column.expr->mods)
			return false;
	for (uint32_t i = 0; i < a->nr_vals; i++)
		if (!same_kind(&a->val[i], &b->val[i]) ||
		    a->val_column[i].expr->mods != b->val_column[i].expr->mods)
			return false;
	for (uint32_t i = 0; i < a->nr_vars; i++)
		if (!same_kind(&a->var[i].value, &b->var[i].value) ||
		    !same_text(a->spec->var[i].name, b->spec->var[i].name))
			return false;
	return tacho_hist_same_keys(a, b);
}
