// SPDX-License-Identifier: MIT
/* Trees to programs; programs to numbers. */
#include "engine/hist_priv.h"

#include <errno.h>
#include <string.h>

/* ---- running ---- */

/* As kernel 6.12 computes it: 0 for 0, and 64 above 2^63. */
static uint64_t log2_up(uint64_t v)
{
	if (v <= 1)
		return 0;
	return 64 - (uint64_t)__builtin_clzll(v - 1);
}

/* The kernel's quotient by a constant that is not a power of two. */
static uint64_t div_round(uint64_t v, uint64_t by)
{
	const uint64_t one = (uint64_t)1 << HIST_DIV_SHIFT;

	if (v >= one)
		return v / by;
	return (v * (one / by) + one - 1) >> HIST_DIV_SHIFT;
}

static uint64_t two(enum hist_code code, uint64_t a, uint64_t b)
{
	if (code == HIST_ADD)
		return a + b;
	if (code == HIST_SUB)
		return a - b;
	if (code == HIST_MUL)
		return a * b;
	return b ? a / b : UINT64_MAX;	/* HIST_DIV; the kernel's -1 */
}

static uint64_t one(const struct hist_op *op, uint64_t a)
{
	if (op->code == HIST_NEG)
		return 0 - a;
	if (op->code == HIST_LOG2)
		return log2_up(a);
	if (op->code == HIST_BUCKETS)
		return a / op->value * op->value;
	return div_round(a, op->value);
}

static uint64_t leaf(const struct hist_op *op, const struct hist_frame *f)
{
	switch ((unsigned int)op->code) {
	case HIST_CONST:
		return op->value;
	case HIST_TIME:
		return f->hist->usecs ? (f->rec->time + 500) / 1000 :
					f->rec->time;
	case HIST_CPU:
		return f->rec->cpu;
	case HIST_REF:
		return f->ref[op->arg];
	default:
		return hist_load(op, f->rec->raw);
	}
}

uint64_t hist_run(const struct hist_value *v, const struct hist_frame *f)
{
	uint64_t stack[HIST_OPS_MAX / 2 + 1];
	uint32_t top = 0;

	/* each binary operation needs two operands, so half of the program's length suffices */
	stack[0] = 0;
	for (uint32_t i = 0; i < v->nr_ops; i++) {
		const struct hist_op *op = &v->op[i];

		if (op->code < HIST_ADD) {
			stack[top++] = leaf(op, f);
		} else if (op->code <= HIST_DIV) {
			top--;
			stack[top - 1] = two(op->code, stack[top - 1], stack[top]);
		} else {
			stack[top - 1] = one(op, stack[top - 1]);
		}
	}
	return stack[0];
}

/* ---- names ---- */

int hist_fail(struct hist_binder *b, int err, const char *where,
	      const char *text)
{
	const struct tacho_hist_spec *spec = b->h->spec;

	tacho_cmd_error(b->e, err, where ? tacho_hist_spec_place(spec, where) :
					   spec->base, "%s", text);
	return err;
}

uint32_t hist_own_var(const struct tacho_hist *h, const char *name)
{
	for (uint32_t i = 0; i < h->spec->nr_vars; i++)
		if (!strcmp(h->spec->var[i].name, name))
			return i;
	return HIST_NONE;
}

bool hist_own_event(const struct tacho_hist *h, const char *system,
		    const char *event)
{
	return (!system && !event) ||
	       (system && event && !strcmp(system, h->type->system) &&
		!strcmp(event, h->type->name));
}

static int modifier_error(struct hist_binder *b, const struct tacho_hist_expr *x)
{
	const char *dot = x->text ? strchr(x->text, '.') : NULL;

	return hist_fail(b, -EINVAL, dot ? dot + 1 : x->text,
			 "Invalid field modifier");
}

/* ---- fields ---- */

static int emit(struct hist_binder *b, const struct tacho_hist_expr *x,
		enum hist_code code, uint32_t arg, uint64_t value)
{
	if (b->nr_ops == HIST_OPS_MAX)
		return hist_fail(b, -EINVAL, x->text,
				 "Too many subexpressions (3 max)");
	b->op[b->nr_ops++] = (struct hist_op){
		.code = code, .arg = arg, .value = value,
	};
	return 0;
}

