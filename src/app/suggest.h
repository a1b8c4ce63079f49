/* SPDX-License-Identifier: MIT */
/* suggest.h - suggestions for event names that match nothing, as text (base/suggest.h). */
#ifndef TACHO_APP_SUGGEST_H
#define TACHO_APP_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/suggest.h"
#include "stream/stream.h"

/*
 * Writes "a:b, c:d" to text, as many names as fit whole.  Returns false, with text
 * empty, when there are none.
 */
bool app_suggest_text(const struct tacho_suggestions *s, char *text, size_t size);

/*
 * Says in d that no event of the trace matches glob, and which names resemble it.
 * Returns -ENOENT, or the stream's error when its types could not all be read.
 */
int app_suggest_no_event(struct tacho_stream *stream, const char *glob, const char *lister,
			 struct tacho_diag *d);

#endif
