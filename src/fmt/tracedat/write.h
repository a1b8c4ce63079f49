/* SPDX-License-Identifier: MIT */
/*
 * write.h - write a trace.dat, version 6 or 7 (layout.h).
 *
 *	tacho_dat_writer_new(&w, "trace.dat", &config, &d);
 *	tacho_dat_writer_type(w, type, TACHO_STREAM_KERNEL, &d);
 *	while (...)
 *		tacho_dat_writer_record(w, &record, record.ticks, &d);
 *	tacho_dat_writer_text(w, "cmdlines", ...);
 *	tacho_dat_writer_close(w, true, &d);
 *
 * A record becomes an event of the kernel's ring buffer as it is, but for its
 * common_type (catalog.h).  Pages wait in a nameless file (spool.h), so memory
 * does not grow with the trace.
 *
 * The size of pages is 4096 bytes, or the power of two that the largest event
 * fits in: 131072 at most.
 *
 * The file is written beside the place where it belongs and renamed at the end: there
 * is all of it, or nothing.
 *
 * A record whose CPU is not known, or above 8191, goes to a CPU of its own, the one
 * after the highest.
 *
 * One writer is used by one thread at a time.
 */
#ifndef TACHO_FMT_TRACEDAT_WRITE_H
#define TACHO_FMT_TRACEDAT_WRITE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/diag.h"
#include "stream/clock.h"
#include "tacho/stream.h"

struct tacho_dat_writer;

struct tacho_dat_config {
	int version;			/* 6 or 7; 7 is compressed if it can be */
	const char *clock;		/* "x86-tsc", "mono", ...: of the ticks */
	struct tacho_clock_map map;	/* from ticks to ns since 1970 */
	const char *uname;		/* "Linux host 6.1.0 x86_64"; NULL: not known */
	uint64_t trace_id;		/* 0: none */
};

/*
 * Begins.  path must not exist, or be an empty file; its directory must be
 * writable.  The strings of config are copied.  0 and *w, or -errno with d
 * filled in and nothing left behind.
 */
int tacho_dat_writer_new(struct tacho_dat_writer **w, const char *path,
			 const struct tacho_dat_config *config,
			 struct tacho_diag *d);

/*
 * Announces a type.  Types are announced by their first record, too; but those
 * of the kernel that are announced before any other keep their ids for
 * sure.  The type must live as long as the writer.  0, -ENOMEM, -ENOSPC.
 */
int tacho_dat_writer_type(struct tacho_dat_writer *w,
			  const struct tacho_type *type, uint32_t stream_id,
			  struct tacho_diag *d);

/*
 * Appends a record at `ticks`; what was lost before it, _lost() is to be told.
 * Times of a CPU should ascend.  0, or -errno with d filled in (-ENOSPC: disk).
 */
int tacho_dat_writer_record(struct tacho_dat_writer *w,
			    const struct tacho_record *r, uint64_t ticks,
			    struct tacho_diag *d);

/* Records lost on a CPU before its next one, or after its last one. */
int tacho_dat_writer_lost(struct tacho_dat_writer *w, uint32_t cpu,
			  uint64_t lost, struct tacho_diag *d);

/*
 * Sets one of the tables: "kallsyms" (as in /proc), "cmdlines" ("pid comm"
 * lines), "printk_formats".  Copied.  0 or -errno with d filled in.
 */
int tacho_dat_writer_text(struct tacho_dat_writer *w, const char *name,
			  const char *text, size_t len, struct tacho_diag *d);

/*
 * The process of a thread that is in "cmdlines"; what is beyond half a million threads is left out.
 * 0 or -errno with d filled in.
 */
int tacho_dat_writer_task(struct tacho_dat_writer *w, int32_t tid, int32_t pid,
			  struct tacho_diag *d);

/*
 * Says of the events whose names the file has another way (own.h) how many there are, and of the
 * first `max` what they are called there.
 */
size_t tacho_dat_writer_renamed(const struct tacho_dat_writer *w, size_t max,
				struct tacho_buf *out);

/*
 * Writes the file when `keep`, and frees the writer in any case.  *bytes is its
 * size; bytes may be NULL.  0, or -errno with d filled in and no file.
 */
int tacho_dat_writer_close(struct tacho_dat_writer *w, bool keep,
			   uint64_t *bytes, struct tacho_diag *d);

#endif
