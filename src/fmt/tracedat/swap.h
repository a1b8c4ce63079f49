/* SPDX-License-Identifier: MIT */
/*
 * swap.h - pages of a machine of the other byte order, made native.
 *
 * A page is turned in place, so that all that reads native pages reads it: its
 * header, the word of every event (whose 5 and 27 bits also trade places), the
 * numbers of its fields, __data_loc words and what they point to.  Which bytes
 * are numbers, the event's format tells: its plan is made from it once.
 *
 * trace_printk()'s arguments are where its format says (event/print_packed.h).
 * Structs and what has no size of 2, 4 or 8 bytes stay as they are.
 */
#ifndef TACHO_FMT_TRACEDAT_SWAP_H
#define TACHO_FMT_TRACEDAT_SWAP_H

#include "base/arena.h"
#include "event/type.h"
#include "kdata/pages.h"

enum tacho_dat_swap_kind {
	TACHO_DAT_SWAP_HERE,	/* count numbers of `size` at `offset` */
	TACHO_DAT_SWAP_LOC,	/* a word at offset, and `size`s where it points */
	TACHO_DAT_SWAP_REL,	/* the same, counted from the word's end */
	TACHO_DAT_SWAP_REST,	/* `size`s from offset to the end */
	TACHO_DAT_SWAP_PACKED,	/* the same, but numbers are where a format says */
};

struct tacho_dat_swap_step {
	uint8_t kind;		/* enum tacho_dat_swap_kind */
	uint8_t size;		/* 1 (nothing to swap), 2, 4, 8 */
	uint16_t offset;
	uint32_t count;
};

struct tacho_dat_swap {
	uint16_t fmt, fmt_size;	/* PACKED: where the address of the format is */
	uint32_t nr;
	struct tacho_dat_swap_step step[];
};

/* The plan of a type as its kernel described it; NULL: no memory. */
const struct tacho_dat_swap *tacho_dat_swap_plan(struct tacho_arena *arena,
						 const struct tacho_type *type);

/* What is not in a page.  All calls get arg. */
struct tacho_dat_swap_env {
	void *arg;
	/* How the event with this common_type is turned; NULL: not at all. */
	const struct tacho_dat_swap *(*find)(void *arg, uint32_t id);
	/* The kernel's string at an address; NULL: not known. */
	const char *(*string)(void *arg, uint64_t addr);
};

/*
 * Turns len bytes of a page.  Damage ends it: what is after stays as it was,
 * and reading the page will stop at the same place.
 */
void tacho_dat_swap_page(const struct tacho_kpage_layout *l,
			 unsigned char *bytes, size_t len,
			 const struct tacho_dat_swap_env *env);

#endif
