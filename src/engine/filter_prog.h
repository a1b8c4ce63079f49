/* SPDX-License-Identifier: MIT */
/*
 * filter_prog.h - the compiled form of a filter.
 *
 *	struct tacho_filter	nr, need, size
 *	struct filter_insn[nr]	16 bytes each, in the order of the text
 *	operands		8-aligned: texts with a NUL after them, sets of
 *				CPUs, address ranges; found by their offset
 *
 * One instruction loads a field, compares it and jumps.  Its opcode says how many
 * bytes are loaded, with which sign, and how they are compared, so that one switch
 * does all of it.  Below, F is the raw event's byte at `at`; v is `value`.
 *
 * An instruction whose field is not inside the event yields no.  `need` is the largest `end`, so
 * an event that is at least this long needs no check per instruction.
 *
 * != has its own opcodes and is not == with the opposite `when`, because both are no for a
 * missing field.
 */
#ifndef TACHO_ENGINE_FILTER_PROG_H
#define TACHO_ENGINE_FILTER_PROG_H

#include <stdint.h>

#include "engine/filter_ast.h"

#define FILTER_MAGIC		0x31746c66u	/* "flt1" */
#define FILTER_WORDS_MAX	(FILTER_CPUS_MAX / 64)

/*	     suffix  type      bytes */
#define FILTER_UNSIGNED(X)	\
	X(U8,	uint8_t,	1)	\
	X(U16,	uint16_t,	2)	\
	X(U32,	uint32_t,	4)	\
	X(U64,	uint64_t,	8)
#define FILTER_SIGNED(X)	\
	X(S8,	int8_t,		1)	\
	X(S16,	int16_t,	2)	\
	X(S32,	int32_t,	4)	\
	X(S64,	int64_t,	8)

enum filter_op {
#define X(t, type, bytes) OP_EQ_##t, OP_NE_##t, OP_AND_##t,
	FILTER_UNSIGNED(X)	/* F == v, F != v, F & v */
#undef X
#define X(t, type, bytes) OP_LT_##t, OP_LE_##t, OP_GT_##t, OP_GE_##t,
	FILTER_UNSIGNED(X)	/* F < v, ... */
	FILTER_SIGNED(X)
#undef X
	OP_FIX_EQ,	/* the len bytes at F are those of the text */
	OP_FIX_NE,
	OP_SLOW,	/* this and later opcodes call functions */
	OP_SET_U8 = OP_SLOW,	/* {F} and a set of CPUs */
	OP_SET_U16,
	OP_SET_U32,
	OP_SET_U64,
	OP_CPU_EQ,	/* the event's CPU == v, ... */
	OP_CPU_NE,
	OP_CPU_LT,
	OP_CPU_LE,
	OP_CPU_GT,
	OP_CPU_GE,
	OP_CPU_SET,	/* {the event's CPU} and a set of CPUs */
	OP_MASK_LOC,	/* the bits that the __data_loc at F refers to, and a set */
	OP_MASK_REL,	/* the same of a __rel_loc */
	OP_FIX,		/* the string in the bytes from F to end, and a text */
	OP_LOC,		/* the string that the __data_loc at F refers to */
	OP_REL,
	OP_FLEX,	/* the string from F to the end of the event */
	OP_KERNEL,	/* the kernel's string at the address F */
	OP_USER,	/* the thread's string at the address F */
	OP_COMM,	/* the thread's name */
	OP_IN,		/* the address F is in a range */
	OP_NOT_IN,
	OP_NR,
};

enum filter_match {
	MATCH_FULL,
	MATCH_FRONT,	/* "text*" */
	MATCH_END,	/* "*text" */
	MATCH_MIDDLE,	/* "*text*" */
	MATCH_GLOB,
	MATCH_NR,
};

struct filter_operand_ref {
	uint32_t offset;	/* in the program */
	uint16_t len;		/* of a text; words of a set */
	uint8_t how;		/* enum filter_match; of sets enum filter_cmp */
	uint8_t inverted;	/* of texts: yes becomes no */
};

struct filter_insn {
	uint8_t op;		/* enum filter_op */
	uint8_t when;		/* the result that jumps */
	uint16_t target;	/* nr: no; nr + 1: yes; else the next instruction */
	uint16_t at;
	uint16_t end;		/* first byte after the field's fixed part */
	union {
		uint64_t value;
		struct filter_operand_ref ref;
	} u;
};

_Static_assert(sizeof(struct filter_insn) == 16, "instruction");
_Static_assert(TACHO_FILTER_PREDS_MAX + 1 <= UINT16_MAX, "targets");

struct tacho_filter {
	uint32_t magic;
	uint32_t size;		/* of all of it, in bytes */
	uint32_t nr;
	uint32_t need;
	struct filter_insn insn[];
};

/* Two addresses: the first, and the first after; or a function, not 0, by number. */
struct filter_range {
	uint64_t start, end;
	uint64_t function;
};

static inline const void *filter_operand_at(const struct tacho_filter *f,
					    const struct filter_insn *in)
{
	return (const char *)f + in->u.ref.offset;
}

#endif
