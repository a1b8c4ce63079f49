/* SPDX-License-Identifier: MIT */
/* futex.h - wait for a word in shared memory to change, and wake waiting threads. */
#ifndef TACHO_SYS_FUTEX_H
#define TACHO_SYS_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Sleeps until *word is no longer `seen`, a wake, a signal, or `ns` nanoseconds have passed.
 * Returns 0, -EAGAIN (changed before), -EINTR, -ETIMEDOUT.
 */
static inline int tacho_futex_wait(uint32_t *word, uint32_t seen, uint64_t ns)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	if (syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0) < 0)
		return -errno;
	return 0;
}

/* Wakes all waiting threads.  Preserves errno; any context. */
static inline void tacho_futex_wake(uint32_t *word)
{
	int saved = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

#endif
