/* SPDX-License-Identifier: MIT */
/*
 * ctype.h - C and kernel type names in `format` texts.
 *
 * Sizes are those of a 64-bit kernel.  Used where the format gives no size: elements of variable
 * arrays, casts and sizeof in print formats.
 */
#ifndef TACHO_EVENT_CTYPE_H
#define TACHO_EVENT_CTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tacho_ctype {
	uint8_t size;		/* 1, 2, 4, 8; 0: not a known number */
	bool is_signed;
	bool is_bool;
	bool is_pointer;	/* ends in '*' */
	bool is_record;		/* struct or union, not a pointer to one */
	bool is_char;		/* plain char: text */
	bool is_mask;		/* cpumask_t and similar types */
	bool is_float;		/* float or double; size 4 or 8 */
};

/*
 * The type named by the len bytes at s: "const unsigned long", "u32", "struct x *".  Words that
 * do not affect the size (const, volatile, __user, ...) are skipped.
 */
struct tacho_ctype tacho_ctype_of(const char *s, size_t len);

/* Whether the word s begins a type name, as "unsigned" does. */
bool tacho_ctype_word(const char *s, size_t len);

#endif
