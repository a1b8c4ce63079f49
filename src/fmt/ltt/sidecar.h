/* SPDX-License-Identifier: MIT */
/* sidecar.h - the files next to those of an LTT trace that belong to it; see read.h. */
#ifndef TACHO_FMT_LTT_SIDECAR_H
#define TACHO_FMT_LTT_SIDECAR_H

#include "base/buf.h"
#include "stream/facts.h"

/* The path of the sidecar file with this extension of an LTT file. */
void tacho_ltt_sidecar_path(const char *ltt, const char *extension,
			   struct tacho_buf *path);

/* Reads .proc and .facts, as far as they are there.  0 or -ENOMEM. */
int tacho_ltt_sidecar_read(const char *ltt, struct tacho_facts *facts);

/* Appends the table of this name.  0 or -ENOENT. */
int tacho_ltt_sidecar_text(const char *ltt, const char *name, struct tacho_buf *out);

#endif
