/* SPDX-License-Identifier: MIT */
/*
 * repair.h - make a trace whose recorder died readable for every CTF reader.
 *
 * tacho reads the complete records of a torn packet; babeltrace2 rejects the whole trace.
 * Repairing shortens such a packet to its complete records, and the file to the packet.  Nothing
 * that tacho could read is lost.
 */
#ifndef TACHO_FMT_CTF_REPAIR_H
#define TACHO_FMT_CTF_REPAIR_H

#include <stdint.h>

#include "base/diag.h"

/*
 * tacho_ctf_repair - shorten the torn packet at the end of each stream file.
 *
 * Not for a trace that is being recorded.  *repaired is the number of files
 * changed.  Returns 0, or -errno with d filled in.
 */
int tacho_ctf_repair(const char *dir, uint32_t *repaired, struct tacho_diag *d);

#endif
