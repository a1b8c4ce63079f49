/* SPDX-License-Identifier: MIT */
/* trace.h - which trace a reading verb reads: app/find.h, with messages and options. */
#ifndef TACHO_CLI_TRACE_H
#define TACHO_CLI_TRACE_H

#include "app/find.h"

/* Options of all verbs that read a trace. */
#define CLI_OPT_LAYOUT	0x90
#define CLI_TRACE_OPTIONS { "layout", required_argument, NULL, CLI_OPT_LAYOUT }
#define CLI_TRACE_HELP								\
	"      --layout LAYOUT  LTT 2.3 struct layout: 64, 32, text (default: detected)\n"

/* And of those that can use several threads. */
#define CLI_JOBS_LETTERS	"j:"
#define CLI_JOBS_OPTIONS { "jobs", required_argument, NULL, 'j' }
#define CLI_JOBS_HELP								\
	"  -j, --jobs N         read with N threads (default: one for each CPU)\n"

/* Takes one of them: CLI_OK, or an exit status with a message; -1: it is none. */
int cli_trace_option(int opt, const char *arg);

/* What the options said: enum tacho_stream_flag, for app_trace_open(). */
unsigned int cli_trace_flags(void);

/* As app_trace_find().  CLI_OK, or an exit status with a message. */
int cli_trace_find(struct app_trace *t, const char *path);

/*
 * The same, opened.  flags: enum tacho_stream_flag; the options' are added.  As many threads may
 * read it as --jobs says (tacho_stream_set_threads()).
 */
int cli_trace_open(struct app_trace *t, const char *path, unsigned int flags);

/* As app_trace_remarks(): what stderr says after reading.  CLI_OK, or CLI_FAILED with a message. */
int cli_trace_remarks(struct app_trace *t);

/* Says why a call on the stream failed with err; returns CLI_FAILED. */
int cli_stream_failed(const struct tacho_stream *s, int err);

#endif
