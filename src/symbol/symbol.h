/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - information in an executable file: functions, source lines, parameters, and sdt
 * markers.
 *
 * A probe in a program is set by the kernel at a *file offset*.  Users name functions, lines and
 * parameters.  This folder translates between the two, for one ELF file at a time (struct
 * tacho_object):
 *
 *	name, glob          --symbol tables-->  address
 *	file:line           --DWARF lines---->  addresses
 *	sdt:provider:name   --notes---------->  address, arguments
 *	address             --segments------->  file offset
 *	address + variable  --DWARF---------->  text that the kernel can fetch
 *
 * Three kinds of numbers, which are easily confused:
 *
 *	address		as in the symbol table: before the loader moved the file
 *	offset		of the byte in the file, as the kernel requires
 *	run-time ip	the address in one process: not known here
 *
 * An address is turned into an offset with the program headers of the file
 * itself, never with those of a separate debug file, which are wrong.
 *
 * Where the information comes from
 *	Symbol tables, notes and segments are read by our own reader (elf.c,
 *	function.c, sdt.c): it checks every offset and count against the file's
 *	size and takes time linear in it, so a hostile file does no harm.
 *	Lines and variables come from DWARF through libdw (dwarf.c and below),
 *	where tacho was built with it; otherwise these calls return -ENOSYS and a message.  The
 *	symbols and DWARF of a file may be in a separate file, which is searched as debuggers do,
 *	in this order:
 *		ROOT/.build-id/ab/cdef....debug		by the build id
 *		DIR/NAME, DIR/.debug/NAME, ROOT/DIR/NAME	by .gnu_debuglink,
 *			when the file's checksum is the one that it names
 *	with ROOT /usr/lib/debug by default.
 *
 * What a variable becomes
 *	Text in the language of the kernel's probes: "%di" a register, "+8(%si)"
 *	memory that a register points to, "@+0x4010" memory of the file itself.
 *	The value may be a member at the end of a path: "order->customer.name",
 *	"list->item[2]".  At a function's first instruction a compiler that does
 *	not optimise has not yet stored the parameters where DWARF says they are;
 *	there the calling convention gives the place (abi.c).
 *
 * One thread uses an object at a time.  Returned pointers are borrowed until the object is
 * closed.
 */
#ifndef TACHO_SYMBOL_SYMBOL_H
#define TACHO_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct tacho_object;

/* Longest text of a fetch argument here; the kernel takes 63 bytes. */
#define TACHO_FETCH_MAX		128

/* ---- files ---- */

/*
 * tacho_object_open - read an executable or a shared library.
 *
 * debug_root NULL: /usr/lib/debug.  Returns 0 and *o, or with d filled in:
 *	-ENOENT, -EACCES, ...	the file cannot be read
 *	-ENOEXEC		not an ELF program or library, or damaged
 *	-ENOMEM
 */
int tacho_object_open(struct tacho_object **o, const char *path,
		      const char *debug_root, struct tacho_diag *d);

/*
 * tacho_object_parse - the same for a file in memory, which stays the caller's.
 *
 * There are no separate debug files and no DWARF.  Errors as above.
 */
int tacho_object_parse(struct tacho_object **o, const void *data, size_t len,
		       struct tacho_diag *d);

/* Closes the object.  Ignores NULL. */
void tacho_object_close(struct tacho_object *o);

/* The path as given; "" for a file in memory. */
const char *tacho_object_path(const struct tacho_object *o);

/* The separate debug file in use, or NULL. */
const char *tacho_object_debug_path(const struct tacho_object *o);

/* Bytes of the build id, or NULL and *len 0. */
const unsigned char *tacho_object_build_id(const struct tacho_object *o,
					   size_t *len);

/* Whether tacho was built with support for DWARF. */
bool tacho_symbol_has_dwarf(void);

/*
 * From an address of code to its file offset and back.  Returns 0, or -ERANGE: the file has no
 * executable segment there.
 */
int tacho_object_offset(const struct tacho_object *o, uint64_t address,
			uint64_t *offset);
int tacho_object_address(const struct tacho_object *o, uint64_t offset,
			 uint64_t *address);

/* ---- functions ---- */

struct tacho_function {
	const char *name;
	uint64_t address;
	uint64_t size;		/* 0: not in the symbol table */
	uint64_t offset;	/* in the file */
	uint8_t rank;		/* smaller: the better one of several names */
	bool resolver;		/* chooses another function (an ifunc) */
};

/*
 * All functions with code in the file, by address and then by rank; one place
 * may have several names, one name several places (static functions).
 * *nr may be 0.
 */
const struct tacho_function *tacho_object_functions(const struct tacho_object *o,
						    size_t *nr);

/* The next function of this name after prev (NULL: the first), or NULL. */
const struct tacho_function *tacho_object_find(const struct tacho_object *o,
					       const char *name,
					       const struct tacho_function *prev);

/* The function that contains the address, by its best name, or NULL. */
const struct tacho_function *tacho_object_at(const struct tacho_object *o,
					     uint64_t address);

