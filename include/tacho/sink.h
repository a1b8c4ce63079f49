/* SPDX-License-Identifier: MIT */
/*
 * <tacho/sink.h> - write recorded events in any format that tacho can write.
 *
 * Link with -ltacho-stream (pkg-config tacho-stream).
 *
 * Selected records of a trace:
 *
 *	tacho_stream_open(&s, "my-trace", 0, &error);
 *	tacho_sink_open(&sink, s, "part.dat", NULL, &error);
 *	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
 *		if (wanted(&r))
 *			tacho_sink_put(sink, &r);
 *		else
 *			tacho_sink_skip(sink, &r);
 *	tacho_sink_end_of_stream(sink);
 *	tacho_sink_finish(sink, NULL, &error);
 *	tacho_stream_close(s);
 *
 * Records of event types that the program defines:
 *
 *	tacho_stream_define(&s, &error);
 *	tacho_stream_define_type(s, TACHO_STREAM_PROGRAM, "web:request", format, &type, &error);
 *	tacho_sink_open(&sink, s, "web.kev", NULL, &error);
 *	tacho_sink_put_event(sink, type, time, cpu, thread, &fields, sizeof(fields));
 *	tacho_sink_finish(sink, NULL, &error);
 *	tacho_stream_close(s);
 *
 * Formats: "ctf" (a directory, which babeltrace2 reads), "dat" and "dat7" (trace.dat of
 * trace-cmd, version 6 and 7), "kev" (QNX), "lkst", "ltt", "ltt32", "lttswap", "ltt32swap",
 * "lttfull" (LTT 2.3), "text", "json" (one JSON object per line).  tacho-convert(1) describes
 * what each can represent.  Other data is omitted or changed, and reported to `note`.
 *
 * Errors.  A function returns 0 or a negative errno.  After an error (except -EINVAL for a
 * rejected record) the sink rejects all further records: discard it, or finish it, which
 * returns the same error.  tacho_sink_error() returns the message.
 *
 * Threads.  One thread at a time can use a sink and its stream; no function may be called in a
 * signal handler.  Sinks of different streams are independent.  The stream must outlive the
 * sink.
 */
#ifndef TACHO_SINK_H
#define TACHO_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "tacho/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- writing -------------------------------------------------------------------------- */

struct tacho_sink;	/* an output */

/* Options.  Zero-initialise, then set struct_size and other members. */
struct tacho_sink_options {
	uint32_t struct_size;	/* sizeof(struct tacho_sink_options) */
	uint32_t reserved;	/* 0 */
	const char *format;	/* a name as above; NULL: by the extension of path, else "ctf" */
	/*
	 * Called with each note, usually by tacho_sink_finish(): one sentence, lower case, no
	 * full stop, valid during the call.  NULL: no notes.
	 */
	void (*note)(void *arg, const char *text);
	void *arg;		/* for note */
};

/* Summary of the output. */
struct tacho_sink_result {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_sink_finish() sets it */
	uint32_t reserved;	/* not used */
	uint64_t events;	/* records, excluding those that the format cannot represent */
	uint64_t bytes;		/* size of the output */
};

/* Returns the names of the formats by index, from 0; NULL after the last.  Static. */
const char *tacho_sink_format_name(uint32_t index);

/*
 * tacho_sink_open - start an output for records of a stream.
 *
 * stream comes from tacho_stream_open() or tacho_stream_define().  path must not exist, or must
 * be an empty file or directory; "-" is standard output for "text" and "json".  options may be
 * NULL.  The strings are copied.
 *
 * Returns 0 and *sink, which the caller must finish or discard; or a negative errno with
 * *error filled in (error may be NULL), and leaves no files:
 *	-EINVAL			no such format, or a struct_size that is too small
 *	-E2BIG			options with members that the library does not know
 *	-EEXIST, -ENOTDIR, ...	from the file system
 *	-ENOMEM
 */
int tacho_sink_open(struct tacho_sink **sink, struct tacho_stream *stream, const char *path,
		    const struct tacho_sink_options *options, struct tacho_error *error);

/*
 * tacho_sink_put - append a record of the sink's stream.
 *
 * r is the record that tacho_stream_next() returned last.  The loss before it is written, too.
 * Returns 0 or a negative errno (tacho_sink_error()): -ENOSPC, -EIO, -ENOMEM, ...
 */
int tacho_sink_put(struct tacho_sink *sink, const struct tacho_record *r);

/* Excludes the record that next() returned last, but writes the loss before it.  As _put(). */
int tacho_sink_skip(struct tacho_sink *sink, const struct tacho_record *r);

/* Writes the losses after the last records, after TACHO_STREAM_END.  Returns as _put(). */
int tacho_sink_end_of_stream(struct tacho_sink *sink);

/* tacho_sink_finish() for callers that set result->struct_size. */
int tacho_sink_finish_sized(struct tacho_sink *sink, struct tacho_sink_result *result,
			    struct tacho_error *error);

/*
 * tacho_sink_finish - complete the output and free the sink.
 *
 * result may be NULL, and need not be initialised.  Returns 0; or, with *error filled in (error
 * may be NULL), the sink's first error, or the stream's when something of it (a type, a table)
 * could not be had: then a file that is not whole is removed.
 */
