// SPDX-License-Identifier: MIT
/*
 * print_compile.c - compiles a print format to a program.
 *
 *	print fmt: "dev %d,%d sector %llu %s", REC->dev >> 20, REC->dev & 0xfffff,
 *		   REC->sector, __print_flags(REC->rw, "|", {1, "READ"}, {2, "WRITE"})
 *
 * 1. Four steps
 *
 *	print_lex.c	text to tokens
 *	print_expr.c	each argument to a tree (print_ast.h); constants are folded and
 *			every node gets its class, size and sign as C says
 *	here		one pass over the format string; each conversion takes its arguments from
 *			the list, as printf does, and emits instructions (print_prog.h)
 *	print_run.c	runs the program for each event
 *
 *	The trees are in scratch memory that is released at the end.  The program is copied to the
 *	caller's arena: code, pool (texts), specs, tables and entries, each as one array.
 *
 * 2. The machine, and how expressions use it
 *
 *	64 registers and one span (a run of bytes of the event).  gen_int(n, r) emits what
 *	leaves the value of tree n in register r and may use those above r.  So a binary
 *	operator is its left side in r, its right side in r + 1, and OP_BIN.  There is no other
 *	register allocation: a tree deeper than the registers is rejected.
 *
 *	Registers have 64 bits, C's types often 32.  A value is always kept as its
 *	type would have it, sign- or zero-extended.  So after an operation that can leave
 *	that range (+, -, <<, ~, a cast), and only then, an OP_CUT follows.  fits() says when
 *	a cast changes nothing.
 *
 *	?:, && and || become forward jumps: jump() emits one without a target, land() fills in
 *	the next instruction's number.  There is no jump back, so each run ends.
 *
 * 3. Text
 *
 *	Literal text is collected in the pool until an instruction follows, and then becomes
 *	one OP_LIT (flush(), called by emit()): "%", "0x" and text between two conversions
 *	need no instruction of their own.  Texts that instructions refer to, such as the
 *	names of a flag table, go to the same pool between two literals (pool_text()).
 *
 *	gen_text() emits what appends a tree as a string: a literal, a span up to
 *	its NUL, a table's name, or for a ?: one of two of them.  Where neither is text, the number
 *	is an address of a string in the kernel (OP_KSTR).
 *
 * 4. A conversion
 *
 *	parsed			flags, width, precision, size, letter, %p's extension
 *	plain %d, %u of a load	OP_DEC_S32 ..: field to digits in one instruction
 *	plain %d, %u		the value, OP_DEC_S or OP_DEC_U
 *	%x without precision	the value, OP_HEX
 *	other numbers		OP_SPEC, the stars (OP_WIDTH, OP_PREC), the value, OP_NUM
 *	%s, %c, %p.. with a width or a precision
 *				OP_SPEC, stars, OP_MARK, the text, OP_PAD: what was
 *				appended since the mark is cut and padded
 *
 *	The example above becomes
 *
 *		LIT "dev "; LD_U32 r0 dev; BIN_IMM r0 >> 20; DEC_S r0; LIT ","; LD_U32 r0 dev;
 *		BIN_IMM r0 & 0xfffff; DEC_S r0; LIT " sector "; DEC_U64 sector; LIT " ";
 *		LD_U32 r0 rw; FLAGS r0 table 0; END
 *
 *	(with a CUT where the sign of the value is not that of the conversion)
 *
 * 5. What is checked when
 *
 *	Here: that there are as many arguments as conversions, of the right class, that registers
 *	and instructions suffice, that the event contains the value.  `need` grows to the end of
 *	the last byte at a fixed offset.  An error has the offset in print_fmt, and the event is
 *	then printed by its fields.
 *	In a run: the event has `need` bytes, once; spans, when they are made.
 *
 *	The kernel prints stack traces and trace_printk()'s binary records by its own code, not
 *	by their formats; gen_stack() and gen_packed() emit the same for them.
 */
#include "event/print.h"

#include <errno.h>
#include <string.h>

#include "event/print_ast.h"
#include "event/print_prog.h"

/* Arguments of one format string. */
#define ARGS_MAX 128
/* Memory for the trees of one format. */
#define SCRATCH_MAX ((size_t)8 << 20)

struct compiler {
	struct tacho_buf code, pool, specs, tables, entries;
	struct tacho_diag *d;
	const struct tacho_type *type;
	uint32_t lit_from;	/* pool from here on is not in an OP_LIT yet */
	uint32_t need;
	size_t at;		/* the current argument, in print_fmt */
	bool uses_hz;
	bool failed;
};

static void fail(struct compiler *c, int err, const char *what)
{
	tacho_diag(c->d, err, c->at, "%s", what);
	c->failed = true;
}

static uint32_t here(const struct compiler *c)
{
	return (uint32_t)(c->code.len / sizeof(struct tacho_insn));
}

static void put(struct compiler *c, struct tacho_insn i)
{
	if (here(c) >= TACHO_PRINT_CODE)
		fail(c, -E2BIG, "the print format is too large");
	if (!c->failed)
		tacho_buf_put(&c->code, &i, sizeof(i));
}

static uint32_t pool_add(struct compiler *c, const char *s, size_t len)
{
	uint32_t at = (uint32_t)c->pool.len;

	tacho_buf_put(&c->pool, s, len);
	return at;
}

