/* SPDX-License-Identifier: MIT */
/*
 * print_prog.h - the compiled form of a print format.
 *
 * A program is a flat array of 16-byte instructions; jumps only go forward, so
 * a run takes at most as many steps as there are instructions, and the work
 * of one step is bounded by the bytes of the raw event.  There are
 *
 *	r[0..63]  integers, 64 bits, kept cut to their C type's size; or the bits
 *		  of a double
 *	span      a run of bytes inside the raw event, or absent (NULL)
 *	spec the current conversion, with its '*'s filled in
 *	mark      where in the output that conversion began
 *
 * Fixed parts need no check during a run: `need` is the end of the last byte that any instruction
 * reads at a fixed offset, and a shorter event is printed by its fields instead.  Offsets from
 * the event (spans) are checked when a span is computed.
 *
 * Below, F is the raw event's byte at offset x; imm an instruction's 64-bit
 * operand; n its 16-bit one; "text" the output.
 */
#ifndef TACHO_EVENT_PRINT_PROG_H
#define TACHO_EVENT_PRINT_PROG_H

#include "event/print_text.h"
#include "event/type.h"

#define TACHO_PRINT_REGS 64
/* Longer programs are rejected. */
#define TACHO_PRINT_CODE 65536

enum tacho_print_op {
/*	 name		   operands	what it does */
	OP_END,		/*		the text is complete */
	OP_JMP,		/* x		go to instruction x, which is later */
	OP_JZ,		/* r x		the same if r is 0 */

	OP_SET,		/* r imm	r = imm */
	OP_LD_U8,	/* r x		r = F, zero-extended */
	OP_LD_S8,	/* r x		r = F, sign-extended */
	OP_LD_U16,	/* r x */
	OP_LD_S16,	/* r x */
	OP_LD_U32,	/* r x */
	OP_LD_S32,	/* r x */
	OP_LD_64,	/* r x */
	OP_BIN,		/* r n		r = r (op n) r+1, op an enum tacho_binop */
	OP_BIN_IMM,	/* r n imm	r = r (op n) imm */
	OP_UN,		/* r n		r = (op n) r, op an enum tacho_unop */
	OP_CUT,		/* r n x	r cut to n bytes, sign-extended if x */
	OP_SWAP,	/* r n		the low n bytes of r in reverse order */
	OP_JIFFIES,	/* r imm	r = r jiffies in 1/imm seconds */
	OP_WIDEN,	/* r		r = the float whose bits r has, as a double */
	OP_NARROW,	/* r		the double r rounded to what a float can hold */
	OP_LEN,		/* r x		r = the length in the word at F */

	OP_SPAN_FIX,	/* x imm	span = imm bytes from F on */
	OP_SPAN_LOC,	/* x		span = the data that the __data_loc at F refers to */
	OP_SPAN_REL,	/* x		span = the data that the __rel_loc at F refers to */
	OP_SPAN_FLEX,	/* x		span = all from F on */
	OP_SPAN_ADD,	/* r		span without its first r bytes */
	OP_LDX,		/* r n x	r = n bytes of the span at r * n, signed if x;
					0 where the span is too short */

	OP_LIT,		/* n x		text += n bytes of the pool from x on */
	OP_DEC_S,	/* r		text += r, signed decimal */
	OP_DEC_U,	/* r		text += r, decimal */
	OP_DEC_S32,	/* x		text += the int at F */
	OP_DEC_U32,	/* x */
	OP_DEC_S64,	/* x */
	OP_DEC_U64,	/* x */
	OP_HEX,		/* r n		text += r in hex, at least n digits */
	OP_CHAR,	/* r		text += the character r */
	OP_STR,		/*		text += span up to its NUL */
	OP_STR_FIX,	/* n x		text += n bytes at F up to their NUL */
	OP_STR_LOC,	/* x		text += the string of the __data_loc at F */
	OP_KSTR,	/* r		text += the kernel's string at address r */
	OP_FLAGS,	/* r x		text += r by flag table x */
	OP_SYMBOLIC,	/* r x		text += r by value table x */
	OP_SYM,		/* r n		text += symbol at address r; with offset if n */
	OP_PTR,		/* r		text += the address r, or its hash, as %p */
	OP_ERR,		/* r		text += the error r by name, as %pe */
	OP_HEXB,	/* r n		text += r bytes of span in hex, n between them */
	OP_BITS,	/* r n		text += r bits of span, as a list if n */
	OP_BITMASK,	/*		text += span as a bitmap */
	OP_ARRAY,	/* r n		text += span as {..}, r elements (all unless
					n) of r+1 bytes */
	OP_DUMP,	/* r n x	text += hex dump of span: type, row, group,
					length, ascii in r.., prefix n bytes at x */
	OP_EXT,		/* r n x imm	text += span as %p extension r, its letters
					n bytes at x */
	OP_STACK,	/* n text += the return addresses of span, of n bytes, one per line */
	OP_PACKED,	/* r n text += the arguments packed in span, formatted by the kernel's
					format string at address r; longs of n bytes */

	OP_SPEC,	/* x		spec = specs[x] */
	OP_WIDTH,	/* r		spec.width = r, left if negative */
	OP_PREC,	/* r		spec.prec = r */
	OP_NUM,		/* r		text += r by spec */
	OP_REAL,	/* r		text += the double r by spec */
	OP_MARK,	/*		mark = here */
	OP_PAD,		/* text since mark padded and cut by spec */
};

struct tacho_insn {
	uint8_t op;		/* enum tacho_print_op */
	uint8_t r;
	uint16_t n;
	uint32_t x;
	uint64_t imm;
};

_Static_assert(sizeof(struct tacho_insn) == 16, "instruction");

struct tacho_entry {
	uint64_t value;
	uint32_t at;		/* in the pool */
	uint32_t len;
};

struct tacho_table {
	uint32_t first;		/* in entries */
	uint32_t nr;
	uint32_t delim;		/* in the pool */
	uint32_t delim_len;
	bool sorted;		/* values strictly ascending */
};

struct tacho_print {
	const struct tacho_insn *code;
	uint32_t nr;
	uint32_t need;		/* shorter events are printed by their fields */
	const char *pool;	/* literals; 16 bytes more may be read */
	const struct tacho_spec *specs;
	const struct tacho_table *tables;
	const struct tacho_entry *entries;
	bool uses_hz;		/* cannot run without env->hz */
};

#endif
