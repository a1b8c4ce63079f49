// SPDX-License-Identifier: MIT
/* Types to ops. */
#include "columns/plan.h"

#include <stdlib.h>

/* ---- one op ------------------------------------------------------------------ */

static const enum columns_op_kind common[] = {
	[COLUMNS_OF_TIMESTAMP] = COLUMNS_OP_TIME,
	[COLUMNS_OF_CPU] = COLUMNS_OP_CPU,
	[COLUMNS_OF_PID] = COLUMNS_OP_PID,
	[COLUMNS_OF_COMM] = COLUMNS_OP_COMM,
	[COLUMNS_OF_EVENT] = COLUMNS_OP_CONST,
	[COLUMNS_OF_SYSTEM] = COLUMNS_OP_CONST,
	[COLUMNS_OF_SOURCE] = COLUMNS_OP_CONST,
	[COLUMNS_OF_TGID] = COLUMNS_OP_TGID,
	[COLUMNS_OF_TICKS] = COLUMNS_OP_TICKS,
	[COLUMNS_OF_LOST] = COLUMNS_OP_LOST,
};

/* "program" or "kernel" is of the record: set when it is used. */
static const char *const_text(enum columns_of of, const struct tacho_type *type)
{
	return of == COLUMNS_OF_EVENT ? type->name : of == COLUMNS_OF_SYSTEM ? type->system : NULL;
}

static enum columns_op_kind number_op(const struct columns_spec *spec,
				      const struct tacho_field *f)
{
	if (spec->kind == COLUMNS_BOOL)
		return COLUMNS_OP_BOOL;
	if (spec->width == f->elem_size)
		return COLUMNS_OP_COPY;
	return spec->kind == COLUMNS_FLOAT ? COLUMNS_OP_REAL : COLUMNS_OP_WIDEN;
}

static enum columns_op_kind text_op(const struct tacho_field *f)
{
	return f->kind == TACHO_FIELD_ARRAY && f->size <= 16 ? COLUMNS_OP_CHARS :
							       COLUMNS_OP_INDEX;
}

static enum columns_op_kind field_op(const struct columns_spec *spec, const struct tacho_field *f)
{
	switch (spec->kind) {
	case COLUMNS_INT: case COLUMNS_FLOAT: case COLUMNS_BOOL:
	case COLUMNS_TIME: case COLUMNS_TIME_UTC:
		return number_op(spec, f);
	case COLUMNS_DICT:
		return text_op(f);
	case COLUMNS_FIXED: case COLUMNS_FIXED_LIST:
		return COLUMNS_OP_FIXED;
	case COLUMNS_TEXT:
		return COLUMNS_OP_TEXT;
	case COLUMNS_BINARY: case COLUMNS_LIST:
	default:
		return COLUMNS_OP_BYTES;
	}
}

static void op_of_field(struct columns_op *op, const struct columns_source *c,
			const struct tacho_type *type, const struct tacho_field *f)
{
	op->field = f;
	op->offset = f->offset;
	op->size = f->size;
	op->width = f->elem_size;
	op->is_signed = f->flags & TACHO_FIELD_SIGNED;
	op->kind = COLUMNS_OP_NAME;
	if (c->of == COLUMNS_OF_FIELD)
		op->kind = field_op(&c->spec, f);
	else
		tacho_name_table_find(type, f, &op->names);
}

static bool has_cache(const struct columns_op *op)
{
	return op->kind == COLUMNS_OP_NAME || op->kind == COLUMNS_OP_CHARS;
}

/* ---- plans ------------------------------------------------------------------- */

static int add_op(struct columns_plan *p, const struct columns_op *op)
{
	struct columns_op *to = &p->op[p->nr_ops];

	*to = *op;
	if (has_cache(op)) {
		to->cached = calloc(COLUMNS_CACHED, sizeof(*to->cached));
		if (!to->cached)
			return -ENOMEM;
		/* no dictionary has this generation yet */
		for (uint32_t i = 0; i < COLUMNS_CACHED; i++)
			to->cached[i].generation = UINT32_MAX;
	}
	p->nr_ops++;
	if (op->kind >= COLUMNS_OP_FIRST_VARIABLE)
		return 0;
	p->nr_fixed++;
	if (op->offset + op->size > p->need)
		p->need = op->offset + op->size;
	return 0;
}

/* Two fields of one name in a type, which is damaged then: the first one counts. */
static bool has_op(const struct columns_plan *p, uint32_t column)
{
	for (uint32_t i = 0; i < p->nr_ops; i++)
		if (p->op[i].column == column)
			return true;
	return false;
}

/* The ops of one kind, of fixed or of variable length. */
static int add_ops(const struct columns_layout *l, struct columns_plan *p, bool variable)
{
	static const enum columns_of kinds[] = { COLUMNS_OF_FIELD, COLUMNS_OF_NAMES };
	const struct tacho_type *type = p->type;
	int err = 0;

	for (uint32_t i = 0; !err && i < 2 * type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i / 2];
		const struct columns_source *c = columns_layout_find(l, type, f, kinds[i % 2]);
		struct columns_op op = { .generation = UINT32_MAX };

		if (!c || c->column == UINT32_MAX || has_op(p, c->column))
			continue;
		op.column = c->column;
		op_of_field(&op, c, type, f);
		if ((op.kind >= COLUMNS_OP_FIRST_VARIABLE) == variable)
			err = add_op(p, &op);
	}
	return err;
}

static int add_common(const struct columns_layout *l, struct columns_plan *p)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < l->nr_columns; i++) {
		const struct columns_source *c = l->column[i];

		if (c->of < COLUMNS_OF_FIELD)
			err = add_op(p, &(struct columns_op){
				.kind = common[c->of], .column = i, .generation = UINT32_MAX,
				.text = const_text(c->of, p->type) });
	}
	return err;
}

struct columns_plan *columns_plan_new(const struct columns_layout *l,
				      const struct tacho_type *type, bool wanted)
{
	struct columns_plan *p = calloc(1, sizeof(*p));
	size_t most = TACHO_ARRAY_SIZE(common) + 2 * (size_t)type->nr_fields;

	if (!p)
		return NULL;
	p->type = type;
	p->wanted = wanted;
	if (!wanted)
		return p;
	p->op = calloc(most, sizeof(*p->op));
	if (p->op && !add_common(l, p) && !add_ops(l, p, false) && !add_ops(l, p, true))
		return p;
	columns_plan_free(p);
	return NULL;
}

void columns_plan_free(struct columns_plan *p)
{
	for (uint32_t i = 0; p && i < p->nr_ops; i++)
		free(p->op[i].cached);
	if (p)
		free(p->op);
	free(p);
}
