// SPDX-License-Identifier: MIT
/* The right side of a predicate: numbers, text, CPUs, functions. */
#include "base/scan.h"
#include "engine/filter_ast.h"

#include <errno.h>
#include <string.h>

#define NUMBER_MAX	23	/* characters of a number */

static const char illegal_op[] = "Illegal operation for field type";
static const char too_long[] = "Operand too long";
static const char invalid_value[] = "Invalid value (did you forget quotes)?";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Scans a number for a field; only a signed field accepts '-'. */
static bool take_number(const char *s, size_t len, bool is_signed, uint64_t *v)
{
	return tacho_scan_whole(s, len, is_signed ? TACHO_SCAN_MINUS : 0, v);
}

static bool subject_is_text(enum filter_subject s)
{
	switch (s) {
	case FILTER_FIX:
	case FILTER_LOC:
	case FILTER_REL:
	case FILTER_FLEX:
	case FILTER_POINTER:
	case FILTER_COMM:
		return true;
	case FILTER_NUMBER:
	case FILTER_MASK:
	case FILTER_CPU:
	case FILTER_OTHER:
	case FILTER_ANY:
	default:
		return false;
	}
}

static bool cmp_is_set(enum filter_cmp cmp)
{
	return cmp == FILTER_CMP_EQ || cmp == FILTER_CMP_NE ||
	       cmp == FILTER_CMP_AND;
}

static bool cmp_is_text(enum filter_cmp cmp)
{
	return cmp == FILTER_CMP_EQ || cmp == FILTER_CMP_NE ||
	       cmp == FILTER_CMP_GLOB;
}

/* Sets pred->text to the letters and digits at p->pos. */
static void take_word(struct filter_parser *p, struct filter_pred *pred)
{
	while (is_alnum(filter_at(p, p->pos)))
		p->pos++;
	pred->text_len = (uint32_t)(p->text + p->pos - pred->text);
}

/* A cpumask compared with the number of a CPU is compared with {that CPU}. */
static int mask_number(const struct filter_parser *p, struct filter_pred *pred,
		       uint32_t from)
{
	uint64_t *cpus;

	if (!cmp_is_set(pred->cmp))
		return filter_error(p, from + 1, illegal_op);
	if (pred->value >= FILTER_CPUS_MAX)
		return filter_error(p, from + 1, "Illegal integer value");
	pred->nr_words = (uint32_t)(pred->value / 64) + 1;
	cpus = tacho_arena_array(p->arena, pred->nr_words, sizeof(*cpus));
	if (!cpus)
		return filter_no_memory(p);
	cpus[pred->value / 64] = 1ull << pred->value % 64;
	pred->cpus = cpus;
	return 0;
}

/* Checks that the field can be compared with a number; pred->value is set. */
static int check_number(const struct filter_parser *p, struct filter_pred *pred,
			uint32_t from)
{
	pred->operand = FILTER_OPERAND_INT;
	if (pred->subject == FILTER_MASK)
		return mask_number(p, pred, from);
	if (pred->subject == FILTER_OTHER ||
	    (pred->subject == FILTER_CPU && pred->cmp == FILTER_CMP_AND))
		return filter_error(p, from + 1, illegal_op);
	return 0;
}

static int number(struct filter_parser *p, struct filter_pred *pred)
{
	uint32_t from = p->pos;

	if (subject_is_text(pred->subject))
		return filter_error(p, from + 1, "Expecting string field");
	if (pred->cmp == FILTER_CMP_GLOB)
		return filter_error(p, from + 1, illegal_op);
	if (filter_at(p, p->pos) == '-')
		p->pos++;
	take_word(p, pred);
	if (pred->text_len > NUMBER_MAX)
		return filter_error(p, p->pos + 1, too_long);
	if (!take_number(pred->text, pred->text_len, pred->is_signed,
			 &pred->value) &&
	    !(pred->subject == FILTER_ANY &&
	      take_number(pred->text, pred->text_len, true, &pred->value)))
		return filter_error(p, from + 1, "Illegal integer value");
	return check_number(p, pred, from);
}

