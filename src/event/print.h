/* SPDX-License-Identifier: MIT */
/*
 * print.h - print formats: compiled once, run for every event.
 *
 * A print format is what TP_printk left in the `format` file: a C format string and
 * C expressions over REC->field, with the kernel's helpers (__print_flags,
 * __print_symbolic, __print_hex, __get_str, ...), casts, ?:, and the kernel's
 * %p extensions.  It is compiled to a small program whose run does no
 * parsing and no allocation but that of the output buffer, so that a
 * report is limited by the output's bytes.
 *
 * Running is total: any raw event of any length gives text.  An event too
 * short for the fixed part that its format prints is printed by its fields
 * instead, "(absent)" where one is missing.
 *
 * What a format may refer to and an event cannot tell:
 *	- a variable of the kernel: refused, except behind %p, which prints
 *	  "(____ptrval____)" (the kernel prints a hash of the address there);
 *	- a constant left as a name in a flag or symbol table: its entry is
 *	  dropped, so that the number is printed as for any value without a name;
 *	- the tick frequency, symbols and strings of the kernel: by the
 *	  environment below.
 */
#ifndef TACHO_EVENT_PRINT_H
#define TACHO_EVENT_PRINT_H

#include "event/type.h"

/*
 * How a print run finds names for numbers.  Every member may be NULL or 0;
 * zero-initialise the struct.
 */
struct tacho_print_env {
	void *arg;		/* handed to the calls */
	/*
	 * The symbol that addr lies in, for %pS, %ps, %pF, %pf: its name
	 * (borrowed until the next call) and *start; NULL when not known, and
	 * then the address is printed.  A module's symbol may be "name [module]".
	 */
	const char *(*symbol)(void *arg, uint64_t addr, uint64_t *start);
	/*
	 * One return address of a stack as text, in place of its symbol; false: it
	 * is printed as any other.
	 */
	bool (*frame)(void *arg, uint64_t addr, struct tacho_buf *out);
	/* The size of the symbol at start, the "/0x40" of %pS; 0: not known. */
	uint64_t (*symbol_size)(void *arg, uint64_t start);
	/*
	 * The string at an address of the kernel (its printk_formats file),
	 * borrowed until the next call; NULL when not known.
	 */
	const char *(*string)(void *arg, uint64_t addr);
	/*
	 * The recording kernel's ticks per second, for jiffies_to_msecs();
	 * without it an event whose format asks for it is printed by its fields.
	 */
	uint32_t hz;
	/*
	 * Two random words: a %p is a hash by them of the address, not the
	 * address; NULL: the address.
	 */
	const uint64_t *hash_key;
};

/*
 * tacho_print_compile - compile a type's print_fmt.
 *
 * Fields are resolved against type.  Returns the program (memory from the
 * arena), or NULL with d filled in, d->offset being the byte in print_fmt.
 */
const struct tacho_print *tacho_print_compile(struct tacho_arena *arena,
					      const struct tacho_type *type,
					      struct tacho_diag *d);

/*
 * tacho_print_run - append the text of one raw event.
 *
 * What the kernel puts behind "event: " in its trace file, by the event's print
 * format and without a newline at the end.  (For system calls the kernel has
 * code of its own and does not follow its format.)  A type without a
 * compiled print format prints its fields: " a=1 b=2".  env may be NULL.
 */
void tacho_print_run(const struct tacho_type *type, const void *raw, size_t len,
		     const struct tacho_print_env *env, struct tacho_buf *out);

/*
 * tacho_print_text - the same, but a newline that the print format itself puts
 * at the end is kept.
 */
void tacho_print_text(const struct tacho_type *type, const void *raw, size_t len,
		      const struct tacho_print_env *env, struct tacho_buf *out);

/*
 * A symbol as %ps and, with its offset, %pS print it: "name+0x10/0x40 [module]";
 * the address in hex when it is not known.  env may be NULL.
 */
void tacho_print_symbol(const struct tacho_print_env *env, uint64_t addr,
			bool offset, struct tacho_buf *out);

/* An address as %p prints it: 16 digits.  env may be NULL. */
void tacho_print_pointer(const struct tacho_print_env *env, uint64_t addr,
			 struct tacho_buf *out);

/* " a=1 b=2 ...": every field but the common ones, in format order. */
void tacho_print_fields(const struct tacho_type *type, const void *raw,
			size_t len, struct tacho_buf *out);

#endif
