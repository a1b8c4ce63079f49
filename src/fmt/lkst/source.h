/* SPDX-License-Identifier: MIT */
/*
 * source.h - an LKST log file as a trace.
 *
 * Its events are lkst:MNEMONIC, as record.h has them, with `recid` and `buffer` after; those of
 * a number that the file does not describe are lkst:ETYPE_0x123.  common_type is the number
 * + 1.  Text "lkst_etypes" has the types' lines.
 *
 * A run of blocks (blocks.h) is a part.  A record that is earlier than the one before it in its
 * run, which a writer leaves only where two blocks meet, comes at that one's time: field
 * `time` has its own.
 *
 * Blocks can be read by several threads (stream/parallel.h): their heads say where each begins.
 * A record that is given a later time depends on those before it: where a view meets one, or a
 * range begins with a damaged block or ends after the next one begins, one thread reads.
 */
#ifndef TACHO_FMT_LKST_SOURCE_H
#define TACHO_FMT_LKST_SOURCE_H

#include "fmt/fmt.h"

/* Facts of the file's head: its uuid, and "TSC REALTIME". */
#define LKST_FACT_UUID	"lkst_uuid"
#define LKST_FACT_PAIR	"lkst_pair"

bool lkst_source_sniff(const struct tacho_sniff *p);

/* 0 and *source, or a negative errno with d filled in. */
int lkst_source_open(struct tacho_source **source, const char *path, unsigned int flags,
		     struct tacho_diag *d);

/* The same of a file in memory, which must outlive the source. */
int lkst_source_open_memory(struct tacho_source **source, const void *data, size_t len,
			    unsigned int flags, struct tacho_diag *d);

#endif
