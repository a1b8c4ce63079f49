// SPDX-License-Identifier: MIT
#include "columns/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "columns/columns.h"
#include "columns/config.h"
#include "tacho/columns.h"

/* Names and declarations of all types of a trace, which has at most so much. */
#define ARENA_MAX	((size_t)1 << 30)

static uint64_t name_hash(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	while (*s)
		h = (h ^ (unsigned char)*s++) * UINT64_C(0x100000001b3);
	return h;
}

/* A copy of a text that may be anything, as UTF-8; NULL: no memory. */
static const char *copy_utf8(struct columns_layout *l, const char *s)
{
	size_t len = strlen(s);
	char *to = malloc(3 * len + 1);
	const char *copy = NULL;

	if (to)
		copy = tacho_arena_strndup(&l->arena, to, columns_copy_text(to, s, len));
	free(to);
	return copy;
}

static struct columns_source *add(struct columns_layout *l, enum columns_of of,
				  const struct columns_spec *spec)
{
	struct columns_source *c = tacho_arena_alloc(&l->arena, sizeof(*c));

	if (l->nr == l->room) {
		uint32_t room = l->room ? 2 * l->room : 64;
		struct columns_source **p = reallocarray(l->source, room, sizeof(*p));

		if (!p)
			return NULL;
		l->source = p;
		l->room = room;
	}
	if (!c)
		return NULL;
	c->of = of;
	c->spec = *spec;
	c->column = UINT32_MAX;
	l->source[l->nr++] = c;
	return c;
}

/* ---- columns of every event -------------------------------------------------- */

static const struct {
	const char *name;
	enum columns_kind kind;
	uint8_t width;
	bool is_signed, nullable, extra;
} common[] = {
	[COLUMNS_OF_TIMESTAMP] = { "common_timestamp", COLUMNS_TIME, 8, true, false, false },
	[COLUMNS_OF_CPU] = { "common_cpu", COLUMNS_INT, 4, false, true, false },
	[COLUMNS_OF_PID] = { "common_pid", COLUMNS_INT, 4, true, false, false },
	[COLUMNS_OF_COMM] = { "common_comm", COLUMNS_DICT, 0, false, true, false },
	[COLUMNS_OF_EVENT] = { "common_event", COLUMNS_DICT, 0, false, false, false },
	[COLUMNS_OF_SYSTEM] = { "common_system", COLUMNS_DICT, 0, false, false, true },
	[COLUMNS_OF_SOURCE] = { "common_source", COLUMNS_DICT, 0, false, false, true },
	[COLUMNS_OF_TGID] = { "common_tgid", COLUMNS_INT, 4, true, true, true },
	[COLUMNS_OF_TICKS] = { "common_ticks", COLUMNS_INT, 8, false, false, true },
	[COLUMNS_OF_LOST] = { "common_lost", COLUMNS_INT, 8, false, false, true },
};

int columns_layout_init(struct columns_layout *l, uint32_t flags)
{
	*l = (struct columns_layout){ .flags = flags };
	tacho_arena_init(&l->arena, ARENA_MAX);
	for (uint32_t i = 0; i < TACHO_ARRAY_SIZE(common); i++) {
		struct columns_spec spec = {
			.name = common[i].name, .kind = common[i].kind, .width = common[i].width,
			.is_signed = common[i].is_signed, .nullable = common[i].nullable,
			.plain = flags & TACHO_COLUMNS_NO_DICTIONARY,
		};
		struct columns_source *c;

		if (i == COLUMNS_OF_TIMESTAMP)
			spec.kind = columns_time_kind(flags);
		c = add(l, (enum columns_of)i, &spec);
		if (!c)
			return -ENOMEM;
		c->extra = common[i].extra;
	}
	return 0;
}

void columns_layout_release(struct columns_layout *l)
{
	tacho_arena_release(&l->arena);
	tacho_hashmap_release(&l->fields);
	tacho_hashmap_release(&l->names);
	free(l->source);
	free(l->column);
	*l = (struct columns_layout){ .nr = 0 };
}

