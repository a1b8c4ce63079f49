/* SPDX-License-Identifier: MIT */
/*
 * convert.h - a stream of records into an output format: what 'tacho convert',
 * 'record -o x.EXT' and 'ask --snapshot' share.
 *
 * The records come merged by time, of all sources.  So rotated chunks become one
 * trace, a foreign trace becomes a native one, and a filter cuts out a piece.
 */
#ifndef TACHO_CLI_CONVERT_H
#define TACHO_CLI_CONVERT_H

#include "cli/filter.h"
#include "cli/lines.h"
#include "cli/trace.h"
#include "fmt/sink.h"

struct cli_convert {
	struct cli_trace trace;
	struct cli_filter filter;
	struct cli_lines lines;		/* how text looks */
	const char *out;
	const struct tacho_sink_format *format;
	uint64_t events, bytes;		/* written */
};

/* The format with this name; NULL: there is none, and cli_usage() has said which are. */
const struct tacho_sink_format *cli_format_named(const char *name);

/* Whether OUT can be made: it is absent or empty.  CLI_OK, or CLI_FAILED with a message. */
int cli_format_ready(const struct tacho_sink_format *format, const char *out);

/*
 * Writes what c->filter lets pass of c->trace.stream to c->out, in c->format.
 * CLI_OK, or CLI_FAILED with a message.
 */
int cli_convert_write(struct cli_convert *c);

/*
 * Makes a whole trace into another format, without a word when it works.  *bytes:
 * its size.  CLI_OK, or CLI_FAILED with a message.
 */
int cli_convert_trace(const char *trace, const char *out,
		      const struct tacho_sink_format *format, uint64_t *bytes);

/*
 * For other verbs.  Writes all of a stream to OUT, in the format that OUT's extension
 * says (see tacho-convert(1)); "-" is text on stdout.  _ready: whether that could be
 * done, before there is anything to write.  CLI_OK, or CLI_FAILED with a message.
 */
int cli_convert_ready(const char *out);
int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events);

#endif
