/* SPDX-License-Identifier: MIT */
/* crc32c.h - CRC-32C (Castagnoli), which x86 and ARM have an instruction for. */
#ifndef TACHO_BASE_CRC32C_H
#define TACHO_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The sum of len bytes at p; crc is 0 or that of the bytes before them.  Any thread. */
uint32_t tacho_crc32c(uint32_t crc, const void *p, size_t len);

/* The same without the instruction: for tests. */
uint32_t tacho_crc32c_plain(uint32_t crc, const void *p, size_t len);

#endif