/* Makes instructions of the literal text collected so far. */
static void flush(struct compiler *c)
{
	while (c->lit_from < c->pool.len) {
		size_t n = c->pool.len - c->lit_from;

		if (n > UINT16_MAX)
			n = UINT16_MAX;
		put(c, (struct tacho_insn){ .op = OP_LIT, .n = (uint16_t)n,
					    .x = c->lit_from });
		c->lit_from += (uint32_t)n;
	}
}

static void emit(struct compiler *c, struct tacho_insn i)
{
	flush(c);
	put(c, i);
}

#define EMIT(c, ...) emit((c), (struct tacho_insn){ __VA_ARGS__ })

static void literal(struct compiler *c, const char *s, size_t len)
{
	pool_add(c, s, len);
}

/* Texts that instructions refer to: not part of the literals around them. */
static uint32_t pool_text(struct compiler *c, const char *s, size_t len)
{
	uint32_t at;

	flush(c);
	at = pool_add(c, s, len);
	c->lit_from = (uint32_t)c->pool.len;
	return at;
}

static uint32_t jump(struct compiler *c, enum tacho_print_op op, uint8_t r)
{
	EMIT(c, .op = (uint8_t)op, .r = r);
	return here(c) - 1;
}

/* The jump at `at` goes to the next instruction. */
static void land(struct compiler *c, uint32_t at)
{
	struct tacho_insn i;
	size_t pos = at * sizeof(i);

	flush(c);
	if (c->failed || tacho_buf_error(&c->code))
		return;
	memcpy(&i, c->code.data + pos, sizeof(i));
	i.x = here(c);
	memcpy(c->code.data + pos, &i, sizeof(i));
}

static void needs(struct compiler *c, uint64_t end)
{
	if (end > c->need)
		c->need = (uint32_t)end;
}

static bool reg_is_free(struct compiler *c, unsigned int r)
{
	if (r < TACHO_PRINT_REGS)
		return true;
	fail(c, -E2BIG, "the expression is too deep");
	return false;
}

static void gen_int(struct compiler *c, const struct tacho_node *n,
		    unsigned int r);

static void gen_load(struct compiler *c, uint32_t offset, uint8_t size,
		     bool is_signed, unsigned int r)
{
	enum tacho_print_op op = size == 1 ? OP_LD_U8 : size == 2 ? OP_LD_U16 :
				 size == 4 ? OP_LD_U32 : OP_LD_64;

	if (is_signed && size < 8)
		op++;
	needs(c, (uint64_t)offset + size);
	EMIT(c, .op = (uint8_t)op, .r = (uint8_t)r, .x = offset);
}

/* The span of a DATA node; r and above are used on the way. */
static void gen_data(struct compiler *c, const struct tacho_node *n,
		     unsigned int r)
{
	const struct tacho_field *f = n->field;
	enum tacho_print_op op = OP_SPAN_FIX;
	uint32_t size = f->size;

	if (!reg_is_free(c, r))
		return;
	if (n->a)
		gen_int(c, n->a, r);
	if (f->kind == TACHO_FIELD_DATA_LOC)
		op = OP_SPAN_LOC;
	else if (f->kind == TACHO_FIELD_REL_LOC)
		op = OP_SPAN_REL;
	else if (f->kind == TACHO_FIELD_FLEX)
		op = OP_SPAN_FLEX;
	needs(c, (uint64_t)f->offset + size);
	EMIT(c, .op = (uint8_t)op, .x = f->offset, .imm = size);
	if (n->a)
		EMIT(c, .op = OP_SPAN_ADD, .r = (uint8_t)r);
}

static void gen_index(struct compiler *c, const struct tacho_node *n,
		      unsigned int r)
{
	const struct tacho_field *f = n->a->field;
	const struct tacho_node *i = n->b;

	/* a[3] of an array in the fixed part is a load like any other */
	if (!n->a->a && i->kind == NODE_CONST &&
	    (f->kind == TACHO_FIELD_ARRAY || f->kind == TACHO_FIELD_SCALAR) &&
	    i->value < f->size / n->size) {
		gen_load(c, f->offset + (uint32_t)i->value * n->size, n->size,
			 n->is_signed, r);
		return;
	}
	gen_int(c, i, r);
	gen_data(c, n->a, r + 1);
	EMIT(c, .op = OP_LDX, .r = (uint8_t)r, .n = n->size, .x = n->is_signed);
}

/* A register holds a double: a float that was loaded becomes one. */
static void gen_widen(struct compiler *c, const struct tacho_node *n,
		      unsigned int r)
{
	if (n->class == NODE_CLASS_FLOAT && n->size == 4)
		EMIT(c, .op = OP_WIDEN, .r = (uint8_t)r);
}

