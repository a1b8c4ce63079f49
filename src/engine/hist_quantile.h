/* SPDX-License-Identifier: MIT */
/*
 * hist_quantile.h - quantiles of one key of a histogram, for each value of others.
 *
 * The entries of keys=comm,lat are, of each comm, how often each lat came: all that
 * p50, p99 and max of lat need.  So a table by comm is made of the entries
 * when it is printed, and filling the histogram is what it always was.
 *
 *	quantile q	the smallest value that at least q of all hits do not exceed
 *	exact		of numbers as they are.  With .log2 and .buckets it is the
 *			upper end of the range in which the quantile lies
 *	lost		hits that found no room in the map are not in any group: the
 *			table says how many
 */
#ifndef TACHO_ENGINE_HIST_QUANTILE_H
#define TACHO_ENGINE_HIST_QUANTILE_H

#include "base/diag.h"
#include "engine/hist_view.h"

#define TACHO_QUANTILES_MAX	16
#define TACHO_QUANTILE_ALL	100000u	/* thousandths of a percent: the maximum */

/* What is asked: which quantiles of which key, by which. */
struct tacho_quantiles {
	uint32_t q[TACHO_QUANTILES_MAX];	/* thousandths of a percent */
	uint32_t nr;
	uint32_t of;				/* the key that they are of */
	uint32_t by[TACHO_HIST_KEYS_MAX];	/* keys that make groups */
	uint32_t nr_by;
};

/*
 * Finds the keys.  by: names of keys, "comm,pid", as the histogram prints them or with
 * their modifiers; the one key that is left must be a number, and is what the
 * quantiles are of.  by NULL: of the first key, over all others.
 * 0, or -EINVAL with what d says.
 */
int tacho_quantiles_by(struct tacho_quantiles *q, const struct tacho_hist *hist,
		       const char *by, struct tacho_diag *d);

/* "p50", "p99.9" or "max", appended. */
void tacho_quantile_name(uint32_t q, struct tacho_buf *out);

/* ---- for hist_quantile.c and hist_json.c ---- */

struct hist_group {
	struct tacho_map_elt *first;	/* one of its entries: has its keys */
	uint64_t hits;
	uint64_t value[TACHO_QUANTILES_MAX];
};

/*
 * The groups of a view, which is sorted anew for it, in the histogram's order: what it
 * sorts by hitcount by their hits, by the quantities' key by the last quantile.  *nr
 * of them, to be given to free(); NULL: no memory.
 */
struct hist_group *hist_groups(struct hist_view *v, const struct tacho_quantiles *q,
			       uint32_t *nr);

/* Whether the quantiles are of numbers as they are. */
bool hist_quantiles_exact(const struct hist_view *v,
			  const struct tacho_quantiles *q);

/* Whether they are to be printed with a sign. */
bool hist_quantiles_signed(const struct hist_view *v,
			   const struct tacho_quantiles *q);

#endif