static inline int tacho_sink_finish(struct tacho_sink *sink, struct tacho_sink_result *result,
				    struct tacho_error *error)
{
	if (result)
		result->struct_size = (uint32_t)sizeof(*result);
	return tacho_sink_finish_sized(sink, result, error);
}

/* Frees the sink and removes an incomplete output.  Ignores NULL. */
void tacho_sink_discard(struct tacho_sink *sink);

/* Returns the error of the last failed function; err 0: none.  Borrowed until the sink ends. */
const struct tacho_error *tacho_sink_error(struct tacho_sink *sink);

/* ---- records that the program defines ----------------------------------------------------- */

/*
 * tacho_stream_define - create a stream without records, for types and environment fields.
 *
 * Its clock is ns since 1970.  tacho_stream_close() frees it and its types; the functions of
 * <tacho/stream.h> work on it.  Returns 0 and *stream, or -ENOMEM with *error filled in.
 */
int tacho_stream_define(struct tacho_stream **stream, struct tacho_error *error);

/*
 * tacho_stream_define_type - define an event type by its `format` text.
 *
 * source: TACHO_STREAM_PROGRAM, or TACHO_STREAM_KERNEL for a Linux kernel event, which formats
 * of other systems can then map.  name: "system:event".  format: as in a `format` file of tracefs,
 * from the first line "\tfield:" on; the common_ fields are added, so offsets start at 8:
 *
 *	"\tfield:u64 latency;\toffset:8;\tsize:8;\tsigned:0;\n"
 *	"\tfield:char path[16];\toffset:16;\tsize:16;\tsigned:0;\n"
 *	"\nprint fmt: \"%s in %llu ns\", REC->path, REC->latency\n"
 *
 * A text with the common fields, as in a complete `format` file, is used unchanged.
 *
 * Types can be defined at any time before their first record.  Returns 0 and *type, which is
 * valid as long as the stream, or a negative errno with *error filled in: -EINVAL (a malformed
 * name or format; error->offset is the byte in format), -EEXIST (source already has an event of
 * this name), -ENOSPC (65,535 types), -ENOMEM.
 */
int tacho_stream_define_type(struct tacho_stream *stream, uint32_t source, const char *name,
			     const char *format, const struct tacho_type **type,
			     struct tacho_error *error);

/* A member of a C struct, for tacho_stream_define_struct().  Frozen. */
struct tacho_member {
	const char *declaration;	/* as in C: "uint64_t latency", "char path[16]" */
	size_t offset, size;		/* offsetof() and sizeof() */
	int is_signed;
};

/* TACHO_MEMBER(struct request, latency, "uint64_t latency", 0) */
#define TACHO_MEMBER(type, member, declaration, is_signed) \
	{ (declaration), offsetof(type, member), sizeof(((type *)0)->member), (is_signed) }

/*
 * The same, with the members of the C struct whose bytes are the fields of each record.  Text
 * output prints the fields by name.  Returns as tacho_stream_define_type().
 */
int tacho_stream_define_struct(struct tacho_stream *stream, uint32_t source, const char *name,
			       const struct tacho_member *member, size_t nr,
			       const struct tacho_type **type, struct tacho_error *error);

/*
 * A fact about the recording: "hostname", "sysname", "release", "machine", "command"; "cpus" is
 * their number; name is a C identifier.  Before the sink is opened.  Copied.  0; -EINVAL or
 * -ENOMEM with *error filled in.
 */
int tacho_stream_define_env(struct tacho_stream *stream, const char *name, const char *value,
			    struct tacho_error *error);

/*
 * The name of a thread, and its process (0: not known).  Copied.  0; -EINVAL, -EOVERFLOW (too
 * many threads) or -ENOMEM with *error filled in.
 */
int tacho_stream_define_thread(struct tacho_stream *stream, int32_t thread, int32_t process,
			       const char *name, struct tacho_error *error);

/*
 * tacho_sink_put_event - append an event of a defined type.
 *
 * type belongs to the sink's stream.  time is in ns since 1970 and must not be less than that
 * of the previous event.  cpu: UINT32_MAX if unknown.  fields: size bytes, those of
 * the format from offset 8 on; variable data (__data_loc) follows the fixed part, and its offsets
 * are relative to the raw event's first byte, 8 before fields.
 *
 * Returns 0 or a negative errno (tacho_sink_error()).  -EINVAL rejects only this event: it is
 * earlier than the previous one, smaller than its type's fixed part, larger than a
 * record can be (TACHO_RAW_MAX), or of another stream.
 */
int tacho_sink_put_event(struct tacho_sink *sink, const struct tacho_type *type, uint64_t time,
			 uint32_t cpu, int32_t thread, const void *fields, size_t size);

/*
 * Records that `events` events of a source (enum tacho_stream_id) and CPU are missing before the
 * next event.  Returns as tacho_sink_put_event().
 */
int tacho_sink_put_lost(struct tacho_sink *sink, uint32_t source, uint64_t time, uint32_t cpu,
			uint64_t events);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