static void gen_binary(struct compiler *c, const struct tacho_node *n,
		       unsigned int r)
{
	enum tacho_binop op = n->op;

	gen_int(c, n->a, r);
	if (n->b->kind == NODE_CONST) {
		EMIT(c, .op = OP_BIN_IMM, .r = (uint8_t)r, .n = n->op,
		     .imm = n->b->value);
	} else {
		gen_int(c, n->b, r + 1);
		/* longer shifts are undefined in C; the machine counts modulo 32 */
		if (n->size == 4 && (op == BINOP_SHL || op == BINOP_SHR ||
				     op == BINOP_SAR))
			EMIT(c, .op = OP_BIN_IMM, .r = (uint8_t)(r + 1),
			     .n = BINOP_AND, .imm = 31);
		EMIT(c, .op = OP_BIN, .r = (uint8_t)r, .n = n->op);
	}
	if (n->size == 4 && op < BINOP_EQ && op != BINOP_AND &&
	    op != BINOP_OR && op != BINOP_XOR)
		EMIT(c, .op = OP_CUT, .r = (uint8_t)r, .n = 4,
		     .x = n->is_signed);
}

static void gen_logical(struct compiler *c, const struct tacho_node *n,
			unsigned int r)
{
	uint32_t end;

	gen_int(c, n->a, r);
	if (n->kind == NODE_OR)
		EMIT(c, .op = OP_UN, .r = (uint8_t)r, .n = UNOP_LNOT);
	end = jump(c, OP_JZ, (uint8_t)r);
	gen_int(c, n->b, r);
	if (n->kind == NODE_OR)
		EMIT(c, .op = OP_UN, .r = (uint8_t)r, .n = UNOP_LNOT);
	land(c, end);
	if (n->kind == NODE_OR)
		EMIT(c, .op = OP_UN, .r = (uint8_t)r, .n = UNOP_LNOT);
}

static void gen_cond(struct compiler *c, const struct tacho_node *n,
		     unsigned int r)
{
	uint32_t no, end;

	gen_int(c, n->a, r);
	no = jump(c, OP_JZ, (uint8_t)r);
	gen_int(c, n->b, r);
	end = jump(c, OP_JMP, 0);
	land(c, no);
	gen_int(c, n->c, r);
	land(c, end);
}

/* Whether a value of a's type is the same number once it is cut to `size`. */
static bool fits(const struct tacho_node *a, uint8_t size, bool is_signed)
{
	if (a->size == size)
		return a->is_signed == is_signed || size == 8;
	return a->size < size && (size == 8 || !a->is_signed || is_signed);
}

static void gen_cast(struct compiler *c, const struct tacho_node *n,
		     unsigned int r)
{
	gen_int(c, n->a, r);
	if (n->class == NODE_CLASS_FLOAT) {
		if (n->size < n->a->size)
			EMIT(c, .op = OP_NARROW, .r = (uint8_t)r);
		return;
	}
	if (!fits(n->a, n->size, n->is_signed))
		EMIT(c, .op = OP_CUT, .r = (uint8_t)r, .n = n->size,
		     .x = n->is_signed);
}

static void gen_unary(struct compiler *c, const struct tacho_node *n,
		      unsigned int r)
{
	gen_int(c, n->a, r);
	EMIT(c, .op = OP_UN, .r = (uint8_t)r, .n = n->op);
	if (n->size == 4 && (n->op == UNOP_NEG || n->op == UNOP_NOT))
		EMIT(c, .op = OP_CUT, .r = (uint8_t)r, .n = 4,
		     .x = n->is_signed);
}

/* Computes the value of an INT or FLOAT node in register r; it may use the registers above r. */
static void gen_int(struct compiler *c, const struct tacho_node *n,
		    unsigned int r)
{
	if (c->failed || !reg_is_free(c, r))
		return;
	switch (n->kind) {
	case NODE_CONST:
		EMIT(c, .op = OP_SET, .r = (uint8_t)r, .imm = n->value);
		break;
	case NODE_LOAD:
		gen_load(c, n->field->offset, n->size,
			 n->field->flags & TACHO_FIELD_SIGNED, r);
		gen_widen(c, n, r);
		break;
	case NODE_UNARY:
		gen_unary(c, n, r);
		break;
	case NODE_BINARY:
		gen_binary(c, n, r);
		break;
	case NODE_AND:
	case NODE_OR:
		gen_logical(c, n, r);
		break;
	case NODE_COND:
		gen_cond(c, n, r);
		break;
	case NODE_CAST:
		gen_cast(c, n, r);
		break;
	case NODE_INDEX:
		gen_index(c, n, r);
		gen_widen(c, n, r);
		break;
	case NODE_LEN:
		needs(c, (uint64_t)n->field->offset + 4);
		EMIT(c, .op = OP_LEN, .r = (uint8_t)r, .x = n->field->offset);
		break;
	case NODE_JIFFIES:
		c->uses_hz = true;
		gen_int(c, n->a, r);
		EMIT(c, .op = OP_JIFFIES, .r = (uint8_t)r, .imm = n->value);
		break;
	case NODE_SWAP:
		gen_int(c, n->a, r);
		EMIT(c, .op = OP_SWAP, .r = (uint8_t)r, .n = n->size);
		break;
	case NODE_DATA:
	case NODE_UNKNOWN:
	case NODE_TEXT:
	case NODE_FLAGS:
	case NODE_SYMBOL:
	case NODE_HEX:
	case NODE_ARRAY:
	case NODE_BITMASK:
	case NODE_STACK:
	case NODE_HEXDUMP:
	default:
		fail(c, -EINVAL, "a text where a number must be");
		break;
	}
}