static void number_of_type(struct hist_value *v, const char *type,
			   uint32_t size)
{
	v->type = type;
	v->size = size;
}

/* The kernel's name of a field's type: its declaration without the name. */
static const char *field_type(struct hist_binder *b, const struct tacho_field *f)
{
	size_t len = strlen(f->decl), name = strlen(f->name);
	size_t at = len, head;
	char *type;

	while (at-- > 1) {
		char after = name <= len - at ? f->decl[at + name] : 'x';

		if (!strncmp(f->decl + at, f->name, name) &&
		    (!after || after == '[') &&
		    (f->decl[at - 1] == ' ' || f->decl[at - 1] == '*'))
			break;
	}
	if (!at || at > len)
		return f->decl;
	type = tacho_arena_strndup(b->arena, f->decl, len);
	if (!type)
		return NULL;
	for (head = at; head && type[head - 1] == ' '; head--)
		;
	memmove(type + head, f->decl + at + name, len - at - name + 1);
	return type;
}

static void needs(struct tacho_hist *h, const struct tacho_field *f,
		  uint32_t size)
{
	if (f->offset + size > h->min_len)
		h->min_len = f->offset + size;
}

static int bind_string(struct hist_binder *b, const struct tacho_hist_expr *x,
		       const struct tacho_field *f, struct hist_value *v)
{
	if (x->mods & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS))
		return modifier_error(b, x);
	v->flags |= HIST_IS_STRING;
	v->field = f;
	v->size = f->kind == TACHO_FIELD_ARRAY ? f->size : HIST_STRING;
	if (f->kind != TACHO_FIELD_FLEX)
		needs(b->h, f, f->kind == TACHO_FIELD_ARRAY ? f->size : 4);
	return 0;
}

static bool is_string(const struct tacho_field *f)
{
	return f->flags & TACHO_FIELD_STRING &&
	       (f->kind == TACHO_FIELD_ARRAY || f->kind == TACHO_FIELD_DATA_LOC ||
		f->kind == TACHO_FIELD_REL_LOC || f->kind == TACHO_FIELD_FLEX);
}

static bool is_dynamic(const struct tacho_field *f)
{
	return f->kind == TACHO_FIELD_DATA_LOC || f->kind == TACHO_FIELD_REL_LOC;
}

static int bind_number(struct hist_binder *b, const struct tacho_hist_expr *x,
		       const struct tacho_field *f, struct hist_value *v)
{
	bool is_signed = f->flags & TACHO_FIELD_SIGNED;
	/* the size of the word that locates variable data, as in the kernel */
	uint32_t size = is_dynamic(f) ? 4 : f->size;
	enum hist_code code;

	switch (size) {
	case 1:
		code = is_signed ? HIST_S8 : HIST_U8;
		break;
	case 2:
		code = is_signed ? HIST_S16 : HIST_U16;
		break;
	case 4:
		code = is_signed ? HIST_S32 : HIST_U32;
		break;
	case 8:
		code = HIST_U64;
		break;
	default:
		return hist_fail(b, -EINVAL, x->name,
				 "Field is neither a number nor a string");
	}
	v->size = size;
	v->is_signed = is_signed;
	needs(b->h, f, size);
	return emit(b, x, code, f->offset, 0);
}

static int bind_stack(struct hist_binder *b, const struct tacho_hist_expr *x,
		      const struct tacho_field *f, struct hist_value *v)
{
	if (f && (!is_dynamic(f) || f->elem_size != 8))
		return hist_fail(b, -EINVAL, x->name, "Invalid field modifier");
	if (x->mods & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS))
		return modifier_error(b, x);
	v->flags |= HIST_IS_STACK;
	v->field = f;
	number_of_type(v, "unsigned long[]", TACHO_HIST_STACK * 8);
	if (f)
		needs(b->h, f, 4);
	else
		b->h->uses_stack = true;
	return 0;
}

static int bind_real_field(struct hist_binder *b,
			   const struct tacho_hist_expr *x,
			   const struct tacho_field *f, struct hist_value *v)
{
	if (x->mods & TACHO_MOD_STACKTRACE)
		return bind_stack(b, x, f, v);
	v->type = field_type(b, f);
	if (!v->type)
		return hist_fail(b, -ENOMEM, x->text, "No memory");
	return is_string(f) ? bind_string(b, x, f, v) : bind_number(b, x, f, v);
}

