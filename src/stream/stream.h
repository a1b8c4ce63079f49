/* SPDX-License-Identifier: MIT */
/*
 * stream.h - internals of <tacho/stream.h>: creating a stream from sources, and calls for the
 * tools of this tree in addition to the public ones.
 */
#ifndef TACHO_STREAM_STREAM_H
#define TACHO_STREAM_STREAM_H

#include "base/buf.h"
#include "base/diag.h"
#include "event/print.h"
#include "stream/frame.h"
#include "stream/source.h"
#include "tacho/stream.h"

/* Makes a stream without sources.  flags: enum tacho_stream_flag. */
struct tacho_stream *tacho_stream_new(unsigned int flags);

/*
 * Adds a source; the stream owns it, also if the call fails.  Before the first next() only.  0 or
 * -ENOMEM.
 */
int tacho_stream_add_take(struct tacho_stream *stream,
			  struct tacho_source *source);

/*
 * Appends the record's text by its print format, as tacho_record_text() does, without the copy. r
 * is the last record returned by next().
 */
void tacho_stream_print(struct tacho_stream *stream,
			const struct tacho_record *r, struct tacho_buf *out);

/*
 * Prints the stacks of programs with the frames of f from now on; NULL: as numbers.  f is
 * borrowed until it is replaced or the stream is closed.
 */
void tacho_stream_set_frames(struct tacho_stream *stream,
			     const struct tacho_frames *f);

/* The frames that were set, or NULL. */
const struct tacho_frames *tacho_stream_frames(const struct tacho_stream *stream);

/*
 * Finds the frame of a return address in a stack of a program's record; all members are NULL if
 * it is not known. r is the last record returned by next().  Borrowed until the next call.
 */
void tacho_stream_frame(struct tacho_stream *stream,
			const struct tacho_record *r, uint64_t addr,
			struct tacho_frame *frame);

/*
 * tacho_stream_narrow - read no more than what is wanted.
 *
 * From the next tacho_stream_seek() on, or from the first record if none was read, records
 * outside the scope are passed over: later ones, those of types that are not wanted and, as
 * far as the source can leave out whole packets, those of other CPUs.  A record's `lost` is the
 * same as without a scope.  scope is borrowed until it is replaced; NULL: everything is wanted
 * again.  Returns 0 or -ENOMEM, and then the scope is the one before.
 */
int tacho_stream_narrow(struct tacho_stream *stream, const struct tacho_scope *scope);

/*
 * Places: going on in the middle as if all before it had been read.
 *
 * The time T of a record is a *clear* place if all records before are earlier, and none after is.
 * Where times are in order that is each record that is later than the one before it.  A reader
 * that wants to come back remembers T, and that no record with a time before it came later on.
 * After tacho_stream_seek(T) the records are those from the place on: all of them, in the same
 * order also where times are equal, with the same members.  That includes `lost` of the first one,
 * and what the stream says of the current record: its type, buffer, thread name and process.  Only
 * a stream that seeks by reading, and that was read further before, may know more names.
 *
 * tests/intervals/saved.c checks it for each format; the number of a record, and the model, go on
 * from there.
 */
enum tacho_seeking {
	TACHO_SEEKS_NEVER,	/* live: tacho_stream_seek() returns -ESPIPE */
	TACHO_SEEKS_BY_READING,	/* passes over all that is before: it costs as much as reading it */
	TACHO_SEEKS_BY_TIME,	/* reads packets at the place, and no more than heads of others */
};

/* How a stream comes to a time; the worst of its sources. */
enum tacho_seeking tacho_stream_seeking(const struct tacho_stream *stream);

/* Packets whose records were read since the stream was opened, of sources that count them. */
uint64_t tacho_stream_packets_read(const struct tacho_stream *stream);

/*
 * A number that the record that next() gave last has whenever the trace is read, and no
 * other record.  False: its source knows none.
 */
bool tacho_stream_place(const struct tacho_stream *stream, uint64_t *place);

/*
 * tacho_stream_next_run - read several records, which are valid together.
 *
 * Fills in r[0] to r[*nr - 1], at most max, as tacho_stream_next() would one by one, but without
 * struct_size from the second one on.  All are of one source, and valid until the next
 * call on the stream: a run ends where a part must be filled.  For what looks at the
 * current record (tacho_stream_comm(), tacho_stream_print(), ...) each record of the run counts as
 * the last one; tacho_stream_buffer() is that of the last one only.
 *
 * Returns an enum tacho_stream_status.  *nr is 0 unless it is TACHO_STREAM_RECORD.
 */
int tacho_stream_next_run(struct tacho_stream *stream, struct tacho_record *r, uint32_t max,
			  uint32_t *nr);