static uint32_t table_add(struct compiler *c, const struct tacho_node *n)
{
	struct tacho_table t = {
		.first = (uint32_t)(c->entries.len / sizeof(struct tacho_entry)),
		.nr = n->nr_pairs,
		.delim_len = n->text_len,
		.sorted = true,
	};
	uint32_t at = (uint32_t)(c->tables.len / sizeof(t));
	uint64_t last = 0;

	t.delim = pool_text(c, n->text, n->text_len);
	for (const struct tacho_pair *p = n->pairs; p; p = p->next) {
		struct tacho_entry e = { .value = p->value, .len = p->len };

		if (p != n->pairs && e.value <= last)
			t.sorted = false;
		last = e.value;
		e.at = pool_text(c, p->text, p->len);
		tacho_buf_put(&c->entries, &e, sizeof(e));
	}
	tacho_buf_put(&c->tables, &t, sizeof(t));
	return at;
}

static void gen_data_text(struct compiler *c, const struct tacho_node *n)
{
	const struct tacho_field *f = n->field;

	if (!n->a && f->kind == TACHO_FIELD_DATA_LOC) {
		needs(c, (uint64_t)f->offset + 4);
		EMIT(c, .op = OP_STR_LOC, .x = f->offset);
	} else if (!n->a && f->kind == TACHO_FIELD_ARRAY &&
		   f->size <= UINT16_MAX) {
		needs(c, (uint64_t)f->offset + f->size);
		EMIT(c, .op = OP_STR_FIX, .n = (uint16_t)f->size,
		     .x = f->offset);
	} else {
		gen_data(c, n, 0);
		EMIT(c, .op = OP_STR);
	}
}

static void gen_array(struct compiler *c, const struct tacho_node *n)
{
	if (n->b)
		gen_int(c, n->b, 0);
	gen_int(c, n->c, 1);
	gen_data(c, n->a, 2);
	EMIT(c, .op = OP_ARRAY, .n = n->b != NULL);
}

static void gen_dump(struct compiler *c, const struct tacho_node *n)
{
	uint32_t prefix = pool_text(c, n->text, n->text_len);

	if (n->text_len > UINT16_MAX) {
		fail(c, -E2BIG, "the prefix is too long");
		return;
	}
	for (unsigned int i = 0; i < TACHO_ARRAY_SIZE(n->args); i++)
		gen_int(c, n->args[i], i);
	gen_data(c, n->a, TACHO_ARRAY_SIZE(n->args));
	EMIT(c, .op = OP_DUMP, .n = (uint16_t)n->text_len, .x = prefix);
}

/* Appends the argument of a %s to the text. */
static void gen_text(struct compiler *c, const struct tacho_node *n)
{
	uint32_t no, end;

	if (c->failed)
		return;
	switch (n->kind) {
	case NODE_TEXT:
		literal(c, n->text, strnlen(n->text, n->text_len));
		return;
	case NODE_DATA:
		gen_data_text(c, n);
		return;
	case NODE_FLAGS:
	case NODE_SYMBOL:
		gen_int(c, n->a, 0);
		EMIT(c, .op = n->kind == NODE_FLAGS ? OP_FLAGS : OP_SYMBOLIC,
		     .x = table_add(c, n));
		return;
	case NODE_HEX:
		gen_int(c, n->b, 0);
		gen_data(c, n->a, 1);
		EMIT(c, .op = OP_HEXB, .n = (uint16_t)n->value);
		return;
	case NODE_ARRAY:
		gen_array(c, n);
		return;
	case NODE_BITMASK:
		gen_data(c, n->a, 0);
		EMIT(c, .op = OP_BITMASK);
		return;
	case NODE_STACK:
		gen_data(c, n->a, 0);
		EMIT(c, .op = OP_STACK, .n = (uint16_t)n->value);
		return;
	case NODE_HEXDUMP:
		gen_dump(c, n);
		return;
	case NODE_COND:
		if (n->class != NODE_CLASS_TEXT)
			break;
		gen_int(c, n->a, 0);
		no = jump(c, OP_JZ, 0);
		gen_text(c, n->b);
		end = jump(c, OP_JMP, 0);
		land(c, no);
		gen_text(c, n->c);
		land(c, end);
		return;
	case NODE_CONST:
	case NODE_LOAD:
	case NODE_UNARY:
	case NODE_BINARY:
	case NODE_AND:
	case NODE_OR:
	case NODE_CAST:
	case NODE_INDEX:
	case NODE_LEN:
	case NODE_JIFFIES:
	case NODE_SWAP:
	case NODE_UNKNOWN:
	default:
		break;
	}
	if (tacho_node_is_null(n)) {
		literal(c, "(null)", 6);
		return;
	}
	gen_int(c, n, 0);
	EMIT(c, .op = OP_KSTR);
}

/* A conversion in the format string. */
struct conv {
	struct tacho_spec spec;
	bool star_width, star_prec;
	char letter;		/* d, u, x, o, f, e, g, a, c, s, p; '%' */
	const char *ext;	/* letters after %p */
	size_t ext_len;
};

struct args {
	const struct tacho_node *node[ARGS_MAX];
	size_t at[ARGS_MAX];	/* in print_fmt */
	uint32_t nr, next;
};

