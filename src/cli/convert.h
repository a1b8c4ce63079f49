/* SPDX-License-Identifier: MIT */
/*
 * convert.h - tacho convert: one trace into another.
 *
 * Rewriting into a trace of our own: the records come merged by time and are
 * dealt out again to one lane per CPU and kind of source.  So rotated chunks
 * become one trace, a foreign trace becomes a native one, and a filter cuts
 * out a piece.  Type ids stay where they can.
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

#endif
