/* SPDX-License-Identifier: MIT */
/* convert.h - into an output format: app/convert.h, with messages. */
#ifndef TACHO_CLI_CONVERT_H
#define TACHO_CLI_CONVERT_H

#include "app/convert.h"

/* The format with this name; NULL: there is none, and cli_usage() has said which are. */
const struct tacho_sink_format *cli_format_named(const char *name);

/* As app_convert_ready() and app_convert_stream().  CLI_OK, or CLI_FAILED with a message. */
int cli_convert_ready(const char *out);
int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events);

#endif
