/* SPDX-License-Identifier: MIT */
/*
 * source.h - the interface between a stream and a format's reader or a live session.
 *
 *	source			one trace, or one live session
 *	  part			one ordered sequence of records in it (a file, a ring)
 *	    batch		records in memory: bytes [pos, end)
 *
 * A source returns *batches*: consecutive records in the layout of <tacho/abi/record.h>.  The
 * stream reads them without a call per record and checks every size, time and type, so a source
 * may return unchecked bytes.  A source of another layout first converts its records into a
 * buffer.
 *
 * The contract of fill()
 *	The stream calls fill(part, bad) when [pos, end) holds no complete record, or (bad) when
 *	the record at pos is damaged. pos tells the source how far the batch was read: the bytes
 *	between pos and end are the start of a record that continues after end.  The source sets
 *	pos, end, last, limit, cpu, and adds to lost, then returns
 *		TACHO_STREAM_RECORD	something changed, look again
 *		TACHO_STREAM_AGAIN	live: no record now; horizon is the time before which none
 *					can follow
 *		TACHO_STREAM_END	no more; buffers of the part are freed
 *		TACHO_STREAM_ERROR	source->diag has the error
 *	Every RECORD must be progress, or the stream would loop.
 *
 * Merging
 *	Parts are in a heap, ordered by the time of their next record.  A part whose next record
 *	is not known (not begun, or live and empty) is ordered by its `horizon`, a time before
 *	which it has no records.  It is filled when it reaches the top, so a part needs memory
 *	only from then on.
 */
#ifndef TACHO_STREAM_SOURCE_H
#define TACHO_STREAM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "event/type.h"
#include "stream/clock.h"
#include "stream/facts.h"
#include "tacho/stream.h"

struct tacho_source;

/*
 * What is wanted of a stream: tacho_stream_narrow().  Zero-initialised, with `to` UINT64_MAX:
 * everything.
 */
struct tacho_scope {
	uint64_t to;		/* ns since 1970; later records are not wanted */
	const uint32_t *cpu;	/* sorted; records of other CPUs may be left out */
	uint32_t nr_cpus;	/* 0: all CPUs are wanted */
	/* Whether records of a type are wanted; asked once for each type.  NULL: all are. */
	bool (*wants)(void *arg, const struct tacho_type *type, uint32_t stream_id);
	/*
	 * Called for each batch with the time of the last record before it; false: next()
	 * returns AGAIN, and goes on from there when it is called again.  NULL: not called.
	 */
	bool (*pulse)(void *arg, uint64_t time);
	void *arg;
};

/* One packet of a trace, by its header. */
struct tacho_packet_info {
	const char *part;	/* name of its file */
	uint64_t offset;	/* in the file */
	struct tacho_packet head;
};

struct tacho_part {
	unsigned char *pos;	/* next record; the stream may write common_type */
	unsigned char *end;
	uint64_t last;		/* full time of the record before pos */
	uint64_t limit;		/* no record of the batch is later; UINT64_MAX: not known */
	uint64_t lost;		/* records lost before the one at pos */
	uint64_t horizon;	/* ticks: no earlier record will follow */
	uint32_t cpu;
	/*
	 * Called before the record at pos is returned: sets `cpu` and changes bytes of the
	 * record, for a format in which one part has records of several CPUs.  NULL: not needed.
	 */
	void (*prepare)(struct tacho_part *part);
	uint32_t stream_id;	/* enum tacho_stream_id */
	const char *buffer;	/* name of its buffer; NULL, "": the main one */
	/*
	 * optionally set by fill(): the number of the record at pos in its buffer, plus 1; 0: not
	 * known
	 */
	uint64_t number;
	struct tacho_source *source;

	/* set by the stream: the record at pos, checked */
	const struct tacho_type *type;
	uint64_t ticks;
	uint32_t size;
	uint32_t index;		/* order of parts at equal times */
	/*
	 * ns: the first records, as far as they are earlier, are passed over; 0: none.  Others
	 * may be earlier after them.
	 */
	uint64_t start;
};

/* Types of one stream id by common_type; grown by tacho_source_set_type(). */
struct tacho_type_table {
	const struct tacho_type **type;
	uint32_t nr;
};

#define TACHO_NR_STREAM_IDS	2

/* A stretch of a part: packets, of which the first can be found without those before it. */
struct tacho_span {
	uint32_t part;		/* its index in the source */
	bool orderly;		/* and all before it: whole packets in order of time, no losses of
				   their own without a record; or, with ops->through, it seems
				   so */
	uint64_t offset, end;	/* bytes of the part; compressed: of what it unpacks to */
	uint64_t discarded;	/* events_discarded of the packet before */
	uint64_t first, last;	/* ticks: no record is earlier, or later; orderly only */
};

struct tacho_source_ops {
	const char *format;	/* for tacho_stream_info.format */
	bool live;

	/* Frees the source and everything that it owns. */
	void (*close)(struct tacho_source *source);

