/* SPDX-License-Identifier: MIT */
/*
 * <sys/platform.h> - names that other QNX headers define.
 *
 * Confirmed: the names; EOK is <errno.h>'s there.
 */
#ifndef __PLATFORM_H_INCLUDED
#define __PLATFORM_H_INCLUDED

#include <stdint.h>

typedef int8_t _Int8t;
typedef uint8_t _Uint8t;
typedef int16_t _Int16t;
typedef uint16_t _Uint16t;
typedef int32_t _Int32t;
typedef uint32_t _Uint32t;
typedef int64_t _Int64t;
typedef uint64_t _Uint64t;
typedef intptr_t _Intptrt;
typedef uintptr_t _Uintptrt;

#ifndef EOK
#define EOK	0
#endif

#endif
