/* SPDX-License-Identifier: MIT */
/*
 * <tacho/stream.h> - read recorded events.
 *
 * Link with -ltacho-stream (pkg-config tacho-stream).
 *
 *	struct tacho_error error;
 *	struct tacho_stream *s;
 *	struct tacho_record r;
 *
 *	if (tacho_stream_open(&s, "my-trace", 0, &error) < 0)
 *		...
 *	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
 *		printf("%s\n", tacho_type_name(r.type));
 *	tacho_stream_close(s);
 *
 * A stream yields the records of one source (a trace directory, a live session, another
 * system's trace), merged from all its parts in the order of time.  It holds a bounded
 * amount of memory, whatever the size of the source.
 *
 * Context
 *	One thread at a time uses a stream and what it returned; different streams are
 *	independent.  No function may be called in a signal handler.  Functions print
 *	nothing, install no signal handler and start no thread.  Opening a core dump, a
 *	memory image or a CTF trace of another tracer loads code or reads large files.
 *
 * Versions
 *	TACHO_STREAM_VERSION is the interface that a program is compiled for,
 *	tacho_stream_version() the library's.  A library of the same major number runs
 *	programs that were compiled for any smaller or equal minor number.
 *
 *	A struct that the library fills in may get members at its end.  struct_size, its
 *	first member, says how large the caller's is: tacho_stream_next(),
 *	tacho_stream_get_info() and tacho_type_field_info() are inline and set it, so no
 *	caller has to initialise anything.  A library never writes beyond struct_size, and
 *	sets members that it does not know to 0.  Callers that do not compile this header
 *	(foreign function interfaces) set struct_size and call the function below.
 */
#ifndef TACHO_STREAM_H
#define TACHO_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacho/abi/record.h"
#include "tacho/error.h"

#define TACHO_STREAM_VERSION_MAJOR	1
#define TACHO_STREAM_VERSION_MINOR	0
#define TACHO_STREAM_VERSION \
	(TACHO_STREAM_VERSION_MAJOR << 16 | TACHO_STREAM_VERSION_MINOR)

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tacho_stream;
struct tacho_type;	/* an event's type; lives as long as its stream */
struct tacho_field;	/* one field of a type; lives as long as its stream */

/* TACHO_STREAM_VERSION of the library that runs: major << 16 | minor.  Any context. */
uint32_t tacho_stream_version(void);

/* ---- opening --------------------------------------------------------------- */

/* What tacho_stream_next() returns. */
enum tacho_stream_status {
	TACHO_STREAM_RECORD = 1,	/* *r is the next record */
	TACHO_STREAM_AGAIN = 2,		/* live source: nothing now, call again later */
	TACHO_STREAM_END = 0,		/* no more records */
	TACHO_STREAM_ERROR = -1,	/* see tacho_stream_error(); records so far are good */
};

/* Options of tacho_stream_open(). */
enum tacho_stream_flag {
	/* Any order across parts (each part's own order is kept): faster. */
	TACHO_STREAM_UNORDERED = 1,
	/* Stop at the first damage instead of skipping to the next good packet. */
	TACHO_STREAM_STRICT = 2,
	/* Live session in overwrite mode: release what was read to the writers. */
	TACHO_STREAM_CONSUME = 4,
	/* The struct layout of an LTT 2.3 trace; default: detected from its records. */
	TACHO_STREAM_LTT_64 = 8,
	TACHO_STREAM_LTT_32 = 16,
	TACHO_STREAM_LTT_TEXT = 32,
};

/*
 * tacho_stream_open - open a source of records.
 *
 * path names a trace directory (or a directory of rotated traces), a trace.dat
 * file of trace-cmd, a trace of LTT (a file, or a directory of files per CPU), a .kev
 * file of QNX, a log file of LKST, a core dump or memory image that contains sessions,
 * or a live session as "session:NAME".  CTF traces of other tracers are read through
 * libbabeltrace2 where it is installed.  flags: enum tacho_stream_flag.
 *
 * Returns 0 and *stream, which the caller closes, or a negative errno with *error filled
 * in (error may be NULL):
 *	-ENOENT, -EACCES, ...	from the file system
 *	-EINVAL			not a trace, or one damaged beyond reading
 *	-ENOTSUP		a format for which no reader is installed
 *	-ENOMEM
 */
