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
 *	other %p	since Linux 4.15 the text that %p made, with its NUL; before,
 *			the pointer, too
 *
 * Which of the two the last one is, no format tells.  A text is printable up to its
 * NUL; an address of the kernel is not: its high byte cannot begin a character, and in a
 * little-endian machine that byte comes before the next argument.
 *
 * A long has the bytes of the recording machine's, as the event's field `fmt`
 * shows.
 */
#ifndef TACHO_EVENT_PRINT_PACKED_H
#define TACHO_EVENT_PRINT_PACKED_H

#include <stddef.h>

#include "base/buf.h"
#include "event/print.h"

/*
 * Appends what fmt says of the n bytes at args.  Arguments that are not there are
 * 0 and "".  long_size is 4 or 8; args and env may be NULL.
 */
void tacho_packed_print(const char *fmt, const unsigned char *args, size_t n,
			unsigned int long_size,
			const struct tacho_print_env *env, struct tacho_buf *out);

/*
 * Turns the bytes of all numbers in the n bytes at args, which were packed by a machine of
 * the other byte order.
 */
void tacho_packed_turn(const char *fmt, unsigned char *args, size_t n,
		       unsigned int long_size);

#endif
