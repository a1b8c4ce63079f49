/* SPDX-License-Identifier: MIT */
/*
 * remark.h - what went wrong in programs before they had anything to count it in.
 *
 * A traced program prints nothing.  One that cannot make its process file, or the session that
 * TACHO_EVENTS asks for, leaves a remark in the registry, which `tacho status`
 * and `tacho record` show.  The last TACHO_REMARKS_MAX stay; the same of the same program
 * (by its name) again is counted, so a thousand runs of one make one remark.
 *
 *	1. the place of the same remark, or else the next in turn, is claimed: seq odd;
 *	2. the remark is written;
 *	3. seq is even again, for readers, who copy and look at seq before and after.
 *
 * A place whose writer died half way stays odd, and is never shown again.
 */
#ifndef TACHO_SESSION_REMARK_H
#define TACHO_SESSION_REMARK_H

#include <stdbool.h>

#include "tacho/abi/shm.h"

/* Leaves a remark: pid, the program's name (16 bytes), one clear sentence.  Preserves errno. */
void tacho_remark(struct tacho_registry *reg, int32_t pid, const char *comm, const char *text);

/* Copies remark i (0 .. TACHO_REMARKS_MAX - 1), texts ended; false when there is none. */
bool tacho_remark_get(const struct tacho_registry *reg, uint32_t i, struct tacho_remark *r);

#endif
