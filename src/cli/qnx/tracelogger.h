/* SPDX-License-Identifier: MIT */
/* tracelogger.h - between tracelogger.c and its options. */
#ifndef TACHO_CLI_QNX_TRACELOGGER_H
#define TACHO_CLI_QNX_TRACELOGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "face/qnx/qnx.h"
#include "record/recorder.h"

#define LOGGER_ATTRS_MAX	32u

struct logger_options {
	const char *output;
	const char *args;		/* the command line */
	const char *attr[LOGGER_ATTRS_MAX + 1];	/* "KEY=VALUE"; the last is the command line */
	uint32_t nr_attrs;
	uint32_t kernel_buffers;
	uint32_t disable;		/* bit n: -F n */
	uint64_t iterations;		/* buffers to log; 0: no limit */
	uint64_t max_bytes;		/* 0: no limit */
	uint64_t seconds;		/* 0: no limit */
	uint64_t flush_seconds;		/* 0: never */
	bool daemon, enable, security, ring, wide, persist, reuse, verbose;
};

/* A run. */
struct logger {
	const struct logger_options *opt;
	const char *args;
	struct tacho_qnx q;
	struct tacho_kernel *kernel;	/* NULL: no events of it */
	bool armed, ring, stream;
	uint32_t starts;		/* before ours */
	uint64_t max_bytes;
	uint64_t began, flushed;	/* ns */
	uint64_t stopped;		/* ticks */
	char dir[PATH_MAX], file[PATH_MAX];
};

/* Says it; 1. */
__attribute__((format(printf, 1, 2))) int logger_fail(const char *fmt, ...);

/* All of it; the exit status. */
int logger_run(const struct logger_options *o);

#endif
