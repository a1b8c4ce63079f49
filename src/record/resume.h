/* SPDX-License-Identifier: MIT */
/*
 * resume.h - a trace that its recorder did not finish: what it contains, and how a chunk is added
 * to it.
 */
#ifndef TACHO_RECORD_RESUME_H
#define TACHO_RECORD_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "tacho/abi/shm.h"

struct tacho_resume {
	uint64_t next[TACHO_LANES_MAX];	/* first missing record of each lane */
	uint64_t lost[TACHO_LANES_MAX];	/* losses reported in its packets */
	uint32_t nr;
	uint64_t events;		/* program records in the trace */
	uint64_t torn;			/* bytes of half-written packets */
	char session[TACHO_PATH_MAX];	/* the session's directory; "": not known */
	bool known;			/* a trace was scanned */
	bool begun;			/* a trace without packets was scanned */
	bool open;			/* its recorder did not close it */
};

/*
 * Scans one trace directory (not a rotated one).  Adds to r, so that several chunks can be
 * scanned.  A torn packet is ignored: a caller that keeps its complete records repairs it first
 * (fmt/ctf/repair.h).  Returns 0, or -errno with d filled in: -EINVAL for a directory that is not
 * a trace of tacho.  A trace without packets adds nothing and sets r->begun.
 */
int tacho_resume_scan(struct tacho_resume *r, const char *dir,
		      struct tacho_diag *d);

/*
 * Whether dir is a trace whose recorder died before the first packet: it has only tables, and
 * some of them are missing.
 */
bool tacho_resume_begun(const char *dir);

/* Empties such a directory. */
void tacho_resume_unbegin(const char *dir);

/*
 * Prepares one more chunk: an unrotated trace at dir becomes dir/0001, and *next is the path of
 * the chunk to write.  Marks the chunk of a dead recorder as closed.  Can be repeated after a
 * kill.
 */
int tacho_resume_rotate(const char *dir, char *next, size_t size,
			struct tacho_diag *d);

/* Writes "state: closed" into a trace's info. */
int tacho_resume_close(const char *dir, struct tacho_diag *d);

#endif
