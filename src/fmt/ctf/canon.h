/* SPDX-License-Identifier: MIT */
/*
 * canon.h - canonical records (layout.h): checking and producing them.
 *
 * Each type is classified once by the length of its records; the check of a record is then one
 * comparison for types of fixed size.
 */
#ifndef TACHO_FMT_CTF_CANON_H
#define TACHO_FMT_CTF_CANON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "event/type.h"

enum tacho_canon_kind {
	TACHO_CANON_FIXED,	/* one size */
	TACHO_CANON_DYNAMIC,	/* packed data after the fixed part */
	TACHO_CANON_TEXT,	/* ends in a NUL-terminated string */
	TACHO_CANON_NEVER,	/* ends in an array of any length */
};

struct tacho_canon_loc {
	uint16_t at;		/* the word's offset in the raw event */
	uint8_t elem_shift;
	bool relative;
	const struct tacho_field *field;
};

struct tacho_canon {
	const struct tacho_type *type;
	enum tacho_canon_kind kind;
	uint32_t fixed;		/* raw bytes of the fixed part */
	uint32_t size;		/* FIXED: the record's size */
	uint32_t nr_locs;
	const struct tacho_canon_loc *loc;	/* by offset */
};

/* Classifies a type.  NULL without memory. */
const struct tacho_canon *tacho_canon_new(struct tacho_arena *arena,
					  const struct tacho_type *type);

/*
 * Where the raw event of a record ends (in bytes from its start), when the
 * record of `size` bytes (first word included) is canonical; else 0.
 */
uint32_t tacho_canon_end(const struct tacho_canon *c, const unsigned char *raw,
			 uint32_t size);

/*
 * Appends the record in canonical form to out, when that can be done without
 * losing a byte of a field.  Returns the raw event's end, or 0 if the record needs a substitute
 * type id.
 */
uint32_t tacho_canon_rewrite(const struct tacho_canon *c, uint64_t word,
			     const unsigned char *raw, struct tacho_buf *out);

#endif
