// SPDX-License-Identifier: MIT
/*
 * One predicate: "field op operand".  Columns are the kernel's, which is usually one more than
 * the place of the wrong character.
 */
#include "engine/filter_ast.h"

#include <string.h>

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static bool takes(struct filter_parser *p, const char *word)
{
	size_t len = strlen(word);

	if (p->len - p->pos < len || memcmp(p->text + p->pos, word, len))
		return false;
	p->pos += (uint32_t)len;
	return true;
}

static void skip_space(struct filter_parser *p)
{
	while (filter_is_space(filter_at(p, p->pos)))
		p->pos++;
}

/* Whether the kernel treats a field as text: it searches for "char" in the type's name. */
static bool is_text(const struct tacho_field *f)
{
	return strstr(f->elem, "char") != NULL;
}

static bool is_number(const struct tacho_field *f)
{
	return !(f->flags & TACHO_FIELD_FLOAT) &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static enum filter_subject subject_of(const struct tacho_field *f)
{
	bool text = is_text(f);

	switch (f->kind) {
	case TACHO_FIELD_DATA_LOC:
	case TACHO_FIELD_REL_LOC:
		if (text)
			return f->kind == TACHO_FIELD_DATA_LOC ? FILTER_LOC :
								 FILTER_REL;
		return f->flags & TACHO_FIELD_BITMASK ? FILTER_MASK :
							FILTER_OTHER;
	case TACHO_FIELD_FLEX:
		return text ? FILTER_FLEX : FILTER_OTHER;
	case TACHO_FIELD_ARRAY:
		if (text)
			return FILTER_FIX;
		break;
	case TACHO_FIELD_SCALAR:
		if (!strcmp(f->elem, "char *") || !strcmp(f->elem, "const char *"))
			return FILTER_POINTER;
		break;
	case TACHO_FIELD_OPAQUE:
	default:
		break;
	}
	/* a struct or an array of the size of a number is compared as one */
	return is_number(f) ? FILTER_NUMBER : FILTER_OTHER;
}

static bool name_is(const struct filter_pred *pred, const char *name)
{
	return strlen(name) == pred->name_len &&
	       !memcmp(name, pred->name, pred->name_len);
}

static bool name_in(const struct filter_pred *pred, const char *const names[3])
{
	return name_is(pred, names[0]) || name_is(pred, names[1]) ||
	       name_is(pred, names[2]);
}

static const struct tacho_field *field_in(const struct filter_parser *p,
					  const struct filter_pred *pred,
					  uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (name_is(pred, p->type->fields[i].name))
			return &p->type->fields[i];
	return NULL;
}

/* Finds a subject: first the event's own fields, then the common ones. */
static bool subject_find(const struct filter_parser *p,
			 struct filter_pred *pred)
{
	static const char *const comm[3] = { "comm", "COMM", "common_comm" };
	static const char *const cpu[3] = { "cpu", "CPU", "common_cpu" };

	if (!p->type) {
		pred->subject = FILTER_ANY;
		return true;
	}
	pred->field = field_in(p, pred, p->type->nr_common, p->type->nr_fields);
	if (!pred->field && name_in(pred, comm)) {
		pred->subject = FILTER_COMM;
		return true;
	}
	if (!pred->field && name_in(pred, cpu)) {
		pred->subject = FILTER_CPU;
		pred->is_signed = true;
		return true;
	}
	if (!pred->field)
		pred->field = field_in(p, pred, 0, p->type->nr_common);
	if (!pred->field)
		return false;
	pred->subject = subject_of(pred->field);
	pred->is_signed = pred->field->flags & TACHO_FIELD_SIGNED;
	return true;
}

static bool take_cmp(struct filter_parser *p, struct filter_pred *pred)
{
	static const char *const text[FILTER_CMPS] = {
		[FILTER_CMP_GLOB] = "~", [FILTER_CMP_NE] = "!=",
		[FILTER_CMP_EQ] = "==", [FILTER_CMP_LE] = "<=",
		[FILTER_CMP_LT] = "<", [FILTER_CMP_GE] = ">=",
		[FILTER_CMP_GT] = ">", [FILTER_CMP_AND] = "&",
	};

	for (int i = 0; i < FILTER_CMPS; i++)
		if (takes(p, text[i])) {
			pred->cmp = (enum filter_cmp)i;
			return true;
		}
	return false;
}

int filter_pred_parse(struct filter_parser *p, struct filter_pred *pred)
{
	uint32_t from = p->pos;
	bool function;

	while (is_name_char(filter_at(p, p->pos)))
		p->pos++;
	pred->name = p->text + from;
	pred->name_len = p->pos - from;
	if (!pred->name_len)
		return filter_error(p, p->pos, "Missing field name and/or value");
	if (!subject_find(p, pred))
		return filter_error(p, p->pos + 1, "Field not found");
	pred->ustring = takes(p, ".ustring");
	function = takes(p, ".function");
	skip_space(p);
	if (!take_cmp(p, pred))
		return filter_error(p, p->pos + 1, "Invalid operator");
	skip_space(p);
	return filter_operand_parse(p, pred, function);
}
