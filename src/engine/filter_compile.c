// SPDX-License-Identifier: MIT
/*
 * Tree to program.
 *
 * A node has two exits.  The root's are "yes" and "no".  In "a && b", a true a continues with the
 * first predicate of b, and all other exits are those of the node; "a || b" is its mirror image;
 * a ! swaps the exits.  One of a predicate's exits is always the next predicate, because
 * predicates are evaluated in the order of the text; the other exit becomes its jump.
 */
#include "engine/filter_prog.h"

#include <string.h>

#include "base/compiler.h"

struct compiler {
	struct tacho_filter *f;
	uint32_t operands;	/* offset of the next operand */
};

static void set_exits(struct filter_tree *t, uint32_t i)
{
	const struct filter_node *n = &t->nodes[i];
	struct filter_node *left = &t->nodes[n->left];
	struct filter_node *right = &t->nodes[n->right];
	bool inverted = n->inverted;
	uint32_t yes = inverted ? n->no : n->yes;
	uint32_t no = inverted ? n->yes : n->no;

	right->yes = yes;
	right->no = no;
	left->yes = n->kind == FILTER_NODE_AND ? right->first : yes;
	left->no = n->kind == FILTER_NODE_AND ? no : right->first;
}

static size_t set_size(uint32_t words)
{
	return (size_t)words * sizeof(uint64_t);
}

/* Whether the set has exactly one CPU; *cpu is it. */
static bool one_cpu(const struct filter_pred *pred, uint64_t *cpu)
{
	uint32_t last = pred->nr_words - 1;

	if (!pred->nr_words || __builtin_popcountll(pred->cpus[last]) != 1)
		return false;
	for (uint32_t i = 0; i < last; i++)
		if (pred->cpus[i])
			return false;
	*cpu = last * 64u + (uint32_t)__builtin_ctzll(pred->cpus[last]);
	return true;
}

/* Size in bytes of a predicate's operand after the instructions. */
static size_t operand_size(const struct filter_pred *pred)
{
	size_t size = 0;

	switch (pred->operand) {
	case FILTER_OPERAND_TEXT:
		size = (size_t)pred->text_len + 1;
		break;
	case FILTER_OPERAND_FUNCTION:
		size = sizeof(struct filter_range);
		break;
	case FILTER_OPERAND_INT:
	case FILTER_OPERAND_CPUS:
	default:
		size = set_size(pred->nr_words);
		break;
	}
	return TACHO_ALIGN_UP(size, (size_t)8);
}

static void *operand_take(struct compiler *c, struct filter_insn *in,
			  size_t size)
{
	char *to = (char *)c->f + c->operands;

	in->u.ref.offset = c->operands;
	c->operands += (uint32_t)TACHO_ALIGN_UP(size, (size_t)8);
	return to;
}

static void emit_set(struct compiler *c, struct filter_insn *in,
		     const struct filter_pred *pred)
{
	memcpy(operand_take(c, in, set_size(pred->nr_words)), pred->cpus,
	       set_size(pred->nr_words));
	in->u.ref.len = (uint16_t)pred->nr_words;
	in->u.ref.how = (uint8_t)pred->cmp;
}

/* Converts a value to the field's type; too large ones are cut, as in C. */
static uint64_t cut(uint64_t value, uint32_t size, bool is_signed)
{
	unsigned int shift = 64 - 8 * size;

	return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) :
			   value << shift >> shift;
}

/* Opcodes by the logarithm of the field's size. */
static uint8_t op_of(enum filter_cmp cmp, uint32_t size, bool is_signed)
{
#define ROW(name) { OP_##name##_U8, OP_##name##_U16, OP_##name##_U32, \
		    OP_##name##_U64 }
#define SIGNED_ROW(name) { OP_##name##_S8, OP_##name##_S16, OP_##name##_S32, \
			   OP_##name##_S64 }
	static const uint8_t ops[2][FILTER_CMPS][4] = {
		{
			[FILTER_CMP_NE] = ROW(NE), [FILTER_CMP_EQ] = ROW(EQ),
			[FILTER_CMP_LE] = ROW(LE), [FILTER_CMP_LT] = ROW(LT),
			[FILTER_CMP_GE] = ROW(GE), [FILTER_CMP_GT] = ROW(GT),
			[FILTER_CMP_AND] = ROW(AND),
		}, {
			[FILTER_CMP_NE] = ROW(NE), [FILTER_CMP_EQ] = ROW(EQ),
			[FILTER_CMP_LE] = SIGNED_ROW(LE),
			[FILTER_CMP_LT] = SIGNED_ROW(LT),
			[FILTER_CMP_GE] = SIGNED_ROW(GE),
			[FILTER_CMP_GT] = SIGNED_ROW(GT),
			[FILTER_CMP_AND] = ROW(AND),
		},
	};
#undef ROW
#undef SIGNED_ROW

	return ops[is_signed][cmp][__builtin_ctz(size)];
}

