/* SPDX-License-Identifier: MIT */
/*
 * find.h - which trace is read.
 *
 *	app_trace_open();  read trace.stream;  app_trace_remarks();  app_trace_close()
 *
 * One trace is used by one thread at a time.
 */
#ifndef TACHO_APP_FIND_H
#define TACHO_APP_FIND_H

#include <limits.h>

#include "base/diag.h"
#include "base/observer.h"
#include "resolve/resolve.h"
#include "stream/stream.h"

struct app_trace {
	struct tacho_stream *stream;
	struct tacho_resolver *resolver;	/* names of its programs' functions */
	const char *path;	/* as the user says it; borrowed */
	char found[NAME_MAX + 1];	/* the path, when the user said none */
};

/*
 * The trace that is named (path), or the newest of tacho-trace, tacho-trace-* and
 * tacho-trace.* in the current directory (path NULL): the names that recording gives.
 * Sets t->path, which may point into *t: it must not be moved.  0, or -ENOENT with d filled
 * in: there is none.
 */
int app_trace_find(struct app_trace *t, const char *path, struct tacho_diag *d);

/*
 * The same, opened: t->stream reads it, and t->resolver knows the functions of its programs.
 * flags: enum tacho_stream_flag.  0, or a negative errno with d filled in and nothing to
 * close.
 */
int app_trace_open(struct app_trace *t, const char *path, unsigned int flags,
		   struct tacho_diag *d);

/*
 * The flags of app_trace_open() for traces of LTT whose structs are laid out so: "64", "32" or
 * "text".  Returns 0, or -EINVAL with d filled in.
 */
int app_trace_layout(const char *name, unsigned int *flags, struct tacho_diag *d);

/* Closes it; t->path stays.  Fine when it is not open. */
void app_trace_close(struct app_trace *t);

/*
 * Reads the trace with `jobs` threads where that is of use; 0: with as many as this process may
 * use CPUs.  At most APP_JOBS_MAX.
 */
#define APP_JOBS_MAX	256u
void app_trace_set_jobs(struct app_trace *t, uint32_t jobs);

/*
 * What is to be said after reading: "N events were lost ...", as remarks; nothing when there is
 * nothing to say.  0, or a negative errno with d filled in when something of the trace could
 * not be read although all records could, as its types for want of memory: what was written
 * until now lacks it.
 */
int app_trace_remarks(const struct app_trace *t, const struct tacho_observer *observer,
		      struct tacho_diag *d);

/* Fills d with why a call on the stream failed with err; returns the stream's error, or err. */
int app_stream_failed(const struct tacho_stream *s, int err, struct tacho_diag *d);

#endif
