// SPDX-License-Identifier: MIT
#include "event/print_ast.h"

#include <errno.h>
#include <string.h>

#include "event/ctype.h"

/* Deeper trees are rejected, because functions recurse over them. */
#define NODE_DEPTH (TACHO_PRINT_DEPTH * 4)

struct tacho_node *tacho_node_new(struct tacho_parse *p,
				  enum tacho_node_kind kind)
{
	struct tacho_node *n = tacho_arena_alloc(p->arena, sizeof(*n));

	if (!n) {
		tacho_diag(p->d, -E2BIG, p->lex.t.offset,
			   "the print format is too large");
		return NULL;
	}
	n->kind = kind;
	n->depth = 1;
	return n;
}

static const struct tacho_node *finish(struct tacho_parse *p,
				       struct tacho_node *n)
{
	const struct tacho_node *const kids[] = { n->a, n->b, n->c };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(kids); i++)
		if (kids[i] && kids[i]->depth >= n->depth)
			n->depth = (uint16_t)(kids[i]->depth + 1);
	if (n->depth > NODE_DEPTH)
		return tacho_parse_error(p, "the expression is too deep");
	return n;
}

const struct tacho_node *tacho_node_const(struct tacho_parse *p, uint64_t v,
					  uint8_t size, bool is_signed)
{
	struct tacho_node *n = tacho_node_new(p, NODE_CONST);

	if (!n)
		return NULL;
	n->class = NODE_CLASS_INT;
	n->size = size;
	n->is_signed = is_signed;
	n->value = tacho_int_cut(v, size, is_signed);
	return n;
}

const struct tacho_node *tacho_node_unknown(struct tacho_parse *p)
{
	struct tacho_node *n = tacho_node_new(p, NODE_UNKNOWN);

	if (!n)
		return NULL;
	n->class = NODE_CLASS_UNKNOWN;
	n->size = 8;
	return n;
}

const struct tacho_node *tacho_node_data(struct tacho_parse *p,
					 const struct tacho_field *f)
{
	struct tacho_node *n = tacho_node_new(p, NODE_DATA);

	if (!n)
		return NULL;
	n->class = NODE_CLASS_DATA;
	n->field = f;
	if (f->kind != TACHO_FIELD_OPAQUE && f->elem_size <= 8)
		n->elem_size = (uint8_t)f->elem_size;
	n->elem_signed = f->flags & TACHO_FIELD_SIGNED;
	n->elem_float = f->flags & TACHO_FIELD_FLOAT;
	return n;
}

const struct tacho_node *tacho_node_field(struct tacho_parse *p,
					  const struct tacho_field *f)
{
	struct tacho_node *n;

	if (f->kind != TACHO_FIELD_SCALAR)
		return tacho_node_data(p, f);
	n = tacho_node_new(p, NODE_LOAD);
	if (!n)
		return NULL;
	n->class = f->flags & TACHO_FIELD_FLOAT ? NODE_CLASS_FLOAT :
						  NODE_CLASS_INT;
	n->field = f;
	n->size = (uint8_t)f->size;
	n->is_signed = f->flags & TACHO_FIELD_SIGNED;
	if (f->flags & TACHO_FIELD_POINTER) {
		const char *star = strrchr(f->elem, '*');

		n->is_pointer = true;
		n->is_signed = false;
		if (star)
			n->elem_size = tacho_ctype_of(f->elem, (size_t)
						      (star - f->elem)).size;
	}
	return n;
}

/* Converts a to this integer type; adds no node if nothing changes. */
const struct tacho_node *tacho_node_to(struct tacho_parse *p,
				       const struct tacho_node *a, uint8_t size,
				       bool is_signed)
{
	struct tacho_node *n;

	if (a->class == NODE_CLASS_UNKNOWN)
		return a;
	if (a->class != NODE_CLASS_INT)
		return tacho_parse_error(p, "not a number");
	if (a->kind == NODE_CONST)
		return tacho_node_const(p, a->value, size, is_signed);
	if (a->size == size && a->is_signed == is_signed && !a->is_pointer)
		return a;
	n = tacho_node_new(p, NODE_CAST);
	if (!n)
		return NULL;
	n->class = NODE_CLASS_INT;
	n->a = a;
	n->size = size;
	n->is_signed = is_signed;
	return finish(p, n);
}

