// SPDX-License-Identifier: MIT
#include "base/scan.h"
#include "event/type.h"

#include <errno.h>
#include <string.h>

#include "event/ctype.h"
#include "event/print.h"
#include "tacho/abi/record.h"

#define FIELDS_MAX 1024

/* A part of the text, without a copy. */
struct slice {
	const char *s;
	size_t len;
};

struct parser {
	struct tacho_arena *arena;
	struct tacho_diag *d;
	const char *text;
	size_t len;
	size_t pos;
	struct tacho_field *fields;	/* room for the maximum number */
	uint32_t nr;
	bool fields_only;
};

static uint64_t offset_of(const struct parser *p, const char *s)
{
	return (uint64_t)(s - p->text);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static struct slice trim(struct slice t)
{
	while (t.len && is_space(t.s[0])) {
		t.s++;
		t.len--;
	}
	while (t.len && is_space(t.s[t.len - 1]))
		t.len--;
	return t;
}

/* If t begins with word, removes the word and the following blanks; returns whether it does. */
static bool take_word(struct slice *t, const char *word)
{
	size_t n = strlen(word);

	if (t->len < n || memcmp(t->s, word, n))
		return false;
	t->s += n;
	t->len -= n;
	*t = trim(*t);
	return true;
}

static bool take_number(struct slice t, uint64_t max, uint64_t *v)
{
	const char *end = t.s + t.len;
	uint64_t n;

	if (tacho_scan_digits(&t.s, end, 10, max, &n) || t.s != end)
		return false;
	*v = n;
	return true;
}

/* Cuts the next line, without its newline; false at the end of the text. */
static bool next_line(struct parser *p, struct slice *line)
{
	const char *from = p->text + p->pos;
	const char *nl;

	if (p->pos >= p->len)
		return false;
	nl = memchr(from, '\n', p->len - p->pos);
	line->s = from;
	line->len = nl ? (size_t)(nl - from) : p->len - p->pos;
	p->pos += line->len + (nl ? 1 : 0);
	return true;
}

/* Cuts the text up to `;`, which must exist. */
static bool take_part(struct slice *rest, struct slice *part)
{
	const char *semi = rest->len ? memchr(rest->s, ';', rest->len) : NULL;

	if (!semi)
		return false;
	*part = trim((struct slice){ rest->s, (size_t)(semi - rest->s) });
	rest->len -= (size_t)(semi + 1 - rest->s);
	rest->s = semi + 1;
	*rest = trim(*rest);
	return true;
}

/* A declaration, cut into slices. */
struct decl {
	struct slice type;
	struct slice name;
	enum tacho_field_kind kind;	/* SCALAR, ARRAY, DATA_LOC or REL_LOC */
	uint64_t count;			/* of an ARRAY; 0 when not a number */
};

/* Removes "[16]" or "[2][3]" or "[NAME]" from the end of t. */
static bool take_brackets(struct slice *t, struct decl *d)
{
	uint64_t total = 1;
	bool known = true;

	while (t->len && t->s[t->len - 1] == ']') {
		size_t at = t->len - 1;
		struct slice in;
		uint64_t n = 0;

		while (at && t->s[at] != '[')
			at--;
		if (t->s[at] != '[')
			return false;
		in = trim((struct slice){ t->s + at + 1, t->len - at - 2 });
		if (!take_number(in, TACHO_RAW_MAX, &n))
			known = false;
		if (total <= TACHO_RAW_MAX)
			total *= n;
		t->len = at;
		*t = trim(*t);
		d->kind = TACHO_FIELD_ARRAY;
	}
	d->count = known && total <= TACHO_RAW_MAX ? total : 0;
	return true;
}

static bool take_name(struct slice *t, struct slice *name)
{
	size_t at = t->len;

	while (at && is_name_char(t->s[at - 1]))
		at--;
	*name = (struct slice){ t->s + at, t->len - at };
	t->len = at;
	*t = trim(*t);
	return name->len > 0;
}

static int decl_parse(const struct parser *p, struct slice t, struct decl *d)
{
	const char *at = t.s;

	*d = (struct decl){ .kind = TACHO_FIELD_SCALAR };
	if (take_word(&t, "__data_loc "))
		d->kind = TACHO_FIELD_DATA_LOC;
	else if (take_word(&t, "__rel_loc "))
		d->kind = TACHO_FIELD_REL_LOC;
	if (d->kind == TACHO_FIELD_SCALAR && !take_brackets(&t, d))
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "a ']' without its '['");
	if (!take_name(&t, &d->name))
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "a field without a name");
	if (d->kind == TACHO_FIELD_DATA_LOC || d->kind == TACHO_FIELD_REL_LOC) {
		struct decl unused;

		if (!take_brackets(&t, &unused))
			return tacho_diag(p->d, -EINVAL, offset_of(p, at),
					  "a ']' without its '['");
	}
	if (!t.len)
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "a field without a type");
	d->type = t;
	return 0;
}

