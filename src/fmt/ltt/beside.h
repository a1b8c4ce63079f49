/* SPDX-License-Identifier: MIT */
/* beside.h - the files that lie beside those of an LTT trace; see read.h. */
#ifndef TACHO_FMT_LTT_BESIDE_H
#define TACHO_FMT_LTT_BESIDE_H

#include "base/buf.h"
#include "stream/facts.h"

/* The path of the file with this extension beside an LTT file. */
void tacho_ltt_beside_path(const char *ltt, const char *extension,
			   struct tacho_buf *path);

/* Reads .proc and .facts, as far as they are there.  0 or -ENOMEM. */
int tacho_ltt_beside_read(const char *ltt, struct tacho_facts *facts);

/* Appends the table of this name.  0 or -ENOENT. */
int tacho_ltt_beside_text(const char *ltt, const char *name, struct tacho_buf *out);

#endif
