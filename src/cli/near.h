/* SPDX-License-Identifier: MIT */
/* near.h - names that somebody may have meant. */
#ifndef TACHO_CLI_NEAR_H
#define TACHO_CLI_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "stream/stream.h"

/* How many letters must be changed to make b of a; names are cut at 64. */
unsigned int cli_distance(const char *a, const char *b);

/*
 * Up to four events of the stream, "a:b, c:d", whose names are like the glob.
 * False when there are none.
 */
bool cli_near_events(const struct tacho_stream *s, const char *glob,
		     char *text, size_t size);

#endif
