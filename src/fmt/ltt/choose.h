/* SPDX-License-Identifier: MIT */
/*
 * choose.h - finds the layout of the structs in files of version 2.3.
 *
 * A file of version 2.3 contains neither the width of its pointers nor whether its records are
 * padded.  Three sets of structs are known (layout.h): 64, 32 and "text", the widths that the
 * format's description prints.  The sizes of the records distinguish them, as far as possible:
 *
 *	1. Every record of an event with a struct is tried with each layout, packed
 *	   one after the other and padded to 8.  It fits when its size is what the
 *	   layout gives and its padding is zeros.
 *	2. The first 64 KiB of each buffer are examined, until only one layout fits all records so
 *	   far, or up to the end.
 *	3. The layout that fits most records is chosen.  If others fit as many and give the same
 *	   values, any of them is right.
 *	4. Otherwise the one with fewer implausible values: 8 bytes whose lower half is zero and
 *	   whose upper is not; bytes in a hole that are not zero.
 *	5. Otherwise the one of the machine named in START, if its pointers have only one width.
 *	6. Otherwise the user must give the layout.
 *
 * The decision is made for all files of a trace together.  If most records fit no layout, the
 * file is rejected; a single record that does not fit is damage, and shown raw.
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
