/* SPDX-License-Identifier: MIT */
/*
 * log.h - the file of an index: blocks that are appended, checked, and read through a cache.
 *
 * A writer collects records in a block in memory, which is written when it is full.  Errors of
 * writing stick (log->err).  What is in the block in memory can be read like what was written.
 */
#ifndef TACHO_INDEX_LOG_H
#define TACHO_INDEX_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "index/format.h"

struct index_slot {
	uint64_t sequence, offset;
	uint32_t len;
};

struct index_cached;

struct index_log {
	int fd;
	int err;		/* of writing: sticks */
	uint64_t end;		/* writer: where the block in memory will be; reader: of the root */
	unsigned char *block;	/* writer; NULL: a reader */
	uint32_t fill;		/* bytes of its payload */
	/* the cache: a table of blocks, which are replaced in turn */
	struct index_cached *cached;
	uint32_t *chain;	/* by hash: index in cached + 1 */
	uint32_t nr_cached, room_cached, hand;
};

/* cache: how many blocks are kept at most.  The log owns fd afterwards.  0 or -ENOMEM. */
int index_log_init(struct index_log *log, int fd, bool writer, uint32_t cache);
void index_log_release(struct index_log *log);

/* The file's beginning, of a new one.  0 or a negative errno. */
int index_log_begin(struct index_log *log);
/* Checks it.  0; -EBADMSG: no index; -ESTALE: of another version; another negative errno. */
int index_log_check(struct index_log *log);
/* The roots, the newer one first; *nr: 0 to 2. */
int index_log_slots(struct index_log *log, struct index_slot slot[2], uint32_t *nr);
/* What was appended is on the disk, then the root, then what says where it is. */
int index_log_sync(struct index_log *log, const struct index_slot *slot);

/* A record of at most INDEX_RECORD bytes.  Returns its ref, or 0: log->err. */
uint64_t index_log_put(struct index_log *log, const void *p, uint32_t len);
/* A blob.  Returns its offset, or 0. */
uint64_t index_log_put_blob(struct index_log *log, const void *p, size_t len);
int index_log_flush(struct index_log *log);

/*
 * The bytes from a ref to the end of its block.  Valid until the next call on the log; 16 more
 * bytes may be read.  0; -EBADMSG; another negative errno.
 */
int index_log_at(struct index_log *log, uint64_t ref, struct index_bytes *b);
/* Appends a blob to out.  As above; -EBADMSG also when it is longer than the file. */
int index_log_blob(struct index_log *log, uint64_t offset, uint64_t len, struct tacho_buf *out);

/* How long the file is, with what is in memory. */
static inline uint64_t index_log_size(const struct index_log *log)
{
	return log->end + (log->fill ? INDEX_HEAD + log->fill : 0);
}

#endif
