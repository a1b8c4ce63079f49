// SPDX-License-Identifier: MIT
#include "engine/filter_prog.h"

#include <string.h>

/* How many bytes of the event the opcode reads at `at` without its own check. */
static uint32_t op_bytes(enum filter_op op)
{
	switch (op) {
#define U(bits) case OP_EQ_U##bits: case OP_NE_U##bits: case OP_AND_U##bits: \
	case OP_SET_U##bits: case OP_LT_U##bits: case OP_LE_U##bits: \
	case OP_GT_U##bits: case OP_GE_U##bits:
#define S(bits) case OP_LT_S##bits: case OP_LE_S##bits: case OP_GT_S##bits: \
	case OP_GE_S##bits:
	U(8) S(8)
		return 1;
	U(16) S(16)
		return 2;
	U(32) S(32)
		return 4;
	U(64) S(64)
		return 8;
#undef U
#undef S
	case OP_MASK_LOC:
	case OP_MASK_REL:
	case OP_LOC:
	case OP_REL:
		return 4;
	case OP_IN:
	case OP_NOT_IN:
	case OP_KERNEL:
	case OP_USER:
		return 8;
	case OP_CPU_EQ:
	case OP_CPU_NE:
	case OP_CPU_LT:
	case OP_CPU_LE:
	case OP_CPU_GT:
	case OP_CPU_GE:
	case OP_CPU_SET:
	case OP_FIX_EQ:
	case OP_FIX_NE:
	case OP_FIX:
	case OP_FLEX:
	case OP_COMM:
	case OP_NR:
	default:
		return 0;
	}
}

/* The kind of an operand. */
enum shape {
	SHAPE_VALUE,
	SHAPE_SET,
	SHAPE_BYTES,	/* compared byte by byte with len bytes of the event */
	SHAPE_TEXT,
	SHAPE_RANGE,
};

static enum shape op_shape(enum filter_op op)
{
	if (op == OP_SET_U8 || op == OP_SET_U16 || op == OP_SET_U32 ||
	    op == OP_SET_U64 || op == OP_CPU_SET || op == OP_MASK_LOC ||
	    op == OP_MASK_REL)
		return SHAPE_SET;
	if (op == OP_FIX_EQ || op == OP_FIX_NE)
		return SHAPE_BYTES;
	if (op >= OP_FIX && op <= OP_COMM)
		return SHAPE_TEXT;
	return op == OP_IN || op == OP_NOT_IN ? SHAPE_RANGE : SHAPE_VALUE;
}

/* Whether size bytes of operand lie after the instructions. */
static bool operand_inside(const struct tacho_filter *f,
			   const struct filter_insn *in, size_t size)
{
	size_t head = sizeof(*f) + f->nr * sizeof(struct filter_insn);
	size_t offset = in->u.ref.offset;

	return offset >= head && offset <= f->size && offset % 8 == 0 &&
	       size <= f->size - offset;
}

static bool verify_set(const struct tacho_filter *f,
		       const struct filter_insn *in)
{
	const struct filter_operand_ref *ref = &in->u.ref;

	return ref->len <= FILTER_WORDS_MAX && !ref->inverted &&
	       (ref->how == FILTER_CMP_EQ || ref->how == FILTER_CMP_NE ||
		ref->how == FILTER_CMP_AND) &&
	       operand_inside(f, in, ref->len * sizeof(uint64_t));
}

static bool verify_text(const struct tacho_filter *f,
			const struct filter_insn *in)
{
	const struct filter_operand_ref *ref = &in->u.ref;
	const char *s = filter_operand_at(f, in);

	return ref->len <= FILTER_TEXT_MAX && ref->how < MATCH_NR &&
	       ref->inverted <= 1 && operand_inside(f, in, ref->len + 1u) &&
	       strnlen(s, ref->len + 1u) == ref->len;
}

static bool verify_bytes(const struct tacho_filter *f,
			 const struct filter_insn *in)
{
	return in->u.ref.len && in->u.ref.len <= FILTER_TEXT_MAX + 1 &&
	       in->u.ref.len <= in->end - in->at &&
	       operand_inside(f, in, in->u.ref.len);
}

static bool verify_insn(const struct tacho_filter *f, uint32_t i)
{
	const struct filter_insn *in = &f->insn[i];

	if (in->op >= OP_NR || in->when > 1 || in->target <= i ||
	    in->target > f->nr + 1 || in->end > f->need || in->at > in->end ||
	    (uint32_t)in->end - in->at < op_bytes(in->op))
		return false;
	switch (op_shape(in->op)) {
	case SHAPE_SET:
		return verify_set(f, in);
	case SHAPE_TEXT:
		return verify_text(f, in);
	case SHAPE_BYTES:
		return verify_bytes(f, in);
	case SHAPE_RANGE:
		return operand_inside(f, in, sizeof(struct filter_range));
	case SHAPE_VALUE:
	default:
		return true;
	}
}

bool tacho_filter_verify(const void *bytes, size_t len)
{
	const struct tacho_filter *f = bytes;

	if (len < sizeof(*f) || f->magic != FILTER_MAGIC || f->size != len ||
	    !f->nr || f->nr > TACHO_FILTER_PREDS_MAX ||
	    f->nr > (len - sizeof(*f)) / sizeof(struct filter_insn))
		return false;
	for (uint32_t i = 0; i < f->nr; i++)
		if (!verify_insn(f, i))
			return false;
	return true;
}
