// SPDX-License-Identifier: MIT
#include "fmt/lkst/types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "event/type.h"
#include "fmt/lkst/record.h"

#define ARENA_MAX	((size_t)32 << 20)
#define UNKNOWN		"ETYPE_0x"

void lkst_types_init(struct lkst_types *t)
{
	memset(t, 0, sizeof(*t));
	tacho_arena_init(&t->arena, ARENA_MAX);
}

void lkst_types_release(struct lkst_types *t)
{
	tacho_arena_release(&t->arena);
	memset(t->of, 0, sizeof(t->of));
}

static bool is_c_name(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "0123456789";

	return *s && (*s < '0' || *s > '9') && !s[strspn(s, letters)];
}

int lkst_types_set(struct lkst_types *t, const struct lkst_type_text *type)
{
	const char *from[6] = { type->mnemonic, type->name, type->arg[0], type->arg[1],
				type->arg[2], type->arg[3] };
	const char *to[6];
	struct lkst_type_text *own;

	if (type->etype >= LKST_TYPES_NR || !is_c_name(type->mnemonic))
		return -EINVAL;
	own = tacho_arena_alloc(&t->arena, sizeof(*own));
	for (int i = 0; i < 6 && own; i++) {
		to[i] = tacho_arena_strndup(&t->arena, from[i], strlen(from[i]));
		if (!to[i])
			own = NULL;
	}
	if (!own)
		return -ENOMEM;
	*own = (struct lkst_type_text){ type->etype, to[0], to[1],
					{ to[2], to[3], to[4], to[5] } };
	t->of[type->etype] = own;
	return 0;
}

int lkst_types_add_type(struct lkst_types *t, const struct tacho_type *type, uint32_t etype)
{
	struct lkst_type_text text = { (uint16_t)etype, type->name, "", { "", "", "", "" } };
	struct tacho_buf b;
	int err;

	if (etype >= LKST_TYPES_NR || t->of[etype] || lkst_types_is_unknown(type->name))
		return 0;
	tacho_buf_init(&b, (size_t)1 << 18);
	if (lkst_record_texts(type->print_fmt, &b)) {
		text.name = b.data;
		for (int i = 0; i < 4; i++)
			text.arg[i] = i ? text.arg[i - 1] + strlen(text.arg[i - 1]) + 1 :
				      text.name + strlen(text.name) + 1;
	}
	err = lkst_types_set(t, &text);
	tacho_buf_release(&b);
	return err == -ENOMEM ? err : !err;
}

/* ---- text in ---- */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Replaces \ooo in a text, in place.  False: a backslash that is no such, or a NUL. */
static bool unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		unsigned int v;

		if (*s != '\\') {
			*to++ = *s;
			continue;
		}
		if (!is_octal(s[1]) || !is_octal(s[2]) || !is_octal(s[3]))
			return false;
		v = (unsigned int)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
		if (!v || v > 255)
			return false;
		*to++ = (char)v;
		s += 3;
	}
	*to = '\0';
	return true;
}

static bool number(const char *s, uint16_t *value)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	uint64_t v;

	s += hex ? 2 : 0;
	if (tacho_scan_digits(&s, NULL, hex ? 16 : 10, LKST_TYPES_NR - 1, &v) || *s)
		return false;
	*value = (uint16_t)v;
	return true;
}

/* What is wrong with a line, NUL after it, or NULL: type is what it says. */
static const char *line_parse(char *line, struct lkst_type_text *type)
{
	char *text[7];

	for (int i = 0; i < 7; i++) {
		char *tab = strchr(line, '\t');

		text[i] = line;
		line = tab ? tab + 1 : line + strlen(line);
		if (tab)
			*tab = '\0';
		if (!unescape(text[i]))
			return "a backslash without three octal digits";
	}
	if (*line)
		return "more than seven columns";
	if (!number(text[0], &type->etype))
		return "the first column is no number from 0x000 to 0xfff";
	if (!is_c_name(text[1]))
		return "the second column, the mnemonic, is no C name";
	type->mnemonic = text[1];
	type->name = text[2];
	for (int i = 0; i < 4; i++)
		type->arg[i] = text[3 + i];
	return NULL;
}

static int take_line(struct lkst_types *t, const char *s, size_t len, uint64_t nr,
		     bool strict, struct tacho_diag *d)
{
	struct lkst_type_text type;
	const char *why;
	char line[4096];
	int err;

	if (len && s[len - 1] == '\r')
		len--;
	if (!len || *s == '#')
		return 0;
	if (len >= sizeof(line) || memchr(s, '\0', len)) {
		why = "longer than 4095 bytes, or a NUL in it";
	} else {
		memcpy(line, s, len);
		line[len] = '\0';
		why = line_parse(line, &type);
	}
	if (why)
		return strict ? tacho_diag(d, -EINVAL, nr, "line %llu is no event type: %s",
					   (unsigned long long)nr, why) : 0;
	err = lkst_types_set(t, &type);
	return err ? tacho_diag(d, err, nr, "out of memory") : 0;
}

int lkst_types_parse(struct lkst_types *t, const char *text, size_t len, bool strict,
		     struct tacho_diag *d)
{
	uint64_t nr = 0;
	int err = 0;

	while (len && !err) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;

		err = take_line(t, text, n, ++nr, strict, d);
		n += nl ? 1 : 0;
		text += n;
		len -= n;
	}
	return err;
}

/* ---- text out ---- */

static void put_text(struct tacho_buf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 0x7f || c == '\\')
			tacho_buf_printf(out, "\\%03o", c);
		else
			tacho_buf_putc(out, (char)c);
	}
}

void lkst_types_put(struct tacho_buf *out, const struct lkst_type_text *type)
{
	tacho_buf_printf(out, "0x%03x\t%s\t", type->etype, type->mnemonic);
	put_text(out, type->name);
	for (int i = 0; i < 4; i++) {
		tacho_buf_putc(out, '\t');
		put_text(out, type->arg[i]);
	}
	tacho_buf_putc(out, '\n');
}

void lkst_types_text(const struct lkst_types *t, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < LKST_TYPES_NR; i++)
		if (t->of[i])
			lkst_types_put(out, t->of[i]);
}

/* ---- look-up ---- */

const struct lkst_type_text *lkst_types_find(const struct lkst_types *t,
					      const char *mnemonic)
{
	for (uint32_t i = 0; i < LKST_TYPES_NR; i++)
		if (t->of[i] && !strcmp(t->of[i]->mnemonic, mnemonic))
			return t->of[i];
	return NULL;
}

void lkst_types_unknown(struct lkst_type_text *type, uint32_t etype,
			char room[LKST_UNKNOWN_LEN])
{
	(void)snprintf(room, LKST_UNKNOWN_LEN, UNKNOWN "%03x", etype & 0xffff);
	*type = (struct lkst_type_text){ (uint16_t)etype, room, "", { "", "", "", "" } };
}

bool lkst_types_is_unknown(const char *mnemonic)
{
	return !strncmp(mnemonic, UNKNOWN, sizeof(UNKNOWN) - 1);
}
