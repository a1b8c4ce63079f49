/* SPDX-License-Identifier: MIT */
/*
 * <tacho/columns.h> - recorded events, or what the model makes of them, as columns: an Arrow C
 * stream.
 *
 * Link with -ltacho-stream (pkg-config tacho-stream).
 *
 *	struct tacho_columns_config config;
 *	struct ArrowArrayStream stream;
 *	struct tacho_error error;
 *
 *	tacho_columns_config_init(&config);
 *	config.events = "sched:sched_switch";
 *	if (tacho_columns_open(&stream, "my-trace", &config, &error) < 0)
 *		...
 *	duckdb_arrow_scan(connection, "switches", (duckdb_arrow_stream)&stream);
 *
 * The result is a struct ArrowArrayStream of the Arrow C stream interface.  Its users need no
 * library of tacho's but this one, and no Arrow library: DuckDB, pandas, polars, pyarrow and R
 * import it.  Each batch is a struct array (format "+s") of at most config.batch_rows rows; a
 * row is an event, a column is one of its properties or fields.
 *
 * Columns
 *	The first ones are of every event.  Their names begin with "common_", which event
 *	types do not use for fields of their own:
 *
 *		common_timestamp   timestamp[ns]	ns since 1970 (UTC)
 *		common_cpu	   uint32		null: not known
 *		common_pid	   int32		id of the thread
 *		common_comm	   dictionary, utf8	name of the thread; null: not known
 *		common_event	   dictionary, utf8	"sched_switch"
 *
 *	Then come the fields of the selected event types, in the order of their formats.  Other
 *	columns exist only if config.columns names them:
 *
 *		common_system	   dictionary, utf8	"sched"
 *		common_source	   dictionary, utf8	"program" or "kernel"
 *		common_tgid	   int32		id of the process; null: not known
 *		common_ticks	   uint64		the clock's value as recorded
 *		common_lost	   uint64		records lost before this one on its CPU
 *		common_type, common_flags, common_preempt_count	   as recorded
 *
 *	A record that lacks a field, because its type does not have it or because it is too short,
 *	has null there.
 *
 *	If several types have a field of the same name, the fields share a column.  Integers of
 *	different types become int64 (uint64 if one is uint64 and the others are unsigned),
 *	floats become double, and strings become utf8.  A field that does not fit so gets a
 *	column of its own, which is named EVENT_FIELD.
 *
 *	Columns are those of the event types that are known when the stream is opened.  Types
 *	that become known later (in a live session, or custom events of an LTT trace) fill
 *	columns that exist, where their fields fit, and add none.
 *
 * Arrow types of fields
 *	integers		int8 to uint64, of the width and sign of the field
 *	bool			bool
 *	float, double		float, double
 *	pointers		uint64
 *	char[N]			dictionary of utf8
 *	__string, char[]	utf8, because such texts may all differ
 *	arrays of numbers	fixed-size list if they take at most 64 bytes, else list
 *	cpumask, bitmask	binary: longs as recorded
 *	structs, other bytes	fixed-size binary if at most 64 bytes, else binary
 *
 *	An integer whose values have names in the event's print format has a second column after
 *	it, FIELD_name, a dictionary of utf8.  The name of a value is null if the format has none.
 *	Of flags it has all names, separated by '|'; bits without a name follow as a hexadecimal
 *	number.  An underscore is appended if a column is called so already.
 *
 *	A string ends at its first NUL.  What is not UTF-8 in it becomes U+FFFD.
 *
 *	common_timestamp has no time zone, because consumers disagree about zones: DuckDB would
 *	cut timestamp[ns, UTC] to microseconds.  See TACHO_COLUMNS_TIME_UTC and _INT64.
 *
 *	Dictionaries have indexes of int32.  Each batch has its own dictionaries, which may have
 *	texts that none of its rows has.
 *
 *	The schema contains the C declaration of each field as metadata ("tacho.declaration").
 *
 * Tables of the model
 *	config.table names one: "slice", "thread_state", "counter", "flow", "instant", "gap" or
 *	"track".  They have the columns and the rows of the tables of `tacho sql`, in the same
 *	order (docs/sql.md, "Items of the model"):
 *
 *		time, end		as common_timestamp
 *		other INTEGERs		int64
 *		begin_unknown, end_unknown, uncertain, io, preempted, by_irq	bool
 *		REAL			double
 *		TEXT			dictionary of utf8; in "track" utf8
 *
 *	They are read by one thread, from the start of the trace: an item is known when it ends.
 *	config.begin and .end are of the item's `time`, its begin.  An item that begins in the
 *	range can end at any later time, so reading ends with config.until only; what is open then
 *	has end_unknown, as if the trace ended there.  config.tids, .pids, .comms and .cpus are of
 *	the item's columns tid, pid, comm and cpu, of "flow" of those whose names begin with
 *	"from_"; an item that has none does not pass.  config.tracks are globs of `path`, of "flow"
 *	of from_path ("gap" has "machine"); a comma in a path is matched by '?'.  config.rules
 *	adds rules (docs/model.md) before the built-in ones; a rule that fits no event is ignored.
 *
 * Order, and what is read
 *	Events are in the order of time, unless TACHO_COLUMNS_UNORDERED; items of the model in
 *	that of their ends, tracks in that of their numbers.  Packets outside of the time range
 *	are not read for events.  Fields without a column are not decoded.
 *
 *	As many rows as one batch has are in memory at a time, and the dictionaries; with
 *	threads, those of up to 2 * threads + 1 pieces of at most 8 MiB of the trace.
 *
 *	A live session ("session:NAME") yields the records that it has when its last batch is
 *	read; a table of the model those that it has when its first one is.
 *
 * Ownership
 *	The caller owns *stream and calls stream->release(stream) when it is done, at any time.
 *	It owns each schema and each batch that it gets, and releases them likewise.  They do not
 *	depend on the stream: a batch, or a column that was moved out of it, remains valid after
 *	the stream was released.  All structs may be moved as the Arrow specification says.
 *
 * Errors while reading
 *	get_schema and get_next return 0 or a positive errno; then get_last_error returns the
 *	message, which is valid until the next call on the stream.  Damage inside a trace is
 *	skipped and counted, as by tacho_stream_next().  Rows before an error are delivered first.
 *	After an error get_next returns the same error again.
 *
 * Context
 *	One thread at a time uses a stream.  Schemas and batches may be read and released in any
 *	thread.  No function may be called in a signal handler.
 *
 *	No thread is started unless config.threads is 2 or more.  Then so many decode ahead of
 *	the consumer, from the first get_next() until the last batch, or release().  They take no
 *	signals.  Rows and their order are those of one thread; a batch may have fewer of them.
 *	What cannot be divided is read by one thread: live sessions, traces of other tracers,
 *	TACHO_COLUMNS_STRICT, what follows damage.
 *
 *	A child that is forked from a process with such a stream has none of its threads.  It may
 *	read on, alone, or release the stream, whose threads' memory it then keeps until it exits.
 *
 * Versions
 *	As in <tacho/stream.h>.  A configuration in which a member that the library does not know
 *	is not 0 is rejected with -E2BIG.
 */
