/* SPDX-License-Identifier: MIT */
/* logger_priv.h - what the files of logger.h share. */
#ifndef TACHO_COMPAT_QNX_LOGGER_PRIV_H
#define TACHO_COMPAT_QNX_LOGGER_PRIV_H

#include <sys/types.h>

#include "compat/qnx/log.h"
#include "compat/qnx/logger.h"
#include "compat/qnx/qnx.h"
#include "record/recorder.h"

/* See logger_limit.c. */
struct logger_trial {
	pid_t pid;			/* of the child; 0: there is none */
	uint64_t events;		/* recorded when it was begun */
	uint64_t next;			/* when as many are, the next one is */
	bool failed;
};

/* A run. */
struct logger {
	const struct qnx_logger_options *opt;
	const struct tacho_observer *observer;
	struct tacho_diag *d;		/* the first error */
	struct tacho_qnx q;
	struct tacho_kernel *kernel;	/* NULL: no events of it */
	bool armed, ring, stream;
	uint32_t starts;		/* before ours */
	uint64_t max_bytes;		/* of the file; 0: no limit */
	struct logger_trial trial;
	uint64_t began, flushed;	/* ns */
	uint64_t stopped;		/* ticks */
	char file[PATH_MAX];
	struct qnx_logger_result *result;
};

/* How the file `out` is made of what is recorded; see log.h. */
void logger_log(const struct logger *l, struct tacho_qnx_log *log, const char *out);

/*
 * Whether what is recorded fills the file, as far as that is known; false without a limit.  To be
 * asked again and again; then logger_end_trial(), in any case.
 */
bool logger_has_enough(struct logger *l, struct tacho_recorder *rec);
void logger_end_trial(struct logger *l);

#endif