/* Data seen through a pointer of another type. */
static const struct tacho_node *data_as(struct tacho_parse *p,
					const struct tacho_node *a,
					struct tacho_ctype t)
{
	struct tacho_node *n = tacho_node_new(p, a->kind);

	if (!n)
		return NULL;
	*n = *a;
	n->elem_size = t.size;
	n->elem_signed = t.is_signed;
	n->elem_float = t.is_float;
	return n;
}

/* Converts a to a float or a double; rounds the value and never reinterprets its bits. */
static const struct tacho_node *float_as(struct tacho_parse *p,
					 const struct tacho_node *a,
					 uint8_t size)
{
	struct tacho_node *n;

	if (a->class == NODE_CLASS_UNKNOWN)
		return a;
	if (a->class != NODE_CLASS_FLOAT)
		return tacho_parse_error(p, "not a floating-point number");
	if (a->size == size)
		return a;
	n = tacho_node_new(p, NODE_CAST);
	if (!n)
		return NULL;
	n->class = NODE_CLASS_FLOAT;
	n->size = size;
	n->a = a;
	return finish(p, n);
}

static const struct tacho_node *pointer_to(struct tacho_parse *p,
					   const struct tacho_node *a,
					   struct tacho_ctype t)
{
	struct tacho_node *n;

	a = tacho_node_to(p, a, 8, false);
	if (!a || a->class == NODE_CLASS_UNKNOWN)
		return a;
	n = tacho_node_new(p, NODE_CAST);
	if (!n)
		return NULL;
	if (a->kind == NODE_CONST)
		*n = *a;
	else
		n->a = a;
	n->class = NODE_CLASS_INT;
	n->size = 8;
	n->is_pointer = true;
	n->elem_size = t.size;
	return finish(p, n);
}

const struct tacho_node *tacho_node_cast(struct tacho_parse *p,
					 const struct tacho_node *a,
					 const char *type, size_t len)
{
	struct tacho_ctype t = tacho_ctype_of(type, len);
	const char *star = memchr(type, '*', len);

	if (star && a->class == NODE_CLASS_FLOAT)
		return tacho_parse_error(p, "a number cast to an address");
	if (star) {
		size_t base = (size_t)(star - type);
		struct tacho_ctype to = tacho_ctype_of(type, base);

		if (memmem(type, base, "void", 4))
			to.size = 1;
		if (memchr(star + 1, '*', len - base - 1))
			to.size = 8;
		if (a->class == NODE_CLASS_INT ||
		    a->class == NODE_CLASS_UNKNOWN)
			return pointer_to(p, a, to);
		/* text stays text; bytes keep their own type under a void * */
		if (a->class == NODE_CLASS_TEXT || a->kind != NODE_DATA ||
		    memmem(type, base, "void", 4))
			return a;
		return data_as(p, a, to);
	}
	if (t.is_record)
		return tacho_parse_error(p, "a cast to a struct");
	if (t.is_float)
		return float_as(p, a, t.size);
	if (!t.size) {
		/* an unknown type: for integers, assume that the value is unchanged */
		if (a->class == NODE_CLASS_INT ||
		    a->class == NODE_CLASS_UNKNOWN)
			return a;
		return tacho_parse_error(p, "a cast to an unknown type");
	}
	if (t.is_bool && a->class == NODE_CLASS_INT)
		return tacho_node_to(p, tacho_node_unary(p, 'B', a), 1, false);
	return tacho_node_to(p, a, t.size, t.is_signed);
}

/* The integer promotions: types smaller than int become int. */
static void promote(const struct tacho_node *a, uint8_t *size, bool *is_signed)
{
	*size = a->size < 4 ? 4 : a->size;
	*is_signed = a->size < 4 || a->is_signed;
}

