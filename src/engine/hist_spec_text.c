// SPDX-License-Identifier: MIT
/*
 * Histogram triggers: from tree to text; the meaning of sort keys.
 *
 * There are two texts.  A command has expressions as they were written, so it contains everything
 * in the tree.  The kernel generates the text that it shows from its tree, and could not parse
 * all of it, or would parse it differently:
 *	command				shown
 *	sort=pid			sort=pid.hex, when the key is pid.hex
 *	vals=hitcount,hitcount:nohitcount	vals=hitcount:nohitcount
 *	a.buckets=10+b			a.buckets+b
 *	a.usecs+b.usecs+c.usecs		a.usecs+b.usecs.usecs+c.usecs
 *	common_stacktrace+1		common_stacktrace.stacktrace+1
 *	hitcount.log2			.log2
 *	a.buckets=9223372036854775808	a.buckets=-9223372036854775808
 *	save(a.b.prio)			save(a)
 *	v=1+2:w=$v			v=3:w=$v
 */
#include "engine/hist_spec_priv.h"

/* The destination of text: a buffer, or a comparison with an expected text. */
struct text_sink {
	struct tacho_buf *out;	/* NULL: compare */
	const char *expected;
	size_t left;
	bool differs;
	bool shown;		/* as the kernel shows it; else a command */
};

static void put_bytes(struct text_sink *to, const char *s, size_t len)
{
	if (to->out) {
		tacho_buf_put(to->out, s, len);
		return;
	}
	if (to->differs || len > to->left || memcmp(to->expected, s, len)) {
		to->differs = true;
		return;
	}
	to->expected += len;
	to->left -= len;
}

static void put(struct text_sink *to, const char *s)
{
	put_bytes(to, s, strlen(s));
}

static void put_number(struct text_sink *to, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put_bytes(to, digits + at, sizeof(digits) - at);
}

static const struct {
	uint32_t mod;
	const char *text;
} modifiers[] = {
	{ TACHO_MOD_HEX, ".hex" },
	{ TACHO_MOD_SYM, ".sym" },
	{ TACHO_MOD_SYM_OFFSET, ".sym-offset" },
	{ TACHO_MOD_EXECNAME, ".execname" },
	{ TACHO_MOD_SYSCALL, ".syscall" },
	{ TACHO_MOD_LOG2, ".log2" },
	{ TACHO_MOD_BUCKETS, ".buckets" },
	{ TACHO_MOD_USECS, ".usecs" },
	{ TACHO_MOD_PERCENT, ".percent" },
	{ TACHO_MOD_GRAPH, ".graph" },
};

static bool is_stack(const struct tacho_hist_expr *x)
{
	return x->op == TACHO_EXPR_FIELD &&
	       (x->mods & TACHO_MOD_STACKTRACE ||
		!strcmp(x->name, "common_stacktrace"));
}

static void put_buckets(struct text_sink *to, uint64_t width, bool operand)
{
	if (to->shown && operand)
		return;
	put(to, "=");
	if (to->shown && width > INT64_MAX) {
		put(to, "-");
		width = 0 - width;
	}
	put_number(to, width);
}

/*
 * Appends a field's modifier; a field has at most one.  A stack trace shows it only as an
 * operand.
 */
static void put_modifier(struct text_sink *to, const struct tacho_hist_expr *x,
			 bool operand)
{
	if (is_stack(x)) {
		if (to->shown && operand)
			put(to, ".stacktrace");
		return;
	}
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(modifiers); i++)
		if (x->mods & modifiers[i].mod)
			put(to, modifiers[i].text);
	if (x->mods & TACHO_MOD_BUCKETS)
		put_buckets(to, x->buckets, operand);
}

static void put_field(struct text_sink *to, const struct tacho_hist_expr *x,
		      bool operand)
{
	bool lost = to->shown && !strcmp(x->name, "hitcount") &&
		    x->mods & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS);

	if (!lost)
		put(to, x->name);
	put_modifier(to, x, operand);
}

static void put_var(struct text_sink *to, const struct tacho_hist_expr *x)
{
	if (x->system) {
		put(to, x->system);
		put(to, ".");
		put(to, x->event);
		put(to, ".");
	}
	put(to, "$");
	put(to, x->name);
}

static const char *sign_of(enum tacho_hist_op op)
{
	return op == TACHO_EXPR_ADD ? "+" : op == TACHO_EXPR_SUB ? "-" :
	       op == TACHO_EXPR_MUL ? "*" : "/";
}

static bool has_usecs(const struct tacho_hist_expr *x)
{
	while (x->left)
		x = x->left;
	return x->mods & TACHO_MOD_USECS;
}

