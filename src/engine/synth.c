// SPDX-License-Identifier: MIT
/*
 * Definitions of synthetic events, and their raw events.  The accepted texts and the messages are
 * those of kernel 6.12, see tests/golden/synth:
 *
 * - a field is "type name" or "unsigned type name"; an array's brackets may follow either; fields
 *   need no ';' between them;
 * - "char[0]" is a dynamic string, and every "long[...]" is a stack trace;
 * - an error's column is that of the first occurrence of the word.
 */
#include "engine/synth.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "tacho/abi/record.h"

#define SYSTEM		"synthetic"
#define DYNAMIC		"__data_loc "
#define FORM		"Command must be of the form: <name> field[;field] ..."

/* Number types, with their print formats. */
static const struct {
	const char *name;
	uint32_t size;
	const char *fmt;
} numbers[] = {
	{ "s64", 8, "%lld" },
	{ "u64", 8, "%llu" },
	{ "s32", 4, "%d" },
	{ "u32", 4, "%u" },
	{ "s16", 2, "%d" },
	{ "u16", 2, "%u" },
	{ "s8", 1, "%d" },
	{ "u8", 1, "%u" },
	{ "char", 1, "%d" },
	{ "unsigned char", 1, "%u" },
	{ "int", 4, "%d" },
	{ "unsigned int", 4, "%u" },
	{ "long", 8, "%ld" },
	{ "unsigned long", 8, "%lu" },
	{ "bool", 1, "%d" },
	{ "pid_t", 4, "%d" },
	{ "gfp_t", 4, "%x" },
};

/* A part of the text, without a copy. */
struct word {
	const char *s;
	size_t len;
};

struct parser {
	struct tacho_arena *arena;
	struct tacho_cmd_error *e;
	const char *text;	/* as given */
	const char *start;	/* without leading blanks */
	size_t len;		/* from start, up to a '#' */
	struct tacho_synth *synth;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_good_name(struct word w)
{
	for (size_t i = 0; i < w.len; i++) {
		char c = w.s[i];
		bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     c == '_';

		if (!alpha && !(i && c >= '0' && c <= '9'))
			return false;
	}
	return w.len > 0;
}

static bool is_word(struct word w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.s, s, w.len);
}

/* Cuts the next word from *rest; false: there is none. */
static bool take_word(struct word *rest, struct word *w)
{
	while (rest->len && is_blank(*rest->s)) {
		rest->s++;
		rest->len--;
	}
	*w = (struct word){ rest->s, 0 };
	while (w->len < rest->len && !is_blank(w->s[w->len]))
		w->len++;
	rest->s += w->len;
	rest->len -= w->len;
	return w->len > 0;
}

/* Cuts the part up to and including the next ';' from *rest; false at the end. */
static bool take_part(struct word *rest, struct word *part)
{
	const char *semi;

	if (!rest->len)
		return false;
	semi = memchr(rest->s, ';', rest->len);
	*part = (struct word){ rest->s,
			       semi ? (size_t)(semi - rest->s) : rest->len };
	rest->s += part->len + (semi ? 1 : 0);
	rest->len -= part->len + (semi ? 1 : 0);
	return true;
}

/* The column of the first occurrence of w, which the kernel points at. */
static uint32_t column_of(const struct parser *p, struct word w)
{
	const char *at = memmem(p->start, p->len, w.s, w.len);

	return (uint32_t)((at ? at : p->start) - p->text);
}

static int error_at(const struct parser *p, struct word w, const char *what)
{
	return tacho_cmd_error(p->e, -EINVAL, column_of(p, w), "%s", what);
}

static int error_form(const struct parser *p)
{
	return tacho_cmd_error(p->e, -EINVAL, (uint32_t)(p->start - p->text),
			       "%s", FORM);
}

static struct word text_of(const char *text)
{
	struct word t;

	while (is_blank(*text))
		text++;
	t = (struct word){ text, strcspn(text, "#") };
	while (t.len && is_blank(t.s[t.len - 1]))
		t.len--;
	return t;
}

bool tacho_synth_name(const char *text, const char **name, size_t *len)
{
	struct word t = text_of(text), part, w, unused;
	bool remove = t.len && *t.s == '!';

	if (remove) {
		t.s++;
		t.len--;
	}
	*name = t.s;
	*len = 0;
	while (*len < t.len && t.s[*len] != ' ' && t.s[*len] != '\t')
		++*len;
	if (remove)
		return true;
	return take_part(&t, &part) && take_word(&part, &w) &&
	       take_word(&part, &unused) && take_word(&part, &unused) &&
	       w.len == *len;
}

