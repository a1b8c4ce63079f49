/* SPDX-License-Identifier: MIT */
/*
 * filter.h - event filters: text -> tree -> program -> yes or no.
 *
 * The language is that of the kernel's event filters: Documentation/trace/
 * events.rst section 5, with what the kernel's parser does where the text
 * says nothing (checked against 6.12, see tests/golden/filter).
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
 * parenthesis, & or |.  A function's name ends at a blank only.  Where the answers are
 * not the kernel's, and why, is listed in docs/language.md, "Filters".
 *
 * Globs: * any run of characters, ? one, [a-c] a class, [!a-c] its opposite, \x
 * the character x; a leading ! inverts the whole.
 *
 * Which field takes what
 *	number			== != < <= > >= &
 *	number of 8 bytes, `.function`	== !=	the address lies in that function
 *	number, CPUS{}		== != &
 *	cpumask, CPUS{}		== != &		(& is "intersects"); N is CPUS{N}
 *	bitmask (ours)		== != &		with CPUS{} too
 *	char[N], __data_loc char[], __rel_loc char[], char *	== != ~
 *	`.ustring` on a char *	== != ~		a string in the program's memory
 *	comm, COMM, common_comm	== != ~		the name of the current thread
 *	cpu, CPU, common_cpu	as a number, and CPUS{}
 * A pointer's string is copied, at most TACHO_FILTER_STRING_MAX bytes; if it
 * cannot be read the predicate is false (with != and with ~ too).  A field that
 * the raw event is too short for makes its predicate false.
 *
 * The program
 *	An array of predicates.  Each knows for which result it is left by a jump
 *	(`when`), and to where (`target`, always forward); falling off the
 *	end, or a jump to nr, is no; a jump to nr + 1 is yes.  So a run takes at
 *	most nr steps.  A program is one piece of memory without pointers:
 *	it may lie in a file or in shared memory, and whoever loads one from there
 *	copies it, asks tacho_filter_verify(), and runs the copy.
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
 * tacho_filter_compile - a filter for events of one type.
 *
 * text is NUL-terminated; "0" alone is no filter: *filter becomes NULL and the
 * result is 0.  base is what is added to error columns, for a filter that is
 * part of a longer command.  names is asked for functions and constants.
 *
 * Returns 0, or what e says (-EINVAL for all that is wrong with the text, -ENOMEM).
 * The program is the arena's.
 */
int tacho_filter_compile(struct tacho_filter **filter, struct tacho_arena *a,
			 const struct tacho_type *type, const char *text,
			 uint32_t base, const struct tacho_names *names,
			 struct tacho_cmd_error *e);

/*
 * Whether a text can be a filter, of events that are not known yet: all that is wrong with
 * it whatever its fields are, in the words and columns of tacho_filter_compile().  Memory is
 * taken from the arena, and may be given back at once.
 */
int tacho_filter_check(struct tacho_arena *a, const char *text, uint32_t base,
		       const struct tacho_names *names, struct tacho_cmd_error *e);

/* Whether the event passes.  Any context that names' (*) calls are for. */
bool tacho_filter_run(const struct tacho_filter *filter,
		      const struct tacho_rec *rec);

/* Bytes of a program. */
size_t tacho_filter_size(const struct tacho_filter *filter);

/*
 * Whether len bytes (8-aligned) are a program that tacho_filter_run() can run
 * without harm, whatever they do: all targets forward, all operands inside.
 */
bool tacho_filter_verify(const void *bytes, size_t len);

/*
 * Appends the filter's text from its tree, with the parentheses that it needs
 * and no others; parsing that gives an equal program.  Strings get quotes and
 * constants are numbers, so that a kernel takes the text too.
 *
 * Returns 0, or what e says, as tacho_filter_compile().
 */
int tacho_filter_normal(const struct tacho_type *type, const char *text,
			const struct tacho_names *names, struct tacho_buf *out,
			struct tacho_cmd_error *e);

/* Where a filter on events of the kernel can be evaluated, if the kernel takes its text. */
enum tacho_filter_offload {
	TACHO_FILTER_LOCAL,	/* only here: the kernel might pass other events */
	TACHO_FILTER_SAME,	/* both pass the same events */
	/* only there: a thread's name at that moment, strings that pointers point to */
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
