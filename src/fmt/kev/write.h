/* SPDX-License-Identifier: MIT */
/*
 * write.h - write a .kev file (layout.h).
 *
 *	tacho_kev_writer_new(&w, "x.kev", &config, &d);
 *	while (...)
 *		tacho_kev_writer_event(w, &event, &d);
 *	tacho_kev_writer_close(w, true, &bytes, &d);
 *
 * Events come in the order of time.  They are written in buffers, as by the QNX kernel: each
 * begins with CONTROL/BUFFER and a CONTROL/TIME for each CPU known so far, and another TIME
 * follows wherever the high half of a CPU's cycles changes.  An *exact* writer, for events that
 * include their CONTROL events, writes none of these unless a time would be ambiguous.
 *
 * A combine event's slots follow each other; no event of a CPU has the time of another
 * one (it gets one cycle more), unless the writer is exact.
 *
 * The file is written under a temporary name and renamed at the end: it exists completely or not
 * at all.  One writer is used by one thread at a time.
 */
#ifndef TACHO_FMT_KEV_WRITE_H
#define TACHO_FMT_KEV_WRITE_H

#include "base/buf.h"
#include "base/diag.h"
#include "fmt/kev/types.h"

struct tacho_kev_writer;

struct tacho_kev_config {
	bool big;		/* byte order of the file */
	bool exact;
	/* the attributes, HEADER_BEGIN to HEADER_END */
	const char *header;
	size_t header_len;
	const void *syspage;	/* SYSPAGE_LEN bytes */
	size_t syspage_len;
};

/* What is written: an event, or a slot of a broken one. */
struct tacho_kev_out {
	uint32_t cpu;		/* up to 63 */
	uint32_t code;		/* class and event */
	uint64_t time;		/* cycles */
	const void *words;	/* this machine's order; strings as they are */
	uint32_t nr;		/* words: an odd one gets a zero after it */
	/* which words are numbers, and how wide; NULL: all, of 32 bits */
	const struct tacho_kev_form *form;
};

/*
 * Begins.  path must not exist, or be an empty file; NULL: nothing is written, bytes are
 * counted only.  0 and *w, or -errno with d filled in and nothing left behind.
 */
int tacho_kev_writer_new(struct tacho_kev_writer **w, const char *path,
			 const struct tacho_kev_config *config,
			 struct tacho_diag *d);

/* Appends an event.  0, or -errno with d filled in (-ENOSPC: disk). */
int tacho_kev_writer_event(struct tacho_kev_writer *w,
			   const struct tacho_kev_out *ev, struct tacho_diag *d);

/*
 * Appends slots with this header word and time as they are: parts of a combine event
 * that is not whole.  nr words, an even number; struct of the first slot is header's,
 * that of others CC.
 */
int tacho_kev_writer_slots(struct tacho_kev_writer *w, uint32_t header,
			   uint32_t stamp, const void *words, uint32_t nr,
			   struct tacho_diag *d);

/*
 * `lost` events are missing here: that many numbers of buffers are left out, 1,000 at
 * most.
 */
int tacho_kev_writer_lost(struct tacho_kev_writer *w, uint64_t lost,
			  struct tacho_diag *d);

/*
 * So many bytes the file will have at most if it ends after one more event of nr words; 0: none.
 * The difference is less than 64 bytes.  Not for an exact writer.
 */
uint64_t tacho_kev_writer_size(const struct tacho_kev_writer *w, uint32_t nr);

/*
 * Completes the file when `keep`, and frees the writer in any case.  *bytes is its
 * size; bytes may be NULL.  0, or -errno with d filled in and no file.
 */
int tacho_kev_writer_close(struct tacho_kev_writer *w, bool keep,
			   uint64_t *bytes, struct tacho_diag *d);

#endif
