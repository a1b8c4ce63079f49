/* SPDX-License-Identifier: MIT */
/*
 * filter.h - event filters: text -> tree -> program -> yes or no.
 *
 * The language is that of the kernel's event filters: Documentation/trace/
 * events.rst section 5, and, where that text is silent, what the kernel's parser does (checked
 * against 6.12, see tests/golden/filter).
 *
 *	expr	:= expr && expr | expr || expr | !expr | ( expr ) | pred
 *	pred	:= field op value
 *	field	:= name | name.ustring | name.function
 *	op	:= == != < <= > >= & ~
 *	value	:= number | word | "string" | 'string' | CPUS{list} | enum name
 *
 * && binds stronger than ||.  Numbers are decimal, 0x hex, 0 octal, negative; one
 * that is too large for its field is cut to the field's size, as the kernel does.
 * A word without quotes is a string for string fields; it ends at a blank, a
 * parenthesis, & or |.  A function's name ends at a blank only. docs/language.md, "Filters",
 * lists where results differ from the kernel's, and why.
 *
 * Globs: * any run of characters, ? one, [a-c] a class, [!a-c] its opposite, \x
 * the character x; a leading ! inverts the whole.
 *
 * Operators and operands of each field type
 *	number			== != < <= > >= &
 *	number of 8 bytes, `.function`	== !=	the address is in that function
 *	number, CPUS{}		== != &
 *	cpumask, CPUS{}		== != &		(& is "intersects"); N is CPUS{N}
 *	bitmask (ours)		== != &		with CPUS{} too
 *	char[N], __data_loc char[], __rel_loc char[], char *	== != ~
 *	`.ustring` on a char *	== != ~		a string in the program's memory
 *	comm, COMM, common_comm	== != ~		the name of the current thread
 *	cpu, CPU, common_cpu	as a number, and CPUS{}
 * A pointer's string is copied, at most TACHO_FILTER_STRING_MAX bytes; if it
 * cannot be read the predicate is false (with != and with ~ too).  A predicate on a field after
 * the end of the raw event is false.
 *
 * The program
 *	An array of predicates.  Each has the result that jumps (`when`) and the destination
 *	(`target`, always forward); reaching nr is no, a jump to nr + 1 is yes.  So a run takes
 *	at most nr steps.  A program is one block of memory without pointers, so it can be
 *	stored in a file or in shared memory.  A process that loads one from there copies it,
 *	checks the copy with tacho_filter_verify(), and runs the copy.
 */
#ifndef TACHO_ENGINE_FILTER_H
#define TACHO_ENGINE_FILTER_H

#include <stdbool.h>

#include "base/arena.h"
#include "engine/errlog.h"
#include "engine/names.h"
#include "engine/rec.h"
#include "event/type.h"

#define TACHO_FILTER_STRING_MAX	1024	/* bytes of a pointer's string compared */
#define TACHO_FILTER_PREDS_MAX	16384	/* predicates of one filter, as the kernel's */

/* A program; its layout is filter_prog.h's. */
struct tacho_filter;

/*
 * tacho_filter_compile - compile a filter for events of one type.
 *
 * text is NUL-terminated; "0" alone means no filter: *filter becomes NULL and the result is 0.
 * base is added to error columns, for a filter that is part of a longer command. names resolves
 * functions and constants.
 *
 * Returns 0, or e->err: -EINVAL for any error in the text, -ENOMEM. The program is in the arena.
 */
int tacho_filter_compile(struct tacho_filter **filter, struct tacho_arena *a,
			 const struct tacho_type *type, const char *text,
			 uint32_t base, const struct tacho_names *names,
			 struct tacho_cmd_error *e);

/*
 * Checks a filter for events that are not known yet: finds all errors that do not depend on the
 * fields, with the messages and columns of tacho_filter_compile().  Memory is taken from the
 * arena, which may be released after the call.
 */
int tacho_filter_check(struct tacho_arena *a, const char *text, uint32_t base,
		       const struct tacho_names *names, struct tacho_cmd_error *e);

/* Whether the event passes.  Any context that names' (*) calls are for. */
bool tacho_filter_run(const struct tacho_filter *filter,
		      const struct tacho_rec *rec);

/* The size of a program in bytes. */
size_t tacho_filter_size(const struct tacho_filter *filter);

/*
 * Whether len bytes (8-aligned) are a program that tacho_filter_run() can run safely: all targets
 * are forward, all operands inside.
 */
bool tacho_filter_verify(const void *bytes, size_t len);

/*
 * Appends the filter's text from its tree, with the necessary parentheses only; parsing that text
 * gives an equal program.  Strings get quotes and constants are numbers, so that the kernel
 * accepts the text too.
 *
 * Returns 0, or e->err, as tacho_filter_compile().
 */
int tacho_filter_normal(const struct tacho_type *type, const char *text,
			const struct tacho_names *names, struct tacho_buf *out,
			struct tacho_cmd_error *e);

/* Where a filter on kernel events can be evaluated, if the kernel accepts its text. */
enum tacho_filter_offload {
	TACHO_FILTER_LOCAL,	/* only here: the kernel might pass other events */
	TACHO_FILTER_SAME,	/* both pass the same events */
	/* only in the kernel: a thread's name at that time, strings that pointers point to */
	TACHO_FILTER_KERNEL_ONLY,
};

/*
 * Returns where a filter text can be evaluated: TACHO_FILTER_LOCAL for one that is wrong,
 * or "0".  The kernel must be given tacho_filter_normal()'s text.
 */
enum tacho_filter_offload tacho_filter_offload(const struct tacho_type *type,
					       const char *text,
					       const struct tacho_names *names);

#endif
