/* SPDX-License-Identifier: MIT */
/*
 * fmt.h - the table of formats that tacho_stream_open() goes through (open.c).
 *
 * A format is recognised by content, never by name.  The first whose sniff() says yes
 * opens the path; a directory that no format knows is looked at for traces
 * below it (a rotated trace), which become one stream.
 */
#ifndef TACHO_FMT_FMT_H
#define TACHO_FMT_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "stream/source.h"

/* The start of a file that sniff functions look at. */
#define TACHO_SNIFF_HEAD	4096u

/* What is at a path. */
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
	/* or, where there may be several in one: adds all of them */
	int (*open_all)(struct tacho_stream *stream, const char *path,
			unsigned int flags, struct tacho_diag *d);
	bool rotates;	/* a directory of such directories is one trace */
};

#endif
