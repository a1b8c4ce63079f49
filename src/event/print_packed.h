/* SPDX-License-Identifier: MIT */
/*
 * print_packed.h - trace_printk()'s packed arguments.
 *
 * The kernel records the address of a format string and the arguments as its
 * vbin_printf() packs them, from a multiple of 4 on:
 *
 *	integer		its own size, at a multiple of it; 8 bytes at one of 4
 *	'*'		an int
 *	string		its characters and their NUL, at no alignment
 *	%p, %px, %pK, %pe, %ps, %pS
 *			the pointer, as a long
 *	other %p	since Linux 4.15 the formatted text with its NUL; before, the pointer, too
 *
 * The format does not say which of the two forms the last one has.  A text is printable up to its
 * NUL; an address of the kernel is not: its high byte cannot begin a character, and on a
 * little-endian machine that byte precedes the next argument.
 *
 * A long has its size on the recording machine, which is the size of the event's field `fmt`.
 */
#ifndef TACHO_EVENT_PRINT_PACKED_H
#define TACHO_EVENT_PRINT_PACKED_H

#include <stddef.h>

#include "base/buf.h"
#include "event/print.h"

/*
 * Appends the n bytes at args, formatted by fmt.  Missing arguments are 0 and "".  long_size is 4
 * or 8; args and env may be NULL.
 */
void tacho_packed_print(const char *fmt, const unsigned char *args, size_t n,
			unsigned int long_size,
			const struct tacho_print_env *env, struct tacho_buf *out);

/*
 * Swaps the byte order of all numbers in the n bytes at args, which a machine of the other byte
 * order packed.
 */
void tacho_packed_turn(const char *fmt, unsigned char *args, size_t n,
		       unsigned int long_size);

#endif
