/* SPDX-License-Identifier: MIT */
/* output.h - where a recording is written to: app/output.h, with messages. */
#ifndef TACHO_CLI_OUTPUT_H
#define TACHO_CLI_OUTPUT_H

#include <stdbool.h>

#include "app/output.h"

/* As those of app/output.h; CLI_OK, or CLI_FAILED with a message. */
int cli_output_ready(const char *path, bool given);
int cli_output_ready_native(const char *path, const char *native);
int cli_output_remove(const char *path);

#endif
