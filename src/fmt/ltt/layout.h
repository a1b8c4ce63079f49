/* SPDX-License-Identifier: MIT */
/*
 * layout.h - LTT trace files: the layout that readers and writer share.
 *
 * A file is one CPU's, `<base>.<cpu>.ltt`, and a row of buffers of BufferSize bytes:
 *
 *	BUFFER_START (START in the first one) records ... BUFFER_END zeros u32
 *
 * The u32 in a buffer's last 4 bytes, the *lost size*, says how many of its bytes are
 * not records: from the BUFFER_END record on, which is one of them, to the end.
 *
 * Version 2.3, a record
 *	u32 time, u8 event id, u8 sub id, u16 size of the whole record, then the
 *	event's struct, then data, then zeros to a multiple of 8.  (Whether 32-bit
 *	writers padded is not known; both is read, padding is written.)  A record of 8
 *	bytes of an event that has a struct: its details were not recorded.  Which
 *	layout it is, choose.h finds out.
 *
 * Version 2.2, a record
 *	[u8 cpu, when LogCPUID, but not of START and BUFFER_START] u8 event id, u32
 *	time, struct if details, data, u16 size of the whole record *after* it.  The sub
 *	id is the struct's first byte.  A buffer's records are found from its end.
 *
 * Structs differ by version and by the width of the traced machine's pointers.  Each
 * *layout* below gives the struct of an event id as a word, one letter an element:
 *
 *	1 2 4 8	a number of that many bytes
 *	P	a number as wide as a pointer
 *	T D F	20, 100, 256 bytes of text
 *	s	the sub id: not one of the event's fields
 *	p	a pointer of the traced kernel that means nothing: likewise
 *
 * Time
 *	UseTSC 0	2.3: low 32 bits of running microseconds; BUFFER_START has all
 *			of them, as seconds and microseconds, and its own header word
 *			tells the difference.  2.2: microseconds since BUFFER_START.
 *	UseTSC 1	low 32 bits of a cycle counter.  BUFFER_START and BUFFER_END have
 *			(time, counter) pairs; between them the rate is constant.
 *
 * A counter in nanoseconds needs no rate: the pairs then agree with it to less than a
 * microsecond, which happens for no other counter by chance, and times are exact. tacho's writer
 * writes such counters.
 *
 * Types: an LTT event is of system `ltt` and named by its sub event, with the fields
 * of its struct at the struct's own offsets, so that a record is a copy.  Its
 * common_type is computed from id and sub id.  common_pid is the process that the
 * last SCHEDCHANGE on that CPU brought in, -1 before the first one.
 */
#ifndef TACHO_FMT_LTT_LAYOUT_H
#define TACHO_FMT_LTT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ltt/events.h>

#include "base/arena.h"
#include "event/type.h"

#define LTT_HEAD		8u	/* the header word */
#define LTT_RECORD_MAX		65528u	/* multiple of 8 that a u16 can hold */
#define LTT_ALIGN(n)		(((n) + 7u) & ~7u)

#define LTT_22_HEAD		5u	/* id and time, without the CPU */
#define LTT_22_TAIL		2u	/* the size */

/* Where the magic number is: the first two records have one size in all layouts. */
#define LTT_MAGIC_AT		32u
#define LTT_22_MAGIC_AT		28u

/* BUFFER_END's record and the lost size: what is left free for them. */
#define LTT_TAIL		32u

#define LTT_BUFFER_MIN		128u
#define LTT_BUFFER_MAX		((uint32_t)1 << 26)

enum tacho_ltt_layout {
	TACHO_LTT_64,		/* 2.3, natural alignment */
	TACHO_LTT_32,		/* 2.3, packed */
	TACHO_LTT_PRINTED,	/* 2.3, packed, in the widths that the description prints */
	TACHO_LTT_22_32,	/* 2.2, the patch of Opersys */
	TACHO_LTT_22_MV32,	/* 2.2, MontaVista, 32-bit pointers */
	TACHO_LTT_22_MV64,	/* 2.2, MontaVista, 64-bit pointers */
	TACHO_LTT_NR_LAYOUTS,
	TACHO_LTT_NR_23 = TACHO_LTT_22_32,
};

