// SPDX-License-Identifier: MIT
/* Rules of the user that no event type of a trace fits. */
#include <string.h>

#include "model/plan.h"

static bool has_field(const struct tacho_type *type, const char *name, size_t len)
{
	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (strlen(type->fields[i].name) == len &&
		    !memcmp(type->fields[i].name, name, len))
			return true;
	return false;
}

/* FIELD|FIELD.HOW, "text" or *: whether the type has one of the fields. */
static bool has_value(const struct tacho_type *type, const char *s, size_t len)
{
	const char *dot = memrchr(s, '.', len), *end = dot ? dot : s + len;

	if (*s == '"' || *s == '*')
		return true;
	while (s < end) {
		const char *bar = memchr(s, '|', (size_t)(end - s));
		const char *stop = bar ? bar : end;

		if (has_field(type, s, (size_t)(stop - s)))
			return true;
		s = stop + 1;
	}
	return false;
}

/* The value of a row that a type lacks; NULL: the row fits, or an optional name is missing. */
static const char *lacks(const struct model_row *row, const struct tacho_type *type, size_t *len)
{
	for (int i = 0; i < MODEL_NR_ARGS; i++) {
		const char *s = row->arg[i];
		bool keys = i == MODEL_ARG_KEY || i == MODEL_ARG_BY;

		if (!s || i == MODEL_ARG_CAT || i == MODEL_ARG_UNLESS ||
		    model_arg_is_optional(row, i))
			continue;
		for (;; s += *len + 1) {
			*len = keys ? strcspn(s, ",") : strlen(s);
			if (!has_value(type, s, *len))
				return s;
			if (!s[*len])
				break;
		}
	}
	*len = row->where ? strlen(row->where) : 0;
	return row->verb == MODEL_COUNT && row->where && !has_value(type, row->where, *len) ?
	       row->where : NULL;
}

static void explain_row(const struct model_row *row, struct tacho_stream *stream,
			struct tacho_buf *out)
{
	const struct tacho_type *type;
	const char *missing = NULL;
	size_t missing_len = 0;

	for (uint32_t i = 0; (type = tacho_stream_type(stream, i)); i++) {
		const char *s;
		size_t len;

		if (!model_event_match(row->event, type->system, type->name, NULL, NULL))
			continue;
		s = lacks(row, type, &len);
		if (!s)
			return;
		missing = s;
		missing_len = len;
	}
	if (missing)
		tacho_buf_printf(out, "a rule is not used: event '%s' has no field '%.*s'\n",
				 row->event, (int)missing_len, missing);
	else
		tacho_buf_printf(out, "a rule is not used: the trace has no event '%s'\n",
				 row->event);
}

int model_rules_unused(const struct model_rules *rules, struct tacho_stream *stream,
		       struct tacho_buf *out)
{
	for (const struct model_row *row = rules->row; row != rules->builtin; row = row->next)
		explain_row(row, stream, out);
	return tacho_buf_error(out);
}