/*
 * The name of one of the object's functions for display: a C++ function with its namespaces,
 * classes and parameter types; for others, or without the C++ runtime, the name in the file.
 * Borrowed from the object.  One thread; loads the C++ runtime for the first C++ name.
 */
const char *tacho_object_shown_name(struct tacho_object *o, const struct tacho_function *fn);

/* ---- a value that the kernel can fetch ---- */

struct tacho_fetch {
	char text[TACHO_FETCH_MAX];	/* "%di", "+8(%si)", "\5" */
	char type[24];			/* "s32", "u8[4]", "b3@5/32" */
	/* the same as a string, where it is characters or points to them; else "" */
	char string[TACHO_FETCH_MAX];
	char ctype[96];			/* as in the source; "" when not known */
};

/* ---- statically defined markers (sys/sdt.h) ---- */

struct tacho_sdt {
	const char *provider;
	const char *name;
	const char *args;	/* "-4@%edi 8@-16(%rbp)" */
	uint64_t address;
	uint64_t offset;
	uint64_t semaphore;	/* file offset of its counter; 0: none */
};

/* All markers in the order of the file; *nr may be 0. */
const struct tacho_sdt *tacho_object_sdt(const struct tacho_object *o,
					 size_t *nr);

/* How many arguments a marker has. */
size_t tacho_sdt_nr_args(const struct tacho_sdt *s);

/*
 * tacho_sdt_arg - the i-th argument of a marker, from 0.
 *
 * Returns 0, or with d filled in:
 *	-ENOENT		there are fewer arguments
 *	-ENOTSUP	the kernel cannot fetch it (a floating-point register,
 *			an index register), or another machine
 *	-EINVAL		its description is malformed
 */
int tacho_sdt_arg(const struct tacho_object *o, const struct tacho_sdt *s,
		  size_t i, struct tacho_fetch *f, struct tacho_diag *d);

/* ---- source lines (DWARF) ---- */

struct tacho_where {
	const char *file;	/* as named to the compiler; NULL: not known */
	uint32_t line;
	uint32_t column;
};

/*
 * The source line of an address.  0, or with d filled in:
 *	-ENOSYS		tacho was built without libdw
 *	-ENODATA	the file has no debug information, or none for this address
 */
int tacho_object_where(struct tacho_object *o, uint64_t address,
		       struct tacho_where *w, struct tacho_diag *d);

/* Addresses; nr of them, in list, which the caller frees. */
struct tacho_places {
	uint64_t *list;
	size_t nr;
	uint32_t line;		/* the line of the addresses */
};

void tacho_places_release(struct tacho_places *p);

/*
 * tacho_object_line - where a source line begins.
 *
 * file matches from its end, by whole components: "main.c" is "src/main.c".
 * A line without code means the next line with code in the same function.  The result has one
 * address in each function that contains the line, inlined copies included: the line's first
 * instruction there.
 *
 * Returns 0 and p, to be released, or with d filled in: -ENOENT (no such
 * file, or no code at or after the line), or as tacho_object_where().
 */
int tacho_object_line(struct tacho_object *o, const char *file, uint32_t line,
		      struct tacho_places *p, struct tacho_diag *d);

/*
 * tacho_object_function_line - the same for the n-th line of a function: 0 is
 * the line that it is declared in.  Also -ERANGE: the function ends before.
 */
int tacho_object_function_line(struct tacho_object *o,
			       const struct tacho_function *fn, uint32_t n,
			       struct tacho_places *p, struct tacho_diag *d);

/* tacho_object_inlined - where the inlined copies of a function begin.  Errors as above. */
int tacho_object_inlined(struct tacho_object *o, const char *name,
			 struct tacho_places *p, struct tacho_diag *d);

/* ---- variables (DWARF) ---- */

/*
 * tacho_object_variable - how to fetch a variable when address is about to run.
 *
 * function: the function of the variable, if an inlined copy begins at the same address; NULL:
 * the innermost.  path: a parameter, a local or a global variable, then any of ->MEMBER, .MEMBER
 * and [N].  Returns 0, or with d filled in; its offset is the column in path:
 *	-ENOENT		no such variable here, or no such member
 *	-ENODATA	it has no location here: it was optimised out
 *	-ENOTSUP	the kernel cannot fetch it (floating point, a whole
 *			structure, more than one register)
 *	-EINVAL		path is malformed
 *	-ENOSYS, -ENODATA	as tacho_object_where()
 */
int tacho_object_variable(struct tacho_object *o, uint64_t address,
			  const char *function, const char *path,
			  struct tacho_fetch *f, struct tacho_diag *d);

/*
 * tacho_object_return - the same for what a function returns; path is "" or
 * what follows it: "->id".  address: of the function.
 */
int tacho_object_return(struct tacho_object *o, uint64_t address,
			const char *path, struct tacho_fetch *f,
			struct tacho_diag *d);

/*
 * tacho_object_params - calls fn with the name of each parameter of the
 * function at address, in order, until fn returns other than 0; function as
 * above.
 *
 * Returns that, or 0, or a negative errno as tacho_object_where().
 */
int tacho_object_params(struct tacho_object *o, uint64_t address,
			const char *function,
			int (*fn)(const char *name, void *arg), void *arg,
			struct tacho_diag *d);

#endif
