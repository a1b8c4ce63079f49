/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - lines of text, or the records that are needed, from several threads
 * (stream/parallel.h).
 *
 * A front end that reads a stream in order calls one of these before its own loop.  What threads
 * can do of the stream is done and handed over in order; the loop then does the rest: all of
 * it, where threads are of no use.  Together they see, and print, what the loop alone would.
 *
 * Each worker has a selection, a formatter, a resolver and what open() makes of its own.
 */
#ifndef TACHO_APP_AHEAD_H
#define TACHO_APP_AHEAD_H

#include "app/select.h"
#include "base/observer.h"
#include "fmt/text/line.h"

/* Fewer records than this are read sooner than threads are started. */
#define APP_AHEAD_MIN	16384u

struct app_ahead {
	struct tacho_stream *stream;
	const struct app_select *select;	/* opened on the stream; NULL: every record */
	uint64_t left;		/* records that are wanted: less those that were handed over */
	uint64_t read;		/* and those that were read */
	void *arg;

	/* app_ahead_lines() */
	const struct tacho_line_config *lines;
	struct tacho_line *line;	/* the caller's, which goes on after the last line */
	/* Some lines.  Not 0: the caller has seen enough, or cannot go on. */
	int (*text)(void *arg, const char *text, size_t len, uint64_t events);

	/* app_ahead_records(): of a selection that leaves some out, or of what wants() says */
	/*
	 * open(): a worker's own for wants(), of which others are called at the same time; NULL: no
	 * memory.  It and close() are called by the caller's thread.  A record that is not wanted
	 * is as if the trace did not have it, its losses included.
	 */
	void *(*open)(void *arg, struct tacho_stream *view);
	bool (*wants)(void *own, const struct tacho_record *r);
	void (*close)(void *own);
	/*
	 * A record that is at hand (tacho_stream_lend()); pass: it is selected, else it only
	 * has losses to report.  As text().
	 */
	int (*record)(void *arg, const struct tacho_record *r, bool pass);

	/* Called between pieces.  Not 0 as of text(); NULL: nothing. */
	int (*tick)(void *arg);

	int status;		/* what a function above returned that was not 0 */
};

/*
 * Both return 0, also when a call of the caller's ended them (a->status); or a negative errno: the
 * stream could not be placed where the caller is to go on (app_stream_failed()).
 */
int app_ahead_lines(struct app_ahead *a);
int app_ahead_records(struct app_ahead *a);

/*
 * For what else reads views (stream/parallel.h): whether each can have what a stream's resolver
 * knows, and a resolver for one, which the caller frees after tacho_stream_set_frames(view,
 * NULL).  *r is NULL before; it is set where there is something to free.  False: no memory.
 */
struct tacho_resolver;
bool app_ahead_can_name(const struct tacho_stream *stream);
bool app_ahead_resolver(struct tacho_resolver **r, const struct tacho_stream *of,
			struct tacho_stream *view);

#endif
