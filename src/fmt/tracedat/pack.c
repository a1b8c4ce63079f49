// SPDX-License-Identifier: MIT
#include "fmt/tracedat/pack.h"

#ifdef TACHO_ZSTD

#include <stdlib.h>
#include <zstd.h>

/* zstd's fastest ordinary level: pages compress 4:1 with it, 5:1 with 19. */
#define LEVEL	1

struct tacho_dat_packer {
	ZSTD_CCtx *ctx;
	void *out;
	size_t room;
};

const char tacho_dat_pack_name[] = "zstd";

const char *tacho_dat_pack_version(void)
{
	return ZSTD_versionString();
}

struct tacho_dat_packer *tacho_dat_packer_new(void)
{
	struct tacho_dat_packer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ctx = ZSTD_createCCtx();
	if (p->ctx)
		return p;
	free(p);
	return NULL;
}

void tacho_dat_packer_free(struct tacho_dat_packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->ctx);
	free(p->out);
	free(p);
}

const void *tacho_dat_pack(struct tacho_dat_packer *p, const void *bytes,
			   size_t len, size_t *out_len)
{
	size_t bound = ZSTD_compressBound(len);

	if (bound > p->room) {
		free(p->out);
		p->out = malloc(bound);
		p->room = p->out ? bound : 0;
	}
	if (!p->out)
		return NULL;
	*out_len = ZSTD_compressCCtx(p->ctx, p->out, p->room, bytes, len, LEVEL);
	return ZSTD_isError(*out_len) ? NULL : p->out;
}

#else

const char tacho_dat_pack_name[] = "none";

const char *tacho_dat_pack_version(void)
{
	return "";
}

struct tacho_dat_packer *tacho_dat_packer_new(void)
{
	return NULL;
}

void tacho_dat_packer_free(struct tacho_dat_packer *p)
{
	(void)p;
}

const void *tacho_dat_pack(struct tacho_dat_packer *p, const void *bytes,
			   size_t len, size_t *out_len)
{
	(void)p;
	(void)bytes;
	(void)len;
	*out_len = 0;
	return NULL;
}

#endif
