// SPDX-License-Identifier: MIT
#include "base/scan.h"
#include "event/print_ast.h"

#include <string.h>

void tacho_lex_init(struct tacho_lex *l, const char *text, size_t len)
{
	*l = (struct tacho_lex){ .text = text, .len = len };
	tacho_lex_next(l);
}

static char at(const struct tacho_lex *l, size_t i)
{
	return i < l->len ? l->text[i] : '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One character, its escape resolved, at s[*i]; moves *i. */
static char unescape(const char *s, size_t len, size_t *i)
{
	static const char from[] = "abfnrtve";
	static const char to[] = "\a\b\f\n\r\t\v\033";
	char c = s[(*i)++];
	const char *p;
	unsigned int v = 0;

	if (c != '\\' || *i >= len)
		return c;
	c = s[(*i)++];
	if (c == 'x') {
		while (*i < len && hex_digit(s[*i]) >= 0)
			v = v * 16 + (unsigned int)hex_digit(s[(*i)++]);
		return (char)(v & 0xff);
	}
	if (c >= '0' && c <= '7') {
		v = (unsigned int)(c - '0');
		for (int n = 1; n < 3 && *i < len && s[*i] >= '0' &&
		     s[*i] <= '7'; n++)
			v = v * 8 + (unsigned int)(s[(*i)++] - '0');
		return (char)(v & 0xff);
	}
	p = c ? strchr(from, c) : NULL;
	return p ? to[p - from] : c;
}

size_t tacho_lex_unescape(const struct tacho_token *t, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->len;)
		out[n++] = unescape(t->s, t->len, &i);
	return n;
}

static void quoted(struct tacho_lex *l, char quote)
{
	struct tacho_token *t = &l->t;
	size_t i = l->pos + 1;

	t->s = l->text + i;
	while (i < l->len && l->text[i] != quote)
		i += l->text[i] == '\\' ? 2 : 1;
	if (i >= l->len) {
		t->kind = TOKEN_BAD;
		return;
	}
	t->len = (size_t)(l->text + i - t->s);
	l->pos = i + 1;
	t->kind = TOKEN_STRING;
	if (quote == '\'') {
		i = 0;
		t->kind = TOKEN_NUMBER;
		t->value = t->len ? (uint64_t)unescape(t->s, t->len, &i) : 0;
		t->size = 4;
		t->is_signed = true;
	}
}

/* The type of a constant, by C's rules for its base, value and suffix. */
static void number_type(struct tacho_token *t, unsigned int base, bool is_u,
			bool is_l)
{
	t->size = is_l || t->value > UINT32_MAX ? 8 : 4;
	t->is_signed = !is_u;
	if (is_u)
		return;
	if (t->size == 4 && t->value > INT32_MAX) {
		if (base == 10)
			t->size = 8;
		else
			t->is_signed = false;
	} else if (t->size == 8 && t->value > INT64_MAX) {
		t->is_signed = false;
	}
}

static void number(struct tacho_lex *l)
{
	struct tacho_token *t = &l->t;
	unsigned int base = 10;
	bool is_u = false, is_l = false;
	size_t i = l->pos;
	const char *s;

	if (at(l, i) == '0' && (at(l, i + 1) | 32) == 'x') {
		base = 16;
		i += 2;
	} else if (at(l, i) == '0') {
		base = 8;
	}
	t->kind = TOKEN_NUMBER;
	t->value = 0;
	s = l->text + i;
	(void)tacho_scan_digits(&s, l->text + l->len, base, UINT64_MAX, &t->value);
	i = (size_t)(s - l->text);
	for (;; i++) {
		if ((at(l, i) | 32) == 'u')
			is_u = true;
		else if ((at(l, i) | 32) == 'l')
			is_l = true;
		else
			break;
	}
	if (is_name_start(at(l, i)) || is_digit(at(l, i)) || at(l, i) == '.')
		t->kind = TOKEN_BAD;
	t->len = i - l->pos;
	l->pos = i;
	number_type(t, base, is_u, is_l);
}

static void operator(struct tacho_lex *l)
{
	static const char pairs[][3] = {
		"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
	};
	struct tacho_token *t = &l->t;
	char c = at(l, l->pos), next = at(l, l->pos + 1);

	t->kind = c && strchr("+-*/%&|^~!<>=?:,;.()[]{}", c) ? TOKEN_OP :
		  TOKEN_BAD;
	t->op = (unsigned char)c;
	t->len = 1;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(pairs); i++)
		if (pairs[i][0] == c && pairs[i][1] == next) {
			t->op = (unsigned int)c << 8 | (unsigned int)next;
			t->len = 2;
		}
	l->pos += t->len;
}

void tacho_lex_next(struct tacho_lex *l)
{
	struct tacho_token *t = &l->t;
	char c;

	while (l->pos < l->len && strchr(" \t\r\n", l->text[l->pos]) &&
	       l->text[l->pos])
		l->pos++;
	*t = (struct tacho_token){ .kind = TOKEN_END, .offset = l->pos,
				   .s = l->text + l->pos };
	if (l->pos >= l->len)
		return;
	c = l->text[l->pos];
	if (c == '"' || c == '\'') {
		quoted(l, c);
	} else if (is_digit(c)) {
		number(l);
	} else if (is_name_start(c)) {
		t->kind = TOKEN_NAME;
		while (is_name_start(at(l, l->pos)) || is_digit(at(l, l->pos)))
			l->pos++;
		t->len = (size_t)(l->text + l->pos - t->s);
	} else {
		operator(l);
	}
}
