/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - from an address of a process, as recorded, to function, file and line.
 *
 *	pid, ticks  --blocks of session/objects.h-->  mapping: object, offset in it
 *	object      --path, checked by its id------>  ELF file (symbol/symbol.h)
 *	offset      --symbols, DWARF--------------->  function, source line
 *
 * What is not known stays empty, and nothing is guessed: a file whose build id (or size
 * and time of modification, where it has none) is not the one that was mapped gives
 * no names, only its path and the offset in it.  Nor does a process that did not tell
 * what it has mapped.
 *
 * A trace may come from anywhere.  Its table is text with bounds; a file that it names
 * is only read, if it is a regular file, and if it is the object of that id.
 *
 * Files are opened when they are first needed, and what was found out about an address
 * is remembered.  One thread.
 */
#ifndef TACHO_RESOLVE_RESOLVE_H
#define TACHO_RESOLVE_RESOLVE_H

#include "stream/stream.h"

struct tacho_resolver;

/*
 * tacho_resolver_new - a resolver that knows nothing yet; NULL without memory.
 *
 * debug_root: where separate debug files are; NULL: as tacho_object_open().
 */
struct tacho_resolver *tacho_resolver_new(const char *debug_root);
void tacho_resolver_free(struct tacho_resolver *r);

/* Adds blocks of session/objects.h; lines that are none are passed over. 0 or -ENOMEM. */
int tacho_resolver_add(struct tacho_resolver *r, const char *text, size_t len);

/* Forgets what was added; files stay open. */
void tacho_resolver_clear(struct tacho_resolver *r);

/*
 * tacho_resolver_at - what lay at addr in process pid at a time (ticks).
 *
 * call: addr is where a call returns to, so the line is that of the call.  False, and
 * *f empty: not known.  Names are borrowed until the next call.
 */
bool tacho_resolver_at(struct tacho_resolver *r, int32_t pid, uint64_t ticks,
		       uint64_t addr, bool call, struct tacho_frame *f);

/*
 * tacho_resolver_any - the same in whatever process, at whatever time.
 *
 * False also when different things lay there.
 */
bool tacho_resolver_any(struct tacho_resolver *r, uint64_t addr, bool call,
			struct tacho_frame *f);

/*
 * tacho_resolver_stream - reads the tables of a stream's sources, and answers for it
 * from now on (tacho_stream_set_frames()).
 *
 * A live source's table is read again when a record is later than what is known.  The
 * resolver must not be freed before the stream.
 */
int tacho_resolver_stream(struct tacho_resolver *r, struct tacho_stream *stream);

/* The resolver that answers for a stream, or NULL. */
struct tacho_resolver *tacho_resolver_of(const struct tacho_stream *stream);

/* The process and time of a stream's record are known: what lies at addr there. */
bool tacho_resolver_record(struct tacho_resolver *r, const struct tacho_record *rec,
			   uint64_t addr, bool call, struct tacho_frame *f);

/* Whether a file that was mapped anywhere has a function of this name. */
bool tacho_resolver_knows(struct tacho_resolver *r, const char *name);

/*
 * Whether addr, in the process and at the time of a stream's record, lies in a
 * function of this name.  name is remembered by its address: it stays where it is
 * as long as the resolver.
 */
bool tacho_resolver_lies_in(struct tacho_resolver *r,
			    const struct tacho_record *rec, uint64_t addr,
			    const char *name);

#endif
