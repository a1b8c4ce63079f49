// SPDX-License-Identifier: MIT
#include "event/print_ast.h"

#include <errno.h>
#include <string.h>

#include "event/ctype.h"

#define PAIR(a, b) ((unsigned int)(a) << 8 | (unsigned int)(b))

struct tacho_local {
	struct tacho_local *next;
	const char *name;
	size_t len;
	const struct tacho_node *value;
};

void *tacho_parse_error(struct tacho_parse *p, const char *what)
{
	const struct tacho_token *t = &p->lex.t;

	tacho_diag(p->d, -EINVAL, t->offset, "%s at '%.*s'", what,
		   t->len < 40 ? (int)t->len : 40, t->s);
	return NULL;
}

bool tacho_parse_take(struct tacho_parse *p, unsigned int op)
{
	if (p->lex.t.kind != TOKEN_OP || p->lex.t.op != op)
		return false;
	tacho_lex_next(&p->lex);
	return true;
}

bool tacho_parse_expect(struct tacho_parse *p, unsigned int op)
{
	char what[] = "'x' is missing";

	if (tacho_parse_take(p, op))
		return true;
	what[1] = (char)op;
	return tacho_parse_error(p, op < 256 ? what : "'->' is missing") != NULL;
}

static bool name_is(const struct tacho_token *t, const char *name)
{
	return t->kind == TOKEN_NAME && strlen(name) == t->len &&
	       !memcmp(t->s, name, t->len);
}

/* The token after the current one. */
static struct tacho_token peek(const struct tacho_parse *p)
{
	struct tacho_lex ahead = p->lex;

	tacho_lex_next(&ahead);
	return ahead.t;
}

bool tacho_parse_string(struct tacho_parse *p, const char **s, uint32_t *len)
{
	struct tacho_lex ahead = p->lex;
	size_t room = 1;
	char *to;

	if (p->lex.t.kind != TOKEN_STRING)
		return tacho_parse_error(p, "a string is missing") != NULL;
	for (; ahead.t.kind == TOKEN_STRING; tacho_lex_next(&ahead))
		room += ahead.t.len;
	to = room < UINT32_MAX ? tacho_arena_alloc(p->arena, room) : NULL;
	if (!to) {
		tacho_diag(p->d, -E2BIG, p->lex.t.offset,
			   "the print format is too large");
		return false;
	}
	*s = to;
	*len = 0;
	for (; p->lex.t.kind == TOKEN_STRING; tacho_lex_next(&p->lex))
		*len += (uint32_t)tacho_lex_unescape(&p->lex.t, to + *len);
	return true;
}

static const struct tacho_node *parse_cond(struct tacho_parse *p);
static const struct tacho_node *parse_unary(struct tacho_parse *p);

static bool deeper(struct tacho_parse *p)
{
	if (p->depth < TACHO_PRINT_DEPTH) {
		p->depth++;
		return true;
	}
	return tacho_parse_error(p, "the expression is too deep") != NULL;
}

/*
 * The type name in "(type)" or "sizeof(type)", up to its ')', which is not consumed.  False, and
 * nothing is consumed: the tokens are not a type.  With `guess`, a single unknown name counts as
 * a type.
 */
static bool take_type(struct tacho_parse *p, const char **s, size_t *len,
		      bool guess)
{
	struct tacho_lex start = p->lex;
	const char *end = p->lex.t.s;
	unsigned int words = 0;
	bool known = false, tag = false, star = false;

	*s = p->lex.t.s;
	for (;; tacho_lex_next(&p->lex)) {
		const struct tacho_token *t = &p->lex.t;

		if (t->kind == TOKEN_NAME && (!star || name_is(t, "const"))) {
			if (tacho_ctype_word(t->s, t->len))
				known = true;
			else if (!tag && words && !known)
				break;
			tag = name_is(t, "struct") || name_is(t, "union") ||
			      name_is(t, "enum");
			words++;
		} else if (t->kind == TOKEN_OP && t->op == '*' && words) {
			star = true;
		} else {
			break;
		}
		end = t->s + t->len;
	}
	*len = (size_t)(end - *s);
	if (words && (known || guess || star) && p->lex.t.kind == TOKEN_OP &&
	    p->lex.t.op == ')')
		return true;
	p->lex = start;
	return false;
}

