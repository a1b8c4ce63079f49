// SPDX-License-Identifier: MIT
/*
 * A stream without records: the types, threads and facts that a program defines, in order to
 * write records of its own.  It is one source without parts, so next() ends at once.
 */
#include "stream/define.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hashmap.h"
#include "base/text.h"
#include "tacho/sink.h"

#define TYPES_MAX	65535u
#define NAME_MAX_BYTES	200u
/* Memory of all types; a format's text. */
#define ARENA_MAX	((size_t)256 << 20)
#define FORMAT_MAX	((size_t)1 << 20)

struct defined {
	struct tacho_source source;
	struct tacho_arena arena;
	uint32_t next_id[TACHO_NR_STREAM_IDS];
	struct tacho_hashmap by_name[TACHO_NR_STREAM_IDS];
};

static void defined_close(struct tacho_source *source)
{
	struct defined *s = (struct defined *)source;

	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		tacho_hashmap_release(&s->by_name[i]);
	tacho_source_release(source);
	tacho_arena_release(&s->arena);
	free(s);
}

static const struct tacho_source_ops defined_ops = {
	.format = "defined",
	.close = defined_close,
};

static struct defined *defined_of(const struct tacho_stream *s)
{
	struct tacho_source *source = tacho_stream_source(s, 0);

	return source && source->ops == &defined_ops ? (struct defined *)source : NULL;
}

static int no_memory(struct tacho_diag *d)
{
	return tacho_diag(d, -ENOMEM, 0, "out of memory");
}

static int define(struct tacho_stream **stream, struct tacho_diag *d)
{
	struct tacho_stream *s = tacho_stream_new(0);
	struct defined *def = s ? calloc(1, sizeof(*def)) : NULL;

	*stream = NULL;
	if (!def) {
		tacho_stream_close(s);
		return no_memory(d);
	}
	tacho_source_init(&def->source, &defined_ops, 0);
	tacho_arena_init(&def->arena, ARENA_MAX);
	def->source.arena = &def->arena;
	tacho_clock_map_init(&def->source.clock, TACHO_NS_PER_S, 0, 0);
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		def->next_id[i] = 1;
	if (tacho_stream_add_take(s, &def->source) ||
	    tacho_stream_define_env(s, "clock", "realtime", NULL)) {
		tacho_stream_close(s);
		return no_memory(d);
	}
	*stream = s;
	return 0;
}

int tacho_stream_define(struct tacho_stream **stream, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	int err = define(stream, &d);

	return err ? tacho_error_from(error, &d) : 0;
}

/* ---- types -------------------------------------------------------------------------- */

