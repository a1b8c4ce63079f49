/* SPDX-License-Identifier: MIT */
/*
 * print_text.h - conversions of the kernel's vsnprintf().
 *
 * All functions take a length and never read past it.  Where the kernel differs from C's printf,
 * they follow the kernel: "%#x" of 0 is "0x0", '0' pads in spite of a precision, "%p" has 16
 * digits and no 0x.
 */
#ifndef TACHO_EVENT_PRINT_TEXT_H
#define TACHO_EVENT_PRINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Larger widths and precisions are reduced to this; a line of the kernel has at most 8 KiB. */
#define TACHO_WIDTH_MAX 4096

/*
 * A width or precision at *s, which ends with a NUL; moves *s after its digits.  0 if there are
 * none.  Context: any.
 */
int32_t tacho_text_width(const char **s);

enum tacho_spec_flag {
	TACHO_SPEC_LEFT = 1,		/* '-' */
	TACHO_SPEC_PLUS = 2,		/* '+' */
	TACHO_SPEC_SPACE = 4,		/* ' ' */
	TACHO_SPEC_ALT = 8,		/* '#' */
	TACHO_SPEC_ZERO = 16,		/* '0' */
	TACHO_SPEC_UPPER = 32,		/* %X */
	TACHO_SPEC_SIGNED = 64,		/* %d */
};

/* One conversion of a format string. */
struct tacho_spec {
	uint8_t flags;		/* enum tacho_spec_flag */
	uint8_t base;		/* 8, 10 or 16; the letter of a %f, %e, %g or %a */
	uint8_t size;		/* bytes the value is cut to: 1, 2, 4, 8 */
	int32_t width;		/* -1: none */
	int32_t prec;		/* -1: none */
};

/* An integer; v is cut to s->size bytes and read as signed or not. */
void tacho_text_number(struct tacho_buf *out, const struct tacho_spec *s,
		       uint64_t v);

/*
 * A floating-point number by the conversion s->base, as C's printf() in the C locale, whatever
 * the program's locale is.
 */
void tacho_text_real(struct tacho_buf *out, const struct tacho_spec *s,
		     double v);

/*
 * v with the fewest significant digits, 15 to 17, that read back as v: "0.1", "1e+300", "inf",
 * "-nan".  For a float, whose size is 4, 6 to 9 digits.
 */
void tacho_text_shortest(struct tacho_buf *out, double v, uint32_t size);

/* Cuts and pads the text appended since `from` to the precision and width of s, as %s does. */
void tacho_text_pad(struct tacho_buf *out, const struct tacho_spec *s,
		    size_t from);

/* Bytes in hex, sep between them ('\0': none). */
void tacho_text_hex(struct tacho_buf *out, const unsigned char *p, size_t n,
		    char sep);

/* A bitmap of unsigned longs as "00000000,0000000f" and as "0-3". */
void tacho_text_bitmap(struct tacho_buf *out, const unsigned char *p,
		       size_t bits);
void tacho_text_bitmap_list(struct tacho_buf *out, const unsigned char *p,
			    size_t bits);

/* Integers of size el bytes as "{0x1,0x2}". */
void tacho_text_array(struct tacho_buf *out, const unsigned char *p,
		      size_t bytes, uint64_t el);

/* Rows of a hex dump, as in print_hex_dump(). */
struct tacho_hexdump {
	const char *prefix;
	size_t prefix_len;
	int prefix_type;	/* 0 none, 1 address, 2 offset */
	uint32_t row;		/* 16 or 32 */
	uint32_t group;		/* 1, 2, 4, 8 */
	bool ascii;
};

void tacho_text_hexdump(struct tacho_buf *out, const struct tacho_hexdump *h,
			const unsigned char *p, size_t n);

/*
 * The %p extensions that print bytes: "I4", "I6c", "ISpc", "M", "m", "U", "ad", ... ext has at
 * most 7 letters.
 */
enum tacho_ext {
	TACHO_EXT_NONE,		/* not one of these */
	TACHO_EXT_I4,
	TACHO_EXT_I6,
	TACHO_EXT_IS,
	TACHO_EXT_MAC,
	TACHO_EXT_UUID,
	TACHO_EXT_PHYS,
};

enum tacho_ext tacho_ext_find(const char *ext, size_t *taken);

/* Appends the text of an extension; "(absent)" if n bytes are too few. */
void tacho_text_ext(struct tacho_buf *out, enum tacho_ext kind,
		    const char *ext, size_t ext_len, const unsigned char *p,
		    size_t n);

#endif
