/* SPDX-License-Identifier: MIT */
/*
 * read.h - the reader's side of ring.h: steps R1..R3.
 *
 * A reader follows one buffer of one lane.  It copies the committed records in
 * chunks, each of one sub-buffer at most, and checks them record by record, so that
 * chunks are well-formed whatever a broken writer left in shared memory.
 */
#ifndef TACHO_RING_READ_H
#define TACHO_RING_READ_H

#include "ring/ring.h"

struct tacho_ring_reader {
	struct tacho_ring *r;
	uint32_t lane;
	uint32_t id;
	uint64_t seq;		/* full number of the sub-buffer to read */
	uint32_t words;		/* words of it that were read, with the header */
	bool begun;		/* seq is known */
	bool consume;		/* release sub-buffers after reading (discard mode) */
	uint64_t released;	/* sub-buffers before this one were released */
	uint64_t next_event;	/* number of the next record */
	uint64_t overwritten;	/* records that were gone before they were read */
	uint64_t damaged;	/* bytes skipped because they were not records */
	uint64_t last;		/* time of the last record, or of its packet */
	uint64_t *copy;		/* private memory of one sub-buffer */
	bool all;		/* also what was consumed */
};

#define TACHO_READ_OLDEST	UINT64_MAX
#define TACHO_READ_ALL		(UINT64_MAX - 1)

/* Records of one sub-buffer. */
struct tacho_chunk {
	struct tacho_packet head;	/* complete; describes exactly these records */
	const void *data;		/* records; borrowed until the next read */
	uint32_t len;			/* their bytes */
	uint64_t lost;			/* records overwritten before this chunk */
};

/*
 * tacho_ring_reader_init - read buffer `id` of a lane.
 *
 * start_event: number of the first record to return. 0: all; records that are gone already count
 * as overwritten.  Greater: older records are skipped and not counted (for a reader that replaces
 * one that died).  TACHO_READ_OLDEST: all that the buffer has, from the first sub-buffer that is
 * not consumed (flight recorder).  TACHO_READ_ALL: in overwrite mode also those that are consumed.
 *
 * consume: writers in discard mode may reuse a sub-buffer from the next read after its
 * last chunk.  So after a kill the successor reads the last chunk again, or skips its records by
 * start_event.
 *
 * Returns 0, -ENOENT when there is no such buffer, -ENOMEM.
 */
int tacho_ring_reader_init(struct tacho_ring_reader *rd, struct tacho_ring *r,
			   uint32_t lane, uint32_t id, bool consume,
			   uint64_t start_event);

/* Frees the copy.  The ring stays the caller's. */
void tacho_ring_reader_release(struct tacho_ring_reader *rd);

/*
 * tacho_ring_read - read the next records.
 *
 * Returns 1 and *chunk, 0 when nothing new is committed, -ENOENT
 * when the buffer cannot be mapped, -ESHUTDOWN when a closed lane has been read to its
 * end or the session was destroyed.
 * A chunk may have no records (len 0) when it only reports loss.
 */
int tacho_ring_read(struct tacho_ring_reader *rd, struct tacho_chunk *chunk);

/* Records that writers have discarded in a lane so far (overwritten ones do not count). */
uint64_t tacho_ring_lost(const struct tacho_ring *r, uint32_t lane);

/*
 * Records committed so far in a buffer of a lane, computed from the packet headers; 0 if there is
 * no such buffer.  Written + tacho_ring_lost() = attempted.
 */
uint64_t tacho_ring_written(struct tacho_ring *r, uint32_t lane, uint32_t id);

/*
 * Records of a buffer that newer ones have overwritten, or that are excluded from the next
 * snapshot: tacho_ring_written() minus the records that a reader with TACHO_READ_OLDEST finds.  0
 * in discard mode, where nothing is overwritten, and when there is no such buffer.
 */
uint64_t tacho_ring_overwritten(struct tacho_ring *r, uint32_t lane, uint32_t id);

/*
 * Records of a buffer in discard mode whose sub-buffers readers have released.  0 in
 * overwrite mode, and when there is no such buffer.
 */
uint64_t tacho_ring_released(struct tacho_ring *r, uint32_t lane, uint32_t id);

/*
 * Returns how many closed sub-buffers of the current buffer can be read and end after `since`;
 * *most: the maximum of that number.  For a caller that waits for a full buffer.
 */
uint32_t tacho_ring_closed_subs(struct tacho_ring *r, uint32_t lane, uint64_t since,
				uint32_t *most);

/*
 * Releases (discard mode) those closed sub-buffers of the current buffer that have only records
 * of time `until` or earlier.  For a caller that reads without consuming and remembers its
 * position.  No consuming reader, and no tool that moves the lane, may run at the same time.
 */
void tacho_ring_consume(struct tacho_ring *r, uint32_t lane, uint64_t until);

/*
 * Waits until a writer switches a sub-buffer, `ns` nanoseconds have passed or a signal arrives.
 * Before the call, the caller must set `wanted` in the control block.
 */
void tacho_ring_wait(struct tacho_ring *r, uint64_t ns);

#endif
