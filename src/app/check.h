/* SPDX-License-Identifier: MIT */
/*
 * check.h - is a trace what docs/trace-format.md says.
 *
 * The reader of src/fmt/ctf gets as much out of a damaged trace as it can, and so passes over what
 * is wrong.  The checker reads the same bytes by itself and believes nothing:
 *
 *	a trace directory	metadata, info and types, then each file of records, packet by
 *				packet, byte by byte (check_meta.c, check_walk.c)
 *	a rotated trace		each of its directories
 *	anything else		a session, or another system's trace: every record is read; of a
 *				session also the invariants of its lanes (ring/check.h)
 *
 * What it finds is either
 *	a problem	the trace is not what it should be; or
 *	a remark	the trace is good, but its reader should know.
 * Each is a sentence with the file and the byte it is about.  Of one file a hundred problems are
 * reported, the rest are counted.
 *
 * Several checks may run at once in one process.
 */
#ifndef TACHO_APP_CHECK_H
#define TACHO_APP_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/observer.h"

#define APP_CHECK_NO_BYTE	UINT64_MAX

/* Texts are valid during the call. */
struct app_check_found {
	bool problem;			/* else a remark */
	const char *path;		/* of the file, or the directory */
	uint64_t byte;			/* offset; APP_CHECK_NO_BYTE: of the file as a whole */
	const char *text;
};

struct app_check_config {
	void (*found)(void *arg, const struct app_check_found *f);
	void *arg;
	unsigned int flags;		/* of app_trace_open() */
	const struct tacho_observer *observer;	/* can cancel; NULL: none */
};

struct app_check_result {
	uint64_t problems, remarks;
	uint64_t traces, files, packets;
	uint64_t events, lost;
};

/*
 * app_check - check the trace at path (a directory, a file, "session:NAME").
 *
 * Returns 0 and *result when all of it was looked at, however damaged it is.  Else a negative errno
 * with d filled in: it cannot be read here (-ENOENT, -EACCES, -ENOMEM, ...), or -ECANCELED.
 */
int app_check(const char *path, const struct app_check_config *config,
	      struct app_check_result *result, struct tacho_diag *d);

#endif
