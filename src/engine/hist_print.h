/* SPDX-License-Identifier: MIT */
/*
 * hist_print.h - the contents of a histogram.
 *
 * tacho_hist_print() prints the kernel's `hist` file, byte for byte:
 *
 *	# event histogram
 *	#
 *	# trigger info: hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]
 *	#
 *
 *	{ pid:          1 } hitcount:          2
 *	...
 *
 *	Totals:
 *	    Hits: 2
 *	    Entries: 1
 *	    Dropped: 0
 *
 * All functions first copy the map's elements and print the copy, so that the output is sorted
 * consistently while writers continue.
 */
#ifndef TACHO_ENGINE_HIST_PRINT_H
#define TACHO_ENGINE_HIST_PRINT_H

#include "base/buf.h"
#include "engine/hist.h"
#include "engine/hist_quantile.h"
#include "engine/names.h"

/* 0, -ENOMEM, or the buffer's error. */
int tacho_hist_print(const struct tacho_hist *hist,
		     const struct tacho_names *names, struct tacho_buf *out);

/*
 * Prints the definition and not the contents: fields with type, size and flags, variables,
 * references, actions.  For the file hist_debug, in our own words.  Returns 0, or the buffer's
 * error.
 */
int tacho_hist_print_debug(const struct tacho_hist *hist, struct tacho_buf *out);

/*
 * One JSON object: {"event":"sys:name","trigger":"...","entries":[{"key":{"pid":1},
 * "hitcount":2,"values":{...},"saved":[...]}],"hits":2,"dropped":0}.
 *
 *	names		{"value":1,"name":"init"}, for .execname and .syscall
 *	addresses	{"value":4112,"hex":"0x1010","name":"f","offset":16,
 *			"module":"m"}; a stack trace is an array of them
 *	.hex		{"value":255,"hex":"0xff"}
 *	buckets		{"low":5,"high":8}, both within
 *	.percent	{"value":5,"percent":12.5}
 *	saved		{"onmax":"lat","value":12,"fields":{...}}, null if no value is kept
 *
 * Two fields of one name differ by their modifiers: "n" and "n.hex".  After a snapshot() there is
 * "snapshot":{"value":12,"key":{...}}.
 * 0, -ENOMEM, or the buffer's error.
 */
int tacho_hist_print_json(const struct tacho_hist *hist,
			  const struct tacho_names *names,
			  struct tacho_buf *out);

/*
 * The same with quantiles.  With groups they replace the entries:
 * "quantiles":{"of":"lat","by":["comm"],"exact":true},"groups":[{"key":{"comm":"sh"},
 * "hitcount":9,"p50":1,"p99.9":7,"max":8}].  Without: "quantiles":{"of":"lat","by":[],
 * "exact":true,"p50":1,...} after the entries, if there are any.
 */
int tacho_hist_print_json_quantiles(const struct tacho_hist *hist,
				    const struct tacho_names *names,
				    const struct tacho_quantiles *q,
				    struct tacho_buf *out);

/*
 * Bars for a terminal of `width` columns: a heading, then one line per entry in the histogram's
 * order, with count, share and a bar of the first value (or hitcount). .log2 and .buckets keys
 * are printed as ranges.  ascii: only ASCII characters.  Long keys are cut, but to no less than 8
 * columns, even if lines become longer than width.  Returns 0, -ENOMEM, or the buffer's error.
 */
int tacho_hist_print_chart(const struct tacho_hist *hist,
			   const struct tacho_names *names, uint32_t width,
			   bool ascii, struct tacho_buf *out);

/*
 * A table of quantiles, one line for each group (hist_quantile.h): its keys, its number of hits,
 * and the quantiles of q.  The heading says whether they are exact.  Returns 0, -ENOMEM, or the
 * buffer's error.
 */
int tacho_hist_print_quantiles(const struct tacho_hist *hist,
			       const struct tacho_names *names,
			       const struct tacho_quantiles *q, bool ascii,
			       struct tacho_buf *out);

/*
 * One quantile of the first key: q in thousandths of a percent (50000 is p50); with
 * .log2 and .buckets the upper end of the bucket.  Returns false if there are no entries, the
 * first key is not a number, or there is no memory.
 */
bool tacho_hist_quantile(const struct tacho_hist *hist, uint32_t q,
			 uint64_t *value);

#endif
