// SPDX-License-Identifier: MIT
/* probe_arg.c - arguments of probes: registers, memory, constants, and types. */
#include "tracefs/probe_arg.h"
#include "base/scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEREF_MAX	14u	/* maximum of the kernel's program */
#define STACK_MAX	2048u	/* entries of a kernel stack */
#define ARRAY_MAX	64u
#define ENTRY_MAX	16	/* bytes that may come before a function's code */

struct fetch {
	const struct tacho_probe_spec *spec;
	const char *text;
	struct tacho_diag *d;
	/* what a string can be made of */
	bool memory;		/* a dereference, or an address */
	bool text_itself;	/* $comm or an immediate string */
	bool named;		/* by BTF: the kernel knows its type */
	unsigned int derefs;
};

static int bad(const struct fetch *f, const char *where, const char *why)
{
	return tacho_diag(f->d, -EINVAL, (uint64_t)(where - f->text), "%s", why);
}

static bool is(const char *s, size_t len, const char *what)
{
	return strlen(what) == len && !memcmp(s, what, len);
}

static bool begins(const char *s, size_t len, const char *what)
{
	return strlen(what) <= len && !memcmp(s, what, strlen(what));
}

static bool in_program(const struct fetch *f)
{
	return f->spec->place == TACHO_PROBE_FILE;
}

/* A number of all len bytes, maybe with a sign, as the kernel reads it. */
static bool number(const char *s, size_t len, int64_t *v)
{
	bool plus = len && *s == '+';
	uint64_t n;

	if (!tacho_scan_whole(s + plus, len - plus, len && *s == '-' ? TACHO_SCAN_MINUS : 0, &n))
		return false;
	*v = (int64_t)n;
	return true;
}

static bool decimal(const char *s, size_t len, uint64_t *v)
{
	const char *end = s + len;

	return len <= 10 && !tacho_scan_digits(&s, end, 10, UINT64_MAX, v) && s == end;
}

/* ---- FETCH ---- */

static bool good_register(const char *s, size_t len)
{
#if defined(__x86_64__)
	static const char *const names[] = {
		"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8",
		"ax", "cx", "dx", "si", "di", "orig_ax", "ip", "cs", "flags",
		"sp", "ss",
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++)
		if (is(s, len, names[i]))
			return true;
	return false;
#elif defined(__aarch64__)
	uint64_t n;

	if (is(s, len, "sp") || is(s, len, "lr") || is(s, len, "pc") ||
	    is(s, len, "pstate"))
		return true;
	return len > 1 && s[0] == 'x' && decimal(s + 1, len - 1, &n) && n <= 30;
#else
	/* the kernel knows */
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return len;
#endif
}

/* NAME, NAME->MEMBER, NAME.MEMBER of BTF. */
static int named_value(struct fetch *f, const char *s, size_t len)
{
	size_t i = 0;

	f->named = true;
	while (i < len) {
		size_t begin = i;

		while (i < len && (isalnum((unsigned char)s[i]) || s[i] == '_'))
			i++;
		if (i == begin)
			return bad(f, s + i, "Invalid fetch argument");
		if (i == len)
			break;
		if (s[i] == '.') {
			i++;
		} else if (s[i] == '-') {
			if (i + 1 >= len || s[i + 1] != '>')
				return bad(f, s + i, "Failed to parse single "
					   "hyphen. Forgot '>'?");
			i += 2;
		} else {
			return bad(f, s + i, "Invalid fetch argument");
		}
		if (i == len)
			return bad(f, s + i, "This field is not found.");
	}
	return 0;
}

/* (STRUCT)FIELD->MEMBER, of an event. */
static int cast_value(struct fetch *f, const char *s, size_t len)
{
	const char *close = memchr(s, ')', len);
	size_t n;

	if (!close || close == s + 1)
		return bad(f, s, "Invalid fetch argument");
	n = (size_t)(close + 1 - s);
	if (n < len && s[n] == '$')
		n++;
	return n < len ? named_value(f, s + n, len - n)
		       : bad(f, s + n, "Invalid fetch argument");
}

/* After '$', of an event that a probe is attached to. */
static int event_variable(struct fetch *f, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return bad(f, s - 1, "Invalid $-variable specified");
	if (!len)
		return bad(f, s - 1, "Invalid $-variable specified");
	/* only the kernel knows whether the field is a string */
	f->named = true;
	return 0;
}

static int argument_variable(struct fetch *f, const char *s, size_t len)
{
	uint64_t n;

	if (is(s, len, "arg*"))
		/* means all arguments, and so has no name */
		return in_program(f) || (s - 1 > f->text && s[-2] == '=') ?
			bad(f, s - 1, "Invalid $-variable specified") : 0;
	if (in_program(f) || (f->spec->place == TACHO_PROBE_SYMBOL &&
			      f->spec->offset > ENTRY_MAX))
		return bad(f, s - 1, "$arg* can be used only on function entry "
			   "or exit");
	if (!decimal(s + 3, len - 3, &n))
		return bad(f, s - 1, "Invalid $-variable specified");
	if (!n || n > STACK_MAX)
		return bad(f, s - 1, "Invalid argument number");
	return 0;
}

