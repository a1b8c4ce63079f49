/* SPDX-License-Identifier: MIT */
/*
 * <tacho/stream.h> - read recorded events.
 *
 * Link with -ltacho-stream (pkg-config tacho-stream).
 *
 *	struct tacho_stream *s;
 *	struct tacho_record r;
 *
 *	if (tacho_stream_open(&s, "my-trace", 0, &error) < 0)
 *		...
 *	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
 *		printf("%s\n", tacho_type_name(r.type));
 *	tacho_stream_close(s);
 *
 * A stream yields the records of one source, whatever it is (a trace directory, a live
 * session, another system's trace), merged from all its parts in the order of
 * time.  It holds a bounded amount of memory, whatever the size of the source.
 *
 * One stream is used by one thread at a time; different streams are independent.
 */
#ifndef TACHO_STREAM_H
#define TACHO_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "tacho/abi/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tacho_stream;
struct tacho_type;	/* an event's type; lives as long as its stream */
struct tacho_field;	/* one of its fields; likewise */

/* What went wrong, in a sentence. */
struct tacho_error {
	int err;		/* negative errno */
	uint64_t offset;	/* byte in the file named by the text, or 0 */
	char text[240];		/* no capital, no full stop */
};

/* What tacho_stream_next() says. */
enum tacho_stream_status {
	TACHO_STREAM_RECORD = 1,	/* *r is the next record */
	TACHO_STREAM_AGAIN = 2,		/* live source: nothing now, ask later */
	TACHO_STREAM_END = 0,		/* no more records */
	TACHO_STREAM_ERROR = -1,	/* see tacho_stream_error(); records so far are good */
};

/* Options of tacho_stream_open(). */
enum tacho_stream_flag {
	/* Any order across parts (each part's own order is kept): faster. */
	TACHO_STREAM_UNORDERED = 1,
	/* Stop at the first damage instead of skipping to the next good packet. */
	TACHO_STREAM_STRICT = 2,
	/* Live session that keeps old data: writers may reuse what was read. */
	TACHO_STREAM_CONSUME = 4,
	/* Of LTT 2.3: which layout its structs have.  Without these it is found out. */
	TACHO_STREAM_LTT_64 = 8,
	TACHO_STREAM_LTT_32 = 16,
	TACHO_STREAM_LTT_TEXT = 32,
};

/* One record.  Pointers are valid until the next call on the stream. */
struct tacho_record {
	uint64_t time;		/* ns since 1970 (CLOCK_REALTIME) */
	uint64_t ticks;		/* the clock value as recorded */
	const struct tacho_type *type;
	const void *raw;	/* the raw event: common fields, then fields */
	uint32_t len;		/* its bytes */
	uint32_t cpu;		/* UINT32_MAX: not known */
	int32_t pid;		/* thread id (common_pid) */
	uint32_t source;	/* enum tacho_stream_id: program or kernel */
	uint64_t lost;		/* records lost before this one in its part */
};

/*
 * tacho_stream_open - open a source of records.
 *
 * path names a trace directory (or a directory of rotated traces), a trace.dat
 * file of trace-cmd, a trace of LTT (a file, or a directory of files per CPU), a .kev
 * file of QNX, a log file of LKST, a core dump or memory image that has sessions in it,
 * or a live session as "session:NAME".  CTF traces that tacho did not write open
 * through libbabeltrace2 where it is installed.  flags: enum tacho_stream_flag.
 *
 * Returns 0 and *stream, which is the caller's to close, or a negative errno with
 * *error filled in (error may be NULL):
 *	-ENOENT, -EACCES, ...	from the file system
 *	-EINVAL			not a trace, or one damaged beyond reading
 *	-ENOTSUP		a format for which no reader is installed
 *	-ENOMEM
 */
int tacho_stream_open(struct tacho_stream **stream, const char *path,
		      unsigned int flags, struct tacho_error *error);

/* Closes the stream and frees all that came from it.  NULL is fine. */
void tacho_stream_close(struct tacho_stream *stream);