static void put_expr(struct text_sink *to, const struct tacho_hist_expr *x,
		     bool operand);

static void put_operand(struct text_sink *to, const struct tacho_hist_expr *x)
{
	put_expr(to, x, true);
	if (to->shown && x->left && has_usecs(x))
		put(to, ".usecs");
}

/* At most three operators deep: the parser's limit. */
static void put_expr(struct text_sink *to, const struct tacho_hist_expr *x,
		     bool operand)
{
	switch (x->op) {
	case TACHO_EXPR_FIELD:
		put_field(to, x, operand);
		break;
	case TACHO_EXPR_VAR:
		put_var(to, x);
		break;
	case TACHO_EXPR_CONST:
		put_number(to, x->value);
		break;
	case TACHO_EXPR_MINUS:
		put(to, "-(");
		put_expr(to, x->left, true);
		put(to, ")");
		break;
	case TACHO_EXPR_ADD:
	case TACHO_EXPR_SUB:
	case TACHO_EXPR_MUL:
	case TACHO_EXPR_DIV:
		put_operand(to, x->left);
		put(to, sign_of(x->op));
		put_operand(to, x->right);
		break;
	}
}

void tacho_hist_expr_print(const struct tacho_hist_expr *expr,
			   struct tacho_buf *out)
{
	struct text_sink to = { .out = out, .shown = true };

	put_expr(&to, expr, false);
}

/* ---- sort keys ---- */

/*
 * Sort keys name a field by its bare name, a variable by its name, other expressions by their
 * text.
 */
bool tacho_hist_sorts_by(const struct tacho_hist_expr *expr,
			 const char *name, size_t len)
{
	struct text_sink to = { .expected = name, .left = len };

	switch (expr->op) {
	case TACHO_EXPR_CONST:
		return false;
	case TACHO_EXPR_FIELD:
		put(&to, expr->name);
		break;
	case TACHO_EXPR_VAR:
		if (expr->system)
			return false;
		put(&to, expr->name);
		break;
	case TACHO_EXPR_MINUS:
	case TACHO_EXPR_ADD:
	case TACHO_EXPR_SUB:
	case TACHO_EXPR_MUL:
	case TACHO_EXPR_DIV:
		put_expr(&to, expr, false);
		break;
	}
	return !to.differs && !to.left;
}

const struct tacho_hist_expr *
tacho_hist_sort_target(const struct tacho_hist_spec *spec,
		       const struct tacho_hist_sort *sort)
{
	size_t len = strlen(sort->name);

	if (!strcmp(sort->name, "hitcount"))
		return NULL;
	for (uint32_t i = 0; i < spec->nr_vals; i++)
		if (tacho_hist_sorts_by(spec->val[i], sort->name, len))
			return spec->val[i];
	for (uint32_t i = 0; i < spec->nr_keys; i++)
		if (tacho_hist_sorts_by(spec->key[i], sort->name, len))
			return spec->key[i];
	return NULL;
}

/* ---- the whole ---- */

static bool expr_uses_time(const struct tacho_hist_expr *x)
{
	for (; x; x = x->left)
		if ((x->op == TACHO_EXPR_FIELD &&
		     !strcmp(x->name, "common_timestamp")) ||
		    (x->right && expr_uses_time(x->right)))
			return true;
	return false;
}

static bool action_uses_time(const struct tacho_hist_action *act)
{
	for (uint32_t i = 0; i < act->nr_params; i++)
		if (!act->param[i]->system && expr_uses_time(act->param[i]))
			return true;
	return false;
}

bool tacho_hist_uses_time(const struct tacho_hist_spec *spec)
{
	for (uint32_t i = 0; i < spec->nr_keys; i++)
		if (expr_uses_time(spec->key[i]))
			return true;
	for (uint32_t i = 0; i < spec->nr_vals; i++)
		if (expr_uses_time(spec->val[i]))
			return true;
	for (uint32_t i = 0; i < spec->nr_vars; i++)
		if (expr_uses_time(spec->var[i].expr))
			return true;
	for (uint32_t i = 0; i < spec->nr_actions; i++)
		if (action_uses_time(spec->action[i]))
			return true;
	return false;
}

static void put_root(struct text_sink *to, const struct tacho_hist_expr *x)
{
	if (to->shown)
		put_expr(to, x, false);
	else
		put(to, x->text);
}

/* Appends a key, with the modifier of stack traces. */
static void put_key(struct text_sink *to, const struct tacho_hist_expr *x)
{
	put_root(to, x);
	if (to->shown && x->op == TACHO_EXPR_FIELD &&
	    x->mods & TACHO_MOD_STACKTRACE)
		put(to, ".stacktrace");
}

