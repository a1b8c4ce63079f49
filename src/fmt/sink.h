/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the output formats; the counterpart of fmt.h.
 *
 *	format	a struct tacho_sink_format: names and four functions
 *	sink	one output during writing: a struct tacho_sink
 *
 * A format is one file, fmt/<format>/sink.c, and one line in the table of sink.c.  It may also be
 * outside of this tree: every function here takes a pointer to the format, not its name.
 * tests/app/toy_sink.c is an example with comments for authors of formats.
 *
 * Who calls what
 *	The code that has records (app/convert.h; fmt/sink_public.c for other programs):
 *
 *		tacho_sink_ready(format, path, &d);	early, before anything costs time
 *		tacho_sink_begin(&sink, format, &config, &d);
 *		while (tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD) {
 *			if (r.lost)
 *				tacho_sink_lost(sink, &r);
 *			if (it is wanted)
 *				tacho_sink_record(sink, &r);
 *		}
 *		tacho_sink_last_losses(sink);		if all was read
 *		tacho_sink_end(sink, good, &written, &d);
 *
 *	Each of these calls the format's function of that name.  A sink's functions are called
 *	by one thread at a time, never from a signal handler; different sinks are
 *	independent.  A sink prints nothing, and no state outlives it.
 *
 * Ownership
 *	tacho_sink_begin() allocates format->size zero bytes, the first of them a struct
 *	tacho_sink, and tacho_sink_end() frees them.  end() frees everything else that begin()
 *	allocated.  The stream, its types, config.path, config.lines and the observer belong to
 *	the caller and outlive the sink.  A record is valid during the call, its type during the
 *	stream's lifetime.
 *
 * Times
 *	A record has two: r->time, ns since 1970, and r->ticks of its source's clock.  A format
 *	that keeps the input's clock (TACHO_SINK_INPUT_CLOCK) uses neither directly but
 *	tacho_sink_ticks(): r->ticks if all of the stream has one clock (sink->own_clock; its
 *	frequency and zero are those of tacho_stream_source(stream, 0)->clock), else
 *	r->time, with a clock of 10^9 ticks since 1970.  Times in fields are converted to that
 *	clock before record().  Records come in the order of r->time, which a program that writes
 *	its own records (<tacho/sink.h>) may violate: formats that need order then report it, or
 *	give such a record the time of the previous one.
 *
 * Losses
 *	r->lost records are missing before r, on r->cpu and of r->source.  lost() reports them
 *	once, before record(r), and record() ignores r->lost. record(r) may not follow, if r is
 *	not selected.  For losses after the last record of a part, r has no type (r->type NULL),
 *	and the time and ticks of that last record.  A format that cannot represent losses ignores
 *	them: the caller reports their sum.
 *
 * Errors
 *	Negative errno, with sink->diag filled in: a message as in base/diag.h that names the
 *	output.  Without a message it becomes "cannot write 'PATH': reason".  After an error only
 *	end() is called, with good false.  The first error is kept.  Other facts that the user
 *	should know (events skipped, names changed) are reported as notes:
 *	tacho_observer_note(sink->config.observer, ...), at the end, with numbers.
 */
#ifndef TACHO_FMT_SINK_H
#define TACHO_FMT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/diag.h"
#include "base/observer.h"
#include "stream/stream.h"

struct tacho_line_config;
struct tacho_sink;

/* The clock of an output. */
enum tacho_sink_clock {
	TACHO_SINK_INPUT_CLOCK,	/* of the input's clock; of more than one, ns since 1970 */
	TACHO_SINK_NS,		/* always ns since 1970 */
	TACHO_SINK_NO_CLOCK,	/* it has none: records are shown as the input has them */
};

/*
 * A format.
 *
 *	begin	Creates the output at config.path, which is absent or empty.  After an error
 *		nothing may remain: end() is not called.
 *	lost	See "Losses".
 *	record	Appends a record.
 *	end	Completes the output and counts sink->bytes.  !good: a call failed, or the caller
 *		cancelled: an output whose format does not show that it is incomplete is removed.
 *		Frees the sink's memory in all cases.
 */
struct tacho_sink_format {
	const char *name;		/* "dat": what people call it */
	const char *extensions;		/* " .a .b ": names that mean it; "": none */
	bool directory;			/* makes a directory, not a file */
	bool pipe;			/* can go to "-" (standard output), a pipe or a device */
	enum tacho_sink_clock clock;
	int variant;			/* for formats that share functions: theirs */
	size_t size;			/* of a struct that begins with a struct tacho_sink */
	int (*begin)(struct tacho_sink *sink);
	int (*lost)(struct tacho_sink *sink, const struct tacho_record *r);
	int (*record)(struct tacho_sink *sink, const struct tacho_record *r);
	int (*end)(struct tacho_sink *sink, bool good);

	/*
	 * Of a format that is lines of text; both NULL: it is not.
	 *
	 *	line	The formatter that record() uses, which was made with *config.
	 *	text	Appends what another formatter has made of records, and of losses.
	 */
	struct tacho_line *(*line)(struct tacho_sink *sink, struct tacho_line_config *config);
	int (*text)(struct tacho_sink *sink, const char *text, size_t len);
};

