/* SPDX-License-Identifier: MIT */
/*
 * line.h - an event of LKST as a line of text, as `lkstbuf print` shows it.
 *
 *	user added event cpu=1 pid=4242 2026-11-22 02:41:06.123456789 data1=0x1 data2=0x2a
 *
 * Name of the event (its number where the type is not known), CPU, process, time, then the
 * arguments that have a description, by it.
 */
#ifndef TACHO_FMT_LKST_LINE_H
#define TACHO_FMT_LKST_LINE_H

#include <stdbool.h>

#include "fmt/lkst/log.h"

#define LKST_LINE_MAX	512	/* bytes of a line, the newline included */

struct lkst_line {
	const char *name;	/* of the event type; NULL or "": not known */
	const char *arg[4];	/* descriptions; NULL or "": has no meaning */
	uint64_t realtime;	/* ns since 1970 */
	int32_t utc_offset;	/* seconds that the shown time is ahead of UTC */
	bool all;		/* arguments without a description, too */
};

/*
 * Writes the line and its newline to `to`, which has LKST_LINE_MAX bytes; no NUL.  Texts that
 * would make it longer are cut.  Returns its length.
 *
 * Context: any, signal handlers too.
 */
size_t lkst_line_put(char *to, const struct lkst_record *r, const struct lkst_line *how);

/* Days since 1970-01-01 as a date of the Gregorian calendar.  Any context. */
struct lkst_date {
	int32_t year;
	uint32_t month, day;	/* from 1 */
};
struct lkst_date lkst_date_of(int64_t days);

#endif