/* Whether a '(' name ')' before the token t can only have been a cast. */
static bool starts_operand(const struct tacho_token *t)
{
	return t->kind == TOKEN_NAME || t->kind == TOKEN_NUMBER ||
	       t->kind == TOKEN_STRING ||
	       (t->kind == TOKEN_OP && (t->op == '(' || t->op == '~' ||
					t->op == '!'));
}

static bool is_record(const struct tacho_token *t)
{
	return name_is(t, "REC");
}

static const struct tacho_node *parse_member(struct tacho_parse *p)
{
	const struct tacho_field *f = NULL;
	const struct tacho_token *t;

	if (!tacho_parse_expect(p, PAIR('-', '>')))
		return NULL;
	t = &p->lex.t;
	for (uint32_t i = 0; i < p->type->nr_fields && !f; i++)
		if (name_is(t, p->type->fields[i].name))
			f = &p->type->fields[i];
	if (!f)
		return tacho_parse_error(p, "no such field");
	tacho_lex_next(&p->lex);
	return tacho_node_field(p, f);
}

static const struct tacho_local *local_find(const struct tacho_parse *p,
					    const struct tacho_token *t)
{
	for (const struct tacho_local *l = p->locals; l; l = l->next)
		if (l->len == t->len && !memcmp(l->name, t->s, t->len))
			return l;
	return NULL;
}

/* "type name = value;", the type's words being known ones. */
static bool parse_local(struct tacho_parse *p)
{
	struct tacho_local *l = tacho_arena_alloc(p->arena, sizeof(*l));
	const char *type = p->lex.t.s;
	struct tacho_token name = p->lex.t;
	size_t len;

	while ((p->lex.t.kind == TOKEN_NAME) ||
	       (p->lex.t.kind == TOKEN_OP && p->lex.t.op == '*')) {
		name = p->lex.t;
		tacho_lex_next(&p->lex);
	}
	len = (size_t)(name.s - type);
	if (!l || name.kind != TOKEN_NAME || !len ||
	    !tacho_parse_expect(p, '='))
		return tacho_parse_error(p, "no variable") != NULL;
	l->value = parse_cond(p);
	if (l->value)
		l->value = tacho_node_cast(p, l->value, type, len);
	l->name = name.s;
	l->len = name.len;
	l->next = p->locals;
	p->locals = l;
	return l->value && tacho_parse_expect(p, ';');
}

/*
 * ({ int x = ...; ...; value; }), as the kernel's min() expands: each name is replaced by its
 * value's tree.
 */
static const struct tacho_node *parse_block(struct tacho_parse *p)
{
	struct tacho_local *outer = p->locals;
	const struct tacho_node *n;

	while (p->lex.t.kind == TOKEN_NAME &&
	       tacho_ctype_word(p->lex.t.s, p->lex.t.len))
		if (!parse_local(p))
			return NULL;
	n = parse_cond(p);
	p->locals = outer;
	if (!n || !tacho_parse_expect(p, ';') || !tacho_parse_expect(p, '}') ||
	    !tacho_parse_expect(p, ')'))
		return NULL;
	return n;
}

/* After a '(' that does not begin a cast. */
static const struct tacho_node *parse_paren(struct tacho_parse *p)
{
	const struct tacho_node *n;

	if (tacho_parse_take(p, '{'))
		return parse_block(p);
	if (is_record(&p->lex.t) && peek(p).op == ')') {
		tacho_lex_next(&p->lex);
		tacho_lex_next(&p->lex);
		return parse_member(p);
	}
	n = parse_cond(p);
	return n && tacho_parse_expect(p, ')') ? n : NULL;
}

static const struct tacho_node *parse_sizeof(struct tacho_parse *p)
{
	const struct tacho_node *n;
	const char *type;
	size_t len;

	if (!tacho_parse_expect(p, '('))
		return NULL;
	if (take_type(p, &type, &len, false)) {
		struct tacho_ctype t = tacho_ctype_of(type, len);

		n = t.size ? tacho_node_const(p, t.size, 8, false) :
		    tacho_parse_error(p, "the size of an unknown type");
	} else {
		n = parse_cond(p);
		if (n && n->kind == NODE_DATA && n->field->size &&
		    n->field->kind != TACHO_FIELD_DATA_LOC &&
		    n->field->kind != TACHO_FIELD_REL_LOC)
			n = tacho_node_const(p, n->field->size, 8, false);
		else if (n && (n->class == NODE_CLASS_INT ||
			       n->class == NODE_CLASS_FLOAT))
			n = tacho_node_const(p, n->size, 8, false);
		else if (n)
			n = tacho_parse_error(p, "an unknown size");
	}
	return n && tacho_parse_expect(p, ')') ? n : NULL;
}

