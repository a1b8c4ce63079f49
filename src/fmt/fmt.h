/* SPDX-License-Identifier: MIT */
/*
 * fmt.h - the table of formats that tacho_stream_open() goes through.
 *
 * A format is probed by content, never by name.  The first whose probe says yes
 * opens the path; a directory that no format knows is looked at for traces
 * below it (a rotated trace), which become one stream.
 */
#ifndef TACHO_FMT_FMT_H
#define TACHO_FMT_FMT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "stream/source.h"

struct tacho_format {
	const char *name;
	/* st is the path's; a path that does not exist has st == NULL. */
	bool (*probe)(const char *path, const struct stat *st);
	int (*open)(struct tacho_source **source, const char *path,
		    unsigned int flags, struct tacho_diag *d);
	bool rotates;	/* a directory of such traces is one trace */
};

/* Ends with a NULL name. */
extern const struct tacho_format tacho_formats[];

#endif