/* The next argument; without one NULL, and sets failed. */
static const struct tacho_node *arg_next(struct compiler *c, struct args *a)
{
	if (a->next < a->nr) {
		c->at = a->at[a->next];
		return a->node[a->next++];
	}
	fail(c, -EINVAL, "more conversions than arguments");
	return NULL;
}

static const struct tacho_node *arg_int(struct compiler *c, struct args *a)
{
	const struct tacho_node *n = arg_next(c, a);

	if (n && n->class == NODE_CLASS_INT)
		return n;
	fail(c, -EINVAL, n && n->class == NODE_CLASS_UNKNOWN ?
	     "a value that is not in the event" :
	     n && n->class == NODE_CLASS_FLOAT ?
	     "a floating-point number for an integer's conversion" :
	     "a text for a number's conversion");
	return NULL;
}

static const struct tacho_node *arg_float(struct compiler *c, struct args *a)
{
	const struct tacho_node *n = arg_next(c, a);

	if (n && n->class == NODE_CLASS_FLOAT)
		return n;
	fail(c, -EINVAL, "no floating-point number for its conversion");
	return NULL;
}

static bool is_plain(const struct conv *v)
{
	return !v->star_width && !v->star_prec && v->spec.width <= 1 &&
	       v->spec.prec <= 0 && !(v->spec.flags & ~(TACHO_SPEC_SIGNED |
							TACHO_SPEC_ZERO |
							TACHO_SPEC_LEFT));
}

static void gen_spec(struct compiler *c, const struct conv *v,
		     const struct tacho_node *width,
		     const struct tacho_node *prec)
{
	uint32_t at = (uint32_t)(c->specs.len / sizeof(v->spec));

	tacho_buf_put(&c->specs, &v->spec, sizeof(v->spec));
	EMIT(c, .op = OP_SPEC, .x = at);
	if (width) {
		gen_int(c, width, 0);
		EMIT(c, .op = OP_WIDTH);
	}
	if (prec) {
		gen_int(c, prec, 0);
		EMIT(c, .op = OP_PREC);
	}
}

/* Emits a decimal directly from the fixed part, if n is one; the usual case. */
static bool gen_decimal_field(struct compiler *c, const struct conv *v,
			      const struct tacho_node *n)
{
	bool is_signed = v->spec.flags & TACHO_SPEC_SIGNED;
	enum tacho_print_op op;

	if (n->kind != NODE_LOAD || n->size < 4 || n->size > v->spec.size)
		return false;
	if (n->size < v->spec.size) {
		if (n->is_signed && !is_signed)
			return false;
		is_signed = n->is_signed;
	}
	op = n->size == 4 ? (is_signed ? OP_DEC_S32 : OP_DEC_U32) :
	     is_signed ? OP_DEC_S64 : OP_DEC_U64;
	needs(c, (uint64_t)n->field->offset + n->size);
	EMIT(c, .op = (uint8_t)op, .x = n->field->offset);
	return true;
}

static void gen_cut(struct compiler *c, const struct conv *v,
		    const struct tacho_node *n)
{
	bool is_signed = v->spec.flags & TACHO_SPEC_SIGNED;

	if (!fits(n, v->spec.size, is_signed))
		EMIT(c, .op = OP_CUT, .n = v->spec.size, .x = is_signed);
}

/* Whether %x with these flags is only digits padded with zeros. */
static bool is_simple_hex(const struct conv *v)
{
	return v->spec.base == 16 && !v->star_width && !v->star_prec &&
	       v->spec.prec <= 0 && v->spec.width <= 16 &&
	       (v->spec.width <= 1 || v->spec.flags == TACHO_SPEC_ZERO) &&
	       !(v->spec.flags & (TACHO_SPEC_UPPER | TACHO_SPEC_ALT));
}

static void gen_number(struct compiler *c, const struct conv *v,
		       struct args *args)
{
	const struct tacho_node *width = v->star_width ? arg_int(c, args) : NULL;
	const struct tacho_node *prec = v->star_prec ? arg_int(c, args) : NULL;
	const struct tacho_node *n = c->failed ? NULL : arg_int(c, args);

	if (!n)
		return;
	if (is_plain(v) && v->spec.base == 10) {
		if (gen_decimal_field(c, v, n))
			return;
		gen_int(c, n, 0);
		gen_cut(c, v, n);
		EMIT(c, .op = v->spec.flags & TACHO_SPEC_SIGNED ? OP_DEC_S :
		     OP_DEC_U);
	} else if (is_simple_hex(v)) {
		gen_int(c, n, 0);
		gen_cut(c, v, n);
		EMIT(c, .op = OP_HEX, .n = v->spec.width < 0 ? 0 :
		     (uint16_t)v->spec.width);
	} else {
		gen_spec(c, v, width, prec);
		gen_int(c, n, 0);
		EMIT(c, .op = OP_NUM);
	}
}

static void gen_real(struct compiler *c, const struct conv *v,
		     struct args *args)
{
	const struct tacho_node *width = v->star_width ? arg_int(c, args) : NULL;
	const struct tacho_node *prec = v->star_prec ? arg_int(c, args) : NULL;
	const struct tacho_node *n = c->failed ? NULL : arg_float(c, args);

	if (!n)
		return;
	gen_spec(c, v, width, prec);
	gen_int(c, n, 0);
	EMIT(c, .op = OP_REAL);
}

