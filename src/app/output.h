/* SPDX-License-Identifier: MIT */
/* output.h - where a recording is written to. */
#ifndef TACHO_APP_OUTPUT_H
#define TACHO_APP_OUTPUT_H

#include <stdbool.h>

#include "base/diag.h"

#define APP_DEFAULT_TRACE "tacho-trace"

/*
 * Makes sure that a trace directory can be made at path.  A name that the user gave must
 * be absent or an empty directory.  Else an older trace there becomes "<path>.old", in
 * whose place nothing but a trace is removed.  0, or a negative errno with d filled in
 * (-EEXIST: something is there).
 */
int app_output_ready(const char *path, bool given, struct tacho_diag *d);

/*
 * What is to be made at path is recorded as the directory `native` first: one that is
 * there is of a recording that was killed, -EEXIST.  0 or a negative errno with d filled in.
 */
int app_output_ready_native(const char *path, const char *native, struct tacho_diag *d);

/* Removes a trace of ours, and nothing else.  0 or a negative errno with d filled in. */
int app_output_remove(const char *path, struct tacho_diag *d);

#endif
