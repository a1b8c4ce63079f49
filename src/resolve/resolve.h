/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - from an address of a process, as recorded, to function, file and line.
 *
 *	pid, ticks  --blocks of session/objects.h-->  mapping: object, offset in it
 *	object      --path, checked by its id------>  ELF file (symbol/symbol.h)
 *	offset      --symbols, DWARF--------------->  function, source line
 *
 * Unknown parts stay empty, and nothing is guessed.  If the build id of a file (without one, its
 * size and time of modification) differs from that of the mapped file, the result has only its
 * path and the offset.  Processes without recorded mappings give no results.
 *
 * Traces are untrusted.  The table is parsed with bounds; a file that it names is opened only for
 * reading, and used only if it is a regular file with the right id.
 *
 * Files are opened when they are first needed, and results for addresses are cached.  One thread.
 */
#ifndef TACHO_RESOLVE_RESOLVE_H
#define TACHO_RESOLVE_RESOLVE_H

#include "stream/stream.h"

struct tacho_resolver;

/*
 * tacho_resolver_new - create an empty resolver; NULL without memory.
 *
 * debug_root: where separate debug files are; NULL: as tacho_object_open().
 */
struct tacho_resolver *tacho_resolver_new(const char *debug_root);
void tacho_resolver_free(struct tacho_resolver *r);

/* Adds blocks of session/objects.h; other lines are skipped.  Returns 0 or -ENOMEM. */
int tacho_resolver_add(struct tacho_resolver *r, const char *text, size_t len);

/* Removes all blocks; files stay open. */
void tacho_resolver_clear(struct tacho_resolver *r);

/*
 * tacho_resolver_at - find the frame of addr in process pid at a time (ticks).
 *
 * call: addr is a return address, so the line is that of the call.  False, and *f empty: not
 * known.  Names are borrowed until the next call.
 */
bool tacho_resolver_at(struct tacho_resolver *r, int32_t pid, uint64_t ticks,
		       uint64_t addr, bool call, struct tacho_frame *f);

/*
 * tacho_resolver_any - the same in any process, at any time.
 *
 * False also if the results differ.
 */
bool tacho_resolver_any(struct tacho_resolver *r, uint64_t addr, bool call,
			struct tacho_frame *f);

/*
 * tacho_resolver_stream - load the tables of a stream's sources, and resolve its frames from now
 * on (tacho_stream_set_frames()).
 *
 * A live source's table is read again when a record is later than the last read.  The resolver
 * must not be freed before the stream.
 */
int tacho_resolver_stream(struct tacho_resolver *r, struct tacho_stream *stream);

/* The resolver of a stream, or NULL. */
struct tacho_resolver *tacho_resolver_of(const struct tacho_stream *stream);

/* Finds the frame of addr in the process and at the time of a stream's record. */
bool tacho_resolver_record(struct tacho_resolver *r, const struct tacho_record *rec,
			   uint64_t addr, bool call, struct tacho_frame *f);

/* Whether a file that was mapped anywhere has a function of this name. */
bool tacho_resolver_knows(struct tacho_resolver *r, const char *name);

/*
 * Whether addr, in the process and at the time of a stream's record, is in a
 * function of this name.  name is cached by its address: it must stay at that address during the
 * resolver's lifetime.
 */
bool tacho_resolver_lies_in(struct tacho_resolver *r,
			    const struct tacho_record *rec, uint64_t addr,
			    const char *name);

#endif
