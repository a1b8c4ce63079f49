/* SPDX-License-Identifier: MIT */
/* output.h - where a recording is written to, and where reading begins. */
#ifndef TACHO_CLI_OUTPUT_H
#define TACHO_CLI_OUTPUT_H

#include <stdbool.h>

#define CLI_DEFAULT_TRACE "tacho-trace"

/*
 * Makes sure that a trace can be made at path.  The default one gives way: an
 * older trace there becomes "<path>.old".  A directory that was named must be
 * empty or absent.  Returns an exit status.
 */
int cli_output_ready(const char *path, bool given);

#endif
