/* SPDX-License-Identifier: MIT */
/*
 * type.h - event types: fields and print format.
 *
 * A struct tacho_type is made from text, the kernel's `format` file (see
 * Documentation/trace/events.rst, "Event formats"), whether the event comes from the kernel, from a
 * program or from a trace file.  It is immutable afterwards and may be used
 * by any number of threads.
 *
 * A *raw event* is what a format describes: bytes whose first 8 are the common
 * fields (struct tacho_common).  Field offsets count from its first byte.
 * Raw events are untrusted input: every accessor takes the length of the raw event and reports a
 * field after its end as absent.
 */
#ifndef TACHO_EVENT_TYPE_H
#define TACHO_EVENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

/* The beginning of the format of generated types: struct tacho_common. */
#define TACHO_COMMON_FIELDS							\
	"format:\n"								\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"	\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum tacho_field_kind {
	TACHO_FIELD_SCALAR,	/* one number, pointer, enum or bool */
	TACHO_FIELD_ARRAY,	/* a fixed number of elements */
	TACHO_FIELD_DATA_LOC,	/* __data_loc: offset and length of variable data */
	TACHO_FIELD_REL_LOC,	/* __rel_loc: the offset counts from the word's end */
	TACHO_FIELD_FLEX,	/* size 0, last: the rest of the raw event */
	TACHO_FIELD_OPAQUE,	/* a struct or union: bytes */
};

enum tacho_field_flag {
	TACHO_FIELD_SIGNED = 1,
	TACHO_FIELD_STRING = 2,		/* elements are char: text up to a NUL */
	TACHO_FIELD_POINTER = 4,	/* declared with a '*' */
	TACHO_FIELD_BITMASK = 8,	/* __data_loc unsigned long[] of a bitmask or cpumask */
	TACHO_FIELD_BOOL = 16,
	TACHO_FIELD_COMMON = 32,	/* one of the common_ fields */
	TACHO_FIELD_FLOAT = 64,		/* elements are IEEE 754, of 4 or 8 bytes */
};

struct tacho_field {
	const char *name;
	const char *decl;	/* as in the format: "char comm[16]" */
	const char *elem;	/* element type: "char", "u32", "struct foo" */
	enum tacho_field_kind kind;
	uint32_t flags;		/* enum tacho_field_flag */
	uint32_t offset;
	uint32_t size;		/* bytes in the fixed part */
	uint32_t elem_size;	/* 1, 2, 4, 8 for numbers; else bytes of one element */
	uint32_t count;		/* elements of an ARRAY; 0: not known in advance */
	uint32_t index;		/* in tacho_type.fields */
};

struct tacho_print;		/* a compiled print format, see print.h */

struct tacho_type {
	const char *system;
	const char *name;
	uint32_t id;		/* common_type in the stream it belongs to */
	uint32_t nr_fields;	/* common fields included, in format order */
	const struct tacho_field *fields;
	uint32_t nr_common;	/* the first nr_common of fields */
	uint32_t fixed_size;	/* end of the fixed part: the largest offset + size */
	uint32_t nr_dynamic;	/* fields of kind DATA_LOC, REL_LOC or FLEX */
	const char *print_fmt;	/* all after "print fmt: " */
	const struct tacho_print *print;	/* NULL: the format did not compile */
};

/*
 * tacho_type_parse - make a type from a `format` text.
 *
 * text holds len bytes: "name: x", "ID: n", "format:", fields, "print fmt: ..."
 * in the kernel's layout.  With name != NULL the type gets the caller's name and id; those in the
 * text are ignored and may be missing. system and name are copied.  All memory comes from the
 * arena and has its lifetime.  The print format is compiled; one that does not compile is kept as
 * text and is not an error: type->print is NULL then, and tacho_print_compile() says why.
 *
 * At most 1,024 fields.  Fields that overlap or exceed TACHO_RAW_MAX are an error.
 *
 * Returns the type, or NULL with d filled in (offset is the byte in text):
 * -EINVAL for text that is not a format, -ENOMEM (and arena->no_memory is set).
 */
struct tacho_type *tacho_type_parse(struct tacho_arena *arena,
				    const char *system, const char *name,
				    uint32_t id, const char *text, size_t len,
				    struct tacho_diag *d);

/*
 * tacho_type_parse_fields - as tacho_type_parse(), but ignore the print format.
 *
 * Takes memory from the arena only; with d NULL it may run in a signal handler.
 */
struct tacho_type *tacho_type_parse_fields(struct tacho_arena *arena,
					   const char *system, const char *name,
					   uint32_t id, const char *text,
					   size_t len, struct tacho_diag *d);

/*
 * tacho_type_write - append the `format` text of a type.
 *
 * The text is as the kernel's; with_head: it includes the lines "name:" and "ID:".  Parsing the
 * result gives an equal type (a test's fixpoint).
 */
void tacho_type_write(const struct tacho_type *type, bool with_head,
		      struct tacho_buf *out);

/* The field called name (a common_ field too), or NULL. */
const struct tacho_field *tacho_type_field(const struct tacho_type *type,
					   const char *name);

/*
 * tacho_field_data - the bytes of a field in one raw event.
 *
 * Follows __data_loc and __rel_loc.  Returns a pointer into raw and sets *size,
 * or NULL if any byte of the field is outside the len bytes at raw.  A string's bytes may or may
 * not include its NUL.
 */
const void *tacho_field_data(const struct tacho_field *f, const void *raw,
			     size_t len, size_t *size);

/*
 * tacho_field_int - a scalar field's value, sign-extended to 64 bits when the
 * field is signed.  Returns false when it is absent or not a SCALAR of 1,
 * 2, 4 or 8 bytes, or a floating-point number.
 */
bool tacho_field_int(const struct tacho_field *f, const void *raw, size_t len,
		     uint64_t *value);

/*
 * tacho_field_double - the value of a SCALAR field of type float or double.
 * Returns false if it is absent or of another type.
 */
bool tacho_field_double(const struct tacho_field *f, const void *raw,
			size_t len, double *value);

/*
 * tacho_field_print - a field's value as text, without knowledge of the print
 * format: decimal integers, floating-point numbers with enough digits to read the same value
 * back, pointers in hex with 0x, strings unchanged (control characters escaped), bitmasks as the
 * kernel's "00000000,0000000f", other arrays as "{1,2,3}", opaque bytes in hex, "(absent)" where
 * the raw event is too short.
 */
void tacho_field_print(const struct tacho_field *f, const void *raw, size_t len,
		       struct tacho_buf *out);

#endif