static bool cmp_is_order(enum filter_cmp cmp)
{
	return cmp != FILTER_CMP_EQ && cmp != FILTER_CMP_NE &&
	       cmp != FILTER_CMP_AND;
}

static void emit_number(struct compiler *c, struct filter_insn *in,
			const struct filter_pred *pred)
{
	static const uint8_t sets[] = { OP_SET_U8, OP_SET_U16, OP_SET_U32,
					OP_SET_U64 };
	uint32_t size = pred->field->size;
	enum filter_cmp cmp = pred->cmp;
	bool is_signed = pred->is_signed && cmp_is_order(cmp);
	uint64_t value = pred->value;

	if (pred->operand == FILTER_OPERAND_CPUS) {
		if (!one_cpu(pred, &value)) {
			in->op = sets[__builtin_ctz(size)];
			emit_set(c, in, pred);
			return;
		}
		if (cmp == FILTER_CMP_AND)
			cmp = FILTER_CMP_EQ;
	}
	in->op = op_of(cmp, size, is_signed);
	in->u.value = cut(value, size, is_signed);
}

static void emit_cpu(struct compiler *c, struct filter_insn *in,
		     const struct filter_pred *pred)
{
	static const uint8_t ops[FILTER_CMPS] = {
		[FILTER_CMP_NE] = OP_CPU_NE, [FILTER_CMP_EQ] = OP_CPU_EQ,
		[FILTER_CMP_LE] = OP_CPU_LE, [FILTER_CMP_LT] = OP_CPU_LT,
		[FILTER_CMP_GE] = OP_CPU_GE, [FILTER_CMP_GT] = OP_CPU_GT,
	};

	if (pred->operand == FILTER_OPERAND_CPUS) {
		in->op = OP_CPU_SET;
		emit_set(c, in, pred);
		return;
	}
	in->op = ops[pred->cmp];
	in->u.value = cut(pred->value, 4, true);
}

/* The kind of glob, and the part of the text to search for. */
static enum filter_match match_of(const char **s, size_t *len)
{
	bool front = *len && (*s)[0] == '*';
	bool end = *len > 1 && (*s)[*len - 1] == '*';

	for (size_t i = front; i < *len - end; i++)
		if (strchr("*?[\\", (*s)[i]))
			return MATCH_GLOB;
	*s += front;
	*len -= front + end;
	if (front)
		return end ? MATCH_MIDDLE : MATCH_END;
	return end ? MATCH_FRONT : MATCH_FULL;
}

static uint8_t text_op(const struct filter_pred *pred)
{
	switch (pred->subject) {
	case FILTER_LOC:
		return OP_LOC;
	case FILTER_REL:
		return OP_REL;
	case FILTER_FLEX:
		return OP_FLEX;
	case FILTER_POINTER:
		return pred->ustring ? OP_USER : OP_KERNEL;
	case FILTER_COMM:
		return OP_COMM;
	case FILTER_FIX:
	case FILTER_NUMBER:
	case FILTER_MASK:
	case FILTER_CPU:
	case FILTER_OTHER:
	case FILTER_ANY:
	default:
		return OP_FIX;
	}
}

static void emit_text(struct compiler *c, struct filter_insn *in,
		      const struct filter_pred *pred)
{
	struct filter_operand_ref *ref = &in->u.ref;
	enum filter_match match = MATCH_FULL;
	const char *s = pred->text;
	size_t len = pred->text_len;

	ref->inverted = pred->cmp == FILTER_CMP_NE;
	if (pred->cmp == FILTER_CMP_GLOB) {
		ref->inverted = len && *s == '!';
		s += ref->inverted;
		len -= ref->inverted;
		match = match_of(&s, &len);
	}
	/* the operand is zeroed and so ends with NUL */
	memcpy(operand_take(c, in, operand_size(pred)), s, len);
	in->op = text_op(pred);
	ref->len = (uint16_t)len;
	ref->how = (uint8_t)match;
	if (in->op != OP_FIX || match != MATCH_FULL)
		return;
	/* an array that the text fills has no NUL after it */
	in->op = ref->inverted ? OP_FIX_NE : OP_FIX_EQ;
	ref->inverted = 0;
	ref->len = (uint16_t)(len + 1 < pred->field->size ? len + 1 :
							    pred->field->size);
}