/*
 * The room of "char[N]", 0 without a length, or -EINVAL. N has up to three characters and may be
 * octal or hexadecimal.
 */
static int string_room(const char *type)
{
	const char *s = strstr(type, "char[") + strlen("char[");
	const char *end = strchr(type, ']');
	int base = 10, room = 0;

	if (!end || end < s || end[1] || end - s > 3)
		return -EINVAL;
	if (s == end)
		return 0;
	if (*s == '+' && s + 1 < end)
		s++;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && end - s > 2) {
		base = 16;
		s += 2;
	} else if (s[0] == '0') {
		base = 8;
	}
	for (; s < end; s++) {
		int digit = *s >= 'a' ? *s - 'a' + 10 :
			    *s >= 'A' ? *s - 'A' + 10 : *s - '0';

		if (digit < 0 || digit >= base ||
		    (*s > '9' && *s < 'A'))
			return -EINVAL;
		room = room * base + digit;
	}
	return room > TACHO_SYNTH_STRING_MAX ? -EINVAL : room;
}

/* Sets the members that depend on f->type.  False: unknown type. */
static bool field_size(struct tacho_synth_field *f)
{
	int room = 0;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(numbers); i++) {
		if (!strcmp(f->type, numbers[i].name)) {
			f->size = numbers[i].size;
			f->is_signed = *f->type != 'u' &&
				       strcmp(f->type, "gfp_t") != 0;
			return true;
		}
	}
	f->is_string = strstr(f->type, "char[") != NULL;
	f->is_stack = !f->is_string && strstr(f->type, "long[") != NULL;
	if (f->is_string)
		room = string_room(f->type);
	if (room < 0 || (!f->is_string && !f->is_stack))
		return false;
	f->is_dynamic = room == 0;
	f->is_signed = f->is_dynamic || *f->type != 'u';
	f->size = room ? (uint32_t)room : (uint32_t)sizeof(uint64_t);
	return true;
}

/* The size of a field in the fixed part. */
static uint32_t slot_size(const struct tacho_synth_field *f)
{
	return f->is_string && !f->is_dynamic ? TACHO_SYNTH_STRING_MAX : 8;
}

/* Joins the words of a type, with the array that follows the name, into one string. */
static char *join_type(struct tacho_arena *a, bool is_unsigned,
		       struct word type, struct word array)
{
	static const char prefix[] = "unsigned ";
	size_t n = is_unsigned ? sizeof(prefix) - 1 : 0;
	char *s = tacho_arena_alloc(a, n + type.len + array.len + 1);

	if (!s)
		return NULL;
	memcpy(s, prefix, n);
	memcpy(s + n, type.s, type.len);
	if (array.len)
		memcpy(s + n + type.len, array.s, array.len);
	return s;
}

static int parse_field(struct parser *p, struct word *rest, struct word type)
{
	struct tacho_synth *synth = p->synth;
	struct tacho_synth_field f = { .type = NULL };
	struct word name, array = { "", 0 }, whole;
	bool is_unsigned = is_word(type, "unsigned");
	const char *bracket;

	if (is_unsigned) {
		struct word first = type;

		if (!take_word(rest, &type))
			return error_at(p, first, "Incomplete type");
		if (!take_word(rest, &whole))
			return error_at(p, first, "Incomplete type");
	} else if (!take_word(rest, &whole)) {
		return error_at(p, type, "Invalid field");
	}
	name = whole;
	bracket = memchr(name.s, '[', name.len);
	if (bracket) {
		name.len = (size_t)(bracket - name.s);
		array = (struct word){ bracket, whole.len - name.len };
	}
	if (!is_good_name(name))
		return error_at(p, whole, "Illegal name");
	f.name = tacho_arena_strndup(p->arena, name.s, name.len);
	f.type = join_type(p->arena, is_unsigned, type, array);
	if (!f.name || !f.type)
		return tacho_cmd_no_memory(p->e);
	if (!field_size(&f)) {
		if (array.len && f.is_string)
			return error_at(p, whole, "Invalid array specification");
		return error_at(p, type, "Invalid type");
	}
	if (synth->nr_fields == TACHO_SYNTH_FIELDS_MAX)
		return tacho_cmd_error(p->e, -EINVAL,
				       (uint32_t)(p->start - p->text),
				       "Too many fields");
	f.offset = synth->fixed_size;
	synth->fixed_size += slot_size(&f);
	synth->field[synth->nr_fields++] = f;
	return 0;
}

