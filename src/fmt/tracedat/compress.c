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
	int (*init)(struct tacho_dat_codec *codec);
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

static int codec_make(struct tacho_dat_codec **codec, int (*init)(struct tacho_dat_codec *codec))
{
	struct tacho_dat_codec *c = calloc(1, sizeof(*c));
	int err = c ? init(c) : -ENOMEM;

	*codec = err ? NULL : c;
	if (err)
		free(c);
	else
		c->init = init;
	return err;
}

int tacho_dat_codec_new(struct tacho_dat_codec **codec, const char *name)
{
	*codec = NULL;
	if (!strcmp(name, "zstd"))
		return codec_make(codec, zstd_init);
	return strcmp(name, "zlib") ? -EINVAL : codec_make(codec, zlib_init);
}

int tacho_dat_codec_copy(struct tacho_dat_codec **copy, const struct tacho_dat_codec *codec)
{
	return codec_make(copy, codec->init);
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
