/* SPDX-License-Identifier: MIT */
/*
 * window.h - the newest records of a stream, kept in memory, and snapshots of them.
 *
 *	data	| entry record | entry record | ...        | entry record |   |
 *		  tail ^ the next goes here     head ^ the oldest      end ^
 *
 * A window is a ring of bytes.  An entry has the stream's data about the record that follows it
 * in the layout of <tacho/abi/record.h>.  A new record replaces as many of the oldest as
 * necessary.  No record is split: one that does not fit before the end of the memory is stored at
 * its start.
 *
 * A snapshot is the content of a window at one time, at most `size` bytes; a new snapshot
 * replaces the old one.  Taking it only stores its position in the ring, which has twice that
 * size.  It is copied when the ring is about to overwrite it, at least `size` bytes later.  So
 * taking a snapshot at every record is cheap.
 *
 * A snapshot is read as a stream of its own, with the clocks, names and symbols of
 * the one that the window was filled from.
 *
 * One thread.
 */
#ifndef TACHO_STREAM_WINDOW_H
#define TACHO_STREAM_WINDOW_H

#include <stdbool.h>

#include "stream/stream.h"

#define TACHO_WINDOW_MIN	((size_t)128 << 10)	/* room for any record */

struct tacho_window;

/*
 * size: bytes of a snapshot, TACHO_WINDOW_MIN at least; three times as much is
 * allocated.  0, -EINVAL or -ENOMEM.
 */
int tacho_window_new(struct tacho_window **window, size_t size);
void tacho_window_free(struct tacho_window *window);

/*
 * Adds a record. source is its source (tacho_stream_current()); type and source must outlive the
 * window, the bytes are copied.
 */
void tacho_window_add(struct tacho_window *window, const struct tacho_record *r,
		      struct tacho_source *source);

/* Removes the record that was added last; only directly after tacho_window_add(). */
void tacho_window_undo(struct tacho_window *window);

/* Takes a snapshot: the newest records up to the one that was added last. */
void tacho_window_take(struct tacho_window *window);

/*
 * tacho_window_open - read the snapshot, from its oldest record on.
 *
 * `of` is the stream that the window was filled from.  The window must not change and neither may
 * be closed before *stream is.  Returns 0, -ENOENT when no snapshot was taken, or -ENOMEM.
 */
int tacho_window_open(struct tacho_window *window, struct tacho_stream *of,
		      struct tacho_stream **stream);

#endif
