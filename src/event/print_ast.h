/* SPDX-License-Identifier: MIT */
/*
 * print_ast.h - print formats as trees: the parser's output, the compiler's input.
 *
 * Every expression has a class.  INT is a C integer with a size and a sign;
 * pointers are INT too, with the size of what they point to.  DATA is a
 * place in the raw event (an array field, variable data, &REC->x).  FLOAT is a float or a double,
 * which can be cast to the other and printed: arithmetic is not supported.  TEXT can only be
 * printed: a literal, a helper's output, or a ?: that contains one.  UNKNOWN is an integer that
 * the event does not contain, such as a variable of the kernel; an expression with an UNKNOWN
 * part is UNKNOWN.
 *
 * Constants are folded when nodes are created, so that the depth of a tree is that of its
 * variable part.
 */
#ifndef TACHO_EVENT_PRINT_AST_H
#define TACHO_EVENT_PRINT_AST_H

#include "event/type.h"

/* Maximum nesting of parentheses and operators; deeper expressions are rejected. */
#define TACHO_PRINT_DEPTH 64

enum tacho_token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_OP,	/* op: the character, or two as c1 << 8 | c2 */
	TOKEN_BAD,
};

struct tacho_token {
	enum tacho_token_kind kind;
	unsigned int op;
	const char *s;		/* in the print format; strings without quotes */
	size_t len;
	size_t offset;
	uint64_t value;		/* of a NUMBER */
	uint8_t size;		/* of its type: 4 or 8 */
	bool is_signed;
};

struct tacho_lex {
	const char *text;
	size_t len;
	size_t pos;
	struct tacho_token t;	/* the current token */
};

void tacho_lex_init(struct tacho_lex *l, const char *text, size_t len);
/* Moves to the next token. */
void tacho_lex_next(struct tacho_lex *l);

/*
 * Copies the characters of a string token, with escapes resolved, to out (room for t->len);
 * returns their number.
 */
size_t tacho_lex_unescape(const struct tacho_token *t, char *out);

enum tacho_node_class {
	NODE_CLASS_INT,
	NODE_CLASS_FLOAT,
	NODE_CLASS_DATA,
	NODE_CLASS_TEXT,
	NODE_CLASS_UNKNOWN,
};

enum tacho_node_kind {
	NODE_CONST,	/* value */
	NODE_LOAD,	/* a number's field */
	NODE_UNARY,	/* op a */
	NODE_BINARY,	/* a op b */
	NODE_AND,	/* a && b */
	NODE_OR,	/* a || b */
	NODE_COND,	/* a ? b : c */
	NODE_CAST,	/* a, as type */
	NODE_DATA,	/* field's bytes from offset a (NULL: 0) on */
	NODE_INDEX,	/* element b of data a */
	NODE_LEN,	/* bytes of a variable field */
	NODE_JIFFIES,	/* a jiffies, in 1/value seconds */
	NODE_SWAP,	/* a with its bytes in the other order */
	NODE_UNKNOWN,
	NODE_TEXT,	/* text, text_len */
	NODE_FLAGS,	/* a by table */
	NODE_SYMBOL,
	NODE_HEX,	/* data a, b bytes; value: the separator */
	NODE_ARRAY,	/* data a, b elements of c bytes; b NULL: all */
	NODE_BITMASK,	/* data a */
	NODE_STACK,	/* data a: return addresses */
	NODE_HEXDUMP,	/* data a; args: type, row, group, length, ascii */
};

/* Operators in trees and in programs. */
enum tacho_binop {
	BINOP_ADD, BINOP_SUB, BINOP_MUL, BINOP_DIV_U, BINOP_DIV_S, BINOP_MOD_U,
	BINOP_MOD_S, BINOP_AND, BINOP_OR, BINOP_XOR, BINOP_SHL, BINOP_SHR,
	BINOP_SAR, BINOP_EQ, BINOP_NE, BINOP_LT_U, BINOP_LT_S, BINOP_LE_U,
	BINOP_LE_S, BINOP_GT_U, BINOP_GT_S, BINOP_GE_U, BINOP_GE_S,
};

enum tacho_unop { UNOP_NEG, UNOP_NOT, UNOP_LNOT, UNOP_BOOL };

struct tacho_pair {
	struct tacho_pair *next;
	uint64_t value;
	const char *text;
	uint32_t len;
};

struct tacho_node {
	enum tacho_node_kind kind;
	enum tacho_node_class class;
	uint8_t op;			/* enum tacho_binop or tacho_unop */
	uint8_t size;			/* INT: 1, 2, 4, 8; FLOAT: 4, 8 */
	bool is_signed;
	bool is_pointer;
	uint8_t elem_size;		/* pointers and DATA; 0: not known */
	bool elem_signed;
	bool elem_float;
	uint16_t depth;
	uint64_t value;
	const struct tacho_field *field;
	const struct tacho_node *a, *b, *c;
	const struct tacho_node *args[5];
	const char *text;		/* TEXT; delimiter or prefix of the others */
	uint32_t text_len;
	uint32_t nr_pairs;
	const struct tacho_pair *pairs;
};