static int parse_fields(struct parser *p, struct word rest)
{
	struct word part, type;
	int err;

	while (take_part(&rest, &part)) {
		while (take_word(&part, &type)) {
			err = parse_field(p, &part, type);
			if (err)
				return err;
		}
	}
	return 0;
}

static const char *number_fmt(const char *type)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(numbers); i++)
		if (!strcmp(type, numbers[i].name))
			return numbers[i].fmt;
	return "%s";
}

static void write_field(const struct tacho_synth_field *f, struct tacho_buf *out)
{
	const char *bracket = strchr(f->type, '[');

	tacho_buf_puts(out, "\tfield:");
	if (f->is_dynamic) {
		tacho_buf_puts(out, DYNAMIC);
		tacho_buf_puts(out, f->type);
	} else {
		tacho_buf_put(out, f->type, bracket ?
			      (size_t)(bracket - f->type) : strlen(f->type));
	}
	tacho_buf_putc(out, ' ');
	tacho_buf_puts(out, f->name);
	if (bracket && !f->is_dynamic)
		tacho_buf_puts(out, "[]");
	tacho_buf_puts(out, ";\toffset:");
	tacho_buf_put_u64(out, f->offset);
	tacho_buf_puts(out, ";\tsize:");
	tacho_buf_put_u64(out, f->size);
	tacho_buf_puts(out, ";\tsigned:");
	tacho_buf_putc(out, f->is_signed ? '1' : '0');
	tacho_buf_puts(out, ";\n");
}

static void write_print_fmt(const struct tacho_synth *synth,
			    struct tacho_buf *out)
{
	for (uint32_t i = 0; i < synth->nr_fields; i++) {
		tacho_buf_puts(out, i ? ", " : "\nprint fmt: \"");
		tacho_buf_puts(out, synth->field[i].name);
		tacho_buf_putc(out, '=');
		tacho_buf_puts(out, number_fmt(synth->field[i].type));
	}
	tacho_buf_putc(out, '"');
	for (uint32_t i = 0; i < synth->nr_fields; i++) {
		const struct tacho_synth_field *f = &synth->field[i];

		tacho_buf_puts(out, f->is_stack ? ", __get_stacktrace(" :
			       f->is_dynamic ? ", __get_str(" : ", REC->");
		tacho_buf_puts(out, f->name);
		if (f->is_dynamic)
			tacho_buf_putc(out, ')');
	}
	tacho_buf_putc(out, '\n');
}

/* An upper bound of the size of the `format` text. */
static size_t format_room(const struct tacho_synth *synth)
{
	size_t room = sizeof(TACHO_COMMON_FIELDS) + 64;

	for (uint32_t i = 0; i < synth->nr_fields; i++)
		room += strlen(synth->field[i].type) +
			3 * strlen(synth->field[i].name) + 128;
	return room;
}

static int make_type(struct parser *p)
{
	struct tacho_synth *synth = p->synth;
	size_t room = format_room(synth);
	struct tacho_diag d = { .err = 0 };
	/* a full buffer sets its error; the memory is the arena's */
	struct tacho_buf out = {
		.data = tacho_arena_alloc(p->arena, room), .room = room, .cap = room,
	};

	if (!out.data)
		return tacho_cmd_no_memory(p->e);
	tacho_buf_puts(&out, TACHO_COMMON_FIELDS);
	for (uint32_t i = 0; i < synth->nr_fields; i++)
		write_field(&synth->field[i], &out);
	write_print_fmt(synth, &out);
	if (!tacho_buf_error(&out))
		synth->type = p->arena->fixed ?
			tacho_type_parse_fields(p->arena, SYSTEM, synth->name, 0,
						out.data, out.len, NULL) :
			tacho_type_parse(p->arena, SYSTEM, synth->name, 0,
					 out.data, out.len, &d);
	if (synth->type)
		return 0;
	if (p->arena->fixed || d.err == -ENOMEM)
		return tacho_cmd_no_memory(p->e);
	return tacho_cmd_error(p->e, -EINVAL, (uint32_t)(p->start - p->text),
			       "Event is too large");
}

struct tacho_synth *tacho_synth_parse(struct tacho_arena *a, const char *text,
				      struct tacho_cmd_error *e)
{
	struct word all = text_of(text), name;
	struct parser p = { .arena = a, .e = e, .text = text, .start = all.s,
			    .len = all.len };