int tacho_stream_open(struct tacho_stream **stream, const char *path,
		      unsigned int flags, struct tacho_error *error);

/*
 * Closes the stream and frees everything it returned: types, fields, strings.  Ignores
 * NULL.
 */
void tacho_stream_close(struct tacho_stream *stream);

/*
 * Returns the error after TACHO_STREAM_ERROR; err is 0 if there was none.  Borrowed,
 * valid until tacho_stream_close().
 */
const struct tacho_error *tacho_stream_error(const struct tacho_stream *stream);

/* ---- records --------------------------------------------------------------- */

/* One record.  Pointers are valid until the next call on the stream. */
struct tacho_record {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_stream_next() sets it */
	uint32_t len;		/* bytes at raw */
	uint64_t time;		/* ns since 1970 (CLOCK_REALTIME) */
	uint64_t ticks;		/* the clock value as recorded */
	const struct tacho_type *type;
	const void *raw;	/* the raw event: common fields, then fields */
	uint32_t cpu;		/* UINT32_MAX: not known */
	int32_t pid;		/* thread id (common_pid) */
	uint32_t source;	/* enum tacho_stream_id: program or kernel */
	uint32_t reserved;	/* not used */
	uint64_t lost;		/* records lost before this one in its part */
};

/*
 * tacho_stream_next_record - tacho_stream_next() for callers that set r->struct_size.
 *
 * Returns TACHO_STREAM_ERROR with -EINVAL if struct_size is smaller than the struct of
 * version 1.0.
 */
int tacho_stream_next_record(struct tacho_stream *stream, struct tacho_record *r);

/*
 * tacho_stream_next - read the next record in the order of time.
 *
 * r need not be initialised.  It is filled in if TACHO_STREAM_RECORD is returned.
 *
 * Returns an enum tacho_stream_status.  Damage inside a source is skipped and counted
 * (tacho_stream_info) unless the stream is TACHO_STREAM_STRICT.  Missing memory is not
 * damage: it ends the stream with TACHO_STREAM_ERROR, at its end at the latest.  A stream
 * that returned TACHO_STREAM_ERROR returns it again until tacho_stream_seek().
 */
static inline int tacho_stream_next(struct tacho_stream *stream, struct tacho_record *r)
{
	r->struct_size = (uint32_t)sizeof(*r);
	return tacho_stream_next_record(stream, r);
}

/*
 * tacho_stream_seek - go to the first record at or after `time`.
 *
 * time: ns since 1970; 0 goes to the start.  Reads packet headers only, except in formats
 * whose records depend on those before (LTT, .kev, CTF of other tracers, a guest's
 * trace.dat): there it passes over all earlier records.
 *
 * Returns 0, -ESPIPE for a live source, -EIO, or another negative errno.
 */
int tacho_stream_seek(struct tacho_stream *stream, uint64_t time);

/* ---- what is known of a source --------------------------------------------- */

/* What is known of a source without reading its records. */
struct tacho_stream_info {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_stream_get_info() sets it */
	uint32_t parts;		/* parts that are merged */
	uint64_t begin, end;	/* ns since 1970, of the packets; 0: no records */
	uint64_t events;	/* records, by packet headers; 0 for a foreign CTF trace */
	uint64_t discarded;	/* records lost while recording */
	uint64_t overwritten;	/* records that a flight recorder has replaced by newer ones */
	uint64_t damaged;	/* packets and records found damaged so far */
	uint64_t truncated;	/* records since the last seek with only a part of their event */
	uint64_t bytes;		/* size of the source */
	uint64_t packets;
	uint64_t clock_freq;	/* ticks per second */
	const char *format;	/* "tacho", "ctf", ...; static */
	uint32_t types;		/* known event types */
	uint32_t reserved;	/* not used */
};