static uint32_t elem_size(const struct tacho_field *f, const struct decl *d,
			  struct tacho_ctype t)
{
	uint32_t size = t.is_mask ? 8 : t.size;

	if (f->kind == TACHO_FIELD_SCALAR)
		return f->size;
	if (f->kind == TACHO_FIELD_ARRAY || f->kind == TACHO_FIELD_OPAQUE) {
		if (d->count && f->size % d->count == 0)
			return f->size / (uint32_t)d->count;
		if (f->kind == TACHO_FIELD_OPAQUE)
			return f->size;
		return size && f->size % size == 0 ? size : 1;
	}
	return size ? size : 1;
}

static enum tacho_field_kind kind_of(const struct decl *d, uint32_t size,
				     struct tacho_ctype t)
{
	if (d->kind == TACHO_FIELD_DATA_LOC || d->kind == TACHO_FIELD_REL_LOC)
		return d->kind;
	if (!size && d->kind == TACHO_FIELD_ARRAY)
		return TACHO_FIELD_FLEX;
	if (t.is_record)
		return TACHO_FIELD_OPAQUE;
	if (!size && t.size)	/* older kernels omitted the brackets */
		return TACHO_FIELD_FLEX;
	if (d->kind == TACHO_FIELD_ARRAY)
		return TACHO_FIELD_ARRAY;
	if (t.is_float && size != 4 && size != 8)
		return TACHO_FIELD_OPAQUE;
	if (size == 1 || size == 2 || size == 4 || size == 8)
		return TACHO_FIELD_SCALAR;
	return TACHO_FIELD_OPAQUE;
}

static void field_classify(struct tacho_field *f, const struct decl *d,
			   int is_signed)
{
	struct tacho_ctype t = tacho_ctype_of(d->type.s, d->type.len);
	bool loc;

	f->kind = kind_of(d, f->size, t);
	f->elem_size = elem_size(f, d, t);
	loc = f->kind == TACHO_FIELD_DATA_LOC || f->kind == TACHO_FIELD_REL_LOC;
	if (f->kind == TACHO_FIELD_ARRAY || f->kind == TACHO_FIELD_OPAQUE)
		f->count = f->elem_size ? f->size / f->elem_size : 0;
	/* old kernels did not write it; for variable data it applies to the elements */
	if (is_signed >= 0 ? is_signed : t.is_signed)
		f->flags |= TACHO_FIELD_SIGNED;
	if (t.is_char && f->kind != TACHO_FIELD_SCALAR)
		f->flags |= TACHO_FIELD_STRING;
	if (t.is_pointer)
		f->flags |= TACHO_FIELD_POINTER;
	if (t.is_bool)
		f->flags |= TACHO_FIELD_BOOL;
	if (t.is_float && f->kind != TACHO_FIELD_OPAQUE &&
	    (f->elem_size == 4 || f->elem_size == 8))
		f->flags |= TACHO_FIELD_FLOAT;
	if (loc && (t.is_mask || (t.size == 8 && !t.is_signed &&
				  memmem(d->type.s, d->type.len, "long", 4))))
		f->flags |= TACHO_FIELD_BITMASK;
	if (d->name.len > 7 && !memcmp(d->name.s, "common_", 7))
		f->flags |= TACHO_FIELD_COMMON;
}

/* The parts after the declaration: "offset:8; size:16; signed:0;". */
static int numbers_parse(struct parser *p, struct slice rest,
			 struct tacho_field *f, int *is_signed)
{
	const char *at = rest.s;
	struct slice part;
	bool has_offset = false, has_size = false;
	uint64_t v;

