// SPDX-License-Identifier: MIT
/* This process's own mappings of files, by system calls only. */
#include "runtime/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "runtime/actions.h"
#include "sys/mapping.h"

/* Maximum length of a line: a path in which most bytes may be escaped. */
#define WINDOW	(UINT64_C(64) << 10)

bool tacho_memory_read(uint64_t addr, void *to, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t n = tacho_memory_copy(addr + at, (char *)to + at, size - at);

		if (!n)
			return false;
		at += n;
	}
	return true;
}

/* A number in hexadecimal or decimal at *s; moves *s after it and what ends it. */
static uint64_t take_number(const char **s, const char *end, unsigned int base)
{
	uint64_t v = 0;

	(void)tacho_scan_digits(s, end, base, UINT64_MAX, &v);
	*s += *s < end;
	return v;
}

/* "7f00-7f10 r-xp 00001000 08:01 4711      /lib/x.so"; false: of no file. */
static bool parse_line(const char *s, const char *end, struct runtime_map *m)
{
	static const char deleted[] = " (deleted)";
	size_t n = sizeof(deleted) - 1;

	m->start = take_number(&s, end, 16);
	m->end = take_number(&s, end, 16);
	if (end - s < 5)
		return false;
	m->code = s[2] == 'x';
	s += 5;
	m->offset = take_number(&s, end, 16);
	m->dev_major = take_number(&s, end, 16);
	m->dev_minor = take_number(&s, end, 16);
	m->inode = take_number(&s, end, 10);
	while (s < end && *s == ' ')
		s++;
	m->path = s;
	m->path_len = (size_t)(end - s);
	m->deleted = m->path_len > n && !memcmp(end - n, deleted, n);
	if (m->deleted)
		m->path_len -= n;
	return m->inode && m->path_len && *s == '/' && m->start < m->end;
}

/* Hands out the whole lines of a window; how many bytes they were. */
static size_t each_line(const char *window, size_t len, runtime_map_fn *fn,
			void *arg, bool *go_on)
{
	struct runtime_map m;
	size_t at = 0;

	while (*go_on && at < len) {
		const char *line = window + at;
		const char *nl = memchr(line, '\n', len - at);

		if (!nl)
			break;
		at = (size_t)(nl + 1 - window);
		if (parse_line(line, nl, &m))
			*go_on = fn(&m, arg);
	}
	return at;
}

int tacho_maps_each(runtime_map_fn *fn, void *arg)
{
	char *window = tacho_shm_private(WINDOW);
	size_t len = 0, used;
	bool go_on = true;
	ssize_t n = 1;
	int fd, err = 0;

	if (!window)
		return -ENOMEM;
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err = -errno;
	while (!err && go_on && n) {
		n = read(fd, window + len, WINDOW - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
		used = each_line(window, len, fn, arg, &go_on);
		/* no end of line in the whole window: not a list of mappings */
		if (!used && len == WINDOW)
			err = -EINVAL;
		len -= used;
		memmove(window, window + used, len);
	}
	if (fd >= 0)
		close(fd);
	tacho_shm_unmap(window, WINDOW);
	return err;
}
