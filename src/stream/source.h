/* SPDX-License-Identifier: MIT */
/*
 * source.h - what a format's reader, or a live session, is to the stream.
 *
 *	source			one trace, or one live session
 *	  part			one ordered sequence of records in it (a file, a ring)
 *	    batch		records at hand: bytes [pos, end) in memory
 *
 * A source hands out *batches*: bytes in the layout of <tacho/abi/record.h>, one
 * record behind the other.  The stream walks them without a call per record;
 * it checks every size, time and type on the way, so a source may hand out
 * bytes that it has not looked at.  A source of another layout converts into
 * a buffer first.
 *
 * The contract of fill()
 *	The stream calls fill(part, bad) when [pos, end) holds no whole record, or
 *	(bad) when the record at pos is damaged.  The source may use pos to
 *	know how far it was read: the bytes between pos and end are the start
 *	of a record that goes on beyond end.  It sets pos, end, last, limit,
 *	cpu, and adds to lost, then returns
 *		TACHO_STREAM_RECORD	something changed, look again
 *		TACHO_STREAM_AGAIN	live: nothing now; horizon says how far
 *					nothing can come any more
 *		TACHO_STREAM_END	no more; buffers of the part are freed
 *		TACHO_STREAM_ERROR	source->diag says what
 *	Every RECORD must be progress, or the stream would loop.
 *
 * Merging
 *	Parts wait in a heap by the time of their next record.  A part whose
 *	next record is not known (not begun, or live and empty) waits with its
 *	`horizon`, a time before which it has nothing: it is filled when it
 *	comes to the top, so a part takes memory only when its time has come.
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

struct tacho_part {
	unsigned char *pos;	/* next record; the stream may write common_type */
	unsigned char *end;
	uint64_t last;		/* full time of the record before pos */
	uint64_t limit;		/* no record of the batch is later; UINT64_MAX: not known */
	uint64_t lost;		/* records lost before the one at pos */
	uint64_t horizon;	/* ticks: nothing earlier will come */
	uint32_t cpu;
	/*
	 * The record at pos is about to be handed out: sets `cpu` and changes bytes of the
	 * record, of a format whose records of several CPUs are one part.  NULL: nothing.
	 */
	void (*prepare)(struct tacho_part *part);
	uint32_t stream_id;	/* enum tacho_stream_id */
	const char *buffer;	/* name of its buffer; NULL, "": the main one */
	/* fill() may say: the number in its buffer of the record at pos, plus 1; 0: not known */
	uint64_t number;
	struct tacho_source *source;

	/* the stream's own: the record at pos, checked */
	const struct tacho_type *type;
	uint64_t ticks;
	uint32_t size;
	uint32_t index;		/* order of parts at equal times */
};

/* Types of one stream id by common_type; grown by tacho_source_set_type(). */
struct tacho_type_table {
	const struct tacho_type **type;
	uint32_t nr;
};

#define TACHO_NR_STREAM_IDS	2

struct tacho_source_ops {
	const char *format;	/* for tacho_stream_info.format */
	bool live;

	/* Frees the source and all of it. */
	void (*close)(struct tacho_source *source);

	/* See above. */
	int (*fill)(struct tacho_source *source, struct tacho_part *part,
		    bool bad);

	/*
	 * Makes the next fill() of the part start at or before the first
	 * record whose time is >= ticks; 0 is the start.  0 or -errno; NULL: a
	 * source that cannot.  Called with [pos, end) emptied.
	 */
	int (*seek)(struct tacho_source *source, struct tacho_part *part,
		    uint64_t ticks);

	/*
	 * Called for a common_type that is not in the table: the type (and
	 * sets it in the table), or NULL; without memory, tacho_source_failed().
	 * NULL: the table is complete.
	 */
	const struct tacho_type *(*type)(struct tacho_source *source,
					 uint32_t stream_id, uint32_t id);

	/* Brings every type into the tables; NULL: they are there. */
	void (*load_types)(struct tacho_source *source);

	/*
	 * Adds to events, discarded, bytes, packets and widens begin and end (all
	 * start as 0; begin and end in ns).  0 or -errno.
	 */
	int (*info)(struct tacho_source *source,
		    struct tacho_stream_info *info);

