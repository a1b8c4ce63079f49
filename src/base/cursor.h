/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - bounded reading of foreign bytes.
 *
 * Errors stick: after a read past the end every further read returns 0 (or
 * NULL), and `why` says what was wrong and `at` where.  So a caller reads a header field by field
 * and checks for an error once.
 */
#ifndef TACHO_BASE_CURSOR_H
#define TACHO_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tacho_cur {
	const unsigned char *base;
	size_t len;
	size_t pos;
	bool swap;		/* the input has the other byte order */
	const char *why;	/* static text; NULL: no error */
	size_t at;		/* offset of the read that failed */
};

/* Starts reading len bytes at p, which stay the caller's. */
void tacho_cur_init(struct tacho_cur *c, const void *p, size_t len);

/* n bytes, borrowed from the input; NULL (and the error sticks) when short. */
const void *tacho_cur_bytes(struct tacho_cur *c, size_t n);

/* Integers in the input's byte order (`swap`); 0 when short. */
uint8_t tacho_cur_u8(struct tacho_cur *c);
uint16_t tacho_cur_u16(struct tacho_cur *c);
uint32_t tacho_cur_u32(struct tacho_cur *c);
uint64_t tacho_cur_u64(struct tacho_cur *c);

/* A NUL-terminated string inside the input, borrowed; NULL without its NUL. */
const char *tacho_cur_str(struct tacho_cur *c);

static inline size_t tacho_cur_left(const struct tacho_cur *c)
{
	return c->len - c->pos;
}

#endif