/* After '$'. */
static int variable(struct fetch *f, const char *s, size_t len)
{
	uint64_t n;

	/* an event may have a field of that name */
	if (f->spec->kind == 'e')
		return event_variable(f, s, len);
	if (is(s, len, "comm") || is(s, len, "COMM")) {
		f->text_itself = true;
		return 0;
	}
	if (is(s, len, "retval") ||
	    (!in_program(f) && begins(s, len, "retval") &&
	     (s[6] == '-' || s[6] == '.'))) {
		if (!f->spec->on_return)
			return bad(f, s - 1,
				   "$retval is not available on probe");
		return len == 6 ? 0 : named_value(f, s, len);
	}
	if (is(s, len, "stack"))
		return 0;
	if (begins(s, len, "stack")) {
		if (!decimal(s + 5, len - 5, &n))
			return bad(f, s - 1, "Invalid $-variable specified");
		if (!in_program(f) && n > STACK_MAX)
			return bad(f, s - 1, "Invalid stack number");
		return 0;
	}
	if (begins(s, len, "arg"))
		return argument_variable(f, s, len);
	return bad(f, s - 1, "Invalid $-variable specified");
}

/* After '@'. */
static int address(struct fetch *f, const char *s, size_t len)
{
	size_t n = 0;
	int64_t v;

	f->memory = true;
	if (!len && !in_program(f))
		return bad(f, s - 1, "Invalid memory address");
	if (len && isdigit((unsigned char)*s)) {
		if (!number(s, len, &v))
			return bad(f, s - 1, "Invalid memory address");
		return 0;
	}
	if (len && *s == '+') {
		if (!in_program(f))
			return bad(f, s - 1,
				   "File offset is not available with kprobe");
		if (!number(s + 1, len - 1, &v))
			return bad(f, s - 1, "Invalid file offset value");
		return 0;
	}
	if (in_program(f))
		return bad(f, s - 1, "Symbol is not available with uprobe");
	while (n < len && s[n] != '+' && s[n] != '-')
		n++;
	if (!n || (n < len && !number(s + n, len - n, &v)))
		return bad(f, s - 1, "Invalid memory address");
	return 0;
}

/* After '\'. */
static int immediate(struct fetch *f, const char *s, size_t len)
{
	int64_t v;

	if (len && *s == '"') {
		if (len < 2 || s[len - 1] != '"')
			return bad(f, s + len, "String is not closed with '\"'");
		f->text_itself = true;
		return 0;
	}
	if (!number(s, len, &v))
		return bad(f, s, "Invalid immediate value");
	/* a string may be there */
	f->memory = true;
	return 0;
}

static int parse_fetch(struct fetch *f, const char *s, size_t len);

/* [+-][u]OFFSET(FETCH) */
static int dereference(struct fetch *f, const char *s, size_t len)
{
	const char *open = memchr(s, '(', len), *close = memrchr(s, ')', len);
	size_t skip = 1 + (len > 1 && s[1] == 'u');
	int64_t v;
	int ret;

	if (!open)
		return bad(f, s, "Dereference needs a brace");
	/* "+-4(" is "-4(" */
	if (!number(s + skip, (size_t)(open - s) - skip, &v) ||
	    s[skip] == '+' || (*s == '-' && s[skip] == '-'))
		return bad(f, s, "Invalid dereference offset");
	if (!close || close < open)
		return bad(f, s + len, "Dereference brace is not closed");
	if (close + 1 != s + len)
		return bad(f, close + 1, "Invalid fetch argument");
	/* the body's length bounds the depth */
	ret = parse_fetch(f, open + 1, (size_t)(close - open) - 1);
	if (ret)
		return ret;
	if (++f->derefs > DEREF_MAX)
		return bad(f, open + 1, "Dereference is too much nested");
	if (f->text_itself)
		return bad(f, open + 1, "$comm can not be dereferenced");
	f->memory = true;
	f->named = false;
	return 0;
}

static int parse_fetch(struct fetch *f, const char *s, size_t len)
{
	if (!len)
		return bad(f, s, "Invalid fetch argument");
	switch (*s) {
	case '$':
		return variable(f, s + 1, len - 1);
	case '%':
		if (strchr("eft", f->spec->kind))
			return bad(f, s, "Invalid fetch argument");
		if (!good_register(s + 1, len - 1))
			return bad(f, s, "Invalid register name");
		return 0;
	case '@':
		return address(f, s + 1, len - 1);
	case '+':
	case '-':
		return dereference(f, s, len);
	case '\\':
		return immediate(f, s + 1, len - 1);
	default:
		break;
	}
	if (f->spec->kind == 'e' && *s == '(')
		return cast_value(f, s, len);
	if (!isalpha((unsigned char)*s) && *s != '_')
		return bad(f, s, "Invalid fetch argument");
	if (in_program(f) || f->spec->kind == 'e')
		return bad(f, s, "BTF is not available or not supported");
	return named_value(f, s, len);
}

