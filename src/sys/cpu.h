/* SPDX-License-Identifier: MIT */
/* cpu.h - which CPUs exist, and running on one of them. */
#ifndef TACHO_SYS_CPU_H
#define TACHO_SYS_CPU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * CPUs that this machine could ever have: highest possible number + 1, from
 * /sys/devices/system/cpu/possible, else the C library's count; at least 1.
 */
unsigned int tacho_cpu_possible(void);

/* CPUs that are online now; at least 1. */
unsigned int tacho_cpu_count(void);

/* CPUs that the calling thread may run on (sched_getaffinity()); at least 1. */
unsigned int tacho_cpu_allowed(void);

/* Whether a CPU is online now.  True if that cannot be determined. */
bool tacho_cpu_online(unsigned int cpu);

/*
 * Moves the calling thread to one CPU and returns once it runs there, so that any thread that ran
 * there before has been preempted.  `saved` receives the old affinity for tacho_cpu_leave(); it
 * is opaque.
 * Returns 0, -EINVAL when the CPU is offline or not allowed to this thread,
 * or another negative errno.
 */
struct tacho_cpu_saved {
	unsigned long mask[256];	/* 16,384 CPUs */
	int size;			/* bytes in use */
};
int tacho_cpu_enter(unsigned int cpu, struct tacho_cpu_saved *saved);
void tacho_cpu_leave(const struct tacho_cpu_saved *saved);

#endif