static bool is_identifier(const char *s, size_t len)
{
	if (!len || isdigit((unsigned char)*s))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

/* Splits "system:event" into system and the returned event name; NULL: malformed. */
static const char *split_name(const char *name, char system[NAME_MAX_BYTES])
{
	const char *colon = strchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : 0;

	if (!colon || strlen(name) >= NAME_MAX_BYTES || !is_identifier(name, len) ||
	    !is_identifier(colon + 1, strlen(colon + 1)))
		return NULL;
	memcpy(system, name, len);
	system[len] = '\0';
	return colon + 1;
}

static uint64_t name_hash(const char *name)
{
	return tacho_hash(name, strlen(name), 0) | 1;
}

static int enter(struct defined *s, uint32_t source, const char *name,
		 const struct tacho_type *type, struct tacho_diag *d)
{
	/* the map's values must not be NULL, and are not const */
	if (tacho_hashmap_set(&s->by_name[source], name_hash(name),
			      (void *)(uintptr_t)type->id) ||
	    tacho_source_set_type(&s->source, source, type->id, type))
		return no_memory(d);
	s->next_id[source]++;
	return 0;
}

static int add_type(struct tacho_stream *stream, uint32_t source, const char *name,
		    const char *format, size_t len, const struct tacho_type **type,
		    struct tacho_diag *d)
{
	struct defined *s = defined_of(stream);
	char system[NAME_MAX_BYTES];
	const char *event = split_name(name, system);

	*type = NULL;
	if (!s || source >= TACHO_NR_STREAM_IDS)
		return tacho_diag(d, -EINVAL, 0, "the stream takes no types: it is not of "
				  "tacho_stream_define(), or there is no source %u", source);
	if (!event)
		return tacho_diag(d, -EINVAL, 0, "'%.80s' is not SYSTEM:EVENT, of letters, "
				  "digits and '_'", name);
	if (tacho_hashmap_get(&s->by_name[source], name_hash(name)))
		return tacho_diag(d, -EEXIST, 0, "'%s' is defined already", name);
	if (s->next_id[source] > TYPES_MAX)
		return tacho_diag(d, -ENOSPC, 0, "more than %u types", TYPES_MAX);
	*type = tacho_type_parse(&s->arena, system, event, s->next_id[source], format, len, d);
	if (!*type)
		return d->err;
	if (!enter(s, source, name, *type, d))
		return 0;
	*type = NULL;
	return d->err;
}

/* Adds the common fields, unless the format has them. */
static void whole_format(const char *format, struct tacho_buf *out)
{
	if (!strstr(format, " common_type;"))
		tacho_buf_puts(out, TACHO_COMMON_FIELDS);
	tacho_buf_puts(out, format);
}

int tacho_stream_define_type(struct tacho_stream *stream, uint32_t source, const char *name,
			     const char *format, const struct tacho_type **type,
			     struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, FORMAT_MAX);
	whole_format(format, &text);
	err = tacho_buf_error(&text);
	if (err == -EOVERFLOW)
		err = tacho_diag(&d, -EINVAL, 0, "the format of '%.80s' is too long", name);
	else if (err)
		err = no_memory(&d);
	else
		err = add_type(stream, source, name, text.data, text.len, type, &d);
	tacho_buf_release(&text);
	/* offsets in errors refer to the caller's text */
	if (err && !strstr(format, " common_type;"))
		d.offset -= d.offset < strlen(TACHO_COMMON_FIELDS) ? d.offset :
			    strlen(TACHO_COMMON_FIELDS);
	return err ? tacho_error_from(error, &d) : 0;
}

/* ---- structs ------------------------------------------------------------------------ */

/* The print format of a number of this size; NULL: not a number. */
static const char *number_format(const struct tacho_member *m)
{
	switch (m->size) {
	case 1:
	case 2:
	case 4:
		return m->is_signed ? "%d" : "%u";
	case 8:
		return m->is_signed ? "%lld" : "%llu";
	default:
		return NULL;
	}
}

/* The last word of a declaration, without its dimension. */
static const char *member_name(const struct tacho_member *m, size_t *len)
{
	const char *end = m->declaration + strcspn(m->declaration, "["), *name;

	while (end > m->declaration && end[-1] == ' ')
		end--;
	for (name = end; name > m->declaration && name[-1] != ' ' && name[-1] != '*'; name--)
		;
	*len = (size_t)(end - name);
	return name;
}

/* How a member is printed: numbers, and arrays of char as text; NULL: not printed. */
static const char *shown_as(const struct tacho_member *m)
{
	if (strchr(m->declaration, '['))
		return !strncmp(m->declaration, "char ", 5) ? "%s" : NULL;
	return strstr(m->declaration, "float") || strstr(m->declaration, "double") ? NULL :
	       number_format(m);
}

