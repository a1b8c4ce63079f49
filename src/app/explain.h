/* SPDX-License-Identifier: MIT */
/*
 * explain.h - why was this slow: where the time of an interval went, along its critical path.
 *
 * A *subject* is an interval of a thread: a slice (a span, a system call), or a thread between two
 * times.  The path begins with the thread that ended it and covers the interval without gaps:
 *
 *	running		here: by innermost span or system call, with interrupts and page
 *			faults
 *	runnable	other threads had the CPU: those that ran on the CPU where this one ran next
 *	blocked		until somebody woke it.  A thread: what that one did meanwhile is the
 *			reason, and is broken down in the same way, to a depth of EXPLAIN_DEPTH.
 *			An interrupt: a device, a timer, the network, as its name says
 *	unknown		the trace does not say
 *
 * This is a tree of nodes; each has a cause in words, and its leaves add up to the interval.  The
 * totals are the leaves by cause, in which the chain of wakers is part of the words:
 * "futex <- owner (12): sleeping in clock_nanosleep (a timer)".  Causes that differ only in the
 * numbers of threads are one: "wait4 <- cc (several): running: execve".
 *
 *	E1	one pass of the model finds the subjects: the longest slices of a name
 *	E2	a second one keeps what overlaps them: states, slices, instants.  If the trace has
 *		an index it begins at the checkpoint before the first of them
 *	E3	the tree of each is built from that, and the totals
 *
 * Memory is that of E2, at most APP_EXPLAIN_ITEMS items.  One thread.
 */
#ifndef TACHO_APP_EXPLAIN_H
#define TACHO_APP_EXPLAIN_H

#include "app/model.h"

#define APP_EXPLAIN_ITEMS	((size_t)8 << 20)
#define APP_EXPLAIN_DEPTH	8u
#define APP_EXPLAIN_SUBJECTS	256u

struct app_explain_query {
	/* slices of this name (a glob), with `thread` only those of such threads that begin
	   from `from` to `to`; or */
	const char *span;
	uint32_t worst;			/* so many of the longest */
	bool all;			/* compare the slowest 1 % with those around the median */
	/* the slice that begins with this record; MODEL_NO_RECORD: not asked for; or */
	uint64_t record;
	/* a thread, by number or name (a glob), from one time to another (ns since 1970) */
	const char *thread;
	uint64_t from, to;		/* to: UINT64_MAX is the end of the trace */
};

#define APP_EXPLAIN_NO_THREAD	(-1)	/* the CPU was idle, or it is not known */
#define APP_EXPLAIN_SEVERAL	(-2)	/* threads of this name */

/* A thread that ran while another one waited for its CPU. */
struct app_explain_runner {
	const char *name;
	int64_t number;			/* or APP_EXPLAIN_NO_THREAD, APP_EXPLAIN_SEVERAL */
	uint64_t ns;
};

enum app_explain_kind {
	APP_EXPLAIN_RUNNING, APP_EXPLAIN_RUNNABLE, APP_EXPLAIN_BLOCKED, APP_EXPLAIN_UNKNOWN,
	APP_EXPLAIN_KINDS,
};

struct app_explain_node {
	enum app_explain_kind kind;
	uint64_t begin, end;		/* ns since 1970 */
	const char *what;		/* "running: read", "runnable: hog (991) ran on CPU 1" */
	const char *cause;		/* leaf: for the totals, with the chain of wakers */
	const struct app_explain_node *child, *next;
	uint64_t faults;		/* page faults in it */
	struct app_explain_runner *runner;	/* runnable: those that ran */
	uint32_t nr_runners;
	bool uncertain;
};

struct app_explain_total {
	const char *cause;
	uint64_t ns;
	uint32_t count;			/* nodes */
	uint64_t median_ns;		/* comparison: of those around the median */
	struct app_explain_runner *runner;	/* waiting for a CPU: those that ran */
	uint32_t nr_runners;
	uint64_t hash;			/* of the cause, without the numbers of threads */
};

struct app_explain_subject {
	const char *name, *category;
	const char *thread;		/* that ended it: "worker/1 (4712)" */
	uint64_t begin, end;
	uint32_t flags;			/* of the slice: enum model_flag */
	const struct app_explain_node *node;	/* the first of its thread; then ->next */
	struct app_explain_total *total;	/* largest first */
	uint32_t nr_totals;
	bool no_states;			/* the trace has no states of its thread */
	bool slow;			/* all: one of the slowest; else one around the median */
};

struct app_explain {
	struct app_explain_subject subject[APP_EXPLAIN_SUBJECTS];
	uint32_t nr;
	uint64_t found;			/* slices of the name */
	uint64_t first, last;		/* times of the first and last record */
	bool session;			/* read from a session: without the kernel's events */
	void *own;			/* private */
};

/*
 * app_explain_open - explain intervals of a trace.
 *
 * path: a trace or "session:NAME", opened twice.  rules outlive the result.  Returns 0 and *e, which the caller
 * closes; -ENOENT with d filled in: there is no such slice or thread; -E2BIG: more than
 * APP_EXPLAIN_ITEMS; -ECANCELED; or the trace's error.
 */
int app_explain_open(struct app_explain **e, const char *path, unsigned int flags,
		     const struct model_rules *rules, const struct app_explain_query *query,
		     const struct tacho_observer *observer, struct tacho_diag *d);
void app_explain_close(struct app_explain *e);

/* Appends it as text or as one JSON object.  timeline: with the tree of each subject. */
void app_explain_text(const struct app_explain *e, bool timeline, struct tacho_buf *out);
void app_explain_json(const struct app_explain *e, struct tacho_buf *out);

/*
 * Appends two columns of means by cause: of the slowest, and of those around the median
 * (query.all).
 */
void app_explain_compare(struct app_explain *e, bool json, struct tacho_buf *out);

#endif
