// SPDX-License-Identifier: MIT
#include "fmt/tracedat/compress.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef TACHO_ZSTD
#include <zstd.h>
#endif
#ifdef TACHO_ZLIB
#include <zlib.h>
#endif

struct tacho_dat_codec {
	long (*decode)(struct tacho_dat_codec *codec, const void *in,
		       size_t len, void *out, size_t room);
	void *context;
};

#ifdef TACHO_ZSTD
static long zstd_decode(struct tacho_dat_codec *codec, const void *in,
			size_t len, void *out, size_t room)
{
	size_t n = ZSTD_decompressDCtx(codec->context, out, room, in, len);

	return ZSTD_isError(n) ? -EBADMSG : (long)n;
}

static int zstd_init(struct tacho_dat_codec *codec)
{
	codec->decode = zstd_decode;
	codec->context = ZSTD_createDCtx();
	return codec->context ? 0 : -ENOMEM;
}

static void zstd_release(struct tacho_dat_codec *codec)
{
	if (codec->decode == zstd_decode)
		(void)ZSTD_freeDCtx(codec->context);
}
#else
static int zstd_init(struct tacho_dat_codec *codec)
{
	(void)codec;
	return -ENOTSUP;
}

static void zstd_release(struct tacho_dat_codec *codec)
{
	(void)codec;
}
#endif

#ifdef TACHO_ZLIB
static long zlib_decode(struct tacho_dat_codec *codec, const void *in,
			size_t len, void *out, size_t room)
{
	unsigned long n = room;

	(void)codec;
	switch (uncompress(out, &n, in, len)) {
	case Z_OK:
		return (long)n;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

static int zlib_init(struct tacho_dat_codec *codec)
{
	codec->decode = zlib_decode;
	return 0;
}
#else
static int zlib_init(struct tacho_dat_codec *codec)
{
	(void)codec;
	return -ENOTSUP;
}
#endif

int tacho_dat_codec_new(struct tacho_dat_codec **codec, const char *name)
{
	struct tacho_dat_codec *c = calloc(1, sizeof(*c));
	int err = -EINVAL;

	*codec = NULL;
	if (!c)
		return -ENOMEM;
	if (!strcmp(name, "zstd"))
		err = zstd_init(c);
	else if (!strcmp(name, "zlib"))
		err = zlib_init(c);
	if (err) {
		free(c);
		return err;
	}
	*codec = c;
	return 0;
}

void tacho_dat_codec_free(struct tacho_dat_codec *codec)
{
	if (codec)
		zstd_release(codec);
	free(codec);
}

long tacho_dat_decode(struct tacho_dat_codec *codec, const void *in, size_t len,
		      void *out, size_t room)
{
	return room > LONG_MAX ? -EBADMSG :
	       codec->decode(codec, in, len, out, room);
}