	/* See above. */
	int (*fill)(struct tacho_source *source, struct tacho_part *part,
		    bool bad);

	/*
	 * Makes the next fill() of the part start at or before the first
	 * record whose time is >= ticks; 0 is the start.  Returns 0 or -errno; NULL: the source
	 * cannot seek. [pos, end) is empty at the call.  `lost`, which is 0, is what records
	 * before the start are missing that an unbroken reading adds to the first one after it.
	 */
	int (*seek)(struct tacho_source *source, struct tacho_part *part,
		    uint64_t ticks);

	/*
	 * Called for a common_type that is not in the table: returns the type and sets it in the
	 * table, or returns NULL; for lack of memory it also calls tacho_source_failed().  NULL:
	 * the table is complete.
	 */
	const struct tacho_type *(*type)(struct tacho_source *source,
					 uint32_t stream_id, uint32_t id);

	/* Loads every type into the tables; NULL: the tables are complete. */
	void (*load_types)(struct tacho_source *source);

	/*
	 * Adds to events, discarded, bytes and packets, and extends begin and end (all are
	 * initially 0; begin and end in ns).  Returns 0 or -errno.
	 */
	int (*info)(struct tacho_source *source,
		    struct tacho_stream_info *info);

	/*
	 * Enables recording a call stack after each event of a type, as a separate record.
	 * Called before the first fill(); records from before the call are discarded.  Returns 0,
	 * or a negative errno with d filled in; NULL: stacks cannot be enabled, the recording has
	 * them or not.
	 */
	int (*stacks)(struct tacho_source *source,
		      const struct tacho_type *type, struct tacho_diag *d);

	/*
	 * Offloads a filter for the events of a type to the origin of the records ("0": no
	 * filter).  Called before any record is read; records from before the call are discarded.
	 * Returns 0 or -errno (not possible, all records are returned); NULL: never possible.
	 */
	int (*filter)(struct tacho_source *source, const struct tacho_type *type,
		      const char *text);

	/*
	 * Where the record at pos is in its part, the same number whenever the trace is
	 * read, below 2^46 and a multiple of 8.  NULL: not known.
	 */
	uint64_t (*place)(const struct tacho_part *part);

	/*
	 * Calls fn for each packet, a part's in order, until it returns not 0.  Returns that,
	 * or -errno.  NULL: there are no packets, or they cannot be listed.
	 */
	int (*packets)(struct tacho_source *source,
		       int (*fn)(void *arg, const struct tacho_packet_info *packet), void *arg);

	/*
	 * Of a source whose packets several threads can read at once (parallel.h); all NULL:
	 * one thread reads it.
	 *
	 * _scan looks at the headers of a part's packets, which _spans, info() and seek() need;
	 * several threads may, each at another part.  An error is met again by who needs them.
	 * _unscanned is how many bytes the part has if nobody has looked yet, else 0.
	 * _spans calls fn for stretches of each part, in order and without gaps, until fn
	 * returns not 0; returns that, or why the packets cannot be looked at.  timed: also with
	 * what only slices need (orderly, first, last).
	 * _view makes another reader of the source, one of so many; NULL: no memory.  Its parts
	 * are in the same order, and it has what tacho_source.of says.
	 * _only is of a view: lets part read one stretch, which a span began and another
	 * one, or the same, ended.
	 * _fold is called when views have read all spans: what one saw of the parts is added to
	 * what the source knows of them.  NULL: there is nothing.
	 * _through is of a view that was placed by seek() and read until `ticks`: whether all
	 * between the two places where seek() begins was read, and was in order (parallel.h,
	 * section 4).  Adds to *lost what is lost there, as ops->info would.  NULL: headers say
	 * enough, and losses are known without reading.
	 */
	int (*scan)(struct tacho_part *part);
	uint64_t (*unscanned)(const struct tacho_part *part);
	int (*spans)(struct tacho_source *source, bool timed,
		     int (*fn)(void *arg, const struct tacho_span *span), void *arg);
	struct tacho_source *(*view)(struct tacho_source *source, uint32_t readers);
	void (*only)(struct tacho_source *view, struct tacho_part *part,
		     const struct tacho_span *first, const struct tacho_span *last);
	void (*fold)(struct tacho_source *source, const struct tacho_source *view);
	bool (*through)(struct tacho_source *view, struct tacho_part *part, uint64_t ticks,
			uint64_t *lost);

	/*
	 * Appends the text of one of the recording's tables: "kallsyms",
	 * "cmdlines", "syscalls", "printk_formats", "objects".  Returns 0 or -ENOENT; NULL: it
	 * has no tables.
	 */
	int (*text)(struct tacho_source *source, const char *name,
		    struct tacho_buf *out);
};

