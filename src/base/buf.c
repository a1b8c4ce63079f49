// SPDX-License-Identifier: MIT
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digits.h"

void tacho_buf_init(struct tacho_buf *b, size_t cap)
{
	*b = (struct tacho_buf){ .cap = cap };
}

void tacho_buf_release(struct tacho_buf *b)
{
	free(b->data);
	*b = (struct tacho_buf){ .cap = b->cap };
}

void tacho_buf_reset(struct tacho_buf *b)
{
	b->len = 0;
	b->err = 0;
}

char *tacho_buf_reserve_slow(struct tacho_buf *b, size_t len)
{
	size_t room;
	char *data;

	if (b->err)
		return NULL;
	if (len > b->cap - b->len) {
		b->err = -EOVERFLOW;
		return NULL;
	}
	room = b->room < 64 ? 64 : b->room;
	while (room - b->len < len)
		room = room > b->cap / 2 ? b->cap : room * 2;
	if (room > b->cap)
		room = b->cap;
	data = realloc(b->data, room);
	if (!data) {
		b->err = -ENOMEM;
		return NULL;
	}
	b->data = data;
	b->room = room;
	return data + b->len;
}

void tacho_buf_printf(struct tacho_buf *b, const char *fmt, ...)
{
	va_list ap;
	size_t room;
	char *to;
	int n;

	to = tacho_buf_reserve(b, 1);
	if (!to)
		return;
	room = b->room - b->len;
	va_start(ap, fmt);
	n = vsnprintf(to, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= room) {
		to = tacho_buf_reserve(b, (size_t)n + 1);
		if (!to)
			return;
		va_start(ap, fmt);
		n = vsnprintf(to, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

void tacho_buf_put_line(struct tacho_buf *b, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			tacho_buf_puts(b, "\\n");
		else if (c == '\t')
			tacho_buf_puts(b, "\\t");
		else if (c < ' ' || c == 127)
			tacho_buf_printf(b, "\\x%02x", c);
		else
			tacho_buf_putc(b, *s);
	}
}

void tacho_buf_put_u64(struct tacho_buf *b, uint64_t v)
{
	char tmp[20];
	char *s = tacho_digits_before(tmp + sizeof(tmp), v);

	tacho_buf_put(b, s, (size_t)(tmp + sizeof(tmp) - s));
}

void tacho_buf_put_s64(struct tacho_buf *b, int64_t v)
{
	if (v < 0) {
		tacho_buf_putc(b, '-');
		tacho_buf_put_u64(b, 0 - (uint64_t)v);
	} else {
		tacho_buf_put_u64(b, (uint64_t)v);
	}
}

void tacho_buf_put_u64_pad(struct tacho_buf *b, uint64_t v, unsigned int width,
			   char fill)
{
	char tmp[20];
	char *s = tacho_digits_before(tmp + sizeof(tmp), v);
	size_t n = (size_t)(tmp + sizeof(tmp) - s);
	char *to = tacho_buf_reserve(b, n > width ? n : width);

	if (!to)
		return;
	for (; width > n; width--) {
		*to++ = fill;
		b->len++;
	}
	memcpy(to, s, n);
	b->len += n;
}

void tacho_buf_put_hex(struct tacho_buf *b, uint64_t v, unsigned int width)
{
	char tmp[16];
	char *s = tmp + sizeof(tmp);

	do {
		*--s = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	while (s > tmp && (size_t)(tmp + sizeof(tmp) - s) < width)
		*--s = '0';
	tacho_buf_put(b, s, (size_t)(tmp + sizeof(tmp) - s));
}

const char *tacho_buf_str(struct tacho_buf *b)
{
	char *to;
	int err = b->err;

	b->err = 0;
	to = tacho_buf_reserve(b, 1);
	b->err = err;
	if (!to)
		return "";
	*to = '\0';
	return b->data;
}

int tacho_buf_read_fileat(struct tacho_buf *b, int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *to = tacho_buf_reserve(b, 4096);
		ssize_t n;

		/* near the cap: take what is left, byte by byte if need be */
		if (!to && b->err == -EOVERFLOW && b->len < b->cap) {
			b->err = 0;
			to = tacho_buf_reserve(b, b->cap - b->len);
		}
		if (!to) {
			err = b->err;
			break;
		}
		n = read(fd, to, b->room - b->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		b->len += (size_t)n;
	}
	close(fd);
	return err;
}

int tacho_buf_read_file(struct tacho_buf *b, const char *path)
{
	return tacho_buf_read_fileat(b, AT_FDCWD, path);
}