/*
 * tacho_stream_next - the next record in the order of time.
 *
 * Returns an enum tacho_stream_status.  Damage inside a source is skipped and counted
 * (tacho_stream_info) unless TACHO_STREAM_STRICT.  Missing memory is not damage: it ends
 * the stream with TACHO_STREAM_ERROR, at the end at the latest.
 */
int tacho_stream_next(struct tacho_stream *stream, struct tacho_record *r);

/*
 * tacho_stream_seek - go to the first record at or after `time` (ns since
 * 1970); 0 goes to the start.  Uses packet headers only.
 *
 * Returns 0, or a negative errno: -ESPIPE for a live source, -EIO.
 */
int tacho_stream_seek(struct tacho_stream *stream, uint64_t time);

/* The error after TACHO_STREAM_ERROR; borrowed, valid until close. */
const struct tacho_error *tacho_stream_error(const struct tacho_stream *stream);

/* What is known of a source without reading its records. */
struct tacho_stream_info {
	uint64_t begin, end;	/* ns since 1970, of the packets; 0: no records */
	uint64_t events;	/* records, by packet headers; 0 for a foreign CTF trace */
	uint64_t discarded;	/* records lost while recording */
	uint64_t overwritten;	/* records that a flight recorder has replaced by newer ones */
	uint64_t damaged;	/* packets and records found damaged so far */
	uint64_t truncated;	/* records since the last seek that do not hold all of their event */
	uint64_t bytes;		/* size of the source */
	uint64_t packets;
	uint64_t clock_freq;	/* ticks per second */
	uint32_t parts;		/* streams that are merged */
	uint32_t types;		/* known event types */
	const char *format;	/* "tacho", "ctf", ... static */
};

/*
 * Fills *info; the cost is one read per packet.  Returns 0, -EIO, or the error that
 * something of the source (a type, a table) could not be read for, as -ENOMEM.
 */
int tacho_stream_get_info(struct tacho_stream *stream,
			  struct tacho_stream_info *info);

/*
 * A fact about the recording by name ("hostname", "sysname", "release",
 * "machine", "command", "tracer_version", ...), or NULL.  Borrowed until close.
 */
const char *tacho_stream_env(const struct tacho_stream *stream,
			     const char *name);

/*
 * The name of a thread at the time of recording, or NULL when it is not
 * known.  tgid (its process) may be NULL; 0 is stored when not known.
 */
const char *tacho_stream_comm(const struct tacho_stream *stream, int32_t pid,
			      int32_t *tgid);

/*
 * The name of the buffer that the record which next() gave last was recorded in
 * (an instance's, in a trace.dat), "" for the main one.  Borrowed until close.
 */
const char *tacho_stream_buffer(const struct tacho_stream *stream);

/* Types of a stream: index from 0 to info.types - 1, NULL beyond. */
const struct tacho_type *tacho_stream_type(const struct tacho_stream *stream,
					   uint32_t index);

/* Names of a type. */
const char *tacho_type_system(const struct tacho_type *type);
const char *tacho_type_name(const struct tacho_type *type);

/* Its fields in order, common fields first: NULL beyond the last. */
const struct tacho_field *tacho_type_field_at(const struct tacho_type *type,
					      uint32_t index);
const struct tacho_field *tacho_type_find(const struct tacho_type *type,
					  const char *name);
const char *tacho_field_name(const struct tacho_field *field);

/*
 * The value of a field in a record.  _int: false when the field is absent
 * or no integer; signed fields are sign-extended.  _double: likewise of a
 * float or double field; integers are not converted.  _data: the bytes,
 * NULL when absent; strings may lack their NUL.
 */
int tacho_record_int(const struct tacho_record *r,
		     const struct tacho_field *field, uint64_t *value);
int tacho_record_double(const struct tacho_record *r,
			const struct tacho_field *field, double *value);
const void *tacho_record_data(const struct tacho_record *r,
			      const struct tacho_field *field, size_t *size);

/*
 * The record's text by its print format, as the kernel prints it behind
 * "event: ".  Writes at most size bytes, NUL included, to text; returns the
 * length it would have had, like snprintf().
 */
size_t tacho_record_text(struct tacho_stream *stream,
			 const struct tacho_record *r, char *text, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
