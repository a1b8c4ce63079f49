/* SPDX-License-Identifier: MIT */
/*
 * hist_quantile.h - quantiles of one key of a histogram, for each value of others.
 *
 * The entries of keys=comm,lat count how often each comm had each lat.  That suffices for p50,
 * p99 and max of lat for each comm.  So the table is computed from the entries when it is
 * printed, and counting is unchanged.
 *
 *	quantile q	the smallest value that at least q of all hits do not exceed
 *	exact		for plain numbers.  With .log2 and .buckets it is the upper end of
 *			the range that contains the quantile
 *	lost		hits that found no room in the map are in no group: the table shows how
 *			many
 */
#ifndef TACHO_ENGINE_HIST_QUANTILE_H
#define TACHO_ENGINE_HIST_QUANTILE_H

#include "base/diag.h"
#include "engine/hist_view.h"

#define TACHO_QUANTILES_MAX	16
#define TACHO_QUANTILE_ALL	100000u	/* thousandths of a percent: the maximum */

/* The query: which quantiles of which key, grouped by which keys. */
struct tacho_quantiles {
	uint32_t q[TACHO_QUANTILES_MAX];	/* thousandths of a percent */
	uint32_t nr;
	uint32_t of;				/* the key whose quantiles are computed */
	uint32_t by[TACHO_HIST_KEYS_MAX];	/* keys that make groups */
	uint32_t nr_by;
};

/*
 * Finds the keys.  by: names of keys, "comm,pid", as the histogram prints them or with
 * their modifiers; the one remaining key must be a number; the quantiles are computed of it. by
 * NULL: quantiles of the first key, over all others.  Returns 0, or -EINVAL with d filled in.
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
 * Computes the groups of a view and sorts them in the histogram's order: a sort key hitcount
 * compares the groups' hits, the key of the quantiles their last quantile.  Changes the order of
 * the view's entries.  Returns *nr groups, which the caller frees with free(); NULL: no memory.
 */
struct hist_group *hist_groups(struct hist_view *v, const struct tacho_quantiles *q,
			       uint32_t *nr);

/* Whether the quantiles are exact. */
bool hist_quantiles_exact(const struct hist_view *v,
			  const struct tacho_quantiles *q);

/* Whether they are printed with a sign. */
bool hist_quantiles_signed(const struct hist_view *v,
			   const struct tacho_quantiles *q);

#endif
