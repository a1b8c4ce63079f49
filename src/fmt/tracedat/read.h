/* SPDX-License-Identifier: MIT */
/*
 * read.h - a trace.dat of trace-cmd as a source of records.
 *
 * Each buffer (top-level or of an instance) has one part per CPU.  All are merged;
 * tacho_stream_buffer() tells which buffer a record came from.
 *
 * The environment has "sysname", "hostname", "release", "machine" (UNAME),
 * "tracer_name" ("trace-cmd"), "tracer_version" (VERSION), "clock", "buffers",
 * and as far as the file has them "cpustat", "hooks", "procmaps", "guests",
 * "trace_id".
 */
#ifndef TACHO_FMT_TRACEDAT_READ_H
#define TACHO_FMT_TRACEDAT_READ_H

#include "fmt/fmt.h"

/* Whether it is a file that begins as a trace.dat does. */
bool tacho_dat_sniff(const struct tacho_sniff *p);

/*
 * Opens a file.  0 and *source, or a negative errno with d filled in: -EINVAL
 * for a damaged or cut off beginning, -ENOTSUP for another version, a latency
 * tracer's text, a compression that this build lacks; errors of the file system.
 */
int tacho_dat_open(struct tacho_source **source, const char *path,
		   unsigned int flags, struct tacho_diag *d);

/* The same over len bytes at data, which must outlive the source. */
int tacho_dat_open_memory(struct tacho_source **source, const void *data,
			  size_t len, unsigned int flags, struct tacho_diag *d);

#endif
