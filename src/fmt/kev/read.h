/* SPDX-License-Identifier: MIT */
/*
 * read.h - a .kev file of QNX as a source of records.
 *
 * The file is one part: events of all CPUs, in the order of time.  A file's order is
 * nearly that already; the reader sorts within a window of 131,072 slots.  An event
 * displaced further is returned late.
 *
 * Who runs.  common_pid is the process that the CPU's last THREAD/RUNNING event
 * named, 0 before the first; where the attribute TACHO_THREADS is "tid", the thread
 * (a Linux trace that tacho wrote).
 *
 * Damage is skipped, counted, and reported with its offset: a truncated slot, parts of combine
 * events that do not match, times that go back, a malformed header.
 *
 * One thread reads a file.  It is one sequence of slots of 16 bytes without headers.  A slot has
 * the low half of its time; how often that has wrapped, who runs, and which combine events are
 * open, is known only from all slots before, and the order of time only from those around.  A
 * first pass would have to parse all slots.
 *
 * The environment has "sysname", "hostname", "release", "version", "machine", "cpus",
 * "tracer_name", "kev_header" (the attributes as they are in the file, bytes that are
 * not printable as \xHH) and, if it is not too long, "kev_syspage" (hexadecimal).
 */
#ifndef TACHO_FMT_KEV_READ_H
#define TACHO_FMT_KEV_READ_H

#include <stdbool.h>

#include "fmt/fmt.h"
#include "fmt/kev/file.h"
#include "stream/source.h"

/* Whether it is a .kev: its header's beginning, or slots. */
bool tacho_kev_sniff(const struct tacho_sniff *p);

/* The file of a source that is a .kev; NULL: it is another. */
const struct tacho_kev_file *tacho_kev_source_file(const struct tacho_source *source);

/*
 * Opens a file.  0 and *source, or a negative errno with d filled in: -EINVAL for what
 * is no .kev, or one whose header has no end; -ENOTSUP for another version; errors of
 * the file system.
 */
int tacho_kev_open(struct tacho_source **source, const char *path,
		   unsigned int flags, struct tacho_diag *d);

/* The same over len bytes at data, which must outlive the source. */
int tacho_kev_open_memory(struct tacho_source **source, const void *data,
			  size_t len, unsigned int flags, struct tacho_diag *d);

#endif