/* gen() between a mark and the padding that the conversion asks for. */
static bool needs_pad(const struct conv *v)
{
	return v->star_width || v->star_prec || v->spec.width > 0 ||
	       v->spec.prec >= 0;
}

static void pad_begin(struct compiler *c, const struct conv *v,
		      const struct tacho_node *width,
		      const struct tacho_node *prec)
{
	if (!needs_pad(v))
		return;
	gen_spec(c, v, width, prec);
	EMIT(c, .op = OP_MARK);
}

static void pad_end(struct compiler *c, const struct conv *v)
{
	if (needs_pad(v))
		EMIT(c, .op = OP_PAD);
}

static void gen_string(struct compiler *c, struct conv *v, struct args *args)
{
	const struct tacho_node *width = v->star_width ? arg_int(c, args) : NULL;
	const struct tacho_node *prec = v->star_prec ? arg_int(c, args) : NULL;
	const struct tacho_node *n;

	if (v->letter == 'c') {
		v->star_prec = false;
		v->spec.prec = -1;
		n = c->failed ? NULL : arg_int(c, args);
	} else {
		n = c->failed ? NULL : arg_next(c, args);
	}
	if (n && n->class == NODE_CLASS_UNKNOWN)
		fail(c, -EINVAL, "a value that is not in the event");
	if (n && n->class == NODE_CLASS_FLOAT)
		fail(c, -EINVAL, "a floating-point number for a text's conversion");
	if (!n || c->failed)
		return;
	pad_begin(c, v, width, v->star_prec ? prec : NULL);
	if (v->letter == 'c') {
		gen_int(c, n, 0);
		EMIT(c, .op = OP_CHAR);
	} else {
		gen_text(c, n);
	}
	pad_end(c, v);
}

/* %*ph and %*pb: the width is the amount to print. */
static bool gen_bytes(struct compiler *c, const struct conv *v,
		      struct args *args)
{
	static const char seps[] = "CDN";
	static const char sep_of[] = ":-\0";
	const struct tacho_node *width, *n;
	const char *sep;
	uint16_t how = 0;

	if (!v->ext_len || (v->ext[0] != 'h' && v->ext[0] != 'b'))
		return false;
	width = v->star_width ? arg_int(c, args) : NULL;
	n = c->failed ? NULL : arg_next(c, args);
	if (!n || n->kind != NODE_DATA) {
		fail(c, -EINVAL, "an address for bytes");
		return true;
	}
	if (width)
		gen_int(c, width, 0);
	else
		EMIT(c, .op = OP_SET, .imm = v->spec.width > 0 ?
		     (uint64_t)v->spec.width : 1);
	gen_data(c, n, 1);
	if (v->ext[0] == 'b') {
		EMIT(c, .op = OP_BITS, .n = v->ext_len > 1);
		return true;
	}
	sep = v->ext_len > 1 ? strchr(seps, v->ext[1]) : NULL;
	how = sep ? (uint16_t)sep_of[sep - seps] : ' ';
	EMIT(c, .op = OP_HEXB, .n = how);
	return true;
}

/* %p, %pS and the other extensions that use the value only. */
static void gen_address(struct compiler *c, const struct conv *v,
			const struct tacho_node *n)
{
	char kind = v->ext_len ? v->ext[0] : 'p';

	/*
	 * The kernel's text for a hidden pointer: the kernel prints a hash of the address, so no
	 * information is lost.
	 */
	if (n->class != NODE_CLASS_INT) {
		if (strchr("pxK", kind))
			literal(c, "(____ptrval____)", 16);
		else
			fail(c, -EINVAL, "an address that is not known");
		return;
	}
	gen_int(c, n, 0);
	if (strchr("SsFfB", kind)) {
		EMIT(c, .op = OP_SYM, .n = kind == 'S' || kind == 'F' ||
		     kind == 'B');
	} else if (kind == 'e') {
		EMIT(c, .op = OP_ERR);
	} else {
		if (v->spec.flags & TACHO_SPEC_ALT)
			literal(c, "0x", 2);
		if (kind == 'x')
			EMIT(c, .op = OP_HEX, .n = 16);
		else
			EMIT(c, .op = OP_PTR);
	}
}

static void gen_pointer(struct compiler *c, const struct conv *v,
			struct args *args)
{
	const struct tacho_node *width, *n;
	enum tacho_ext kind;
	size_t taken = 0;

	if (gen_bytes(c, v, args))
		return;
	width = v->star_width ? arg_int(c, args) : NULL;
	n = c->failed ? NULL : arg_next(c, args);
	if (n && n->class == NODE_CLASS_FLOAT)
		fail(c, -EINVAL, "a floating-point number for an address");
	if (!n || c->failed)
		return;
	kind = v->ext_len ? tacho_ext_find(v->ext, &taken) : TACHO_EXT_NONE;
	pad_begin(c, v, width, NULL);
	if (kind == TACHO_EXT_NONE) {
		gen_address(c, v, n);
	} else if (n->kind != NODE_DATA) {
		fail(c, -EINVAL, "an address outside the event");
	} else {
		gen_data(c, n, 0);
		EMIT(c, .op = OP_EXT, .r = (uint8_t)kind, .n = (uint16_t)taken,
		     .x = pool_text(c, v->ext, taken));
	}
	pad_end(c, v);
}

