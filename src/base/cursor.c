// SPDX-License-Identifier: MIT
#include "base/cursor.h"

#include <byteswap.h>
#include <string.h>

#include "base/bytes.h"

void tacho_cur_init(struct tacho_cur *c, const void *p, size_t len)
{
	*c = (struct tacho_cur){ .base = p, .len = len };
}

const void *tacho_cur_bytes(struct tacho_cur *c, size_t n)
{
	const void *p = c->base + c->pos;

	if (c->why)
		return NULL;
	if (n > c->len - c->pos) {
		c->why = "the data ends too early";
		c->at = c->pos;
		return NULL;
	}
	c->pos += n;
	return p;
}

uint8_t tacho_cur_u8(struct tacho_cur *c)
{
	const uint8_t *p = tacho_cur_bytes(c, 1);

	return p ? *p : 0;
}

uint16_t tacho_cur_u16(struct tacho_cur *c)
{
	const void *p = tacho_cur_bytes(c, 2);
	uint16_t v = p ? tacho_load_u16(p) : 0;

	return c->swap ? bswap_16(v) : v;
}

uint32_t tacho_cur_u32(struct tacho_cur *c)
{
	const void *p = tacho_cur_bytes(c, 4);
	uint32_t v = p ? tacho_load_u32(p) : 0;

	return c->swap ? bswap_32(v) : v;
}

uint64_t tacho_cur_u64(struct tacho_cur *c)
{
	const void *p = tacho_cur_bytes(c, 8);
	uint64_t v = p ? tacho_load_u64(p) : 0;

	return c->swap ? bswap_64(v) : v;
}

const char *tacho_cur_str(struct tacho_cur *c)
{
	const char *s = (const char *)c->base + c->pos;
	const char *end;

	if (c->why)
		return NULL;
	end = memchr(s, '\0', c->len - c->pos);
	if (!end) {
		c->why = "a string has no end";
		c->at = c->pos;
		return NULL;
	}
	c->pos += (size_t)(end - s) + 1;
	return s;
}