/* Binds names that are not fields, or only if the event has no field of that name. */
static int bind_named(struct hist_binder *b, const struct tacho_hist_expr *x,
		      struct hist_value *v)
{
	const struct tacho_field *f;

	if (!strcmp(x->name, "common_timestamp")) {
		v->flags |= HIST_IS_TIME;
		b->h->usecs |= !!(x->mods & TACHO_MOD_USECS);
		number_of_type(v, "u64", 8);
		return emit(b, x, HIST_TIME, 0, 0);
	}
	if (!strcmp(x->name, "common_stacktrace"))
		return bind_stack(b, x, NULL, v);
	if (!strcmp(x->name, "hitcount")) {
		number_of_type(v, "u64", 8);
		return emit(b, x, HIST_CONST, 0, 1);
	}
	f = strcmp(x->name, "common_cpu") ? tacho_type_field(b->h->type, x->name)
					  : NULL;
	if (f)
		return bind_real_field(b, x, f, v);
	if (!strcmp(x->name, "stacktrace") || !strcmp(x->name, "STACKTRACE")) {
		v->name = "common_stacktrace";
		return bind_stack(b, x, NULL, v);
	}
	if (strcmp(x->name, "common_cpu") && strcmp(x->name, "cpu") &&
	    strcmp(x->name, "CPU"))
		return hist_fail(b, -EINVAL, x->name, "Couldn't find field");
	v->name = "common_cpu";
	number_of_type(v, "unsigned int", 4);
	return emit(b, x, HIST_CPU, 0, 0);
}

/* Compiles a field. */
static int compile_field(struct hist_binder *b, const struct tacho_hist_expr *x,
			 struct hist_value *v)
{
	int err;

	v->name = x->name;
	if (x->mods & TACHO_MOD_USECS)
		v->flags |= HIST_IS_USECS;
	if (x->mods & TACHO_MOD_EXECNAME)
		v->flags |= HIST_IS_COMM;
	if (v->flags & HIST_IS_COMM && strcmp(x->name, "common_pid"))
		return modifier_error(b, x);
	if (x->mods & TACHO_MOD_BUCKETS && !x->buckets)
		return modifier_error(b, x);
	err = bind_named(b, x, v);
	if (!err && x->mods & TACHO_MOD_LOG2)
		err = emit(b, x, HIST_LOG2, 0, 0);
	if (!err && x->mods & TACHO_MOD_BUCKETS)
		err = emit(b, x, HIST_BUCKETS, 0, x->buckets);
	return err;
}

/* ---- variables ---- */

/* Finds a variable on onmatch's events; returns how many of them have it. */
static uint32_t find_match_var(struct hist_binder *b, const char *name,
			       struct tacho_hist **of, uint32_t *var)
{
	const struct tacho_hist_host *host = b->h->host;
	const struct tacho_hist_spec *spec = b->h->spec;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < spec->nr_actions; i++) {
		const struct tacho_hist_action *a = spec->action[i];
		bool ambiguous = false;
		struct tacho_hist *h;

		if (a->handler != TACHO_ON_MATCH)
			continue;
		h = host->find_var(host->arg, a->system, a->event, name, var,
				   &ambiguous);
		if (!h)
			continue;
		*of = h;
		nr++;
	}
	return nr;
}

struct tacho_hist *hist_find_var(struct hist_binder *b,
				 const struct tacho_hist_expr *x,
				 const char *text, uint32_t *var)
{
	const struct tacho_hist_host *host = b->h->host;
	struct tacho_hist *of = NULL;
	bool ambiguous = false;
	uint32_t nr = 0;

	if (host && host->find_var && !x->mods) {
		if (!x->system)
			nr = find_match_var(b, x->name, &of, var);
		ambiguous = nr > 1;
		if (!nr)
			of = host->find_var(host->arg, x->system, x->event,
					    x->name, var, &ambiguous);
	}
	if (ambiguous) {
		hist_fail(b, -EINVAL, x->name,
			  "Variable name not unique, need to use fully qualified name "
			  "(subsys.event.var) for variable");
		return NULL;
	}
	if (!of || *var >= of->nr_vars) {
		hist_fail(b, -EINVAL, x->name, text);
		return NULL;
	}
	return of;
}

