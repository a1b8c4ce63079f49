/* SPDX-License-Identifier: MIT */
/*
 * convert.h - a stream of records into an output format: what 'tacho convert',
 * 'record -o x.EXT' and 'ask --snapshot' share.
 *
 * A format is one entry in the table of convert_write.c, and one file with its five
 * functions.  The walk over the stream is the same for all: which records are
 * wanted, what was lost between them and behind the last one, when to stop.
 *
 * The records come merged by time, of all sources.  So rotated chunks become one
 * trace, a foreign trace becomes a native one, and a filter cuts out a piece.
 */
#ifndef TACHO_CLI_CONVERT_H
#define TACHO_CLI_CONVERT_H

#include "cli/filter.h"
#include "cli/lines.h"
#include "cli/trace.h"

struct cli_format;

struct cli_convert {
	struct cli_trace trace;
	struct cli_filter filter;
	struct cli_lines lines;		/* how text looks */
	const char *out;
	const struct cli_format *format;
	bool own_clock;		/* since begin(): the output has the input's one clock */
	uint64_t events, bytes;		/* written; bytes is the format's to count */
};

/* What an output's times are. */
enum cli_format_clock {
	CLI_CLOCK_INPUT,	/* of the input's clock; of more than one, ns since 1970 */
	CLI_CLOCK_NS,		/* always ns since 1970 */
	CLI_CLOCK_NONE,		/* it has none: records are shown as the input has them */
};

/*
 * An output format.  Its functions say themselves what went wrong, and return CLI_OK
 * or CLI_FAILED.
 *
 *	begin	Makes c->out, and a writer, which is what the others get.  c, its
 *		stream and their types outlive it.  After CLI_FAILED nothing is left.
 *	lost	r->lost records are missing before r, on r->cpu and of r->source.  r
 *		itself comes by record(), or is one that the user does not want; at the
 *		very end, behind the last record of a part, r has no type.
 *	record	Appends a record.  Of r->lost it was told before.  Times that its fields hold are
 *		on the output's clock, as that of cli_convert_ticks(); r->raw is valid until the
 *		function returns.
 *	end	Completes the output, counts c->bytes and frees the writer.  !good:
 *		some call failed; an output that is not whole had better not stay.
 */
struct cli_format {
	const char *name;		/* for --to */
	const char *extensions;		/* " .a .b ": names that mean it; "": none */
	bool directory;			/* makes a directory, not a file */
	enum cli_format_clock clock;
	bool stream;			/* can go to stdout ("-"), a pipe or a device */
	int (*begin)(struct cli_convert *c, void **writer);
	int (*lost)(void *writer, const struct tacho_record *r);
	int (*record)(void *writer, const struct tacho_record *r);
	int (*end)(void *writer, bool good);
};

extern const struct cli_format cli_format_ctf, cli_format_dat, cli_format_dat7,
	cli_format_kev, cli_format_lkst, cli_format_ltt, cli_format_ltt32, cli_format_ltt_swap,
	cli_format_ltt32_swap, cli_format_ltt_full, cli_format_text, cli_format_json;

/* The format with this name; NULL: there is none, and cli_usage() has said which are. */
const struct cli_format *cli_format_named(const char *name);

/* The format that something of this name is to have: by its extension, else ctf. */
const struct cli_format *cli_format_of(const char *path);

/* Whether OUT can be made: it is absent or empty.  CLI_OK, or CLI_FAILED with a message. */
int cli_format_ready(const struct cli_format *format, const char *out);

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
		      const struct cli_format *format, uint64_t *bytes);

/*
 * For other verbs.  Writes all of a stream to OUT, in the format that OUT's extension
 * says (see tacho-convert(1)); "-" is text on stdout.  _ready: whether that could be
 * done, before there is anything to write.  CLI_OK, or CLI_FAILED with a message.
 */
int cli_convert_ready(const char *out);
int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events);

/* ---- for formats ------------------------------------------------------------------- */

/* A record's time on the output's clock: ticks of c's own clock, else ns since 1970. */
static inline uint64_t cli_convert_ticks(const struct cli_convert *c,
					 const struct tacho_record *r)
{
	return c->own_clock ? r->ticks : r->time;
}

/* Adds the names of threads of all sources: where two disagree, the later one's. */
int cli_convert_tasks(const struct tacho_stream *s, struct tacho_facts *all);

#endif
