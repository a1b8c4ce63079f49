/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the inside of <tacho/stream.h>: making a stream from sources, and
 * the calls that tools of this tree use besides the public ones.
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
 * Adds a source; the stream takes it over, also when it fails.  Before the
 * first next() only.  0 or -ENOMEM.
 */
int tacho_stream_add_take(struct tacho_stream *stream,
			  struct tacho_source *source);

/*
 * Appends the record's text by its print format: what tacho_record_text() gives,
 * without the copy.  r is the record that next() gave last.
 */
void tacho_stream_print(struct tacho_stream *stream,
			const struct tacho_record *r, struct tacho_buf *out);

/*
 * From now on the stacks of programs are printed with what f says; NULL: as
 * numbers.  f is borrowed until it is replaced or the stream is closed.
 */
void tacho_stream_set_frames(struct tacho_stream *stream,
			     const struct tacho_frames *f);

/* What was set so, or NULL. */
const struct tacho_frames *tacho_stream_frames(const struct tacho_stream *stream);

/*
 * What lies at a return address of a stack that a program's record has; all NULL
 * when nobody says.  r is the record that next() gave last.  Borrowed until the
 * next call.
 */
void tacho_stream_frame(struct tacho_stream *stream,
			const struct tacho_record *r, uint64_t addr,
			struct tacho_frame *frame);

struct tacho_type_count {
	const struct tacho_type *type;
	uint32_t stream_id;	/* enum tacho_stream_id */
	uint64_t events;
	uint64_t bytes;		/* of their records, first word included */
};

/*
 * tacho_stream_count - how many records of each type are left.
 *
 * Reads the stream to its end, part by part, at a fraction of the cost of
 * next(): only sizes and types are looked at.  *list (malloc'ed, the
 * caller's to free) has one entry for each type that occurs, in the
 * order of sources and ids.
 *
 * Returns 0, -ENOMEM, or the source's error; a live source is counted as far as it
 * is there.
 */
int tacho_stream_count(struct tacho_stream *stream,
		       struct tacho_type_count **list, size_t *nr);

/*
 * Appends a table of the recording as text: "kallsyms", "cmdlines" ("pid tgid
 * comm" lines), "syscalls", "printk_formats", "objects" (session/objects.h).  0 or
 * -ENOENT.
 */
int tacho_stream_text(struct tacho_stream *stream, const char *name,
		      struct tacho_buf *out);

/*
 * Adds the names of threads of all sources: where two disagree, the later one's.  0, -ENOMEM,
 * or -EOVERFLOW: too many.
 */
int tacho_stream_tasks(const struct tacho_stream *stream, struct tacho_facts *all);

/*
 * What the programs of all sources had mapped (session/objects.h): their tables "objects", one
 * behind the other.  Makes *out, which is the caller's to release; empty when there is
 * nothing, or too much.  0 or -ENOMEM.
 */
int tacho_stream_objects(const struct tacho_stream *stream, struct tacho_buf *out);

/* The kernel symbols of a source, read when they are first asked for. */
const struct tacho_symbols *tacho_source_symbols(struct tacho_source *source);

/* The source of the record that next() gave last; the first one before that. */
struct tacho_source *tacho_stream_current(const struct tacho_stream *stream);

/* The sources, for tools that need more than the stream says. */
struct tacho_source *tacho_stream_source(const struct tacho_stream *stream,
					 uint32_t index);

/*
 * CPUs of the machine that was traced: what the trace says, or as many as it has parts of;
 * at least 1.
 */
uint32_t tacho_stream_cpus(const struct tacho_stream *stream);

/* Copies a diag into the public error (which may be NULL); returns d->err. */
int tacho_error_from(struct tacho_error *error, const struct tacho_diag *d);

/*
 * Whether something could not be had on the way, as a type for want of memory, though
 * every record was: the first error of all sources, which is the stream's from now on.
 * 0, or a negative errno that tacho_stream_error() explains.  Asked by whoever
 * has listed the types and finds one missing.
 */
int tacho_stream_check(struct tacho_stream *s);

#endif