	*is_signed = -1;
	while (take_part(&rest, &part)) {
		const char *from = part.s;

		if (take_word(&part, "offset:")) {
			has_offset = take_number(part, TACHO_RAW_MAX, &v);
			f->offset = has_offset ? (uint32_t)v : 0;
		} else if (take_word(&part, "size:")) {
			has_size = take_number(part, TACHO_RAW_MAX, &v);
			f->size = has_size ? (uint32_t)v : 0;
		} else if (take_word(&part, "signed:")) {
			if (!take_number(part, 1, &v))
				return tacho_diag(p->d, -EINVAL,
						  offset_of(p, from),
						  "signed is 0 or 1");
			*is_signed = (int)v;
		}
	}
	if (!has_offset || !has_size)
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "a field needs an offset and a size, up to %u",
				  (unsigned int)TACHO_RAW_MAX);
	if (f->size > TACHO_RAW_MAX - f->offset)
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "a field ends beyond the largest event");
	return 0;
}

static bool overlaps(const struct tacho_field *a, const struct tacho_field *b)
{
	return a->size && b->size && a->offset < b->offset + b->size &&
	       b->offset < a->offset + a->size;
}

/* Nearly every format is in order of offset; then one comparison is enough. */
static int overlap_check(const struct parser *p, const char *at,
			 const struct tacho_field *f, uint32_t end)
{
	if (f->offset >= end)
		return 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct tacho_field *o = &p->fields[i];

		if (overlaps(f, o))
			return tacho_diag(p->d, -EINVAL, offset_of(p, at),
					  "the field lies on '%s'", o->name);
	}
	return 0;
}

static int field_parse(struct parser *p, struct slice line, uint32_t *end)
{
	struct tacho_field f = { .index = p->nr };
	const char *at = line.s;
	struct slice text;
	struct decl d;
	int is_signed, err;

	if (p->nr == FIELDS_MAX)
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "more than %u fields", FIELDS_MAX);
	if (!take_part(&line, &text))
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "no ';' after the field's declaration");
	err = numbers_parse(p, line, &f, &is_signed);
	if (!err)
		err = decl_parse(p, text, &d);
	if (!err)
		err = overlap_check(p, at, &f, *end);
	if (err)
		return err;
	field_classify(&f, &d, is_signed);
	if ((f.kind == TACHO_FIELD_DATA_LOC || f.kind == TACHO_FIELD_REL_LOC) &&
	    f.size != 4 && f.size != 8)	/* 8: the kernel's synthetic events */
		return tacho_diag(p->d, -EINVAL, offset_of(p, at),
				  "the word of variable data has 4 bytes, or 8 with its padding");
	f.name = tacho_arena_strndup(p->arena, d.name.s, d.name.len);
	f.decl = tacho_arena_strndup(p->arena, text.s, text.len);
	f.elem = tacho_arena_strndup(p->arena, d.type.s, d.type.len);
	if (!f.name || !f.decl || !f.elem)
		return tacho_no_memory(p->d);
	if (f.offset + f.size > *end)
		*end = f.offset + f.size;
	p->fields[p->nr++] = f;
	return 0;
}

/* Everything after "print fmt:" belongs to it, newlines as well. */
static int print_fmt_parse(struct parser *p, const char *from,
			   struct tacho_type *type)
{
	struct slice t = { from, p->len - (size_t)(from - p->text) };

	while (t.len && (t.s[t.len - 1] == '\n' || is_space(t.s[t.len - 1])))
		t.len--;
	while (t.len && (t.s[0] == '\n' || is_space(t.s[0]))) {
		t.s++;
		t.len--;
	}
	p->pos = p->len;
	if (p->fields_only)
		return 0;
	if (memchr(t.s, '\0', t.len))
		return tacho_diag(p->d, -EINVAL, offset_of(p, from),
				  "a NUL in the print format");
	type->print_fmt = tacho_arena_strndup(p->arena, t.s, t.len);
	if (!type->print_fmt)
		return tacho_no_memory(p->d);
	return 0;
}

static int name_parse(struct parser *p, struct slice line,
		      struct tacho_type *type)
{
	if (type->name)
		return 0;
	if (!line.len || memchr(line.s, '\0', line.len))
		return tacho_diag(p->d, -EINVAL, offset_of(p, line.s),
				  "an event without a name");
	type->name = tacho_arena_strndup(p->arena, line.s, line.len);
	return type->name ? 0 : tacho_no_memory(p->d);
}

static int line_parse(struct parser *p, struct slice line,
		      struct tacho_type *type, bool *has_id)
{
	uint64_t id;

