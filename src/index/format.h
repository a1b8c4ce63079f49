/* SPDX-License-Identifier: MIT */
/*
 * format.h - the bytes of an index file.  What they mean is in index.h.
 *
 * All numbers are little-endian.  A *varint* has 7 bits a byte, the lowest first; bit 7 says that
 * another byte follows.  A *zigzag* is a varint of a signed number: 0, -1, 1, -2, ...
 *
 *	0	"tachoidx", u32 version, u32 0
 *	64	slot 0	u64 sequence, u64 offset and u32 length of a root, u32 CRC-32C of these
 *	128	slot 1
 *	256	blocks
 *
 * Block
 *	u32 CRC-32C of all that follows in it, u32 length of the payload << 8 | kind, u64 its own
 *	offset in the file, payload.  So a block that was copied to another place is damaged.
 *	RECORDS		leaves, nodes, edges, one after the other, each referred to by a *ref*:
 *			offset of the block << 16 | offset in its payload.  No ref is 0
 *	BLOB		a piece of at most 32 KiB of something larger; the pieces follow each
 *			other.  A blob is referred to by the offset of its first block, and its
 *			length
 *
 * Records begin with a byte that says what they are and the number of their tree: track * 2,
 * or (place in the table of losses) * 2 + 1.
 *	leaf	varint length, u64 base, INDEX_LEAF items (leaf.h)
 *	node	u8 level, u8 number of parts, varint length, parts (part.h) of the level
 *		below.  The lowest nodes have level 1; their parts are leaves.  The last node of
 *		each level may have fewer than INDEX_FAN parts
 *	edge	what is not complete of a tree, edge.h
 *	page	of a table, table.h; without the number of a tree
 *
 * A full leaf has INDEX_LEAF items and a node INDEX_FAN parts, always: only an edge has
 * fewer.  So parts of a level have all the same number of items, and it is not stored.
 */
#ifndef TACHO_INDEX_FORMAT_H
#define TACHO_INDEX_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define INDEX_MAGIC	"tachoidx"
#define INDEX_VERSION	1u

#define INDEX_SLOT(i)	(64u + 64u * (i))
#define INDEX_SLOT_SIZE	24u
#define INDEX_BEGIN	256u		/* of the blocks */

#define INDEX_HEAD	16u		/* of a block */
#define INDEX_BLOCK	16384u		/* the largest payload of records */
#define INDEX_PIECE	32768u		/* of a blob */

enum index_block { INDEX_RECORDS = 1, INDEX_BLOB };
enum index_record {
	INDEX_LEAF_RECORD = 1, INDEX_NODE_RECORD, INDEX_EDGE_RECORD, INDEX_PAGE_RECORD,
};

/* 64 * 16^12 items fit no file. */
#define INDEX_LEVELS	12u

/* A record is never larger. */
#define INDEX_RECORD	INDEX_BLOCK

#define INDEX_VARINT	10u		/* the longest */

static inline unsigned char *index_put(unsigned char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (unsigned char)v;
	return p;
}

static inline uint64_t index_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t index_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}

/* Bytes that are read.  Errors stick: what is read afterwards is 0. */
struct index_bytes {
	const unsigned char *p, *end;
	bool bad;
};

static inline uint64_t index_get(struct index_bytes *b)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64 && b->p < b->end; shift += 7) {
		unsigned char c = *b->p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	b->bad = true;
	b->p = b->end;
	return 0;
}

static inline int64_t index_get_signed(struct index_bytes *b)
{
	return index_unzigzag(index_get(b));
}

static inline uint32_t index_get_u32(struct index_bytes *b)
{
	uint64_t v = index_get(b);

	if (v > UINT32_MAX)
		b->bad = true;
	return (uint32_t)v;
}

/* len bytes of it, or NULL. */
static inline const unsigned char *index_get_bytes(struct index_bytes *b, uint64_t len)
{
	const unsigned char *p = b->p;

	if (len > (uint64_t)(b->end - b->p)) {
		b->bad = true;
		b->p = b->end;
		return NULL;
	}
	b->p += len;
	return p;
}

static inline uint8_t index_get_u8(struct index_bytes *b)
{
	const unsigned char *p = index_get_bytes(b, 1);

	return p ? *p : 0;
}

static inline uint64_t index_get_u64(struct index_bytes *b)
{
	const unsigned char *p = index_get_bytes(b, 8);

	return p ? tacho_load_le64(p) : 0;
}

#endif
