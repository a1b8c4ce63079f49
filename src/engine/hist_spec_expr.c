// SPDX-License-Identifier: MIT
/*
 * Histogram triggers: expressions.
 *
 * The root of an expression is its last + or -, or, without those, its last * or /. A '-' that is
 * both the last operator and the first character is unary, needs parentheses, and nothing may
 * follow them.  There are no other parentheses.  An operation on two constants is folded.
 */
#include "engine/hist_spec_priv.h"

#include <errno.h>

#define TOO_MANY	"Too many subexpressions (3 max)"
#define BAD_MODIFIER	"Invalid field modifier"

/* The kernel divides numbers below this by a multiplication, whose result may be one too large. */
#define DIV_SHIFT	20

static struct tacho_hist_expr *new_expr(struct hist_parser *ps,
					enum tacho_hist_op op,
					struct hist_slice text)
{
	struct tacho_hist_expr *expr;

	expr = tacho_arena_alloc(ps->a, sizeof(*expr));
	if (!expr) {
		tacho_hist_nomem(ps);
		return NULL;
	}
	expr->op = op;
	expr->column = tacho_hist_column(ps, text);
	expr->text = tacho_hist_written(ps, text);
	return expr->text ? expr : NULL;
}

/* ---- atoms ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct tacho_hist_expr *parse_const(struct hist_parser *ps,
					   struct hist_slice text)
{
	struct tacho_hist_expr *expr;
	uint64_t value;

	if (tacho_hist_number(text, &value)) {
		tacho_hist_fail(ps, -EINVAL, text, "Expecting numeric literal");
		return NULL;
	}
	expr = new_expr(ps, TACHO_EXPR_CONST, text);
	if (expr)
		expr->value = value;
	return expr;
}

static const struct {
	const char *text;
	uint32_t mod;
} modifiers[] = {
	{ "hex", TACHO_MOD_HEX },
	{ "sym", TACHO_MOD_SYM },
	{ "symXoffset", TACHO_MOD_SYM_OFFSET },
	{ "syscall", TACHO_MOD_SYSCALL },
	{ "stacktrace", TACHO_MOD_STACKTRACE },
	{ "log2", TACHO_MOD_LOG2 },
	{ "usecs", TACHO_MOD_USECS },
};

/* Sets the bits and, for "buckets=N", the width.  On error *mod is the wrong text. */
static bool parse_modifier(struct tacho_hist_expr *expr, struct hist_slice *mod,
			   enum hist_use use)
{
	bool plain = use == HIST_USE_VAL || use == HIST_USE_OPERAND;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(modifiers); i++)
		if (tacho_hist_slice_is(*mod, modifiers[i].text)) {
			expr->mods |= modifiers[i].mod;
			return true;
		}
	if (tacho_hist_slice_is(*mod, "execname")) {
		expr->mods |= TACHO_MOD_EXECNAME;
		return !strcmp(expr->name, "common_pid");
	}
	if (tacho_hist_slice_begins(*mod, "bucket")) {
		size_t skip = tacho_hist_slice_begins(*mod, "buckets") ? 7 : 6;

		mod->p += skip;
		mod->len -= skip;
		if (!tacho_hist_slice_begins(*mod, "="))
			return false;
		mod->p++;
		mod->len--;
		expr->mods |= TACHO_MOD_BUCKETS;
		return !tacho_hist_number(*mod, &expr->buckets) &&
		       expr->buckets;
	}
	if (tacho_hist_slice_begins(*mod, "percent"))
		expr->mods |= TACHO_MOD_PERCENT;
	else if (tacho_hist_slice_begins(*mod, "graph"))
		expr->mods |= TACHO_MOD_GRAPH;
	else
		return false;
	return plain;
}

/* Whether the name is possible for a field: "12" is a number, "(a" part of an expression. */
static bool can_be_field(struct hist_slice name)
{
	return name.len && !is_digit(name.p[0]) && !memchr(name.p, '(', name.len) &&
	       !memchr(name.p, ')', name.len) && !memchr(name.p, '$', name.len);
}

static struct tacho_hist_expr *parse_field(struct hist_parser *ps,
					   struct hist_slice text,
					   enum hist_use use)
{
	struct tacho_hist_expr *expr = new_expr(ps, TACHO_EXPR_FIELD, text);
	struct hist_slice mod = text, name;

	if (!expr || !tacho_hist_cut(&mod, '.', &name))
		return NULL;
	expr->name = tacho_hist_keep(ps, name);
	if (!expr->name)
		return NULL;
	if (mod.p && !parse_modifier(expr, &mod, use)) {
		tacho_hist_fail(ps, -EINVAL, mod, BAD_MODIFIER);
		return NULL;
	}
	if (!can_be_field(name)) {
		tacho_hist_fail(ps, -EINVAL, name, "Couldn't find field");
		return NULL;
	}
	if (expr->mods & TACHO_MOD_STACKTRACE &&
	    !strcmp(expr->name, "common_stacktrace")) {
		tacho_hist_fail(ps, -EINVAL, text, BAD_MODIFIER);
		return NULL;
	}
	return expr;
}

