/* SPDX-License-Identifier: MIT */
/* tracelogger.h - between tracelogger.c and its options. */
#ifndef TACHO_CLI_QNX_TRACELOGGER_H
#define TACHO_CLI_QNX_TRACELOGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "compat/qnx/log.h"
#include "compat/qnx/qnx.h"
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

/* See tracelogger_limit.c. */
struct logger_trial {
	pid_t pid;			/* of the child; 0: there is none */
	uint64_t events;		/* recorded when it was begun */
	uint64_t next;			/* when as many are, the next one is */
	bool failed;
};

/* A run. */
struct logger {
	const struct logger_options *opt;
	const char *args;
	struct tacho_qnx q;
	struct tacho_kernel *kernel;	/* NULL: no events of it */
	bool armed, ring, stream;
	uint32_t starts;		/* before ours */
	uint64_t max_bytes;		/* of the file; 0: no limit */
	struct logger_trial trial;
	uint64_t began, flushed;	/* ns */
	uint64_t stopped;		/* ticks */
	char dir[PATH_MAX], file[PATH_MAX];
};

/* Says it; 1. */
__attribute__((format(printf, 1, 2))) int logger_fail(const char *fmt, ...);

/* How the file `out` is made of what is recorded; see log.h. */
void logger_log(const struct logger *l, struct tacho_qnx_log *log, const char *out);

/*
 * Whether what is recorded fills the file, as far as that is known; false without a limit.  To be
 * asked again and again; then logger_end_trial(), in any case.
 */
bool logger_has_enough(struct logger *l, struct tacho_recorder *rec);
void logger_end_trial(struct logger *l);

/* All of it; the exit status. */
int logger_run(const struct logger_options *o);

#endif