struct tacho_local;		/* a variable of a statement expression */

struct tacho_parse {
	struct tacho_lex lex;
	struct tacho_arena *arena;	/* nodes and texts; freed after compiling */
	const struct tacho_type *type;
	struct tacho_diag *d;
	struct tacho_local *locals;
	unsigned int depth;
};

/*
 * Parses one expression up to a ',' or the end; NULL with the diag filled in. (Assignments and
 * comma operators are not supported.)
 */
const struct tacho_node *tacho_parse_expr(struct tacho_parse *p);

/* Parses adjacent string literals as one; false with the diag filled in. */
bool tacho_parse_string(struct tacho_parse *p, const char **s, uint32_t *len);

/* If the token is op (as in tacho_token.op), moves past it and returns true. */
bool tacho_parse_take(struct tacho_parse *p, unsigned int op);
bool tacho_parse_expect(struct tacho_parse *p, unsigned int op);

/* Records the error `what` at the current token; returns NULL. */
void *tacho_parse_error(struct tacho_parse *p, const char *what);

/* print_call.c: parses name(...); the current token is the one after '('. */
const struct tacho_node *tacho_parse_call(struct tacho_parse *p,
					  const struct tacho_token *name);

/* print_node.c: nodes with their types, constants folded; NULL: no memory or too deep. */
struct tacho_node *tacho_node_new(struct tacho_parse *p,
				  enum tacho_node_kind kind);
const struct tacho_node *tacho_node_const(struct tacho_parse *p, uint64_t v,
					  uint8_t size, bool is_signed);
const struct tacho_node *tacho_node_unknown(struct tacho_parse *p);
const struct tacho_node *tacho_node_field(struct tacho_parse *p,
					  const struct tacho_field *f);
const struct tacho_node *tacho_node_data(struct tacho_parse *p,
					 const struct tacho_field *f);
const struct tacho_node *tacho_node_unary(struct tacho_parse *p, unsigned int c,
					  const struct tacho_node *a);
const struct tacho_node *tacho_node_binary(struct tacho_parse *p,
					   unsigned int c,
					   const struct tacho_node *a,
					   const struct tacho_node *b);
const struct tacho_node *tacho_node_cond(struct tacho_parse *p,
					 const struct tacho_node *a,
					 const struct tacho_node *b,
					 const struct tacho_node *c);
const struct tacho_node *tacho_node_cast(struct tacho_parse *p,
					 const struct tacho_node *a,
					 const char *type, size_t len);
const struct tacho_node *tacho_node_to(struct tacho_parse *p,
				       const struct tacho_node *a, uint8_t size,
				       bool is_signed);
const struct tacho_node *tacho_node_index(struct tacho_parse *p,
					  const struct tacho_node *a,
					  const struct tacho_node *i);
const struct tacho_node *tacho_node_address(struct tacho_parse *p,
					    const struct tacho_node *a);

static inline bool tacho_node_is_null(const struct tacho_node *n)
{
	return n->kind == NODE_CONST && !n->value;
}

/* v cut to size bytes and extended again. */
static inline uint64_t tacho_int_cut(uint64_t v, uint8_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

/* Total: x / 0 is 0, shifts count modulo 64. */
static inline uint64_t tacho_int_binop(enum tacho_binop op, uint64_t a,
				       uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case BINOP_ADD: return a + b;
	case BINOP_SUB: return a - b;
	case BINOP_MUL: return a * b;
	case BINOP_DIV_U: return b ? a / b : 0;
	case BINOP_DIV_S: return !b ? 0 : sb == -1 ? 0 - a : (uint64_t)(sa / sb);
	case BINOP_MOD_U: return b ? a % b : 0;
	case BINOP_MOD_S: return !b || sb == -1 ? 0 : (uint64_t)(sa % sb);
	case BINOP_AND: return a & b;
	case BINOP_OR: return a | b;
	case BINOP_XOR: return a ^ b;
	case BINOP_SHL: return a << (b & 63);
	case BINOP_SHR: return a >> (b & 63);
	case BINOP_SAR: return (uint64_t)(sa >> (b & 63));
	case BINOP_EQ: return a == b;
	case BINOP_NE: return a != b;
	case BINOP_LT_U: return a < b;
	case BINOP_LT_S: return sa < sb;
	case BINOP_LE_U: return a <= b;
	case BINOP_LE_S: return sa <= sb;
	case BINOP_GT_U: return a > b;
	case BINOP_GT_S: return sa > sb;
	case BINOP_GE_U: return a >= b;
	case BINOP_GE_S: return sa >= sb;
	}
	return 0;
}

static inline uint64_t tacho_int_unop(enum tacho_unop op, uint64_t a)
{
	switch (op) {
	case UNOP_NEG: return 0 - a;
	case UNOP_NOT: return ~a;
	case UNOP_LNOT: return !a;
	case UNOP_BOOL: return !!a;
	}
	return 0;
}

#endif
