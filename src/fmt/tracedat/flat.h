/* SPDX-License-Identifier: MIT */
/*
 * flat.h - records of the kernel's system "ftrace", as the kernel writes them.
 *
 * Those that end in an array without a length (kernel_stack, print, bprint, raw_data,
 * function) were rewritten by the recorder: the array became a __data_loc, see
 * kernel/ktype.h.  Readers of the kernel's pages, or of a trace.dat, expect the kernel's form; so
 * the array is restored.
 */
#ifndef TACHO_FMT_TRACEDAT_FLAT_H
#define TACHO_FMT_TRACEDAT_FLAT_H

#include <stdbool.h>
#include <stddef.h>

#include "event/type.h"

struct tacho_dat_flat {
	const struct tacho_field *rest;	/* was the array; NULL: the type was not rewritten */
	uint32_t head;			/* bytes before the __data_loc word */
	uint32_t offset;		/* where the array begins */
};

/* Whether a type was rewritten, and how; rest points into the type. */
bool tacho_dat_flat_find(struct tacho_dat_flat *f, const struct tacho_type *type);

/* Bytes that a record of len bytes becomes. */
size_t tacho_dat_flat_len(const struct tacho_dat_flat *f, const void *raw, size_t len);

/* Writes these bytes to `to`. */
void tacho_dat_flat_put(const struct tacho_dat_flat *f, const void *raw, size_t len,
			unsigned char *to);

#endif
