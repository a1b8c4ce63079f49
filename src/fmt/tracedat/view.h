/* SPDX-License-Identifier: MIT */
/*
 * view.h - a part of a trace.dat, begun anywhere, and read by several threads.
 *
 * Pages explain themselves: each has the time of its first event, and how many were lost before
 * it.  So every part can be divided, between pages (version 6; version 7 without compression) or
 * between chunks of them (compressed).
 *
 * Where to begin for a time
 *	pages	the last one that begins before it, found by halves
 *	chunks	the last *mark* before it.  Marks are chunks, half a MiB of pages apart or more,
 *		found by a walk over the headers of all; each mark's chunk is decompressed for the
 *		time of its first page that has events.  What cannot be walked has no marks
 *
 * Headers are looked at here and there only, and a page says when it begins, not when it
 * ends.  So a slice (stream/parallel.h) is checked by the view that reads it:
 *
 *  D1	a page does not begin before the event that precedes it, nor an event before its page;
 *  D2	an event that is told of losses is in the page that tells them;
 *  D3	the page or chunk at which the next slice begins was opened.
 *
 * Then no event between the two places is missing or comes twice.  Where one of these does not
 * hold, the rest is read by one thread.
 *
 * A guest's times that are shifted (shift.h) are not those of its pages: such a file is divided for
 * what needs no order, and has no slices.
 */
#ifndef TACHO_FMT_TRACEDAT_VIEW_H
#define TACHO_FMT_TRACEDAT_VIEW_H

#include "fmt/tracedat/pages.h"

/*
 * Finds the marks of a compressed part, if nobody has; timed: and their times.  0, or -ENOMEM;
 * nothing is counted as damage.
 */
int tacho_dat_find_marks(struct tacho_dat_source *s, struct tacho_dat_part *p, bool timed);

/* tacho_source_ops of the same names. */
int tacho_dat_seek(struct tacho_source *source, struct tacho_part *part, uint64_t ticks);
int tacho_dat_spans(struct tacho_source *source, bool timed,
		    int (*fn)(void *arg, const struct tacho_span *span), void *arg);
void tacho_dat_only(struct tacho_source *view, struct tacho_part *part,
		    const struct tacho_span *first, const struct tacho_span *last);
bool tacho_dat_through(struct tacho_source *view, struct tacho_part *part, uint64_t ticks,
		       uint64_t *lost);
void tacho_dat_fold(struct tacho_source *source, const struct tacho_source *view);

/*
 * D1 and D2 for the page that was opened at a place; last: ticks of the event before it, if that is
 * in the batch (any: whether).  False: they do not hold, or there is no memory.
 */
bool tacho_dat_check_page(struct tacho_dat_part *p, bool any, uint64_t last);

/* D1 for a batch.  False: it does not hold. */
bool tacho_dat_check_batch(struct tacho_dat_part *p, uint64_t first, uint64_t last);

#endif
