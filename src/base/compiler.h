/* SPDX-License-Identifier: MIT */
/* compiler.h - the few compiler extensions the code relies on, named once. */
#ifndef TACHO_BASE_COMPILER_H
#define TACHO_BASE_COMPILER_H

#include <stddef.h>

#define tacho_likely(x)		__builtin_expect(!!(x), 1)
#define tacho_unlikely(x)	__builtin_expect(!!(x), 0)

#define TACHO_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define TACHO_NOINLINE		__attribute__((noinline))
#define TACHO_COLD		__attribute__((noinline, cold))
#define TACHO_ALWAYS_INLINE	inline __attribute__((always_inline))
#define TACHO_PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define TACHO_UNUSED		__attribute__((unused))

/* Exported from libtacho; everything else is hidden. */
#define TACHO_EXPORT		__attribute__((visibility("default")))

/* Round x up to a multiple of a, a power of two. */
#define TACHO_ALIGN_UP(x, a)	(((x) + ((a) - 1)) & ~((a) - 1))

#endif
