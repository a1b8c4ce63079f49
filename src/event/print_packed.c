// SPDX-License-Identifier: MIT
#include "event/print_packed.h"

#include <byteswap.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "event/print_text.h"
#include "event/value.h"

/* Arguments, and the position in them. */
struct packed {
	const unsigned char *base;
	unsigned char *turned;	/* the same bytes, writable: swap what is read; or NULL */
	size_t at, len;
	unsigned int long_size;
};

/* One conversion of the format. */
struct conversion {
	struct tacho_spec spec;
	char letter;		/* '\0': the format ends inside it */
	bool star_width, star_prec;
	const char *ext;	/* after a 'p' */
	size_t ext_len;
};

/* Its argument. */
struct argument {
	uint64_t number;
	const char *text;	/* NULL: use the number */
	size_t len;
};

/* ---- the format ------------------------------------------------------------------ */

static const char *parse_flags(const char *s, struct tacho_spec *spec)
{
	static const char letters[] = "-+ #0";
	static const uint8_t bits[] = {
		TACHO_SPEC_LEFT, TACHO_SPEC_PLUS, TACHO_SPEC_SPACE,
		TACHO_SPEC_ALT, TACHO_SPEC_ZERO,
	};
	const char *at;

	for (; *s && (at = strchr(letters, *s)); s++)
		spec->flags |= bits[at - letters];
	return s;
}

static const char *parse_width(const char *s, struct conversion *c)
{
	c->star_width = *s == '*';
	if (c->star_width)
		return s + 1;
	if (*s >= '0' && *s <= '9')
		c->spec.width = tacho_text_width(&s);
	return s;
}

static const char *parse_precision(const char *s, struct conversion *c)
{
	if (*s != '.')
		return s;
	s++;
	c->star_prec = *s == '*';
	if (c->star_prec)
		return s + 1;
	c->spec.prec = tacho_text_width(&s);
	return s;
}