#define LTT_ELEMS_MAX		16u

struct tacho_ltt_elem {
	uint16_t at, size;
	bool hole;		/* sub id or dead pointer */
	bool text;
};

struct tacho_ltt_shape {
	uint32_t nr;
	uint32_t size;		/* of the struct */
	struct tacho_ltt_elem elem[LTT_ELEMS_MAX];
};

/* What follows the struct. */
enum tacho_ltt_data {
	TACHO_LTT_NO_DATA,
	TACHO_LTT_NAME,		/* of a file */
	TACHO_LTT_TEXT,		/* of a custom event */
	TACHO_LTT_BYTES,
};

/* An event, or a sub event where its event has some. */
struct tacho_ltt_event {
	uint8_t id, sub;
	const char *name;
	const char *fields;	/* "name:style ..."; see types.c */
	enum tacho_ltt_data data;
};

/* All events of the specification, by id and sub id. */
extern const struct tacho_ltt_event tacho_ltt_events[];
extern const uint32_t tacho_ltt_nr_events;

/* NULL: there is no such event. */
const struct tacho_ltt_event *tacho_ltt_event(uint32_t id, uint32_t sub);
const struct tacho_ltt_event *tacho_ltt_event_named(const char *name);

static inline bool tacho_ltt_is_22(enum tacho_ltt_layout layout)
{
	return layout >= TACHO_LTT_22_32;
}

/*
 * The struct of an event id, which is <= TRACE_MAX.  s390: TRAP_ENTRY is that of
 * S/390.
 */
void tacho_ltt_shape(struct tacho_ltt_shape *shape, enum tacho_ltt_layout layout,
		     bool s390, uint32_t id);

/* The number of an element, whatever its width. */
uint64_t tacho_ltt_get(const struct tacho_ltt_elem *e, const void *body, bool swap);
void tacho_ltt_put(const struct tacho_ltt_elem *e, void *body, bool swap, uint64_t v);

/* ---- types.c ---- */

/* common_type of the types. */
#define LTT_TYPE_FIRST		0xf000u
#define LTT_TYPE(id, sub)	(LTT_TYPE_FIRST | (uint32_t)(id) << 4 | (uint32_t)(sub))
#define LTT_TYPE_BARE(id, sub)	(LTT_TYPE(id, sub) | 0x200u)
#define LTT_TYPE_RAW		0xf3f0u	/* of no known event */
#define LTT_TYPE_CUSTOM		0xf3f1u	/* CUSTOM of an undeclared id */
#define LTT_TYPE_DECLARED	0xf400u	/* and up: custom events */
#define LTT_TYPE_END		0x10000u

#define LTT_SYSTEM		"ltt"
#define LTT_CUSTOM_SYSTEM	"ltt_custom"
#define LTT_BARE_SUFFIX		"_bare"

/* Offset in the raw event of the word that finds the data after a struct. */
static inline uint32_t tacho_ltt_loc_at(const struct tacho_ltt_shape *shape)
{
	return 8 + ((shape->size + 3) & ~3u);
}

/*
 * The type with this common_type, below LTT_TYPE_DECLARED; NULL: there is none, or no
 * memory.
 */
const struct tacho_type *tacho_ltt_type(struct tacho_arena *arena,
					enum tacho_ltt_layout layout, bool s390,
					uint32_t type_id);

/* The type of a declared custom event. */
const struct tacho_type *tacho_ltt_custom_type(struct tacho_arena *arena,
					       enum tacho_ltt_layout layout,
					       uint32_t type_id, const char *name,
					       bool text);

#endif
