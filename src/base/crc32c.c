// SPDX-License-Identifier: MIT
#include "base/crc32c.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "base/compiler.h"

#define POLYNOMIAL	0x82f63b78u	/* its bits reversed */

/* table[k][b]: what byte b, with k bytes after it, adds to the sum. */
static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t v = b;

		for (int i = 0; i < 8; i++)
			v = v >> 1 ^ (v & 1 ? POLYNOMIAL : 0);
		table[0][b] = v;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^
				      table[0][table[k - 1][b] & 255];
}

uint32_t tacho_crc32c_plain(uint32_t crc, const void *p, size_t len)
{
	const unsigned char *s = p;

	(void)pthread_once(&once, make_table);
	crc = ~crc;
	for (; len >= 8; s += 8, len -= 8) {
		uint64_t v = tacho_load_le64(s) ^ crc;

		crc = 0;
		for (int k = 0; k < 8; k++)
			crc ^= table[7 - k][v >> 8 * k & 255];
	}
	for (; len; s++, len--)
		crc = crc >> 8 ^ table[0][(crc ^ *s) & 255];
	return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static uint32_t by_instruction(uint32_t crc, const unsigned char *s, size_t len)
{
	uint64_t v = ~crc;

	for (; len >= 8; s += 8, len -= 8)
		v = __builtin_ia32_crc32di(v, tacho_load_u64(s));
	for (; len; s++, len--)
		v = __builtin_ia32_crc32qi((uint32_t)v, *s);
	return ~(uint32_t)v;
}

uint32_t tacho_crc32c(uint32_t crc, const void *p, size_t len)
{
	return tacho_likely(__builtin_cpu_supports("sse4.2")) ?
	       by_instruction(crc, p, len) : tacho_crc32c_plain(crc, p, len);
}
#else
uint32_t tacho_crc32c(uint32_t crc, const void *p, size_t len)
{
	return tacho_crc32c_plain(crc, p, len);
}
#endif