/* The configuration of a sink; all members except stream and path may be 0. */
struct tacho_sink_config {
	struct tacho_stream *stream;	/* which records come from: types, clock, tables */
	const char *path;
	const struct tacho_line_config *lines;	/* how text looks; NULL: as ftrace's */
	uint64_t first;		/* what relative times count from, ns since 1970; 0: first record */
	bool all;		/* every record of the stream comes: none is excluded */
	const struct tacho_observer *observer;
};

struct tacho_sink {
	/* for the format */
	const struct tacho_sink_format *format;
	struct tacho_sink_config config;
	bool own_clock;		/* tacho_sink_ticks() is of the input's one clock */
	struct tacho_diag diag;	/* the first error */
	uint64_t events;	/* records so far; end() takes off those that were left out */
	uint64_t bytes;		/* end() says: size of the output */
	/* the reader of the output has closed it: not an error, but the end */
	bool closed;

	struct tacho_sink_owner *owner;	/* sink_public.c's: what a program's sink has besides */

	/* sink.c's own: records whose fields have times (fmt/lkst/record.h) */
	struct {
		bool wanted;
		bool found;		/* in records of `type` */
		const struct tacho_type *type;	/* looked at last */
		struct tacho_buf raw;
	} field_time;
};

struct tacho_sink_written {
	uint64_t events, bytes;
};

/* ---- the table -------------------------------------------------------------------- */

extern const struct tacho_sink_format tacho_sink_ctf, tacho_sink_dat, tacho_sink_dat7,
	tacho_sink_kev, tacho_sink_lkst, tacho_sink_ltt, tacho_sink_ltt32,
	tacho_sink_ltt_swap, tacho_sink_ltt32_swap, tacho_sink_ltt_full,
	tacho_sink_text, tacho_sink_json;

/* The formats by index, from 0; NULL beyond the last. */
const struct tacho_sink_format *tacho_sink_format_at(size_t index);

/* The format with this name; NULL: unknown; d (may be NULL) lists the formats. */
const struct tacho_sink_format *tacho_sink_format_named(const char *name, struct tacho_diag *d);

/* The format for an output of this name: by its extension, otherwise CTF. */
const struct tacho_sink_format *tacho_sink_format_of(const char *path);

/* ---- one output ------------------------------------------------------------------- */

/*
 * Checks that path can be created in this format: it is absent, an empty file, or, for directory
 * formats, an empty directory.  Returns 0; -EEXIST, -ENOTDIR, -EISDIR, or the error of the check,
 * with d filled in.
 */
int tacho_sink_ready(const struct tacho_sink_format *format, const char *path,
		     struct tacho_diag *d);

/*
 * Creates config->path.  Copies *config, but not what it points to.  Returns 0 and *sink, which
 * the caller must end; or a negative errno with d filled in and nothing left behind: as
 * tacho_sink_ready(), -ENOMEM, or the format's error.
 */
int tacho_sink_begin(struct tacho_sink **sink, const struct tacho_sink_format *format,
		     const struct tacho_sink_config *config, struct tacho_diag *d);

/*
 * For a format of lines: appends the text that another formatter has made of so many records.  As
 * tacho_sink_lost().
 */
int tacho_sink_text_of(struct tacho_sink *sink, const char *text, size_t len, uint64_t events);

/* r->lost records are missing before r.  0, or a negative errno: sink->diag. */
int tacho_sink_lost(struct tacho_sink *sink, const struct tacho_record *r);

/* tacho_sink_record() of a record whose fields may have times that the output's clock replaces. */
int tacho_sink_record_times(struct tacho_sink *sink, const struct tacho_record *r);

/* Returns the result of a call that failed with err: the sink's first error, with a message. */
int tacho_sink_failed(struct tacho_sink *sink, int err);

/* Appends r, of which the stream's tacho_stream_current() is the source.  As tacho_sink_lost(). */
static inline int tacho_sink_record(struct tacho_sink *sink, const struct tacho_record *r)
{
	int err;

	if (tacho_unlikely(sink->field_time.wanted))
		return tacho_sink_record_times(sink, r);
	err = sink->format->record(sink, r);
	if (tacho_unlikely(err))
		return tacho_sink_failed(sink, err);
	sink->events++;
	return 0;
}

/*
 * Reports losses after the last records, when the stream was read to its end.  As
 * tacho_sink_lost().
 */
int tacho_sink_last_losses(struct tacho_sink *sink);

/*
 * Ends and frees the sink.  good: no call failed and the caller wants the output.  written and
 * d may be NULL.  Returns 0, or the sink's first error with d filled in; then, and if !good, an
 * output that would look complete is removed.
 */
int tacho_sink_end(struct tacho_sink *sink, bool good, struct tacho_sink_written *written,
		   struct tacho_diag *d);

/* ---- for formats ------------------------------------------------------------------ */

/* A record's time on the output's clock: see "Times". */
static inline uint64_t tacho_sink_ticks(const struct tacho_sink *sink,
					const struct tacho_record *r)
{
	return sink->own_clock ? r->ticks : r->time;
}

/* Records the lack of memory in the sink's diag; returns -ENOMEM. */
int tacho_sink_no_memory(struct tacho_sink *sink);

#endif
