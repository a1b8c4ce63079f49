/* SPDX-License-Identifier: MIT */
/*
 * view.h - the server behind `tacho view`: a trace as a page in the browser.
 *
 *	view_open()	the trace, a socket, an address with a token
 *	view_run()	serves until it is told to stop
 *	view_close()
 *
 * docs/view-api.md specifies what is served.  The page is in web/ and is part of the binary.
 *
 * 1. Who does what
 *	http.c		requests: sockets, the token, headers, routes, bodies (libmicrohttpd)
 *	page.c		the files of the page, as the build packed them
 *	trace.c		the trace: facts, tracks, density by packet headers, the index
 *	tile.c		tiles: buckets of the index as bytes
 *	job.c		questions that take long: on threads of their own
 *	json.h		JSON out
 *	The questions themselves are those of every front end: src/app, src/index, src/sql.
 *
 * 2. Threads
 *	serving		one thread in view_run(): all requests whose answer is at hand.  It
 *			alone uses the index's reader.
 *	indexing	one thread, at most: reads the trace through the model into the
 *			index's file, and says after each commit that there is more
 *	jobs		at most VIEW_JOBS threads: SQL, histograms, explanations, searches.  Each
 *			has a stream of its own.  The request is suspended meanwhile
 *	A job is cancelled when its client goes away or says so, and when the server ends: it
 *	watches an atomic flag (base/observer.h).  All threads have signals blocked and are joined by
 *	view_close().
 *
 *	S1	What two threads share is: the flag and result of a job, handed over under its
 *		lock; the index's generation, an atomic; nothing else.
 *
 * 3. Who may ask
 *	H1	Bound to a loopback address or a Unix socket, unless told another one, and then
 *		only with TLS.
 *	H2	The token, 128 random bits, is in the path of every request: /TOKEN/...  The comparison
 *		takes the same time whatever differs.  A wrong one is 404, with nothing said.
 *	H3	Host must be the address that was printed, or localhost with its port (a page
 *		elsewhere could rebind a name of its own to us); Origin, where there is one, too.
 *	H4	GET changes nothing.  What changes something (notes, the session) is POST with
 *		a body of JSON, so that no form of another page can send it.
 *	H5	No path of a request is ever a path of a file: the files of the page are a table,
 *		the trace is the one that was opened.
 *	H6	Every answer has a Content-Security-Policy of our own files only, no
 *		referrer, no sniffing, no framing.
 *	Requests are limited: 64 KiB of body, 8 KiB of URL, 64 connections, 30 s idle.
 *
 * 4. Texts of the trace (names of events, threads, fields) are data wherever they go: JSON
 *	escapes control characters and invalid UTF-8 (U+FFFD); the page puts them into text nodes
 *	and canvas text only.
 *
 * 5. Memory: the index's cache, tracks, jobs' results of at most 16 MiB each, cut with a note.
 */
#ifndef TACHO_VIEW_VIEW_H
#define TACHO_VIEW_VIEW_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/observer.h"

struct view;
struct model_rules;

struct view_config {
	const char *trace;		/* the path; outlives the view */
	const struct model_rules *rules;	/* outlive it */
	const char *listen, *cert, *key;	/* as of struct view_http_config */
	unsigned int flags;		/* enum tacho_stream_flag */
	/* Called by the indexing thread: what is to be said. */
	const struct tacho_observer *observer;
};

/* Returns 0, or a negative errno with d. */
int view_open(struct view **view, const struct view_config *config, struct tacho_diag *d);

/* The address for people, with its token. */
const char *view_address(const struct view *view);

/* Serves from now on, until view_close(). */
int view_start(struct view *view, struct tacho_diag *d);
void view_close(struct view *view);

/* Whether the page is part of this build; without it only the interface is served. */
bool view_has_page(void);

#endif
