/* SPDX-License-Identifier: MIT */
/*
 * choose.h - which structs the records of version 2.3 have.
 *
 * Nothing in a file of version 2.3 says how wide its pointers are, nor whether its
 * records are padded.  Three sets of structs are known (layout.h): 64, 32 and "text",
 * the widths that the format's description prints.  The sizes of the records tell them
 * apart, as far as they do:
 *
 *	1. Every record of an event with a struct is tried with each layout, packed
 *	   one behind the other and padded to 8.  It fits when its size is what the
 *	   layout gives and its padding is zeros.
 *	2. The first 64 KiB of each buffer are looked at, and buffers until only one layout
 *	   fits all that was seen, or up to the end.
 *	3. The layout that most records fit is taken.  If others fit as many and give the
 *	   same numbers, it does not matter which.
 *	4. Else the one with fewer odd numbers: 8 bytes whose lower half is zero and whose
 *	   upper is not; bytes in a hole that are not zero.
 *	5. Else the one of the machine that START names, where that has pointers of one
 *	   width.
 *	6. Else nobody knows: the user has to say.
 *
 * All files of a trace are asked together.  Where most records fit no layout the file
 * is not read at all; a single record that does not fit is damage, and shown raw.
 */
#ifndef TACHO_FMT_LTT_CHOOSE_H
#define TACHO_FMT_LTT_CHOOSE_H

#include "fmt/ltt/file.h"

/* What was seen of how records fit layouts; zeros: nothing so far. */
struct tacho_ltt_fit {
	uint64_t seen;				/* records that were tried */
	uint64_t fits[TACHO_LTT_NR_23][2];	/* packed, padded */
	uint64_t odd[TACHO_LTT_NR_23];
	bool differ[TACHO_LTT_NR_23][TACHO_LTT_NR_23];	/* other numbers */
};

/* Looks at a file of version 2.3 and adds what it says.  0 or -errno. */
int tacho_ltt_fit_add(struct tacho_ltt_fit *fit, const struct tacho_ltt_file *f);

/* Adds what was seen of one file to what was seen of all. */
void tacho_ltt_fit_sum(struct tacho_ltt_fit *all, const struct tacho_ltt_fit *one);

/* Whether another layout fits more records of a file. */
bool tacho_ltt_fits_better(const struct tacho_ltt_fit *fit, enum tacho_ltt_layout layout);

/*
 * The layout of a trace whose first file is f.  *also is another one that fits as well but
 * gives other numbers, by step 4 or 5 the less likely one; TACHO_LTT_NR_23: none.
 *
 * 0, or -EINVAL with d filled in: no layout fits, or several do.
 */
int tacho_ltt_choose(const struct tacho_ltt_fit *fit, const struct tacho_ltt_file *f,
		     enum tacho_ltt_layout *layout, enum tacho_ltt_layout *also,
		     struct tacho_diag *d);

/* "64", "32", "text". */
const char *tacho_ltt_layout_name(enum tacho_ltt_layout layout);

#endif
