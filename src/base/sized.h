/* SPDX-License-Identifier: MIT */
/*
 * sized.h - public structs that get members at their end.
 *
 * Such a struct begins with `uint32_t struct_size`, its size in the version that the caller was
 * compiled for.  The library fills in or reads only the members that both versions know.
 */
#ifndef TACHO_BASE_SIZED_H
#define TACHO_BASE_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Copies our struct of size bytes to the caller's of to_size bytes, at least 4.  Members that
 * we do not know become 0; struct_size stays the caller's.
 */
static inline void tacho_sized_put(void *to, uint32_t to_size, const void *from, size_t size)
{
	memcpy(to, from, to_size < size ? to_size : size);
	if (to_size > size)
		memset((unsigned char *)to + size, 0, to_size - size);
	memcpy(to, &to_size, sizeof(to_size));
}

/*
 * Copies the caller's struct to ours of size bytes; members that the caller does not know are 0.
 *
 * Returns 0; -EINVAL: struct_size is smaller than least; -E2BIG: the caller sets a
 * member that we do not know.
 */
static inline int tacho_sized_get(void *to, size_t size, const void *from, size_t least)
{
	const unsigned char *bytes = from;
	uint32_t from_size;

	memcpy(&from_size, from, sizeof(from_size));
	if (from_size < least)
		return -EINVAL;
	for (size_t i = size; i < from_size; i++)
		if (bytes[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, from_size < size ? from_size : size);
	return 0;
}

#endif
