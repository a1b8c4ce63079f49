// SPDX-License-Identifier: MIT
#include "base/write.h"

#include <errno.h>
#include <unistd.h>

int tacho_write_all(int fd, const void *p, size_t len)
{
	const char *s = p;

	while (len) {
		ssize_t n = write(fd, s, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		s += n;
		len -= (size_t)n;
	}
	return 0;
}
