/* SPDX-License-Identifier: MIT */
/*
 * record.h - LKST's events as records of the ring (abi/record.h), and back.
 *
 *	word 0		time, size
 *	word 1		common fields; common_pid is the thread
 *	words 2..5	arg1 .. arg4
 *	word 6		u32 uid, u32 gid
 *	word 7		s32 pid, s32 pgrp
 *	word 8		u16 etype, u16 cpu, u32 flags
 *	word 9		u64 time: of kernel events, in ticks of the trace's clock; their first
 *			word has the same, but not before that of the record before
 *	word 10		u32 recid, s32 buffer: of events of a log file, which also have word 9
 *
 * Events of programs end after word 8: so the size tells which words there are.
 *
 * The `format` text is the same for all programs that have the same texts for the type, so
 * they share a type in the session:
 *
 *	lkst:NEW_EVENT
 *	...
 *		field:u64 arg1;	offset:8;	size:8;	signed:0;
 *	...
 *	print fmt: "user added event: data1=0x%llx data2=0x%llx", REC->arg1, REC->arg2
 *
 * The texts are extracted from the print format (lkst_record_texts): `": "` ends the name, so a
 * name that has these two characters is written with an escape.
 *
 * Word 9 counts ticks of the clock of the trace that it is in, as the first word does.  So code
 * that writes records to a trace with another clock converts both (lkst_record_to_ns).
 */
#ifndef TACHO_FMT_LKST_RECORD_H
#define TACHO_FMT_LKST_RECORD_H

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "fmt/lkst/log.h"
#include "stream/clock.h"

#define LKST_SYSTEM	"lkst"

/* Where an event comes from.  Those of programs and of the kernel are false and true. */
enum lkst_origin {
	LKST_OF_PROGRAM = 0,
	LKST_OF_KERNEL = 1,
	LKST_OF_LOG = 2,
};

/* Words of a raw event (without word 0). */
#define LKST_RAW_PROGRAM	8
#define LKST_RAW_KERNEL		9
#define LKST_RAW_LOG		10

/*
 * Appends the type text of abi/shm.h for an event type.  arg: "" or NULL where an argument
 * has no meaning.
 */
void lkst_record_type_text(struct tacho_buf *out, const char *mnemonic, const char *name,
			   const char *const arg[4], enum lkst_origin origin);

/* The same without the line "system:name". */
void lkst_record_format_text(struct tacho_buf *out, const char *name,
			     const char *const arg[4], enum lkst_origin origin);

/*
 * The texts that a print format was made of, appended each with a NUL after it: name, four
 * arguments.  False, and nothing appended: it was not made here.
 */
bool lkst_record_texts(const char *print_fmt, struct tacho_buf *out);

/*
 * The first LKST_RAW_PROGRAM words of a raw event.  The members from uid to flags are in the
 * same order in both, so they go in one move: a structure in between would be stored in small
 * parts and read in large ones, which stalls.
 */
static inline void lkst_record_pack_first(void *raw, const struct lkst_record *r, uint16_t type)
{
	uint64_t common = tacho_common_word(type, r->thread);
	unsigned char *to = raw;

	memcpy(to, &common, 8);
	memcpy(to + 8, r->arg, 32);
	memcpy(to + 40, (const unsigned char *)r + offsetof(struct lkst_record, uid), 24);
}

/* A raw event of a program or of the kernel; its words, for which raw has room.  type: its id. */
static inline uint32_t lkst_record_pack(void *raw, const struct lkst_record *r, uint16_t type,
					enum lkst_origin origin)
{
	lkst_record_pack_first(raw, r, type);
	if (origin == LKST_OF_PROGRAM)
		return LKST_RAW_PROGRAM;
	memcpy((unsigned char *)raw + 64, &r->ticks, 8);
	return LKST_RAW_KERNEL;
}

/* The same of a log's, of LKST_RAW_LOG words. */
static inline void lkst_record_pack_log(void *raw, const struct lkst_record *r, uint16_t type,
					int32_t buffer)
{
	unsigned char *to = raw;

	lkst_record_pack_first(raw, r, type);
	memcpy(to + 64, &r->ticks, 8);
	memcpy(to + 72, &r->recid, 4);
	memcpy(to + 76, &buffer, 4);
}

/* Whether events of a type are LKST's: their system and their words. */
struct tacho_type;
bool lkst_record_is(const struct tacho_type *type);

/*
 * A record from a raw event of `len` bytes that was written at `ticks`.  recid is 0 but for
 * events of a log.  False: it is not one of LKST's.
 */
bool lkst_record_unpack(struct lkst_record *r, const unsigned char *raw, uint32_t len,
			uint64_t ticks);

/* Word 9 of a raw event, ticks of `clock`, becomes ns since 1970.  Events without it stay. */
void lkst_record_to_ns(unsigned char *raw, uint32_t len, const struct tacho_clock_map *clock);

/* The buffer that it was recorded in; 0 where that is not known. */
int32_t lkst_record_buffer(const unsigned char *raw, uint32_t len);

#endif
