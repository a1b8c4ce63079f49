/* SPDX-License-Identifier: MIT */
/*
 * fmt.h - the table of formats that tacho_stream_open() goes through (open.c).
 *
 * A format is recognised by content, never by name.  The first format whose sniff() returns true
 * opens the path; a directory that no format recognises is searched for traces below it (a
 * rotated trace), which become one stream.
 */
#ifndef TACHO_FMT_FMT_H
#define TACHO_FMT_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "stream/source.h"

/* Size of the start of a file that sniff functions get. */
#define TACHO_SNIFF_HEAD	4096u

/* The contents of a path, for sniff functions. */
struct tacho_sniff {
	const char *path;
	mode_t type;			/* S_IFREG, S_IFDIR, ...; 0: nothing is there */
	size_t len;			/* bytes of head; 0 but for regular files */
	unsigned char head[TACHO_SNIFF_HEAD];
};

struct tacho_format {
	const char *name;
	bool (*sniff)(const struct tacho_sniff *p);
	int (*open)(struct tacho_source **source, const char *path,
		    unsigned int flags, struct tacho_diag *d);
	/* or, for a format with several sources in one file: adds all of them */
	int (*open_all)(struct tacho_stream *stream, const char *path,
			unsigned int flags, struct tacho_diag *d);
	bool rotates;	/* a directory of such directories is one trace */
};

#endif