bool tacho_hist_qualified(struct hist_slice slice, struct hist_slice *system,
			  struct hist_slice *event, struct hist_slice *rest)
{
	*rest = slice;
	tacho_hist_cut(rest, '.', system);
	return tacho_hist_cut(rest, '.', event) && rest->p;
}

static bool has_operator(struct hist_slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (strchr("+-*/", text.p[i]))
			return true;
	return false;
}

static bool is_var_ref(struct hist_slice text)
{
	return text.len >= 2 && text.p[0] == '$';
}

/* $name; but $a.b.c is the field c, whatever precedes it. */
static bool is_alias(struct hist_slice text)
{
	struct hist_slice system, event, rest;

	return is_var_ref(text) &&
	       !tacho_hist_qualified(text, &system, &event, &rest);
}

/*
 * A variable of this histogram that is a plain field is that field, wherever it is defined; other
 * variables can be used only after their definition.
 */
static bool own_field(const struct hist_parser *ps, struct hist_slice name,
		      struct hist_slice *field)
{
	for (uint32_t i = 0; i < ps->nr_vars; i++) {
		struct hist_slice var = ps->var_name[i];

		if (var.len != name.len || memcmp(var.p, name.p, name.len) ||
		    has_operator(ps->var_expr[i]) || is_alias(ps->var_expr[i]))
			continue;
		*field = ps->var_expr[i];
		return true;
	}
	return false;
}

static struct tacho_hist_expr *parse_var_ref(struct hist_parser *ps,
					     struct hist_slice text,
					     struct hist_slice system,
					     struct hist_slice event,
					     struct hist_slice name)
{
	struct tacho_hist_expr *expr = new_expr(ps, TACHO_EXPR_VAR, text);

	if (!expr)
		return NULL;
	expr->name = tacho_hist_keep(ps, name);
	if (!expr->name)
		return NULL;
	if (!system.p)
		return expr;
	expr->system = tacho_hist_keep(ps, system);
	expr->event = tacho_hist_keep(ps, event);
	return expr->system && expr->event ? expr : NULL;
}

struct tacho_hist_expr *tacho_hist_parse_atom(struct hist_parser *ps,
					      struct hist_slice text,
					      enum hist_use use)
{
	struct hist_slice system = { 0 }, event = { 0 }, rest = { 0 }, name;
	struct hist_slice field;

	if (text.len && is_digit(text.p[0]))
		return parse_const(ps, text);
	if (!tacho_hist_qualified(text, &system, &event, &rest)) {
		system.p = NULL;
		rest = text;
	}
	/* fields are always those of this event: a prefix is ignored */
	if (!is_var_ref(rest))
		return parse_field(ps, rest, use);
	name = (struct hist_slice){ rest.p + 1, rest.len - 1 };
	if (!system.p && use != HIST_USE_PARAM && own_field(ps, name, &field))
		return parse_field(ps, field, use);
	return parse_var_ref(ps, text, system, event, name);
}

/* ---- operators ---- */

static const char *last(struct hist_slice text, char c)
{
	for (size_t at = text.len; at > 0; at--)
		if (text.p[at - 1] == c)
			return text.p + at - 1;
	return NULL;
}

/* Finds the root operator and its place *at; TACHO_EXPR_FIELD: none. */
static enum tacho_hist_op find_root(struct hist_slice text, const char **at)
{
	const char *minus = last(text, '-'), *plus = last(text, '+');
	const char *div = last(text, '/'), *mul = last(text, '*');

	if (minus && minus == text.p) {
		*at = minus;
		return TACHO_EXPR_MINUS;
	}
	if (plus || minus) {
		bool add = !minus || (plus && plus > minus);

		*at = add ? plus : minus;
		return add ? TACHO_EXPR_ADD : TACHO_EXPR_SUB;
	}
	if (mul || div) {
		bool by = !div || (mul && mul > div);

		*at = by ? mul : div;
		return by ? TACHO_EXPR_MUL : TACHO_EXPR_DIV;
	}
	return TACHO_EXPR_FIELD;
}

static uint64_t divide(uint64_t a, uint64_t b)
{
	const uint64_t one = (uint64_t)1 << DIV_SHIFT;

	if (!(b & (b - 1)) || b > one || a >= one)
		return a / b;
	return (a * (one / b) + one - 1) >> DIV_SHIFT;
}

static uint64_t fold(enum tacho_hist_op op, uint64_t a, uint64_t b)
{
	if (op == TACHO_EXPR_ADD)
		return a + b;
	if (op == TACHO_EXPR_SUB)
		return a - b;
	if (op == TACHO_EXPR_MUL)
		return a * b;
	return divide(a, b);
}

enum unit { UNIT_NONE, UNIT_USECS, UNIT_UNKNOWN };

/* An operation has its left operand's unit; the unit of a variable is unknown here. */
static enum unit unit_of(const struct tacho_hist_expr *expr)
{
	while (expr->left)
		expr = expr->left;
	if (expr->op == TACHO_EXPR_VAR)
		return UNIT_UNKNOWN;
	return expr->mods & TACHO_MOD_USECS ? UNIT_USECS : UNIT_NONE;
}

