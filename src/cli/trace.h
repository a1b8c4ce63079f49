/* SPDX-License-Identifier: MIT */
/* trace.h - which trace a reading verb reads. */
#ifndef TACHO_CLI_TRACE_H
#define TACHO_CLI_TRACE_H

#include <limits.h>

#include "resolve/resolve.h"
#include "stream/stream.h"

struct cli_trace {
	struct tacho_stream *stream;
	struct tacho_resolver *resolver;	/* names of its programs' functions */
	const char *path;	/* as the user says it */
	char found[NAME_MAX + 1];	/* the path, when the user said none */
};

/* Options of all verbs that read a trace. */
#define CLI_OPT_LAYOUT	0x90
#define CLI_TRACE_OPTIONS { "layout", required_argument, NULL, CLI_OPT_LAYOUT }
#define CLI_TRACE_HELP								\
	"      --layout LAYOUT  of LTT 2.3, if its sizes leave it open: 64, 32, text\n"

/* Takes one of them: CLI_OK, or an exit status with a message; -1: it is none. */
int cli_trace_option(int opt, const char *arg);

/*
 * The trace that the user named (path), or the newest of tacho-trace,
 * tacho-trace-* and tacho-trace.* in this directory (path NULL): the names
 * that `tacho record` gives.  CLI_OK, or an exit status with a message.
 */
int cli_trace_find(struct cli_trace *t, const char *path);

/* The same, opened.  flags: enum tacho_stream_flag. */
int cli_trace_open(struct cli_trace *t, const char *path, unsigned int flags);
void cli_trace_close(struct cli_trace *t);

/*
 * "N events were lost ...": what stderr says after reading.  Nothing when
 * there is nothing to say.  CLI_FAILED, with a message, when something of the
 * trace could not be read although all records could, as its types for want
 * of memory: what was written until now lacks it.
 */
int cli_trace_remarks(struct cli_trace *t);

/* Says why a call on the stream failed with err; returns CLI_FAILED. */
int cli_stream_failed(const struct tacho_stream *s, int err);

#endif
