/* SPDX-License-Identifier: MIT */
/*
 * window.h - the records that an inner scan read last: joins by time.
 *
 * `a join b on b.time between a.time and a.time + 1000` scans b once for each row of a, in
 * ranges that mostly overlap the one before. A seek reads packets again; so from its second
 * scan on a cursor keeps copies of the newest records that it read, and the stream stays where
 * it is.
 *
 *	W1  A window is a stretch of the stream without holes, under one scope: all records of
 *	    wanted types from `from` on, up to where the stream stands.  It is begun by a seek,
 *	    which goes to `from`.
 *	W2  A scan whose range begins in the window, under the same scope, reads the copies from
 *	    there, then goes on in the stream, which appends.
 *	W3  One that begins behind it reads on, too; after SQL_WINDOW_AHEAD records it seeks.  One
 *	    that begins before it seeks.  Both begin another window.
 *	W4  When it is full its oldest records leave it, and `from` is after them.
 *	W5  The stream passes over nothing behind the range (scope.to): the next range may
 *	    have it.
 *	W6  Records that are out of order end the window's use: `from` is never again reached.
 *
 * A scan without a lower bound begins at the begin of the trace, one without an upper bound or
 * LIMIT would only fill the window: they have none. Nor have live sessions, formats without
 * seeking, and scans that look at every record.
 */
#ifndef TACHO_SQL_WINDOW_H
#define TACHO_SQL_WINDOW_H

#include "sql/cursor.h"

#define SQL_WINDOW_RECORDS	32768u
#define SQL_WINDOW_BYTES	((size_t)8 << 20)
#define SQL_WINDOW_AHEAD	4096u

struct sql_window_record {
	struct tacho_record record;	/* its raw is `raw` */
	const struct tacho_part *part;
	uint64_t place;
	void *raw;
	uint32_t room;			/* bytes at raw */
};

struct sql_window {
	struct sql_window_record *list;	/* a ring */
	uint32_t first, nr;
	uint32_t at;			/* the next one to read, from the first on */
	size_t bytes;			/* at all raws */
	uint64_t from;			/* ns: see W1 */
	uint64_t scope;			/* a hash of what was wanted */
	uint32_t skipped;		/* records before the range, of this scan */
	bool ended;			/* the stream has no more */
	const struct sql_window_record *current;	/* that is at hand; NULL: the stream's */
};

/* NULL: no memory. */
struct sql_window *sql_window_new(void);
void sql_window_free(struct sql_window *w);

/* Forgets all; what is read from now on is everything from `from` on, under scope. */
void sql_window_reset(struct sql_window *w, uint64_t from, uint64_t scope);

/* W2, W3: whether a scan from `from` on needs no seek; it is at its first copy then. */
bool sql_window_find(struct sql_window *w, uint64_t from, uint64_t scope);

/* tacho_stream_next() through the window. */
int sql_window_next(struct sql_window *w, struct tacho_stream *s, struct tacho_record *r);

#endif
