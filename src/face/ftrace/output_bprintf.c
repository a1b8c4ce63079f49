// SPDX-License-Identifier: MIT
/*
 * trace_printk()'s packed arguments.
 *
 * The kernel keeps a format's address and its arguments as its vbin_printf()
 * packs them: integers of their own size at a multiple of it (of 4, those of 8
 * bytes), strings with their NUL, what a %p extension says as text with its NUL; but for
 * the address itself (%p, %px, %pK, %pe) and symbols (%ps, %pS), which are
 * kept as 8 bytes.
 */
#include <string.h>

#include "event/print_text.h"
#include "face/ftrace/output_priv.h"

struct packed {
	const unsigned char *base;
	size_t at, len;
};

/* The next integer of size bytes; 0 beyond the end. */
static uint64_t take_number(struct packed *p, unsigned int size, bool is_signed)
{
	size_t align = size == 8 ? 4 : size;
	size_t at = TACHO_ALIGN_UP(p->at, align);

	if (size > p->len || at > p->len - size) {
		p->at = p->len;
		return 0;
	}
	p->at = at + size;
	return tacho_value_load(p->base + at, size, is_signed);
}

/* The next string and its length. */
static const char *take_string(struct packed *p, size_t *n)
{
	const char *s = (const char *)p->base + p->at;
	size_t left = p->len - p->at;

	*n = left ? strnlen(s, left) : 0;
	p->at += *n < left ? *n + 1 : left;
	return s;
}

static int32_t take_digits(const char **s)
{
	int32_t v = 0;

	for (; **s >= '0' && **s <= '9'; ++*s)
		if (v <= TACHO_WIDTH_MAX)
			v = v * 10 + (**s - '0');
	return v;
}

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

static const char *parse_width(const char *s, struct tacho_spec *spec,
			       struct packed *p)
{
	if (*s != '*') {
		if (*s >= '0' && *s <= '9')
			spec->width = take_digits(&s);
		return s;
	}
	spec->width = (int32_t)take_number(p, 4, true);
	if (spec->width < 0) {
		spec->flags |= TACHO_SPEC_LEFT;
		spec->width = spec->width < -TACHO_WIDTH_MAX ? TACHO_WIDTH_MAX :
							       -spec->width;
	}
	return s + 1;
}

static const char *parse_precision(const char *s, struct tacho_spec *spec,
				   struct packed *p)
{
	if (*s != '.')
		return s;
	s++;
	if (*s == '*') {
		spec->prec = (int32_t)take_number(p, 4, true);
		s++;
	} else {
		spec->prec = take_digits(&s);
	}
	if (spec->prec < 0)
		spec->prec = 0;
	return s;
}

static const char *parse_size(const char *s, struct tacho_spec *spec)
{
	spec->size = 4;
	if (*s == 'h') {
		spec->size = s[1] == 'h' ? 1 : 2;
		return s + (spec->size == 1 ? 2 : 1);
	}
	if (*s && strchr("lLztjZ", *s)) {
		spec->size = 8;
		return s + (*s == 'l' && s[1] == 'l' ? 2 : 1);
	}
	return s;
}

/* `s` is behind the 'p'.  Returns what follows its letters. */
static const char *put_pointer(struct tacho_output *o, const char *s,
			       const struct tacho_spec *spec, struct packed *p,
			       struct tacho_buf *out)
{
	size_t from = out->len, n = 0;
	uint64_t addr;

	while ((s[n] >= '0' && s[n] <= '9') || (s[n] >= 'A' && s[n] <= 'Z') ||
	       (s[n] >= 'a' && s[n] <= 'z'))
		n++;
	if (n && !strchr("SsxKe", *s)) {
		size_t len;
		const char *text = take_string(p, &len);

		tacho_buf_put(out, text, len);
		return s + n;
	}
	addr = take_number(p, 8, false);
	if (*s == 'S' || *s == 's')
		tacho_print_symbol(&o->config.env, addr, *s == 'S', out);
	else if (*s == 'x')
		tacho_buf_put_hex(out, addr, 16);
	else
		tacho_print_pointer(&o->config.env, addr, out);
	tacho_text_pad(out, spec, from);
	return s + n;
}

static void put_number(struct tacho_spec *spec, char letter, struct packed *p,
		       struct tacho_buf *out)
{
	if (letter == 'd' || letter == 'i')
		spec->flags |= TACHO_SPEC_SIGNED;
	if (letter == 'X')
		spec->flags |= TACHO_SPEC_UPPER;
	spec->base = letter == 'x' || letter == 'X' ? 16 :
		     letter == 'o' ? 8 : 10;
	tacho_text_number(out, spec, take_number(p, spec->size,
			  spec->flags & TACHO_SPEC_SIGNED));
}

/* `s` is behind the '%'.  Returns what follows the conversion. */
static const char *put_conversion(struct tacho_output *o, const char *s,
				  struct packed *p, struct tacho_buf *out)
{
	struct tacho_spec spec = { .width = -1, .prec = -1 };
	size_t from = out->len, n;
	const char *text;

	s = parse_flags(s, &spec);
	s = parse_width(s, &spec, p);
	s = parse_precision(s, &spec, p);
	s = parse_size(s, &spec);
	switch (*s) {
	case '\0':
		return s;
	case 's':
		text = take_string(p, &n);
		tacho_buf_put(out, text, n);
		tacho_text_pad(out, &spec, from);
		break;
	case 'c':
		tacho_buf_putc(out, (char)take_number(p, 1, false));
		spec.prec = -1;
		tacho_text_pad(out, &spec, from);
		break;
	case 'p':
		return put_pointer(o, s + 1, &spec, p, out);
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
		put_number(&spec, *s, p, out);
		break;
	default:
		tacho_buf_putc(out, *s);
		break;
	}
	return s + 1;
}

void output_put_bprintf(struct tacho_output *o, const char *fmt,
			const unsigned char *args, size_t n,
			struct tacho_buf *out)
{
	struct packed p = { .base = args, .len = n };

	while (*fmt) {
		size_t plain = strcspn(fmt, "%");

		tacho_buf_put(out, fmt, plain);
		fmt += plain;
		if (*fmt == '%')
			fmt = put_conversion(o, fmt + 1, &p, out);
	}
}
