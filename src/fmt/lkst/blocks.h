/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - reading a log file: runs of blocks, each run ascending in time.
 *
 * Opening reads the heads only; a block is read, and its checksum verified, when it is needed.  A
 * damaged head is counted: the size of blocks gives the place of the next one.
 *
 * The file is untrusted: offsets and lengths are checked against the file, counts against the
 * block.
 */
#ifndef TACHO_FMT_LKST_BLOCKS_H
#define TACHO_FMT_LKST_BLOCKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "fmt/lkst/log.h"

/* A block of records whose head is sound. */
struct lkst_block_at {
	uint64_t serial;
	uint32_t place;		/* in the file */
	uint32_t nr;		/* records */
	uint32_t lost;
	uint32_t kind;
	int16_t buffer;
	uint16_t cpu;
	uint64_t first;		/* ticks of its first record, as far as one may believe it */
};

/* The blocks of one CPU, buffer and kind. */
struct lkst_block_run {
	uint32_t kind, cpu;
	int32_t buffer;
	uint32_t from, to;	/* of the blocks, in the order of serial */
};

struct lkst_blocks {
	int fd;				/* -1: memory */
	const unsigned char *memory;	/* or NULL */
	uint64_t size;
	char *path;
	bool swap;			/* the other byte order */
	struct lkst_log_file head;	/* in ours */
	struct lkst_block_at *block;
	uint32_t nr_blocks;
	struct lkst_block_run *run;
	uint32_t nr_runs;
	struct tacho_buf types;		/* texts of TYPES blocks */
	uint64_t damaged;		/* blocks that are none */
	uint64_t first_damage;		/* byte of the file, of the first of these */
};

/* Whether a file begins as a log does, in either byte order. */
bool lkst_blocks_sniff(const void *head, size_t len);

/* 0, or a negative errno with a sentence. */
int lkst_blocks_open(struct lkst_blocks *b, const char *path, struct tacho_diag *d);
/* The same of bytes in memory, which stay the caller's and must outlive b. */
int lkst_blocks_open_memory(struct lkst_blocks *b, const void *data, size_t len,
			    struct tacho_diag *d);
void lkst_blocks_close(struct lkst_blocks *b);

/* Room for the records of any block, and for the reading of it; malloc'ed; NULL: no memory. */
struct lkst_record *lkst_blocks_room(const struct lkst_blocks *b);

/*
 * Reads block[i] into room: its records in our byte order, ascending in time, *records the
 * first of them.  How many; -EINVAL: it is damaged (it was overwritten meanwhile, its sum is
 * wrong), -EIO.
 */
int lkst_blocks_read(const struct lkst_blocks *b, uint32_t i, struct lkst_record *room,
		     struct lkst_record **records);

/*
 * The numbers of the event types in block[i], which may be damaged, into etype (n of them at
 * most); room is overwritten.  How many; -EINVAL or -EIO.
 */
int lkst_blocks_etypes(const struct lkst_blocks *b, uint32_t i, struct lkst_record *room,
		       uint16_t *etype, uint32_t n);

/* Byte of the file at which block[i] begins. */
uint64_t lkst_blocks_offset(const struct lkst_blocks *b, uint32_t i);

/* Ticks of the last record of a run, as far as one may believe it; 0: not known. */
uint64_t lkst_blocks_last(const struct lkst_blocks *b, const struct lkst_block_run *run);

#endif