/* tacho_stream_get_info() for callers that set info->struct_size; -EINVAL: too small. */
int tacho_stream_fill_info(struct tacho_stream *stream, struct tacho_stream_info *info);

/*
 * tacho_stream_get_info - describe the source.
 *
 * Costs one read per packet.  info need not be initialised.
 *
 * Returns 0, -EIO, or the error for which a part of the source (a type, a table) could not
 * be read, for example -ENOMEM.
 */
static inline int tacho_stream_get_info(struct tacho_stream *stream,
					struct tacho_stream_info *info)
{
	info->struct_size = (uint32_t)sizeof(*info);
	return tacho_stream_fill_info(stream, info);
}

/*
 * Returns an environment field of the recording by its name ("hostname", "sysname",
 * "release", "machine", "command", "tracer_version", ...), or NULL.  Borrowed until close.
 */
const char *tacho_stream_env(const struct tacho_stream *stream,
			     const char *name);

/*
 * Returns the name of a thread at the time of recording, or NULL if it is not known.
 * Borrowed until the next call on the stream.  *tgid (may be NULL) receives the id of its
 * process, or 0 if that is not known.
 */
const char *tacho_stream_comm(const struct tacho_stream *stream, int32_t pid,
			      int32_t *tgid);

/*
 * Returns the name of the buffer that contained the last record of tacho_stream_next()
 * (an instance, in a trace.dat), "" for the main one.  Borrowed until close.
 */
const char *tacho_stream_buffer(const struct tacho_stream *stream);

/* ---- types and fields ------------------------------------------------------ */

/*
 * Returns a type of the stream by its index, 0 to info.types - 1, or NULL after the last.
 * Index 0 lists the types again: a live source gets more.  A type stays the same pointer as
 * long as the stream is open.
 */
const struct tacho_type *tacho_stream_type(const struct tacho_stream *stream,
					   uint32_t index);

/* Return the names of a type.  Borrowed until the stream is closed. */
const char *tacho_type_system(const struct tacho_type *type);
const char *tacho_type_name(const struct tacho_type *type);

/* Returns a field by its index, common fields first, or NULL after the last. */
const struct tacho_field *tacho_type_field_at(const struct tacho_type *type,
					      uint32_t index);

/* Returns the field of that name, or NULL.  Look it up once per type, not per record. */
const struct tacho_field *tacho_type_find(const struct tacho_type *type,
					  const char *name);

/* Returns the name of a field.  Borrowed until the stream is closed. */
const char *tacho_field_name(const struct tacho_field *field);

/* What the elements of a field are.  There may be more kinds later: treat them as bytes. */
enum tacho_value_kind {
	TACHO_VALUE_BYTES = 0,		/* a struct, a union, or raw bytes */
	TACHO_VALUE_INTEGER = 1,	/* of elem_size 1, 2, 4 or 8 */
	TACHO_VALUE_FLOAT = 2,		/* IEEE 754, of elem_size 4 or 8 */
	TACHO_VALUE_STRING = 3,		/* text; a NUL ends it, and may be missing */
	TACHO_VALUE_BITMASK = 4,	/* an array of longs, as the kernel's cpumask */
};

/* Properties of a field. */
enum tacho_value_flag {
	TACHO_VALUE_SIGNED = 1,		/* its integers are signed */
	TACHO_VALUE_BOOL = 2,		/* an integer that is false or true */
	TACHO_VALUE_POINTER = 4,	/* an address of the recorded program or kernel */
	TACHO_VALUE_ARRAY = 8,		/* several elements */
	TACHO_VALUE_DYNAMIC = 16,	/* as many as each record says: count is 0 */
	TACHO_VALUE_COMMON = 32,	/* one of the common fields of all events */
};