int hist_bind_ref(struct hist_binder *b, const struct tacho_hist_expr *x,
		  struct tacho_hist *of, uint32_t var, struct hist_value *v)
{
	const struct hist_value *is = &of->var[var].value;
	struct tacho_hist *h = b->h;
	uint32_t i;

	for (i = 0; i < h->nr_refs; i++)
		if (h->ref[i].hist == of && h->ref[i].var == var)
			break;
	if (i == HIST_REFS_MAX)
		return hist_fail(b, -EINVAL, x->name, "Too many variables defined");
	if (i == h->nr_refs) {
		h->ref[i] = (struct hist_ref){ .hist = of, .var = var };
		h->nr_refs++;
	}
	v->flags = (is->flags & ~(uint32_t)HIST_IS_COMM) | HIST_IS_REF;
	v->field = NULL;
	v->ref = i;
	v->size = is->size;
	v->is_signed = is->is_signed;
	v->type = is->type;
	v->constant = is->constant;
	v->name = x->name;
	if (v->flags & (HIST_IS_STRING | HIST_IS_STACK))
		return 0;
	return emit(b, x, HIST_REF, i, 0);
}

static int compile(struct hist_binder *b, const struct tacho_hist_expr *x,
		   uint32_t limit, uint32_t depth, struct hist_value *v);

/*
 * Compiles a variable of this histogram, which is replaced by its definition: a field or a number
 * anywhere, any other expression only after its definition.
 */
static int compile_var(struct hist_binder *b, const struct tacho_hist_expr *x,
		       uint32_t limit, uint32_t depth, struct hist_value *v)
{
	uint32_t own = x->mods || !hist_own_event(b->h, x->system, x->event) ?
		       HIST_NONE : hist_own_var(b->h, x->name);
	struct tacho_hist *of;
	uint32_t var = 0;

	if (own != HIST_NONE) {
		const struct tacho_hist_expr *is = b->h->spec->var[own].expr;

		if (is->op == TACHO_EXPR_FIELD || is->op == TACHO_EXPR_CONST ||
		    own < limit)
			return compile(b, is, own < limit ? own : limit, depth, v);
	}
	of = hist_find_var(b, x, "Couldn't find variable", &var);
	if (!of)
		return -EINVAL;
	return hist_bind_ref(b, x, of, var, v);
}

/* ---- operators ---- */

static int compile_minus(struct hist_binder *b, const struct tacho_hist_expr *x,
			 uint32_t limit, uint32_t depth, struct hist_value *v)
{
	struct hist_value a = { .flags = 0 };
	int err = compile(b, x->left, limit, depth, &a);

	if (err)
		return err;
	if (a.flags & (HIST_IS_STRING | HIST_IS_STACK))
		return hist_fail(b, -EINVAL, x->left->text,
				 "String type can not be an operand in expression");
	*v = a;
	v->flags = a.flags & (HIST_IS_TIME | HIST_IS_USECS);
	v->name = x->text;
	return emit(b, x, HIST_NEG, 0, 0);
}

static int check_operand(struct hist_binder *b, const struct tacho_hist_expr *x,
			 const struct hist_value *v)
{
	if (v->flags & (HIST_IS_STRING | HIST_IS_STACK))
		return hist_fail(b, -EINVAL, x->text,
				 "String type can not be an operand in expression");
	if (v->flags & HIST_IS_REF)
		b->h->ref[v->ref].once = true;
	return 0;
}

/* Compiles the quotient by the constant that is the program's last step. */
static int compile_div(struct hist_binder *b, const struct tacho_hist_expr *x,
		       const struct hist_value *by)
{
	uint64_t d = by->constant;

	if (!(by->flags & HIST_IS_CONST))
		return emit(b, x, HIST_DIV, 0, 0);
	if (!d)
		return hist_fail(b, -EDOM, x->right->text, "Division by zero");
	if (!(d & (d - 1)) || d > (uint64_t)1 << HIST_DIV_SHIFT)
		return emit(b, x, HIST_DIV, 0, 0);
	b->nr_ops--;
	return emit(b, x, HIST_DIV_ROUND, 0, d);
}

