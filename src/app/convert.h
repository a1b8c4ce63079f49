/* SPDX-License-Identifier: MIT */
/*
 * convert.h - a stream of records into an output format (fmt/sink.h): 'tacho convert',
 * 'record -o x.EXT', snapshots, and any other front end.
 *
 * The walk over the stream is the same for all formats: which records are wanted, what was
 * lost between them and after the last one, when to stop.  Records come merged by time, of
 * all sources.  So rotated chunks become one trace, a foreign trace becomes a native one, and
 * a selection cuts out a piece.
 *
 * Several conversions may run at once in one process, each with its own stream.
 */
#ifndef TACHO_APP_CONVERT_H
#define TACHO_APP_CONVERT_H

#include "app/select.h"
#include "base/diag.h"
#include "base/observer.h"
#include "fmt/sink.h"

struct app_convert {
	struct tacho_stream *stream;
	struct app_select *select;	/* opened on the stream; NULL: every record */
	const struct tacho_sink_format *format;	/* of the table, or one of the caller's own */
	const char *out;
	const struct tacho_line_config *lines;	/* how text looks; NULL: as ftrace's */
	const struct tacho_observer *observer;	/* progress in records that were read; or NULL */
	struct tacho_sink_written written;	/* the result */
};

/*
 * app_convert_format - the format that is meant by its name, or if name is NULL by out's extension.
 *
 * Returns 0 and *format, or -EINVAL with d filled in: there is none of that name.
 */
int app_convert_format(const char *name, const char *out, const struct tacho_sink_format **format,
		       struct tacho_diag *d);

/* Whether it is the format of our own traces. */
bool app_convert_is_native(const struct tacho_sink_format *format);

/*
 * app_convert - writes what c->select lets pass of c->stream to c->out, in c->format.
 *
 * Reads on from where the stream is.  All but c->written is the caller's, and is not changed.
 * 0, or a negative errno with d filled in: as tacho_sink_begin() (then nothing is made), the
 * stream's or the sink's error, or -ECANCELED; then an output that would look whole is gone.
 */
int app_convert(struct app_convert *c, struct tacho_diag *d);

/*
 * Makes a whole trace (a path, "session:NAME") into another format.  flags: enum
 * tacho_stream_flag.  written and observer may be NULL.  As app_convert(); or why the trace
 * cannot be opened.
 */
int app_convert_trace(const char *trace, unsigned int flags, const char *out,
		      const struct tacho_sink_format *format,
		      const struct tacho_observer *observer,
		      struct tacho_sink_written *written, struct tacho_diag *d);

/*
 * The same of all that a stream has, in the format that OUT's extension says (see
 * tacho-convert(1)); "-" is text on stdout.  _ready: whether that could be done, before there
 * is anything to write.
 */
int app_convert_ready(const char *out, struct tacho_diag *d);
int app_convert_stream(struct tacho_stream *stream, const char *out,
		       const struct tacho_observer *observer,
		       struct tacho_sink_written *written, struct tacho_diag *d);

#endif