#ifndef TACHO_COLUMNS_H
#define TACHO_COLUMNS_H

#include <stdint.h>
#include <string.h>

#include "tacho/error.h"

#define TACHO_COLUMNS_VERSION_MAJOR	1
#define TACHO_COLUMNS_VERSION_MINOR	1
#define TACHO_COLUMNS_VERSION \
	(TACHO_COLUMNS_VERSION_MAJOR << 16 | TACHO_COLUMNS_VERSION_MINOR)

#ifdef __cplusplus
extern "C" {
#endif

/* The structs of the Arrow C data interface; the guard is the one that all its users have. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED	1
#define ARROW_FLAG_NULLABLE		2
#define ARROW_FLAG_MAP_KEYS_SORTED	4

/* What a column is. */
struct ArrowSchema {
	const char *format;	/* "i": int32, "u": utf8, "+s": struct, ... */
	const char *name;
	const char *metadata;	/* int32 count; of each key and value an int32 length and bytes */
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);	/* NULL: it was released or moved away */
	void *private_data;
};

/* Values of a column. */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);	/* NULL: it was released or moved away */
	void *private_data;
};

#endif

/* The struct of the Arrow C stream interface, likewise. */
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* A source of batches. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	/* out->release is NULL after the last batch */
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);	/* NULL: it was released or moved away */
	void *private_data;
};

#endif

#pragma GCC visibility push(default)

struct tacho_stream;

/* TACHO_COLUMNS_VERSION of the library that runs: major << 16 | minor.  Any context. */
uint32_t tacho_columns_version(void);

