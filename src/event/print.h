/* SPDX-License-Identifier: MIT */
/*
 * print.h - print formats: compiled once, run for every event.
 *
 * A print format is the text from TP_printk in the `format` file: a C format string and C
 * expressions over REC->field, with the kernel's helpers (__print_flags, __print_symbolic,
 * __print_hex, __get_str, ...), casts, ?:, and the kernel's %p extensions.  It is compiled to a
 * small program.  A run does no parsing and allocates only the output buffer, so that the speed
 * of a report is limited by the size of its output.
 *
 * Running is total: any raw event of any length gives text.  An event too
 * short for the fixed part that its format prints is printed by its fields
 * instead, "(absent)" where one is missing.
 *
 * References of a format that the event does not contain:
 *	- a variable of the kernel: refused, except after %p, which prints
 *	  "(____ptrval____)" (the kernel prints a hash of the address there);
 *	- a constant that is only a name in a flag or symbol table: its entry is dropped, so that
 *	  the number is printed as for any value without a name;
 *	- the tick frequency, symbols and strings of the kernel: from the environment below.
 */
#ifndef TACHO_EVENT_PRINT_H
#define TACHO_EVENT_PRINT_H

#include "event/type.h"

/*
 * The environment of a print run: names for numbers.  Every member may be NULL or 0;
 * zero-initialise the struct.
 */
struct tacho_print_env {
	void *arg;		/* passed to the calls */
	/*
	 * The symbol that contains addr, for %pS, %ps, %pF, %pf: its name (borrowed until the
	 * next call) and *start; NULL: not known, and the address is printed.  A module's symbol
	 * may be "name [module]".
	 */
	const char *(*symbol)(void *arg, uint64_t addr, uint64_t *start);
	/*
	 * Appends one return address of a stack as text, in place of its symbol; false: the
	 * address is printed like any other.
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
	 * without it an event whose format needs it is printed by its fields.
	 */
	uint32_t hz;
	/*
	 * Two random words: %p prints a hash of the address with this key; NULL: %p prints the
	 * address.
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
 * Appends what the kernel prints after "event: " in its trace file, by the event's print format,
 * without a trailing newline. (For system calls the kernel uses special code and not the format.)
 * A type without a compiled print format prints its fields: " a=1 b=2".  env may be NULL.
 */
void tacho_print_run(const struct tacho_type *type, const void *raw, size_t len,
		     const struct tacho_print_env *env, struct tacho_buf *out);

/* tacho_print_text - as tacho_print_run(), but keeps a trailing newline of the print format. */
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
