/* SPDX-License-Identifier: MIT */
/*
 * window.h - the newest records of a stream, kept in memory, and snapshots of them.
 *
 *	data	| entry record | entry record | ...        | entry record |   |
 *		  tail ^ the next goes here     head ^ the oldest      end ^
 *
 * A window is a ring of bytes.  An entry says what the stream knew of the record behind it;
 * the record lies there in the layout of <tacho/abi/record.h>.  A new one takes
 * the place of as many of the oldest as it needs.  No record is split: what does not fit
 * before the end of the memory goes to its start.
 *
 * A snapshot is what a window holds at a moment, at most `size` bytes of it; the newest one
 * takes the older one's place.  Taking it is a mark in the ring, which has twice that
 * size.  It is copied out when the ring is about to overwrite it, and by then `size`
 * bytes have come since.  So it costs next to nothing to take one at every record.
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
 * Puts a record in.  source is where it came from (tacho_stream_current()); its type and
 * source must outlive the window, its bytes are copied.
 */
void tacho_window_add(struct tacho_window *window, const struct tacho_record *r,
		      struct tacho_source *source);

/* Takes the record out that was added last, if nothing else was done since. */
void tacho_window_undo(struct tacho_window *window);

/* Takes a snapshot: the newest records up to the one that was added last. */
void tacho_window_take(struct tacho_window *window);

/*
 * tacho_window_open - read the snapshot, from its oldest record on.
 *
 * of is the stream that the window was filled from.  The window must not change and
 * neither may be closed before *stream is.  Returns 0, -ENOENT when no snapshot was
 * taken, or -ENOMEM.
 */
int tacho_window_open(struct tacho_window *window, struct tacho_stream *of,
		      struct tacho_stream **stream);

#endif