/*
 * Constants that appear by name in the formats of some kernels, with the same value in all
 * versions.
 */
static const struct constant {
	const char *name;
	int value;
} constants[] = {
	{ "NULL", 0 }, { "false", 0 }, { "true", 1 },
	{ "TCP_ESTABLISHED", 1 }, { "TCP_SYN_SENT", 2 }, { "TCP_SYN_RECV", 3 },
	{ "TCP_FIN_WAIT1", 4 }, { "TCP_FIN_WAIT2", 5 }, { "TCP_TIME_WAIT", 6 },
	{ "TCP_CLOSE", 7 }, { "TCP_CLOSE_WAIT", 8 }, { "TCP_LAST_ACK", 9 },
	{ "TCP_LISTEN", 10 }, { "TCP_CLOSING", 11 }, { "TCP_NEW_SYN_RECV", 12 },
	{ "IOPRIO_CLASS_NONE", 0 }, { "IOPRIO_CLASS_RT", 1 },
	{ "IOPRIO_CLASS_BE", 2 }, { "IOPRIO_CLASS_IDLE", 3 },
	{ "IOPRIO_CLASS_INVALID", 7 },
	{ "HRTIMER_MODE_ABS", 0 }, { "HRTIMER_MODE_REL", 1 },
	{ "HRTIMER_MODE_ABS_PINNED", 2 }, { "HRTIMER_MODE_REL_PINNED", 3 },
	{ "HRTIMER_MODE_ABS_SOFT", 4 }, { "HRTIMER_MODE_REL_SOFT", 5 },
	{ "HRTIMER_MODE_ABS_PINNED_SOFT", 6 },
	{ "HRTIMER_MODE_REL_PINNED_SOFT", 7 },
	{ "HRTIMER_MODE_ABS_HARD", 8 }, { "HRTIMER_MODE_REL_HARD", 9 },
	{ "HRTIMER_MODE_ABS_PINNED_HARD", 10 },
	{ "HRTIMER_MODE_REL_PINNED_HARD", 11 },
};

static const struct tacho_node *parse_name(struct tacho_parse *p)
{
	struct tacho_token name = p->lex.t;
	const struct tacho_local *local;

	tacho_lex_next(&p->lex);
	if (is_record(&name))
		return parse_member(p);
	if (name_is(&name, "sizeof"))
		return parse_sizeof(p);
	if (tacho_parse_take(p, '('))
		return tacho_parse_call(p, &name);
	local = local_find(p, &name);
	if (local)
		return local->value;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(constants); i++)
		if (name_is(&name, constants[i].name))
			return tacho_node_const(p, (uint64_t)constants[i].value,
						4, true);
	return tacho_node_unknown(p);
}

static const struct tacho_node *parse_text(struct tacho_parse *p)
{
	struct tacho_node *n = tacho_node_new(p, NODE_TEXT);

	if (!n || !tacho_parse_string(p, &n->text, &n->text_len))
		return NULL;
	n->class = NODE_CLASS_TEXT;
	return n;
}

static const struct tacho_node *parse_primary(struct tacho_parse *p)
{
	const struct tacho_token *t = &p->lex.t;
	const struct tacho_node *n;

	switch (t->kind) {
	case TOKEN_NUMBER:
		n = tacho_node_const(p, t->value, t->size, t->is_signed);
		tacho_lex_next(&p->lex);
		return n;
	case TOKEN_STRING:
		return parse_text(p);
	case TOKEN_NAME:
		return parse_name(p);
	case TOKEN_OP:
		if (tacho_parse_take(p, '('))
			return parse_paren(p);
		break;
	case TOKEN_END:
	case TOKEN_BAD:
	default:
		break;
	}
	return tacho_parse_error(p, "no expression");
}

