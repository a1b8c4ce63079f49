/* SPDX-License-Identifier: MIT */
/*
 * abi/record.h - the bytes of one recorded event, in memory and on disk.
 *
 *	 byte 0        6        8       10      11      12        16
 *	+--------------+--------+-------+-------+-------+---------+--------
 *	| time stamp   | size   | type  | flags | preem | pid     | fields
 *	| 48 bits      | 16 bit | 16    | 8     | 8     | 32      | ...
 *	+--------------+--------+-------+-------+-------+---------+--------
 *	|<- first word, u64 -->|<--- common fields ----------->|
 *	                       |<------ a Linux ftrace raw event -------->
 *
 * The first word is one native-endian u64: time in the low 48 bits, size in
 * bytes of the whole record (first word included, a multiple of 8) in the high
 * 16.  A full time stamp is in each packet's header; a packet never spans 2^47
 * ticks, so 48 bits are enough to rebuild the rest.
 *
 * From the second word on this is, byte for byte, a raw event as the kernel's
 * `format` files describe it: offsets there count from the second word.
 * Fixed-size fields come first.  Variable data follows them without padding,
 * in the order of their fields, each located by a __data_loc word in the
 * fixed part (offset in the low 16 bits, length in the high 16).  The
 * record ends at the end of its last field, rounded up to 8; the bytes between
 * are padding.
 *
 * Frozen: offsets are asserted below; a change of meaning needs a new packet magic.
 */
#ifndef TACHO_ABI_RECORD_H
#define TACHO_ABI_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define TACHO_ABI_ASSERT(cond, text) static_assert(cond, text)
#else
#define TACHO_ABI_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define TACHO_TIME_BITS		48
#define TACHO_TIME_MASK		((UINT64_C(1) << TACHO_TIME_BITS) - 1)

/* Largest record, first word included. */
#define TACHO_RECORD_MAX	65528
/* Bytes of a record before its fields: first word and common fields. */
#define TACHO_RECORD_HEAD	16
/* Largest raw event: what a `format` can describe. */
#define TACHO_RAW_MAX		(TACHO_RECORD_MAX - 8)

/* The common fields: the kernel's struct trace_entry. */
struct tacho_common {
	uint16_t type;		/* common_type: id in the session's type table */
	uint8_t flags;		/* common_flags: the kernel's; 0 for programs */
	uint8_t preempt_count;	/* common_preempt_count; 0 for programs */
	int32_t pid;		/* common_pid: the thread's id */
};

TACHO_ABI_ASSERT(sizeof(struct tacho_common) == 8, "common fields");
TACHO_ABI_ASSERT(offsetof(struct tacho_common, pid) == 4, "common_pid");

/*
 * A packet: the header of one sub-buffer in memory, and of one CTF 1.8 packet
 * on disk (packet.header and packet.context of the metadata).  Records follow
 * immediately.  Native-endian.
 */
struct tacho_packet {
	uint32_t magic;			/* TACHO_PACKET_MAGIC */
	uint8_t uuid[16];		/* the session's */
	uint32_t stream_id;		/* enum tacho_stream_id */
	uint64_t stream_instance_id;	/* lane, or CPU of the kernel */

	uint64_t timestamp_begin;	/* full clock value, ticks; <= first record */
	uint64_t timestamp_end;		/* >= last record; 0 while open */
	uint64_t content_size;		/* bits, header included; 0 while open */
	uint64_t packet_size;		/* bits, padding included */
	uint64_t packet_seq_num;	/* counts the packets of one buffer from 0 */
	/* records lost in this stream until the end of this packet */
	uint64_t events_discarded;
	uint32_t cpu_id;		/* CPU; UINT32_MAX if unknown */
	uint32_t events;		/* records in this packet; 0 while open */
	uint64_t event_first;		/* number of the first record, from 0 in its buffer */
};

TACHO_ABI_ASSERT(sizeof(struct tacho_packet) == 96, "packet header");
TACHO_ABI_ASSERT(offsetof(struct tacho_packet, timestamp_begin) == 32, "context");
TACHO_ABI_ASSERT(offsetof(struct tacho_packet, cpu_id) == 80, "cpu_id");

#define TACHO_PACKET_MAGIC	0xC1FC1FC1u	/* CTF 1.8 section 5.1 */

enum tacho_stream_id {
	TACHO_STREAM_PROGRAM = 0,	/* user-space tracepoints; stream class 0 */
	TACHO_STREAM_KERNEL = 1,	/* kernel tracepoints; stream class 1 */
};

static inline uint64_t tacho_record_word(uint64_t time, uint64_t size)
{
	return (time & TACHO_TIME_MASK) | size << TACHO_TIME_BITS;
}

static inline uint32_t tacho_record_size(uint64_t word)
{
	return (uint32_t)(word >> TACHO_TIME_BITS);
}

/*
 * The common fields of a program event as one word, so that one store writes
 * them.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TACHO_COMMON_TYPE(type)	((uint64_t)(type))
#define TACHO_COMMON_PID(pid)	((uint64_t)(uint32_t)(pid) << 32)
#else
#define TACHO_COMMON_TYPE(type)	((uint64_t)(type) << 48)
#define TACHO_COMMON_PID(pid)	((uint64_t)(uint32_t)(pid))
#endif

static inline uint64_t tacho_common_word(uint16_t type, int32_t pid)
{
	return TACHO_COMMON_TYPE(type) | TACHO_COMMON_PID(pid);
}

/*
 * Returns the full time of a record: `last` is the full time of the previous record, or
 * the packet's timestamp_begin.
 */
static inline uint64_t tacho_record_time(uint64_t word, uint64_t last)
{
	return last + ((word - last) & TACHO_TIME_MASK);
}

#ifdef __cplusplus
}
#endif

#endif