static void emit_function(struct compiler *c, struct filter_insn *in,
			  const struct filter_pred *pred)
{
	const struct filter_range range = { pred->value, pred->end,
					    pred->function };

	in->op = pred->cmp == FILTER_CMP_EQ ? OP_IN : OP_NOT_IN;
	memcpy(operand_take(c, in, sizeof(range)), &range, sizeof(range));
}

static void emit(struct compiler *c, struct filter_insn *in,
		 const struct filter_pred *pred)
{
	if (pred->field) {
		in->at = (uint16_t)pred->field->offset;
		in->end = (uint16_t)(pred->field->offset + pred->field->size);
	}
	if (pred->operand == FILTER_OPERAND_FUNCTION) {
		emit_function(c, in, pred);
	} else if (pred->operand == FILTER_OPERAND_TEXT) {
		emit_text(c, in, pred);
	} else if (pred->subject == FILTER_MASK) {
		in->op = pred->field->kind == TACHO_FIELD_REL_LOC ?
			 OP_MASK_REL : OP_MASK_LOC;
		emit_set(c, in, pred);
	} else if (pred->subject == FILTER_CPU) {
		emit_cpu(c, in, pred);
	} else {
		emit_number(c, in, pred);
	}
}

/* All instructions; the nodes know their exits. */
static void emit_all(struct compiler *c, const struct filter_tree *t)
{
	struct tacho_filter *f = c->f;

	for (uint32_t i = 0; i < t->nr_nodes; i++) {
		const struct filter_node *n = &t->nodes[i];
		uint32_t yes = n->inverted ? n->no : n->yes;
		uint32_t no = n->inverted ? n->yes : n->no;
		struct filter_insn *in;

		if (n->kind != FILTER_NODE_PRED)
			continue;
		in = &f->insn[n->left];
		emit(c, in, &t->preds[n->left]);
		in->when = yes != n->left + 1;
		in->target = (uint16_t)(in->when ? yes : no);
		if (in->end > f->need)
			f->need = in->end;
	}
}

static int generate(struct tacho_filter **filter, const struct filter_parser *p,
		    struct filter_tree *t)
{
	size_t head = sizeof(struct tacho_filter) +
		      t->nr_preds * sizeof(struct filter_insn);
	struct filter_node *root = &t->nodes[t->nr_nodes - 1];
	struct compiler c = { .operands = (uint32_t)head };
	size_t size = head;

	for (uint32_t i = 0; i < t->nr_preds; i++)
		size += operand_size(&t->preds[i]);
	c.f = tacho_arena_alloc(p->arena, size);
	if (!c.f)
		return filter_no_memory(p);
	c.f->magic = FILTER_MAGIC;
	c.f->nr = t->nr_preds;
	root->yes = t->nr_preds + 1;
	root->no = t->nr_preds;
	for (uint32_t i = t->nr_nodes; i--;)
		if (t->nodes[i].kind != FILTER_NODE_PRED)
			set_exits(t, i);
	emit_all(&c, t);
	c.f->size = c.operands;
	*filter = c.f;
	return 0;
}

int tacho_filter_compile(struct tacho_filter **filter, struct tacho_arena *a,
			 const struct tacho_type *type, const char *text,
			 uint32_t base, const struct tacho_names *names,
			 struct tacho_cmd_error *e)
{
	struct filter_parser p = { .arena = a, .type = type, .names = names,
				   .e = e, .text = text, .base = base };
	struct filter_tree tree;
	int err;

	*filter = NULL;
	err = filter_parse(&p, &tree);
	if (err || !tree.nr_nodes)
		return err;
	return generate(filter, &p, &tree);
}

int tacho_filter_check(struct tacho_arena *a, const char *text, uint32_t base,
		       const struct tacho_names *names, struct tacho_cmd_error *e)
{
	struct filter_parser p = { .arena = a, .names = names, .e = e, .text = text,
				   .base = base };
	struct filter_tree tree;

	return filter_parse(&p, &tree);
}

size_t tacho_filter_size(const struct tacho_filter *filter)
{
	return filter->size;
}