/* ---- what a field is --------------------------------------------------------- */

static void list_spec(const struct tacho_field_info *info, struct columns_spec *spec)
{
	uint64_t size = (uint64_t)info->count * info->elem_size;

	spec->width = info->elem_size;
	spec->is_float = info->kind == TACHO_VALUE_FLOAT;
	spec->is_signed = info->flags & TACHO_VALUE_SIGNED;
	spec->kind = COLUMNS_LIST;
	if (size && size <= COLUMNS_FIXED_MAX && size == info->size) {
		spec->kind = COLUMNS_FIXED_LIST;
		spec->count = info->count;
	}
}

static void bytes_spec(const struct tacho_field_info *info, struct columns_spec *spec)
{
	bool dynamic = info->flags & TACHO_VALUE_DYNAMIC;

	spec->kind = COLUMNS_BINARY;
	if (!dynamic && info->size && info->size <= COLUMNS_FIXED_MAX) {
		spec->kind = COLUMNS_FIXED;
		spec->count = info->size;
	}
}

static void text_spec(const struct tacho_field_info *info, uint32_t flags,
		      struct columns_spec *spec)
{
	bool dynamic = info->flags & TACHO_VALUE_DYNAMIC;

	spec->kind = COLUMNS_TEXT;
	if (!(flags & TACHO_COLUMNS_NO_DICTIONARY) &&
	    (!dynamic || flags & TACHO_COLUMNS_DICTIONARY))
		spec->kind = COLUMNS_DICT;
}

static void number_spec(const struct tacho_field_info *info, struct columns_spec *spec)
{
	spec->width = info->elem_size;
	spec->is_signed = info->flags & TACHO_VALUE_SIGNED;
	spec->kind = info->kind == TACHO_VALUE_FLOAT ? COLUMNS_FLOAT :
		     info->flags & TACHO_VALUE_BOOL ? COLUMNS_BOOL : COLUMNS_INT;
}

static void field_spec(const struct tacho_field_info *info, uint32_t flags,
		       struct columns_spec *spec)
{
	bool number = info->kind == TACHO_VALUE_INTEGER || info->kind == TACHO_VALUE_FLOAT;

	*spec = (struct columns_spec){ .nullable = true };
	if (info->kind == TACHO_VALUE_STRING)
		text_spec(info, flags, spec);
	else if (number && info->flags & TACHO_VALUE_ARRAY)
		list_spec(info, spec);
	else if (number && info->size == info->elem_size)
		number_spec(info, spec);
	else if (info->kind == TACHO_VALUE_BITMASK)
		spec->kind = COLUMNS_BINARY;
	else
		bytes_spec(info, spec);
}

/* ---- fields of one name ------------------------------------------------------ */

static bool is_integer(const struct columns_spec *s)
{
	return s->kind == COLUMNS_INT || s->kind == COLUMNS_BOOL;
}

static bool is_string(const struct columns_spec *s)
{
	return s->kind == COLUMNS_TEXT || s->kind == COLUMNS_DICT;
}

static bool is_bytes(const struct columns_spec *s)
{
	return s->kind == COLUMNS_BINARY || s->kind == COLUMNS_FIXED;
}

static bool is_list(const struct columns_spec *s)
{
	return s->kind == COLUMNS_LIST || s->kind == COLUMNS_FIXED_LIST;
}

static bool is_u64(const struct columns_spec *s)
{
	return s->kind == COLUMNS_INT && s->width == 8 && !s->is_signed;
}

/* Integers that differ become int64, which has no room for uint64: that takes unsigned ones. */
static bool widen_integer(struct columns_spec *to, const struct columns_spec *s)
{
	bool u64 = is_u64(to) || is_u64(s);

	if (u64 && (to->is_signed || s->is_signed))
		return false;
	to->kind = COLUMNS_INT;
	to->width = 8;
	to->is_signed = !u64;
	return true;
}

