/* SPDX-License-Identifier: MIT */
/*
 * diag.h - one error with its place: what, where in the input, and the source line of the check.
 *
 * Code that reads foreign input (text or bytes) fills in one of these: the message for the user,
 * and the source line of the check for the developer.  A struct tacho_diag is plain memory:
 * zero-initialise it, no release needed. The first error sticks; later ones are ignored until the
 * struct is cleared.
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
 * offset the place in the input (0 if there is none), fmt the message.  With -ENOMEM, a message
 * that does not mention memory gets ": out of memory" appended if it begins with "cannot", and
 * becomes "out of memory" otherwise. d may be NULL.  Returns the error recorded first, so that a
 * caller can write `return tacho_diag(...)`.
 */
#define tacho_diag(d, err, offset, ...) \
	tacho_diag_set((d), (err), (offset), __LINE__, __VA_ARGS__)

/* Records "out of memory" as tacho_diag() does, and returns the same. */
#define tacho_no_memory(d)	tacho_diag((d), -ENOMEM, 0, "out of memory")

int tacho_diag_set(struct tacho_diag *d, int err, uint64_t offset,
		   unsigned int line, const char *fmt, ...) TACHO_PRINTF(5, 6);

/*
 * Whether a negative errno means that this process had no memory or no descriptor.  Such an error
 * says nothing about the file: callers must not treat it as "not found".
 */
static inline bool tacho_no_room_here(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

#endif