enum tacho_columns_flag {
	/* All strings as utf8, for consumers without dictionaries. */
	TACHO_COLUMNS_NO_DICTIONARY = 1,
	/* All strings as dictionaries, also those that may all differ. */
	TACHO_COLUMNS_DICTIONARY = 2,
	/* Times as timestamp[ns, UTC]: what pandas, polars and pyarrow do best with. */
	TACHO_COLUMNS_TIME_UTC = 4,
	/* Times as int64, ns since 1970. */
	TACHO_COLUMNS_TIME_INT64 = 8,
	/*
	 * Rows in any order across CPUs (each CPU's own order is kept): faster with one thread.
	 * With several they are in the order of time all the same.
	 */
	TACHO_COLUMNS_UNORDERED = 16,
	/* Fail at the first damage instead of skipping to the next good packet. */
	TACHO_COLUMNS_STRICT = 32,
};

/*
 * Which rows and columns.  Members that are 0 mean the default: all of them.  The texts are
 * those of the options of tacho-report(1); each is copied.
 */
struct tacho_columns_config {
	uint32_t struct_size;	/* bytes of the caller's struct; _config_init() sets it */
	uint32_t flags;		/* enum tacho_columns_flag */
	const char *events;	/* globs "SYSTEM:EVENT", with commas; "!GLOB" excludes */
	const char *const *columns;	/* nr_columns names, in the order of the result */
	uint32_t nr_columns;
	uint32_t batch_rows;	/* rows of a batch at most, up to 16,777,216; default 16,384 */
	uint64_t begin, end;	/* ns since 1970, both included; end 0: to the end */
	const char *tids;	/* threads: "12,34-36" */
	const char *pids;	/* processes; a thread whose process is not known has none */
	const char *comms;	/* globs of thread names, with commas; "!GLOB" excludes */
	const char *cpus;	/* "0,2-3" */
	const char *source;	/* "program" or "kernel" */
	const char *const *filters;	/* expressions of the control language, "EVENT/EXPR" */
	uint32_t nr_filters;	/* at most 16 */
	uint32_t threads;	/* threads that decode, at most 256; 0 or 1: the caller's alone */

	/* since 1.1 */
	const char *table;	/* of the model: "slice", "thread_state", ...; NULL: events */
	const char *rules;	/* lines of rules, as of `tacho model --rules-file` */
	const char *tracks;	/* globs of paths of tracks, with commas; "!GLOB" excludes */
	uint64_t until;		/* ns since 1970: later records are not read; 0: all are */
};

/* Sets all members to their defaults.  Any context. */
static inline void tacho_columns_config_init(struct tacho_columns_config *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = (uint32_t)sizeof(*config);
}

/*
 * tacho_columns_open - the events of a trace, or a table of the model, as an Arrow C stream.
 *
 * path names what tacho_stream_open() opens.  config is not used after the call; NULL: all
 * defaults.  The event types are read, and the first record if there is a time range.
 *
 * Returns 0 and *out, which the caller releases, or a negative errno with out->release NULL and
 * *error filled in (error may be NULL):
 *	-ENOENT		no trace; a glob that matches no event; config.columns names a column
 *			that no selected event, or the table, has; no such table
 *	-EINVAL		struct_size, a flag, a number, a range, a filter or a rule of config; a
 *			member that says nothing about what is read (config.events of a table of
 *			the model, config.tracks of events); a trace that is damaged beyond
 *			reading
 *	-E2BIG		config has a member that this library does not know; or there would be
 *			more than 8,192 columns: select events, or name columns
 *	or the errors of tacho_stream_open()
 */
int tacho_columns_open(struct ArrowArrayStream *out, const char *path,
		       const struct tacho_columns_config *config, struct tacho_error *error);

/*
 * tacho_columns_open_stream - the same, of an open stream of <tacho/stream.h>.
 *
 * No record of stream may have been read.  On success *out owns stream, and
 * out->release() closes it; until then the caller may use it only between two calls on *out,
 * for tacho_stream_get_info(), tacho_stream_env() and the types.  TACHO_COLUMNS_UNORDERED and
 * TACHO_COLUMNS_STRICT are ignored: the flags of tacho_stream_open() decide.
 *
 * Returns as tacho_columns_open(); on failure stream stays the caller's, to close.
 */
int tacho_columns_open_stream(struct ArrowArrayStream *out, struct tacho_stream *stream,
			      const struct tacho_columns_config *config,
			      struct tacho_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
