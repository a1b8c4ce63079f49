/* SPDX-License-Identifier: MIT */
/*
 * log.h - LKST's log files: what `lkstbuf read -f` and lkstlogd write (specification
 * 4.7.3.3).
 *
 * The historic layout was never published; this is ours (docs/lkst.md has it, too).
 * Everything is in the byte order of the machine that wrote it.
 *
 *	file	struct lkst_log_file, then blocks of `block_size` bytes
 *	block	struct lkst_log_block, then what it says, then zeros
 *
 * A file is of fixed-size blocks so that it can be written round: a daemon that has reached its
 * limit goes on at the first block behind those of kind TYPES, and a reader puts blocks in the
 * order of `serial`.  A block that was not written to its end (no room on the disk, a
 * kill) has a wrong sum, and is counted as damaged.
 *
 *	TYPES	event types, a line each as the lkst_etypes file has them; first in the file, so
 *		that it explains itself
 *	RECORDS	struct lkst_record of one buffer of one CPU, in the order in which they were
 *		written: kernel events ascend in time, and so do the others, but the two
 *		are mixed
 */
#ifndef TACHO_FMT_LKST_LOG_H
#define TACHO_FMT_LKST_LOG_H

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
};
TACHO_ABI_ASSERT(sizeof(struct lkst_record) == 72, "record");

#define LKST_LOG_FILE_MAGIC	UINT64_C(0x00474f4c54534b4c)	/* "LKSTLOG", little-endian */
#define LKST_LOG_BLOCK_MAGIC	0x4b4c4254u
#define LKST_LOG_FILE_VERSION	1
#define LKST_LOG_BLOCK_SIZE	16384u

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

enum lkst_log_kind {
	LKST_LOG_TYPES = 1,
	LKST_LOG_RECORDS = 2,
};

struct lkst_log_block {
	uint32_t magic;
	uint32_t kind;			/* enum lkst_log_kind */
	uint64_t serial;		/* counts the blocks written, from 0 */
	uint32_t len;			/* bytes that follow and mean something */
	uint32_t sum;			/* CRC-32 of those bytes and of this head with sum 0 */
	uint16_t cpu;
	int16_t buffer;			/* LKST's id; -1: the static buffer */
	uint32_t lost;			/* records lost before this block */
};
TACHO_ABI_ASSERT(sizeof(struct lkst_log_block) == 32, "log block head");

struct lkst_log_writer;

struct lkst_log_config {
	uint64_t limit;			/* bytes of the file at most; 0: none */
	uint64_t freq, tsc, realtime;
	const char *arch;
	const uint8_t *uuid;		/* 16 bytes */
	const char *types;		/* text of TYPES */
	size_t types_len;
};

/* Makes (or truncates) the file.  0, or a negative errno with a sentence. */
int lkst_log_create(struct lkst_log_writer **w, const char *path,
		    const struct lkst_log_config *config, struct tacho_diag *d);

/*
 * Writes records of one buffer.  0, or a negative errno with a sentence (-ENOSPC: the disk is
 * full; what was written stays readable, and the next call tries the same place again).
 */
int lkst_log_write(struct lkst_log_writer *w, uint32_t cpu, int32_t buffer,
		   const struct lkst_record *r, size_t n, uint32_t lost, struct tacho_diag *d);

/* Ends the block that is not full yet, and closes; w is freed.  0 or as above. */
int lkst_log_close(struct lkst_log_writer *w, struct tacho_diag *d);

/* ---- reading, a record at a time, for LKST's own commands; tacho's verbs have the source ---- */

struct lkst_log;

/*
 * Opens a log file, or a core dump or memory image that holds LKST's buffers.  0, or a
 * negative errno with a sentence.
 */
int lkst_log_open(struct lkst_log **log, const char *path, struct tacho_diag *d);
void lkst_log_free(struct lkst_log *log);

struct lkst_log_info {
	uint64_t freq, tsc, realtime;
	char arch[17];
	uint64_t damaged;		/* blocks, so far */
	uint64_t lost;			/* records, so far */
	const char *types;		/* text of the file's event types; borrowed */
	size_t types_len;
};
void lkst_log_info(const struct lkst_log *log, struct lkst_log_info *info);

/* The next record by time, all CPUs merged: 1; 0 at the end; or a negative errno. */
int lkst_log_next(struct lkst_log *log, struct lkst_record *r, int32_t *buffer);

#endif