static const char *conv_flags(const char *s, struct conv *v)
{
	static const char flags[] = "-+ #0";
	static const uint8_t bits[] = {
		TACHO_SPEC_LEFT, TACHO_SPEC_PLUS, TACHO_SPEC_SPACE,
		TACHO_SPEC_ALT, TACHO_SPEC_ZERO,
	};
	const char *f;

	while (*s && (f = strchr(flags, *s))) {
		v->spec.flags |= bits[f - flags];
		s++;
	}
	return s;
}

static const char *conv_size(const char *s, struct conv *v)
{
	v->spec.size = 4;
	if (*s == 'h') {
		v->spec.size = s[1] == 'h' ? 1 : 2;
		return s + (s[1] == 'h' ? 2 : 1);
	}
	if (*s && strchr("lLqjzZt", *s)) {
		v->spec.size = 8;
		return s + (s[0] == 'l' && s[1] == 'l' ? 2 : 1);
	}
	return s;
}

/* The letters after %p that belong to it, by the kernel's rule. */
static const char *conv_ext(const char *s, struct conv *v)
{
	static const char single[] = "xKSsFfBe";

	v->ext = s;
	if (*s == 'h' || *s == 'b')
		s += s[1] && strchr(*s == 'h' ? "CDN" : "l", s[1]) ? 2 : 1;
	else if (*s && strchr(single, *s))
		/* %pSR, %pSb and the like: the same symbol */
		s += strchr("SFB", *s) && s[1] && strchr("Rb", s[1]) ? 2 : 1;
	else if (tacho_ext_find(s, &v->ext_len) != TACHO_EXT_NONE)
		s += v->ext_len;
	v->ext_len = (size_t)(s - v->ext);
	return s;
}

/* Parses one conversion after its '%'; returns the rest of the format, or NULL and sets failed. */
static const char *conv_parse(struct compiler *c, const char *s, struct conv *v)
{
	*v = (struct conv){ .spec = { .base = 10, .width = -1, .prec = -1 } };
	s = conv_flags(s, v);
	if (*s == '*') {
		v->star_width = true;
		s++;
	} else if (*s >= '1' && *s <= '9') {
		v->spec.width = tacho_text_width(&s);
	}
	if (*s == '.') {
		s++;
		v->star_prec = *s == '*';
		if (v->star_prec)
			s++;
		else
			v->spec.prec = tacho_text_width(&s);
	}
	s = conv_size(s, v);
	v->letter = *s ? *s++ : '\0';
	switch (v->letter) {
	case 'd':
	case 'i':
		v->spec.flags |= TACHO_SPEC_SIGNED;
		return s;
	case 'X':
		v->spec.flags |= TACHO_SPEC_UPPER;
		v->spec.base = 16;
		return s;
	case 'x':
		v->spec.base = 16;
		return s;
	case 'o':
		v->spec.base = 8;
		return s;
	case 'F':
	case 'E':
	case 'G':
	case 'A':
		v->spec.flags |= TACHO_SPEC_UPPER;
		v->letter = (char)(v->letter - 'A' + 'a');
		v->spec.base = (uint8_t)v->letter;
		return s;
	case 'f':
	case 'e':
	case 'g':
	case 'a':
		v->spec.base = (uint8_t)v->letter;
		return s;
	case 'u':
	case 'c':
	case 's':
	case '%':
		return s;
	case 'p':
		s = conv_ext(s, v);
		/* a letter here is an unknown extension */
		if (v->ext_len || !((*s >= 'a' && *s <= 'z') ||
				    (*s >= 'A' && *s <= 'Z')))
			return s;
		break;
	default:
		break;
	}
	fail(c, -EINVAL, "an unknown conversion");
	return NULL;
}

static void gen_format(struct compiler *c, const char *fmt, struct args *args)
{
	while (fmt && *fmt && !c->failed) {
		const char *pc = strchr(fmt, '%');
		struct conv v;

		if (!pc) {
			literal(c, fmt, strlen(fmt));
			return;
		}
		literal(c, fmt, (size_t)(pc - fmt));
		fmt = conv_parse(c, pc + 1, &v);
		if (!fmt)
			return;
		if (v.letter == '%')
			literal(c, "%", 1);
		else if (v.letter == 's' || v.letter == 'c')
			gen_string(c, &v, args);
		else if (v.letter == 'p')
			gen_pointer(c, &v, args);
		else if (strchr("fega", v.letter))
			gen_real(c, &v, args);
		else
			gen_number(c, &v, args);
	}
}

/*
 * A stack trace's array may be longer or shorter than its format says; the kernel prints it with
 * special code.
 */
static bool gen_stack(struct compiler *c)
{
	const struct tacho_field *f = tacho_type_field(c->type, "caller");

	if (strcmp(c->type->name, "kernel_stack") || !f ||
	    (f->elem_size != 8 && f->elem_size != 4) ||
	    (f->kind != TACHO_FIELD_ARRAY && f->kind != TACHO_FIELD_FLEX))
		return false;
	literal(c, "<stack trace>\n", 14);
	needs(c, f->offset);
	EMIT(c, .op = OP_SPAN_FLEX, .x = f->offset);
	EMIT(c, .op = OP_STACK, .n = (uint16_t)f->elem_size);
	return true;
}