static int quoted(struct filter_parser *p, struct filter_pred *pred)
{
	uint32_t from = p->pos++;

	pred->operand = FILTER_OPERAND_TEXT;
	pred->quote = p->text[from];
	pred->text++;
	if (!cmp_is_text(pred->cmp))
		return filter_error(p, from + 1, illegal_op);
	if (!subject_is_text(pred->subject) && pred->subject != FILTER_ANY)
		return filter_error(p, from + 1, "Expecting numeric field");
	while (p->pos < p->len && p->text[p->pos] != pred->quote)
		p->pos++;
	if (p->pos == p->len)
		return filter_error(p, p->pos + 1, "Missing matching quote");
	pred->text_len = p->pos - from - 1;
	if (pred->text_len > FILTER_TEXT_MAX)
		return filter_error(p, p->pos + 1, too_long);
	p->pos++;
	return 0;
}

/* Text without quotes ends at a blank, a quote or an operator. */
static bool is_bare_char(char c)
{
	return (unsigned char)c > ' ' && !strchr("()&|\"'", c);
}

static int bare_text(struct filter_parser *p, struct filter_pred *pred)
{
	char c = filter_at(p, p->pos);
	uint32_t from = p->pos;

	if (!cmp_is_text(pred->cmp) || !is_bare_char(c) || strchr("=<>!~", c))
		return filter_error(p, from + 1, invalid_value);
	while (is_bare_char(filter_at(p, p->pos)))
		p->pos++;
	/* a quote in the middle is an error, not a second operand */
	c = filter_at(p, p->pos);
	if (c == '"' || c == '\'')
		return filter_error(p, from + 1, invalid_value);
	pred->operand = FILTER_OPERAND_TEXT;
	pred->quote = '"';
	pred->text_len = p->pos - from;
	if (pred->text_len > FILTER_TEXT_MAX)
		return filter_error(p, p->pos + 1, too_long);
	return 0;
}

/* The value of a name: true and false of a bool, or a constant. */
static bool constant_of(const struct filter_parser *p,
			const struct filter_pred *pred, uint64_t *value)
{
	const struct tacho_names *names = p->names;
	bool is_bool = pred->subject == FILTER_ANY ||
		       (pred->field && pred->field->flags & TACHO_FIELD_BOOL);
	char name[FILTER_TEXT_MAX + 1];
	int64_t v = 0;

	if (pred->text_len > FILTER_TEXT_MAX)
		return false;
	memcpy(name, pred->text, pred->text_len);
	name[pred->text_len] = '\0';
	if (is_bool && (!strcmp(name, "true") || !strcmp(name, "false")))
		v = *name == 't';
	else if (!names || !names->constant ||
		 !names->constant(names->arg, name, &v))
		return false;
	*value = (uint64_t)v;
	return true;
}

static int bare_number(struct filter_parser *p, struct filter_pred *pred)
{
	uint32_t from = p->pos;

	while (is_alnum(filter_at(p, p->pos)) || filter_at(p, p->pos) == '_')
		p->pos++;
	pred->text_len = p->pos - from;
	pred->named = true;
	if (!pred->text_len || !constant_of(p, pred, &pred->value))
		return filter_error(p, from + 1, invalid_value);
	if (pred->cmp == FILTER_CMP_GLOB)
		return filter_error(p, from + 1, illegal_op);
	return check_number(p, pred, from);
}

static int cpus(struct filter_parser *p, struct filter_pred *pred)
{
	uint64_t bits[FILTER_CPUS_MAX / 64] = { 0 };
	uint32_t from = p->pos, nr = FILTER_CPUS_MAX / 64;
	uint64_t *copy;

	pred->operand = FILTER_OPERAND_CPUS;
	if (subject_is_text(pred->subject) || pred->subject == FILTER_OTHER ||
	    !cmp_is_set(pred->cmp))
		return filter_error(p, from + 1, illegal_op);
	p->pos += 4;
	if (filter_at(p, p->pos++) != '{')
		return filter_error(p, p->pos + 1, "Missing '{'");
	pred->text = p->text + p->pos;
	while (p->pos < p->len && p->text[p->pos] != '}')
		p->pos++;
	if (p->pos >= p->len)
		return filter_error(p, p->len + 1, "Missing '}'");
	pred->text_len = (uint32_t)(p->text + p->pos - pred->text);
	if (!pred->text_len || !filter_cpus_parse(pred->text, pred->text_len, bits))
		return filter_error(p, p->pos + 1, "Invalid cpulist");
	p->pos++;
	while (nr && !bits[nr - 1])
		nr--;
	copy = tacho_arena_array(p->arena, nr ? nr : 1, sizeof(*copy));
	if (!copy)
		return filter_no_memory(p);
	memcpy(copy, bits, nr * sizeof(*copy));
	pred->cpus = copy;
	pred->nr_words = nr;
	return 0;
}

