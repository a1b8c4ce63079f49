/* SPDX-License-Identifier: MIT */
/* convert.h - into an output format: app/convert.h, with messages. */
#ifndef TACHO_CLI_CONVERT_H
#define TACHO_CLI_CONVERT_H

#include "app/convert.h"

/* The format with this name; NULL: there is none, and cli_usage() has said which are. */
const struct tacho_sink_format *cli_format_named(const char *name);

/* As tacho_sink_ready().  CLI_OK, or CLI_FAILED with a message. */
int cli_format_ready(const struct tacho_sink_format *format, const char *out);

/* As app_convert_trace(), with the flags of the options; *bytes: the output's size. */
int cli_convert_trace(const char *trace, const char *out,
		      const struct tacho_sink_format *format, uint64_t *bytes);

/* As app_convert_ready() and app_convert_stream().  CLI_OK, or CLI_FAILED with a message. */
int cli_convert_ready(const char *out);
int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events);

#endif
