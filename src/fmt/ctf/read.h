/* SPDX-License-Identifier: MIT */
/* read.h - open a trace directory that tacho wrote (layout.h). */
#ifndef TACHO_FMT_CTF_READ_H
#define TACHO_FMT_CTF_READ_H

#include "fmt/fmt.h"

/* Whether it is the directory of such a trace. */
bool tacho_ctf_is_trace(const char *dir);
bool tacho_ctf_sniff(const struct tacho_sniff *p);

/* Makes a source of it.  0, or -errno with d filled in. */
int tacho_ctf_open(struct tacho_source **source, const char *dir,
		   unsigned int flags, struct tacho_diag *d);

/*
 * A source of one part whose packets are the len bytes at data, borrowed until
 * close.  types_fd: a types file for both stream ids, or -1; stays the
 * caller's.  For tests and fuzzing.  0 or -errno.
 */
int tacho_ctf_open_memory(struct tacho_source **source, const void *data,
			  size_t len, const uint8_t uuid[16], int types_fd,
			  unsigned int flags);

#endif
