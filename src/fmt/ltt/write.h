/* SPDX-License-Identifier: MIT */
/*
 * write.h - write records as a trace of LTT 2.3 (layout.h): a directory with
 * `<base>.<cpu>.ltt` for each CPU.
 *
 *	tacho_ltt_writer_new(&w, "run.ltt", &config, &d);
 *	while (...)
 *		tacho_ltt_writer_record(w, &record, &d);
 *	tacho_ltt_writer_text(w, "proc", ...);
 *	tacho_ltt_writer_close(w, true, &stats, &d);
 *
 * What becomes of a record
 *	of LTT itself		what it was, its buffers included: a trace of LTT that was
 *				read is written byte for byte as it was, if it had the
 *				layout that is written
 *	in map.h's table	LTT's event; `full` puts the whole record after it
 *	any other		a CUSTOM record that embeds all of it (custom.h)
 *
 * Times are nanoseconds in the place of the TSC, or what an LTT trace had:
 * microseconds stay such.
 *
 * One writer is used by one thread at a time.
 */
#ifndef TACHO_FMT_LTT_WRITE_H
#define TACHO_FMT_LTT_WRITE_H

#include <stdbool.h>

#include "base/diag.h"
#include "tacho/stream.h"

struct tacho_ltt_writer;

struct tacho_ltt_config {
	bool narrow;		/* the flavour of 32-bit pointers */
	bool swap;		/* the other byte order */
	bool full;
	bool us;		/* microseconds, not nanoseconds in the place of the TSC */
	bool flight;		/* a snapshot of a flight recorder: START says so */
	/*
	 * 0: all.  Kernel's events out of them are left out, or have no details; a CHANGE_MASK of
	 * the input is another event mask from there on.
	 */
	uint64_t event_mask, details_mask;
	uint32_t buffer_size;	/* 0: 128 KiB */
	const char *machine;	/* as of uname -m, of the traced machine; NULL: this one */
	/* whose first source has the names of the traced kernel's functions; may be NULL */
	struct tacho_stream *stream;
};

/* What was written, and what could not be. */
struct tacho_ltt_written {
	uint64_t bytes;
	uint64_t own;		/* events of LTT, from LTT */
	uint64_t mapped;	/* events of the kernel as LTT's */
	uint64_t embedded;	/* CUSTOM */
	uint64_t too_long;	/* left out: no record of LTT is so long */
	uint64_t late;		/* with the time of the one before them */
	uint64_t cut;		/* numbers that LTT's field is too narrow for */
};

/*
 * Begins.  dir must not exist, or be an empty directory.  0 and *w, or -errno with d
 * filled in.
 */
int tacho_ltt_writer_new(struct tacho_ltt_writer **w, const char *dir,
			 const struct tacho_ltt_config *config, struct tacho_diag *d);

/* Appends a record; r->type must live as long as the writer.  0 or -errno with d. */
int tacho_ltt_writer_record(struct tacho_ltt_writer *w, const struct tacho_record *r,
			    struct tacho_diag *d);

/* r->lost records are missing on r->cpu, before r->time.  0 or -errno with d. */
int tacho_ltt_writer_lost(struct tacho_ltt_writer *w, const struct tacho_record *r,
			  struct tacho_diag *d);

/* Writes a sidecar file of the trace, `<base>.<name>` (read.h).  0 or -errno with d. */
int tacho_ltt_writer_text(struct tacho_ltt_writer *w, const char *name,
			  const char *text, size_t len, struct tacho_diag *d);

/*
 * Completes the files and frees the writer; !keep removes them.  written may be
 * NULL.  0 or -errno with d filled in; what is whole stays then.
 */
int tacho_ltt_writer_close(struct tacho_ltt_writer *w, bool keep,
			   struct tacho_ltt_written *written, struct tacho_diag *d);

#endif
