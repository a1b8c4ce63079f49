/* SPDX-License-Identifier: MIT */
/*
 * remark.h - notes about errors in programs that happen before the program has a file for
 * counters.
 *
 * A traced program prints nothing.  If it cannot create its process file, or the session that
 * TACHO_EVENTS requests, it writes a note to the registry, which `tacho status` and `tacho
 * record` show.  The last TACHO_REMARKS_MAX are kept.  A repeated note of the same program (by
 * its name) is only counted, so a thousand runs of one program make one note.
 *
 *	1. the slot of an equal note, or else the next slot, is claimed: seq odd;
 *	2. the note is written;
 *	3. seq becomes even, for readers, which copy and compare seq before and after.
 *
 * A slot whose writer died during this stays odd and is never shown again.
 */
#ifndef TACHO_SESSION_REMARK_H
#define TACHO_SESSION_REMARK_H

#include <stdbool.h>

#include "tacho/abi/shm.h"

/* Writes a note: pid, the program's name (16 bytes), one message.  Preserves errno. */
void tacho_remark(struct tacho_registry *reg, int32_t pid, const char *comm, const char *text);

/* Copies note i (0 .. TACHO_REMARKS_MAX - 1), with terminated texts; false: there is none. */
bool tacho_remark_get(const struct tacho_registry *reg, uint32_t i, struct tacho_remark *r);

#endif
