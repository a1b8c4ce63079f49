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
 *	listen.c	the socket, and the names under which it may be asked for
 *	density.c	events over time, by packet headers
 *	indexing.c	the index: made by a thread, read by the serving one
 *	tile.c		tiles: buckets of the index as bytes
 *	view.c		the routes
 *
 * 2. Threads
 *	serving		one thread: all requests.  It alone uses the index's reader
 *	indexing	one thread, at most: reads the trace through the model into the
 *			index's file
 *	All have signals blocked and are joined by view_close().
 *
 * 3. Who may ask
 *	H1	Bound to a loopback address or a Unix socket, unless told another one, and then
 *		only with TLS.
 *	H2	The token, 128 random bits, is in the path of every request: /TOKEN/...  The
 *		comparison takes the same time whatever differs.  A wrong one is 404, with
 *		nothing said.
 *	H3	Host must be the address that was printed, or localhost with its port (a page
 *		elsewhere could rebind a name of its own to us); Origin, where there is one, too.
 *	H4	GET changes nothing.  What changes something is POST with a body of JSON, so that
 *		no form of another page can send it.
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
 * 5. Memory: the index's cache, and one answer for each connection.
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
