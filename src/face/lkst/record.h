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
 *	word 9		u64 time: of kernel events, whose first word has the moment in which
 *			they were pumped; other events have no such word
 *
 * The `format` text is the same for all programs that have the same texts for the type, so
 * they share a type in the session:
 *
 *	lkst:NEW_EVENT
 *	...
 *		field:u64 arg1;	offset:8;	size:8;	signed:0;
 *	...
 *	print fmt: "user added event: data1=0x%llx data2=0x%llx", REC->arg1, REC->arg2
 */
#ifndef TACHO_FACE_LKST_RECORD_H
#define TACHO_FACE_LKST_RECORD_H

#include "base/buf.h"
#include "face/lkst/state.h"

/* Words of a raw event (without word 0). */
#define LKST_RAW_PROGRAM	8
#define LKST_RAW_KERNEL		9

/* Appends the type text of abi/shm.h for an event type.  kernel: with word 9. */
void lkst_record_type_text(struct tacho_buf *out, const char *mnemonic, const char *name,
			   const char *const arg[4], bool kernel);

/* A raw event from a record; its words.  raw has room for LKST_RAW_KERNEL.  type: its id. */
uint32_t lkst_record_pack(uint64_t *raw, const struct lkst_record *r, uint16_t type, bool kernel);

/*
 * A record from a raw event of `len` bytes that was written at `ticks`.  recid is not set.
 * False: it is none of LKST's.
 */
bool lkst_record_unpack(struct lkst_record *r, const unsigned char *raw, uint32_t len,
			uint64_t ticks);

#endif