static const struct tacho_node *parse_postfix(struct tacho_parse *p)
{
	const struct tacho_node *n = parse_primary(p);

	while (n && tacho_parse_take(p, '[')) {
		n = tacho_node_index(p, n, parse_cond(p));
		if (n && !tacho_parse_expect(p, ']'))
			return NULL;
	}
	if (n && p->lex.t.kind == TOKEN_OP &&
	    (p->lex.t.op == '.' || p->lex.t.op == PAIR('-', '>')))
		return tacho_parse_error(p, "a member of a struct");
	return n;
}

/* "(type) operand"; *is_cast: whether it was a cast. */
static const struct tacho_node *parse_cast(struct tacho_parse *p, bool *is_cast)
{
	struct tacho_lex start = p->lex;
	const struct tacho_node *n;
	const char *type;
	size_t len;
	bool known;

	*is_cast = false;
	tacho_lex_next(&p->lex);
	if (is_record(&p->lex.t) || !take_type(p, &type, &len, true)) {
		p->lex = start;
		return NULL;
	}
	tacho_lex_next(&p->lex);
	known = tacho_ctype_of(type, len).size || memchr(type, '*', len);
	if (!known && !starts_operand(&p->lex.t)) {
		p->lex = start;
		return NULL;
	}
	*is_cast = true;
	n = parse_unary(p);
	return n ? tacho_node_cast(p, n, type, len) : NULL;
}

static const struct tacho_node *parse_deref(struct tacho_parse *p,
					    const struct tacho_node *n)
{
	if (!n || n->class == NODE_CLASS_UNKNOWN)
		return n;
	return tacho_node_index(p, n, tacho_node_const(p, 0, 8, true));
}

static const struct tacho_node *parse_prefix(struct tacho_parse *p)
{
	static const char ops[] = "-+~!";
	const struct tacho_node *n;
	unsigned int c = p->lex.t.kind == TOKEN_OP ? p->lex.t.op : 0;
	bool is_cast;

	if (c && c < 128 && strchr(ops, (int)c)) {
		tacho_lex_next(&p->lex);
		return tacho_node_unary(p, c, parse_unary(p));
	}
	if (tacho_parse_take(p, '*'))
		return parse_deref(p, parse_unary(p));
	if (tacho_parse_take(p, '&'))
		return tacho_node_address(p, parse_unary(p));
	if (c == '(') {
		n = parse_cast(p, &is_cast);
		if (is_cast)
			return n;
	}
	return parse_postfix(p);
}

static const struct tacho_node *parse_unary(struct tacho_parse *p)
{
	const struct tacho_node *n;

	if (!deeper(p))
		return NULL;
	n = parse_prefix(p);
	p->depth--;
	return n;
}

/* C's precedence of a binary operator, 10 the tightest; 0 for none. */
static int precedence(const struct tacho_token *t)
{
	if (t->kind != TOKEN_OP)
		return 0;
	switch (t->op) {
	case '*': case '/': case '%':
		return 10;
	case '+': case '-':
		return 9;
	case PAIR('<', '<'): case PAIR('>', '>'):
		return 8;
	case '<': case '>': case PAIR('<', '='): case PAIR('>', '='):
		return 7;
	case PAIR('=', '='): case PAIR('!', '='):
		return 6;
	case '&':
		return 5;
	case '^':
		return 4;
	case '|':
		return 3;
	case PAIR('&', '&'):
		return 2;
	case PAIR('|', '|'):
		return 1;
	default:
		return 0;
	}
}

/* Operators that bind at least as tightly as min, from the left. */
static const struct tacho_node *parse_binary(struct tacho_parse *p, int min)
{
	const struct tacho_node *n = parse_unary(p);

	while (n) {
		int prec = precedence(&p->lex.t);
		unsigned int c = p->lex.t.op;

		if (!prec || prec < min)
			break;
		tacho_lex_next(&p->lex);
		n = tacho_node_binary(p, c, n, parse_binary(p, prec + 1));
	}
	return n;
}

static const struct tacho_node *parse_cond(struct tacho_parse *p)
{
	const struct tacho_node *n, *yes, *no;

	if (!deeper(p))
		return NULL;
	n = parse_binary(p, 1);
	if (n && tacho_parse_take(p, '?')) {
		yes = parse_cond(p);
		no = yes && tacho_parse_expect(p, ':') ? parse_cond(p) : NULL;
		n = tacho_node_cond(p, n, yes, no);
	}
	p->depth--;
	return n;
}

const struct tacho_node *tacho_parse_expr(struct tacho_parse *p)
{
	return parse_cond(p);
}