/* Whether a column of *to can have what is of *s, too, perhaps after it became wider. */
static bool widen(struct columns_spec *to, const struct columns_spec *s)
{
	bool same = to->kind == s->kind && to->width == s->width && to->count == s->count &&
		    to->is_signed == s->is_signed && to->is_float == s->is_float;

	if (same)
		return true;
	if (is_integer(to) && is_integer(s))
		return widen_integer(to, s);
	if (to->kind == COLUMNS_FLOAT && s->kind == COLUMNS_FLOAT) {
		to->width = 8;
	} else if (is_string(to) && is_string(s)) {
		to->kind = COLUMNS_TEXT;
	} else if (is_bytes(to) && is_bytes(s)) {
		to->kind = COLUMNS_BINARY;
		to->count = 0;
	} else if (is_list(to) && is_list(s) && to->width == s->width &&
		   to->is_signed == s->is_signed && to->is_float == s->is_float) {
		to->kind = COLUMNS_LIST;
		to->count = 0;
	} else {
		return false;
	}
	return true;
}

static struct columns_source *find(const struct columns_layout *l, const char *field,
				   enum columns_of of, const struct tacho_type *only)
{
	struct columns_source *c = tacho_hashmap_get(&l->fields, name_hash(field));

	while (c && (c->of != of || c->only != only || strcmp(c->field, field) != 0))
		c = c->next;
	return c;
}

const struct columns_source *columns_layout_find(const struct columns_layout *l,
						 const struct tacho_type *type,
						 const struct tacho_field *field,
						 enum columns_of of)
{
	const struct columns_source *c = find(l, field->name, of, type);
	struct tacho_field_info info;
	struct columns_spec own, all;

	if (!c)
		c = find(l, field->name, of, NULL);
	if (!c || of == COLUMNS_OF_NAMES || tacho_type_field_info(type, field, &info))
		return c;
	field_spec(&info, l->flags, &own);
	all = c->spec;
	/* one that was not known may need more than the others do */
	if (!widen(&all, &own) || all.kind != c->spec.kind || all.width != c->spec.width ||
	    all.count != c->spec.count || all.is_signed != c->spec.is_signed)
		return NULL;
	return c;
}

static int add_field(struct columns_layout *l, const struct tacho_type *type,
		     const struct tacho_field *field, enum columns_of of,
		     const struct columns_spec *spec)
{
	struct columns_source *c = find(l, field->name, of, NULL);
	bool shared = !c;
	uint64_t hash = name_hash(field->name);

	if (c && widen(&c->spec, spec))
		return 0;
	c = add(l, of, spec);
	if (!c)
		return -ENOMEM;
	c->field = field->name;
	c->first = type;
	c->only = shared ? NULL : type;
	c->extra = field->flags & TACHO_FIELD_COMMON;
	c->next = tacho_hashmap_get(&l->fields, hash);
	return tacho_hashmap_set(&l->fields, hash, c);
}

int columns_layout_add_type(struct columns_layout *l, const struct tacho_type *type)
{
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		const struct tacho_field *field = &type->fields[i];
		struct tacho_field_info info;
		struct columns_spec spec;
		int err;

		/* common_pid is of every event */
		if (!strcmp(field->name, common[COLUMNS_OF_PID].name) ||
		    tacho_type_field_info(type, field, &info))
			continue;
		field_spec(&info, l->flags, &spec);
		if (!(field->flags & TACHO_FIELD_COMMON)) {
			spec.declaration = copy_utf8(l, field->decl);
			if (!spec.declaration)
				return -ENOMEM;
		}
		err = add_field(l, type, field, COLUMNS_OF_FIELD, &spec);
		if (!err && info.nr_names) {
			spec = (struct columns_spec){
				.kind = COLUMNS_DICT, .nullable = true,
				.plain = l->flags & TACHO_COLUMNS_NO_DICTIONARY };
			err = add_field(l, type, field, COLUMNS_OF_NAMES, &spec);
		}
		if (err)
			return err;
	}
	return 0;
}