struct tacho_source {
	const struct tacho_source_ops *ops;
	/*
	 * A view (parallel.h): the source that it shows, which outlives it.  It has the types, the
	 * facts and the tables, which do not change meanwhile but by
	 * tacho_source_share_table().
	 */
	struct tacho_source *of;
	struct tacho_clock_map clock;
	struct tacho_part **part;	/* array and parts are the source's */
	uint32_t nr_parts;
	uint32_t flags;			/* enum tacho_stream_flag */
	struct tacho_type_table table[TACHO_NR_STREAM_IDS];
	struct tacho_arena *arena;	/* in which types are allocated, for
					 * tacho_source_check(); or NULL */
	struct tacho_facts facts;
	uint64_t recording;		/* equal in all parts of a rotated trace; 0: not known */
	bool symbols_tried;		/* set by the stream: kallsyms was requested */
	bool strings_tried;		/* set by the stream: printk_formats was requested */
	/* tacho_source_failed() was called; persists after seeking */
	bool failed;
	bool seeks_by_reading;	/* seek() goes to the start, whatever the time */
	/* what is wanted, or NULL: a hint that fill() may use; the stream checks it as well */
	const struct tacho_scope *scope;
	uint64_t scope_to;		/* a tick after its `to`, and hardly after it */
	unsigned char *wanted[TACHO_NR_STREAM_IDS];	/* by id: 1 yes, 2 no, 0 not asked yet */
	uint64_t packets_read;		/* whose records fill() handed out, since it was opened */
	bool counting;			/* set by the stream: only the number of records is
					 * needed */
	uint64_t damaged;
	uint64_t truncated;		/* records that were cut because they were too long */
	/* receives each damage: file, byte, what; NULL: damage is only counted */
	void (*report)(void *arg, const char *name, uint64_t offset, const char *what);
	void *report_arg;
	/*
	 * the reason why fill() returned ERROR; or the first error of tacho_source_failed(),
	 * which is reported at the end of the stream
	 */
	struct tacho_diag diag;
};

/* Whether a scope (NULL: none) wants records of a CPU. */
bool tacho_scope_has_cpu(const struct tacho_scope *scope, uint32_t cpu);

/* Initialises and releases a source; _release frees its memory, but not its parts. */
void tacho_source_init(struct tacho_source *source,
		       const struct tacho_source_ops *ops, unsigned int flags);
void tacho_source_release(struct tacho_source *source);

/* Appends a part.  0 or -ENOMEM. */
int tacho_source_add_part(struct tacho_source *source, struct tacho_part *part);

/*
 * Sets the type of an id. id <= 65535.  Returns 0 or -ENOMEM, which tacho_source_check() also
 * reports.
 */
int tacho_source_set_type(struct tacho_source *source, uint32_t stream_id,
			  uint32_t id, const struct tacho_type *type);

/*
 * Records that a part of the source (what: a type, a table) could not be loaded, because memory
 * or descriptors are exhausted or its file cannot be read.  This is not damage: since the result
 * would be incomplete, the stream and tacho_stream_get_info() end with this error.  Returns err.
 */
int tacho_source_failed(struct tacho_source *source, int err, const char *what);

/*
 * Returns the first error passed to tacho_source_failed(), or -ENOMEM if there was no memory for
 * a type or a fact; 0: neither.
 */
int tacho_source_check(struct tacho_source *source);

/*
 * Appends one of the source's tables (ops->text); returns whether it exists.  A table that cannot
 * be read counts as damage, or calls tacho_source_failed() if memory or descriptors are
 * exhausted.
 */
bool tacho_source_table(struct tacho_source *source, const char *name, struct tacho_buf *text);

/*
 * Counts damage.  Returns TACHO_STREAM_RECORD, or TACHO_STREAM_ERROR with
 * diag filled in when the stream was opened STRICT, or if tacho_source_check() has an error,
 * because then the damage may be a consequence of it.
 */
int tacho_source_damage(struct tacho_source *source, const char *name,
			uint64_t offset, const char *what);

/* The facts: of a view, those of what it shows. */
static inline struct tacho_facts *tacho_source_facts(struct tacho_source *source)
{
	return source->of ? &source->of->facts : &source->facts;
}

/*
 * Of a view: has load() bring a table of what it shows into memory, if no other thread has.
 * What cannot be read has failed in the view, too.
 */
void tacho_source_share_table(struct tacho_source *view,
			      const struct tacho_symbols *(*load)(struct tacho_source *of));

/* The kernel's string at addr, by the recording's printk_formats; NULL: it has none. */
const char *tacho_source_string(struct tacho_source *source, uint64_t addr);

static inline const struct tacho_type *
tacho_source_type(struct tacho_source *source, uint32_t stream_id, uint32_t id)
{
	const struct tacho_type_table *t;

	if (stream_id >= TACHO_NR_STREAM_IDS)
		return NULL;
	t = &source->table[stream_id];
	if (tacho_likely(id < t->nr && t->type[id]))
		return t->type[id];
	return source->ops->type ? source->ops->type(source, stream_id, id) :
				   NULL;
}

#endif
