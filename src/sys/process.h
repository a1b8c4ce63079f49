/* SPDX-License-Identifier: MIT */
/*
 * process.h - process information from /proc.
 *
 * A process that has ended and that its parent has not waited for (a zombie) counts as gone: it
 * writes nothing and holds nothing, even while its pid remains in use.  A process of which only
 * the first thread has ended is not a zombie.
 *
 * Context: any, also signal handlers: system calls only, errno preserved.
 */
#ifndef TACHO_SYS_PROCESS_H
#define TACHO_SYS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The start time of a process in clock ticks since boot.  Returns 0, -ESRCH (it is gone), or the
 * error of reading.
 */
int tacho_process_start(int32_t pid, uint64_t *start);

/* The same; 0 when it is gone or cannot be read. */
uint64_t tacho_start_time(int32_t pid);

/*
 * Whether PID is still the process that started at START, comparing the low 32 bits (START 0: any
 * start time).  A process that cannot be read counts as alive, so that nothing is removed that it
 * may still use.
 */
bool tacho_process_is(int32_t pid, uint64_t start);

/* The parent's pid; 0 if it has none or it is not visible. */
int32_t tacho_parent_pid(int32_t pid);

/* Whether the process exists, of any user; without /proc, a zombie counts, too. */
bool tacho_process_runs(int32_t pid);

#endif