/* Whether records come in the order of time: it is not TACHO_STREAM_UNORDERED. */
bool tacho_stream_is_ordered(const struct tacho_stream *stream);

struct tacho_type_count {
	const struct tacho_type *type;
	uint32_t stream_id;	/* enum tacho_stream_id */
	uint64_t events;
	uint64_t bytes;		/* of their records, first word included */
};

/*
 * tacho_stream_count - count the remaining records of each type.
 *
 * Reads the stream to its end, part by part, at a fraction of the cost of
 * next(): only sizes and types are looked at.  *list (malloc'ed, the
 * caller's to free) has one entry for each type that occurs, in the
 * order of sources and ids.  With tacho_stream_set_threads(), several threads count if the stream
 * was not read yet; the result is the same.
 *
 * Returns 0, -ENOMEM, or the source's error; for a live source, it counts the records that exist
 * at the time of the call.
 */
int tacho_stream_count(struct tacho_stream *stream,
		       struct tacho_type_count **list, size_t *nr);

/*
 * How many threads may read the stream where that is of use (parallel.h); 1, as at first: the
 * caller's alone, and none is ever started.  0 counts as 1.
 */
void tacho_stream_set_threads(struct tacho_stream *stream, uint32_t threads);
uint32_t tacho_stream_threads(const struct tacho_stream *stream);

/*
 * Of a view (parallel.h): the part, of the stream that it shows, that the record is of which
 * next() gave last.
 */
const struct tacho_part *tacho_stream_shown(const struct tacho_stream *view);

/* The part of the record that is at hand, for tacho_stream_lend() later; NULL: none is. */
const struct tacho_part *tacho_stream_part(const struct tacho_stream *stream);

/*
 * Until the next call, a record of this part is at hand, which a view has read or was copied: for
 * tacho_stream_current(), tacho_stream_comm(), tacho_stream_buffer().  NULL: the record that
 * next() gave.
 */
void tacho_stream_lend(struct tacho_stream *stream, const struct tacho_part *part);

/*
 * Appends a table of the recording as text: "kallsyms", "cmdlines" ("pid tgid
 * comm" lines), "syscalls", "printk_formats", "objects" (session/objects.h).  0 or
 * -ENOENT.
 */
int tacho_stream_text(struct tacho_stream *stream, const char *name,
		      struct tacho_buf *out);

/*
 * Adds the thread names of all sources; if two differ, the later source's is used.  Returns 0,
 * -ENOMEM, or -EOVERFLOW: too many.
 */
int tacho_stream_tasks(const struct tacho_stream *stream, struct tacho_facts *all);

/*
 * Appends the tables "objects" of all sources, the mappings of the programs (session/objects.h).
 * Initialises *out, which the caller releases; it is empty if there are no tables or they are too
 * large.  Returns 0 or -ENOMEM.
 */
int tacho_stream_objects(const struct tacho_stream *stream, struct tacho_buf *out);

/*
 * Makes *out, which is the caller's to release, and appends what the programs of one source had
 * mapped (session/objects.h).  0 or -ENOENT.
 */
int tacho_source_objects(struct tacho_source *source, struct tacho_buf *out);

/*
 * tacho_stream_syscall - the name of a system call.
 *
 * On the machine that was traced, as its trace says, or on this one if no source has a table.
 * Returns NULL if it is not known; borrowed until the stream is closed.
 */
const char *tacho_stream_syscall(struct tacho_stream *stream, uint64_t nr);

/* The kernel symbols of a source, loaded at the first call. */
const struct tacho_symbols *tacho_source_symbols(struct tacho_source *source);

/* The source of the last record returned by next(); before the first next(), the first source. */
struct tacho_source *tacho_stream_current(const struct tacho_stream *stream);

/* The sources, for tools that need more than the stream's interface. */
struct tacho_source *tacho_stream_source(const struct tacho_stream *stream,
					 uint32_t index);

/*
 * The number of CPUs of the traced machine: from the trace, or else the number of CPUs with
 * parts; at least 1.
 */
uint32_t tacho_stream_cpus(const struct tacho_stream *stream);

/* Copies a diag into the public error (which may be NULL); returns d->err. */
int tacho_error_from(struct tacho_error *error, const struct tacho_diag *d);

/*
 * Checks whether part of a source could not be loaded, for example a type for lack of memory,
 * although every record was returned.  Returns 0, or the first error of all sources, which then
 * is the stream's error (tacho_stream_error()).  Callers that list types call it if a type is
 * missing.
 */
int tacho_stream_check(struct tacho_stream *s);

#endif
