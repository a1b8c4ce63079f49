/* SPDX-License-Identifier: MIT */
/*
 * process.h - what /proc says of a process.
 *
 * A process that has ended and that its parent has not waited for (a zombie) counts
 * as gone: it writes nothing and holds nothing, however long its number stays taken.
 * A process whose first thread alone has ended is not one of these.
 *
 * For signal handlers as well: system calls only, errno preserved.
 */
#ifndef TACHO_SYS_PROCESS_H
#define TACHO_SYS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The start time of a process in clock ticks since boot.  Returns 0, -ESRCH (it is
 * gone), or what reading said.
 */
int tacho_process_start(int32_t pid, uint64_t *start);

/* The same; 0 when it is gone or cannot be read. */
uint64_t tacho_start_time(int32_t pid);

/*
 * Whether PID is still the process that started at START, of which the low 32 bits
 * count (START 0: whenever).  What cannot be read counts as alive, so that nothing is
 * taken from a process that may still use it.
 */
bool tacho_process_is(int32_t pid, uint64_t start);

/* The parent's pid; 0 when there is none to be seen. */
int32_t tacho_parent_pid(int32_t pid);

/* Whether there is such a process, of whomever; without /proc, a zombie counts, too. */
bool tacho_process_runs(int32_t pid);

#endif
