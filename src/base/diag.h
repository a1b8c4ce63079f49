/* SPDX-License-Identifier: MIT */
/*
 * diag.h - one error with its place: what, where in the input, and the source
 * line that noticed.
 *
 * Whatever reads foreign input (text or bytes) fills one of these, so that a
 * person gets one clear sentence and a developer can find the check.  A
 * struct tacho_diag is plain memory: zero-initialise it, no release needed.
 * The first error sticks; later ones are ignored until the struct is cleared.
 */
#ifndef TACHO_BASE_DIAG_H
#define TACHO_BASE_DIAG_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct tacho_diag {
	int err;		/* negative errno; 0: no error so far */
	uint32_t line;		/* source line of the check that failed */
	uint64_t offset;	/* byte offset or column in the input */
	char text[480];		/* no capital, no full stop, no newline */
};

/*
 * Records an error unless one is already recorded.  err is a negative errno,
 * offset the place in the input (0 where that means nothing), fmt the
 * sentence.  For -ENOMEM one that does not speak of memory says so in the end if it begins
 * with "cannot", else becomes "out of memory".  d may be NULL.  Returns the error recorded
 * first, so that a caller can write `return tacho_diag(...)`.
 */
#define tacho_diag(d, err, offset, ...) \
	tacho_diag_set((d), (err), (offset), __LINE__, __VA_ARGS__)

/* The error that memory was missing, as tacho_diag() records it.  Returns what that does. */
#define tacho_no_memory(d)	tacho_diag((d), -ENOMEM, 0, "out of memory")

int tacho_diag_set(struct tacho_diag *d, int err, uint64_t offset,
		   unsigned int line, const char *fmt, ...) TACHO_PRINTF(5, 6);

/*
 * Whether a negative errno says nothing of what was to be opened or read: there was no
 * memory, or no descriptor, here.  Never to be taken for "it is not there".
 */
static inline bool tacho_no_room_here(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

#endif
