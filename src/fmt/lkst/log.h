/* SPDX-License-Identifier: MIT */
/*
 * log.h - LKST's log files, written by `lkstbuf read -f` and lkstlogd (specification 4.7.3.3).
 *
 * The historic layout was never published; this is ours (docs/lkst.md has it, too).
 * Everything is in the byte order of the machine that wrote it.
 *
 *	file	struct lkst_log_file, then blocks of `block_size` bytes
 *	block	struct lkst_log_block, then what it says, then zeros
 *
 * A file consists of fixed-size blocks so that it can be written cyclically: a daemon that has
 * reached its limit continues at the first block after the `types_blocks` at the start, and a
 * reader sorts blocks by `serial`.  An incompletely written block (full disk, a kill) has a wrong
 * checksum, and counts as damaged.
 *
 *	TYPES	event types, a line each as the lkst_etypes file has them (types.h).  Those that
 *		were known at the start come first in the file, so that it explains
 *		itself; what became known later stands anywhere
 *	PROGRAM, KERNEL	struct lkst_record of one buffer of one CPU, in the order in which they
 *		were written.  In a buffer the kernel's events and the others ascend in
 *		time each, but are mixed, because the kernel's are pumped later; in the
 *		file they are in blocks of their own.  So the blocks of one CPU, buffer and
 *		kind ascend, and a reader merges them without looking ahead.
 *		(`recid` says what the order in the buffer was.)
 *
 *	write.c		the writer
 *	blocks.c	blocks: which there are, and one of them, checked
 *	log.c		records merged, for LKST's own commands
 *	source.c	the same for tacho's verbs
 */
#ifndef TACHO_FMT_LKST_LOG_H
#define TACHO_FMT_LKST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "tacho/abi/record.h"

/* One record, as buffers and log files have it. */
struct lkst_record {
	uint64_t ticks;			/* of the clock that `tsc` and `freq` are of */
	uint64_t arg[4];
	uint32_t recid;
	int32_t thread;
	uint32_t uid, gid;		/* UINT32_MAX: was not to be had */
	int32_t pid, pgrp;		/* pgrp -1: was not to be had */
	uint16_t etype, cpu;
	uint32_t flags;			/* LKST_LOG_... of <linux/posix_log.h> */
#define LKST_FLAG_KERNEL	0x02u	/* that of these which says of whom it is */
};
TACHO_ABI_ASSERT(sizeof(struct lkst_record) == 72, "record");

#define LKST_LOG_FILE_MAGIC	UINT64_C(0x00474f4c54534b4c)	/* "LKSTLOG", little-endian */
#define LKST_LOG_BLOCK_MAGIC	0x4b4c4254u
#define LKST_LOG_FILE_VERSION	1
#define LKST_LOG_BUF_VER	1		/* LKST_BUF_VER: of struct lkst_record */
#define LKST_LOG_BLOCK_SIZE	16384u
#define LKST_LOG_BLOCK_MIN	4096u
#define LKST_LOG_BLOCK_MAX	(1u << 20)

struct lkst_log_file {
	uint64_t magic;			/* read in the other order: the file is of the other */
	uint32_t version;
	uint32_t block_size;		/* bytes, a multiple of 4096 up to 1 MiB */
	uint32_t types_blocks;		/* blocks of kind TYPES at the start */
	uint32_t freq_khz;		/* of the clock: LKST's cpu_freq */
	uint64_t freq;			/* the same in Hz, exactly */
	uint64_t tsc;			/* one moment: by the clock ... */
	uint64_t realtime;		/* ... and in ns since 1970 */
	uint32_t endian_big;
	uint32_t buf_ver;		/* LKST_BUF_VER */
	char arch[16];
	uint8_t uuid[16];		/* of the session */
	uint8_t pad[424];		/* 0 */
};
TACHO_ABI_ASSERT(sizeof(struct lkst_log_file) == 512, "log file head");

enum lkst_block_kind {
	LKST_BLOCK_TYPES = 1,
	LKST_BLOCK_PROGRAM = 2,
	LKST_BLOCK_KERNEL = 3,	/* LKST_FLAG_KERNEL is set in their flags */
};

