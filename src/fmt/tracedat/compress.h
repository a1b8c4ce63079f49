/* SPDX-License-Identifier: MIT */
/*
 * compress.h - the compressions of trace.dat, each with its own library.
 *
 * If a library was missing when tacho was built, its codec cannot be created; its name is still
 * known, so that the message can say what to do.
 */
#ifndef TACHO_FMT_TRACEDAT_COMPRESS_H
#define TACHO_FMT_TRACEDAT_COMPRESS_H

#include <stddef.h>

struct tacho_dat_codec;

/*
 * A codec by trace-cmd's name for it, "zstd" or "zlib".  0 and *codec,
 * -EINVAL for an unknown name, -ENOTSUP for one that this build lacks, -ENOMEM.
 */
int tacho_dat_codec_new(struct tacho_dat_codec **codec, const char *name);
/* Another of the same kind, for another thread.  0 and *copy, or -ENOMEM. */
int tacho_dat_codec_copy(struct tacho_dat_codec **copy, const struct tacho_dat_codec *codec);
void tacho_dat_codec_free(struct tacho_dat_codec *codec);

/*
 * Decompresses len bytes into at most room bytes.  Returns their number, or
 * -EBADMSG when they are damaged or do not fit.
 */
long tacho_dat_decode(struct tacho_dat_codec *codec, const void *in, size_t len,
		      void *out, size_t room);

#endif