/* ---- TYPE ---- */

static bool is_string(const char *s, size_t len)
{
	return is(s, len, "string") || is(s, len, "ustring") ||
	       is(s, len, "symstr");
}

static bool plain_type(const char *s, size_t len)
{
	static const char *const other[] = {
		"char", "string", "ustring", "symbol", "symstr",
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(other); i++)
		if (is(s, len, other[i]))
			return true;
	if (len < 2 || !strchr("usx", s[0]))
		return false;
	return is(s + 1, len - 1, "8") || is(s + 1, len - 1, "16") ||
	       is(s + 1, len - 1, "32") || is(s + 1, len - 1, "64");
}

/* bWIDTH@BIT/SIZE */
static int bit_field(const struct fetch *f, const char *s, size_t len)
{
	const char *sign = memchr(s, '@', len), *slash = memchr(s, '/', len);
	int64_t width, bit, size;

	if (!slash || !number(slash + 1, len - (size_t)(slash + 1 - s), &size) ||
	    (size != 8 && size != 16 && size != 32 && size != 64))
		return bad(f, s, "Unknown type is specified");
	if (!sign || sign > slash ||
	    !number(s + 1, (size_t)(sign - s) - 1, &width) ||
	    !number(sign + 1, (size_t)(slash - sign) - 1, &bit) ||
	    width < 1 || bit < 0 || width > size || bit > size - width)
		return bad(f, s, "Invalid bitfield");
	return 0;
}

/* "[COUNT]" at open; the type ends with it. */
static int array(const struct fetch *f, const char *open, size_t len)
{
	const char *close = memchr(open, ']', len);
	int64_t n;

	if (!close)
		return bad(f, open + len, "Array is not closed");
	if (close + 1 != open + len)
		return bad(f, close + 1, "Array has wrong suffix");
	if (!number(open + 1, len - 2, &n) || n <= 0)
		return bad(f, open + 1, "Invalid array size");
	if (n > ARRAY_MAX)
		return bad(f, open + 1, "Array number is too big");
	return 0;
}

static int parse_type(const struct fetch *f, const char *s, size_t len)
{
	const char *open = memchr(s, '[', len);
	size_t base = open ? (size_t)(open - s) : len;
	int ret;

	if (is(s, len, "%pd") || is(s, len, "%pD"))
		return in_program(f) ? bad(f, s, "Unknown type is specified") : 0;
	if (open) {
		ret = array(f, open, len - base);
		if (ret)
			return ret;
	}
	if (base > 1 && *s == 'b')
		return bit_field(f, s, base);
	if (!plain_type(s, base) ||
	    (in_program(f) && (is(s, base, "symstr") || is(s, base, "symbol"))))
		return bad(f, s, "Unknown type is specified");
	if (f->text_itself && (open || !is_string(s, base)))
		return bad(f, s, "$comm and immediate-string only accepts string "
			   "type");
	if (is_string(s, base) && !f->memory && !f->text_itself && !f->named &&
	    !is(s, base, "symstr"))
		return bad(f, s, "String accepts only memory argument");
	if (open && !f->memory && !f->named)
		return bad(f, s, "String accepts only memory argument");
	return 0;
}

/* The colon before the type: none of those in a string or in brackets. */
static size_t fetch_len(const char *s, size_t len)
{
	const char *colon;

	if (len > 1 && s[0] == '\\' && s[1] == '"') {
		const char *quote = memchr(s + 2, '"', len - 2);

		if (!quote)
			return len;
		colon = memchr(quote, ':', len - (size_t)(quote - s));
	} else {
		colon = memchr(s, ':', len);
	}
	return colon ? (size_t)(colon - s) : len;
}

int kernel_probe_fetch(const struct tacho_probe_spec *spec, const char *text,
		       const char *body, size_t len, size_t *fetch,
		       struct tacho_diag *d)
{
	struct fetch f = { .spec = spec, .text = text, .d = d };
	int ret;

	if (len > TACHO_PROBE_FETCH_MAX)
		return bad(&f, body, "Argument expression is too long");
	if (!len)
		return bad(&f, body, "No argument expression");
	*fetch = fetch_len(body, len);
	ret = parse_fetch(&f, body, *fetch);
	if (ret || *fetch == len)
		return ret;
	return parse_type(&f, body + *fetch + 1, len - *fetch - 1);
}
