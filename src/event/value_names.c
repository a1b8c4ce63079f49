// SPDX-License-Identifier: MIT
#include "event/value_names.h"

#include "event/print_ast.h"
#include "event/print_prog.h"

/* Whether an instruction loads all of the field. */
static bool loads(const struct tacho_insn *i, const struct tacho_field *f)
{
	uint32_t size;

	switch (i->op) {
	case OP_LD_U8: case OP_LD_S8:
		size = 1;
		break;
	case OP_LD_U16: case OP_LD_S16:
		size = 2;
		break;
	case OP_LD_U32: case OP_LD_S32:
		size = 4;
		break;
	case OP_LD_64:
		size = 8;
		break;
	default:
		return false;
	}
	return i->x == f->offset && size == f->size;
}

static uint64_t low_bytes(uint32_t n)
{
	return n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;
}

/*
 * Whether the operand of the table instruction `at` is the field, and which of its bits.  The
 * instructions before it computed the operand: a load, then casts and masks.
 */
static bool is_given(const struct tacho_print *p, uint32_t at, const struct tacho_field *f,
		     uint64_t *mask)
{
	*mask = UINT64_MAX;
	while (at--) {
		const struct tacho_insn *i = &p->code[at];

		if (i->r != p->code[at + 1].r)
			return false;
		if (i->op == OP_CUT)
			*mask &= low_bytes(i->n);
		else if (i->op == OP_BIN_IMM && i->n == BINOP_AND)
			*mask &= i->imm;
		else
			return loads(i, f);
	}
	return false;
}

void tacho_name_table_find(const struct tacho_type *type, const struct tacho_field *field,
			   struct tacho_name_table *names)
{
	const struct tacho_print *p = type->print;

	*names = (struct tacho_name_table){ .type = type, .mask = UINT64_MAX };
	if (field->kind != TACHO_FIELD_SCALAR || field->flags & TACHO_FIELD_FLOAT)
		return;
	for (uint32_t i = 0; p && i < p->nr; i++) {
		const struct tacho_insn *in = &p->code[i];

		if ((in->op != OP_FLAGS && in->op != OP_SYMBOLIC) ||
		    !is_given(p, i, field, &names->mask))
			continue;
		names->first = p->tables[in->x].first;
		names->nr = p->tables[in->x].nr;
		names->flags = in->op == OP_FLAGS;
		return;
	}
	names->mask = UINT64_MAX;
}

const char *tacho_name_table_at(const struct tacho_name_table *names, uint32_t i,
				uint64_t *value, size_t *len)
{
	const struct tacho_print *p = names->type->print;
	const struct tacho_entry *e = &p->entries[names->first + i];

	if (value)
		*value = e->value;
	*len = e->len;
	return p->pool + e->at;
}
