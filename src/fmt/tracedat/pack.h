/* SPDX-License-Identifier: MIT */
/* pack.h - compression: the one place that knows zstd's compressor. */
#ifndef TACHO_FMT_TRACEDAT_PACK_H
#define TACHO_FMT_TRACEDAT_PACK_H

#include <stddef.h>

struct tacho_dat_packer;

/* Name and version for the file's head: "none" and "" when there is no zstd. */
extern const char tacho_dat_pack_name[];
const char *tacho_dat_pack_version(void);

/* NULL: no memory, or no zstd. */
struct tacho_dat_packer *tacho_dat_packer_new(void);
void tacho_dat_packer_free(struct tacho_dat_packer *p);

/*
 * Compresses len bytes.  Returns the bytes, valid until the next call, and
 * sets *out_len; NULL: no memory.
 */
const void *tacho_dat_pack(struct tacho_dat_packer *p, const void *bytes,
			   size_t len, size_t *out_len);

#endif