static void put_fields(struct text_sink *to, const struct tacho_hist_spec *spec)
{
	bool hitcount = !to->shown || !spec->nohitcount;

	for (uint32_t i = 0; i < spec->nr_keys; i++) {
		put(to, i ? "," : "keys=");
		put_key(to, spec->key[i]);
	}
	put(to, hitcount ? ":vals=hitcount" : ":vals=");
	for (uint32_t i = 0; i < spec->nr_vals; i++) {
		if (i || hitcount)
			put(to, ",");
		put_root(to, spec->val[i]);
	}
	for (uint32_t i = 0; i < spec->nr_vars; i++) {
		put(to, i ? "," : ":");
		put(to, spec->var[i].name);
		put(to, "=");
		put_root(to, spec->var[i].expr);
	}
}

static void put_sorts(struct text_sink *to, const struct tacho_hist_spec *spec)
{
	put(to, spec->nr_sorts ? ":sort=" : ":sort=hitcount");
	for (uint32_t i = 0; i < spec->nr_sorts; i++) {
		const struct tacho_hist_sort *sort = &spec->sort[i];
		const struct tacho_hist_expr *by;

		by = tacho_hist_sort_target(spec, sort);
		if (i)
			put(to, ",");
		if (by && to->shown)
			put_expr(to, by, false);
		else
			put(to, sort->text);
		if (sort->descending)
			put(to, ".descending");
	}
}

/* As it was written. */
static void put_param(struct text_sink *to, const struct tacho_hist_action *act,
		      const char *text)
{
	const char *dot = strchr(text, '.');

	if (to->shown && act->action == TACHO_DO_SAVE && dot &&
	    strchr(dot + 1, '.'))
		put_bytes(to, text, (size_t)(dot - text));
	else
		put(to, text);
}

static void put_action(struct text_sink *to, const struct tacho_hist_action *act)
{
	const char *comma = "";

	if (act->handler == TACHO_ON_MATCH) {
		put(to, ":onmatch(");
		put(to, act->system);
		put(to, ".");
		put(to, act->event);
	} else {
		put(to, act->handler == TACHO_ON_MAX ? ":onmax($" : ":onchange($");
		put(to, act->var);
	}
	put(to, ").");
	put(to, act->name);
	put(to, "(");
	if (act->use_trace_keyword) {
		put(to, act->synth);
		comma = ",";
	}
	for (uint32_t i = 0; i < act->nr_params; i++) {
		put(to, comma);
		put_param(to, act, act->param[i]->text);
		comma = ",";
	}
	put(to, ")");
}

static void put_size(struct text_sink *to, const struct tacho_hist_spec *spec)
{
	put(to, ":size=");
	put_number(to, spec->size ? spec->size : TACHO_HIST_SIZE_DEFAULT);
}

/* All but filter and state; the size of a command comes last. */
static void put_spec(struct text_sink *to, const struct tacho_hist_spec *spec)
{
	bool time = tacho_hist_uses_time(spec);

	put(to, HIST_PREFIX);
	if (spec->name) {
		put(to, "name=");
		put(to, spec->name);
		put(to, ":");
	}
	put_fields(to, spec);
	put_sorts(to, spec);
	if (to->shown)
		put_size(to, spec);
	if (time || (spec->clock && !to->shown)) {
		put(to, ":clock=");
		put(to, spec->clock ? spec->clock : "global");
	}
	if (spec->nohitcount)
		put(to, ":nohitcount");
	for (uint32_t i = 0; i < spec->nr_actions; i++)
		put_action(to, spec->action[i]);
}

static void put_filter(struct text_sink *to, const struct tacho_hist_spec *spec)
{
	if (!spec->filter)
		return;
	put(to, " if ");
	put(to, spec->filter);
}

void tacho_hist_spec_print(const struct tacho_hist_spec *spec, bool paused,
			   struct tacho_buf *out)
{
	struct text_sink to = { .out = out, .shown = true };

	put_spec(&to, spec);
	put_filter(&to, spec);
	put(&to, paused ? " [paused]" : " [active]");
}

void tacho_hist_spec_command(const struct tacho_hist_spec *spec,
			     struct tacho_buf *out)
{
	struct text_sink to = { .out = out };

	put_spec(&to, spec);
	if (spec->pause)
		put(&to, ":pause");
	if (spec->cont)
		put(&to, ":cont");
	if (spec->clear)
		put(&to, ":clear");
	/* at the end, a name that contains " if" would be parsed as an empty filter */
	put_size(&to, spec);
	put_filter(&to, spec);
}