const struct tacho_node *tacho_node_unary(struct tacho_parse *p, unsigned int c,
					  const struct tacho_node *a)
{
	struct tacho_node *n;
	uint8_t size;
	bool is_signed;

	if (!a || a->class == NODE_CLASS_UNKNOWN)
		return a;
	if ((c == '!' || c == 'B') && a->class == NODE_CLASS_TEXT)
		return tacho_parse_error(p, "a text where a number must be");
	/* an address within the event is never NULL */
	if ((c == '!' || c == 'B') && a->class == NODE_CLASS_DATA)
		return tacho_node_const(p, c == 'B', 4, true);
	if (a->class != NODE_CLASS_INT)
		return tacho_parse_error(p, "not a number");
	promote(a, &size, &is_signed);
	if (c == '+')
		return tacho_node_to(p, a, size, is_signed);
	n = tacho_node_new(p, NODE_UNARY);
	if (!n)
		return NULL;
	n->op = c == '-' ? UNOP_NEG : c == '~' ? UNOP_NOT :
		c == '!' ? UNOP_LNOT : UNOP_BOOL;
	if (c == '!' || c == 'B') {
		size = 4;
		is_signed = true;
	}
	if (a->kind == NODE_CONST)
		return tacho_node_const(p, tacho_int_unop(n->op, a->value),
					size, is_signed);
	n->class = NODE_CLASS_INT;
	n->size = size;
	n->is_signed = is_signed;
	n->a = a;
	return finish(p, n);
}

#define PAIR(a, b) ((unsigned int)(a) << 8 | (unsigned int)(b))

/* The operator for the token c on operands of this sign; false for none. */
static bool binop_of(unsigned int c, bool s, enum tacho_binop *op)
{
	static const struct {
		unsigned int c;
		enum tacho_binop u, s;
	} table[] = {
		{ '+', BINOP_ADD, BINOP_ADD }, { '-', BINOP_SUB, BINOP_SUB },
		{ '*', BINOP_MUL, BINOP_MUL },
		{ '/', BINOP_DIV_U, BINOP_DIV_S },
		{ '%', BINOP_MOD_U, BINOP_MOD_S },
		{ '&', BINOP_AND, BINOP_AND }, { '|', BINOP_OR, BINOP_OR },
		{ '^', BINOP_XOR, BINOP_XOR },
		{ PAIR('<', '<'), BINOP_SHL, BINOP_SHL },
		{ PAIR('>', '>'), BINOP_SHR, BINOP_SAR },
		{ PAIR('=', '='), BINOP_EQ, BINOP_EQ },
		{ PAIR('!', '='), BINOP_NE, BINOP_NE },
		{ '<', BINOP_LT_U, BINOP_LT_S }, { '>', BINOP_GT_U, BINOP_GT_S },
		{ PAIR('<', '='), BINOP_LE_U, BINOP_LE_S },
		{ PAIR('>', '='), BINOP_GE_U, BINOP_GE_S },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		if (table[i].c != c)
			continue;
		*op = s ? table[i].s : table[i].u;
		return true;
	}
	return false;
}

static bool is_compare(enum tacho_binop op)
{
	return op >= BINOP_EQ;
}

static bool is_shift(enum tacho_binop op)
{
	return op == BINOP_SHL || op == BINOP_SHR || op == BINOP_SAR;
}

static const struct tacho_node *logical(struct tacho_parse *p, bool is_and,
					const struct tacho_node *a,
					const struct tacho_node *b)
{
	struct tacho_node *n;

	a = tacho_node_unary(p, 'B', a);
	b = tacho_node_unary(p, 'B', b);
	if (!a || !b)
		return NULL;
	/* the side that is not evaluated may be unknown */
	if (a->kind == NODE_CONST)
		return !!a->value == is_and ? b : a;
	if (a->class == NODE_CLASS_UNKNOWN)
		return a;
	if (b->class == NODE_CLASS_UNKNOWN)
		return b;
	n = tacho_node_new(p, is_and ? NODE_AND : NODE_OR);
	if (!n)
		return NULL;
	n->class = NODE_CLASS_INT;
	n->size = 4;
	n->is_signed = true;
	n->a = a;
	n->b = b;
	return finish(p, n);
}