	line = trim(line);
	if (!line.len || take_word(&line, "format:"))
		return 0;
	if (take_word(&line, "name:"))
		return name_parse(p, line, type);
	if (take_word(&line, "ID:")) {
		if (!take_number(line, UINT32_MAX, &id))
			return tacho_diag(p->d, -EINVAL, offset_of(p, line.s),
					  "ID is not a number");
		if (!*has_id)
			type->id = (uint32_t)id;
		*has_id = true;
		return 0;
	}
	if (take_word(&line, "field:") || take_word(&line, "field special:"))
		return field_parse(p, line, &type->fixed_size);
	if (take_word(&line, "print fmt:"))
		return print_fmt_parse(p, line.s, type);
	return tacho_diag(p->d, -EINVAL, offset_of(p, line.s),
			  "neither a field nor a print format");
}

/* Computes the counts, and checks that a flexible array is last. */
static int fields_finish(struct parser *p, struct tacho_type *type)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		struct tacho_field *f = &p->fields[i];

		if (f->kind == TACHO_FIELD_FLEX && f->offset < type->fixed_size)
			f->kind = TACHO_FIELD_ARRAY;
		if (f->kind == TACHO_FIELD_DATA_LOC ||
		    f->kind == TACHO_FIELD_REL_LOC ||
		    f->kind == TACHO_FIELD_FLEX)
			type->nr_dynamic++;
		if (type->nr_common == i && f->flags & TACHO_FIELD_COMMON)
			type->nr_common++;
	}
	type->nr_fields = p->nr;
	type->fields = p->fields;
	return 0;
}

static int text_parse(struct parser *p, struct tacho_type *type, bool has_id)
{
	struct slice line;
	int err;

	while (next_line(p, &line)) {
		if (memchr(line.s, '\0', line.len) &&
		    !memmem(line.s, line.len, "print fmt:", 10))
			return tacho_diag(p->d, -EINVAL, offset_of(p, line.s),
					  "a NUL in the text");
		err = line_parse(p, line, type, &has_id);
		if (err)
			return err;
	}
	if (!type->name)
		return tacho_diag(p->d, -EINVAL, 0, "an event without a name");
	if (!has_id)
		return tacho_diag(p->d, -EINVAL, 0, "an event without an ID");
	return fields_finish(p, type);
}

static struct tacho_type *type_new(struct tacho_arena *arena,
				   const char *system, const char *name,
				   uint32_t id)
{
	struct tacho_type *type = tacho_arena_alloc(arena, sizeof(*type));

	if (!type)
		return NULL;
	type->system = tacho_arena_strndup(arena, system, strlen(system));
	if (name)
		type->name = tacho_arena_strndup(arena, name, strlen(name));
	type->print_fmt = "";
	type->id = id;
	return type->system && (!name || type->name) ? type : NULL;
}

/* Allocates fields: at most one per line. */
static int fields_begin(struct parser *p)
{
	uint32_t lines = 1;

	for (size_t i = 0; i < p->len && lines < FIELDS_MAX; i++)
		lines += p->text[i] == '\n';
	p->fields = tacho_arena_array(p->arena, lines, sizeof(*p->fields));
	return p->fields ? 0 : tacho_no_memory(p->d);
}

static struct tacho_type *type_parse(struct parser *p, const char *system,
				     const char *name, uint32_t id)
{
	struct tacho_type *type = type_new(p->arena, system, name, id);

	if (!type) {
		(void)tacho_no_memory(p->d);
		return NULL;
	}
	if (fields_begin(p) || text_parse(p, type, name != NULL))
		return NULL;
	return type;
}

struct tacho_type *tacho_type_parse_fields(struct tacho_arena *arena,
					   const char *system, const char *name,
					   uint32_t id, const char *text,
					   size_t len, struct tacho_diag *d)
{
	struct parser p = { .arena = arena, .d = d, .text = text, .len = len,
			    .fields_only = true };

	return type_parse(&p, system, name, id);
}

struct tacho_type *tacho_type_parse(struct tacho_arena *arena,
				    const char *system, const char *name,
				    uint32_t id, const char *text, size_t len,
				    struct tacho_diag *d)
{
	struct parser p = { .arena = arena, .d = d, .text = text, .len = len };
	struct tacho_type *type = type_parse(&p, system, name, id);

	if (type && *type->print_fmt) {
		struct tacho_diag why = { 0 };

		type->print = tacho_print_compile(arena, type, &why);
		if (why.err == -ENOMEM) {
			arena->no_memory = true;
			(void)tacho_no_memory(d);
			return NULL;
		}
	}
	return type;
}
