/* SPDX-License-Identifier: MIT */
/*
 * read.h - a trace of the Linux Trace Toolkit (layout.h) as a source of records.
 *
 * A trace is one file, or a directory with one `<base>.<cpu>.ltt` per CPU (of version 2.2:
 * `<base>000.trace`).  Each file
 * is a part.  Beside them may lie, of our writer or of tracedaemon:
 *
 *	<base>.proc		"PID: n; PPID: n; NAME: text" lines, then IRQs
 *	<base>.facts		"env NAME VALUE" and "task PID TGID COMM" lines
 *	<base>.kallsyms, .printk_formats, .syscalls, .objects	tables, as tracefs has them
 *
 * The environment has "tracer_name" (LTT), "ltt_version", "ltt_layout" ("64", "32", "text"),
 * "ltt_layout_also" (see choose.h),
 * "ltt_order" ("le" or "be"), "ltt_arch", "clock" ("us", "tsc"), and what .facts says.
 *
 * Events that our writer embedded come back as they were; what it added to embed them is
 * not handed out.
 *
 * One thread reads a trace.  Buffers have their own time, but common_pid is that of the last
 * SCHEDCHANGE, which may be any number of buffers before, and a custom event is what the last
 * NEW_EVENT of its id says.  To know both at the start of each buffer takes a walk over all
 * records first.  Such a walk declares types before they are used, where a reader that does not
 * walk (a plain `report`) has damage: their results would differ.
 */
#ifndef TACHO_FMT_LTT_READ_H
#define TACHO_FMT_LTT_READ_H

#include <stdbool.h>

#include "fmt/fmt.h"
#include "stream/source.h"

/* Whether it is such a file, or a directory that has one with such a name. */
bool tacho_ltt_sniff(const struct tacho_sniff *p);

/*
 * Opens a trace.  0 and *source, or a negative errno with d filled in: -EINVAL when
 * it is none, -ENOTSUP for another version; errors of the file system.
 */
int tacho_ltt_open(struct tacho_source **source, const char *path,
		   unsigned int flags, struct tacho_diag *d);

/* The same over len bytes of one file at data, which must outlive the source. */
int tacho_ltt_open_memory(struct tacho_source **source, const void *data,
			  size_t len, unsigned int flags, struct tacho_diag *d);

/*
 * The same without conversion: embedded events remain CUSTOM, and the last 8 bytes of each raw
 * event, after its fields, are the size of LTT's record.  For tools that show LTT's records.
 */
int tacho_ltt_open_plain(struct tacho_source **source, const char *path,
			 unsigned int flags, struct tacho_diag *d);

/* Reads a file as .proc is, whatever its name.  0 or -errno. */
int tacho_ltt_read_proc(const char *path, struct tacho_facts *facts);

/* The flag of tacho_stream_open() for a layout that is "64", "32" or "text"; else 0. */
unsigned int tacho_ltt_layout_flag(const char *name);

#endif
