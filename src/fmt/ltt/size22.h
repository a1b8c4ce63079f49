/* SPDX-License-Identifier: MIT */
/* size22.h - how long a record of version 2.2 is, seen from its beginning. */
#ifndef TACHO_FMT_LTT_SIZE22_H
#define TACHO_FMT_LTT_SIZE22_H

#include "fmt/ltt/file.h"

/*
 * The size of the record at p, `left` bytes before the end, by what its event is
 * in this layout; cpu: its CPU stands before it.  0: none that is known.  What the
 * record says is for the caller to compare.
 */
size_t tacho_ltt_size_22(const struct tacho_ltt_file *f, const unsigned char *p,
			 size_t left, enum tacho_ltt_layout layout, bool cpu);

#endif
