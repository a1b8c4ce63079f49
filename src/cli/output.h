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

/* Makes sure that a file can be made at path: none is there, or an empty one. */
int cli_output_ready_file(const char *path);

/*
 * What is to be made at path is recorded as the directory `native` first: one that is
 * there is of a recording that was killed.  Returns an exit status.
 */
int cli_output_ready_native(const char *path, const char *native);

/* Removes a trace of ours: nothing else.  Returns an exit status. */
int cli_output_remove(const char *path);

#endif
