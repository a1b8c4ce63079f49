/* SPDX-License-Identifier: MIT */
/*
 * report.h - the records of a trace as lines of text.
 *
 * Unlike a conversion to text (convert.h), a report can wait for more records of a session, and
 * hands its text to the caller in pieces: to a terminal, a pager, a socket.
 */
#ifndef TACHO_APP_REPORT_H
#define TACHO_APP_REPORT_H

#include <stdbool.h>

#include "app/lines.h"
#include "app/select.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/observer.h"
#include "stream/stream.h"

/* put() is called when there is as much text, in bytes. */
#define APP_REPORT_PIECE	((size_t)256 << 10)
/* A line may be long (64 KiB of data, each byte escaped), but not longer. */
#define APP_REPORT_MAX		(APP_REPORT_PIECE + ((size_t)4 << 20))

struct app_report_config {
	struct tacho_stream *stream;
	struct app_select *select;	/* opened on the stream; its max counts */
	const struct app_lines *lines;
	bool header;			/* begin with the kernel's comment lines */
	bool follow;			/* at the end of what a session has, wait for more */
	/*
	 * Where lines are appended; its cap is at least APP_REPORT_MAX.  put() takes what is there
	 * and empties it: called when it has a piece, and before each wait.  What is left at the
	 * end, also after an error, is the caller's to take.  0: go on; not 0: enough, which is no
	 * error.
	 */
	struct tacho_buf *out;
	int (*put)(void *arg);
	void *arg;
	const struct tacho_observer *observer;	/* cancelled: as enough; or NULL */
};

/* Whether the stream goes on by itself: a session, or the running kernel. */
bool app_report_is_live(const struct tacho_stream *stream);

/*
 * app_report - write the lines.
 *
 * Returns 0 at the end of the stream, or when it is enough; else a negative errno with d filled in:
 *	-EINVAL		no event of the stream has a field that the lines are to show; not said
 *			while events may yet appear (select->growing)
 *	-ENOMEM, or the stream's error
 */
int app_report(const struct app_report_config *config, struct tacho_diag *d);

#endif