/* How values of a field have names: by the first table of the print format that has it. */
enum tacho_value_names {
	TACHO_NAMES_NONE = 0,		/* they have none */
	TACHO_NAMES_ENUM = 1,		/* a value has at most one name (__print_symbolic) */
	TACHO_NAMES_FLAGS = 2,		/* bits have names (__print_flags) */
};

/* A field of a type. */
struct tacho_field_info {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_type_field_info() sets it */
	uint32_t kind;		/* enum tacho_value_kind */
	uint32_t flags;		/* enum tacho_value_flag */
	uint32_t offset;	/* bytes from the start of the raw event */
	uint32_t size;		/* bytes in the fixed part; of a DYNAMIC one, of its location */
	uint32_t elem_size;	/* bytes of one element */
	uint32_t count;		/* elements; 0: each record says (DYNAMIC) */
	uint32_t names;		/* enum tacho_value_names */
	uint64_t names_mask;	/* names are of (value & names_mask) */
	uint32_t nr_names;	/* entries of tacho_type_value_name() */
	uint32_t index;		/* of tacho_type_field_at() */
	const char *name;	/* "prev_comm"; borrowed until the stream is closed */
	const char *elem_type;	/* "char", "u32", "struct foo"; borrowed */
	const char *declaration; /* "char prev_comm[16]"; borrowed */
};

/* tacho_type_field_info() for callers that set info->struct_size; -EINVAL: too small. */
int tacho_type_fill_field(const struct tacho_type *type, const struct tacho_field *field,
			  struct tacho_field_info *info);

/*
 * tacho_type_field_info - describe a field.
 *
 * field is one of the type's.  info need not be initialised.  Any thread while the stream is
 * open.  Returns 0; -EINVAL if field is NULL or not one of the type's.
 */
static inline int tacho_type_field_info(const struct tacho_type *type,
					const struct tacho_field *field,
					struct tacho_field_info *info)
{
	info->struct_size = (uint32_t)sizeof(*info);
	return tacho_type_fill_field(type, field, info);
}

/*
 * tacho_type_value_name - a named value of a field: one entry of its enum or flags.
 *
 * index: 0 to info.nr_names - 1.  *value (may be NULL) receives the value or the bits.  Writes
 * at most size bytes of the name, NUL included, to name (may be NULL if size is 0).
 *
 * Returns the length of the name without its NUL; 0 after the last one.
 */
size_t tacho_type_value_name(const struct tacho_type *type, const struct tacho_field *field,
			     uint32_t index, uint64_t *value, char *name, size_t size);

/* ---- values ---------------------------------------------------------------- */

/*
 * tacho_record_int - an integer of a record.
 *
 * A signed field is sign-extended.  Returns false, and leaves *value, if field is NULL, if the
 * record is too short for it, or if it is not one integer.
 */
bool tacho_record_int(const struct tacho_record *r,
		      const struct tacho_field *field, uint64_t *value);

/*
 * tacho_record_double - a float or double of a record.
 *
 * Integers are not converted.  Returns false, and leaves *value, if field is NULL, if the
 * record is too short for it, or if it is not one floating-point number.
 */
bool tacho_record_double(const struct tacho_record *r,
			 const struct tacho_field *field, double *value);

/*
 * tacho_record_data - the bytes of a field.
 *
 * A string may lack its NUL.  The bytes may be unaligned.  Returns a pointer into r->raw with
 * *size in bytes, valid as long as r is, or NULL if field is NULL or the record is too short.
 */
const void *tacho_record_data(const struct tacho_record *r,
			      const struct tacho_field *field, size_t *size);

/*
 * tacho_record_text - the text of a record by its print format.
 *
 * It is what the kernel prints after "event: ".  r is the record that tacho_stream_next()
 * returned last.  Writes at most size bytes, NUL included, to text (may be NULL if size
 * is 0).
 *
 * Returns the length of the whole text without its NUL, as snprintf() does.
 */
size_t tacho_record_text(struct tacho_stream *stream,
			 const struct tacho_record *r, char *text, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
