/* SPDX-License-Identifier: MIT */
/*
 * diff.h - what differs between two traces, and which differences are more than noise.
 *
 * Both sides go through the model (model/model.h), one pass each.  What they have is collected in
 * *groups*, which have a kind and a name: a span, a system call, a lock, a device, a state of the
 * threads of a name, an event type, the function in which stacks begin.  A group has
 *
 *	count		how many there were, and the rate per second
 *	durations	mean and maximum, exact; quantiles with an error of at most 1 %.  Only of
 *			intervals whose begin and end are known
 *	parts		spans: the mean time that the thread of the span was running, runnable,
 *			sleeping, ...
 *
 * A group of a name that both sides have, or only one, is a row.  docs/diff.md describes how it is
 * judged.  In short:
 *
 *	S1	Of the durations, at most DIFF_SAMPLES are kept as a uniform random sample.  The
 *		generator's seed is fixed, so equal input gives equal output.
 *	S2	The effect is Cliff's delta: the share of pairs (one of A, one of B) in which B's
 *		is longer, minus the share in which it is shorter.  +1: all of B are longer.
 *	S3	Consecutive values are similar, so they are no independent evidence.  The sample is
 *		divided into up to 32 blocks of consecutive values; the variance is that between
 *		the means of blocks, and larger if neighbouring blocks still correlate.
 *	S4	The same is done with the mean (which sees tails) and the rate (blocks of time).
 *	S5	A confidence interval is made for each of the comparisons so that all of them
 *		hold together with 95 % (Bonferroni).  A difference is more than noise
 *		if its interval does not contain 0 and it is large enough to matter.
 *	S6	Rows are ranked by effect times magnitude, never by probability.
 *
 * Memory: at most APP_DIFF_GROUPS groups per side, 16 MiB of histograms and 16 MiB of samples
 * per side, and 16 MiB of states for the side that is being read; together less than 96 MiB,
 * besides what the model itself has (what is open; threads and names).  Groups
 * beyond that are counted as left out.  If there are too many samples, each group keeps fewer.
 * If there are too many histograms, quantiles come from the sample (`coarse`).
 *
 * One thread.
 */
#ifndef TACHO_APP_DIFF_H
#define TACHO_APP_DIFF_H

#include "app/model.h"

#define APP_DIFF_GROUPS	4096u
#define APP_DIFF_LEVEL	0.95	/* confidence of all intervals together */

/* In the order in which they are printed. */
enum app_diff_kind {
	APP_DIFF_SPAN, APP_DIFF_CALL, APP_DIFF_LOCK, APP_DIFF_DEVICE, APP_DIFF_INTERRUPT,
	APP_DIFF_SLICE, APP_DIFF_THREAD, APP_DIFF_EVENT, APP_DIFF_STACK, APP_DIFF_KINDS,
};

/* What a thread does. */
enum app_diff_part {
	APP_DIFF_RUNNING, APP_DIFF_RUNNABLE, APP_DIFF_SLEEPING, APP_DIFF_BLOCKED, APP_DIFF_IO,
	APP_DIFF_UNKNOWN, APP_DIFF_PARTS,
};

struct app_diff_input {
	const char *path;
	/*
	 * "FROM,TO" in seconds since the first record, "@SECONDS" since 1970, or empty; NULL: all.
	 * An item belongs to the range in which it ends: from FROM until before TO.
	 */
	const char *time;
};

struct app_diff_query {
	struct app_diff_input input[2];		/* A and B */
	const struct model_rules *rules;
	const char *events;	/* globs with commas: only these event types; NULL: all */
	unsigned int flags;	/* enum tacho_stream_flag */
};

/* One side of a row.  Times in ns. */
struct app_diff_value {
	uint64_t count, timed;		/* timed: with a known duration */
	double rate;			/* per second */
	double mean;
	uint64_t p50, p90, p99, max;
	bool coarse;			/* quantiles of a sample */
	uint64_t slices;		/* of which parts are the means; 0: not known */
	double part[APP_DIFF_PARTS];
};

struct app_diff_measure {
	bool judged;			/* there is enough data */
	bool differs;			/* more than noise, and large enough to matter */
	/* B - A; effect: -1 to 1.  Of deltas diff is the effect. */
	double effect, diff, low, high;
};

struct app_diff_row {
	enum app_diff_kind kind;
	const char *name;
	struct app_diff_value value[2];
	struct app_diff_measure delta, mean, rate;	/* mean: ns; rate: per second */
	bool differs;			/* one of them does */
	double score;			/* by which rows of a kind are sorted */
};

struct app_diff_side {
	const char *path;
	uint64_t begin, end;		/* ns since 1970 */
	uint64_t records;		/* in the range */
	uint64_t left_out;		/* items whose group found no room */
};

struct app_diff {
	struct app_diff_side side[2];
	const struct app_diff_row *row;	/* by kind; those that differ first, by score */
	uint32_t nr;
	uint32_t comparisons, differing;	/* measures judged; rows that differ */
	void *own;			/* private */
};

/*
 * app_diff_open - compare two traces, or two ranges of one.
 *
 * The query is read during the call only.  The observer gets the progress of both passes as one,
 * in records; notes on losses; and is asked every thousand records.  Returns 0 and *diff, which
 * the caller closes; -EINVAL: a range is wrong; -ENOENT: a trace is not there, or no trace has
 * such an event; -ECANCELED, -ENOMEM, or the trace's error, with d filled in.
 */
int app_diff_open(struct app_diff **diff, const struct app_diff_query *query,
		  const struct tacho_observer *observer, struct tacho_diag *d);
void app_diff_close(struct app_diff *diff);

/* "span", "syscall", ...; "running", "runnable", ...  Static. */
const char *app_diff_kind_name(enum app_diff_kind kind);
const char *app_diff_part_name(enum app_diff_part part);

/* Appends it for people: at most top rows of each kind.  all: those that do not differ, too. */
void app_diff_text(const struct app_diff *diff, uint32_t top, bool all, struct tacho_buf *out);

/* Appends it as one JSON object, with all rows. */
void app_diff_json(const struct app_diff *diff, struct tacho_buf *out);

#endif