	if (!tacho_synth_name(text, &name.s, &name.len)) {
		error_form(&p);
		return NULL;
	}
	if (!is_good_name(name)) {
		error_at(&p, name, "Illegal name");
		return NULL;
	}
	p.synth = tacho_arena_alloc(a, sizeof(*p.synth));
	if (!p.synth) {
		tacho_cmd_no_memory(p.e);
		return NULL;
	}
	p.synth->fixed_size = sizeof(struct tacho_common);
	p.synth->name = tacho_arena_strndup(a, name.s, name.len);
	if (!p.synth->name) {
		tacho_cmd_no_memory(p.e);
		return NULL;
	}
	all.s += name.len;
	all.len -= name.len;
	if (parse_fields(&p, all) || make_type(&p))
		return NULL;
	return p.synth;
}

void tacho_synth_print(const struct tacho_synth *synth, struct tacho_buf *out)
{
	tacho_buf_puts(out, synth->name);
	for (uint32_t i = 0; i < synth->nr_fields; i++) {
		tacho_buf_puts(out, i ? "; " : "\t");
		tacho_buf_puts(out, synth->field[i].type);
		tacho_buf_putc(out, ' ');
		tacho_buf_puts(out, synth->field[i].name);
	}
}

int tacho_synth_find(const struct tacho_synth *synth, const char *name)
{
	for (uint32_t i = 0; i < synth->nr_fields; i++)
		if (!strcmp(synth->field[i].name, name))
			return (int)i;
	return -1;
}

/* ---- raw events ---- */

/* The part of v's text that fits in room bytes, NUL included. */
static struct word text_value(const struct tacho_synth_value *v, uint32_t room)
{
	static const char none[] = "(null)";
	struct word w = { v->data, v->len };

	if (!w.s)
		w = (struct word){ none, sizeof(none) - 1 };
	w.len = strnlen(w.s, w.len < room - 1 ? w.len : room - 1);
	return w;
}

static void put_number(unsigned char *to, uint32_t size, uint64_t v)
{
	switch (size) {
	case 1:
		*to = (unsigned char)v;
		break;
	case 2:
		tacho_put_u16(to, (uint16_t)v);
		break;
	case 4:
		tacho_put_u32(to, (uint32_t)v);
		break;
	default:
		tacho_put_u64(to, v);
		break;
	}
}

/* Stack traces: whole words, then a zero if there is room, so that readers find the end. */
static uint32_t stack_bytes(const struct tacho_synth_value *v)
{
	uint32_t len = v->data ? v->len & ~7u : 0;

	return len < TACHO_SYNTH_STRING_MAX ? len + 8 : TACHO_SYNTH_STRING_MAX;
}

/* Stores variable data at `at`; returns its length, or 0 if it does not fit. */
static uint32_t put_dynamic(const struct tacho_synth_field *f,
			    const struct tacho_synth_value *v,
			    unsigned char *raw, uint32_t at, uint32_t size)
{
	struct word w;
	uint32_t len;

	if (f->is_stack) {
		len = stack_bytes(v);
		w = (struct word){ v->data, v->data ? v->len & ~7u : 0 };
		if (w.len > len)
			w.len = len;
	} else {
		w = text_value(v, TACHO_SYNTH_STRING_MAX);
		len = (uint32_t)w.len + 1;
	}
	if (len > size - at)
		return 0;
	memset(raw + at, 0, len);
	if (w.len)
		memcpy(raw + at, w.s, w.len);
	tacho_put_u32(raw + f->offset, at | len << 16);
	return len;
}

uint32_t tacho_synth_raw(const struct tacho_synth *synth, int32_t pid,
			 const struct tacho_synth_value *value,
			 unsigned char *raw, uint32_t size)
{
	struct tacho_common common = { .pid = pid };
	uint32_t at = synth->fixed_size;

	if (at > size)
		return 0;
	memset(raw, 0, at);
	memcpy(raw, &common, sizeof(common));
	for (uint32_t i = 0; i < synth->nr_fields; i++) {
		const struct tacho_synth_field *f = &synth->field[i];

		if (f->is_dynamic) {
			uint32_t len = put_dynamic(f, &value[i], raw, at, size);

			if (!len)
				return 0;
			at += len;
		} else if (f->is_string) {
			struct word w = text_value(&value[i], f->size);

			if (w.len)
				memcpy(raw + f->offset, w.s, w.len);
		} else {
			put_number(raw + f->offset, f->size, value[i].number);
		}
	}
	return at;
}