	/*
	 * Has call stacks recorded behind the events of a type, as records
	 * of their own.  Called before the first fill(); what was recorded
	 * without stacks is not handed out.  0, or a negative errno with d filled in;
	 * NULL: the recording has them or has not.
	 */
	int (*stacks)(struct tacho_source *source,
		      const struct tacho_type *type, struct tacho_diag *d);

	/*
	 * Has whoever makes the records keep those of a type that a filter does
	 * not let pass ("0": none).  Before any record is read: what was made by
	 * then is dropped.  0 or -errno (it cannot, and all come); NULL: it never can.
	 */
	int (*filter)(struct tacho_source *source, const struct tacho_type *type,
		      const char *text);

	/*
	 * Appends the text of one of the recording's tables: "kallsyms",
	 * "cmdlines", "syscalls", "printk_formats", "objects".  0 or -ENOENT;
	 * NULL: it has none.
	 */
	int (*text)(struct tacho_source *source, const char *name,
		    struct tacho_buf *out);
};

struct tacho_source {
	const struct tacho_source_ops *ops;
	struct tacho_clock_map clock;
	struct tacho_part **part;	/* array and parts are the source's */
	uint32_t nr_parts;
	uint32_t flags;			/* enum tacho_stream_flag */
	struct tacho_type_table table[TACHO_NR_STREAM_IDS];
	struct tacho_arena *arena;	/* that types are made in: tacho_source_check(); or NULL */
	struct tacho_facts facts;
	uint64_t recording;		/* equal in the pieces of a rotated trace; 0: not known */
	bool symbols_tried;		/* the stream's: kallsyms was asked for */
	bool strings_tried;		/* printk_formats was asked for */
	/* tacho_source_failed() was called: seeking does not help */
	bool failed;
	bool counting;			/* ... only how many records there are is asked for */
	uint64_t damaged;
	uint64_t truncated;		/* records that had to be cut to be one */
	/* gets each damage: file, byte, what; NULL: damage is only counted */
	void (*report)(void *arg, const char *name, uint64_t offset, const char *what);
	void *report_arg;
	/*
	 * Why fill() returned ERROR; or what of the source could not be had and is
	 * not missed before the stream's end (tacho_source_failed())
	 */
	struct tacho_diag diag;
};

/* Start and end of a source's life; _release frees what it holds, not parts. */
void tacho_source_init(struct tacho_source *source,
		       const struct tacho_source_ops *ops, unsigned int flags);
void tacho_source_release(struct tacho_source *source);

/* Appends a part.  0 or -ENOMEM. */
int tacho_source_add_part(struct tacho_source *source, struct tacho_part *part);

/* Enters a type at its id.  id <= 65535.  0 or -ENOMEM, which tacho_source_check() knows. */
int tacho_source_set_type(struct tacho_source *source, uint32_t stream_id,
			  uint32_t id, const struct tacho_type *type);

/*
 * What (a type, a table) could not be had for want of memory, of a descriptor, or
 * because its file cannot be read.  This is no damage: the stream, which
 * would be another one without it, ends with this error, and so do the
 * totals of tacho_stream_get_info().  Returns err.
 */
int tacho_source_failed(struct tacho_source *source, int err, const char *what);

/*
 * The error that tacho_source_failed() was given first, or -ENOMEM when there was no
 * memory for a type or a fact; 0: neither.
 */
int tacho_source_check(struct tacho_source *source);

/*
 * Appends one of the source's tables (ops->text) and says whether there is one.  One that
 * is there and cannot be read is damage; without memory or descriptors, tacho_source_failed().
 */
bool tacho_source_table(struct tacho_source *source, const char *name, struct tacho_buf *text);

/*
 * Counts damage.  Returns TACHO_STREAM_RECORD, or TACHO_STREAM_ERROR with
 * diag filled in when the stream was opened STRICT, or after tacho_source_check()
 * has found an error: who knows whether that is damage.
 */
int tacho_source_damage(struct tacho_source *source, const char *name,
			uint64_t offset, const char *what);

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
