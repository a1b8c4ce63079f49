/* SPDX-License-Identifier: MIT */
/* write.h - write(2), to the end. */
#ifndef TACHO_BASE_WRITE_H
#define TACHO_BASE_WRITE_H

#include <stddef.h>

/*
 * Writes all len bytes, with as many system calls as necessary.  Returns 0, or a negative errno:
 * that of write(2) (-EPIPE: no reader is left and SIGPIPE is ignored), or -EIO if write(2) wrote
 * nothing without an error.  After an error it is not known how much was written.
 */
int tacho_write_all(int fd, const void *p, size_t len);

#endif
