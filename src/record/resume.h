/* SPDX-License-Identifier: MIT */
/*
 * resume.h - a trace that its recorder did not finish: what it has already,
 * and how more of it is put beside it.
 */
#ifndef TACHO_RECORD_RESUME_H
#define TACHO_RECORD_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "tacho/abi/shm.h"

struct tacho_resume {
	uint64_t next[TACHO_LANES_MAX];	/* first record of each lane not there */
	uint64_t lost[TACHO_LANES_MAX];	/* what its packets told of loss */
	uint32_t nr;
	uint64_t events;		/* program records that are there */
	uint64_t torn;			/* bytes of half-written packets */
	char session[TACHO_PATH_MAX];	/* the session's directory; "": not known */
	bool known;			/* there was a trace to look at */
	bool begun;			/* there was one without any packet */
	bool open;			/* its recorder did not close it */
};

/*
 * Looks through one trace directory (not a rotated one).  Adds to what r has, so
 * that several chunks can be looked through.  A torn packet does not count: a
 * caller that keeps its whole records repairs it first (fmt/ctf/repair.h).  Returns 0, or -errno
 * with d filled in: -EINVAL for a directory that is no trace of ours.  One that is only
 * begun has nothing to add, and sets r->begun.
 */
int tacho_resume_scan(struct tacho_resume *r, const char *dir,
		      struct tacho_diag *d);

/*
 * Whether dir is a trace whose recorder died before it could hold a packet: there
 * is nothing in it but tables, and some of them are missing.
 */
bool tacho_resume_begun(const char *dir);

/* Empties such a directory. */
void tacho_resume_unbegin(const char *dir);

/*
 * Makes room for one chunk more: a plain trace at dir becomes dir/0001, and
 * *next is the path of the chunk to write.  A chunk's recorder that died is noted
 * as closed.  Can be repeated after a kill.
 */
int tacho_resume_rotate(const char *dir, char *next, size_t size,
			struct tacho_diag *d);

/* Writes "state: closed" into a trace's info. */
int tacho_resume_close(const char *dir, struct tacho_diag *d);

#endif