/* data + bytes: adds to the tree of the offset. */
static const struct tacho_node *data_add(struct tacho_parse *p, unsigned int c,
					 const struct tacho_node *a,
					 const struct tacho_node *b)
{
	struct tacho_node *n;
	const struct tacho_node *by, *size;

	if (a->kind != NODE_DATA || !a->elem_size || c != '+')
		return tacho_parse_error(p, "arithmetic on an address");
	size = tacho_node_const(p, a->elem_size, 8, true);
	by = tacho_node_binary(p, '*', tacho_node_to(p, b, 8, true), size);
	if (by && a->a)
		by = tacho_node_binary(p, '+', a->a, by);
	if (!by || by->class == NODE_CLASS_UNKNOWN)
		return by;
	n = tacho_node_new(p, NODE_DATA);
	if (!n)
		return NULL;
	*n = *a;
	n->a = by;
	return finish(p, n);
}

/* pointer + n: n counts elements, whose size must be known. */
static const struct tacho_node *scale(struct tacho_parse *p,
				      const struct tacho_node *pointer,
				      const struct tacho_node *n)
{
	const struct tacho_node *size;

	if (tacho_node_is_null(n))
		return n;
	if (!pointer->elem_size)
		return tacho_node_unknown(p);
	size = tacho_node_const(p, pointer->elem_size, 8, false);
	return tacho_node_binary(p, '*', tacho_node_to(p, n, 8, n->is_signed),
				 size);
}

static const struct tacho_node *arithmetic(struct tacho_parse *p,
					   unsigned int c,
					   const struct tacho_node *a,
					   const struct tacho_node *b)
{
	struct tacho_node *n;
	enum tacho_binop op;
	uint8_t sa, sb, size;
	bool ga, gb, is_signed;

	promote(a, &sa, &ga);
	promote(b, &sb, &gb);
	size = sa > sb ? sa : sb;
	is_signed = sa == sb ? ga && gb : sa > sb ? ga : gb;
	if (c == PAIR('<', '<') || c == PAIR('>', '>')) {
		size = sa;
		is_signed = ga;
	}
	if (!binop_of(c, is_signed, &op))
		return tacho_parse_error(p, "an unknown operator");
	a = tacho_node_to(p, a, size, is_signed);
	if (!is_shift(op))
		b = tacho_node_to(p, b, size, is_signed);
	else if (b->kind == NODE_CONST)
		b = tacho_node_const(p, b->value & (size * 8u - 1), 4, true);
	n = tacho_node_new(p, NODE_BINARY);
	if (!a || !b || !n)
		return NULL;
	if (is_compare(op)) {
		size = 4;
		is_signed = true;
	}
	if (a->kind == NODE_CONST && b->kind == NODE_CONST)
		return tacho_node_const(p, tacho_int_binop(op, a->value,
							   b->value),
					size, is_signed);
	n->class = NODE_CLASS_INT;
	n->op = (uint8_t)op;
	n->size = size;
	n->is_signed = is_signed;
	n->a = a;
	n->b = b;
	return finish(p, n);
}

const struct tacho_node *tacho_node_binary(struct tacho_parse *p,
					   unsigned int c,
					   const struct tacho_node *a,
					   const struct tacho_node *b)
{
	if (!a || !b)
		return NULL;
	if (c == PAIR('&', '&') || c == PAIR('|', '|'))
		return logical(p, c == PAIR('&', '&'), a, b);
	if (a->class == NODE_CLASS_UNKNOWN)
		return a;
	if (b->class == NODE_CLASS_UNKNOWN)
		return b;
	if (a->class == NODE_CLASS_DATA && b->class == NODE_CLASS_INT) {
		if (c == PAIR('=', '=') || c == PAIR('!', '='))
			return tacho_node_const(p, c == PAIR('!', '='), 4,
						true);
		return data_add(p, c, a, b);
	}
	if (a->class != NODE_CLASS_INT || b->class != NODE_CLASS_INT)
		return tacho_parse_error(p, "an operator between texts");
	if ((c == '+' || c == '-') && a->is_pointer && !b->is_pointer)
		b = scale(p, a, b);
	else if (c == '+' && b->is_pointer && !a->is_pointer)
		a = scale(p, b, a);
	if (!a || !b)
		return NULL;
	if (a->class == NODE_CLASS_UNKNOWN)
		return a;
	if (b->class == NODE_CLASS_UNKNOWN)
		return b;
	return arithmetic(p, c, a, b);
}

