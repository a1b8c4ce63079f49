/* SPDX-License-Identifier: MIT */
/* header.h - the attributes of a .kev to write: new ones, or those of the original file. */
#ifndef TACHO_FMT_KEV_HEADER_H
#define TACHO_FMT_KEV_HEADER_H

#include "base/buf.h"
#include "fmt/kev/rows.h"

/* The contents of a new header; NULL, 0: omitted. */
struct tacho_kev_about {
	const char *file_name, *sysname, *nodename, *version, *machine;
	enum tacho_kev_release release;	/* whose numbers events have */
	uint64_t freq;
	uint64_t realtime;		/* ns since 1970 at cycle 0 */
	uint64_t now;			/* seconds since 1970: DATE */
	uint32_t cpus;
	bool big;
	/* further attributes, the last one first, as "KEY=VALUE" */
	const char *const *attr;
	uint32_t nr_attrs;
};

/*
 * Appends a header, in the historic order.  Values are cut to what the historic
 * parser's window takes: an attribute and the beginning of the next have 99 bytes.
 */
void tacho_kev_header_make(struct tacho_buf *out, const struct tacho_kev_about *about);

/*
 * Appends the header that is the fact "kev_header" of a trace (read.h), with
 * SYSPAGE_LEN 0 if syspage is false.  *big and *release are what it says.  Returns
 * 0, or -EINVAL: it is none.
 */
int tacho_kev_header_again(struct tacho_buf *out, const char *fact, bool syspage,
			   bool *big, enum tacho_kev_release *release);

/* Appends the bytes of the fact "kev_syspage".  0 or -EINVAL. */
int tacho_kev_syspage_again(struct tacho_buf *out, const char *fact);

#endif
