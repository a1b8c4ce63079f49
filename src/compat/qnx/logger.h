/* SPDX-License-Identifier: MIT */
/*
 * logger.h - QNX's trace into a .kev file: what tracelogger does.
 *
 *	arm	the buffers, the classes, the kernel's instance
 *	wait	a daemon: until somebody calls TraceEvent(_NTO_TRACE_START)
 *	log	linear: what comes is recorded as a trace directory next to the output.
 *		ring: nothing, until it is stopped; then what the buffers hold
 *	write	the directory becomes the .kev
 *	disarm	classes and buffers are as they were, unless they are to stay
 *
 * So a logger that is killed leaves a trace that 'tacho' reads.
 *
 * The observer is asked all the time whether it is to end; what it notes are remarks, also of
 * errors after the first.  Its cancelled() is best answered by a flag that signal handlers set:
 * signals interrupt the logger's sleep.  A limit of the file's size makes children of the process,
 * for which the logger waits (logger_limit.c).
 */
#ifndef TACHO_COMPAT_QNX_LOGGER_H
#define TACHO_COMPAT_QNX_LOGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/observer.h"

#define QNX_LOGGER_ATTRS_MAX	32u

struct qnx_logger_options {
	const char *output;
	const char *args;		/* the command line */
	const char *attr[QNX_LOGGER_ATTRS_MAX + 1];	/* "KEY=VALUE"; the last is the command line */
	uint32_t nr_attrs;
	uint32_t kernel_buffers;
	uint32_t disable;		/* bit n: -F n */
	uint64_t iterations;		/* buffers to log; 0: no limit */
	uint64_t max_bytes;		/* 0: no limit */
	uint64_t seconds;		/* 0: no limit */
	uint64_t flush_seconds;		/* 0: never */
	bool daemon, enable, security, ring, wide, persist, reuse, verbose;
};

struct qnx_logger_result {
	/*
	 * The trace directory: the caller's to remove after success; after an error of writing the
	 * file it has all that was recorded.  "": there is none.
	 */
	char trace[PATH_MAX];
	bool not_written;		/* the error is of writing the file */
};

/*
 * qnx_logger_run - all of it.
 *
 * Fills in *result in any case.  Returns 0, also when the observer ended a daemon that waited, or a
 * negative errno with d filled in: -EEXIST (there are buffers, and reuse is not set; or a killed
 * logger's directory), -EISDIR, -ENOMEM, what making the file says, ...
 */
int qnx_logger_run(const struct qnx_logger_options *options, const struct tacho_observer *observer,
		   struct qnx_logger_result *result, struct tacho_diag *d);

#endif