static void struct_format(const struct tacho_member *member, size_t nr, struct tacho_buf *out)
{
	struct tacho_buf args;
	bool all = true;
	size_t len;

	tacho_buf_init(&args, FORMAT_MAX);
	for (size_t i = 0; i < nr; i++) {
		all = all && shown_as(&member[i]);
		tacho_buf_printf(out, "\tfield:%s;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n",
				 member[i].declaration,
				 member[i].offset + sizeof(struct tacho_common),
				 member[i].size, !!member[i].is_signed);
	}
	/* without a print format readers show all fields by name */
	if (all && nr)
		tacho_buf_puts(out, "\nprint fmt: \"");
	for (size_t i = 0; all && i < nr; i++) {
		const char *name = member_name(&member[i], &len);

		tacho_buf_printf(out, "%s%.*s=%s", i ? " " : "", (int)len, name,
				 shown_as(&member[i]));
		tacho_buf_printf(&args, ", REC->%.*s", (int)len, name);
	}
	if (all && nr) {
		tacho_buf_puts(out, "\"");
		tacho_buf_put(out, args.data, args.len);
		tacho_buf_puts(out, "\n");
	}
	if (tacho_buf_error(&args))
		out->err = tacho_buf_error(&args);
	tacho_buf_release(&args);
}

int tacho_stream_define_struct(struct tacho_stream *stream, uint32_t source, const char *name,
			       const struct tacho_member *member, size_t nr,
			       const struct tacho_type **type, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, FORMAT_MAX);
	tacho_buf_puts(&text, TACHO_COMMON_FIELDS);
	struct_format(member, nr, &text);
	err = tacho_buf_error(&text);
	if (err)
		err = err == -ENOMEM ? no_memory(&d) :
		      tacho_diag(&d, -EINVAL, 0, "'%.80s' has too many members", name);
	else
		err = add_type(stream, source, name, text.data, text.len, type, &d);
	tacho_buf_release(&text);
	d.offset = 0;	/* the user does not know that text */
	return err ? tacho_error_from(error, &d) : 0;
}

/* ---- facts -------------------------------------------------------------------------- */

static int not_defined(struct tacho_diag *d)
{
	return tacho_diag(d, -EINVAL, 0, "the stream is not of tacho_stream_define()");
}

int tacho_stream_define_env(struct tacho_stream *stream, const char *name, const char *value,
			    struct tacho_error *error)
{
	struct defined *s = defined_of(stream);
	struct tacho_diag d = { 0 };

	if (!s)
		(void)not_defined(&d);
	else if (!is_identifier(name, strlen(name)))
		tacho_diag(&d, -EINVAL, 0, "'%.80s' is not a name of letters, digits and '_'",
			   name);
	else if (tacho_facts_set(&s->source.facts, name, strlen(name), value, strlen(value)))
		(void)no_memory(&d);
	return d.err ? tacho_error_from(error, &d) : 0;
}

int tacho_stream_define_thread(struct tacho_stream *stream, int32_t thread, int32_t process,
			       const char *name, struct tacho_error *error)
{
	struct defined *s = defined_of(stream);
	struct tacho_diag d = { 0 };
	int err = s ? tacho_facts_add_task(&s->source.facts, thread, process, name,
					   strlen(name)) : not_defined(&d);

	if (err == -ENOMEM)
		(void)no_memory(&d);
	else if (err)
		tacho_diag(&d, err, 0, "too many threads");
	return d.err ? tacho_error_from(error, &d) : 0;
}

const struct tacho_type *tacho_stream_defined_type(const struct tacho_stream *stream)
{
	const struct defined *s = defined_of(stream);

	for (uint32_t i = 0; s && i < TACHO_NR_STREAM_IDS; i++)
		for (uint32_t id = 0; id < s->source.table[i].nr; id++)
			if (s->source.table[i].type[id])
				return s->source.table[i].type[id];
	return NULL;
}

bool tacho_stream_defines(const struct tacho_stream *stream, const struct tacho_type *type,
			  uint32_t *source)
{
	const struct defined *s = defined_of(stream);

	for (uint32_t i = 0; s && i < TACHO_NR_STREAM_IDS; i++) {
		const struct tacho_type_table *t = &s->source.table[i];

		*source = i;
		if (type && type->id < t->nr && t->type[type->id] == type)
			return true;
	}
	return false;
}