static enum hist_code code_of(enum tacho_hist_op op)
{
	return op == TACHO_EXPR_ADD ? HIST_ADD :
	       op == TACHO_EXPR_SUB ? HIST_SUB : HIST_MUL;
}

/* Folds an operation on two constants. */
static int fold(struct hist_binder *b, const struct tacho_hist_expr *x,
		uint32_t from, const struct hist_value *l,
		const struct hist_value *r, struct hist_value *v)
{
	const struct hist_op *last = &b->op[b->nr_ops - 1];
	uint64_t result = last->code == HIST_DIV_ROUND ?
			  one(last, l->constant) :
			  two(last->code, l->constant, r->constant);

	v->flags |= HIST_IS_CONST;
	v->constant = result;
	b->nr_ops = from;
	return emit(b, x, HIST_CONST, 0, result);
}

static int compile_binary(struct hist_binder *b, const struct tacho_hist_expr *x,
			  uint32_t limit, uint32_t depth, struct hist_value *v)
{
	struct hist_value l = { .flags = 0 }, r = { .flags = 0 };
	uint32_t from = b->nr_ops;
	int err = compile(b, x->left, limit, depth, &l);

	if (!err)
		err = check_operand(b, x->left, &l);
	if (!err)
		err = compile(b, x->right, limit, depth, &r);
	if (!err)
		err = check_operand(b, x->right, &r);
	if (err)
		return err;
	if ((l.flags ^ r.flags) & HIST_IS_USECS)
		return hist_fail(b, -EINVAL, NULL,
				 "Timestamp units in expression don't match");
	err = x->op == TACHO_EXPR_DIV ? compile_div(b, x, &r) :
					emit(b, x, code_of(x->op), 0, 0);
	if (err)
		return err;
	v->flags = l.flags & (HIST_IS_TIME | HIST_IS_USECS);
	number_of_type(v, l.type, l.size);
	v->is_signed = l.is_signed;
	v->name = x->text;
	return l.flags & r.flags & HIST_IS_CONST ? fold(b, x, from, &l, &r, v) : 0;
}

static int compile(struct hist_binder *b, const struct tacho_hist_expr *x,
		   uint32_t limit, uint32_t depth, struct hist_value *v)
{
	if (!depth)
		return hist_fail(b, -EINVAL, x->text,
				 "Too many subexpressions (3 max)");
	switch (x->op) {
	case TACHO_EXPR_FIELD:
		return compile_field(b, x, v);
	case TACHO_EXPR_VAR:
		return compile_var(b, x, limit, depth - 1, v);
	case TACHO_EXPR_CONST:
		v->flags |= HIST_IS_CONST;
		v->constant = x->value;
		v->name = x->text;
		number_of_type(v, "u64", 8);
		return emit(b, x, HIST_CONST, 0, x->value);
	case TACHO_EXPR_MINUS:
		return compile_minus(b, x, limit, depth - 1, v);
	case TACHO_EXPR_ADD:
	case TACHO_EXPR_SUB:
	case TACHO_EXPR_MUL:
	case TACHO_EXPR_DIV:
		return compile_binary(b, x, limit, depth - 1, v);
	}
	return -EINVAL;
}

/* Moves the finished program into its value. */
int hist_finish(struct hist_binder *b, const struct tacho_hist_expr *x,
		struct hist_value *v)
{
	struct hist_op *op;

	v->nr_ops = b->nr_ops;
	if (!b->nr_ops)
		return 0;
	op = tacho_arena_array(b->arena, b->nr_ops, sizeof(*op));
	if (!op)
		return hist_fail(b, -ENOMEM, x->text, "No memory");
	memcpy(op, b->op, b->nr_ops * sizeof(*op));
	v->op = op;
	v->first = op[0];
	return 0;
}

int hist_bind_expr(struct hist_binder *b, const struct tacho_hist_expr *x,
		   uint32_t limit, struct hist_value *v)
{
	int err;

	memset(v, 0, sizeof(*v));
	b->nr_ops = 0;
	err = compile(b, x, limit, 16, v);
	return err ? err : hist_finish(b, x, v);
}
