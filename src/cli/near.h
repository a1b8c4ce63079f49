/* SPDX-License-Identifier: MIT */
/* near.h - suggestions for events that match nothing, as text (base/near.h). */
#ifndef TACHO_CLI_NEAR_H
#define TACHO_CLI_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/near.h"
#include "stream/stream.h"

/* "a:b, c:d".  False when there are none. */
bool cli_near_text(const struct tacho_near *near, char *text, size_t size);

/* Those of a stream that are near the glob, as cli_near_text(). */
bool cli_near_events(const struct tacho_stream *s, const char *glob,
		     char *text, size_t size);

#endif
