/* SPDX-License-Identifier: MIT */
/* bytes.h - loads and stores at any alignment and in either byte order. */
#ifndef TACHO_BASE_BYTES_H
#define TACHO_BASE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Native order. */
#define TACHO_BYTES_NATIVE(bits)					\
static inline uint##bits##_t tacho_load_u##bits(const void *p)		\
{									\
	uint##bits##_t v;						\
									\
	memcpy(&v, p, sizeof(v));					\
	return v;							\
}									\
static inline void tacho_put_u##bits(void *p, uint##bits##_t v)		\
{									\
	memcpy(p, &v, sizeof(v));					\
}
TACHO_BYTES_NATIVE(16)
TACHO_BYTES_NATIVE(32)
TACHO_BYTES_NATIVE(64)
#undef TACHO_BYTES_NATIVE

static inline uint16_t tacho_load_le16(const void *p) { return le16toh(tacho_load_u16(p)); }
static inline uint32_t tacho_load_le32(const void *p) { return le32toh(tacho_load_u32(p)); }
static inline uint64_t tacho_load_le64(const void *p) { return le64toh(tacho_load_u64(p)); }
static inline uint16_t tacho_load_be16(const void *p) { return be16toh(tacho_load_u16(p)); }
static inline uint32_t tacho_load_be32(const void *p) { return be32toh(tacho_load_u32(p)); }
static inline uint64_t tacho_load_be64(const void *p) { return be64toh(tacho_load_u64(p)); }

static inline void tacho_put_le16(void *p, uint16_t v) { tacho_put_u16(p, htole16(v)); }
static inline void tacho_put_le32(void *p, uint32_t v) { tacho_put_u32(p, htole32(v)); }
static inline void tacho_put_le64(void *p, uint64_t v) { tacho_put_u64(p, htole64(v)); }

#endif
