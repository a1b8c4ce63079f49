/* SPDX-License-Identifier: MIT */
/*
 * convert.h - tacho convert: one trace into another.
 *
 * Rewriting into a trace of our own: the records come merged by time and are
 * dealt out again to one lane per CPU and kind of source.  So rotated chunks
 * become one trace, a foreign trace becomes a native one, and a filter cuts
 * out a piece.  Type ids stay where they can.
 *
 * A trace.dat is written likewise (fmt/tracedat/write.h): the kernel's types
 * keep their ids.
 */
#ifndef TACHO_CLI_CONVERT_H
#define TACHO_CLI_CONVERT_H

#include "cli/filter.h"
#include "cli/trace.h"

struct cli_convert {
	struct cli_trace trace;
	struct cli_filter filter;
	const char *out;
	uint64_t events, bytes;		/* written */
};

/* Writes a trace directory.  CLI_OK or CLI_FAILED with a message. */
int cli_convert_ctf(struct cli_convert *c);

/* Writes a trace.dat of version 6 or 7.  The same. */
int cli_convert_dat(struct cli_convert *c, int version);

/*
 * Makes a whole trace into a trace.dat, without a word when it works.  *bytes:
 * its size.  CLI_OK, or CLI_FAILED with a message and no file.
 */
int cli_convert_to_dat(const char *trace, const char *out, int version,
		       uint64_t *bytes);

/*
 * One clock for all sources: their ticks can be taken over.  Else there is no
 * common tick but the nanosecond.
 */
bool cli_convert_same_clock(const struct tacho_stream *s);

/* Adds the names of threads of all sources: where two disagree, the later one's. */
int cli_convert_tasks(const struct tacho_stream *s, struct tacho_facts *all);

/*
 * For other verbs.  Writes all of a stream to OUT, in the format that OUT's extension
 * says (see tacho-convert(1)); "-" is text on stdout.  _ready: whether that could be
 * done, before there is anything to write.  CLI_OK, or CLI_FAILED with a message.
 */
int cli_convert_ready(const char *out);
int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events);

#endif
