/* SPDX-License-Identifier: MIT */
/* write.h - write(2), to the end. */
#ifndef TACHO_SYS_WRITE_H
#define TACHO_SYS_WRITE_H

#include <stddef.h>

/*
 * Writes all len bytes, however many system calls that takes.  0, or a negative errno: what
 * write(2) said (-EPIPE: nobody reads any more, where SIGPIPE is ignored), or -EIO when it
 * wrote nothing and gave no reason.  How much was written before an error is not known.
 */
int tacho_write_all(int fd, const void *p, size_t len);

#endif
