/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the session's clock.
 *
 * The time-stamp counter where the kernel itself trusts it (its clocksource
 * is "tsc", or "arch_sys_counter" on aarch64), because reading it costs 10 ns and
 * the kernel's tracer can use the same one (trace_clock x86-tsc).  Else the
 * monotonic clock, which both have as well (trace_clock mono).
 */
#ifndef TACHO_SYS_CLOCK_H
#define TACHO_SYS_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/compiler.h"
#include "tacho/abi/shm.h"

/* Ticks of the counter; not ordered with other loads and stores. */
static TACHO_ALWAYS_INLINE uint64_t tacho_clock_tsc(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return 0;
#endif
}

/* Nanoseconds of a POSIX clock.  Any context. */
static inline uint64_t tacho_now_ns(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Ticks of `clock` (enum tacho_clock) now.  Any thread, any signal handler. */
static TACHO_ALWAYS_INLINE uint64_t tacho_clock_read(uint32_t clock)
{
	if (tacho_likely(clock == TACHO_CLOCK_TSC))
		return tacho_clock_tsc();
	return tacho_now_ns(clock == TACHO_CLOCK_BOOT ? CLOCK_BOOTTIME
							: CLOCK_MONOTONIC);
}

/*
 * The same, but ordered after preceding loads: for a caller that took a lock which another CPU
 * may just have released.
 */
static inline uint64_t tacho_clock_read_ordered(uint32_t clock)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" : : : "memory");
#endif
	return tacho_clock_read(clock);
}

/* The clock to use on this machine: TSC where it can be trusted, else MONO. */
enum tacho_clock tacho_clock_default(void);

/* "x86-tsc", "mono", "boot": the kernel's names for the same clocks. */
const char *tacho_clock_name(enum tacho_clock clock);

/* The clock called name; -EINVAL for another name. */
int tacho_clock_by_name(const char *name, enum tacho_clock *clock);

/*
 * Ticks per second.  For the counter: what the kernel uses to convert it, else
 * measured against CLOCK_MONOTONIC_RAW for 50 ms.  Not for signal handlers.
 */
uint64_t tacho_clock_freq(enum tacho_clock clock);

/*
 * Reads the clock and CLOCK_REALTIME together (the best of several attempts, usually within 100
 * ns).
 */
struct tacho_clock_pair tacho_clock_pair(enum tacho_clock clock);

#endif