/* ---- names ------------------------------------------------------------------- */

/* Gives c a name that no other column has: text, with underscores after it if need be. */
static int set_name(struct columns_layout *l, struct columns_source *c, char *text, size_t len,
		    size_t room)
{
	while (tacho_hashmap_get(&l->names, name_hash(text)) && len + 1 < room) {
		text[len++] = '_';
		text[len] = '\0';
	}
	c->spec.name = copy_utf8(l, text);
	if (!c->spec.name)
		return -ENOMEM;
	return tacho_hashmap_set(&l->names, name_hash(c->spec.name), c);
}

static int name_field(struct columns_layout *l, struct columns_source *c)
{
	size_t field = strlen(c->field), event = strlen(c->first->name);
	size_t room = event + field + sizeof("__name") + COLUMNS_MAX, len;
	char *text = malloc(room);
	int err;

	if (!text)
		return -ENOMEM;
	len = field;
	memcpy(text, c->field, field + 1);
	if (c->of == COLUMNS_OF_NAMES) {
		memcpy(text + len, "_name", sizeof("_name"));
		len += 5;
	} else if (c->only || tacho_hashmap_get(&l->names, name_hash(text))) {
		memcpy(text, c->first->name, event);
		text[event] = '_';
		memcpy(text + event + 1, c->field, field + 1);
		len = event + 1 + field;
	}
	err = set_name(l, c, text, len, room);
	free(text);
	return err;
}

/* Fields come first, so that what is derived of one gives way to it. */
static int name_all(struct columns_layout *l)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < TACHO_ARRAY_SIZE(common); i++)
		err = tacho_hashmap_set(&l->names, name_hash(l->source[i]->spec.name),
					l->source[i]);
	for (int pass = 0; pass < 3; pass++)
		for (uint32_t i = TACHO_ARRAY_SIZE(common); !err && i < l->nr; i++) {
			struct columns_source *c = l->source[i];

			if (pass == (c->of == COLUMNS_OF_NAMES ? 2 : c->only ? 1 : 0))
				err = name_field(l, c);
		}
	return err;
}

static int choose(struct columns_layout *l, struct columns_source *c, struct tacho_diag *d)
{
	if (l->nr_columns == COLUMNS_MAX)
		return tacho_diag(d, -E2BIG, 0, "the selected events have more than %u columns; "
				  "select fewer events, or name the columns", COLUMNS_MAX);
	c->column = l->nr_columns;
	l->column[l->nr_columns++] = c;
	return 0;
}

static int choose_named(struct columns_layout *l, const char *name, struct tacho_diag *d)
{
	struct columns_source *c = tacho_hashmap_get(&l->names, name_hash(name));

	if (!c || strcmp(c->spec.name, name) != 0)
		return tacho_diag(d, -ENOENT, 0, "no selected event has a column '%s'", name);
	if (c->column != UINT32_MAX)
		return tacho_diag(d, -EINVAL, 0, "the column '%s' is named twice", name);
	return choose(l, c, d);
}

int columns_layout_end(struct columns_layout *l, const char *const *names, uint32_t nr,
		       struct tacho_diag *d)
{
	int err = 0;

	l->column = calloc(COLUMNS_MAX, sizeof(struct columns_source *));
	if (!l->column || name_all(l))
		return tacho_no_memory(d);
	for (uint32_t i = 0; names && !err && i < nr; i++)
		err = choose_named(l, names[i], d);
	for (uint32_t i = 0; !names && !err && i < l->nr; i++)
		if (!l->source[i]->extra)
			err = choose(l, l->source[i], d);
	return err;
}

int columns_layout_table(const struct columns_layout *l, struct columns_table *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < l->nr_columns; i++)
		err = columns_table_add(t, &l->column[i]->spec);
	return err;
}