/* Whether a field is a number of an address's size. */
static bool is_word(const struct tacho_field *f)
{
	return f && f->kind == TACHO_FIELD_SCALAR && (f->size == 4 || f->size == 8);
}

static void gen_word(struct compiler *c, const struct tacho_field *f, uint8_t r)
{
	needs(c, f->offset + f->size);
	EMIT(c, .op = f->size == 8 ? OP_LD_64 : OP_LD_U32, .r = r, .x = f->offset);
}

/*
 * trace_printk()'s format is in the kernel and its arguments are packed; the kernel prints them
 * with special code, too.
 */
static bool gen_packed(struct compiler *c)
{
	const struct tacho_field *ip = tacho_type_field(c->type, "ip");
	const struct tacho_field *fmt = tacho_type_field(c->type, "fmt");
	const struct tacho_field *buf = tacho_type_field(c->type, "buf");
	bool flex = buf && buf->kind == TACHO_FIELD_FLEX;

	if (strcmp(c->type->system, "ftrace") || strcmp(c->type->name, "bprint") ||
	    !is_word(ip) || !is_word(fmt) || !buf ||
	    (!flex && buf->kind != TACHO_FIELD_DATA_LOC))
		return false;
	gen_word(c, ip, 0);
	EMIT(c, .op = OP_SYM, .r = 0);
	literal(c, ": ", 2);
	gen_word(c, fmt, 0);
	needs(c, buf->offset + (flex ? 0 : 4));
	EMIT(c, .op = flex ? OP_SPAN_FLEX : OP_SPAN_LOC, .x = buf->offset);
	EMIT(c, .op = OP_PACKED, .n = (uint16_t)fmt->size);
	return true;
}

static bool args_parse(struct tacho_parse *p, struct args *args)
{
	while (tacho_parse_take(p, ',')) {
		if (args->nr == ARGS_MAX)
			return tacho_parse_error(p, "too many arguments");
		args->at[args->nr] = p->lex.t.offset;
		args->node[args->nr] = tacho_parse_expr(p);
		if (!args->node[args->nr++])
			return false;
	}
	if (p->lex.t.kind != TOKEN_END)
		return tacho_parse_error(p, "something is left over");
	return true;
}

static void compile(struct compiler *c, struct tacho_arena *scratch)
{
	struct tacho_parse p = { .arena = scratch, .type = c->type, .d = c->d };
	struct args args = { .nr = 0 };
	const char *fmt;
	uint32_t len;

	if (gen_stack(c) || gen_packed(c)) {
		EMIT(c, .op = OP_END);
		return;
	}
	tacho_lex_init(&p.lex, c->type->print_fmt, strlen(c->type->print_fmt));
	if (!tacho_parse_string(&p, &fmt, &len) || !args_parse(&p, &args)) {
		c->failed = true;
		return;
	}
	gen_format(c, fmt, &args);
	EMIT(c, .op = OP_END);
}

static const void *keep(struct tacho_arena *arena, const struct tacho_buf *b,
			size_t spare)
{
	void *to = tacho_arena_alloc(arena, b->len + spare);

	if (to && b->len)
		memcpy(to, b->data, b->len);
	return to;
}

static const struct tacho_print *finish(struct compiler *c,
					struct tacho_arena *arena)
{
	struct tacho_print *prog = tacho_arena_alloc(arena, sizeof(*prog));

	if (!prog)
		return NULL;
	prog->nr = here(c);
	prog->need = c->need;
	prog->uses_hz = c->uses_hz;
	prog->code = keep(arena, &c->code, 0);
	prog->pool = keep(arena, &c->pool, 16);
	prog->specs = keep(arena, &c->specs, 0);
	prog->tables = keep(arena, &c->tables, 0);
	prog->entries = keep(arena, &c->entries, 0);
	if (!prog->code || !prog->pool || !prog->specs || !prog->tables ||
	    !prog->entries)
		return NULL;
	return prog;
}

const struct tacho_print *tacho_print_compile(struct tacho_arena *arena,
					      const struct tacho_type *type,
					      struct tacho_diag *d)
{
	struct compiler c = { .type = type, .d = d };
	struct tacho_buf *bufs[] = {
		&c.code, &c.pool, &c.specs, &c.tables, &c.entries,
	};
	const struct tacho_print *prog = NULL;
	struct tacho_arena scratch;

	tacho_arena_init(&scratch, SCRATCH_MAX);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bufs); i++)
		tacho_buf_init(bufs[i], SCRATCH_MAX);
	compile(&c, &scratch);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bufs); i++) {
		if (tacho_buf_error(bufs[i]) == -ENOMEM)
			scratch.no_memory = true;
		else if (tacho_buf_error(bufs[i]))
			fail(&c, -E2BIG, "the print format is too large");
	}
	if (!c.failed && !scratch.no_memory)
		prog = finish(&c, arena);
	/* not an error of the format, whatever was recorded */
	if (scratch.no_memory || (!c.failed && !prog)) {
		if (d)
			d->err = 0;
		tacho_no_memory(d);
		prog = NULL;
	}
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bufs); i++)
		tacho_buf_release(bufs[i]);
	tacho_arena_release(&scratch);
	return prog;
}