struct lkst_log_block {
	uint32_t magic;
	uint32_t kind;			/* enum lkst_block_kind */
	uint64_t serial;		/* counts the blocks written, from 0 */
	uint32_t len;			/* bytes that follow and mean something */
	uint32_t sum;			/* CRC-32C of this head with sum 0, then of those bytes */
	uint16_t cpu;
	int16_t buffer;			/* LKST's id; -1: the static buffer */
	uint32_t lost;			/* records lost before this block's first */
};
TACHO_ABI_ASSERT(sizeof(struct lkst_log_block) == 32, "log block head");

/* ---- writing ---- */

struct lkst_log_writer;

struct lkst_log_config {
	uint64_t limit;			/* bytes of the file at most; 0: none */
	uint64_t freq, tsc, realtime;
	const char *arch;
	const uint8_t *uuid;		/* 16 bytes; NULL: none */
	const char *types;		/* text of TYPES; may be NULL */
	size_t types_len;
};

/* The minimum `limit` of a file with these types. */
uint64_t lkst_log_limit_min(const struct lkst_log_config *config);

/*
 * Makes (or truncates) the file.  0, or a negative errno with a sentence: -EINVAL (limit),
 * -ENOMEM, what the system said.  One whose event types cannot be written is removed.
 */
int lkst_log_create(struct lkst_log_writer **w, const char *path,
		    const struct lkst_log_config *config, struct tacho_diag *d);

/*
 * Writes records of one buffer (LKST's id; -1: the static one), which are copied.  lost: so many
 * are missing before the first.  0, or a negative errno with a sentence (-ENOSPC: the disk is
 * full).  A block that cannot be written is kept, and the next call tries the same place
 * again; records for which there is no room until then are left out, and the next block
 * says that they are lost.  What was written stays readable.
 */
int lkst_log_write(struct lkst_log_writer *w, uint32_t cpu, int32_t buffer,
		   const struct lkst_record *r, size_t n, uint64_t lost,
		   struct tacho_diag *d);

/* Writes what became known of event types later.  0 or as above; nothing is kept. */
int lkst_log_write_types(struct lkst_log_writer *w, const char *text, size_t len,
			 struct tacho_diag *d);

/* Ends the blocks that are not full yet: a reader sees all that was written.  0 or as above. */
int lkst_log_flush(struct lkst_log_writer *w, struct tacho_diag *d);

/* Bytes of the file so far, what was not flushed left out. */
uint64_t lkst_log_bytes(const struct lkst_log_writer *w);

/* Flushes, and closes; w is freed in any case.  0 or as above. */
int lkst_log_close(struct lkst_log_writer *w, struct tacho_diag *d);

/* ---- reading, a record at a time, for LKST's own commands; tacho's verbs have source.h ---- */

struct lkst_log;

/*
 * Opens a log file; or whatever else tacho reads, of which LKST's events are handed out: a
 * core dump or memory image that holds a session with them (core.h), a trace, "session:NAME"
 * as far as it is recorded.  0, or a negative errno with a sentence.
 */
int lkst_log_open(struct lkst_log **log, const char *path, struct tacho_diag *d);
void lkst_log_free(struct lkst_log *log);

struct lkst_log_info {
	uint64_t freq, tsc, realtime;
	char arch[17];
	bool big_endian;		/* what wrote it */
	uint64_t damaged;		/* blocks, so far */
	uint64_t lost;			/* records, so far */
	const char *types;		/* text of the file's event types; borrowed */
	size_t types_len;
};
void lkst_log_info(const struct lkst_log *log, struct lkst_log_info *info);

/*
 * The next record by time, all CPUs merged: 1; 0 at the end; or a negative errno
 * (lkst_log_why).  *buffer: LKST's id of the buffer, -1: the static one; the ring's where LKST's
 * is not known.  May be NULL.
 */
int lkst_log_next(struct lkst_log *log, struct lkst_record *r, int32_t *buffer);

/* What was wrong when lkst_log_next() was not 0 or 1; borrowed. */
const struct tacho_diag *lkst_log_why(const struct lkst_log *log);

#endif