static bool is_textual(const struct tacho_node *n)
{
	return n->class == NODE_CLASS_TEXT || n->class == NODE_CLASS_DATA;
}

const struct tacho_node *tacho_node_cond(struct tacho_parse *p,
					 const struct tacho_node *a,
					 const struct tacho_node *b,
					 const struct tacho_node *c)
{
	struct tacho_node *n;
	uint8_t sb, sc;
	bool gb, gc;

	a = tacho_node_unary(p, 'B', a);
	if (!a || !b || !c)
		return NULL;
	if (a->kind == NODE_CONST)
		return a->value ? b : c;
	if (a->class == NODE_CLASS_UNKNOWN)
		return a;
	n = tacho_node_new(p, NODE_COND);
	if (!n)
		return NULL;
	n->a = a;
	if (is_textual(b) || is_textual(c)) {
		if ((!is_textual(b) && !tacho_node_is_null(b)) ||
		    (!is_textual(c) && !tacho_node_is_null(c)))
			return tacho_parse_error(p, "a text or a number");
		n->class = NODE_CLASS_TEXT;
		n->b = b;
		n->c = c;
		return finish(p, n);
	}
	if (b->class == NODE_CLASS_UNKNOWN)
		return b;
	if (c->class == NODE_CLASS_UNKNOWN)
		return c;
	if (b->class == NODE_CLASS_FLOAT || c->class == NODE_CLASS_FLOAT) {
		n->class = NODE_CLASS_FLOAT;
		n->size = 8;
		n->b = float_as(p, b, 8);
		n->c = float_as(p, c, 8);
		return n->b && n->c ? finish(p, n) : NULL;
	}
	promote(b, &sb, &gb);
	promote(c, &sc, &gc);
	n->class = NODE_CLASS_INT;
	n->size = sb > sc ? sb : sc;
	n->is_signed = sb == sc ? gb && gc : sb > sc ? gb : gc;
	n->b = tacho_node_to(p, b, n->size, n->is_signed);
	n->c = tacho_node_to(p, c, n->size, n->is_signed);
	return n->b && n->c ? finish(p, n) : NULL;
}

const struct tacho_node *tacho_node_index(struct tacho_parse *p,
					  const struct tacho_node *a,
					  const struct tacho_node *i)
{
	const struct tacho_node *at;
	struct tacho_node *n;

	if (!a || !i)
		return NULL;
	if (a->class != NODE_CLASS_DATA || a->kind != NODE_DATA ||
	    !a->elem_size)
		return tacho_parse_error(p, "an index into what is no array");
	at = tacho_node_to(p, i, 8, i->is_signed);
	if (!at || at->class == NODE_CLASS_UNKNOWN)
		return at;
	n = tacho_node_new(p, NODE_INDEX);
	if (!n)
		return NULL;
	n->class = a->elem_float ? NODE_CLASS_FLOAT : NODE_CLASS_INT;
	n->size = a->elem_size;
	n->is_signed = a->elem_signed;
	n->a = a;
	n->b = at;
	return finish(p, n);
}

const struct tacho_node *tacho_node_address(struct tacho_parse *p,
					    const struct tacho_node *a)
{
	struct tacho_node *n;

	if (!a || a->class == NODE_CLASS_UNKNOWN)
		return a;
	if (a->kind == NODE_DATA)
		return a;
	if (a->kind == NODE_INDEX)
		return tacho_node_binary(p, '+', a->a, a->b);
	if (a->kind != NODE_LOAD)
		return tacho_parse_error(p, "the address of what is no field");
	n = tacho_node_new(p, NODE_DATA);
	if (!n)
		return NULL;
	n->class = NODE_CLASS_DATA;
	n->field = a->field;
	n->elem_size = a->size;
	n->elem_signed = a->is_signed;
	n->elem_float = a->class == NODE_CLASS_FLOAT;
	return n;
}