static bool function_find(const struct filter_parser *p,
			  const struct filter_pred *pred,
			  struct tacho_symbol *sym)
{
	const struct tacho_names *names = p->names;
	char *name;

	if (!names || !names->find_symbol || !pred->text_len)
		return false;
	name = tacho_arena_strndup(p->arena, pred->text, pred->text_len);
	if (name)
		return names->find_symbol(names->arg, name, sym);
	(void)filter_no_memory(p);
	return false;
}

static int function(struct filter_parser *p, struct filter_pred *pred)
{
	const struct tacho_names *names = p->names;
	struct tacho_symbol sym = { .name = NULL };
	bool found;

	pred->operand = FILTER_OPERAND_FUNCTION;
	if (pred->subject != FILTER_ANY && (!pred->field || pred->field->size != 8))
		return filter_error(p, p->pos + 1, illegal_op);
	if (pred->cmp != FILTER_CMP_EQ && pred->cmp != FILTER_CMP_NE)
		return filter_error(p, p->pos + 1, "Invalid operator");
	if (is_digit(filter_at(p, p->pos))) {
		take_word(p, pred);
		if (pred->text_len > NUMBER_MAX)
			return filter_error(p, p->pos + 1, too_long);
		if (!take_number(pred->text, pred->text_len, false,
				 &pred->value))
			return filter_error(p, p->pos + 1, invalid_value);
		found = names && names->symbol &&
			names->symbol(names->arg, pred->value, &sym);
	} else {
		while (p->pos < p->len && !filter_is_space(p->text[p->pos]))
			p->pos++;
		pred->text_len = (uint32_t)(p->text + p->pos - pred->text);
		found = function_find(p, pred, &sym);
	}
	/* without a type, functions cannot be resolved either */
	found |= pred->subject == FILTER_ANY && pred->text_len;
	if (!found)
		return filter_error(p, p->pos + 1, "Function not found");
	pred->function = sym.function;
	pred->value = sym.start;
	pred->end = sym.end > sym.start ? sym.end : sym.start + 1;
	return 0;
}

int filter_operand_parse(struct filter_parser *p, struct filter_pred *pred,
			 bool is_function)
{
	char c = filter_at(p, p->pos);

	pred->text = p->text + p->pos;
	if (is_function)
		return function(p, pred);
	if (p->len - p->pos >= 4 && !memcmp(pred->text, "CPUS", 4))
		return cpus(p, pred);
	if (c == '"' || c == '\'')
		return quoted(p, pred);
	if (is_digit(c) || c == '-')
		return number(p, pred);
	if (subject_is_text(pred->subject) ||
	    (pred->subject == FILTER_ANY && cmp_is_text(pred->cmp)))
		return bare_text(p, pred);
	return bare_number(p, pred);
}

/* The text of a list of CPUs, during parsing. */
struct list {
	const char *s, *end;
};

static char list_at(const struct list *l)
{
	return l->s < l->end ? *l->s : '\0';
}

static bool list_number(struct list *l, uint64_t *v)
{
	return !tacho_scan_digits(&l->s, l->end, 10, UINT32_MAX, v);
}

static bool list_ends(const struct list *l)
{
	return l->s == l->end || *l->s == ',' || filter_is_space(*l->s);
}

/* "3", "0-7", "0-31:2/8": of every 8 the first 2. */
static bool list_range(struct list *l, uint64_t *bits)
{
	uint64_t from, to, used, group;

	if (!list_number(l, &from))
		return false;
	to = from;
	used = group = 1;
	if (!list_ends(l)) {
		if (*l->s++ != '-' || !list_number(l, &to))
			return false;
		used = group = to + 1;
	}
	if (!list_ends(l)) {
		if (*l->s++ != ':' || !list_number(l, &used))
			return false;
		if (list_at(l) != '/')
			return false;
		l->s++;
		if (!list_number(l, &group))
			return false;
	}
	if (from > to || !group || used > group || to >= FILTER_CPUS_MAX ||
	    !list_ends(l))
		return false;
	for (uint64_t i = from; i <= to; i++)
		if ((i - from) % group < used)
			bits[i / 64] |= 1ull << i % 64;
	return true;
}

bool filter_cpus_parse(const char *s, size_t len, uint64_t *bits)
{
	struct list l = { s, s + len };

	for (;;) {
		while (l.s < l.end && list_ends(&l))
			l.s++;
		if (l.s == l.end)
			return true;
		if (!list_range(&l, bits))
			return false;
	}
}