static const char *parse_size(const char *s, struct tacho_spec *spec,
			      unsigned int long_size)
{
	spec->size = 4;
	if (*s == 'h') {
		spec->size = s[1] == 'h' ? 1 : 2;
		return s + (spec->size == 1 ? 2 : 1);
	}
	if (*s == 'L' || (*s == 'l' && s[1] == 'l')) {
		spec->size = 8;
		return s + (*s == 'l' ? 2 : 1);
	}
	if (*s && strchr("lztjZ", *s)) {
		spec->size = (uint8_t)long_size;
		return s + 1;
	}
	return s;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

/* `s` is after the '%'.  Returns what follows the conversion. */
static const char *parse_conversion(const char *s, unsigned int long_size,
				    struct conversion *c)
{
	*c = (struct conversion){ .spec = { .width = -1, .prec = -1 } };
	s = parse_flags(s, &c->spec);
	s = parse_width(s, c);
	s = parse_precision(s, c);
	s = parse_size(s, &c->spec, long_size);
	c->letter = *s;
	if (!*s)
		return s;
	s++;
	c->ext = s;
	if (c->letter == 'p')
		while (is_alnum(*s))
			s++;
	c->ext_len = (size_t)(s - c->ext);
	return s;
}

/* ---- the arguments ---------------------------------------------------------------- */

static void turn(unsigned char *p, unsigned int size)
{
	if (size == 2)
		tacho_put_u16(p, bswap_16(tacho_load_u16(p)));
	else if (size == 4)
		tacho_put_u32(p, bswap_32(tacho_load_u32(p)));
	else if (size == 8)
		tacho_put_u64(p, bswap_64(tacho_load_u64(p)));
}

/* The next integer of size bytes; 0 beyond the end. */
static uint64_t take_number(struct packed *p, unsigned int size, bool is_signed)
{
	size_t align = size == 8 ? 4 : size;
	size_t at = TACHO_ALIGN_UP(p->at, align);

	if (size > p->len || at > p->len - size) {
		p->at = p->len;
		return 0;
	}
	if (p->turned)
		turn(p->turned + at, size);
	p->at = at + size;
	return tacho_value_load(p->base + at, size, is_signed);
}

static void take_text(struct packed *p, struct argument *a)
{
	size_t left = p->len - p->at;

	a->text = (const char *)p->base + p->at;
	a->len = left ? strnlen(a->text, left) : 0;
	p->at += a->len < left ? a->len + 1 : left;
}

/* Whether the next argument is a text formatted by %p. */
static bool is_text(const struct packed *p)
{
	const char *s = (const char *)p->base + p->at;
	size_t left = p->len - p->at, n = left ? strnlen(s, left) : 0;

	if (!n || n == left)
		return n != 0 || !left;
	for (size_t i = 0; i < n;) {
		size_t bytes = tacho_utf8_len(s + i, n - i);

		if (!bytes || (bytes == 1 && (s[i] < ' ' || s[i] == 0x7f)))
			return false;
		i += bytes;
	}
	return true;
}

/* %pf and %pF were functions until Linux 5.5; %pfw is not one. */
static bool is_symbol(const struct conversion *c)
{
	char x = c->ext_len ? *c->ext : '\0';

	return x == 's' || x == 'S' || x == 'F' ||
	       (x == 'f' && !(c->ext_len > 1 && c->ext[1] == 'w'));
}

static void take_pointer(struct packed *p, const struct conversion *c,
			 struct argument *a)
{
	bool plain = !c->ext_len || is_symbol(c) || strchr("xKe", *c->ext);

	if (!plain && is_text(p))
		take_text(p, a);
	else
		a->number = take_number(p, p->long_size, false);
}

static void take_stars(struct packed *p, struct conversion *c)
{
	struct tacho_spec *spec = &c->spec;

	if (c->star_width) {
		spec->width = (int32_t)take_number(p, 4, true);
		if (spec->width < 0) {
			spec->flags |= TACHO_SPEC_LEFT;
			spec->width = spec->width < -TACHO_WIDTH_MAX ?
				      TACHO_WIDTH_MAX : -spec->width;
		}
	}
	if (c->star_prec) {
		spec->prec = (int32_t)take_number(p, 4, true);
		if (spec->prec < 0)
			spec->prec = 0;
	}
}

static void take(struct packed *p, struct conversion *c, struct argument *a)
{
	*a = (struct argument){ .text = NULL };
	take_stars(p, c);
	switch (c->letter) {
	case 's':
		take_text(p, a);
		break;
	case 'c':
		a->number = take_number(p, 1, false);
		break;
	case 'p':
		take_pointer(p, c, a);
		break;
	case 'd': case 'i':
		c->spec.flags |= TACHO_SPEC_SIGNED;
		a->number = take_number(p, c->spec.size, true);
		break;
	case 'u': case 'x': case 'X': case 'o':
		a->number = take_number(p, c->spec.size, false);
		break;
	default:
		break;
	}
}

/* ---- the text ------------------------------------------------------------------------ */

static void put_pointer(const struct conversion *c, const struct argument *a,
			unsigned int long_size,
			const struct tacho_print_env *env, struct tacho_buf *out)
{
	if (is_symbol(c))
		tacho_print_symbol(env, a->number, *c->ext == 'S' || *c->ext == 'F',
				   out);
	else if (c->ext_len && *c->ext == 'B')
		tacho_print_symbol(env, a->number, true, out);
	else if (long_size == 4 || (c->ext_len && *c->ext == 'x'))
		tacho_buf_put_hex(out, a->number, 2 * long_size);
	else
		tacho_print_pointer(env, a->number, out);
}

static void put_number(struct conversion *c, const struct argument *a,
		       struct tacho_buf *out)
{
	if (c->letter == 'X')
		c->spec.flags |= TACHO_SPEC_UPPER;
	c->spec.base = c->letter == 'x' || c->letter == 'X' ? 16 :
		       c->letter == 'o' ? 8 : 10;
	tacho_text_number(out, &c->spec, a->number);
}

static void put(struct conversion *c, const struct argument *a,
		unsigned int long_size, const struct tacho_print_env *env,
		struct tacho_buf *out)
{
	size_t from = out->len;

	switch (c->letter) {
	case '\0':
		break;
	case 's':
		tacho_buf_put(out, a->text, a->len);
		tacho_text_pad(out, &c->spec, from);
		break;
	case 'c':
		tacho_buf_putc(out, (char)a->number);
		c->spec.prec = -1;
		tacho_text_pad(out, &c->spec, from);
		break;
	case 'p':
		if (a->text) {	/* already padded to its width */
			tacho_buf_put(out, a->text, a->len);
			break;
		}
		put_pointer(c, a, long_size, env, out);
		tacho_text_pad(out, &c->spec, from);
		break;
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
		put_number(c, a, out);
		break;
	default:
		tacho_buf_putc(out, c->letter);
		break;
	}
}

void tacho_packed_print(const char *fmt, const unsigned char *args, size_t n,
			unsigned int long_size,
			const struct tacho_print_env *env, struct tacho_buf *out)
{
	struct packed p = { .base = args ? args : (const unsigned char *)"",
			    .len = args ? n : 0, .long_size = long_size };
	struct conversion c;
	struct argument a;

	while (*fmt) {
		size_t plain = strcspn(fmt, "%");

		tacho_buf_put(out, fmt, plain);
		fmt += plain;
		if (*fmt != '%')
			break;
		fmt = parse_conversion(fmt + 1, long_size, &c);
		take(&p, &c, &a);
		put(&c, &a, long_size, env, out);
	}
}

void tacho_packed_turn(const char *fmt, unsigned char *args, size_t n,
		       unsigned int long_size)
{
	struct packed p = { .base = args, .turned = args, .len = n,
			    .long_size = long_size };
	struct conversion c;
	struct argument a;

	while ((fmt = strchr(fmt, '%'))) {
		fmt = parse_conversion(fmt + 1, long_size, &c);
		take(&p, &c, &a);
	}
}
