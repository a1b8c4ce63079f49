/* SPDX-License-Identifier: MIT */
/*
 * <tacho/ktypes.h> - kernel names that portable trace headers use.
 *
 * u8 ... u64 and s8 ... s64 are exactly the kernel's types (u64 is `unsigned
 * long long`, to match %llu).  A program that defines these names itself
 * must define TACHO_NO_KERNEL_TYPES before it includes any header of tacho.
 */
#ifndef TACHO_KTYPES_H
#define TACHO_KTYPES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef TACHO_NO_KERNEL_TYPES

#ifndef u8
typedef unsigned char u8;
#endif
#ifndef s8
typedef signed char s8;
#endif
#ifndef u16
typedef unsigned short u16;
#endif
#ifndef s16
typedef short s16;
#endif
#ifndef u32
typedef unsigned int u32;
#endif
#ifndef s32
typedef int s32;
#endif
#ifndef u64
__extension__ typedef unsigned long long u64;
#endif
#ifndef s64
__extension__ typedef long long s64;
#endif

#ifdef __has_include
#if __has_include(<linux/types.h>)
#include <linux/types.h>	/* __u8 ... __s64, __be16 ... */
#endif
#endif

#ifndef TASK_COMM_LEN
#define TASK_COMM_LEN 16
#endif

/* What __vstring() takes apart. */
struct va_format {
	const char *fmt;
	va_list *va;
};

/* For __print_hex_dump(). */
enum {
	DUMP_PREFIX_NONE,
	DUMP_PREFIX_ADDRESS,
	DUMP_PREFIX_OFFSET,
};

#endif /* TACHO_NO_KERNEL_TYPES */

/* Bytes of a __cpumask() field: a cpu_set_t. */
#ifndef TACHO_CPUMASK_BYTES
#define TACHO_CPUMASK_BYTES 128
#endif

#endif
