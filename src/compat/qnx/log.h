/* SPDX-License-Identifier: MIT */
/* log.h - writes the recorded QNX trace as .kev: J3 of state.h. */
#ifndef TACHO_COMPAT_QNX_LOG_H
#define TACHO_COMPAT_QNX_LOG_H

#include "base/diag.h"
#include "compat/qnx/state.h"

struct tacho_qnx_log {
	const char *trace;		/* a trace directory */
	const char *out;		/* the file, which is not there; NULL: only counted */
	const char *name;		/* what FILE_NAME says */
	const struct qnx_state *state;
	const char *const *attr;	/* "KEY=VALUE" */
	uint32_t nr_attrs;
	uint64_t max_bytes;		/* 0: any size */
	bool newest;			/* what has no room is the oldest, else the newest */

	/* results */
	uint64_t events, bytes, lost;
	bool full;			/* max_bytes was reached */
};

/* Writes it.  0, or -errno with d filled in and no file. */
int tacho_qnx_log_write(struct tacho_qnx_log *log, struct tacho_diag *d);

#endif
