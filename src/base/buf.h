/* SPDX-License-Identifier: MIT */
/*
 * buf.h - growable bytes with a cap.
 *
 * Each buffer has a maximum size, so no input can exhaust the machine's memory.  Errors stick:
 * call tacho_buf_error() once after any number of appends.  After an error the buffer contains
 * what was appended before the append that failed.
 *
 * Not for the probe path: it allocates with malloc.
 */
#ifndef TACHO_BASE_BUF_H
#define TACHO_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

struct tacho_buf {
	char *data;	/* owned; not NUL-terminated, see tacho_buf_str() */
	size_t len;
	size_t room;	/* allocated bytes */
	size_t cap;	/* maximum of room */
	int err;	/* 0, -ENOMEM or -EOVERFLOW; sticks */
};

/* Makes an empty buffer that never holds more than cap bytes. */
void tacho_buf_init(struct tacho_buf *b, size_t cap);

/* Frees the memory; the struct may be initialised again. */
void tacho_buf_release(struct tacho_buf *b);

/* Empties the buffer and its error, keeps the memory. */
void tacho_buf_reset(struct tacho_buf *b);

/* 0, or the negative errno of the first append that failed. */
static inline int tacho_buf_error(const struct tacho_buf *b)
{
	return b->err;
}

/*
 * Makes room for len more bytes and returns where they go, or NULL (and the
 * error sticks).  Call tacho_buf_commit() with how many were written.
 */
char *tacho_buf_reserve_slow(struct tacho_buf *b, size_t len);

static inline char *tacho_buf_reserve(struct tacho_buf *b, size_t len)
{
	if (tacho_likely(!b->err && len <= b->room - b->len))
		return b->data + b->len;
	return tacho_buf_reserve_slow(b, len);
}

static inline void tacho_buf_commit(struct tacho_buf *b, size_t len)
{
	b->len += len;
}

static inline void tacho_buf_put(struct tacho_buf *b, const void *p, size_t len)
{
	char *to = len ? tacho_buf_reserve(b, len) : NULL;

	if (!to)
		return;
	memcpy(to, p, len);
	b->len += len;
}

static inline void tacho_buf_putc(struct tacho_buf *b, char c)
{
	char *to = tacho_buf_reserve(b, 1);

	if (!to)
		return;
	*to = c;
	b->len++;
}

static inline void tacho_buf_puts(struct tacho_buf *b, const char *s)
{
	tacho_buf_put(b, s, strlen(s));
}

/* Appends formatted text. */
void tacho_buf_printf(struct tacho_buf *b, const char *fmt, ...)
	TACHO_PRINTF(2, 3);

/* Decimal without the cost of printf. */
/* A name as part of one line: control characters as C writes them. */
void tacho_buf_put_line(struct tacho_buf *b, const char *s);

void tacho_buf_put_u64(struct tacho_buf *b, uint64_t v);
void tacho_buf_put_s64(struct tacho_buf *b, int64_t v);

/* Decimal, padded on the left with `fill` to at least width characters. */
void tacho_buf_put_u64_pad(struct tacho_buf *b, uint64_t v, unsigned int width,
			   char fill);

/* Lower-case hexadecimal without prefix, at least width digits. */
void tacho_buf_put_hex(struct tacho_buf *b, uint64_t v, unsigned int width);

/*
 * The contents as a NUL-terminated string, borrowed until the next call on
 * the buffer; "" when the terminator does not fit.
 */
const char *tacho_buf_str(struct tacho_buf *b);

/*
 * Appends the whole file at path.  Returns 0 or -errno of open or read;
 * -EOVERFLOW when it is longer than the cap.
 */
int tacho_buf_read_file(struct tacho_buf *b, const char *path);
int tacho_buf_read_fileat(struct tacho_buf *b, int dirfd, const char *path);

#endif
