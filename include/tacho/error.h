/* SPDX-License-Identifier: MIT */
/* <tacho/error.h> - why a call of <tacho/stream.h> or <tacho/session.h> failed. */
#ifndef TACHO_ERROR_H
#define TACHO_ERROR_H

#include <stdint.h>

/*
 * One error as a message for people.  Callers own it and need not initialise it; it holds no
 * pointers and needs no release.  Its size never changes: it has no struct_size.
 */
struct tacho_error {
	int err;		/* negative errno */
	uint64_t offset;	/* byte or column in the input that the text names, or 0 */
	char text[480];		/* lower case, no full stop, no newline; ends with NUL */
};

#endif
