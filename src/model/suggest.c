// SPDX-License-Identifier: MIT
/* Pairs of event types that look like the begin and end of a span. */
#include <errno.h>
#include <string.h>

#include "event/type.h"
#include "model/rules.h"

static const struct pair {
	const char *begin, *end;
} pairs[] = {
	{ "_enter", "_exit" }, { "_entry", "_exit" }, { "_begin", "_end" }, { "_start", "_end" },
	{ "_start", "_done" }, { "_start", "_stop" }, { "_start", "_finish" },
};

static bool ends_with(const char *s, const char *tail)
{
	size_t len = strlen(s), n = strlen(tail);

	return len > n && !strcmp(s + len - n, tail);
}

static bool has_rule(const struct model_rules *rules, const struct tacho_type *type)
{
	for (const struct model_row *row = rules->row; row; row = row->next)
		if (model_event_match(row->event, type->system, type->name, NULL, NULL))
			return true;
	return false;
}

static const struct tacho_type *find_end(struct tacho_stream *stream,
					 const struct tacho_type *begin, const struct pair *pair)
{
	size_t stem = strlen(begin->name) - strlen(pair->begin);
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(stream, i)); i++)
		if (!strcmp(type->system, begin->system) && ends_with(type->name, pair->end) &&
		    strlen(type->name) - strlen(pair->end) == stem &&
		    !strncmp(type->name, begin->name, stem))
			return type;
	return NULL;
}

static bool is_key(const struct tacho_field *f)
{
	static const char *const names[] = { "id", "key", "handle", "cookie", "seq" };

	if (f->flags & (TACHO_FIELD_COMMON | TACHO_FIELD_FLOAT) || f->kind != TACHO_FIELD_SCALAR)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(f->name, names[i]))
			return true;
	return ends_with(f->name, "_id") || ends_with(f->name, "_key") ||
	       ends_with(f->name, "_nr");
}

static void put(struct tacho_buf *out, const struct tacho_type *begin,
		const struct tacho_type *end, const struct pair *pair)
{
	const char *gap = " by ";

	tacho_buf_printf(out, "span %.*s: %s:%s -> %s:%s",
			 (int)(strlen(begin->name) - strlen(pair->begin)), begin->name,
			 begin->system, begin->name, end->system, end->name);
	for (uint32_t i = 0; i < begin->nr_fields; i++) {
		const struct tacho_field *f = &begin->fields[i];
		const struct tacho_field *g = is_key(f) ? tacho_type_field(end, f->name) : NULL;

		if (!g || !is_key(g))
			continue;
		tacho_buf_printf(out, "%s%s", gap, f->name);
		gap = ",";
	}
	tacho_buf_putc(out, '\n');
}

int model_suggest(const struct model_rules *rules, struct tacho_stream *stream,
		  struct tacho_buf *out)
{
	const struct tacho_type *begin, *end;

	for (uint32_t i = 0; (begin = tacho_stream_type(stream, i)); i++) {
		if (has_rule(rules, begin))
			continue;
		for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
			end = ends_with(begin->name, pairs[k].begin) ?
			      find_end(stream, begin, &pairs[k]) : NULL;
			if (!end)
				continue;
			put(out, begin, end, &pairs[k]);
			break;
		}
	}
	return tacho_buf_error(out) == -ENOMEM ? -ENOMEM : 0;
}