static bool same_unit(const struct tacho_hist_expr *a,
		      const struct tacho_hist_expr *b)
{
	enum unit ua = unit_of(a), ub = unit_of(b);

	return ua == ub || ua == UNIT_UNKNOWN || ub == UNIT_UNKNOWN;
}

static struct tacho_hist_expr *combine(struct hist_parser *ps,
				       struct hist_slice text,
				       struct hist_slice right_text,
				       enum tacho_hist_op op,
				       const struct tacho_hist_expr *left,
				       const struct tacho_hist_expr *right)
{
	struct tacho_hist_expr *expr;

	if (!same_unit(left, right)) {
		tacho_cmd_error(ps->e, -EINVAL, ps->spec->base,
				"Timestamp units in expression don't match");
		return NULL;
	}
	if (op == TACHO_EXPR_DIV && right->op == TACHO_EXPR_CONST &&
	    !right->value) {
		tacho_hist_fail(ps, -EDOM, right_text, "Division by zero");
		return NULL;
	}
	expr = new_expr(ps, op, text);
	if (!expr)
		return NULL;
	if (left->op == TACHO_EXPR_CONST && right->op == TACHO_EXPR_CONST) {
		expr->op = TACHO_EXPR_CONST;
		expr->value = fold(op, left->value, right->value);
	} else {
		expr->left = left;
		expr->right = right;
	}
	return expr;
}

static struct tacho_hist_expr *parse_level(struct hist_parser *ps,
					   struct hist_slice text,
					   enum hist_use use, unsigned int *nr);

static struct tacho_hist_expr *parse_minus(struct hist_parser *ps,
					   struct hist_slice text,
					   unsigned int *nr)
{
	struct tacho_hist_expr *expr, *operand;
	struct hist_slice inner = { text.p + 1, text.len - 1 };
	const char *end;

	if (++*nr > TACHO_HIST_EXPR_DEPTH) {
		tacho_hist_fail(ps, -EINVAL, text, TOO_MANY);
		return NULL;
	}
	if (!last(inner, '(')) {
		tacho_hist_refuse(ps, text, "Unary minus needs parentheses: -(x)");
		return NULL;
	}
	inner.p++;
	inner.len--;
	end = last(inner, ')');
	if (!end) {
		tacho_hist_refuse(ps, text, "No closing paren found");
		return NULL;
	}
	if (end != inner.p + inner.len - 1) {
		tacho_hist_fail(ps, -EINVAL, inner,
				"Unary minus not supported in sub-expressions");
		return NULL;
	}
	inner.len--;
	operand = parse_level(ps, inner, HIST_USE_OPERAND, nr);
	expr = operand ? new_expr(ps, TACHO_EXPR_MINUS, text) : NULL;
	if (expr)
		expr->left = operand;
	return expr;
}

static struct tacho_hist_expr *parse_binary(struct hist_parser *ps,
					    struct hist_slice text,
					    enum tacho_hist_op op,
					    const char *at, unsigned int *nr)
{
	struct hist_slice l = { text.p, (size_t)(at - text.p) };
	struct hist_slice r = { at + 1, text.len - l.len - 1 };
	struct hist_slice sign = { at, 1 };
	const struct tacho_hist_expr *left, *right;

	++*nr;
	if (!l.len || !r.len) {
		tacho_hist_refuse(ps, sign, "Operand missing");
		return NULL;
	}
	left = parse_level(ps, l, HIST_USE_OPERAND, nr);
	right = left ? parse_level(ps, r, HIST_USE_OPERAND, nr) : NULL;
	return right ? combine(ps, text, r, op, left, right) : NULL;
}

/* The depth of the recursion is bounded by *nr: every step but the last counts. */
static struct tacho_hist_expr *parse_level(struct hist_parser *ps,
					   struct hist_slice text,
					   enum hist_use use, unsigned int *nr)
{
	enum tacho_hist_op op;
	const char *at = NULL;

	if (*nr > TACHO_HIST_EXPR_DEPTH) {
		tacho_hist_fail(ps, -EINVAL, text, TOO_MANY);
		return NULL;
	}
	op = find_root(text, &at);
	if (op == TACHO_EXPR_FIELD)
		return tacho_hist_parse_atom(ps, text, use);
	if (op == TACHO_EXPR_MINUS)
		return parse_minus(ps, text, nr);
	return parse_binary(ps, text, op, at, nr);
}

struct tacho_hist_expr *tacho_hist_parse_expr(struct hist_parser *ps,
					      struct hist_slice text,
					      enum hist_use use)
{
	struct tacho_hist_expr *expr;
	unsigned int nr = 0;

	expr = parse_level(ps, text, use, &nr);
	if (!expr)
		return NULL;
	/* keep the text as written, without replacements */
	expr->text = tacho_hist_written(ps, text);
	return expr->text ? expr : NULL;
}
