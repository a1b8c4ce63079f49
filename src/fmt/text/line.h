/* SPDX-License-Identifier: MIT */
/*
 * line.h - records as lines of text, in the formats that people's tools know.
 *
 *	FTRACE	what the kernel's own `trace` file prints:
 *
 *		            bash-1977    [000] .....  4713.025312: net:rx text
 *		                                 |||||
 *		  irqs off or bh disabled -------+||||
 *		  need resched --------------------+|||
 *		  hard or soft irq ------------------+||
 *		  preempt depth, migrate disable -----++
 *
 *		with the system before the name, where several have one of it
 *
 *	BABELTRACE
 *		[hh:mm:ss.ns] (+delta) host system:event: { cpu_id = 0 },
 *			{ pid = 1977, procname = "bash" }, { field = value, ... }
 *		in one line
 *
 *	JSON	one object a line: time, cpu, pid, comm, system, event, source
 *		and fields
 *
 * A report writes millions of lines, so everything that repeats is made once:
 * the text of a thread, of an event type, of a second.
 *
 * One struct tacho_line is used by one thread.
 */
#ifndef TACHO_FMT_TEXT_LINE_H
#define TACHO_FMT_TEXT_LINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "stream/stream.h"

enum tacho_line_format {
	TACHO_LINE_FTRACE,
	TACHO_LINE_BABELTRACE,
	TACHO_LINE_JSON,
};

enum tacho_line_time {
	TACHO_LINE_CLOCK,	/* the recording's clock, as seconds */
	TACHO_LINE_UTC,		/* 2026-11-20T14:36:36.123456Z */
	TACHO_LINE_RELATIVE,	/* since `zero` */
	TACHO_LINE_TICKS,	/* the clock value as recorded */
};

struct tacho_line_config {
	enum tacho_line_format format;
	enum tacho_line_time time;
	bool ns;		/* nanoseconds, where it would be microseconds */
	bool delta;		/* and the time since the line before */
	bool raw;		/* the fields instead of the print format */
	bool colour;		/* terminal escapes around names */
	bool tame;		/* no control characters out of the events */
	const char *const *field;	/* only these fields; nr 0: all */
	size_t nr_fields;
};

struct tacho_line;

/*
 * Whether some event type of the stream has each of the fields that config names.  0; -EINVAL
 * with d filled in, or why the stream's types could not be read.
 */
int tacho_line_check(const struct tacho_line_config *config, struct tacho_stream *stream,
		     struct tacho_diag *d);

/*
 * Makes lines of a stream's records.  config's strings stay the caller's and
 * live as long; the stream too.  NULL without memory.
 */
struct tacho_line *tacho_line_new(struct tacho_stream *stream,
				  const struct tacho_line_config *config);
void tacho_line_free(struct tacho_line *l);

/* What RELATIVE counts from, ns since 1970; without it, the first record. */
void tacho_line_zero(struct tacho_line *l, uint64_t time);

/* The comment lines that head the kernel's file.  Only for FTRACE. */
void tacho_line_head(struct tacho_line *l, struct tacho_buf *out);

/* One record, newline included; r is the record that next() gave last. */
void tacho_line_put(struct tacho_line *l, const struct tacho_record *r,
		    struct tacho_buf *out);

/*
 * Lines that are made in pieces, by several struct tacho_line: what a piece's first line says of
 * the line before it is not known when it is made.
 *
 *	tacho_line_piece(l)		l begins a piece
 *	tacho_line_put(l, ...), ...
 *	tacho_line_seam(l, &seam)	len bytes at `at` of the piece's text are to be replaced by
 *					tacho_line_delta(m, seam.time, ...); len 0: nothing is
 *	tacho_line_resume(m, time)	m goes on after a line of that time (0: after none)
 *	tacho_line_last(l)		the time of l's last line; 0: it has made none
 */
struct tacho_line_seam {
	size_t at, len;
	uint64_t time;
};

void tacho_line_piece(struct tacho_line *l);
void tacho_line_seam(const struct tacho_line *l, struct tacho_line_seam *seam);
void tacho_line_resume(struct tacho_line *l, uint64_t time);
uint64_t tacho_line_last(const struct tacho_line *l);
#define TACHO_LINE_DELTA_MAX	64u
size_t tacho_line_delta(struct tacho_line *l, uint64_t time, char text[TACHO_LINE_DELTA_MAX]);

/* The line that says that records were lost before r. */
void tacho_line_lost(struct tacho_line *l, const struct tacho_record *r,
		     struct tacho_buf *out);

#endif
