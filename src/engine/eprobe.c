// SPDX-License-Identifier: MIT
/*
 * Definitions of event probes, and their raw events.  The accepted texts and the messages are
 * those of kernel 6.12; see tests/engine/test_eprobe.c.
 */
#include "engine/eprobe.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/scan.h"
#include "engine/names.h"
#include "event/value.h"
#include "tacho/abi/record.h"

#define NAME_ROOM	(8 + sizeof("arg128"))
#define NO_VARIABLE	"Invalid $-variable specified"
#define NO_TYPE		"Unknown type is specified"
#define BAD_FETCH	"Invalid fetch argument"

struct slice {
	const char *s;
	size_t len;
};

struct parser {
	struct tacho_arena *arena;
	struct tacho_cmd_error *e;
	const char *text;
	struct tacho_eprobe *ep;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool next_word(const char **at, struct slice *w)
{
	while (is_blank(**at))
		++*at;
	w->s = *at;
	while (**at && !is_blank(**at))
		++*at;
	w->len = (size_t)(*at - w->s);
	return w->len > 0;
}

static bool is(struct slice p, const char *s)
{
	return p.len == strlen(s) && !memcmp(p.s, s, p.len);
}

static struct slice from(struct slice p, size_t n)
{
	return (struct slice){ p.s + n, p.len - n };
}

static int bad(const struct parser *p, const char *at, const char *why)
{
	return tacho_cmd_error(p->e, -EINVAL, (uint32_t)(at - p->text), "%s", why);
}

/* Scans all of p as a number: decimal, 0x hexadecimal, 0 octal; with a sign. */
static bool number(struct slice p, uint64_t *v)
{
	bool minus = p.len && *p.s == '-';

	if (p.len && (*p.s == '-' || *p.s == '+'))
		p = from(p, 1);
	if (!tacho_scan_whole(p.s, p.len, 0, v))
		return false;
	*v = minus ? -*v : *v;
	return true;
}

bool tacho_eprobe_base(const char *text, const char **event, size_t *system_len,
		       size_t *event_len)
{
	const char *at = text;
	struct slice w;
	const char *dot;

	if (!next_word(&at, &w) || w.s != text)
		return false;
	dot = memchr(w.s, '/', w.len);
	dot = dot ? dot : memchr(w.s, '.', w.len);
	if (!dot)
		return false;
	*event = dot + 1;
	*system_len = (size_t)(dot - w.s);
	*event_len = w.len - *system_len - 1;
	return *system_len && *event_len;
}

/* ---- TYPE ---- */

static int bit_field(struct parser *p, struct slice t, struct tacho_eprobe_arg *arg)
{
	const char *at = memchr(t.s, '@', t.len), *slash = memchr(t.s, '/', t.len);
	uint64_t width, bit, size;

	if (!slash || !number(from(t, (size_t)(slash + 1 - t.s)), &size) ||
	    (size != 8 && size != 16 && size != 32 && size != 64))
		return bad(p, t.s, NO_TYPE);
	if (!at || at > slash ||
	    !number((struct slice){ t.s + 1, (size_t)(at - t.s) - 1 }, &width) ||
	    !number((struct slice){ at + 1, (size_t)(slash - at) - 1 }, &bit) ||
	    !width || width > size || bit > size - width)
		return bad(p, t.s, "Invalid bitfield");
	arg->size = (uint8_t)(size / 8);
	arg->width = (uint8_t)width;
	arg->shift = (uint8_t)bit;
	arg->letter = 'u';
	return 0;
}

/* u8..u64, s8.., x8..; false: none of these. */
static bool plain_type(struct slice t, struct tacho_eprobe_arg *arg)
{
	uint64_t bits;

	if (t.len < 2 || !memchr("usx", *t.s, 3) || t.s[1] == '0' ||
	    t.s[1] == '+' || t.s[1] == '-' || !number(from(t, 1), &bits) ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return false;
	arg->letter = *t.s;
	arg->size = (uint8_t)(bits / 8);
	arg->is_signed = *t.s == 's';
	return true;
}

static int parse_type(struct parser *p, struct slice t, struct tacho_eprobe_arg *arg)
{
	bool is_field = arg->from == TACHO_EPROBE_FIELD;

	if (memchr(t.s, '[', t.len)) {
		bool text = t.len > 6 && memmem(t.s, t.len, "string[", 7);

		return bad(p, t.s, !arg->deref && is_field && !text ?
			   "String accepts only memory argument" :
			   "An array can only be fetched by the kernel");
	}
	arg->is_string = is(t, "string") || is(t, "ustring");
	arg->user |= is(t, "ustring");
	if (is(t, "symstr"))
		return bad(p, t.s, is_field ? "A symbol's text can only be fetched by the kernel" :
			   "Symbol String doesn't accept data/userdata");
	if (arg->is_string)
		return 0;
	if (arg->from == TACHO_EPROBE_TEXT)
		return bad(p, t.s, "$comm and immediate-string only accepts string type");
	if (is(t, "char")) {
		arg->letter = 'c';
		arg->size = 1;
		return 0;
	}
	if (is(t, "symbol")) {
		arg->is_symbol = true;
		return 0;
	}
	if (plain_type(t, arg))
		return 0;
	return t.len > 1 && *t.s == 'b' ? bit_field(p, t, arg) : bad(p, t.s, NO_TYPE);
}

/* ---- FETCH ---- */

static bool is_text(const struct tacho_field *f)
{
	return f->flags & TACHO_FIELD_STRING && f->kind != TACHO_FIELD_SCALAR;
}

/* Finds a field of the event itself; common fields are the tracer's. */
static const struct tacho_field *own_field(const struct tacho_type *type, struct slice w)
{
	for (uint32_t i = type->nr_common; i < type->nr_fields; i++)
		if (is(w, type->fields[i].name))
			return &type->fields[i];
	return NULL;
}

static int variable(struct parser *p, struct slice f, struct tacho_eprobe_arg *arg)
{
	struct slice name = from(f, 1);

	arg->field = own_field(p->ep->base, name);
	if (arg->field)
		return 0;
	arg->from = TACHO_EPROBE_COMM;
	return is(name, "comm") || is(name, "COMM") ? 0 : bad(p, f.s, NO_VARIABLE);
}

static int immediate(struct parser *p, struct slice f, struct tacho_eprobe_arg *arg)
{
	arg->from = TACHO_EPROBE_NUMBER;
	if (f.len < 3 || f.s[1] != '"')
		return number(from(f, 1), &arg->number) ? 0 :
		       bad(p, f.s + 1, "Invalid immediate value");
	arg->from = TACHO_EPROBE_TEXT;
	arg->text = tacho_arena_strndup(p->arena, f.s + 2, f.len - 3);
	return arg->text ? 0 : tacho_cmd_no_memory(p->e);
}

static int simple(struct parser *p, struct slice f, struct tacho_eprobe_arg *arg)
{
	if (f.len && *f.s == '$')
		return variable(p, f, arg);
	if (f.len > 1 && *f.s == '\\')
		return immediate(p, f, arg);
	return bad(p, f.s, f.len && *f.s == '@' ?
		   "Memory at an address can only be fetched by the kernel" : BAD_FETCH);
}

/*
 * +|-[u]OFFSET(..): a single one, because the memory of a second one is no longer available when
 * the record is processed.
 */
static int dereference(struct parser *p, struct slice f, struct tacho_eprobe_arg *arg)
{
	const char *open = memchr(f.s, '(', f.len);
	size_t skip = 1 + (f.len > 1 && f.s[1] == 'u');
	struct slice inner;
	uint64_t offset;
	int err;

	if (!open || f.s[f.len - 1] != ')')
		return bad(p, f.s, "Dereference needs a brace");
	if (!number((struct slice){ f.s + skip, (size_t)(open - f.s) - skip }, &offset))
		return bad(p, f.s, "Invalid dereference offset");
	arg->user = skip > 1;
	arg->offset = *f.s == '-' ? -(int64_t)offset : (int64_t)offset;
	inner = (struct slice){ open + 1, f.len - (size_t)(open - f.s) - 2 };
	if (inner.len && (*inner.s == '+' || *inner.s == '-'))
		return bad(p, inner.s, "Only the kernel can fetch memory at a fetched address");
	err = simple(p, inner, arg);
	if (!err && (arg->from == TACHO_EPROBE_COMM || arg->from == TACHO_EPROBE_TEXT))
		return bad(p, inner.s, "$comm can not be dereferenced");
	arg->deref = true;
	return err;
}

/* The length up to the colon before the type; colons in a string are skipped. */
static size_t fetch_len(struct slice body)
{
	size_t quoted = body.len > 2 && body.s[0] == '\\' && body.s[1] == '"' ? 2 : 0;
	const char *end = quoted ? memchr(body.s + 2, '"', body.len - 2) : body.s;
	const char *colon = end ? memchr(end, ':', body.len - (size_t)(end - body.s)) : NULL;

	return colon ? (size_t)(colon - body.s) : body.len;
}

static int parse_body(struct parser *p, struct slice body, struct tacho_eprobe_arg *arg)
{
	size_t n = fetch_len(body);
	struct slice f = { body.s, n };
	int err;

	*arg = (struct tacho_eprobe_arg){
		.name = arg->name, .from = TACHO_EPROBE_FIELD, .size = 8, .letter = 'x',
	};
	err = n && (*f.s == '+' || *f.s == '-') ? dereference(p, f, arg) : simple(p, f, arg);
	if (!err && n < body.len)
		err = parse_type(p, from(body, n + 1), arg);
	if (!err && arg->deref && !arg->is_string && !(arg->field && is_text(arg->field)))
		err = bad(p, f.s, "Memory can only be fetched as a string");
	return err;
}

/* ---- the whole ---- */

static char *make_name(struct tacho_arena *a, uint32_t number)
{
	char name[NAME_ROOM] = "arg", digits[8];
	size_t n = 0, at = 3;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		name[at++] = digits[--n];
	return tacho_arena_strndup(a, name, at);
}

static bool is_used(const struct parser *p, const char *name)
{
	const struct tacho_type *base = p->ep->base;

	for (uint32_t i = 0; i < p->ep->nr_args; i++)
		if (!strcmp(p->ep->arg[i].name, name))
			return true;
	for (uint32_t i = 0; i < base->nr_common; i++)
		if (!strcmp(base->fields[i].name, name))
			return true;
	return false;
}

/* Bytes that an argument may take after the fixed part. */
static uint32_t string_room(const struct tacho_eprobe_arg *arg)
{
	if (!arg->is_string)
		return 0;
	if (arg->from == TACHO_EPROBE_COMM)
		return 16 + 1;
	if (arg->from == TACHO_EPROBE_FIELD && arg->field->kind == TACHO_FIELD_ARRAY &&
	    is_text(arg->field) && arg->field->size < TACHO_EPROBE_STRING_MAX)
		return arg->field->size + 16;
	return TACHO_EPROBE_STRING_MAX;
}

static int parse_arg(struct parser *p, struct slice w)
{
	struct tacho_eprobe_arg *arg = &p->ep->arg[p->ep->nr_args];
	const char *equals = memchr(w.s, '=', w.len);
	struct slice body = equals ? from(w, (size_t)(equals + 1 - w.s)) : w;
	int err;

	if (p->ep->nr_args == TACHO_EPROBE_ARGS_MAX)
		return bad(p, w.s, "Too many arguments are specified");
	arg->name = equals ? tacho_arena_strndup(p->arena, w.s, (size_t)(equals - w.s)) :
			     make_name(p->arena, p->ep->nr_args + 1);
	if (!arg->name)
		return tacho_cmd_no_memory(p->e);
	if (is_used(p, arg->name))
		return bad(p, w.s, "This argument name is already used");
	err = parse_body(p, body, arg);
	if (err)
		return err;
	arg->at = p->ep->fixed_size;
	p->ep->fixed_size += arg->is_string ? 4 : arg->size;
	p->ep->most += string_room(arg);
	p->ep->nr_args++;
	return 0;
}

static int parse_filter(struct parser *p, const char *at, const char *end)
{
	size_t len;

	while (is_blank(*at))
		at++;
	for (len = strlen(at); len && is_blank(at[len - 1]); len--)
		;
	if (!len)
		return bad(p, end, "No filter rule after 'if'");
	p->ep->filter_column = (uint32_t)(at - p->text);
	p->ep->filter = tacho_arena_strndup(p->arena, at, len);
	return p->ep->filter ? 0 : tacho_cmd_no_memory(p->e);
}

static int parse_words(struct parser *p)
{
	const char *at = p->text;
	struct slice w;
	int err = 0;

	(void)next_word(&at, &w);
	while (!err && next_word(&at, &w)) {
		if (is(w, "if"))
			return parse_filter(p, at, w.s + w.len);
		err = parse_arg(p, w);
	}
	return err;
}

static uint32_t count_words(const char *text)
{
	struct slice w;
	uint32_t n = 0;

	while (next_word(&text, &w))
		n++;
	return n < TACHO_EPROBE_ARGS_MAX ? n : TACHO_EPROBE_ARGS_MAX;
}

/* ---- its type ---- */

static void write_field(const struct tacho_eprobe_arg *arg, struct tacho_buf *out)
{
	tacho_buf_puts(out, "\tfield:");
	if (arg->is_string) {
		tacho_buf_puts(out, "__data_loc char[]");
	} else {
		tacho_buf_putc(out, arg->is_signed ? 's' : 'u');
		tacho_buf_put_u64(out, arg->size * 8u);
	}
	tacho_buf_putc(out, ' ');
	tacho_buf_puts(out, arg->name);
	tacho_buf_puts(out, ";\toffset:");
	tacho_buf_put_u64(out, arg->at);
	tacho_buf_puts(out, ";\tsize:");
	tacho_buf_put_u64(out, arg->is_string ? 4 : arg->size);
	tacho_buf_puts(out, ";\tsigned:");
	tacho_buf_putc(out, arg->is_signed || arg->is_string ? '1' : '0');
	tacho_buf_puts(out, ";\n");
}

static void write_conversion(const struct tacho_eprobe_arg *arg, struct tacho_buf *out)
{
	static const char *const wide[] = { "%Lu", "%Ld", "0x%Lx" },
			  *const narrow[] = { "%u", "%d", "0x%x" };
	int i = arg->letter == 'u' ? 0 : arg->letter == 's' ? 1 : 2;

	tacho_buf_puts(out, arg->is_string ? "\\\"%s\\\"" : arg->is_symbol ? "%pS" :
		       arg->letter == 'c' ? "'%c'" : arg->size == 8 ? wide[i] : narrow[i]);
}

static void write_print_fmt(const struct tacho_eprobe *ep, struct tacho_buf *out)
{
	tacho_buf_puts(out, "\nprint fmt: \"");
	for (uint32_t i = 0; i < ep->nr_args; i++) {
		tacho_buf_putc(out, ' ');
		tacho_buf_puts(out, ep->arg[i].name);
		tacho_buf_putc(out, '=');
		write_conversion(&ep->arg[i], out);
	}
	tacho_buf_putc(out, '"');
	for (uint32_t i = 0; i < ep->nr_args; i++) {
		tacho_buf_puts(out, ep->arg[i].is_string ? ", __get_str(" : ", REC->");
		tacho_buf_puts(out, ep->arg[i].name);
		if (ep->arg[i].is_string)
			tacho_buf_putc(out, ')');
	}
	tacho_buf_putc(out, '\n');
}

/* An upper bound of the size of the `format` text. */
static size_t format_room(const struct tacho_eprobe *ep)
{
	size_t room = sizeof(TACHO_COMMON_FIELDS) + 64;

	for (uint32_t i = 0; i < ep->nr_args; i++)
		room += 3 * strlen(ep->arg[i].name) + 160;
	return room;
}

static int make_type(struct parser *p, const char *group, const char *name)
{
	struct tacho_eprobe *ep = p->ep;
	size_t room = format_room(ep);
	/* a full buffer sets its error; the memory is the arena's */
	struct tacho_buf out = {
		.data = tacho_arena_alloc(p->arena, room), .room = room, .cap = room,
	};

	if (!out.data)
		return tacho_cmd_no_memory(p->e);
	tacho_buf_puts(&out, TACHO_COMMON_FIELDS);
	for (uint32_t i = 0; i < ep->nr_args; i++)
		write_field(&ep->arg[i], &out);
	write_print_fmt(ep, &out);
	if (!tacho_buf_error(&out))
		ep->type = p->arena->fixed ?
			tacho_type_parse_fields(p->arena, group, name, 0, out.data, out.len,
						NULL) :
			tacho_type_parse(p->arena, group, name, 0, out.data, out.len, NULL);
	return ep->type ? 0 : tacho_cmd_no_memory(p->e);
}

struct tacho_eprobe *tacho_eprobe_parse(struct tacho_arena *a, const char *group,
					const char *name, const char *text,
					const struct tacho_type *base,
					struct tacho_cmd_error *e)
{
	struct parser p = { .arena = a, .e = e, .text = text };

	p.ep = tacho_arena_alloc(a, sizeof(*p.ep));
	if (!p.ep) {
		tacho_cmd_no_memory(p.e);
		return NULL;
	}
	p.ep->base = base;
	p.ep->fixed_size = sizeof(struct tacho_common);
	p.ep->arg = tacho_arena_array(a, count_words(text) + 1, sizeof(*p.ep->arg));
	if (!p.ep->arg) {
		tacho_cmd_no_memory(p.e);
		return NULL;
	}
	if (parse_words(&p) || make_type(&p, group, name))
		return NULL;
	p.ep->most += p.ep->fixed_size;
	if (p.ep->most > TACHO_EPROBE_RAW_MAX)
		p.ep->most = TACHO_EPROBE_RAW_MAX;
	return p.ep;
}

void tacho_eprobe_print(const char *text, struct tacho_buf *out)
{
	const char *at = text, *event;
	size_t system, len;
	uint32_t n = 0;
	struct slice w;

	if (!tacho_eprobe_base(text, &event, &system, &len))
		return;
	tacho_buf_put(out, text, system);
	tacho_buf_putc(out, '.');
	tacho_buf_put(out, event, len);
	(void)next_word(&at, &w);
	while (next_word(&at, &w) && !is(w, "if")) {
		n++;
		tacho_buf_putc(out, ' ');
		if (!memchr(w.s, '=', w.len)) {
			tacho_buf_puts(out, "arg");
			tacho_buf_put_u64(out, n);
			tacho_buf_putc(out, '=');
		}
		tacho_buf_put(out, w.s, w.len);
	}
}

/* ---- raw events ---- */

/* A fetched value: a number, or len bytes at data. */
struct value {
	uint64_t number;
	const unsigned char *data;
	size_t len;
	char comm[16];
};

/* Loads a number as the kernel does: by the field's size; 8 bytes if the field is not a number. */
static uint64_t load_field(const struct tacho_field *f, const struct tacho_rec *rec)
{
	uint32_t size = f->size == 1 || f->size == 2 || f->size == 4 ? f->size : 8;

	if (f->offset > rec->len || size > rec->len - f->offset)
		return 0;
	return tacho_value_load(rec->raw + f->offset, size, f->flags & TACHO_FIELD_SIGNED);
}

static void fetch(const struct tacho_eprobe_arg *arg, const struct tacho_rec *rec,
		  struct value *v)
{
	const struct tacho_names *names = rec->names;

	*v = (struct value){ .number = arg->number };
	if (arg->from == TACHO_EPROBE_COMM) {
		if (names->comm && names->comm(names->arg, rec->pid, v->comm)) {
			v->data = (const unsigned char *)v->comm;
			v->len = sizeof(v->comm);
		}
	} else if (arg->from == TACHO_EPROBE_TEXT) {
		v->data = (const unsigned char *)arg->text;
		v->len = strlen(arg->text);
	} else if (arg->from == TACHO_EPROBE_FIELD && is_text(arg->field)) {
		v->data = tacho_field_data(arg->field, rec->raw, rec->len, &v->len);
	} else if (arg->from == TACHO_EPROBE_FIELD) {
		v->number = load_field(arg->field, rec);
	}
	if (arg->deref && v->data) {
		bool inside = arg->offset >= 0 && (uint64_t)arg->offset < v->len;

		v->data = inside ? v->data + arg->offset : NULL;
		v->len -= inside ? (size_t)arg->offset : v->len;
	} else if (arg->deref) {
		v->number += (uint64_t)arg->offset;
	}
}

/* The number in memory at the start of a string's bytes, which may be too few. */
static uint64_t number_of(const struct tacho_eprobe_arg *arg, const struct value *v)
{
	unsigned char bytes[8] = { 0 };
	uint64_t n = v->number;

	if (arg->deref && v->data) {
		memcpy(bytes, v->data, v->len < arg->size ? v->len : arg->size);
		n = tacho_value_load(bytes, arg->size, false);
	}
	if (!arg->width)
		return n;
	return n >> arg->shift & (UINT64_MAX >> (64 - arg->width));
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

/* Copies the string in memory at v->number, up to room bytes; -1: it cannot be read. */
static long memory_string(const struct tacho_eprobe_arg *arg, const struct tacho_rec *rec,
			  const struct value *v, char *to, size_t room)
{
	const struct tacho_names *names = rec->names;

	if (arg->from == TACHO_EPROBE_FIELD && is_text(arg->field))
		return -1;
	if (arg->user || (int64_t)v->number >= 0)
		return names->user_string ?
		       names->user_string(names->arg, rec->pid, v->number, to, room) : -1;
	return names->kernel_string ?
	       names->kernel_string(names->arg, v->number, to, room) : -1;
}

/* Stores the text of arg at `at`; returns its length with the NUL, or 0 if it does not fit. */
static uint32_t put_string(const struct tacho_eprobe_arg *arg, const struct tacho_rec *rec,
			   const struct value *v, unsigned char *raw, uint32_t at,
			   uint32_t size)
{
	static const char fault[] = "(fault)";
	/* data in the record is not a string of user memory */
	bool data = v->data && !(arg->user && arg->from == TACHO_EPROBE_FIELD);
	size_t room = size - at;
	long n;

	if (room < sizeof(fault))
		return 0;
	room = room < TACHO_EPROBE_STRING_MAX ? room : TACHO_EPROBE_STRING_MAX;
	if (data) {
		n = (long)strnlen((const char *)v->data, v->len < room - 1 ? v->len : room - 1);
		memcpy(raw + at, v->data, (size_t)n);
	} else {
		n = memory_string(arg, rec, v, (char *)raw + at, room - 1);
	}
	if (n < 0) {
		n = sizeof(fault) - 1;
		memcpy(raw + at, fault, sizeof(fault));
	}
	raw[at + (size_t)n] = '\0';
	return (uint32_t)n + 1;
}

uint32_t tacho_eprobe_raw(const struct tacho_eprobe *ep, const struct tacho_rec *rec,
			  unsigned char *raw, uint32_t size)
{
	uint32_t at = ep->fixed_size;
	struct value v;

	if (at > size || rec->len < sizeof(struct tacho_common))
		return 0;
	memcpy(raw, rec->raw, sizeof(struct tacho_common));
	for (uint32_t i = 0; i < ep->nr_args; i++) {
		const struct tacho_eprobe_arg *arg = &ep->arg[i];
		uint32_t len;

		fetch(arg, rec, &v);
		if (!arg->is_string) {
			put_number(raw + arg->at, arg->size, number_of(arg, &v));
			continue;
		}
		len = put_string(arg, rec, &v, raw, at, size);
		tacho_put_u32(raw + arg->at, len ? at | len << 16 : 0);
		at += len;
	}
	return at;
}
